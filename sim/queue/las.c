/* las.c - least attained service in three queues, preemptive (Tiresias' `dlas-gpu`).
 *
 * A job begins in queue 0 and goes down a queue when its attained GPU-time has reached the queue's limit. Queues are served
 * in order; within one, jobs that run stand before those that wait, and each that fits into what those before it left
 * runs. The exact meaning is that of Tiresias' simulator (SymbioticLab/Tiresias, run_sim.py, dlas_sim_jobs):
 *   - a pass is made at submissions, ends, and at the next check; only there is a job moved down, one queue at a time, in
 *     order of submission, to the end of the lower queue (behind those that wait there);
 *   - next check = now + floor((limit - executed) / GPUs), the least over running jobs, in whole seconds, with `executed`
 *     in seconds and not in GPU-seconds: with several GPUs it comes later than the limit is reached;
 *   - a job that is stopped stands before those that already waited in its queue.
 * GPUs are counted, then placed; with a placement by nodes, a job that fits by count but not in its shape is passed over
 * until some job has ended.
 *
 * Cost of a pass: O((starts + stops + 1) x shapes + log jobs). Running jobs of a queue are a list with a sum: as long as
 * the sum fits all are kept at once, else the list is walked from its end as far as GPUs lack. Waiting jobs are a line a
 * queue and shape. The next check looks at one job a queue and shape: among equal shapes it is the one that has run longest.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/units.h"
#include "sim/queue/batch.h"
#include "sim/queue/policy.h"
#include "sim/queue/ranked.h"
#include "sim/queue/shapes.h"

enum { QUEUES = 3 };
enum where { WAITING, ACTIVE, LEAVING /* stopped or ended, but still holds GPUs */ };

/* A job's place: job->policy points to it until the job has ended. */
struct entry {
    struct ranked_node node; /* of its shape's `by_service` while active in a queue with a limit; must be first */
    struct job *job;
    struct shape *shape;
    int64_t executed_ns;     /* before this run */
    int64_t since_ns;        /* of this run */
    int64_t position;        /* in its queue while waiting */
    uint8_t queue, where;
    bool to_front;           /* stopped by this policy: goes before those that wait */
    struct entry *next_free;
};

struct las_shape {
    struct job_list waiting[QUEUES];         /* by position */
    struct ranked by_service[QUEUES - 1];    /* active jobs, most attained first */
    uint32_t n_waiting;
    bool passed_over;
};

struct las_queue {
    struct job_list active;   /* in the order in which they are served */
    int64_t active_shares;
    int64_t front, back;      /* positions of the next job to come before or behind those that wait */
};

struct las {
    struct batch batch;
    struct shapes shapes;
    struct las_queue queue[QUEUES];
    int64_t leaving_shares;
    ARRAY(struct entry *) moved;    /* down, in this pass */
    ARRAY(struct entry *) starters;
    ARRAY(struct entry *) victims;
    struct event_id check;
    struct entry *free;
    bool in_pass;
};

static struct entry *entry_of(const struct job *j) { return j->policy; }
static struct entry *entry_of_node(struct ranked_node *n) { return (struct entry *)n; }
static struct las_shape *own(const struct shape *h) { return h->own; }

/* ---- lists: job->prev and job->next ---- */

static void list_append(struct job_list *l, struct job *j)
{
    j->next = NULL;
    j->prev = l->last;
    if (l->last) l->last->next = j;
    else l->first = j;
    l->last = j;
    l->n++;
}

static void list_by_position(struct job_list *l, struct job *j)
{
    struct job *at = l->first; /* nearly always the new first or last */
    if (l->last && entry_of(l->last)->position < entry_of(j)->position) {
        list_append(l, j);
        return;
    }
    while (at && entry_of(at)->position < entry_of(j)->position) at = at->next;
    if (!at) {
        list_append(l, j);
        return;
    }
    j->next = at;
    j->prev = at->prev;
    if (at->prev) at->prev->next = j;
    else l->first = j;
    at->prev = j;
    l->n++;
}

/* ---- attained service ---- */

static int64_t executed_ns(const struct sim *s, const struct entry *e)
{
    return e->executed_ns + (e->where == ACTIVE ? sim_now(s) - e->since_ns : 0);
}

static int64_t limit_of(const struct sim *s, unsigned queue) { return s->scenario->approach.las_limits_gpu_ns[queue]; }

static bool is_due(const struct sim *s, const struct entry *e)
{
    return (__int128)executed_ns(s, e) * e->shape->total >= (__int128)limit_of(s, e->queue) * SHARES_PER_GPU;
}

/* Time until the job wants to be looked at again. Less than a second is a second: the peer's clock has no less. */
static int64_t until_check_ns(const struct sim *s, const struct entry *e)
{
    __int128 left = limit_of(s, e->queue) - (__int128)executed_ns(s, e);
    __int128 seconds = left * SHARES_PER_GPU / (e->shape->total ? e->shape->total : 1) / NS_PER_S;
    if (seconds < 1) return NS_PER_S;
    return seconds < INT64_MAX / NS_PER_S ? (int64_t)seconds * NS_PER_S : INT64_MAX;
}

/* Among active jobs of one queue and shape the order by attained service never changes. */
static void track(struct entry *e)
{
    if (e->queue == QUEUES - 1) return;
    e->node.key = (struct ranked_key){.value = e->since_ns - e->executed_ns, .rank = e->job->index};
    ranked_insert(&own(e->shape)->by_service[e->queue], &e->node);
}

static void untrack(struct entry *e)
{
    if (e->queue < QUEUES - 1) ranked_remove(&own(e->shape)->by_service[e->queue], &e->node);
}

/* ---- the sets ---- */

static void to_active(struct las *l, struct entry *e)
{
    list_append(&l->queue[e->queue].active, e->job);
    l->queue[e->queue].active_shares += e->shape->total;
}

static void from_active(struct las *l, struct entry *e)
{
    job_list_remove(&l->queue[e->queue].active, e->job);
    l->queue[e->queue].active_shares -= e->shape->total;
}

static void to_waiting(struct sim *s, struct las *l, struct entry *e)
{
    e->where = WAITING;
    if (!own(e->shape)->n_waiting++) shapes_activate(&l->shapes, e->shape);
    list_by_position(&own(e->shape)->waiting[e->queue], e->job);
    job_wait_in(s, e->job, &e->shape->class);
}

static void from_waiting(struct las *l, struct entry *e)
{
    job_list_remove(&own(e->shape)->waiting[e->queue], e->job);
    if (!--own(e->shape)->n_waiting) shapes_deactivate(&l->shapes, e->shape);
}

/* ---- moving down ---- */

static void collect_due(struct sim *s, struct las *l, struct las_shape *h)
{
    struct ranked_node *n;
    for (int q = 0; q < QUEUES - 1; q++)
        while ((n = ranked_first(&h->by_service[q])) && is_due(s, entry_of_node(n))) {
            ranked_remove(&h->by_service[q], n);
            array_push(&l->moved, entry_of_node(n));
        }
}

static int by_index(const void *x, const void *y)
{
    const struct entry *a = *(struct entry *const *)x, *b = *(struct entry *const *)y;
    return (a->job->index > b->job->index) - (a->job->index < b->job->index);
}

/* They leave the active list of their queue and wait in `moved` for their turn in the next one. */
static void move_down(struct sim *s, struct las *l)
{
    for (struct shape *h = l->shapes.all; h; h = h->next) collect_due(s, l, own(h));
    array_sort(&l->moved, by_index);
    for (size_t i = 0; i < l->moved.n; i++) {
        struct entry *e = l->moved.v[i];
        from_active(l, e);
        e->queue++;
        track(e);
    }
}

/* ---- the decision, queue by queue ---- */

static void stop_later(struct las *l, struct entry *e, bool to_front)
{
    untrack(e);
    e->to_front = to_front;
    array_push(&l->victims, e);
}

/* Keeps what fits into `free`. What is before the first job that does not fit is kept without a look. */
static int64_t keep_active(struct las *l, int q, int64_t free)
{
    struct las_queue *u = &l->queue[q];
    int64_t before = u->active_shares;
    struct job *j = NULL;
    if (before <= free) return free - before;
    for (struct job *k = u->active.last; k && before > free; k = k->prev) {
        before -= entry_of(k)->shape->total;
        j = k;
    }
    for (free -= before; j;) {
        struct job *next = j->next;
        struct entry *e = entry_of(j);
        if (e->shape->total <= free) {
            free -= e->shape->total;
        } else {
            from_active(l, e);
            stop_later(l, e, true);
        }
        j = next;
    }
    return free;
}

static struct entry *next_start(struct las *l, int q, int64_t free)
{
    struct entry *best = NULL;
    for (struct shape *h = l->shapes.active; h; h = h->next_active) {
        struct job *j = own(h)->waiting[q].first;
        if (!j || h->total > free || own(h)->passed_over) continue;
        if (!best || entry_of(j)->position < best->position) best = entry_of(j);
    }
    return best;
}

static int64_t start_waiting(struct sim *s, struct las *l, int q, int64_t free)
{
    struct entry *e;
    while ((e = next_start(l, q, free))) {
        from_waiting(l, e);
        to_active(l, e);
        e->where = ACTIVE;
        e->since_ns = sim_now(s);
        track(e);
        array_push(&l->starters, e);
        free -= e->shape->total;
    }
    return free;
}

static int64_t keep_moved(struct las *l, int q, int64_t free)
{
    for (size_t i = 0; i < l->moved.n; i++) {
        struct entry *e = l->moved.v[i];
        if (e->queue != q) continue;
        if (e->shape->total <= free) {
            to_active(l, e);
            free -= e->shape->total;
        } else {
            stop_later(l, e, false);
        }
    }
    return free;
}

static void decide(struct sim *s, struct las *l)
{
    int64_t free = s->up_shares - l->leaving_shares;
    for (int q = 0; q < QUEUES; q++) {
        free = keep_active(l, q, free);
        free = start_waiting(s, l, q, free);
        free = keep_moved(l, q, free);
    }
    array_clear(&l->moved);
}

/* ---- the pass ---- */

/* From the last to the first: each goes to the front of those that wait in its queue. */
static void stop_victims(struct sim *s, struct las *l)
{
    const struct job *by = l->starters.n ? l->starters.v[0]->job : NULL;
    for (int front = 1; front >= 0; front--)
        for (size_t k = 0; k < l->victims.n; k++) {
            struct entry *e = l->victims.v[front ? l->victims.n - 1 - k : k];
            if (e->to_front != front || e->where != ACTIVE) continue;
            e->executed_ns = executed_ns(s, e);
            e->where = LEAVING;
            l->leaving_shares += e->shape->total;
            e->position = front ? l->queue[e->queue].front-- : l->queue[e->queue].back++;
            job_preempt(s, e->job, STOP_PREEMPTED, by);
        }
    array_clear(&l->victims);
}

static bool start_starters(struct sim *s, struct las *l)
{
    bool all = true;
    for (size_t i = 0; i < l->starters.n; i++) {
        struct entry *e = l->starters.v[i];
        struct alloc a;
        if (batch_place(s, &l->batch, e->job, &a) == PLACED) {
            batch_admit(s, e->job, &a);
            continue;
        }
        untrack(e);
        from_active(l, e);
        to_waiting(s, l, e);
        if (l->leaving_shares) continue; /* it fits as soon as they have left */
        own(e->shape)->passed_over = true;
        all = false;
    }
    array_clear(&l->starters);
    return all;
}

static void explain_waits(struct sim *s, struct las *l)
{
    for (struct shape *h = l->shapes.active; h; h = h->next_active) {
        struct job *first = NULL;
        for (int q = 0; q < QUEUES && !first; q++) first = own(h)->waiting[q].first;
        enum place_result r = batch_try(s, &l->batch, first);
        sim_class_reason(s, &h->class, r == PLACED ? WAIT_ORDER : batch_reason(s, &l->batch, first, r));
    }
}

static void pass(void *ctx, void *arg);

static void ask(struct sim *s, struct las *l)
{
    if (!l->in_pass) sim_pass(s, pass, &l->batch.asked);
}

static void on_check(void *ctx, void *arg)
{
    struct sim *s = ctx;
    (void)arg;
    ask(s, s->policy_state);
}

static void plan_check(struct sim *s, struct las *l)
{
    int64_t least = INT64_MAX;
    for (struct shape *h = l->shapes.all; h; h = h->next)
        for (int q = 0; q < QUEUES - 1; q++) {
            struct ranked_node *n = ranked_first(&own(h)->by_service[q]);
            int64_t wait = n ? until_check_ns(s, entry_of_node(n)) : INT64_MAX;
            if (wait < least) least = wait;
        }
    event_cancel(s->events, l->check);
    l->check = EVENT_NONE;
    if (least < INT64_MAX) l->check = event_after(s->events, least, EVENT_CONTROL, on_check, NULL);
}

static void pass(void *ctx, void *arg)
{
    struct sim *s = ctx;
    struct las *l = s->policy_state;
    (void)arg;
    l->batch.asked = false;
    l->in_pass = true;
    move_down(s, l);
    do {
        decide(s, l);
        stop_victims(s, l);
    } while (!start_starters(s, l));
    explain_waits(s, l);
    plan_check(s, l);
    l->in_pass = false;
}

/* ---- the calls ---- */

static void *create(struct sim *s)
{
    struct las *l = xcalloc(1, sizeof *l);
    (void)s;
    batch_init(&l->batch);
    shapes_init(&l->shapes);
    for (int q = 0; q < QUEUES; q++) l->queue[q].front = -1;
    return l;
}

static void free_entry(struct las *l, struct entry *e)
{
    e->job->policy = NULL;
    e->next_free = l->free;
    l->free = e;
}

static void destroy(struct sim *s, void *state)
{
    struct las *l = state;
    for (size_t i = 0; i < s->n_specs; i++)
        if (s->by_index[i] && s->by_index[i]->policy) free_entry(l, s->by_index[i]->policy);
    while (l->free) {
        struct entry *next = l->free->next_free;
        free(l->free);
        l->free = next;
    }
    shapes_free(&l->shapes);
    array_free(&l->moved);
    array_free(&l->starters);
    array_free(&l->victims);
    free(l);
}

static struct entry *entry_new(struct sim *s, struct las *l, struct job *j)
{
    struct entry *e = l->free;
    if (e) l->free = e->next_free;
    else e = xmalloc(sizeof *e);
    *e = (struct entry){.job = j, .shape = shapes_find(s, &l->shapes, j)};
    if (!e->shape->own) e->shape->own = xcalloc(1, sizeof(struct las_shape));
    return j->policy = e;
}

static void submit(struct sim *s, struct job *j)
{
    struct las *l = s->policy_state;
    struct entry *e = j->policy ? j->policy : entry_new(s, l, j);
    if (e->where != LEAVING) e->position = l->queue[e->queue].back++; /* one that was stopped knows its place */
    to_waiting(s, l, e);
    ask(s, l);
}

static void withdraw(struct sim *s, struct job *j)
{
    struct las *l = s->policy_state;
    if (!j->policy) return; /* it still waits for other jobs */
    from_waiting(l, j->policy);
    free_entry(l, j->policy);
    ask(s, l);
}

/* Out of the active ones; what it holds is leaving. */
static void leave(struct sim *s, struct las *l, struct entry *e)
{
    untrack(e);
    from_active(l, e);
    e->executed_ns = executed_ns(s, e);
    e->where = LEAVING;
    l->leaving_shares += e->shape->total;
}

static void finished(struct sim *s, struct job *j)
{
    struct las *l = s->policy_state;
    if (entry_of(j)->where == ACTIVE) leave(s, l, j->policy);
}

static void look_again(struct las *l)
{
    for (struct shape *h = l->shapes.all; h; h = h->next) own(h)->passed_over = false;
}

static void released(struct sim *s, struct job *j)
{
    struct las *l = s->policy_state;
    struct entry *e = j->policy;
    batch_released(s, &l->batch, j);
    if (e->where == ACTIVE) { /* lost with its node: it waits behind the others */
        leave(s, l, e);
        e->position = l->queue[e->queue].back++;
    }
    l->leaving_shares -= e->shape->total;
    if (j->flags & JOB_ENDED) free_entry(l, e);
    if (l->in_pass) return;
    look_again(l);
    ask(s, l);
}

static void capacity(struct sim *s)
{
    struct las *l = s->policy_state;
    look_again(l);
    ask(s, l);
}

const struct policy_ops policy_las = {"las",    create,   destroy,  submit, withdraw,
                                      finished, released, capacity, NULL, capacity, NULL};
