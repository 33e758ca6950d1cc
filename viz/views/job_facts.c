/* job_facts.c - see job_facts.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/views/job_facts.h"

#include <string.h>

const char *const job_mark_names[N_JOB_MARKS] = {"failure", "taken off", "checkpoint", "roll-back"};

/* ---- waits ---- */

/* In a queue, what the job waits for may change within a span. */
static void add_waits(struct job_facts *f, const struct scene_span *p)
{
    int64_t to = scene_to(f->scene, p);
    for (int64_t at = p->from_ns, until; at < to; at = until) {
        enum wait_reason reason = (enum wait_reason)scene_wait_at(f->scene, p, at, &until);
        struct job_wait *last = f->waits.n ? &array_last(&f->waits) : NULL;
        if (until > to) until = to;
        if (last && last->reason == reason && last->to_ns == at) last->to_ns = until;
        else array_push(&f->waits, (struct job_wait){at, until, reason, -1});
    }
}

/* Who ended a time in a queue ended what most of it was waited for, although what the class waits for changed before the end. */
static void blame(struct job_facts *f, const struct scene_span *p)
{
    struct job_wait *longest = NULL;
    int64_t to = scene_to(f->scene, p);
    for (size_t i = f->waits.n; i-- > 0 && f->waits.v[i].to_ns > p->from_ns;) {
        struct job_wait *w = &f->waits.v[i];
        if (w->to_ns <= to && (!longest || w->to_ns - w->from_ns > longest->to_ns - longest->from_ns)) longest = w;
    }
    if (longest && longest->blocker < 0) longest->blocker = scene_blocker(f->scene, f->number, to);
}

static void find_waits(struct job_facts *f)
{
    if ((uint32_t)f->number >= f->scene->n_tracks[SCENE_JOBS]) return;
    const struct scene_track *t = &f->scene->tracks[SCENE_JOBS][f->number];
    for (uint32_t i = 0; i < t->n; i++)
        if (t->v[i].show >= SHOW_WAIT && t->v[i].show < N_SHOWS) add_waits(f, &t->v[i]);
    for (size_t i = 0; i < f->waits.n; i++) f->waits.v[i].blocker = scene_blocker(f->scene, f->number, f->waits.v[i].to_ns);
    for (uint32_t i = 0; i < t->n; i++)
        if (t->v[i].shares) blame(f, &t->v[i]);
    if (f->job->row && f->job->row->wait_ns) memcpy(f->wait_ns, f->job->row->wait_ns, sizeof f->wait_ns);
    else for (size_t i = 0; i < f->waits.n; i++) f->wait_ns[f->waits.v[i].reason] += f->waits.v[i].to_ns - f->waits.v[i].from_ns;
}

/* ---- attempts ---- */

static bool is_over(const struct job_attempt *a)
{
    return a->ended != N_RECORD_TYPES;
}

static struct job_attempt *last_attempt(struct job_facts *f)
{
    return f->attempts.n ? &array_last(&f->attempts) : NULL;
}

/* The one that goes on; a new one when there is none. */
static struct job_attempt *attempt_now(struct job_facts *f)
{
    struct job_attempt *last = last_attempt(f);
    if (last && !is_over(last)) return last;
    int64_t from = last ? last->kept_step : 0;
    array_push(&f->attempts, (struct job_attempt){.admitted_ns = -1, .allocated_ns = -1, .started_ns = -1, .stopped_ns = -1, .from_step = from,
                                                  .to_step = -1, .kept_step = -1, .ended = N_RECORD_TYPES, .by = -1});
    return last_attempt(f);
}

/* An eviction tells more than that the ranks stopped, whichever is told first. */
static void end_attempt(struct job_facts *f, const struct record *r)
{
    struct job_attempt *a = last_attempt(f);
    if (!a || (is_over(a) && !(r->type == REC_JOB_EVICTED && a->stopped_ns == r->time_ns))) return;
    if (a->stopped_ns < 0) a->stopped_ns = r->time_ns;
    a->ended = r->type;
    a->code = r->code;
    if (r->type == REC_JOB_EVICTED && r->a >= 0 && r->a < f->scene->n_jobs) a->by = (int32_t)r->a;
}

static void start_attempt(struct job_attempt *a, const struct record *r)
{
    if (a->started_ns < 0) a->started_ns = r->time_ns;
    if (r->code < N_CAUSES) a->cause = r->code;
}

static void take_attempt(struct job_facts *f, const struct record *r)
{
    struct job_attempt *a = last_attempt(f);
    switch (r->type) {
    case REC_JOB_ADMITTED: attempt_now(f)->admitted_ns = r->time_ns; break;
    case REC_JOB_ALLOCATED: attempt_now(f)->allocated_ns = r->time_ns; break;
    case REC_JOB_STARTED: start_attempt(attempt_now(f), r); break;
    case REC_JOB_STOPPED:
    case REC_JOB_EVICTED:
    case REC_JOB_FINISHED: end_attempt(f, r); break;
    case REC_ROLLBACK:
        if (!a) break;
        a->to_step = r->a;
        a->kept_step = r->b;
        break;
    default: break;
    }
}

/* ---- marks ---- */

static bool mark_kind(const struct record *r, enum job_mark_kind *kind)
{
    if (r->type == REC_CHECKPOINT && r->code != SAVE_LEAVES) return false;
    if (r->type == REC_CHECKPOINT) *kind = MARK_CHECKPOINT;
    else if (r->type == REC_ROLLBACK) *kind = MARK_ROLLBACK;
    else if (r->type == REC_JOB_EVICTED) *kind = MARK_EVICTED;
    else if (scene_event_is_failure(r)) *kind = MARK_FAILURE;
    else return false;
    return true;
}

static void read_events(struct job_facts *f)
{
    const struct scene *s = f->scene;
    for (uint32_t i = 0; i < f->job->n_events; i++) {
        uint32_t event = s->by_job[f->job->first_event + i];
        const struct record *r = &s->events[event];
        enum job_mark_kind kind;
        take_attempt(f, r);
        if (mark_kind(r, &kind)) array_push(&f->marks, (struct job_mark){r->time_ns, kind, event});
    }
}

/* ---- places ---- */

static void add_place(struct job_facts *f, uint32_t gpu, int64_t from, int64_t to)
{
    uint32_t node = scene_node_of(f->scene, gpu);
    struct job_place *last = f->places.n ? &array_last(&f->places) : NULL;
    if (!last || last->node != node) {
        array_push(&f->places, (struct job_place){node, 1, gpu, from, to});
        return;
    }
    last->gpus++;
    if (from < last->from_ns) last->from_ns = from;
    if (to > last->to_ns) last->to_ns = to;
}

static void find_places(struct job_facts *f)
{
    const struct scene *s = f->scene;
    for (uint32_t k = 0; s->has_gpus && k < s->n_tracks[SCENE_GPUS]; k++) {
        const struct scene_track *t = &s->tracks[SCENE_GPUS][k];
        int64_t from = -1, to = -1;
        for (uint32_t i = scene_seek(s, SCENE_GPUS, k, f->from_ns); i < t->n && t->v[i].from_ns < f->to_ns; i++) {
            if (t->v[i].job != f->number) continue;
            if (from < 0) from = t->v[i].from_ns;
            if (scene_to(s, &t->v[i]) > to) to = scene_to(s, &t->v[i]);
        }
        if (from >= 0) add_place(f, k, from, to);
    }
}

/* ---- all ---- */

void job_facts_make(struct job_facts *f, const struct scene *s, int32_t job)
{
    *f = (struct job_facts){.scene = s, .number = job, .job = &s->jobs[job]};
    f->from_ns = f->job->submit_ns >= 0 ? f->job->submit_ns : s->begin_ns;
    f->to_ns = f->job->finished_ns >= 0 ? f->job->finished_ns : s->end_ns;
    find_waits(f);
    read_events(f);
    find_places(f);
}

void job_facts_free(struct job_facts *f)
{
    array_free(&f->waits);
    array_free(&f->attempts);
    array_free(&f->marks);
    array_free(&f->places);
}

int64_t job_waited_ns(const struct scene *s, const struct scene_job *j)
{
    int64_t to = j->started_ns >= 0 ? j->started_ns : j->finished_ns >= 0 ? j->finished_ns : s->end_ns;
    return j->submit_ns >= 0 ? to - j->submit_ns : -1;
}

int64_t job_ran_ns(const struct scene *s, const struct scene_job *j)
{
    if (j->started_ns < 0) return -1;
    return (j->finished_ns >= 0 ? j->finished_ns : s->end_ns) - j->started_ns;
}
