/* wait_series.c - see wait_series.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/model/wait_series.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/mem.h"

struct change { /* from then on so many jobs; the integral up to then */
    int64_t ns, jobs;
    __int128 before;
};

struct wait_series {
    ARRAY(struct change) of[N_WAIT_REASONS], all; /* all: ordered too, `before` is not used */
    int64_t most;
};

static int by_time(const void *left, const void *right)
{
    const struct change *a = left, *b = right;
    return (a->ns > b->ns) - (a->ns < b->ns);
}

/* Deltas in any order become counts and integrals, one change a moment. */
static size_t settle(struct change *v, size_t n)
{
    size_t kept = 0;
    if (n > 1) qsort(v, n, sizeof *v, by_time);
    for (size_t i = 0; i < n; i++) {
        int64_t jobs = v[i].jobs;
        if (kept && v[kept - 1].ns == v[i].ns) {
            v[kept - 1].jobs += jobs;
            continue;
        }
        struct change c = {.ns = v[i].ns, .jobs = jobs};
        if (kept) {
            c.jobs += v[kept - 1].jobs;
            c.before = v[kept - 1].before + (__int128)v[kept - 1].jobs * (c.ns - v[kept - 1].ns);
        }
        v[kept++] = c;
    }
    return kept;
}

static void add(struct wait_series *w, unsigned reason, int64_t from, int64_t to)
{
    array_push(&w->of[reason], (struct change){.ns = from, .jobs = 1});
    array_push(&w->of[reason], (struct change){.ns = to, .jobs = -1});
    array_push(&w->all, (struct change){.ns = from, .jobs = 1});
    array_push(&w->all, (struct change){.ns = to, .jobs = -1});
}

struct wait_series *wait_series_create(const struct scene *s)
{
    struct wait_series *w = xcalloc(1, sizeof *w);
    for (uint32_t t = 0; t < s->n_tracks[SCENE_JOBS]; t++) {
        const struct scene_track *track = &s->tracks[SCENE_JOBS][t];
        for (uint32_t i = 0; i < track->n; i++)
            if (track->v[i].show >= SHOW_WAIT && track->v[i].show < N_SHOWS)
                add(w, track->v[i].show - SHOW_WAIT, track->v[i].from_ns, scene_to(s, &track->v[i]));
    }
    for (unsigned r = 0; r < N_WAIT_REASONS; r++) w->of[r].n = settle(w->of[r].v, w->of[r].n);
    w->all.n = settle(w->all.v, w->all.n);
    for (size_t i = 0; i < w->all.n; i++)
        if (w->all.v[i].jobs > w->most) w->most = w->all.v[i].jobs;
    return w;
}

void wait_series_destroy(struct wait_series *w)
{
    if (!w) return;
    for (unsigned r = 0; r < N_WAIT_REASONS; r++) array_free(&w->of[r]);
    array_free(&w->all);
    free(w);
}

/* How many changes are at or before a moment. */
static size_t changes_until(const struct wait_series *w, unsigned reason, int64_t ns)
{
    size_t low = 0, high = w->of[reason].n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (w->of[reason].v[mid].ns <= ns) low = mid + 1;
        else high = mid;
    }
    return low;
}

static __int128 integral_until(const struct wait_series *w, unsigned reason, int64_t ns)
{
    size_t n = changes_until(w, reason, ns);
    if (!n) return 0;
    const struct change *c = &w->of[reason].v[n - 1];
    return c->before + (__int128)c->jobs * (ns - c->ns);
}

double wait_series_at(const struct wait_series *w, unsigned reason, int64_t ns)
{
    size_t n = changes_until(w, reason, ns);
    return n ? (double)w->of[reason].v[n - 1].jobs : 0;
}

double wait_series_most(const struct wait_series *w)
{
    return (double)w->most;
}

__int128 wait_series_integral(const struct wait_series *w, unsigned reason, int64_t from, int64_t to)
{
    return integral_until(w, reason, to) - integral_until(w, reason, from);
}

void wait_series_columns(const struct wait_series *w, unsigned reason, int64_t from, int64_t to, unsigned n, struct curve_column *col)
{
    __int128 before = integral_until(w, reason, from);
    int64_t at = from;
    for (unsigned i = 0; i < n; i++) {
        int64_t end = from + (int64_t)((__int128)(to - from) * (i + 1) / n);
        __int128 until = integral_until(w, reason, end);
        double mean = end > at ? (double)(until - before) / (double)(end - at) : wait_series_at(w, reason, at);
        col[i] = (struct curve_column){mean, mean, mean};
        before = until;
        at = end;
    }
}
