/* lod_build.c - makes the blocks of the levels of detail, and extends them when the scene has grown.
 *
 * Both are one: what is made first is an extension of nothing. A track has changed from a moment on (dirty_of), and so have the blocks
 * it is in; of these the buckets from that moment on are made anew, up to the end of the run. A block is made whole when the number of
 * its spans asks for another width of buckets, when it gets more tracks, or when such a thing happened to a block below it.
 *
 * The length of the finest buckets follows from the end of the run: exactly once that is known; while it grows, in steps by half,
 * and only at such a step all is made anew. So an extended one equals one that is made from the same scene.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "base/mem.h"
#include "viz/model/lod_parts.h"

/* ---- what has changed ---- */

#define ALL INT64_MIN  /* changed from the begin */
#define NONE INT64_MAX /* not at all */

static const struct scene_track *track_at(const struct lod *l, uint32_t t) { return &l->scene->tracks[l->set][t]; }

/* Up to where the span that had no end is as it was. */
static int64_t same_until(const struct lod *l, uint32_t track)
{
    const struct seen *seen = &l->seen[track];
    const struct scene_track *t = track_at(l, track);
    uint32_t i = seen->longest ? t->n : scene_seek(l->scene, l->set, track, seen->open_ns);
    if (i >= t->n || t->v[i].from_ns != seen->open_ns || t->v[i].job != seen->open_job || t->v[i].show != seen->open_show)
        return seen->open_ns;
    int64_t to = end_of(l, &t->v[i]);
    return to < l->end_ns ? to : l->end_ns;
}

static int64_t changed_since(const struct lod *l, uint32_t track, uint32_t tracks_before)
{
    if (track >= tracks_before) return ALL;
    int64_t changed = track_at(l, track)->changed_ns, open = l->seen[track].open_ns;
    return open == INT64_MAX || changed < open ? changed : same_until(l, track);
}

/* The longest span from the i-th on if jobs share the GPU, or have shared it before. */
static int64_t longest_from(const struct lod *l, uint32_t track, uint32_t i)
{
    const struct scene_track *t = track_at(l, track);
    int64_t longest = l->seen[track].longest;
    bool shared = longest > 0;
    for (; i < t->n; i++) {
        int64_t ns = end_of(l, &t->v[i]) - t->v[i].from_ns;
        shared |= l->set == SCENE_GPUS && t->v[i].shares != 1000;
        if (ns > longest) longest = ns;
    }
    return shared ? longest : 0;
}

static void see_open(struct lod *l, uint32_t track)
{
    const struct scene_track *t = track_at(l, track);
    struct seen *seen = &l->seen[track];
    seen->open_ns = INT64_MAX;
    for (uint32_t i = t->n; i-- > 0;) {
        const struct scene_span *s = &t->v[i];
        if (s->to_ns == OPEN_END) seen->open_ns = s->from_ns, seen->open_job = s->job, seen->open_show = s->show;
        if (!seen->longest || s->from_ns < l->scene->end_ns - seen->longest) break;
    }
}

/* Looks at a track; from when on it is another one. */
static int64_t dirty_of(struct lod *l, uint32_t track, uint32_t tracks_before)
{
    int64_t dirty = changed_since(l, track, tracks_before);
    struct seen *seen = &l->seen[track];
    if (dirty == NONE) return NONE;
    uint32_t i = dirty == ALL ? 0 : scene_seek(l->scene, l->set, track, dirty);
    int64_t longest = longest_from(l, track, i ? i - 1 : 0);
    if (longest && !seen->longest) { /* shared from now on: spans are walked in another way */
        longest = longest_from(l, track, 0);
        dirty = ALL;
    }
    seen->longest = longest;
    see_open(l, track);
    return dirty;
}

/* ---- blocks ---- */

/* Twice as many buckets as spans, or a little more; -1: few spans, none. */
static int shape_for(uint64_t spans)
{
    int coarser = 0;
    if (spans < LOD_LEAST) return -1;
    while (MOST_BUCKETS >> coarser > LOD_LEAST && (uint64_t)MOST_BUCKETS >> (coarser + 1) >= 2 * spans) coarser++;
    return coarser;
}

/* True when it is another one than before; it is then empty. */
static bool shape(struct block *b)
{
    int coarser = shape_for(b->spans);
    if (coarser < 0 ? !b->buckets : b->buckets && b->coarser == coarser) return false;
    free(b->buckets);
    b->buckets = NULL;
    b->coarser = (uint8_t)(coarser < 0 ? 0 : coarser);
    if (coarser < 0) return true;
    unsigned n = (unsigned)MOST_BUCKETS >> coarser;
    b->buckets = xmalloc((n + n / 2) * sizeof *b->buckets);
    for (unsigned i = 0; i < n + n / 2; i++) b->buckets[i] = number_of(EMPTY);
    return true;
}

/* From the chunk of the bucket before the moment on, since places are rounded. While it is made it has no buckets, and so is made from the blocks below it, or from spans. */
static void make_buckets(struct lod *l, unsigned level, uint32_t i, int64_t from_ns)
{
    struct block *b = &l->level[level].v[i];
    unsigned n = (unsigned)MOST_BUCKETS >> b->coarser;
    int64_t ns = l->finest_ns << b->coarser, end_ns = l->scene->end_ns > l->end_ns ? l->scene->end_ns : l->end_ns;
    uint64_t *buckets = b->buckets;
    uint32_t first = i << (2 * level), size = UINT32_C(1) << (2 * level);
    struct window w = {0, ns * n, n, from_ns >= ns ? (unsigned)(from_ns / ns) - 1 : 0, (unsigned)(end_ns / ns) + 1, 1 / (double)ns};
    w.begin -= w.begin % CHUNK;
    if (w.end > n) w.end = n;
    if (w.begin >= w.end) return;
    b->buckets = NULL;
    lod_make_row(l, first, size > l->n_tracks - first ? l->n_tracks - first : size, &w, l->cells);
    b->buckets = buckets;
    memcpy(buckets + w.begin, l->cells + w.begin, (w.end - w.begin) * sizeof *buckets);
    for (unsigned k = w.begin / 2; k < (w.end + 1) / 2; k++) buckets[n + k] = lod_pair(buckets[2 * k], buckets[2 * k + 1]);
}

/* What is below it has changed since a moment; gives since when it has. */
static int64_t extend_block(struct lod *l, unsigned level, uint32_t i, int64_t dirty)
{
    struct block *b = &l->level[level].v[i];
    if (shape(b)) dirty = ALL;
    if (b->buckets) make_buckets(l, level, i, dirty);
    return dirty;
}

static void count_spans(struct lod *l, unsigned level, uint32_t i)
{
    struct block *b = &l->level[level].v[i];
    const struct level *below = level ? &l->level[level - 1] : NULL;
    b->spans = level ? 0 : track_at(l, i)->n;
    for (uint32_t c = i * RADIX; level && c < (i + 1) * RADIX && c < below->n; c++) b->spans += below->v[c].spans;
}

/* ---- levels ---- */

static void add_tracks(struct lod *l, uint32_t tracks)
{
    l->seen = xreallocarray(l->seen, tracks + 1, sizeof *l->seen);
    for (uint32_t t = l->n_tracks; t < tracks; t++) l->seen[t] = (struct seen){.open_ns = INT64_MAX};
    l->n_tracks = tracks;
    for (unsigned k = 0; tracks && k < MAX_LEVELS && (k == 0 || l->level[k - 1].n > 1); k++) {
        struct level *v = &l->level[k];
        uint32_t n = ((tracks - 1) >> (2 * k)) + 1;
        v->v = xreallocarray(v->v, n, sizeof *v->v);
        memset(v->v + v->n, 0, (n - v->n) * sizeof *v->v);
        v->n = n;
        if (k == l->n_levels) l->n_levels++;
    }
}

static void extend(struct lod *l)
{
    uint32_t tracks = l->scene->n_tracks[l->set], before = l->n_tracks;
    int64_t *dirty = xmalloc((tracks + 1) * sizeof *dirty);
    uint32_t blocks_before[MAX_LEVELS];
    for (unsigned k = 0; k < MAX_LEVELS; k++) blocks_before[k] = l->level[k].n;
    add_tracks(l, tracks);
    for (uint32_t t = 0; t < tracks; t++) dirty[t] = dirty_of(l, t, before);
    for (unsigned k = 0; k < l->n_levels; k++)
        for (uint32_t i = 0; i < l->level[k].n; i++) {
            int64_t since = k == 0 ? dirty[i] : i < blocks_before[k] ? NONE : ALL; /* a new block may have old ones below it alone */
            for (uint32_t c = i * RADIX; k && c < (i + 1) * RADIX && c < l->level[k - 1].n; c++)
                if (dirty[c] < since) since = dirty[c];
            if (since < NONE) count_spans(l, k, i);
            dirty[i] = since < NONE ? extend_block(l, k, i, since) : NONE;
        }
    free(dirty);
    l->end_ns = l->scene->end_ns;
    l->version = l->scene->version;
    l->generation = l->scene->generation;
}

/* Of the finest buckets, MOST_BUCKETS of which reach to the end. */
static int64_t finest_for(const struct scene *s)
{
    int64_t ns = 1, exact = s->end_ns / MOST_BUCKETS + 1;
    if (!s->growing) return exact;
    while (ns < exact) ns += ns / 2 + 1;
    return ns;
}

/* ---- making ---- */

static void forget(struct lod *l)
{
    for (unsigned k = 0; k < l->n_levels; k++) {
        for (uint32_t i = 0; i < l->level[k].n; i++) free(l->level[k].v[i].buckets);
        free(l->level[k].v);
        l->level[k] = (struct level){0};
    }
    free(l->seen);
    l->seen = NULL;
    l->n_levels = 0;
    l->n_tracks = 0;
    for (unsigned k = 0; k <= MAX_COARSER; k++) l->bounds[k].of = (struct window){0};
}

static void build(struct lod *l)
{
    forget(l);
    l->finest_ns = finest_for(l->scene);
    extend(l);
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
    const struct scene *s = l->scene;
    if (s->version == l->version) return;
    bool next = s->generation == l->generation && s->version == l->version + 1 && s->n_tracks[l->set] >= l->n_tracks;
    if (next && finest_for(s) == l->finest_ns) extend(l);
    else build(l);
}

void lod_destroy(struct lod *l)
{
    if (!l) return;
    forget(l);
    for (unsigned k = 0; k <= MAX_COARSER; k++) free(l->bounds[k].v);
    free(l->sums);
    free(l);
}
