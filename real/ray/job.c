/* job.c - what the driver of a job tells, as phases of the job.
 *
 *     DRIVER --placed--> processes start --group--> ranks meet --all have--> load --all start--> steps
 *            --fault, node lost, or RESTARTING--> the next group ... --FINISHED--> over
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdarg.h>
#include <string.h>

#include "base/str.h"
#include "base/units.h"
#include "real/ray/parts.h"

static void tell(const struct ray_play *p, const struct ray_job *j, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void tell(const struct ray_play *p, const struct ray_job *j, const char *fmt, ...)
{
    struct str s = {0};
    va_list args;
    if (!p->options->tell) return;
    va_start(args, fmt);
    str_vprintf(&s, fmt, args);
    va_end(args);
    fprintf(p->options->tell, "%10.3f s  %s %s\n", (double)live_now(p->run) / NS_PER_S, j->plan.id, str_text(&s));
    str_free(&s);
}

static void all_enter(struct ray_play *p, struct ray_job *j, enum activity a)
{
    for (size_t i = 0; i < j->seats.n; i++)
        if (j->seats.v[i].hold != LIVE_NONE) live_enter(p->run, j->index, j->seats.v[i].hold, a);
}

static void let_go(struct ray_play *p, struct ray_job *j)
{
    for (size_t i = 0; i < j->seats.n; i++)
        if (j->seats.v[i].hold != LIVE_NONE) live_free(p->run, j->index, j->seats.v[i].hold);
    j->seats.n = 0;
}

/* ---- a group comes ---- */

/* Whether as many GPUs are free as `workers` need: else the job waits for capacity, and not for Ray. */
static bool has_room(const struct ray_play *p, const struct ray_job *j, int64_t workers)
{
    int64_t free = 0, wanted = workers * j->plan.pods[0].shares;
    for (size_t i = 0; i < p->nodes.list.n; i++)
        if (!p->places[i].gone) free += (int64_t)p->nodes.list.v[i].gpus * SHARES_PER_GPU;
    for (size_t i = 0; i < p->n_jobs; i++) free -= (int64_t)p->jobs[i].seats.n * p->jobs[i].plan.pods[0].shares;
    return wanted <= free;
}

/* Of as many workers as are asked for, or, where that is not told (0), as it must have. */
static void wait_for_group(struct ray_play *p, struct ray_job *j, int64_t workers)
{
    if (!workers) workers = j->plan.max ? j->plan.min : j->plan.n;
    live_waits(p->run, j->index, has_room(p, j, workers) ? WAIT_CONTROL_PLANE : WAIT_CAPACITY);
}

/* The scenario's node of an address; LIVE_NONE: none of them. */
static uint32_t node_of(const struct ray_play *p, const char *address)
{
    for (size_t i = 0; i < p->nodes.list.n; i++)
        if (!strcmp(p->nodes.list.v[i].address, address)) return p->node_numbers[i];
    return LIVE_NONE;
}

static void take_seats(struct ray_play *p, struct ray_job *j, const struct ray_line *l)
{
    let_go(p, j);
    for (uint32_t i = 0; i < l->n_nodes; i++) {
        uint32_t pod = i < j->plan.n ? i : 0, node = node_of(p, l->nodes[i]), hold = LIVE_NONE;
        int64_t shares = j->plan.pods[pod].shares;
        if (node != LIVE_NONE && shares) hold = live_take(p->run, j->index, node, shares, ACT_CONTAINER_START);
        array_push(&j->seats, (struct ray_seat){hold, node});
    }
}

/* Its bundles are reserved: the processes of its workers start. */
static void on_placed(struct ray_play *p, struct ray_job *j, const struct ray_line *l)
{
    j->group = l->group;
    j->world = l->n_nodes;
    j->mets = j->starts = j->ends = 0;
    j->noticed = false;
    take_seats(p, j, l);
    live_allocated(p->run, j->index);
    live_waits(p->run, j->index, WAIT_START);
    tell(p, j, "has places for group %lld of %u workers", (long long)j->group, j->world);
}

/* All workers are there, and begin with the job's program. */
static void on_group(struct ray_play *p, struct ray_job *j, const struct ray_line *l)
{
    if (l->group != j->group) on_placed(p, j, l); /* its placement was not told of */
    live_waits(p->run, j->index, WAIT_RENDEZVOUS);
    all_enter(p, j, ACT_RENDEZVOUS);
    tell(p, j, "has group %lld of %u workers", (long long)j->group, j->world);
}

/* ---- what ranks say ---- */

static void on_met(struct ray_play *p, struct ray_job *j)
{
    if (++j->mets < j->world || live_steps_now(p->run, j->index)) return;
    live_waits(p->run, j->index, WAIT_CHECKPOINT_LOAD);
    all_enter(p, j, ACT_CHECKPOINT_LOAD);
}

static void on_start(struct ray_play *p, struct ray_job *j, const struct worker_line *w)
{
    j->step = j->durable = w->resumed > 0 ? w->resumed : 0;
    if (++j->starts < j->world) return;
    live_started(p->run, j->index);
    tell(p, j, "steps on %u ranks from step %lld", j->world, (long long)j->step);
}

static void on_steps(struct ray_play *p, struct ray_job *j, const struct ray_line *l)
{
    const struct ray_steps *s = &l->steps;
    if (l->group != j->group || !live_steps_now(p->run, j->index)) return;
    j->step = s->next;
    j->last_ns = l->time_ns - p->begin_ns;
    live_stepped(p->run, j->index, &(struct live_steps){.first = s->first, .next = s->next, .compute_ns = s->compute_ns,
                                                        .communication_ns = s->communication_ns, .data_ns = s->data_ns,
                                                        .checkpoint_ns = s->checkpoint_ns});
}

static void on_said(struct ray_play *p, struct ray_job *j, const struct ray_line *l)
{
    const struct worker_line *w = &l->said;
    if (l->group != j->group) return; /* of a group that is gone */
    switch (w->event) {
    case WORKER_MET: on_met(p, j); break;
    case WORKER_START: on_start(p, j, w); break;
    case WORKER_SAVE: live_checkpoint(p->run, j->index, SAVE_BEGINS, w->step); break;
    case WORKER_CHECKPOINT:
        if (w->ok) j->durable = w->step;
        live_checkpoint(p->run, j->index, w->ok ? SAVE_LEAVES : SAVE_FAILED, w->step);
        break;
    case WORKER_END: /* the controller has not seen that all have ended */
        if (w->end == END_DONE && ++j->ends == j->world) live_paused(p->run, j->index, ACT_IDLE_POD, WAIT_CONTROL_PLANE);
        break;
    case WORKER_JOIN:
    case WORKER_STEP: /* told in sums */
    case N_WORKER_EVENTS: break;
    }
}

/* ---- ends of groups and jobs ---- */

static void stop_steps(struct ray_play *p, struct ray_job *j, enum activity a, enum wait_reason reason, enum cause cause)
{
    if (!live_steps_now(p->run, j->index)) return;
    live_stopped(p->run, j->index, a, reason, cause);
    if (j->step > j->durable) live_rolled_back(p->run, j->index, j->step, j->durable);
    tell(p, j, "stops at step %lld, back to %lld", (long long)j->step, (long long)j->durable);
    j->step = j->durable;
}

static void on_fault(struct ray_play *p, struct ray_job *j, const struct ray_line *l)
{
    live_note(p->run, &(struct record){.type = REC_FAULT, .job = (int32_t)j->index, .subject = (uint32_t)l->rank,
                                       .code = l->hang ? DO_HANG : DO_CRASH, .a = l->hang ? 0 : 1, .b = 1});
    stop_steps(p, j, l->hang ? ACT_HUNG : ACT_STALLED, WAIT_DETECTION, CAUSE_FAILURE);
}

/* The controller gives the group up. */
static void on_regroup(struct ray_play *p, struct ray_job *j, bool resize)
{
    if (j->noticed) return;
    j->noticed = true;
    stop_steps(p, j, resize ? ACT_TERMINATING : ACT_STALLED, resize ? WAIT_RESIZE : WAIT_DETECTION, resize ? CAUSE_RESIZE : CAUSE_FAILURE);
    let_go(p, j);
    if (resize) live_waits(p->run, j->index, WAIT_RESIZE);
    else wait_for_group(p, j, 0);
    tell(p, j, resize ? "is resized" : "begins anew");
}

void ray_job_node_lost(struct ray_play *p, struct ray_job *j, uint32_t node)
{
    bool on_it = false;
    for (size_t i = 0; i < j->seats.n; i++) on_it |= j->seats.v[i].node == node;
    if (j->stage != RAY_OPEN || !on_it || j->noticed) return;
    if (live_steps_now(p->run, j->index)) {
        stop_steps(p, j, ACT_STALLED, WAIT_DETECTION, CAUSE_FAILURE);
    } else {
        live_waits(p->run, j->index, WAIT_DETECTION);
        all_enter(p, j, ACT_STALLED);
    }
}

void ray_job_over(struct ray_play *p, struct ray_job *j, enum job_state state)
{
    if (j->stage == RAY_OVER) return;
    live_ended(p->run, j->index, state);
    let_go(p, j);
    j->stage = RAY_OVER;
    p->result->succeeded += state == JOB_SUCCEEDED;
    p->result->failed += state == JOB_FAILED;
    tell(p, j, "is over: %s", job_state_names[state]);
}

static void on_state(struct ray_play *p, struct ray_job *j, const struct ray_line *l)
{
    if (l->state >= 0)
        live_note(p->run, &(struct record){.type = REC_JOB_CONDITION, .job = (int32_t)j->index, .subject = RAY_CONDITION_TRAIN,
                                           .code = (uint16_t)l->state, .b = j->world});
    switch (l->state) {
    case RT_SCHEDULING:
        if (!live_steps_now(p->run, j->index)) wait_for_group(p, j, l->world);
        break;
    case RT_RESTARTING:
    case RT_RESCHEDULING: on_regroup(p, j, false); break;
    case RT_RESIZING: on_regroup(p, j, true); break;
    case RT_FINISHED: ray_job_over(p, j, JOB_SUCCEEDED); break;
    case RT_ERRORED: ray_job_over(p, j, JOB_FAILED); break;
    default: break;
    }
}

void ray_job_line(struct ray_play *p, struct ray_job *j, const struct ray_line *l)
{
    /* What was not scripted is known only when the controller knows it: the ranks stood still since their last step. */
    bool late = l->kind == RAY_STATE && (l->state == RT_RESTARTING || l->state == RT_RESCHEDULING) &&
                live_steps_now(p->run, j->index);
    if (late) {
        live_at(p->run, j->last_ns);
        stop_steps(p, j, ACT_STALLED, WAIT_DETECTION, CAUSE_FAILURE);
    }
    live_at(p->run, l->time_ns - p->begin_ns);
    switch (l->kind) {
    case RAY_DRIVER: tell(p, j, "has a driver"); break;
    case RAY_STATE: on_state(p, j, l); break;
    case RAY_PLACED: on_placed(p, j, l); break;
    case RAY_GROUP: on_group(p, j, l); break;
    case RAY_FAULT: on_fault(p, j, l); break;
    case RAY_RANK: on_said(p, j, l); break;
    case RAY_STEPS: on_steps(p, j, l); break;
    }
}
