/* measures.c - see measures.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/measures.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "run/record.h"
#include "study/job_index.h"

static const char *const plain_names[Q_WAITS] = {"admission", "allocation", "start", "run", "restart", "step", "save",
                                                 "readmission"};
static const char *const wait_names[N_WAIT_REASONS] = {
#define X_NAME(e, name, help) "wait_" name,
    WAIT_REASONS(X_NAME)
#undef X_NAME
};
const char *const happening_names[N_HAPPENINGS] = {"admitted", "started", "stopped", "evicted", "saved", "finished"};

const char *quantity_name(unsigned q)
{
    return q < Q_WAITS ? plain_names[q] : wait_names[q - Q_WAITS];
}

int quantity_find(const char *name)
{
    for (unsigned q = 0; q < N_QUANTITIES; q++)
        if (!strcmp(quantity_name(q), name)) return (int)q;
    return -1;
}

/* What the timeline has told of a job so far. */
struct told {
    int64_t stopped_ns, saving_ns, evicted_ns; /* -1: is not */
    int64_t steps;
    uint32_t restarts, saves, readmissions, happened[N_HAPPENINGS];
};

struct reading {
    struct run *run;
    struct job_index index;
    struct told *told;
    ARRAY(struct sample) samples;
    ARRAY(struct happened) events;
    struct str warnings;
    bool has_steps, damaged;
};

static void sample(struct reading *r, const struct job_row *job, unsigned quantity, uint32_t k, int64_t ns)
{
    array_push(&r->samples, (struct sample){.job = job, .ns = ns, .quantity = quantity, .k = k});
}

/* ---- from the rows ---- */

static void between(struct reading *r, const struct job_row *job, unsigned quantity, int64_t from, int64_t to)
{
    if (from >= 0 && to >= from) sample(r, job, quantity, 0, to - from);
}

static void sample_row(struct reading *r, const struct run_job_view *v)
{
    const struct job_row *j = &v->row;
    between(r, j, Q_ADMISSION, j->submit_ns, j->admitted_ns);
    between(r, j, Q_ALLOCATION, j->admitted_ns, j->allocated_ns);
    between(r, j, Q_START, j->allocated_ns, j->started_ns);
    if (j->started_ns >= 0) between(r, j, Q_RUN, j->started_ns, j->finished_ns);
    for (unsigned w = 0; w < N_WAIT_REASONS; w++)
        if (v->waits[w] > 0) sample(r, j, Q_WAITS + w, 0, v->waits[w]);
}

/* ---- from the timeline ---- */

static void happen(struct reading *r, const struct record *rec, enum happening what, int32_t by)
{
    struct told *t = &r->told[rec->job];
    array_push(&r->events, (struct happened){.job = r->index.rows[rec->job],
                                             .by = job_index_row(&r->index, by),
                                             .at_ns = rec->time_ns,
                                             .what = what,
                                             .k = t->happened[what]++});
}

static void stopped(struct told *t, int64_t now)
{
    if (t->stopped_ns < 0) t->stopped_ns = now;
    t->saving_ns = -1;
}

static void admitted(struct reading *r, const struct record *rec)
{
    struct told *t = &r->told[rec->job];
    if (t->evicted_ns >= 0) sample(r, r->index.rows[rec->job], Q_READMISSION, t->readmissions++, rec->time_ns - t->evicted_ns);
    t->evicted_ns = -1;
    happen(r, rec, H_ADMITTED, NO_JOB);
}

static void started(struct reading *r, const struct record *rec)
{
    struct told *t = &r->told[rec->job];
    if (t->stopped_ns >= 0) sample(r, r->index.rows[rec->job], Q_RESTART, t->restarts++, rec->time_ns - t->stopped_ns);
    t->stopped_ns = -1;
    happen(r, rec, H_STARTED, NO_JOB);
}

static void checkpoint(struct reading *r, const struct record *rec)
{
    struct told *t = &r->told[rec->job];
    if (rec->code == SAVE_BEGINS) t->saving_ns = rec->time_ns;
    if (rec->code == SAVE_LEAVES && t->saving_ns >= 0) {
        sample(r, r->index.rows[rec->job], Q_SAVE, t->saves++, rec->time_ns - t->saving_ns);
        happen(r, rec, H_SAVED, NO_JOB);
    }
    if (rec->code != SAVE_BEGINS) t->saving_ns = -1;
}

static void take(struct reading *r, const struct record *rec)
{
    if (!job_index_row(&r->index, rec->job)) return;
    struct told *t = &r->told[rec->job];
    switch (rec->type) {
    case REC_JOB_ADMITTED: admitted(r, rec); break;
    case REC_JOB_STARTED: started(r, rec); break;
    case REC_JOB_STOPPED:
        stopped(t, rec->time_ns);
        happen(r, rec, H_STOPPED, NO_JOB);
        break;
    case REC_JOB_EVICTED:
        stopped(t, rec->time_ns);
        t->evicted_ns = rec->time_ns;
        happen(r, rec, H_EVICTED, (int32_t)rec->a);
        break;
    case REC_CHECKPOINT: checkpoint(r, rec); break;
    case REC_STEPS:
        r->has_steps = true;
        if (rec->code != STEPS_NONE) t->steps += rec->b - rec->a;
        break;
    case REC_JOB_FINISHED: happen(r, rec, H_FINISHED, NO_JOB); break;
    default: break;
    }
}

static void sample_steps(struct reading *r)
{
    for (size_t i = 0; i < r->index.n; i++) {
        const struct job_row *j = r->index.rows[i];
        if (!j || !j->work_by || r->told[i].steps <= 0 || j->gpu_shares <= 0) continue;
        share_ns work = j->work + j->redone - j->work_by[ACT_CHECKPOINT - FIRST_WORK];
        share_ns of = (share_ns)(uint64_t)j->gpu_shares * (uint64_t)r->told[i].steps;
        sample(r, j, Q_STEP, 0, (int64_t)(work / of));
    }
}

/* Whether a run is damaged: one that is over has only whole blocks. */
static bool warn_of(const struct run *run, const struct timeline_reader *t, const char *so, struct str *warnings)
{
    const char *why;
    if (!timeline_damaged(t, &why)) return false;
    str_printf(warnings, "%s/%s%s\n", run->dir, why, so);
    return run->state != RUN_RUNNING;
}

void timeline_warning(const struct run *run, struct str *warnings)
{
    struct record rec;
    struct timeline_reader *t = run->record_level == RECORD_NONE ? NULL : timeline_open(run->dir, NULL);
    if (!t) return;
    while (timeline_next(t, &rec)) {}
    warn_of(run, t, "; what is told from the timeline lacks what is behind it", warnings);
    timeline_close(t);
}

static bool read_timeline(struct reading *r, char **err)
{
    struct record rec;
    struct timeline_reader *t;
    if (!job_index_read(r->run, &r->index, err)) return false;
    t = timeline_open(r->run->dir, err);
    if (!t) return false;
    r->told = xcalloc(r->index.n + 1, sizeof *r->told);
    for (size_t i = 0; i < r->index.n; i++) r->told[i].stopped_ns = r->told[i].saving_ns = r->told[i].evicted_ns = -1;
    while (timeline_next(t, &rec)) take(r, &rec);
    r->damaged = warn_of(r->run, t, "; what is behind it is left out", &r->warnings);
    timeline_close(t);
    sample_steps(r);
    return true;
}

/* ---- all ---- */

static int by_place(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    if (x->quantity != y->quantity) return x->quantity < y->quantity ? -1 : 1;
    if (x->job != y->job) return x->job < y->job ? -1 : 1;
    return (x->k > y->k) - (x->k < y->k);
}

bool measures_of(struct run *run, struct measures *m, char **err)
{
    struct reading r = {.run = run};
    bool timeline = run->record_level != RECORD_NONE, ok = !timeline || read_timeline(&r, err);
    for (size_t i = 0; ok && i < run->n_jobs; i++) sample_row(&r, &run->jobs[i]);
    if (r.samples.n) qsort(r.samples.v, r.samples.n, sizeof *r.samples.v, by_place);
    *m = (struct measures){.run = run, .samples = r.samples.v, .n = r.samples.n, .events = r.events.v,
                           .n_events = r.events.n, .has_timeline = timeline, .has_steps = r.has_steps, .damaged = r.damaged,
                           .warnings = r.warnings.n ? str_take(&r.warnings) : NULL};
    job_index_free(&r.index);
    free(r.told);
    if (!ok) measures_free(m);
    return ok;
}

bool measures_read(const char *dir, struct measures *m, char **err)
{
    char *opening = NULL;
    struct str warnings = {0};
    struct run *run = run_open(dir, &opening, err);
    *m = (struct measures){0};
    bool ok = run && measures_of(run, m, err);
    if (ok && opening) str_append(&warnings, opening);
    if (ok && m->warnings) str_append(&warnings, m->warnings);
    free(opening);
    free(m->warnings);
    m->warnings = warnings.n ? str_take(&warnings) : NULL;
    return ok;
}

void measures_free(struct measures *m)
{
    free(m->samples);
    free(m->events);
    free(m->warnings);
    run_close(m->run);
    *m = (struct measures){0};
}
