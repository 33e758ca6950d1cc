/* lod_walk.c - cells from spans: those of one track from left to right, those of several added up.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/mem.h"
#include "viz/model/lod_parts.h"

enum { MANY_TRACKS = 16 };

/* ---- one track ---- */

static inline double place(const struct window *w, int64_t ns) { return (double)(ns - w->from_ns) * w->scale; }

/* The part of a span within the window, in cells; false: none. Ends lie in [0, width]. */
static inline bool clip(const struct lod *l, const struct window *w, const struct scene_span *s, double *x0, double *x1)
{
    int64_t to = end_of(l, s);
    if (to <= w->from_ns || s->from_ns >= w->to_ns) return false;
    *x0 = s->from_ns <= w->from_ns ? 0 : place(w, s->from_ns);
    *x1 = to >= w->to_ns ? w->width : place(w, to);
    return true;
}

/* Cells from which spans are walked: one before those that are made, since a place is rounded. */
static unsigned first_cell(const struct window *w) { return w->begin ? w->begin - 1 : 0; }

/* The first span that may reach into these. */
static uint32_t first_span(const struct lod *l, uint32_t track, const struct window *w)
{
    int64_t longest = l->seen[track].longest, from_ns = w->from_ns + (int64_t)(first_cell(w) / w->scale);
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
    f->taken = f->best = 0;
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

/* Cells are written from left to right. Places are in 1/256 of a cell; neighbours share one. */
void lod_walk_alone(const struct lod *l, uint32_t track, const struct window *w, struct lod_cell *cells)
{
    const struct scene_track *t = &l->scene->tracks[l->set][track];
    const double scale = w->scale * 256;
    const int64_t end = (int64_t)w->width << 8;
    int64_t at = first_cell(w), x1 = 0, to = w->from_ns;
    struct filling f;
    begin_cell(&f);
    for (uint32_t i = first_span(l, track, w); i < t->n && t->v[i].from_ns < w->to_ns; i++) {
        const struct scene_span *s = &t->v[i];
        int64_t x0 = s->from_ns <= w->from_ns ? 0 : s->from_ns == to ? x1 : (int64_t)((double)(s->from_ns - w->from_ns) * scale);
        to = end_of(l, s);
        if (to <= w->from_ns) continue;
        x1 = to >= w->to_ns ? end : (int64_t)((double)(to - w->from_ns) * scale);
        if (x0 >= end) x0 = end - 1;
        if (x0 < at << 8) x0 = at << 8; /* of the first */
        if (x1 < x0) continue;
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
    if (at < w->end) {
        cells[at] = end_cell(&f);
        fill(cells, (unsigned)at + 1, w->end, EMPTY);
    }
}

/* ---- several ---- */

struct sums lod_sums_begin(struct lod *l, uint32_t tracks, const struct window *w)
{
    unsigned width = w->width;
    bool by_halves = tracks > MANY_TRACKS;
    unsigned leaves = 1;
    while (leaves < width) leaves *= 2;
    if (2 * leaves > l->cap_sums) {
        l->cap_sums = 2 * leaves;
        l->sums = xreallocarray(l->sums, l->cap_sums, sizeof *l->sums);
    }
    for (unsigned i = by_halves ? 0 : leaves + first_cell(w); i < (by_halves ? 2 * leaves : leaves + w->end); i++) l->sums[i] = NO_SUM;
    return (struct sums){l->sums, leaves, by_halves};
}

/* By halves all of it is added, also before `first`: the order of additions at each place must not depend on that. */
static void fill_sums(const struct sums *sums, unsigned first, unsigned from, unsigned to, float weight, const struct scene_span *s)
{
    struct sum *v = sums->v;
    unsigned leaves = sums->leaves;
    if (!sums->by_halves) {
        for (unsigned k = from > first ? from : first; k < to; k++) add_span(&v[leaves + k], weight, s);
        return;
    }
    unsigned a = from + leaves, b = to + leaves;
    for (unsigned level = 0; level < CHUNK_LEVELS && a < b; level++, a >>= 1, b >>= 1) {
        if (a & 1) add_span(&v[a++], weight, s);
        if (b & 1) add_span(&v[--b], weight, s);
    }
    for (; a < b; a++) add_span(&v[a], weight, s);
}

void lod_walk_into(const struct lod *l, uint32_t track, const struct window *w, const struct sums *sums)
{
    const struct scene_track *t = &l->scene->tracks[l->set][track];
    struct sum *cells = sums->v + sums->leaves;
    unsigned first = first_cell(w);
    for (uint32_t i = first_span(l, track, w); i < t->n && t->v[i].from_ns < w->to_ns; i++) {
        const struct scene_span *s = &t->v[i];
        float part = l->seen[track].longest ? (float)s->shares / 1000 : 1;
        double x0, x1;
        if (!clip(l, w, s, &x0, &x1)) continue;
        unsigned i0 = (unsigned)x0, i1 = (unsigned)x1;
        if (i0 >= w->width) i0 = w->width - 1;
        if (i1 <= i0) {
            if (i0 >= first) add_span(&cells[i0], (float)(x1 - x0) * part, s);
            continue;
        }
        if (i0 >= first) add_span(&cells[i0], (float)(i0 + 1 - x0) * part, s);
        fill_sums(sums, first, i0 + 1, i1, part, s);
        if (i1 >= first && i1 < w->width && x1 > i1) add_span(&cells[i1], (float)(x1 - i1) * part, s);
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

void lod_sums_end(const struct sums *sums, uint32_t tracks, const struct window *w, struct lod_cell *cells)
{
    if (sums->by_halves) push_down(sums);
    for (unsigned i = w->begin; i < w->end; i++) cells[i] = cell_of(&sums->v[sums->leaves + i], 1 / (float)tracks);
}
