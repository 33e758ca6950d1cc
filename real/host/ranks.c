/* ranks.c - what the processes of a job say, as phases of the job.
 *
 *     STARTING --join--> WAITS --met--> MET --start--> READY --all are ready: the job steps
 *
 * The job waits for what its least advanced pod waits for, in the simulator's order (sim/operator/observe.c).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/host/parts.h"

static struct live_run *run_of(const struct host_job *j) { return j->host->run; }

static uint32_t count(const struct host_job *j, enum seat_state state)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < j->plan.n; i++) n += j->pods[i].state == state;
    return n;
}

bool ranks_wait(const struct host_job *j) { return count(j, SEAT_WAITS) > 0; }

/* With how many the meeting begins without further waiting. */
static uint32_t full_size(const struct host_job *j)
{
    return j->plan.max && j->plan.life != LIFE_RAY_TRAIN_V2 ? j->plan.max : j->wanted;
}

static bool all_there(const struct host_job *j) { return count(j, SEAT_WAITS) + count(j, SEAT_MET) >= full_size(j); }

static enum wait_reason reason_of(const struct host_job *j)
{
    if (j->noticing) return WAIT_DETECTION;
    if (j->regrouping) return j->resizing ? WAIT_RESIZE : WAIT_DETECTION;
    if (j->resizing) return WAIT_RESIZE;
    if (count(j, SEAT_MET) || (count(j, SEAT_READY) && !count(j, SEAT_STUCK))) return count(j, SEAT_WAITS) ? WAIT_RENDEZVOUS : WAIT_CHECKPOINT_LOAD;
    if (all_there(j)) return WAIT_RENDEZVOUS;
    if (count(j, SEAT_STARTING)) return WAIT_START;
    if (count(j, SEAT_BACKOFF)) return WAIT_CONTAINER_BACKOFF;
    if (count(j, SEAT_STUCK)) return WAIT_DETECTION;
    if (count(j, SEAT_WAITS)) return WAIT_PEERS;
    return WAIT_CONTROL_PLANE;
}

static enum activity activity_of(const struct host_job *j, const struct host_pod *p)
{
    switch (p->state) {
    case SEAT_STARTING: return ACT_CONTAINER_START;
    case SEAT_WAITS: return all_there(j) || count(j, SEAT_MET) ? ACT_RENDEZVOUS : ACT_WAIT_PEERS;
    case SEAT_MET:
    case SEAT_READY: return ACT_CHECKPOINT_LOAD;
    case SEAT_STUCK: return p->hung ? ACT_HUNG : ACT_STALLED;
    case SEAT_BACKOFF: return ACT_BACKOFF;
    case SEAT_NONE: return ACT_IDLE_POD;
    case SEAT_STOPPED:
    case SEAT_ENDED: break;
    }
    return ACT_TERMINATING;
}

static bool is_open(const struct host_job *j) { return j->stage == STAGE_ACTIVE; }

void ranks_refresh(struct host_job *j)
{
    bool steps = live_steps_now(run_of(j), j->index);
    if (!is_open(j)) return;
    if (!steps) live_waits(run_of(j), j->index, reason_of(j));
    for (uint32_t i = 0; i < j->plan.n; i++) {
        const struct host_pod *p = &j->pods[i];
        if (steps && p->state == SEAT_READY) continue;
        for (size_t k = 0; k < p->holds.n; k++)
            if (p->holds.v[k].group != LIVE_NONE) live_enter(run_of(j), j->index, p->holds.v[k].group, activity_of(j, p));
    }
}

/* ---- begin and end of stepping ---- */

/* Those that take part step, the others stay aside. */
static void begin_steps(struct host_job *j)
{
    for (uint32_t i = 0; i < j->plan.n; i++)
        for (size_t k = 0; k < j->pods[i].holds.n; k++)
            if (j->pods[i].holds.v[k].group != LIVE_NONE)
                live_takes_part(run_of(j), j->index, j->pods[i].holds.v[k].group, j->pods[i].state == SEAT_READY,
                                activity_of(j, &j->pods[i]));
    live_started(run_of(j), j->index);
    host_tell(j->host, j, "steps on %u ranks from step %lld", j->world, (long long)j->step);
    ranks_refresh(j);
    if (j->life->started) j->life->started(j);
}

void ranks_stop(struct host_job *j, enum activity activity, enum wait_reason reason, enum cause next)
{
    if (!live_steps_now(run_of(j), j->index)) return;
    live_stopped(run_of(j), j->index, activity, reason, next);
    host_tell(j->host, j, "stops at step %lld, back to %lld", (long long)j->step, (long long)j->durable);
    if (j->step > j->durable) live_rolled_back(run_of(j), j->index, j->step, j->durable);
    j->step = j->durable;
    j->world = 0;
    for (uint32_t i = 0; i < j->plan.n; i++)
        if (j->pods[i].state == SEAT_READY) j->pods[i].state = SEAT_STUCK;
}

/* ---- lines ---- */

static void on_join(struct host_pod *p)
{
    struct host_job *j = p->job;
    if (p->state == SEAT_READY) ranks_stop(j, ACT_STALLED, WAIT_DETECTION, CAUSE_FAILURE); /* it has lost a peer */
    if (p->took_part && j->life->again) {
        j->life->again(p);
        return;
    }
    if (j->life->pods_start) seat_note(p, POD_IS_READY, p->restarts);
    seat_enter(p, SEAT_WAITS);
    if (all_there(j)) j->resizing = false;
    if (live_steps_now(run_of(j), j->index) && j->life->joined) j->life->joined(j);
}

static void on_met(struct host_pod *p, const struct worker_line *w)
{
    p->took_part = true;
    p->job->resizing = false;
    p->job->world = w->size > 0 ? (uint32_t)w->size : 0;
    seat_enter(p, SEAT_MET);
}

static void on_start(struct host_pod *p, const struct worker_line *w)
{
    struct host_job *j = p->job;
    seat_enter(p, SEAT_READY);
    j->world = w->size > 0 ? (uint32_t)w->size : 0;
    j->step = j->durable = w->resumed > 0 ? w->resumed : 0;
    if (count(j, SEAT_READY) >= j->world && !live_steps_now(run_of(j), j->index)) begin_steps(j);
}

static int64_t scaled(const struct host_job *j, int64_t ns) { return (int64_t)((double)ns * j->host->live->time_scale); }

/* Rank 0 speaks for all: they step together. What its parts leave of the step is its own book-keeping. */
static void on_step(struct host_pod *p, const struct worker_line *w)
{
    struct host_job *j = p->job;
    if (w->rank != 0 || w->step < 0) return;
    if (!live_steps_now(run_of(j), j->index)) pods_read_others(p, w); /* they have begun: their lines are still to be read */
    if (!live_steps_now(run_of(j), j->index)) return;
    j->step = w->step + 1;
    live_stepped(run_of(j), j->index, &(struct live_steps){.first = w->step, .next = w->step + 1,
                                                           .compute_ns = scaled(j, w->compute_ns),
                                                           .communication_ns = scaled(j, w->communication_ns),
                                                           .data_ns = scaled(j, w->data_ns),
                                                           .checkpoint_ns = scaled(j, w->checkpoint_ns)});
}

static void on_checkpoint(struct host_job *j, const struct worker_line *w)
{
    if (w->step < 0) return;
    if (w->event == WORKER_CHECKPOINT && w->ok) j->durable = w->step;
    live_checkpoint(run_of(j), j->index, w->event == WORKER_SAVE ? SAVE_BEGINS : w->ok ? SAVE_LEAVES : SAVE_FAILED, w->step);
}

static void on_end(struct host_pod *p, const struct worker_line *w)
{
    if (w->end == END_DONE && w->rank == 0) host_tell(p->job->host, p->job, "is trained: weights %s", w->weights);
    if (w->end != END_RESIZE) return; /* its exit says the rest */
    p->job->resizing = true;
    ranks_stop(p->job, ACT_STALLED, WAIT_RESIZE, CAUSE_RESIZE);
}

/* What a process says of meetings that was told to end meanwhile is of no consequence. */
static bool is_too_late(const struct host_pod *p, const struct worker_line *w)
{
    bool meets = w->event == WORKER_JOIN || w->event == WORKER_MET || w->event == WORKER_START;
    return meets && (p->by_agent || p->stands || p->told_code >= 0);
}

void ranks_line(struct host_pod *p, const struct worker_line *w)
{
    if (!is_open(p->job) || is_too_late(p, w)) return;
    switch (w->event) {
    case WORKER_JOIN: on_join(p); break;
    case WORKER_MET: on_met(p, w); break;
    case WORKER_START: on_start(p, w); break;
    case WORKER_STEP: on_step(p, w); return;
    case WORKER_SAVE:
    case WORKER_CHECKPOINT: on_checkpoint(p->job, w); return;
    case WORKER_END: on_end(p, w); break;
    case N_WORKER_EVENTS: break;
    }
    ranks_refresh(p->job);
}
