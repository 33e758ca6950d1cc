/* none.c - the life cycle of batch simulators: GPUs for a duration, no pods, no control plane.
 *
 * The policy has placed the job; it steps at once and ends after what is left of its work. A preempted job goes on later
 * where it stopped. A node that goes down stops it: it falls back to its last checkpoint (or to the beginning) and asks
 * for admission again.
 *
 * Checkpoints cost what they say: after each interval of work the job stops for a save, which is durable at its end (a
 * background is not modelled here, nor are stores shared); after a failure it loads the last one first. A time limit
 * counts all of it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/detmath.h"
#include "base/mem.h"
#include "sim/cluster/hold.h"
#include "sim/lifecycle.h"

struct batch_run { /* live->state while the job has a history */
    struct hold hold;
    struct event_id end;
    int64_t high_ns;          /* most work ever done: below it work is redone */
    int64_t durable_ns;       /* work that the last save has */
    int64_t save_ns, load_ns; /* what each costs */
    bool fell;                /* the last attempt ended in a failure: the next one loads */
    bool loading, cut;        /* at the limit */
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

/* ---- work and saves ---- */

static const struct checkpoint_spec *checkpoint(const struct sim *s, const struct job *j)
{
    return &job_detail_of(s, j)->checkpoint;
}

/* What saves and loads cost a job of this size. */
static void know_costs(const struct sim *s, const struct job *j, struct batch_run *r)
{
    const struct checkpoint_spec *c = checkpoint(s, j);
    int64_t gpus = job_total_shares(s, j) / SHARES_PER_GPU;
    if (c->interval_ns == 0) return;
    struct checkpoint_times t = checkpoint_times_of(s->scenario, c, gpus > 0 ? (uint32_t)gpus : 1, j->live->alloc.n_parts);
    r->save_ns = det_round(t.stall_s * 1e9);
    r->load_ns = det_round(t.load_s * 1e9);
}

/* Saves on the way from one amount of work to another, where the work ends. */
static int64_t saves_on_way(const struct checkpoint_spec *c, int64_t from, int64_t to)
{
    return c->interval_ns > 0 && to > from ? (to - 1) / c->interval_ns - from / c->interval_ns : 0;
}

/* Of `spent` ns from an amount of work on, what was work; *saving: the last save is not through. */
static int64_t work_in(const struct checkpoint_spec *c, int64_t save_ns, int64_t from, int64_t spent, bool *saving)
{
    *saving = false;
    if (c->interval_ns == 0 || save_ns == 0) return spent;
    int64_t ahead = from % c->interval_ns, y, cycle;
    if (__builtin_add_overflow(spent, ahead, &y) || __builtin_add_overflow(c->interval_ns, save_ns, &cycle)) return spent;
    int64_t rest = y % cycle;
    *saving = rest >= c->interval_ns;
    return y / cycle * c->interval_ns + (*saving ? c->interval_ns : rest) - ahead;
}

/* Books the time since it started, the part below the high-water mark as redone. */
static void book(struct sim *s, struct job *j, struct batch_run *r)
{
    const struct checkpoint_spec *c = checkpoint(s, j);
    struct job_live *l = j->live;
    bool saving;
    int64_t spent = sim_now(s) - l->run_since_ns, from = l->done_ns;
    int64_t work = work_in(c, r->save_ns, from, spent, &saving), redo = r->high_ns - from;
    if (redo < 0) redo = 0;
    if (redo > work) redo = work;
    hold_book(s, &r->hold, ACT_COMPUTE, true, redo);
    hold_book(s, &r->hold, ACT_COMPUTE, false, work - redo);
    hold_book(s, &r->hold, ACT_CHECKPOINT, false, spent - work);
    l->done_ns = from + work;
    if (l->done_ns > r->high_ns) {
        r->high_ns = l->done_ns;
        s->restarts_in_vain = 0;
    }
    if (c->interval_ns == 0) return;
    int64_t saved = l->done_ns / c->interval_ns * c->interval_ns - (saving ? c->interval_ns : 0);
    if (saved > r->durable_ns) r->durable_ns = saved;
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
    job_finished(s, j, r->cut ? JOB_FAILED : JOB_SUCCEEDED);
    hold_drop(s, &r->hold);
    forget(s, j);
    job_released(s, j);
}

/* Until the end of the work, saves on the way included, or the time limit. */
static int64_t left_ns(const struct sim *s, const struct job *j, struct batch_run *r)
{
    int64_t done = j->live->done_ns, limit = j->spec->limit_ns, end = j->spec->work_ns, all, saves;
    if (__builtin_mul_overflow(saves_on_way(checkpoint(s, j), done, end), r->save_ns, &saves) ||
        __builtin_add_overflow(end, saves, &all))
        all = INT64_MAX;
    r->cut = all > limit;
    return (r->cut ? limit : all) - done;
}

static void begin_work(struct sim *s, struct job *j, struct batch_run *r)
{
    r->loading = false;
    hold_lift(s, &r->hold);
    j->live->run_since_ns = sim_now(s);
    job_started(s, j);
    r->end = event_after(s->events, left_ns(s, j, r), EVENT_RELEASE, on_end, j);
}

static void on_loaded(void *ctx, void *arg)
{
    struct job *j = arg;
    begin_work(ctx, j, j->live->state);
}

static void none_start(struct sim *s, struct job *j)
{
    struct batch_run *r = run_of(s, j);
    keep_nodes(j->live, &j->live->alloc);
    know_costs(s, j, r);
    r->loading = r->fell && r->durable_ns > 0 && r->load_ns > 0;
    r->fell = false;
    hold_take(s, &r->hold, j, &j->live->alloc, 0, r->loading ? ACT_CHECKPOINT_LOAD : ACT_RENDEZVOUS);
    job_allocated(s, j);
    if (!r->loading) {
        begin_work(s, j, r);
        return;
    }
    job_wait(s, j, WAIT_CHECKPOINT_LOAD);
    r->end = event_after(s->events, r->load_ns, EVENT_RELEASE, on_loaded, j);
}

/* The ranks stop where they are. */
static void halt(struct sim *s, struct job *j, struct batch_run *r)
{
    event_cancel(s->events, r->end);
    if (r->loading) {
        r->fell = true; /* it has to be loaded again */
        return;
    }
    book(s, j, r);
    hold_land(s, &r->hold, ACT_TERMINATING);
}

static void none_stop(struct sim *s, struct job *j, enum stop_reason reason)
{
    struct batch_run *r = j->live->state;
    halt(s, j, r);
    if (reason == STOP_HORIZON) return;
    hold_drop(s, &r->hold);
    job_released(s, j);
}

static void none_node(struct sim *s, struct job *j, uint32_t node, bool up)
{
    struct batch_run *r = j->live->state;
    (void)node;
    if (up || !hold_active(&r->hold)) return;
    halt(s, j, r);
    j->live->done_ns = r->durable_ns;
    r->fell = true;
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
