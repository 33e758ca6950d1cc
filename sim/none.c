/* none.c - the life cycle of batch simulators: GPUs for a duration, no pods, no control plane.
 *
 * The policy has placed the job; it steps at once and ends after what is left of its work. A preempted job goes on later
 * where it stopped. A node that goes down stops it: it falls back to its last checkpoint (or to the beginning) and asks
 * for admission again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/cluster/hold.h"
#include "sim/lifecycle.h"

struct batch_run { /* live->state while the job has a history */
    struct hold hold;
    struct event_id end;
    int64_t high_ns; /* most work ever done: below it work is redone */
    struct batch_run *next_free;
};

struct batch_state { struct batch_run *free; };

static void *none_create(struct sim *s)
{
    (void)s;
    return xcalloc(1, sizeof(struct batch_state));
}

static void none_destroy(struct sim *s, void *state)
{
    struct batch_state *b = state;
    for (size_t i = 0; i < s->n_specs; i++) { /* those that the end of the run found alive */
        struct job *j = s->by_index[i];
        if (!j || !j->live || j->live->life != &lifecycle_none || !j->live->state) continue;
        pool_release(s->pool, &((struct batch_run *)j->live->state)->hold.alloc);
        free(j->live->state);
        j->live->state = NULL;
    }
    while (b->free) {
        struct batch_run *next = b->free->next_free;
        free(b->free);
        b->free = next;
    }
    free(b);
}

static struct batch_state *state_of(struct sim *s, const struct job *j)
{
    return s->lifecycle_state[job_detail_of(s, j)->kind];
}

static struct batch_run *run_of(struct sim *s, struct job *j)
{
    struct batch_state *b = state_of(s, j);
    if (j->live->state) return j->live->state;
    struct batch_run *r = b->free;
    if (r) b->free = r->next_free;
    else r = xmalloc(sizeof *r);
    memset(r, 0, sizeof *r);
    return j->live->state = r;
}

static void forget(struct sim *s, struct job *j)
{
    struct batch_state *b = state_of(s, j);
    struct batch_run *r = j->live->state;
    r->next_free = b->free;
    b->free = r;
    j->live->state = NULL;
}

/* Books the time since it started, the part below the high-water mark as redone. */
static void book(struct sim *s, struct job *j, struct batch_run *r)
{
    struct job_live *l = j->live;
    int64_t spent = sim_now(s) - l->run_since_ns, redo = r->high_ns - l->done_ns;
    if (redo < 0) redo = 0;
    if (redo > spent) redo = spent;
    hold_book(s, &r->hold, ACT_COMPUTE, true, redo);
    hold_book(s, &r->hold, ACT_COMPUTE, false, spent - redo);
    l->done_ns += spent;
    if (l->done_ns > r->high_ns) r->high_ns = l->done_ns;
}

static void keep_nodes(struct job_live *l, const struct alloc *a)
{
    free(l->nodes);
    l->nodes = xmalloc(a->n_parts * sizeof *l->nodes);
    l->n_nodes = hold_intervals(a, l->nodes);
}

static void on_end(void *ctx, void *arg)
{
    struct sim *s = ctx;
    struct job *j = arg;
    struct batch_run *r = j->live->state;
    book(s, j, r);
    hold_land(s, &r->hold, ACT_TERMINATING);
    job_finished(s, j, j->spec->work_ns > j->spec->limit_ns ? JOB_FAILED : JOB_SUCCEEDED);
    hold_drop(s, &r->hold);
    forget(s, j);
    job_released(s, j);
}

/* Work left, cut off by the time limit. */
static int64_t left_ns(const struct job *j)
{
    int64_t work = j->spec->work_ns < j->spec->limit_ns ? j->spec->work_ns : j->spec->limit_ns;
    return work - j->live->done_ns;
}

static void none_start(struct sim *s, struct job *j)
{
    struct batch_run *r = run_of(s, j);
    keep_nodes(j->live, &j->live->alloc);
    hold_take(s, &r->hold, j, &j->live->alloc, 0, ACT_RENDEZVOUS);
    job_allocated(s, j);
    hold_lift(s, &r->hold);
    j->live->run_since_ns = sim_now(s);
    job_started(s, j);
    r->end = event_after(s->events, left_ns(j), EVENT_RELEASE, on_end, j);
}

static void none_stop(struct sim *s, struct job *j, enum stop_reason reason)
{
    struct batch_run *r = j->live->state;
    event_cancel(s->events, r->end);
    book(s, j, r);
    hold_land(s, &r->hold, ACT_TERMINATING);
    if (reason == STOP_HORIZON) return;
    hold_drop(s, &r->hold);
    job_released(s, j);
}

static void none_node(struct sim *s, struct job *j, uint32_t node, bool up)
{
    struct batch_run *r = j->live->state;
    const struct checkpoint_spec *c = &job_detail_of(s, j)->checkpoint;
    (void)node;
    if (up || !hold_active(&r->hold)) return;
    event_cancel(s->events, r->end);
    book(s, j, r);
    j->live->done_ns = c->interval_ns > 0 ? j->live->done_ns / c->interval_ns * c->interval_ns : 0;
    hold_land(s, &r->hold, ACT_TERMINATING);
    hold_drop(s, &r->hold);
    job_lost(s, j);
}

const struct lifecycle_ops lifecycle_none = {
    .name = "none",
    .needs_pods = false,
    .create = none_create,
    .destroy = none_destroy,
    .start = none_start,
    .stop = none_stop,
    .node = none_node,
};
