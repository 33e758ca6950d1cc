/* wait_series.c - see wait_series.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/model/wait_series.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/change_sort.h"
#include "base/mem.h"

struct count { /* from then on so many jobs; the integral up to then */
    int64_t ns, jobs;
    __int128 before;
};
typedef ARRAY(struct change) change_list;

struct wait_series {
    ARRAY(struct count) of[N_WAIT_REASONS];
    int64_t most;
};

/* One count a moment. */
static void settle(struct wait_series *w, unsigned reason, change_list *changes)
{
    struct count c = {0};
    change_sort(changes->v, changes->n);
    array_reserve(&w->of[reason], changes->n);
    for (size_t i = 0; i < changes->n; i++) {
        const struct change *x = &changes->v[i];
        if (w->of[reason].n && x->ns == c.ns) {
            c.jobs = array_last(&w->of[reason]).jobs += x->by;
            continue;
        }
        c.before += (__int128)c.jobs * (x->ns - c.ns);
        c = (struct count){x->ns, c.jobs + x->by, c.before};
        array_push(&w->of[reason], c);
    }
}

/* How many waited at once, for whatever. */
static int64_t most_of(change_list *changes)
{
    change_list all = {0};
    int64_t jobs = 0, most = 0;
    for (unsigned r = 0; r < N_WAIT_REASONS; r++)
        for (size_t i = 0; i < changes[r].n; i++) array_push(&all, changes[r].v[i]);
    change_sort(all.v, all.n);
    for (size_t i = 0; i < all.n; i++) {
        jobs += all.v[i].by;
        if ((i + 1 == all.n || all.v[i + 1].ns != all.v[i].ns) && jobs > most) most = jobs;
    }
    array_free(&all);
    return most;
}

/* ---- jobs in a class: they change their reason together ---- */

static void move(change_list *changes, unsigned from, unsigned to, int64_t ns, int64_t jobs)
{
    if (from < N_WAIT_REASONS) array_push(&changes[from], (struct change){ns, -jobs});
    if (to < N_WAIT_REASONS) array_push(&changes[to], (struct change){ns, jobs});
}

static void of_class(const struct scene *s, uint16_t shares, change_list *stays, change_list *changes)
{
    const struct scene_span in = {.shares = shares, .show = SHOW_WAIT + WAIT_ORDER};
    int64_t jobs = 0, until = INT64_MIN;
    unsigned reason = WAIT_ORDER;
    change_sort(stays->v, stays->n);
    for (size_t i = 0; i < stays->n; i++) {
        int64_t ns = stays->v[i].ns;
        while (jobs && until < ns) {
            int64_t at = until;
            unsigned next = scene_wait_at(s, &in, at, &until);
            if (next != reason) move(changes, reason, next, at, jobs);
            reason = next;
        }
        unsigned next = scene_wait_at(s, &in, ns, &until);
        if (jobs && next != reason) move(changes, reason, next, ns, jobs);
        reason = next;
        array_push(&changes[reason], stays->v[i]);
        jobs += stays->v[i].by;
    }
}

struct wait_series *wait_series_create(const struct scene *s)
{
    struct wait_series *w = xcalloc(1, sizeof *w);
    change_list changes[N_WAIT_REASONS] = {{0}}, *stays = xcalloc(QUEUE_UNTOLD, sizeof *stays); /* by class */
    for (uint32_t t = 0; t < s->n_tracks[SCENE_JOBS]; t++) {
        const struct scene_track *track = &s->tracks[SCENE_JOBS][t];
        for (uint32_t i = 0; i < track->n; i++) {
            const struct scene_span *p = &track->v[i];
            if (p->show < SHOW_WAIT || p->show >= N_SHOWS) continue;
            bool told = p->shares && p->shares != QUEUE_UNTOLD;
            change_list *of = told ? &stays[p->shares] : &changes[p->show - SHOW_WAIT];
            array_push(of, (struct change){p->from_ns, 1});
            array_push(of, (struct change){scene_to(s, p), -1});
        }
    }
    for (unsigned c = 0; c < QUEUE_UNTOLD; c++) {
        if (stays[c].n) of_class(s, (uint16_t)c, &stays[c], changes);
        array_free(&stays[c]);
    }
    free(stays);
    for (unsigned r = 0; r < N_WAIT_REASONS; r++) settle(w, r, &changes[r]);
    w->most = most_of(changes);
    for (unsigned r = 0; r < N_WAIT_REASONS; r++) array_free(&changes[r]);
    return w;
}

void wait_series_destroy(struct wait_series *w)
{
    if (!w) return;
    for (unsigned r = 0; r < N_WAIT_REASONS; r++) array_free(&w->of[r]);
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
    const struct count *c = &w->of[reason].v[n - 1];
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
