/* progress.c - see progress.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/progress.h"

#include <stdlib.h>

#include "base/mem.h"

struct following { /* one job */
    int64_t step, high;  /* where it is, and the farthest it was */
    int64_t since_ns;    /* of the span that is open */
    int64_t stopped_ns;  /* when its ranks stopped of which no step was named yet; -1: they step, or all was said */
    bool steps;          /* its ranks */
};

struct reading {
    struct progress *out;
    struct following *jobs;
    const int64_t *total;
    size_t n;
    int64_t now_ns; /* of the last record that was taken */
};

#define LIMIT (INT64_C(1) << 62) /* of times and steps: sums and differences of two fit */

static bool possible(int64_t x) { return x >= 0 && x < LIMIT; }

/* Not so: a file of somebody else's making, since a run's records do not go back in time nor count steps below 0. */
static bool is_sound(struct reading *r, const struct record *x)
{
    bool steps = x->type == REC_STEPS || x->type == REC_ROLLBACK, step = steps || x->type == REC_CHECKPOINT;
    if (!possible(x->time_ns) || x->time_ns < r->now_ns || (step && !possible(x->a)) || (steps && !possible(x->b))) return false;
    r->now_ns = x->time_ns;
    return true;
}

/* The open span ends at `to`, at a step. */
static void reach(struct reading *r, int32_t number, int64_t to, int64_t step)
{
    struct following *f = &r->jobs[number];
    if (step > f->step && to > f->since_ns)
        array_push(&r->out->spans, (struct progress_span){number, f->since_ns, to, f->step, step, f->step < f->high});
    f->step = step;
    if (step > f->high) f->high = step;
    f->since_ns = to;
}

static void halt(struct following *f, int64_t now)
{
    if (f->steps) f->stopped_ns = now;
    f->steps = false;
}

/* Where nothing has said how far it was when it stopped (a batch scheduler's job), the span goes on over the pause. */
static void begin(struct following *f, int64_t now)
{
    if (f->steps) return;
    f->steps = true;
    if (f->stopped_ns < 0 || f->stopped_ns == f->since_ns) f->since_ns = now;
    f->stopped_ns = -1;
}

static void on_record(struct reading *r, const struct record *x)
{
    struct following *f = &r->jobs[x->job];
    switch (x->type) {
    case REC_JOB_STARTED: begin(f, x->time_ns); return;
    case REC_STEPS: reach(r, x->job, x->time_ns, x->b); return;
    case REC_CHECKPOINT:
        if (x->code == SAVE_BEGINS) reach(r, x->job, x->time_ns, x->a);
        if (x->code == SAVE_LEAVES) f->since_ns = x->time_ns;
        return;
    case REC_FAULT:
    case REC_JOB_STOPPED: halt(f, x->time_ns); return;
    case REC_ROLLBACK:
        reach(r, x->job, f->stopped_ns >= 0 ? f->stopped_ns : x->time_ns, x->a);
        f->step = x->b;
        f->steps = false;
        return;
    case REC_JOB_FINISHED:
        if (f->steps && x->code == JOB_SUCCEEDED && r->total[x->job]) reach(r, x->job, x->time_ns, r->total[x->job]);
        return;
    default: return;
    }
}

bool progress_read(const struct run *run, const int64_t *total_steps, size_t n_jobs, struct progress *out, char **err)
{
    struct record x;
    const char *why;
    *out = (struct progress){0};
    struct timeline_reader *t = timeline_open(run->dir, err);
    if (!t) return false;
    struct reading r = {out, xcalloc(n_jobs + 1, sizeof *r.jobs), total_steps, n_jobs, 0};
    for (size_t i = 0; i < n_jobs; i++) r.jobs[i].stopped_ns = -1;
    while (timeline_next(t, &x))
        if (x.job >= 0 && (size_t)x.job < n_jobs && is_sound(&r, &x)) on_record(&r, &x);
    bool ok = !timeline_damaged(t, &why);
    if (!ok) *err = xstrdup(why);
    timeline_close(t);
    free(r.jobs);
    if (!ok) progress_free(out);
    return ok;
}

void progress_free(struct progress *p) { array_free(&p->spans); }
