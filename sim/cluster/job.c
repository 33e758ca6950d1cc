/* job.c - the states of a job, its waits and what is written of it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/cluster/hold.h"
#include "sim/cluster/sim.h"

/* ---- small things ---- */

int64_t job_total_shares(const struct sim *s, const struct job *j) { return job_shares(s->scenario, j->spec); }

/* What it is to have beyond its submission. */
static void resize(struct sim *s, struct job *j, int64_t beyond)
{
    s->resized_shares += beyond - j->live->resized_shares;
    j->live->resized_shares = beyond;
}

void job_resized(struct sim *s, struct job *j, int64_t shares)
{
    int64_t beyond = shares - job_total_shares(s, j);
    if (j->state != JOB_ADMITTED && j->state != JOB_RUNNING) return;
    bool fewer = beyond < j->live->resized_shares;
    resize(s, j, beyond);
    if (fewer && s->policy->resized) s->policy->resized(s);
}

uint32_t job_account(struct sim *s, const struct job *j, uint32_t group)
{
    struct ledger_key key = {.group = (uint16_t)group,
                             .queue = j->spec->queue,
                             .team = j->spec->team,
                             .kind = (uint16_t)job_detail_of(s, j)->kind,
                             .cause = j->cause};
    return ledger_account(s->ledger, &key);
}

void sim_record(struct sim *s, enum record_type type, const struct job *j, uint32_t subject, unsigned code, int64_t a,
                int64_t b)
{
    if (!s->recorder) return; /* the run is written; what is left only frees itself */
    *recorder_next(s->recorder, sim_now(s)) = (struct record){.time_ns = sim_now(s),
                                                              .type = (uint16_t)type,
                                                              .code = (uint16_t)code,
                                                              .job = j ? j->index : NO_JOB,
                                                              .subject = subject,
                                                              .a = a,
                                                              .b = b};
}

void sim_record_range(struct sim *s, enum record_type type, const struct job *j, uint32_t first, unsigned code, uint32_t n, int64_t b)
{
    if (!s->recorder) return;
    recorder_range(s->recorder, &(struct record){.time_ns = sim_now(s),
                                                 .type = (uint16_t)type,
                                                 .code = (uint16_t)code,
                                                 .job = j ? j->index : NO_JOB,
                                                 .subject = first,
                                                 .a = n,
                                                 .b = b});
}

void job_request(const struct sim *s, const struct job *j, struct place_request *r)
{
    const struct job_detail *d = job_detail_of(s, j);
    uint32_t main = d->n_roles - 1;
    *r = (struct place_request){
        .replicas = job_role_replicas(s->scenario, j->spec, main),
        .shares = job_role_shares(s->scenario, j->spec, main),
        .cpu_milli = d->roles[main].cpu_milli,
        .mem_bytes = d->roles[main].mem_bytes,
        .groups = d->groups,
        .placement = s->scenario->approach.placement,
        .topology = d->topology_level,
        .topology_required = d->topology_required,
    };
}

/* ---- demand of pending jobs ---- */

static void demand(struct sim *s, uint16_t group, unsigned reason, int64_t shares)
{
    if (shares == 0) return;
    if (wait_is_kept_off(reason)) s->blocked_shares[group] += shares;
    else if (wait_is_misfit(reason)) s->fragmented_shares[group] += shares;
    else return;
    ledger_demand(s->ledger, group, s->blocked_shares[group], s->fragmented_shares[group], sim_now(s));
}

/* ---- waiting ---- */

void sim_class_init(struct sim *s, struct wait_class *c, uint64_t groups, enum wait_reason reason)
{
    *c = (struct wait_class){.clock = {.since_ns = sim_now(s), .reason = reason},
                             .number = s->n_classes++,
                             .group = scenario_largest_group(s->scenario, groups),
                             .told = N_QUEUE_REASONS};
}

static void tell_reason(struct sim *s, struct wait_class *c)
{
    if (c->jobs == 0 || c->told == c->clock.reason) return;
    c->told = (uint8_t)c->clock.reason;
    sim_record(s, REC_CLASS_WAIT, NULL, c->number, c->told, 0, 0);
}

void sim_class_reason(struct sim *s, struct wait_class *c, enum wait_reason reason)
{
    assert((unsigned)reason < N_QUEUE_REASONS);
    if (c->clock.reason == reason) return;
    demand(s, c->group, c->clock.reason, -c->shares);
    wait_clock_set(&c->clock, reason, sim_now(s));
    demand(s, c->group, reason, c->shares);
    tell_reason(s, c);
}

static struct job_live *live_of(struct sim *s, struct job *j)
{
    if (j->live) return j->live;
    struct job_live *l = s->free_live;
    if (l) s->free_live = l->state;
    else l = xmalloc(sizeof *l);
    memset(l, 0, sizeof *l);
    l->admitted_ns = l->allocated_ns = l->started_ns = l->finished_ns = -1;
    l->wait.reason = NOT_WAITING;
    l->wait.since_ns = sim_now(s);
    return j->live = l;
}

static void leave_class(struct sim *s, struct job *j)
{
    struct wait_class *c = j->class;
    int64_t shares = job_total_shares(s, j);
    wait_leave(&j->ticket, &c->clock, sim_now(s), live_of(s, j)->wait.sum_ns);
    demand(s, c->group, c->clock.reason, -shares);
    c->shares -= shares;
    c->jobs--;
    j->class = NULL;
    j->live->wait.since_ns = sim_now(s);
}

void job_settle(struct sim *s, struct job *j)
{
    if (j->class) leave_class(s, j);
    else if (j->live) wait_track_set(&j->live->wait, j->live->wait.reason, sim_now(s));
}

static void own_demand(struct sim *s, struct job *j, int64_t sign)
{
    if (j->state != JOB_PENDING) return;
    demand(s, scenario_largest_group(s->scenario, job_detail_of(s, j)->groups), j->wait, sign * job_total_shares(s, j));
}

void job_wait(struct sim *s, struct job *j, unsigned reason)
{
    if (j->class) leave_class(s, j);
    else if (j->wait == reason && j->live) return;
    else own_demand(s, j, -1);
    j->wait = (uint8_t)reason;
    own_demand(s, j, +1);
    wait_track_set(&live_of(s, j)->wait, reason, sim_now(s));
    sim_record(s, REC_JOB_WAIT, j, 0, reason, NO_JOB, 0);
}

void job_wait_in(struct sim *s, struct job *j, struct wait_class *c)
{
    assert(j->state == JOB_PENDING);
    if (j->class == c) return;
    if (j->class) leave_class(s, j);
    else if (j->live) {
        own_demand(s, j, -1);
        wait_track_set(&j->live->wait, NOT_WAITING, sim_now(s));
    }
    j->wait = NOT_WAITING;
    j->class = c;
    wait_join(&j->ticket, &c->clock, sim_now(s));
    c->jobs++;
    tell_reason(s, c);
    sim_record(s, REC_JOB_WAIT, j, 0, WAITS_IN_CLASS, NO_JOB, c->number);
    int64_t shares = job_total_shares(s, j);
    c->shares += shares;
    demand(s, c->group, c->clock.reason, shares);
}

/* ---- passes ---- */

void sim_pass(struct sim *s, event_fn *fn, bool *asked)
{
    if (*asked) return;
    *asked = true;
    event_now(s->events, EVENT_SCHEDULE, fn, NULL);
}

/* ---- changes of state ---- */

static const struct lifecycle_ops *life_of(const struct sim *s, const struct job *j)
{
    return s->lifecycle[job_detail_of(s, j)->kind];
}

void job_assign(struct sim *s, struct job *j, uint64_t flavors, uint32_t pods)
{
    struct job_live *l = live_of(s, j);
    l->flavors = flavors;
    l->pods = pods;
}

void job_admit(struct sim *s, struct job *j, uint64_t groups, struct alloc *a)
{
    struct job_live *l = live_of(s, j);
    assert(j->state == JOB_PENDING);
    if (j->class) leave_class(s, j);
    else own_demand(s, j, -1);
    wait_track_set(&l->wait, NOT_WAITING, sim_now(s));
    j->wait = NOT_WAITING;
    j->state = JOB_ADMITTED;
    if (l->admitted_ns < 0) l->admitted_ns = sim_now(s);
    l->groups = groups;
    l->life = life_of(s, j);
    if (++l->attempt == 1) s->last_progress_ns = sim_now(s); /* to be admitted and taken back in turn is none */
    j->flags &= (uint8_t)~JOB_ALLOCATED;
    if (a) {
        l->alloc = *a;
        *a = (struct alloc){0};
    }
    sim_record(s, REC_JOB_ADMITTED, j, l->attempt, 0, (int64_t)l->flavors, l->pods);
    l->life->start(s, j);
}

void job_preempt(struct sim *s, struct job *j, enum stop_reason reason, const struct job *by)
{
    assert(j->state == JOB_ADMITTED || j->state == JOB_RUNNING);
    if (j->flags & JOB_STOPPING) { /* it stops once; that its owner suspends it outlasts a preemption */
        if (reason == STOP_SUSPENDED) job_wait(s, j, WAIT_SUSPENDED);
        return;
    }
    j->live->preemptions++;
    j->flags |= JOB_STOPPING;
    sim_record(s, REC_JOB_EVICTED, j, j->live->attempt, reason, by ? by->index : NO_JOB, j->live->eviction);
    if (j->state == JOB_RUNNING) s->n_stepping--;
    j->state = JOB_ADMITTED;
    job_wait(s, j, reason == STOP_SUSPENDED ? WAIT_SUSPENDED : WAIT_PREEMPTED);
    j->live->life->stop(s, j, reason);
}

void job_allocated(struct sim *s, struct job *j)
{
    if (j->flags & JOB_ALLOCATED) return; /* by its pods, and again by what it makes of them */
    j->flags |= JOB_ALLOCATED;
    if (j->live->allocated_ns < 0) j->live->allocated_ns = sim_now(s);
    sim_record(s, REC_JOB_ALLOCATED, j, j->live->attempt, j->cause, 0, 0);
}

void job_started(struct sim *s, struct job *j)
{
    assert(j->state == JOB_ADMITTED);
    if (j->live->started_ns < 0) j->live->started_ns = sim_now(s);
    wait_track_set(&j->live->wait, NOT_WAITING, sim_now(s));
    j->wait = NOT_WAITING;
    j->state = JOB_RUNNING;
    s->n_stepping++;
    s->last_progress_ns = sim_now(s);
    sim_record(s, REC_JOB_STARTED, j, j->live->attempt, j->cause, 0, 0);
}

void job_paused(struct sim *s, struct job *j, unsigned wait_reason)
{
    if (j->state == JOB_RUNNING) {
        s->n_stepping--;
        s->last_progress_ns = sim_now(s);
        j->state = JOB_ADMITTED;
    }
    job_wait(s, j, wait_reason);
}

void job_interrupted(struct sim *s, struct job *j, unsigned wait_reason, enum cause next)
{
    if (j->state == JOB_RUNNING) {
        if (next == CAUSE_FAILURE) j->live->restarts++, s->restarts_in_vain++;
        sim_record(s, REC_JOB_STOPPED, j, j->live->attempt, next, 0, 0);
    }
    j->flags &= (uint8_t)~JOB_ALLOCATED;
    j->cause = (uint8_t)next;
    job_paused(s, j, wait_reason);
}

static void end_job(struct sim *s, struct job *j, enum job_state state)
{
    struct job_live *l = live_of(s, j);
    assert(!(j->flags & JOB_ENDED));
    if (j->class) leave_class(s, j);
    if (j->state == JOB_PENDING) own_demand(s, j, -1);
    if (j->state == JOB_RUNNING) s->n_stepping--;
    wait_track_set(&l->wait, NOT_WAITING, sim_now(s));
    j->wait = NOT_WAITING;
    j->state = (uint8_t)state;
    j->flags |= JOB_ENDED;
    l->finished_ns = s->last_progress_ns = sim_now(s);
    s->restarts_in_vain = 0;
    s->n_succeeded += state == JOB_SUCCEEDED;
    s->n_failed += state == JOB_FAILED;
    if (state != JOB_SUCCEEDED && !s->unsuccessful) s->unsuccessful = xcalloc(s->n_specs, sizeof *s->unsuccessful);
    if (state != JOB_SUCCEEDED) s->unsuccessful[j->index] = true;
    sim_record(s, REC_JOB_FINISHED, j, l->attempt, state, 0, 0);
}

static int64_t ideal_ns(const struct job *j) { return j->spec->work_ns; }

void job_write_row(struct sim *s, struct job *j)
{
    const struct scenario *sc = s->scenario;
    const struct job_live none = {.admitted_ns = -1, .allocated_ns = -1, .started_ns = -1, .finished_ns = -1};
    const struct job_live *l = j->live ? j->live : &none;
    char buf[24];
    bool text = j->spec->flags & JOB_ID_TEXT;
    struct job_row row = {
        .id = text ? job_id(sc, j->spec, buf) : NULL,
        .number = j->spec->id,
        .state = j->state,
        .gpu_shares = job_total_shares(s, j),
        .submit_ns = j->spec->submit_ns,
        .admitted_ns = l->admitted_ns,
        .allocated_ns = l->allocated_ns,
        .started_ns = l->started_ns,
        .finished_ns = l->finished_ns,
        .nodes = l->nodes,
        .n_nodes = l->n_nodes,
        .restarts = l->restarts,
        .preemptions = l->preemptions,
        .team = sc->teams[j->spec->team],
        .queue = sc->queues[j->spec->queue],
        .kind = job_kind_table[job_detail_of(s, j)->kind].name,
        .priority = j->spec->priority,
        .ideal_ns = ideal_ns(j),
        .work = l->work,
        .redone = l->redone,
        .held = l->held,
        .work_by = l->work_by,
        .recovery = l->recovery,
        .together = l->together,
        .wait_ns = l->wait.sum_ns,
    };
    run_job(s->out, &row);
}

static void forget(struct sim *s, struct job *j)
{
    s->by_index[j->index] = NULL;
    s->n_live--;
    s->n_ended++;
    if (j->live) {
        free(j->live->nodes);
        j->live->state = s->free_live;
        s->free_live = j->live;
    }
    j->policy = s->free_jobs;
    s->free_jobs = j;
}

static void requeue(struct sim *s, struct job *j, enum cause cause)
{
    j->flags &= (uint8_t)~JOB_STOPPING;
    j->state = JOB_PENDING;
    j->cause = (uint8_t)cause;
    s->policy->submit(s, j);
}

void job_idle(struct sim *s, struct job *j)
{
    if ((j->flags & JOB_STOPPING) && s->policy->idle) s->policy->idle(s, j);
}

void job_released(struct sim *s, struct job *j)
{
    resize(s, j, 0);
    s->policy->released(s, j);
    if (j->flags & JOB_ENDED) {
        job_write_row(s, j);
        forget(s, j);
        return;
    }
    assert(j->flags & JOB_STOPPING);
    if (j->wait == WAIT_SUSPENDED) {
        j->flags &= (uint8_t)~JOB_STOPPING;
        j->state = JOB_SUSPENDED;
        return;
    }
    requeue(s, j, CAUSE_PREEMPTION);
}

void job_lost(struct sim *s, struct job *j)
{
    job_interrupted(s, j, WAIT_DETECTION, CAUSE_FAILURE);
    resize(s, j, 0);
    s->policy->released(s, j);
    requeue(s, j, CAUSE_FAILURE);
}

/* ---- submission and dependencies ---- */

static bool is_open(const struct sim *s, uint32_t index)
{
    return index >= s->next_arrival || (s->by_index[index] && !(s->by_index[index]->flags & JOB_ENDED));
}

static bool waits_for_others(const struct sim *s, const struct job *j)
{
    const struct job_detail *d = job_detail_of(s, j);
    for (uint32_t i = 0; i < d->n_after; i++)
        if (is_open(s, d->after[i])) return true;
    return false;
}

/* What it comes after must have succeeded; one that has ended otherwise never will. */
static bool is_in_vain(const struct sim *s, const struct job *j)
{
    const struct job_detail *d = job_detail_of(s, j);
    for (uint32_t i = 0; i < d->n_after && s->unsuccessful; i++)
        if (s->unsuccessful[d->after[i]]) return true;
    return false;
}

/* The policy has never seen it. */
static void cancel(struct sim *s, struct job *j)
{
    end_job(s, j, JOB_CANCELLED);
    job_write_row(s, j);
    forget(s, j);
}

/* Those that are cancelled may have others come after them. */
static void release_dependents(struct sim *s)
{
    bool again;
    do {
        size_t kept = 0;
        again = false;
        for (size_t i = 0; i < s->dependents.n; i++) {
            struct job *j = s->dependents.v[i];
            bool in_vain = is_in_vain(s, j);
            if (in_vain) cancel(s, j);
            else if (waits_for_others(s, j)) s->dependents.v[kept++] = j;
            else s->policy->submit(s, j);
            again |= in_vain;
        }
        s->dependents.n = kept;
    } while (again);
}

static struct job *job_new(struct sim *s, size_t index)
{
    struct job *j = s->free_jobs;
    if (j) s->free_jobs = j->policy;
    else j = xmalloc(sizeof *j);
    *j = (struct job){.spec = &s->specs[index], .index = (int32_t)index, .wait = NOT_WAITING};
    s->by_index[index] = j;
    s->n_live++;
    return j;
}

/* To the policy, or to those who wait for other jobs. */
static void ask(struct sim *s, struct job *j)
{
    if (is_in_vain(s, j)) {
        cancel(s, j);
        if (s->dependents.n) release_dependents(s);
    } else if (waits_for_others(s, j)) {
        job_wait(s, j, WAIT_DEPENDENCY);
        array_push(&s->dependents, j);
    } else {
        s->policy->submit(s, j);
    }
}

void job_submit(struct sim *s, size_t index)
{
    struct job *j = job_new(s, index);
    s->next_arrival = index + 1;
    sim_record(s, REC_JOB_SUBMITTED, j, (uint32_t)job_total_shares(s, j), job_detail_of(s, j)->kind, j->spec->queue,
               j->spec->team);
    if (s->scenario->approach.admission != ADMIT_NONE && life_of(s, j)->held) life_of(s, j)->held(s, j);
    ask(s, j);
}

void job_put_aside(struct sim *s, struct job *j)
{
    size_t i = 0;
    assert(j->state == JOB_PENDING);
    while (i < s->dependents.n && s->dependents.v[i] != j) i++;
    if (i == s->dependents.n) {
        s->policy->withdraw(s, j);
    } else {
        s->dependents.n--;
        for (; i < s->dependents.n; i++) s->dependents.v[i] = s->dependents.v[i + 1];
    }
    job_wait(s, j, WAIT_SUSPENDED);
    j->state = JOB_SUSPENDED;
}

void job_ask_again(struct sim *s, struct job *j)
{
    assert(j->state == JOB_SUSPENDED);
    j->state = JOB_PENDING;
    ask(s, j);
}

void job_finished(struct sim *s, struct job *j, enum job_state state)
{
    end_job(s, j, state);
    s->policy->finished(s, j);
    if (s->dependents.n) release_dependents(s);
}
