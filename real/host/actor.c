/* actor.c - the actors' way: one worker group, which a controller starts, watches and starts again as a whole.
 *
 *     begin --all of a group's workers step--> poll every ray-train.poll --a worker is gone, seen at a poll--> all are killed
 *       ^                                                                                                          |
 *       +------------------------- from the last checkpoint, while failures <= maxFailures ------------------------+
 *
 * The cluster of an elastic job begins with the fewest pods; each ray-autoscaler.loop as many of those that are lacking come
 * as find GPUs. What happens in a group is noticed at a poll, its end too. The pods of the cluster hold their GPUs from admission to the end, whether a worker is in them or not. An elastic group
 * takes as many workers as there are pods; each ray-train.resize-check it looks whether there are more than it has, and is
 * then started again. One that is not up after ray-train.start-timeout is started again, for ever.
 * A worker that hangs is noticed ray-train.worker-hang later, which is also its peers' time-out; one on a lost node when the
 * node's health checks have failed (ray.health-detect-dropped).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/host/parts.h"

static const struct stack *stack_of(const struct host_job *j) { return &j->host->scenario->approach.stack; }

static void schedule(struct host_job *j);

/* Pods that a worker may be in. */
static uint32_t pods_there(const struct host_job *j)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < j->wanted; i++) n += j->pods[i].holds.n && j->host->node_up[j->pods[i].holds.v[0].node];
    return n;
}

/* ---- the end of a group ---- */

static void when_empty(struct host_job *j)
{
    if (!j->regrouping || job_has_processes(j)) return;
    j->regrouping = false;
    for (uint32_t i = 0; i < j->plan.n; i++) j->pods[i].state = SEAT_NONE;
    schedule(j);
}

static void regroup(struct host_job *j)
{
    loop_disarm(j->host->loop, &j->timer);
    loop_disarm(j->host->loop, &j->limit);
    j->regrouping = true;
    job_kill_all(j);
    ranks_refresh(j);
    when_empty(j);
}

static void on_noticed(void *arg)
{
    struct host_job *j = arg;
    live_at(j->host->run, host_now(j->host));
    j->noticing = false;
    j->poll_base_ns = host_now(j->host);
    j->failures++;
    host_tell(j->host, j, "failure %u is noticed", j->failures);
    if (j->detail->max_failures != UINT32_MAX && j->failures > j->detail->max_failures) job_over(j, JOB_FAILED, false);
    else regroup(j);
}

/* From now to the first poll that is at least `ns` away. */
static int64_t to_poll(const struct host_job *j, int64_t ns)
{
    int64_t poll = stack_of(j)->ray_poll, since = host_now(j->host) + ns - j->poll_base_ns;
    return ns + (poll > 0 && since % poll ? poll - since % poll : 0);
}

static void notice_after(struct host_job *j, int64_t ns)
{
    loop_disarm(j->host->loop, &j->limit);
    j->noticing = true;
    host_after(j->host, &j->timer, to_poll(j, ns), on_noticed, j);
}

/* ---- a start ---- */

static void on_start_timeout(void *arg)
{
    struct host_job *j = arg;
    live_at(j->host->run, host_now(j->host));
    host_tell(j->host, j, "is not up in time");
    regroup(j);
}

static void schedule(struct host_job *j)
{
    uint32_t most = j->plan.max ? j->plan.max : j->plan.nominal, there = pods_there(j), rank = 0;
    uint32_t least = j->plan.max ? j->plan.min : most, world = there < most ? there : most;
    if (world < least) { /* when pods come, or a node does: resized() */
        live_waits(j->host->run, j->index, WAIT_CAPACITY);
        return;
    }
    job_new_port(j);
    j->resizing = false;
    for (uint32_t i = 0; i < j->wanted && rank < world; i++) {
        const struct host_pod *p = &j->pods[i];
        if (p->holds.n && j->host->node_up[p->holds.v[0].node]) seat_start(&j->pods[i], rank++, world);
    }
    j->group_ns = host_now(j->host);
    if (stack_of(j)->ray_start_timeout > 0)
        host_after(j->host, &j->timer, stack_of(j)->ray_start_timeout, on_start_timeout, j);
}

static void on_autoscaler(void *arg)
{
    struct host_job *j = arg;
    live_at(j->host->run, host_now(j->host));
    queue_grow(j, j->plan.max);
    while (j->wanted < j->plan.max && j->pods[j->wanted].holds.n) j->wanted++;
    host_after(j->host, &j->scaler, stack_of(j)->ray_as_loop, on_autoscaler, j);
    ranks_refresh(j);
}

static void begin(struct host_job *j)
{
    if (j->plan.max && stack_of(j)->ray_as_loop > 0) host_after(j->host, &j->scaler, stack_of(j)->ray_as_loop, on_autoscaler, j);
    j->poll_base_ns = host_now(j->host) - stack_of(j)->ray_poll; /* the first poll is that of the first group */
    schedule(j);
}

/* ---- a group that runs ---- */

static void on_resize(void *arg);

/* Looks at the first poll that is ray-train.resize-check after `since_ns`. */
static void arm_resize(struct host_job *j, int64_t since_ns)
{
    int64_t left = since_ns + stack_of(j)->ray_resize - host_now(j->host);
    host_after(j->host, &j->limit, to_poll(j, left > 0 ? left : 0), on_resize, j);
}

static void on_resize(void *arg)
{
    struct host_job *j = arg;
    uint32_t there = pods_there(j), most = j->plan.max;
    live_at(j->host->run, host_now(j->host));
    if ((there < most ? there : most) <= j->world) {
        arm_resize(j, host_now(j->host));
        return;
    }
    ranks_stop(j, ACT_IDLE_POD, WAIT_RESIZE, CAUSE_RESIZE);
    j->resizing = true;
    j->poll_base_ns = host_now(j->host);
    regroup(j);
}

static void started(struct host_job *j)
{
    loop_disarm(j->host->loop, &j->timer);
    if (host_now(j->host) - j->poll_base_ns >= stack_of(j)->ray_poll) j->poll_base_ns = host_now(j->host);
    if (j->plan.max && j->world < j->plan.max && stack_of(j)->ray_resize > 0) arm_resize(j, j->group_ns);
}

static void on_end_seen(void *arg)
{
    struct host_job *j = arg;
    live_at(j->host->run, host_now(j->host));
    job_over(j, JOB_SUCCEEDED, false);
}

static void wait_for_end(struct host_job *j)
{
    loop_disarm(j->host->loop, &j->limit);
    live_paused(j->host->run, j->index, ACT_IDLE_POD, WAIT_CONTROL_PLANE);
    host_after(j->host, &j->timer, to_poll(j, 0), on_end_seen, j);
}

static bool all_done(const struct host_job *j)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < j->plan.n; i++) n += j->pods[i].state == SEAT_ENDED;
    return !job_has_processes(j) && n > 0;
}

static void ended(struct host_job *j, struct host_pod *p, int code)
{
    p->state = code == 0 && !j->regrouping ? SEAT_ENDED : SEAT_NONE;
    if (p->number >= j->wanted) queue_free(p);
    if (j->regrouping) when_empty(j);
    else if (code != 0 && !j->noticing) notice_after(j, 0);
    else if (all_done(j)) wait_for_end(j);
}

static void hang(struct host_job *j, struct host_pod *p)
{
    notice_after(j, p->stands ? stack_of(j)->ray_health_dropped : stack_of(j)->ray_hang);
}

/* Pods have come or are too many; or a node is back. */
static void resized(struct host_job *j)
{
    for (uint32_t i = j->wanted; i < j->plan.n; i++) {
        struct host_pod *p = &j->pods[i];
        if (p->process.pid) seat_kill(p, -1);
        else queue_free(p);
    }
    if (!j->regrouping && !job_has_processes(j) && !j->timer.place) schedule(j);
    ranks_refresh(j);
}

const struct host_life host_actor = {false, begin, NULL, NULL, started, ended, resized, hang};
