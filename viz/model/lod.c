/* lod.c - see lod.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/model/lod.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { LOD_LEAST = 256, MOST_BUCKETS = 4096, MAX_COARSER = 5 /* LOD_LEAST buckets, and half of them */, RADIX = 4, MAX_LEVELS = 16, MOST_PARTS = 16 };

/* Tracks [i * 4^level, (i + 1) * 4^level): what each bucket of `1 << coarser` finest ones shows, and behind these what each two of them do. */
struct block {
    uint64_t *buckets; /* cells as numbers; NULL: few spans, walk them */
    uint64_t spans;
    uint8_t coarser;
};

struct level {
    struct block *v;
    uint32_t n;
};

/* What a cell collects, from spans or buckets of several tracks. */
struct sum {
    float taken, best;
    int32_t job;
    uint8_t show, failure, many, any;
};

struct window {
    int64_t from_ns, to_ns;
    unsigned width;
    double scale; /* cells a ns */
};

/* The first bucket of each cell, for buckets of one length. */
struct bounds {
    struct window of;
    uint32_t *v;
    unsigned cap;
};

struct lod {
    const struct scene *scene;
    enum scene_set set;
    int64_t finest_ns;        /* of a bucket */
    struct level level[MAX_LEVELS];
    unsigned n_levels;
    int64_t *longest;         /* by track on which jobs share the GPU, so that spans overlap: the longest; else 0 */
    /* of the last query */
    struct bounds bounds[MAX_COARSER + 1];
    struct sum *sums;
    unsigned cap_sums;
};

static const struct lod_cell EMPTY = {NO_JOB, SHOW_NOTHING, 0, SHOW_NOTHING, 0}; /* job and show are all ones */
static const struct sum NO_SUM = {0, -1, NO_JOB, SHOW_NOTHING, SHOW_NOTHING, 0, 0};

/* ---- failures ---- */

/* 0: none; the gravest is the highest. */
static const uint8_t gravity[256] = {
    [ACT_DRAINED] = 1,
    [SHOW_REDONE] = 2,
    [SHOW_WAIT + WAIT_CONTAINER_BACKOFF] = 3,
    [ACT_BACKOFF] = 3,
    [SHOW_WAIT + WAIT_DETECTION] = 4,
    [ACT_STALLED] = 4,
    [ACT_HUNG] = 5,
    [ACT_REPAIR] = 6,
    [ACT_FAILED] = 7,
};

bool lod_is_failure(unsigned show) { return show < 256 && gravity[show]; }

static inline uint8_t graver(uint8_t a, uint8_t b) { return gravity[b] > gravity[a] ? b : a; }

/* ---- cells ---- */

static inline uint8_t part_of_255(float x)
{
    float y = x * 255 + 0.5f;
    return y < 1 ? 1 : y > 255 ? 255 : (uint8_t)y;
}

static inline void add(struct sum *c, float weight, int32_t job, uint8_t show, uint8_t failure, uint8_t many)
{
    c->taken += weight;
    c->failure = graver(c->failure, failure);
    if (c->job == job && c->show == show) {
        c->best += weight;
    } else {
        c->many |= c->any;
        if (weight > c->best) {
            c->best = weight;
            c->job = job;
            c->show = show;
        }
    }
    c->many |= many;
    c->any = 1;
}

static inline uint8_t failure_of(uint8_t show) { return gravity[show] ? show : SHOW_NOTHING; }

static inline void add_span(struct sum *c, float weight, const struct scene_span *s)
{
    add(c, weight, s->job, s->show, failure_of(s->show), 0);
}

static inline struct lod_cell cell_of(const struct sum *c, float scale)
{
    if (!c->any) return EMPTY;
    return (struct lod_cell){c->job, c->show, c->many, c->failure, part_of_255(c->taken * scale)};
}

/* ---- spans ---- */

static inline int64_t end_of(const struct lod *l, const struct scene_span *s) { return s->to_ns == OPEN_END ? l->scene->end_ns : s->to_ns; }

static inline double place(const struct window *w, int64_t ns) { return (double)(ns - w->from_ns) * w->scale; }

static void fill(struct lod_cell *cells, unsigned from, unsigned to, struct lod_cell cell)
{
    for (unsigned i = from; i < to; i++) cells[i] = cell;
}

/* The part of a span within the window, in cells; false: none. Ends lie in [0, width]. */
static inline bool clip(const struct lod *l, const struct window *w, const struct scene_span *s, double *x0, double *x1)
{
    int64_t to = end_of(l, s);
    if (to <= w->from_ns || s->from_ns >= w->to_ns) return false;
    *x0 = s->from_ns <= w->from_ns ? 0 : place(w, s->from_ns);
    *x1 = to >= w->to_ns ? w->width : place(w, to);
    return true;
}

/* The first span that may reach into the window. */
static uint32_t first_span(const struct lod *l, uint32_t track, int64_t from_ns)
{
    int64_t longest = l->longest[track];
    if (longest) return scene_seek(l->scene, l->set, track, from_ns < INT64_MIN + longest ? INT64_MIN : from_ns - longest);
    uint32_t i = scene_seek(l->scene, l->set, track, from_ns);
    return i ? i - 1 : 0;
}

/* A cell that spans enter from left to right; weights are 1/256 of it. */
struct filling {
    struct lod_cell cell;
    unsigned taken, best;
};

static inline void begin_cell(struct filling *f)
{
    f->cell = EMPTY;
    f->taken = 0;
}

static inline void enter_cell(struct filling *f, unsigned weight, const struct scene_span *s)
{
    f->taken += weight;
    if (f->cell.show == SHOW_NOTHING) {
        f->cell = (struct lod_cell){s->job, s->show, 0, failure_of(s->show), 0};
        f->best = weight;
        return;
    }
    f->cell.failure = graver(f->cell.failure, failure_of(s->show));
    if (f->cell.job == s->job && f->cell.show == s->show) {
        f->best += weight;
        return;
    }
    f->cell.many = 1;
    if (weight <= f->best) return;
    f->best = weight;
    f->cell.job = s->job;
    f->cell.show = s->show;
}

static inline struct lod_cell end_cell(const struct filling *f)
{
    struct lod_cell c = f->cell;
    unsigned taken = (f->taken * 255 + 128) >> 8;
    if (c.show == SHOW_NOTHING) return EMPTY;
    c.taken = (uint8_t)(taken < 1 ? 1 : taken > 255 ? 255 : taken);
    return c;
}

/* One track, no overlaps: cells are written from left to right. Places are in 1/256 of a cell; neighbours share one. */
static void walk_alone(const struct lod *l, uint32_t track, const struct window *w, struct lod_cell *cells)
{
    const struct scene_track *t = &l->scene->tracks[l->set][track];
    const double scale = w->scale * 256;
    const int64_t end = (int64_t)w->width << 8;
    int64_t at = 0, x1 = 0, to = w->from_ns;
    struct filling f;
    begin_cell(&f);
    for (uint32_t i = first_span(l, track, w->from_ns); i < t->n && t->v[i].from_ns < w->to_ns; i++) {
        const struct scene_span *s = &t->v[i];
        int64_t x0 = s->from_ns <= w->from_ns ? 0 : s->from_ns == to ? x1 : (int64_t)((double)(s->from_ns - w->from_ns) * scale);
        to = end_of(l, s);
        if (to <= w->from_ns) continue;
        x1 = to >= w->to_ns ? end : (int64_t)((double)(to - w->from_ns) * scale);
        if (x0 >= end) x0 = end - 1;
        int64_t i0 = x0 >> 8, i1 = x1 >> 8;
        if (i0 > at) {
            cells[at] = end_cell(&f);
            fill(cells, (unsigned)at + 1, (unsigned)i0, EMPTY);
            at = i0;
            begin_cell(&f);
        }
        if (i1 <= i0) {
            enter_cell(&f, (unsigned)(x1 - x0), s);
            continue;
        }
        enter_cell(&f, (unsigned)(256 - (x0 & 255)), s);
        cells[at] = end_cell(&f);
        fill(cells, (unsigned)i0 + 1, (unsigned)i1, (struct lod_cell){s->job, s->show, 0, failure_of(s->show), 255});
        at = i1;
        begin_cell(&f);
        if (i1 < w->width && (x1 & 255)) enter_cell(&f, (unsigned)(x1 & 255), s);
    }
    if (at < w->width) {
        cells[at] = end_cell(&f);
        fill(cells, (unsigned)at + 1, w->width, EMPTY);
    }
}

/* The sums of a row: a binary tree with its leaves, the cells, from `leaves` on. Where many tracks meet, cells that a span fills wholly
 * are added by halves of the row, quarters and so on, which go to the cells at the end. */
struct sums {
    struct sum *v;
    unsigned leaves;
    bool by_halves;
};

static void fill_sums(const struct sums *sums, unsigned from, unsigned to, float weight, const struct scene_span *s)
{
    struct sum *v = sums->v;
    unsigned leaves = sums->leaves;
    if (!sums->by_halves) {
        for (unsigned k = from; k < to; k++) add_span(&v[leaves + k], weight, s);
        return;
    }
    for (unsigned a = from + leaves, b = to + leaves; a < b; a >>= 1, b >>= 1) {
        if (a & 1) add_span(&v[a++], weight, s);
        if (b & 1) add_span(&v[--b], weight, s);
    }
}

/* One track of several, or a shared one. */
static void walk_into(const struct lod *l, uint32_t track, const struct window *w, const struct sums *sums)
{
    const struct scene_track *t = &l->scene->tracks[l->set][track];
    struct sum *cells = sums->v + sums->leaves;
    for (uint32_t i = first_span(l, track, w->from_ns); i < t->n && t->v[i].from_ns < w->to_ns; i++) {
        const struct scene_span *s = &t->v[i];
        float part = l->longest[track] ? (float)s->shares / 1000 : 1;
        double x0, x1;
        if (!clip(l, w, s, &x0, &x1)) continue;
        unsigned i0 = (unsigned)x0, i1 = (unsigned)x1;
        if (i0 >= w->width) i0 = w->width - 1;
        if (i1 <= i0) {
            add_span(&cells[i0], (float)(x1 - x0) * part, s);
            continue;
        }
        add_span(&cells[i0], (float)(i0 + 1 - x0) * part, s);
        fill_sums(sums, i0 + 1, i1, part, s);
        if (i1 < w->width && x1 > i1) add_span(&cells[i1], (float)(x1 - i1) * part, s);
    }
}

static void push_down(const struct sums *sums)
{
    for (unsigned i = 1; i < sums->leaves; i++) {
        const struct sum *p = &sums->v[i];
        if (!p->any) continue;
        for (unsigned c = 2 * i; c <= 2 * i + 1; c++) {
            add(&sums->v[c], p->best, p->job, p->show, p->failure, p->many);
            sums->v[c].taken += p->taken - p->best;
        }
    }
}

/* ---- buckets ---- */

/* A cell as a number: that which takes more is more. */
static inline uint64_t number_of(struct lod_cell c)
{
    uint64_t x;
    memcpy(&x, &c, sizeof x);
    return x;
}

static inline struct lod_cell cell_of_number(uint64_t x)
{
    struct lod_cell c;
    memcpy(&c, &x, sizeof c);
    return c;
}

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

static const struct block *block_of(const struct lod *l, unsigned level, uint32_t first)
{
    return &l->level[level].v[first >> (2 * level)];
}

static inline bool fits(const struct lod *l, unsigned coarser, const struct window *w)
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

/* A block in a row: its buckets at the width that is read. */
struct part {
    const uint64_t *buckets;
    const uint32_t *bounds;
    uint32_t tracks;
};

static struct part part_of(struct lod *l, const struct block *b, const struct window *w, uint32_t tracks)
{
    bool half = fits(l, b->coarser + 1u, w);
    unsigned coarser = b->coarser + half;
    return (struct part){b->buckets + (half ? MOST_BUCKETS >> b->coarser : 0), bounds_of(l, w, coarser), tracks};
}

static void read_alone(const struct part *p, unsigned width, struct lod_cell *cells)
{
    for (unsigned i = 0; i < width; i++) {
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

/* Each part counts by its tracks, however many buckets it has in the cell. */
static void read_parts(const struct part *parts, unsigned n_parts, unsigned width, struct lod_cell *cells)
{
    for (unsigned i = 0; i < width; i++) {
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

static void read_into(const struct part *p, unsigned width, struct sum *sums)
{
    for (unsigned i = 0; i < width; i++) {
        uint32_t from = p->bounds[i], n = p->bounds[i + 1] - from;
        if (n == 0) continue;
        struct joining j = begin_join();
        for (uint32_t k = from; k < from + n; k++) join(&j, p->buckets[k]);
        struct lod_cell c = cell_of_number(end_join(&j, n));
        if (c.taken) add(&sums[i], (float)c.taken * (float)p->tracks / 255, c.job, c.show, c.failure, c.many);
    }
}

/* ---- rows ---- */

/* The level of the largest block that begins at `first`, lies within n tracks and has buckets of at most a cell; -1: none, walk the track. */
static int level_for(const struct lod *l, uint32_t first, uint32_t n, const struct window *w)
{
    int level = (int)l->n_levels - 1;
    while (level >= 0) {
        uint32_t size = UINT32_C(1) << (2 * level);
        const struct block *b = size <= n && first % size == 0 ? block_of(l, (unsigned)level, first) : NULL;
        if (b && b->buckets && fits(l, b->coarser, w)) return level;
        level--;
    }
    return -1;
}

/* A row as parts; 0: more than MOST_PARTS, or some tracks have to be walked. */
static unsigned parts_of(struct lod *l, uint32_t first, uint32_t n, const struct window *w, struct part *parts)
{
    unsigned k = 0;
    for (uint32_t t = first, size; t < first + n; t += size) {
        int level = level_for(l, t, first + n - t, w);
        if (level < 0 || k == MOST_PARTS) return 0;
        size = UINT32_C(1) << (2 * level);
        parts[k++] = part_of(l, block_of(l, (unsigned)level, t), w, size);
    }
    return k;
}

enum { MANY_TRACKS = 16 };

static struct sums clear_sums(struct lod *l, unsigned width, bool by_halves)
{
    unsigned leaves = 1;
    while (leaves < width) leaves *= 2;
    if (2 * leaves > l->cap_sums) {
        l->cap_sums = 2 * leaves;
        l->sums = xreallocarray(l->sums, l->cap_sums, sizeof *l->sums);
    }
    for (unsigned i = by_halves ? 0 : leaves; i < (by_halves ? 2 * leaves : leaves + width); i++) l->sums[i] = NO_SUM;
    return (struct sums){l->sums, leaves, by_halves};
}

static void sum_row(struct lod *l, uint32_t first, uint32_t n, const struct window *w, struct lod_cell *cells)
{
    struct sums sums = clear_sums(l, w->width, n > MANY_TRACKS);
    for (uint32_t t = first, size; t < first + n; t += size) {
        int level = level_for(l, t, first + n - t, w);
        size = level < 0 ? 1 : UINT32_C(1) << (2 * level);
        if (level < 0) {
            walk_into(l, t, w, &sums);
        } else {
            struct part p = part_of(l, block_of(l, (unsigned)level, t), w, size);
            read_into(&p, w->width, sums.v + sums.leaves);
        }
    }
    if (sums.by_halves) push_down(&sums);
    for (unsigned i = 0; i < w->width; i++) cells[i] = cell_of(&sums.v[sums.leaves + i], 1 / (float)n);
}

static void row(struct lod *l, uint32_t first, uint32_t n, const struct window *w, struct lod_cell *cells)
{
    struct part parts[MOST_PARTS];
    bool alone = n == 1 && !l->longest[first];
    unsigned k = alone && 2 * l->level[0].v[first].spans < w->width ? 0 : parts_of(l, first, n, w, parts);
    if (k == 1) read_alone(parts, w->width, cells);
    else if (k) read_parts(parts, k, w->width, cells);
    else if (alone) walk_alone(l, first, w, cells);
    else sum_row(l, first, n, w, cells);
}

void lod_row(const struct lod *lod, uint32_t first, uint32_t n, int64_t from_ns, int64_t to_ns, unsigned width, struct lod_cell *cells)
{
    struct lod *l = (struct lod *)(uintptr_t)lod; /* scratch only */
    struct window w = {from_ns, to_ns, width, (double)width / ((double)to_ns - (double)from_ns)};
    uint32_t tracks = l->scene->n_tracks[l->set];
    if (first >= tracks || n == 0) fill(cells, 0, width, EMPTY);
    else row(l, first, n > tracks - first ? tracks - first : n, &w, cells);
}

/* ---- building ---- */

static void forget(struct lod *l)
{
    for (unsigned k = 0; k < l->n_levels; k++) {
        for (uint32_t i = 0; i < l->level[k].n; i++) free(l->level[k].v[i].buckets);
        free(l->level[k].v);
    }
    free(l->longest);
    l->n_levels = 0;
    for (unsigned k = 0; k <= MAX_COARSER; k++) l->bounds[k].of = (struct window){0};
}

static int64_t longest_if_shared(const struct lod *l, uint32_t track)
{
    const struct scene_track *t = &l->scene->tracks[l->set][track];
    int64_t longest = 0;
    bool shared = false;
    for (uint32_t i = 0; i < t->n; i++) {
        int64_t ns = end_of(l, &t->v[i]) - t->v[i].from_ns;
        shared |= l->set == SCENE_GPUS && t->v[i].shares != 1000;
        if (ns > longest) longest = ns;
    }
    return shared ? longest : 0;
}

static void add_level(struct lod *l, uint32_t tracks)
{
    unsigned k = l->n_levels++;
    uint32_t size = UINT32_C(1) << (2 * k);
    struct level *v = &l->level[k];
    v->n = (tracks - 1) / size + 1;
    v->v = xcalloc(v->n, sizeof *v->v);
    for (uint32_t i = 0; i < v->n; i++) {
        if (k == 0) {
            v->v[i].spans = l->scene->tracks[l->set][i].n;
            continue;
        }
        for (uint32_t c = i * RADIX; c < (i + 1) * RADIX && c < l->level[k - 1].n; c++) v->v[i].spans += l->level[k - 1].v[c].spans;
    }
}

/* Twice as many buckets as spans, or a little more. */
static unsigned shape(struct block *b)
{
    if (b->spans < LOD_LEAST) return 0;
    while (MOST_BUCKETS >> b->coarser > LOD_LEAST && (uint64_t)MOST_BUCKETS >> (b->coarser + 1) >= 2 * b->spans) b->coarser++;
    unsigned n = (unsigned)MOST_BUCKETS >> b->coarser;
    b->buckets = xcalloc(n + n / 2, sizeof *b->buckets);
    return n;
}

/* While it is built it has no buckets yet, and so is made from the blocks below it, or from spans. */
static void build_block(struct lod *l, unsigned level, uint32_t i)
{
    struct block *b = &l->level[level].v[i];
    unsigned n = shape(b);
    if (!n) return;
    uint64_t *buckets = b->buckets;
    uint32_t first = i << (2 * level), size = UINT32_C(1) << (2 * level), tracks = l->scene->n_tracks[l->set];
    struct window w = {0, (l->finest_ns << b->coarser) * n, n, 1 / (double)(l->finest_ns << b->coarser)};
    struct lod_cell *cells = xcalloc(n, sizeof *cells);
    b->buckets = NULL;
    row(l, first, size > tracks - first ? tracks - first : size, &w, cells);
    memcpy(buckets, cells, n * sizeof *buckets);
    free(cells);
    for (unsigned k = 0; k < n / 2; k++) {
        struct joining j = begin_join();
        join(&j, buckets[2 * k]);
        join(&j, buckets[2 * k + 1]);
        buckets[n + k] = end_join(&j, 2);
    }
    b->buckets = buckets;
}

static void build(struct lod *l)
{
    uint32_t tracks = l->scene->n_tracks[l->set];
    l->finest_ns = l->scene->end_ns / MOST_BUCKETS + 1;
    l->longest = xcalloc(tracks + 1, sizeof *l->longest);
    for (uint32_t t = 0; t < tracks; t++) l->longest[t] = longest_if_shared(l, t);
    if (tracks == 0) return;
    do add_level(l, tracks);
    while (l->level[l->n_levels - 1].n > 1 && l->n_levels < MAX_LEVELS);
    for (unsigned k = 0; k < l->n_levels; k++)
        for (uint32_t i = 0; i < l->level[k].n; i++) build_block(l, k, i);
}

struct lod *lod_create(const struct scene *s, enum scene_set set)
{
    struct lod *l = xcalloc(1, sizeof *l);
    l->scene = s;
    l->set = set;
    build(l);
    return l;
}

void lod_update(struct lod *l)
{
    forget(l);
    build(l);
}

void lod_destroy(struct lod *l)
{
    if (!l) return;
    forget(l);
    for (unsigned k = 0; k <= MAX_COARSER; k++) free(l->bounds[k].v);
    free(l->sums);
    free(l);
}
