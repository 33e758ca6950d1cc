/* lod.c - see lod.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/model/lod.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { LOD_LEAST = 256, MOST_BUCKETS = 4096, RADIX = 4, MAX_LEVELS = 16 };

/* Tracks [i * 4^level, (i + 1) * 4^level): what each bucket of `1 << coarser` finest ones shows. */
struct block {
    struct lod_cell *buckets; /* NULL: few spans, walk them */
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

struct lod {
    const struct scene *scene;
    enum scene_set set;
    int64_t finest_ns;        /* of a bucket */
    struct level level[MAX_LEVELS];
    unsigned n_levels;
    uint8_t *shared;          /* by track: jobs share the GPU, spans overlap */
    size_t bytes;
    /* of the last query */
    struct window bounds_of;
    unsigned bounds_coarser;
    uint32_t *bounds;         /* first bucket of each cell */
    struct sum *sums;
    unsigned cap_sums, cap_bounds;
};

static const struct lod_cell EMPTY = {NO_JOB, SHOW_NOTHING, 0, SHOW_NOTHING, 0};
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
    return (struct lod_cell){c->job, c->show, part_of_255(c->taken * scale), c->failure, c->many};
}

/* ---- spans ---- */

static inline double place(const struct window *w, int64_t ns) { return (double)(ns - w->from_ns) * w->scale; }

static void fill(struct lod_cell *cells, unsigned from, unsigned to, struct lod_cell cell)
{
    for (unsigned i = from; i < to; i++) cells[i] = cell;
}

/* The part of a span within the window, in cells; false: none. Ends lie in [0, width]. */
static inline bool clip(const struct lod *l, const struct window *w, const struct scene_span *s, double *x0, double *x1)
{
    int64_t to = scene_to(l->scene, s);
    if (to <= w->from_ns || s->from_ns >= w->to_ns) return false;
    *x0 = s->from_ns <= w->from_ns ? 0 : place(w, s->from_ns);
    *x1 = to >= w->to_ns ? w->width : place(w, to);
    return true;
}

/* The first span that may reach into the window: spans of a track that is not shared do not overlap. */
static uint32_t first_span(const struct lod *l, uint32_t track, int64_t from_ns)
{
    uint32_t i = scene_seek(l->scene, l->set, track, from_ns);
    if (l->shared[track]) return 0;
    return i ? i - 1 : 0;
}

/* One track, no overlaps: cells are written from left to right. */
static void walk_alone(const struct lod *l, uint32_t track, const struct window *w, struct lod_cell *cells)
{
    const struct scene_track *t = &l->scene->tracks[l->set][track];
    struct sum c = NO_SUM;
    unsigned at = 0;
    for (uint32_t i = first_span(l, track, w->from_ns); i < t->n && t->v[i].from_ns < w->to_ns; i++) {
        const struct scene_span *s = &t->v[i];
        double x0, x1;
        if (!clip(l, w, s, &x0, &x1)) continue;
        unsigned i0 = (unsigned)x0, i1 = (unsigned)x1;
        if (i0 >= w->width) i0 = w->width - 1;
        if (i0 > at) {
            cells[at] = cell_of(&c, 1);
            fill(cells, at + 1, i0, EMPTY);
            at = i0;
            c = NO_SUM;
        }
        if (i1 <= i0) {
            add_span(&c, (float)(x1 - x0), s);
            continue;
        }
        add_span(&c, (float)(i0 + 1 - x0), s);
        cells[at] = cell_of(&c, 1);
        fill(cells, i0 + 1, i1, (struct lod_cell){s->job, s->show, 255, failure_of(s->show), 0});
        at = i1;
        c = NO_SUM;
        if (i1 < w->width && x1 > i1) add_span(&c, (float)(x1 - i1), s);
    }
    if (at < w->width) cells[at] = cell_of(&c, 1);
    if (at < w->width) fill(cells, at + 1, w->width, EMPTY);
}

/* One track of several, or a shared one. */
static void walk_into(const struct lod *l, uint32_t track, const struct window *w, struct sum *sums)
{
    const struct scene_track *t = &l->scene->tracks[l->set][track];
    for (uint32_t i = first_span(l, track, w->from_ns); i < t->n && t->v[i].from_ns < w->to_ns; i++) {
        const struct scene_span *s = &t->v[i];
        float part = l->shared[track] ? (float)s->shares / 1000 : 1;
        double x0, x1;
        if (!clip(l, w, s, &x0, &x1)) continue;
        unsigned i0 = (unsigned)x0, i1 = (unsigned)x1;
        if (i0 >= w->width) i0 = w->width - 1;
        if (i1 <= i0) {
            add_span(&sums[i0], (float)(x1 - x0) * part, s);
            continue;
        }
        add_span(&sums[i0], (float)(i0 + 1 - x0) * part, s);
        for (unsigned k = i0 + 1; k < i1; k++) add_span(&sums[k], part, s);
        if (i1 < w->width && x1 > i1) add_span(&sums[i1], (float)(x1 - i1) * part, s);
    }
}

/* ---- buckets ---- */

static const struct block *block_of(const struct lod *l, unsigned level, uint32_t first)
{
    return &l->level[level].v[first >> (2 * level)];
}

/* Whether a block's buckets are at most a cell wide. */
static bool serves(const struct lod *l, const struct block *b, const struct window *w)
{
    return b->buckets && ((double)(l->finest_ns << b->coarser)) * w->scale <= 1;
}

/* Every bucket belongs to one cell. */
static const uint32_t *bounds_of(struct lod *l, const struct window *w, unsigned coarser)
{
    const struct window *old = &l->bounds_of;
    if (l->bounds && old->from_ns == w->from_ns && old->to_ns == w->to_ns && old->width == w->width && l->bounds_coarser == coarser)
        return l->bounds;
    if (w->width + 1 > l->cap_bounds) {
        l->cap_bounds = w->width + 1;
        l->bounds = xreallocarray(l->bounds, l->cap_bounds, sizeof *l->bounds);
    }
    double ns = (double)(l->finest_ns << coarser), step = 1 / (w->scale * ns), at = (double)w->from_ns / ns;
    double most = MOST_BUCKETS >> coarser;
    for (unsigned i = 0; i <= w->width; i++) {
        double x = at + i * step;
        l->bounds[i] = x <= 0 ? 0 : x >= most ? (uint32_t)most : (uint32_t)x;
    }
    l->bounds_of = *w;
    l->bounds_coarser = coarser;
    return l->bounds;
}

static struct lod_cell join(const struct lod_cell *v, uint32_t n)
{
    struct lod_cell best = v[0];
    unsigned sum = v[0].taken;
    for (uint32_t i = 1; i < n; i++) {
        const struct lod_cell *c = &v[i];
        bool differ = c->taken && best.taken && (c->job != best.job || c->show != best.show);
        uint8_t failure = graver(best.failure, c->failure), many = best.many | c->many | differ;
        sum += c->taken;
        if (c->taken > best.taken) best = *c;
        best.failure = failure;
        best.many = many;
    }
    unsigned mean = (sum + n / 2) / n;
    best.taken = (uint8_t)(mean == 0 && sum ? 1 : mean);
    return best;
}

static void read_alone(const struct block *b, const uint32_t *bounds, unsigned width, struct lod_cell *cells)
{
    for (unsigned i = 0; i < width; i++) {
        uint32_t from = bounds[i], n = bounds[i + 1] - from;
        cells[i] = n == 0 ? EMPTY : n == 1 ? b->buckets[from] : join(b->buckets + from, n);
    }
}

static void read_into(const struct block *b, const uint32_t *bounds, unsigned width, float tracks, struct sum *sums)
{
    for (unsigned i = 0; i < width; i++) {
        uint32_t from = bounds[i], n = bounds[i + 1] - from;
        if (n == 0) continue;
        struct lod_cell c = n == 1 ? b->buckets[from] : join(b->buckets + from, n);
        if (c.taken) add(&sums[i], (float)c.taken * tracks / 255, c.job, c.show, c.failure, c.many);
    }
}

/* ---- rows ---- */

/* The level of the largest block that begins at `first`, lies within n tracks and serves; -1: none, walk the track. */
static int level_for(const struct lod *l, uint32_t first, uint32_t n, const struct window *w)
{
    int level = (int)l->n_levels - 1;
    while (level >= 0) {
        uint32_t size = UINT32_C(1) << (2 * level);
        if (first % size == 0 && size <= n && serves(l, block_of(l, (unsigned)level, first), w)) return level;
        level--;
    }
    return -1;
}

static struct sum *clear_sums(struct lod *l, unsigned width)
{
    if (width > l->cap_sums) {
        l->cap_sums = width;
        l->sums = xreallocarray(l->sums, width, sizeof *l->sums);
    }
    for (unsigned i = 0; i < width; i++) l->sums[i] = NO_SUM;
    return l->sums;
}

static void merge_row(struct lod *l, uint32_t first, uint32_t n, const struct window *w, struct lod_cell *cells)
{
    struct sum *sums = clear_sums(l, w->width);
    for (uint32_t t = first, size; t < first + n; t += size) {
        int level = level_for(l, t, first + n - t, w);
        size = level < 0 ? 1 : UINT32_C(1) << (2 * level);
        if (level < 0) {
            walk_into(l, t, w, sums);
        } else {
            const struct block *b = block_of(l, (unsigned)level, t);
            read_into(b, bounds_of(l, w, b->coarser), w->width, (float)size, sums);
        }
    }
    for (unsigned i = 0; i < w->width; i++) cells[i] = cell_of(&sums[i], 1 / (float)n);
}

void lod_row(const struct lod *lod, uint32_t first, uint32_t n, int64_t from_ns, int64_t to_ns, unsigned width, struct lod_cell *cells)
{
    struct lod *l = (struct lod *)(uintptr_t)lod; /* scratch only */
    struct window w = {from_ns, to_ns, width, (double)width / ((double)to_ns - (double)from_ns)};
    uint32_t tracks = l->scene->n_tracks[l->set];
    if (first >= tracks || n == 0) {
        fill(cells, 0, width, EMPTY);
        return;
    }
    if (n > tracks - first) n = tracks - first;
    int level = level_for(l, first, n, &w);
    if (level >= 0 && n == UINT32_C(1) << (2 * level)) {
        const struct block *b = block_of(l, (unsigned)level, first);
        read_alone(b, bounds_of(l, &w, b->coarser), width, cells);
    } else if (n == 1 && !l->shared[first]) {
        walk_alone(l, first, &w, cells);
    } else {
        merge_row(l, first, n, &w, cells);
    }
}

/* ---- building ---- */

static void forget(struct lod *l)
{
    for (unsigned k = 0; k < l->n_levels; k++) {
        for (uint32_t i = 0; i < l->level[k].n; i++) free(l->level[k].v[i].buckets);
        free(l->level[k].v);
    }
    free(l->shared);
    l->n_levels = 0;
    l->bytes = 0;
    l->bounds_of = (struct window){0};
}

static bool is_shared(const struct lod *l, uint32_t track)
{
    const struct scene_track *t = &l->scene->tracks[l->set][track];
    if (l->set == SCENE_JOBS) return false;
    for (uint32_t i = 0; i < t->n; i++)
        if (t->v[i].shares != 1000) return true;
    return false;
}

static void add_level(struct lod *l, uint32_t tracks)
{
    unsigned k = l->n_levels++;
    uint32_t size = UINT32_C(1) << (2 * k);
    struct level *v = &l->level[k];
    v->n = (tracks - 1) / size + 1;
    v->v = xcalloc(v->n, sizeof *v->v);
    l->bytes += v->n * sizeof *v->v;
    for (uint32_t i = 0; i < v->n; i++) {
        if (k == 0) {
            v->v[i].spans = l->scene->tracks[l->set][i].n;
            continue;
        }
        for (uint32_t c = i * RADIX; c < (i + 1) * RADIX && c < l->level[k - 1].n; c++) v->v[i].spans += l->level[k - 1].v[c].spans;
    }
}

/* As many buckets as spans, at most. */
static void shape(struct lod *l, struct block *b)
{
    if (b->spans < LOD_LEAST) return;
    while ((MOST_BUCKETS >> b->coarser) > LOD_LEAST && (uint64_t)MOST_BUCKETS >> (b->coarser + 1) >= b->spans) b->coarser++;
    b->buckets = xcalloc(MOST_BUCKETS >> b->coarser, sizeof *b->buckets);
    l->bytes += (size_t)(MOST_BUCKETS >> b->coarser) * sizeof *b->buckets;
}

static void build_block(struct lod *l, unsigned level, uint32_t i)
{
    struct block *b = &l->level[level].v[i];
    shape(l, b);
    if (!b->buckets) return;
    unsigned width = (unsigned)MOST_BUCKETS >> b->coarser;
    struct window w = {0, (l->finest_ns << b->coarser) * width, width, 1 / (double)(l->finest_ns << b->coarser)};
    uint32_t first = i << (2 * level), n = UINT32_C(1) << (2 * level), tracks = l->scene->n_tracks[l->set];
    if (n > tracks - first) n = tracks - first;
    /* its own buckets do not serve yet: it is made from the blocks below, or from spans */
    struct lod_cell *buckets = b->buckets;
    b->buckets = NULL;
    if (n == 1 && !l->shared[first]) walk_alone(l, first, &w, buckets);
    else merge_row(l, first, n, &w, buckets);
    b->buckets = buckets;
}

static void build(struct lod *l)
{
    uint32_t tracks = l->scene->n_tracks[l->set];
    l->finest_ns = l->scene->end_ns / MOST_BUCKETS + 1;
    l->shared = xcalloc(tracks + 1, 1);
    for (uint32_t t = 0; t < tracks; t++) l->shared[t] = is_shared(l, t);
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

size_t lod_bytes(const struct lod *l) { return l->bytes; }

void lod_destroy(struct lod *l)
{
    if (!l) return;
    forget(l);
    free(l->bounds);
    free(l->sums);
    free(l);
}
