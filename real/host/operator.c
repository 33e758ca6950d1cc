/* operator.c - the operator's way: each container on its own, restarted in place as its restart policy says.
 *
 *   exit, policy   0                     not 0
 *   Always         restart in place      restart in place
 *   OnFailure      the pod succeeds      restart in place
 *   ExitCode       the pod succeeds      from 128 on: another pod, at once; below: the job fails
 *   Never          the pod succeeds      the job fails
 *
 * A pod that is deleted, evicted or has failed is replaced by another at once; under Never the job fails.
 *
 * In place: the first time at once, then after kubelet.crash-backoff x 2^n up to its maximum; a container that ran for
 * kubelet.crash-reset begins anew. The restarts of all pods together may reach backoffLimit, then the job fails, when the
 * container is up again, as the operator only sees then (facts of training-operator 1.9, as in sim/operator). The peers of a
 * process that dies end by themselves, and without agents are restarted in the same way.
 * A deadline is looked at only when something else happens, as there.
 *
 * torchrun's elastic jobs: a process that crashes is started again at once by the agent in its pod; a container that ends is the
 * kubelet's. The agents of its peers end their processes, once these have noticed, and start them anew as well. All this is one restart of
 * the group, as often as max_restarts says; then containers end, with their process's code or, of who has lost a peer, with 1. A process that
 * ends before it has met anybody is its container's end. Agents look for newcomers each torchrun.monitor from the first step
 * of the group on: then they kill their processes and start them again, to meet with who has come; that is no restart.
 * A process that hangs is ended by its own watchdog after nccl.timeout, as its peers are.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/units.h"
#include "real/host/parts.h"

enum { RETRYABLE = 128, WATCHDOG = 1 };

static const struct stack *stack_of(const struct host_job *j) { return &j->host->scenario->approach.stack; }

static void new_agents(struct host_job *j)
{
    j->agent_restarts = 0;
    j->failed_ns = j->settled_ns = j->gone_ns = -1;
}

static void run_pod(struct host_pod *p) { seat_start(p, p->number, p->job->plan.n); }

static void begin(struct host_job *j)
{
    job_new_port(j);
    new_agents(j);
    for (uint32_t i = 0; i < j->wanted; i++) {
        j->pods[i].restarts = j->pods[i].backoff = 0;
        run_pod(&j->pods[i]);
    }
}

/* ---- limits ---- */

static bool past_deadline(const struct host_job *j)
{
    int64_t deadline = j->detail->active_deadline_ns;
    return deadline != TIME_NEVER && host_now(j->host) - j->admitted_ns >= deadline;
}

static bool past_backoff_limit(const struct host_job *j)
{
    int64_t limit = j->detail->backoff_limit, restarts = 0;
    for (uint32_t i = 0; i < j->plan.n; i++)
        if (j->pods[i].process.pid) restarts += j->pods[i].restarts;
    return limit >= 0 && (limit == 0 ? restarts > 0 : restarts >= limit);
}

/* ---- restarts ---- */

static void on_backoff(void *arg)
{
    struct host_pod *p = arg;
    live_at(p->job->host->run, host_now(p->job->host));
    p->restarts++;
    run_pod(p);
    if (past_backoff_limit(p->job)) job_over(p->job, JOB_FAILED, false);
}

static int64_t doubled(int64_t ns, uint32_t times, int64_t most)
{
    while (times-- && ns < most) ns *= 2;
    return ns < most ? ns : most;
}

static void restart_in_place(struct host_job *j, struct host_pod *p, int code)
{
    const struct stack *k = stack_of(j);
    if (host_now(j->host) - p->started_ns >= k->crash_reset) p->backoff = 0;
    int64_t delay = p->backoff ? doubled(k->crash_backoff, p->backoff - 1, k->crash_backoff_max) : 0;
    p->backoff++;
    if (delay) host_tell(j->host, j, "%s backs off for %.3g s", j->plan.v[p->number].name, (double)delay / NS_PER_S);
    if (delay) seat_note(p, POD_IS_BACKOFF, code);
    seat_enter(p, delay ? SEAT_BACKOFF : SEAT_STOPPED);
    host_after(j->host, &p->timer, delay, on_backoff, p);
}

static void another_pod(struct host_pod *p)
{
    p->restarts = p->backoff = 0;
    run_pod(p);
}

/* ---- ends ---- */

static enum restart_policy policy_of(const struct host_job *j, const struct host_pod *p)
{
    return j->plan.pods[j->plan.v[p->number].first].restart;
}

static bool all_succeeded(const struct host_job *j)
{
    for (uint32_t i = 0; i < j->wanted; i++)
        if (j->pods[i].state != SEAT_ENDED) return false;
    return true;
}

static void succeeded(struct host_job *j, struct host_pod *p)
{
    bool master = j->plan.v[0].role == ROLE_MASTER;
    p->state = SEAT_ENDED;
    seat_note(p, POD_IS_SUCCEEDED, 0);
    queue_free(p);
    if (!(master ? p->number == 0 : all_succeeded(j) || j->plan.max)) return;
    for (uint32_t i = 0; i < j->plan.n; i++) /* the rendezvous closes: who was one too many leaves it */
        if (j->plan.max && j->pods[i].state == SEAT_WAITS) seat_kill(&j->pods[i], 0);
    job_over(j, JOB_SUCCEEDED, j->detail->clean == CLEAN_NONE);
}

/* Whether the agents start the group's processes anew. What ends that had begun before a counted failure ends by it; so may one that was
 * begun anew and met some of those before they had ended. Any other is a failure of its own; where no restart is left the agents end as well,
 * and those of the containers that follow count anew. */
static bool agents_restart(struct host_job *j, const struct host_pod *p)
{
    int64_t now = host_now(j->host);
    if (!j->plan.max || p->since_ns <= j->gone_ns) return false;
    if (p->since_ns <= j->failed_ns) j->settled_ns = now;
    if (p->since_ns <= j->settled_ns) return true;
    if (j->agent_restarts >= j->plan.max_restarts) {
        new_agents(j);
        j->gone_ns = now;
        return false;
    }
    j->agent_restarts++;
    j->failed_ns = j->settled_ns = now;
    return true;
}

static bool is_of_agent(const struct host_pod *p, int code)
{
    return code != 0 && (p->is_agent || (p->took_part && p->told_code < 0));
}

/* A pod too many, after a scale-down. */
static bool is_surplus(const struct host_job *j, const struct host_pod *p) { return p->number >= j->wanted; }

static void ended(struct host_job *j, struct host_pod *p, int code)
{
    enum restart_policy policy = policy_of(j, p);
    if (is_surplus(j, p)) {
        p->state = SEAT_NONE;
        queue_free(p);
    } else if (past_deadline(j)) {
        job_over(j, JOB_FAILED, false);
    } else if (code == 0 && policy != RESTART_ALWAYS) {
        succeeded(j, p);
    } else if (p->replaced && policy != RESTART_NEVER) {
        another_pod(p);
    } else if (p->by_agent || (is_of_agent(p, code) && agents_restart(j, p))) {
        run_pod(p);
    } else if (policy == RESTART_ALWAYS || policy == RESTART_ON_FAILURE) {
        restart_in_place(j, p, code);
    } else if (policy == RESTART_EXIT_CODE && code >= RETRYABLE) {
        another_pod(p);
    } else {
        seat_note(p, POD_IS_FAILED, code);
        job_over(j, JOB_FAILED, false);
    }
}

/* ---- hangs, sizes ---- */

static void on_watchdog(void *arg)
{
    struct host_pod *p = arg;
    live_at(p->job->host->run, host_now(p->job->host));
    seat_kill(p, WATCHDOG);
}

static void hang(struct host_job *j, struct host_pod *p)
{
    p->is_agent = j->plan.max > 0; /* which outlives the process that hangs */
    host_after(j->host, &p->timer, stack_of(j)->nccl_timeout, on_watchdog, p);
}

static bool is_full(const struct host_job *j) { return j->world >= j->plan.max; }

static void on_monitor(void *arg)
{
    struct host_job *j = arg;
    bool steps = live_steps_now(j->host->run, j->index);
    live_at(j->host->run, host_now(j->host));
    if (j->stage != STAGE_ACTIVE || !steps || !ranks_wait(j) || is_full(j)) return;
    ranks_stop(j, ACT_STALLED, WAIT_RESIZE, CAUSE_RESIZE);
    j->resizing = true;
    j->settled_ns = host_now(j->host); /* newcomers may meet those that are to end */
    for (uint32_t i = 0; i < j->plan.n; i++) {
        struct host_pod *p = &j->pods[i];
        if (p->state != SEAT_STUCK || p->stands) continue;
        p->by_agent = true;
        seat_kill(p, -1);
    }
    ranks_refresh(j);
}

static void joined(struct host_job *j)
{
    int64_t period = stack_of(j)->rdzv_monitor, since = host_now(j->host) - j->poll_base_ns;
    if (!j->plan.max || j->scaler.place || is_full(j)) return;
    host_after(j->host, &j->scaler, period > 0 ? period - since % period : 0, on_monitor, j);
}

static void again(struct host_pod *p)
{
    p->by_agent = agents_restart(p->job, p);
    seat_kill(p, p->by_agent ? -1 : 1);
}

static void started(struct host_job *j)
{
    j->poll_base_ns = host_now(j->host);
    for (uint32_t i = 0; i < j->plan.n; i++)
        if (j->pods[i].state == SEAT_READY) j->pods[i].since_ns = j->poll_base_ns;
    if (ranks_wait(j)) joined(j);
}

/* Those that are new begin; those that are too many are killed. */
static void resized(struct host_job *j)
{
    for (uint32_t i = 0; i < j->plan.n; i++) {
        struct host_pod *p = &j->pods[i];
        if (i < j->wanted && p->state == SEAT_NONE && p->holds.n) another_pod(p);
        if (i < j->wanted || p->state == SEAT_NONE) continue;
        if (p->process.pid) {
            seat_kill(p, -1);
        } else {
            loop_disarm(j->host->loop, &p->timer);
            p->state = SEAT_NONE;
            queue_free(p);
        }
    }
}

const struct host_life host_operator = {true, begin, joined, again, started, ended, resized, hang};
