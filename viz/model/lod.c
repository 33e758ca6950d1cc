/* lod.c - see lod.h; here is what a row is made from.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/model/lod_parts.h"

/* ---- failures ---- */

const uint8_t lod_gravity[256] = {
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

/* ---- rows ---- */

static const struct block *block_of(const struct lod *l, unsigned level, uint32_t first)
{
    return &l->level[level].v[first >> (2 * level)];
}

/* The level of the largest block that begins at `first`, lies within n tracks and has buckets of at most a cell; -1: none, walk the track. */
static int level_for(const struct lod *l, uint32_t first, uint32_t n, const struct window *w)
{
    int level = (int)l->n_levels - 1;
    while (level >= 0) {
        uint32_t size = UINT32_C(1) << (2 * level);
        const struct block *b = size <= n && first % size == 0 ? block_of(l, (unsigned)level, first) : NULL;
        if (b && b->buckets && lod_fits(l, b->coarser, w)) return level;
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
        parts[k++] = lod_part_of(l, block_of(l, (unsigned)level, t), w, size);
    }
    return k;
}

static void sum_row(struct lod *l, uint32_t first, uint32_t n, const struct window *w, struct lod_cell *cells)
{
    struct sums sums = lod_sums_begin(l, n, w);
    for (uint32_t t = first, size; t < first + n; t += size) {
        int level = level_for(l, t, first + n - t, w);
        size = level < 0 ? 1 : UINT32_C(1) << (2 * level);
        if (level < 0) {
            lod_walk_into(l, t, w, &sums);
        } else {
            struct part p = lod_part_of(l, block_of(l, (unsigned)level, t), w, size);
            lod_read_into(&p, w, &sums);
        }
    }
    lod_sums_end(&sums, n, w, cells);
}

void lod_make_row(struct lod *l, uint32_t first, uint32_t n, const struct window *w, struct lod_cell *cells)
{
    struct part parts[MOST_PARTS];
    bool alone = n == 1 && !l->seen[first].longest;
    unsigned k = alone && 2 * l->level[0].v[first].spans < w->width ? 0 : parts_of(l, first, n, w, parts);
    if (k == 1) lod_read_alone(parts, w, cells);
    else if (k) lod_read_parts(parts, k, w, cells);
    else if (alone) lod_walk_alone(l, first, w, cells);
    else sum_row(l, first, n, w, cells);
}

void lod_row(const struct lod *lod, uint32_t first, uint32_t n, int64_t from_ns, int64_t to_ns, unsigned width, struct lod_cell *cells)
{
    struct lod *l = (struct lod *)(uintptr_t)lod; /* scratch only */
    struct window w = {from_ns, to_ns, width, 0, width, (double)width / ((double)to_ns - (double)from_ns)};
    uint32_t tracks = l->n_tracks;
    if (first >= tracks || n == 0) fill(cells, 0, width, EMPTY);
    else lod_make_row(l, first, n > tracks - first ? tracks - first : n, &w, cells);
}
