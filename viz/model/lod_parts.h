/* lod_parts.h - what the files of the levels of detail share; for viz/model only.
 *
 * lod.c answers queries, lod_build.c makes and extends the blocks, lod_walk.c makes cells from spans, lod_buckets.c from buckets.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_MODEL_LOD_PARTS_H
#define TRAINYARD_VIZ_MODEL_LOD_PARTS_H

#include <string.h>

#include "viz/model/lod.h"

enum { LOD_LEAST = 256, MOST_BUCKETS = 4096, MAX_COARSER = 5 /* LOD_LEAST buckets, and half of them */, RADIX = 4, MAX_LEVELS = 16, MOST_PARTS = 16,
       CHUNK_LEVELS = 6, CHUNK = 1 << CHUNK_LEVELS /* cells whose making depends on nothing outside them */ };

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

/* What is asked for: `width` cells, of which those of [begin, end) are made. Those of a block that is extended are equal whatever their begin. */
struct window {
    int64_t from_ns, to_ns;
    unsigned width, begin, end;
    double scale; /* cells a ns */
};

/* The first bucket of each cell, for buckets of one length. */
struct bounds {
    struct window of;
    uint32_t *v;
    unsigned cap;
};

/* What was in a track when it was looked at last. */
struct seen {
    int64_t longest;   /* where jobs share the GPU, so that spans overlap: the longest so far; else 0 */
    int64_t open_ns;   /* begin of the span without an end, of several the first; INT64_MAX: none */
    int32_t open_job;
    uint8_t open_show;
};

struct lod {
    const struct scene *scene;
    enum scene_set set;
    int64_t finest_ns;            /* of a bucket */
    struct level level[MAX_LEVELS];
    unsigned n_levels;
    struct seen *seen;            /* by track */
    uint32_t n_tracks;
    int64_t end_ns;               /* of the scene, when it was looked at last, and its version and generation */
    uint64_t version, generation;
    struct lod_cell cells[MOST_BUCKETS]; /* of a block that is being made */
    /* of the last query */
    struct bounds bounds[MAX_COARSER + 1];
    struct sum *sums;
    unsigned cap_sums;
};

/* 0: no failure; the gravest is the highest. */
extern const uint8_t lod_gravity[256];

static const struct lod_cell EMPTY = {NO_JOB, SHOW_NOTHING, 0, SHOW_NOTHING, 0}; /* job and show are all ones */
static const struct sum NO_SUM = {0, -1, NO_JOB, SHOW_NOTHING, SHOW_NOTHING, 0, 0};

/* ---- cells ---- */

static inline uint8_t graver(uint8_t a, uint8_t b) { return lod_gravity[b] > lod_gravity[a] ? b : a; }

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

static inline uint8_t failure_of(uint8_t show) { return lod_gravity[show] ? show : SHOW_NOTHING; }

static inline void add_span(struct sum *c, float weight, const struct scene_span *s)
{
    add(c, weight, s->job, s->show, failure_of(s->show), 0);
}

static inline struct lod_cell cell_of(const struct sum *c, float scale)
{
    if (!c->any) return EMPTY;
    return (struct lod_cell){c->job, c->show, c->many, c->failure, part_of_255(c->taken * scale)};
}

static inline int64_t end_of(const struct lod *l, const struct scene_span *s) { return s->to_ns == OPEN_END ? l->scene->end_ns : s->to_ns; }

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

static inline void fill(struct lod_cell *cells, unsigned from, unsigned to, struct lod_cell cell)
{
    for (unsigned i = from; i < to; i++) cells[i] = cell;
}

/* ---- lod.c ---- */

/* Tracks [first, first + n), which are there, as the cells of a window. */
void lod_make_row(struct lod *, uint32_t first, uint32_t n, const struct window *, struct lod_cell *);

/* ---- lod_walk.c: cells from spans ---- */

/* One track, no overlaps. */
void lod_walk_alone(const struct lod *, uint32_t track, const struct window *, struct lod_cell *);

/* The sums of a row: a binary tree with its leaves, the cells, from `leaves` on. Where many tracks meet, cells that a span fills wholly
 * are added by chunks of the row, halves of these and so on, which go to the cells at the end. Who of equals wins a cell follows
 * from the order of additions: so it must not follow from how far a span, which may grow yet, reaches beyond the chunk. */
struct sums {
    struct sum *v;
    unsigned leaves;
    bool by_halves;
};

struct sums lod_sums_begin(struct lod *, uint32_t tracks, const struct window *);
/* One track of several, or a shared one. */
void lod_walk_into(const struct lod *, uint32_t track, const struct window *, const struct sums *);
void lod_sums_end(const struct sums *, uint32_t tracks, const struct window *, struct lod_cell *);

/* ---- lod_buckets.c: cells from buckets ---- */

/* A block in a row: its buckets at the width that is read. */
struct part {
    const uint64_t *buckets;
    const uint32_t *bounds;
    uint32_t tracks;
};

/* Whether buckets are at most a cell wide. */
bool lod_fits(const struct lod *, unsigned coarser, const struct window *);
struct part lod_part_of(struct lod *, const struct block *, const struct window *, uint32_t tracks);
void lod_read_alone(const struct part *, const struct window *, struct lod_cell *);
void lod_read_parts(const struct part *, unsigned n_parts, const struct window *, struct lod_cell *);
void lod_read_into(const struct part *, const struct window *, const struct sums *);
/* Two buckets as one. */
uint64_t lod_pair(uint64_t, uint64_t);

#endif
