/* reconcile.c - one pass of ReconcileJobs: what is observed -> the calls to make, and the status to write after them.
 *
 * The order is that of training-operator 1.9.3 (TO pkg/controller.v1/common/job.go, pod.go; pytorch/pytorchjob_controller.go),
 * with what its recordings show (orchestration facts, sections 1.1 to 1.4 and 10):
 *
 *   1 finished: clean up by cleanPodPolicy, time to live        2 suspended: delete all pods
 *   3 back-off limit, then deadline: delete all pods, Failed    4 each replica type: pods, then services
 *   5 conditions from the counts
 *
 * Go walks the replica types in random order (mostly as written); here always Master, then Worker. With the other order
 * Restarting is not seen, because Running is written after it in the same pass: 3 of 19 recordings.
 * The controller's work queue for delayed requeues is a stub (FakeWorkQueue): a deadline is only looked at when something
 * else brings a pass, and `previousRetry` is 0. Times in an object are whole seconds.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "sim/operator/torch.h"

enum { NOT_TERMINATED = 48879 /* 0xbeef: no container has terminated (common/pod.go) */, RETRYABLE = 128 };

static const struct job_detail *detail_of(const struct torch_job *t) { return job_detail_of(t->op->sim, t->job); }

static int64_t now_of(const struct torch_job *t) { return sim_now(t->op->sim); }

static int64_t whole_second(int64_t t_ns) { return t_ns / EVENT_SECOND * EVENT_SECOND; }

static void call(struct torch_job *t, enum call_kind kind, uint32_t type, uint32_t index)
{
    array_push(&t->run.calls, (struct call){.kind = (uint8_t)kind, .type = (uint8_t)type, .index = index});
}

static void set(struct torch_job *t, enum condition_type type, bool status, enum condition_note note, enum pod_role role,
                uint32_t count)
{
    conditions_set(&t->run.status.conditions, (struct condition){.type = (uint8_t)type,
                                                                 .note = (uint8_t)note,
                                                                 .status = status,
                                                                 .role = (uint8_t)role,
                                                                 .count = count});
}

static bool is(const struct torch_job *t, enum condition_type type)
{
    return conditions_has(&t->run.status.conditions, type);
}

/* ---- deletion of everything ---- */

static bool spared(const struct pod *p, bool finished, enum clean_pod_policy policy)
{
    if (p->terminating) return true; /* "is terminating, skip deleting" */
    if (!finished) return false;
    return policy == CLEAN_NONE || (policy == CLEAN_RUNNING && p->phase >= POD_SUCCEEDED);
}

static void delete_pods(struct torch_job *t, bool finished)
{
    enum clean_pod_policy policy = detail_of(t)->clean;
    for (uint32_t i = 0; i < t->n_types; i++) {
        const struct replica_type *r = &t->type[i];
        for (uint32_t k = 0; r->n_pods && k < r->top_pod; k++) {
            if (!r->pods[k] || spared(r->pods[k], finished, policy)) continue;
            call(t, CALL_DELETE_BOTH, i, k); /* pod and service have the same name */
        }
    }
}

/* ---- 1: finished ---- */

static void plan_ttl(struct torch_job *t)
{
    int64_t ttl = detail_of(t)->ttl_ns, done = t->run.status.completion_ns;
    if (ttl == TIME_NEVER || done < 0) return; /* without a completion time (exit codes) it is never cleaned up */
    int64_t at = whole_second(done) + ttl;
    if (now_of(t) > at) call(t, CALL_DELETE_JOB, 0, 0);
    else t->run.requeue_ns = at - now_of(t) + 1;
}

static void plan_finished(struct torch_job *t)
{
    if (detail_of(t)->clean != CLEAN_NONE) delete_pods(t, true);
    plan_ttl(t);
    if (is(t, COND_SUCCEEDED))
        for (uint32_t i = 0; i < t->n_types; i++) {
            struct torch_counts *c = &t->run.status.counts[i];
            c->succeeded += c->active;
            c->active = 0;
        }
}

/* ---- 2: suspended ---- */

static void plan_suspended(struct torch_job *t)
{
    delete_pods(t, false);
    for (uint32_t i = 0; i < t->n_types; i++) t->run.status.counts[i].active = 0;
    if (is(t, COND_RUNNING)) set(t, COND_RUNNING, false, NOTE_SUSPENDED, ROLE_MASTER, 0);
    set(t, COND_SUSPENDED, true, NOTE_SUSPENDED, ROLE_MASTER, 0);
}

/* ---- 3: limits ---- */

static bool past_backoff_limit(const struct torch_job *t, int64_t limit)
{
    uint64_t restarts = 0;
    for (uint32_t i = 0; i < t->n_types; i++)
        if (t->type[i].restart != RESTART_NEVER) restarts += t->type[i].restarts;
    return limit == 0 ? restarts > 0 : restarts >= (uint64_t)limit;
}

/* The branch for pods that failed: the count of earlier retries is always 0, so it trips for a limit of 0 only. */
static bool new_failure_exceeds(const struct torch_job *t, int64_t limit)
{
    uint32_t failed = 0, before = 0, active = 0;
    for (uint32_t i = 0; i < t->n_types; i++) {
        const struct replica_type *r = &t->type[i];
        failed += r->in_failed;
        before += t->status.counts[i].failed;
        for (uint32_t k = 0; limit == 0 && k < r->top_pod; k++)
            active += r->pods[k] && r->pods[k]->phase < POD_SUCCEEDED && !r->pods[k]->terminating;
    }
    return failed > before && active != torch_wanted(t) && 1 > limit;
}

static bool past_deadline(const struct torch_job *t)
{
    int64_t deadline = detail_of(t)->active_deadline_ns, start = t->run.status.start_ns;
    return deadline != TIME_NEVER && start >= 0 && now_of(t) - whole_second(start) >= deadline;
}

static bool plan_limits(struct torch_job *t)
{
    int64_t limit = detail_of(t)->backoff_limit;
    enum condition_note why;
    if (limit >= 0 && (new_failure_exceeds(t, limit) || past_backoff_limit(t, limit))) why = NOTE_BACKOFF;
    else if (past_deadline(t)) why = NOTE_DEADLINE;
    else return false;
    if (t->run.status.completion_ns < 0) t->run.status.completion_ns = now_of(t);
    delete_pods(t, false);
    set(t, COND_FAILED, true, why, ROLE_MASTER, 0);
    return true;
}

/* ---- 4: replicas ---- */

static bool is_retried(const struct replica_type *r, const struct pod *p)
{
    int32_t code = p->evicted || p->exit_code < 0 ? NOT_TERMINATED : p->exit_code;
    return r->restart == RESTART_ON_FAILURE || r->restart == RESTART_ALWAYS ||
           (r->restart == RESTART_EXIT_CODE && code >= RETRYABLE);
}

static void plan_pod(struct torch_job *t, uint32_t type, uint32_t k)
{
    const struct replica_type *r = &t->type[type];
    const struct pod *p = r->pods[k];
    if (!p) {
        call(t, CALL_CREATE_POD, type, k);
        return;
    }
    bool outside = k >= r->replicas;
    if (outside && !p->terminating) call(t, CALL_DELETE_POD, type, k);
    if (p->phase != POD_FAILED) return;
    if (is_retried(r, p)) {
        if (!outside && !p->terminating) call(t, CALL_DELETE_POD, type, k);
        set(t, COND_RESTARTING, true, NOTE_REPLICAS_RESTART, r->role, 0);
    } else if (r->restart == RESTART_EXIT_CODE) {
        set(t, COND_FAILED, true, NOTE_EXIT_CODE, r->role, 0);
    }
}

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* The slices reach to the highest index that exists, so a gap beyond the wanted replicas is filled too (recorded: a
 * scale-down from 4 to 1 re-creates worker-1 while 2 and 3 are still terminating). */
static void plan_type(struct torch_job *t, uint32_t type)
{
    struct replica_type *r = &t->type[type];
    uint32_t pods = larger(r->replicas, r->top_pod), services = larger(r->replicas, r->top_service);
    torch_type_reserve(r, larger(pods, services));
    if (r->n_pods < pods || r->top_pod > r->replicas || r->in_failed)
        for (uint32_t k = 0; k < pods; k++) plan_pod(t, type, k);
    if (r->n_services < services || r->top_service > r->replicas)
        for (uint32_t k = 0; k < services; k++) {
            if (!r->services[k]) call(t, CALL_CREATE_SERVICE, type, k);
            else if (k >= r->replicas) call(t, CALL_DELETE_SERVICE, type, k);
        }
}

/* ---- 5: status ---- */

static void set_running(struct torch_job *t, bool master)
{
    set(t, COND_RUNNING, true, master ? NOTE_RUNNING : NOTE_WORKERS_RUNNING, ROLE_MASTER, 0);
}

static void set_succeeded(struct torch_job *t, bool master)
{
    if (t->run.status.completion_ns < 0) t->run.status.completion_ns = now_of(t);
    set(t, COND_SUCCEEDED, true, master ? NOTE_SUCCEEDED : NOTE_WORKERS_SUCCEEDED, ROLE_MASTER, 0);
}

static void judge_failures(struct torch_job *t, const struct replica_type *r, const struct torch_counts *c)
{
    if (!c->failed || r->replicas <= c->succeeded + c->active) return;
    if (r->restart != RESTART_NEVER) {
        set(t, COND_RESTARTING, true, NOTE_RESTARTING, r->role, c->failed);
        return;
    }
    if (t->run.status.completion_ns < 0) t->run.status.completion_ns = now_of(t);
    set(t, COND_FAILED, true, NOTE_FAILED, r->role, c->failed);
}

void torch_update_status(struct torch_job *t)
{
    struct torch_status *s = &t->run.status;
    bool master = t->type[0].role == ROLE_MASTER;
    if (s->start_ns < 0) s->start_ns = now_of(t);
    for (uint32_t i = 0; i < t->n_types; i++) {
        const struct replica_type *r = &t->type[i];
        const struct torch_counts *c = &s->counts[i];
        bool all = c->succeeded == r->replicas;
        if (master && r->role == ROLE_MASTER) {
            if (c->active) set_running(t, true);
            if (all) {
                set_succeeded(t, true);
                return;
            }
        } else if (!master) {
            if (all || (t->max && c->succeeded)) set_succeeded(t, false);
            else if (c->active) set_running(t, false);
        }
        judge_failures(t, r, c);
    }
}

/* ---- the pass ---- */

void torch_plan(struct torch_job *t)
{
    struct reconcile *run = &t->run;
    array_clear(&run->calls);
    run->next = 0;
    run->status = t->status;
    run->update = run->cleans = false;
    run->requeue_ns = -1;
    set(t, COND_CREATED, true, NOTE_CREATED, ROLE_MASTER, 0);
    if (is(t, COND_SUCCEEDED) || is(t, COND_FAILED)) {
        run->cleans = true;
        plan_finished(t);
        return;
    }
    if (t->suspend) {
        plan_suspended(t);
        return;
    }
    if (is(t, COND_SUSPENDED)) {
        set(t, COND_SUSPENDED, false, NOTE_RESUMED, ROLE_MASTER, 0);
        run->status.start_ns = now_of(t);
    }
    if (plan_limits(t)) return;
    if (detail_of(t)->active_deadline_ns != TIME_NEVER) run->requeue_ns = t->op->stack->to_resync;
    for (uint32_t i = 0; i < t->n_types; i++) {
        plan_type(t, i);
        run->status.counts[i] = t->type[i].counts;
    }
    run->update = true;
}
