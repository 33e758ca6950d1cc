/* lod_build.c - makes the blocks of the levels of detail.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "base/mem.h"
#include "viz/model/lod_parts.h"

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
    lod_make_row(l, first, size > tracks - first ? tracks - first : size, &w, cells);
    memcpy(buckets, cells, n * sizeof *buckets);
    free(cells);
    for (unsigned k = 0; k < n / 2; k++) buckets[n + k] = lod_pair(buckets[2 * k], buckets[2 * k + 1]);
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
