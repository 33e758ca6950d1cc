/* lod_buckets.c - cells from buckets.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/mem.h"
#include "viz/model/lod_parts.h"

/* ---- joining ---- */

#define JOB_AND_SHOW UINT64_C(0xffffffffff)
#define MANY (UINT64_C(1) << 40)
#define FAILURE (UINT64_C(0xff) << 48)

/* Cells that become one. */
struct joining {
    uint64_t best, either, both; /* either, both: of the jobs and shows of those that are not empty */
    unsigned sum;
    uint8_t failure;
};

static inline void join(struct joining *j, uint64_t x)
{
    uint64_t taken = x >> 56;
    j->sum += (unsigned)taken;
    if (taken && x > j->best) j->best = x;
    j->both &= x;
    j->either |= taken ? x & (JOB_AND_SHOW | MANY) : 0;
    if ((x & FAILURE) != FAILURE) j->failure = graver(j->failure, (uint8_t)(x >> 48));
}

static inline struct joining begin_join(void)
{
    return (struct joining){.both = JOB_AND_SHOW, .failure = SHOW_NOTHING};
}

static inline uint64_t end_join(const struct joining *j, unsigned cells)
{
    if (!j->best) return number_of(EMPTY);
    unsigned mean = (j->sum + cells / 2) / cells;
    uint64_t many = (j->either & MANY) || (j->either & JOB_AND_SHOW) != (j->both & JOB_AND_SHOW) ? MANY : 0;
    return (j->best & JOB_AND_SHOW) | many | (uint64_t)j->failure << 48 | (uint64_t)(mean ? mean : 1) << 56;
}

uint64_t lod_pair(uint64_t a, uint64_t b)
{
    struct joining j = begin_join();
    join(&j, a);
    join(&j, b);
    return end_join(&j, 2);
}

/* ---- which buckets a cell has ---- */

bool lod_fits(const struct lod *l, unsigned coarser, const struct window *w)
{
    return ((double)(l->finest_ns << coarser)) * w->scale <= 1;
}

/* Every bucket belongs to one cell. */
static const uint32_t *bounds_of(struct lod *l, const struct window *w, unsigned coarser)
{
    struct bounds *b = &l->bounds[coarser];
    if (b->v && b->of.from_ns == w->from_ns && b->of.to_ns == w->to_ns && b->of.width == w->width) return b->v;
    if (w->width + 1 > b->cap) {
        b->cap = w->width + 1;
        b->v = xreallocarray(b->v, b->cap, sizeof *b->v);
    }
    double ns = (double)(l->finest_ns << coarser), step = 1 / (w->scale * ns), at = (double)w->from_ns / ns;
    double most = MOST_BUCKETS >> coarser;
    for (unsigned i = 0; i <= w->width; i++) {
        double x = at + i * step;
        b->v[i] = x <= 0 ? 0 : x >= most ? (uint32_t)most : (uint32_t)x;
    }
    b->of = *w;
    return b->v;
}

struct part lod_part_of(struct lod *l, const struct block *b, const struct window *w, uint32_t tracks)
{
    bool half = lod_fits(l, b->coarser + 1u, w);
    unsigned coarser = b->coarser + half;
    return (struct part){b->buckets + (half ? MOST_BUCKETS >> b->coarser : 0), bounds_of(l, w, coarser), tracks};
}

/* ---- reading ---- */

void lod_read_alone(const struct part *p, const struct window *w, struct lod_cell *cells)
{
    for (unsigned i = w->begin; i < w->end; i++) {
        uint32_t from = p->bounds[i], n = p->bounds[i + 1] - from;
        if (n == 1) {
            memcpy(&cells[i], &p->buckets[from], sizeof *cells);
            continue;
        }
        struct joining j = begin_join();
        for (uint32_t k = from; k < from + n; k++) join(&j, p->buckets[k]);
        cells[i] = cell_of_number(end_join(&j, n));
    }
}

/* Blocks of one size with buckets of one width: without a branch a bucket; only where there is a failure it is looked for. */
static inline __attribute__((always_inline)) void read_equal_of(const struct part *parts, unsigned n_parts, const struct window *w,
                                                                struct lod_cell *cells)
{
    const uint32_t *bounds = parts->bounds;
    const uint64_t *of[MOST_PARTS];
    for (unsigned p = 0; p < n_parts; p++) of[p] = parts[p].buckets;
    for (unsigned i = w->begin; i < w->end; i++) {
        uint32_t from = bounds[i], to = bounds[i + 1];
        uint64_t best = 0, both = UINT64_MAX, either = 0, sum = 0;
        for (uint32_t k = from; k < to; k++)
            for (unsigned p = 0; p < n_parts; p++) {
                uint64_t x = of[p][k];
                sum += x >> 56;
                best = x > best ? x : best;
                both &= x;
                either |= x >> 56 ? x : 0;
            }
        if (!(best >> 56)) {
            cells[i] = EMPTY;
            continue;
        }
        struct joining j = {best, either & (JOB_AND_SHOW | MANY), both, (unsigned)sum, SHOW_NOTHING};
        for (uint32_t k = from; (both & FAILURE) != FAILURE && k < to; k++)
            for (unsigned p = 0; p < n_parts; p++) j.failure = graver(j.failure, (uint8_t)(of[p][k] >> 48));
        cells[i] = cell_of_number(end_join(&j, n_parts * (to - from)));
    }
}

/* Rows of so few tracks are many. */
static void read_equal(const struct part *parts, unsigned n, const struct window *w, struct lod_cell *cells)
{
    switch (n) {
    case 2: read_equal_of(parts, 2, w, cells); return;
    case 3: read_equal_of(parts, 3, w, cells); return;
    case 4: read_equal_of(parts, 4, w, cells); return;
    default: read_equal_of(parts, n, w, cells);
    }
}

static bool are_equal(const struct part *parts, unsigned n)
{
    for (unsigned i = 1; i < n; i++)
        if (parts[i].bounds != parts->bounds || parts[i].tracks != parts->tracks) return false;
    return true;
}

/* Each part counts by its tracks, however many buckets it has in the cell. */
static void read_unequal(const struct part *parts, unsigned n_parts, const struct window *w, struct lod_cell *cells)
{
    for (unsigned i = w->begin; i < w->end; i++) {
        struct joining j = begin_join();
        unsigned sum = 0, tracks = 0;
        for (unsigned p = 0; p < n_parts; p++) {
            uint32_t from = parts[p].bounds[i], to = parts[p].bounds[i + 1];
            j.sum = 0;
            for (uint32_t k = from; k < to; k++) join(&j, parts[p].buckets[k]);
            sum += (to - from == 1 ? j.sum : to - from == 2 ? (j.sum + 1) / 2 : to > from ? j.sum / (to - from) : 0) * parts[p].tracks;
            tracks += parts[p].tracks;
        }
        j.sum = sum;
        cells[i] = cell_of_number(end_join(&j, tracks));
    }
}

void lod_read_parts(const struct part *parts, unsigned n_parts, const struct window *w, struct lod_cell *cells)
{
    if (are_equal(parts, n_parts)) read_equal(parts, n_parts, w, cells);
    else read_unequal(parts, n_parts, w, cells);
}

void lod_read_into(const struct part *p, const struct window *w, const struct sums *sums)
{
    struct sum *cells = sums->v + sums->leaves;
    for (unsigned i = w->begin; i < w->end; i++) {
        uint32_t from = p->bounds[i], n = p->bounds[i + 1] - from;
        if (n == 0) continue;
        struct joining j = begin_join();
        for (uint32_t k = from; k < from + n; k++) join(&j, p->buckets[k]);
        struct lod_cell c = cell_of_number(end_join(&j, n));
        if (c.taken) add(&cells[i], (float)c.taken * (float)p->tracks / 255, c.job, c.show, c.failure, c.many);
    }
}
