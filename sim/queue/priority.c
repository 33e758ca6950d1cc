/* priority.c - see priority.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/queue/priority.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/mem.h"
#include "sim/queue/batch.h"
#include "sim/queue/ranked.h"
#include "sim/queue/shapes.h"

enum where { WAITING, ACTIVE, LEAVING /* stopped or ended, but still holds GPUs */ };

/* A job's place: job->policy points to it until the job has ended. */
struct entry {
    struct ranked_node node; /* of `active` or of its shape's line; must be first */
    struct ranked_key waited; /* its key in the line, when it is active */
    struct job *job;
    struct shape *shape;
    int64_t started;         /* number of the pass that last started it */
    int64_t rank;            /* order among jobs of equal value that came to it at one instant */
    uint8_t where;
    bool stopped;            /* by this policy: it keeps its rank */
    struct entry *next_free;
};

struct line { struct ranked waiting; bool passed_over; };

struct priority {
    struct batch batch;
    enum priority_key key;
    struct shapes shapes;
    struct ranked active;
    int64_t leaving_shares;
    int64_t pass, seq;  /* number of the pass to come, and of what it has ranked so far */
    ARRAY(struct entry *) starters;
    ARRAY(struct entry *) victims;
    struct entry *free;
    bool in_pass;
};

static struct entry *entry_of(struct ranked_node *n) { return (struct entry *)n; }
static struct line *line_of(const struct shape *h) { return h->own; }

/* ---- keys ---- */

/* Far enough from the end of time that adding it to any clock does not overflow. */
static int64_t remaining_ns(const struct job *j)
{
    int64_t work = j->spec->work_ns < j->spec->limit_ns ? j->spec->work_ns : j->spec->limit_ns;
    int64_t left = work - (j->live ? j->live->done_ns : 0);
    return left < INT64_MAX / 4 ? left : INT64_MAX / 4;
}

static int64_t next_rank(struct priority *p) { return p->pass << 24 | p->seq++; }

/* Key in its shape's line. */
static struct ranked_key waiting_key(struct sim *s, const struct priority *p, const struct entry *e)
{
    if (p->key == BY_GPUS) return (struct ranked_key){e->shape->total, 0, e->job->index};
    return (struct ranked_key){remaining_ns(e->job), sim_now(s), e->rank};
}

/* Where a waiting job would stand if it were the next to start: among the active ones the value is the time of the end.
 * It stands before the running jobs of its value, behind those that this pass has put there; one that came to its value
 * at this instant stands by its rank. */
static struct ranked_key active_key(struct sim *s, const struct priority *p, const struct entry *e)
{
    struct ranked_key k = e->node.key;
    if (p->key == BY_GPUS) return k;
    if (k.since < sim_now(s)) k.rank = -((p->pass + 1) << 24) + p->seq;
    k.value += sim_now(s);
    k.since = 0;
    return k;
}

/* ---- the sets ---- */

static void to_waiting(struct sim *s, struct priority *p, struct entry *e)
{
    struct line *l = line_of(e->shape);
    e->where = WAITING;
    if (!l->waiting.n) shapes_activate(&p->shapes, e->shape);
    ranked_insert(&l->waiting, &e->node);
    job_wait_in(s, e->job, &e->shape->class);
}

static void from_waiting(struct priority *p, struct entry *e)
{
    struct line *l = line_of(e->shape);
    ranked_remove(&l->waiting, &e->node);
    if (!l->waiting.n) shapes_deactivate(&p->shapes, e->shape);
}

static void to_active(struct sim *s, struct priority *p, struct entry *e)
{
    e->waited = e->node.key;
    e->started = p->pass;
    e->node.key = active_key(s, p, e);
    e->rank = e->node.key.rank;
    p->seq++;
    e->node.amount = e->shape->total;
    e->where = ACTIVE;
    ranked_insert(&p->active, &e->node);
}

/* It has not run, so it stands where it stood. */
static void wait_as_before(struct entry *e)
{
    e->node.key = e->waited;
    e->rank = e->waited.rank;
}

static void to_leaving(struct priority *p, struct entry *e)
{
    ranked_remove(&p->active, &e->node);
    e->where = LEAVING;
    p->leaving_shares += e->shape->total;
}

/* ---- the decision ---- */

/* The first waiting job, in order of key, that fits into what those before it leave of `total`. */
static struct entry *next_start(struct sim *s, struct priority *p, int64_t total)
{
    struct entry *best = NULL;
    for (struct shape *h = p->shapes.active; h; h = h->next_active) {
        if (line_of(h)->passed_over || h->total > total) continue;
        struct entry *e = entry_of(ranked_first(&line_of(h)->waiting));
        struct ranked_key k = active_key(s, p, e);
        if (best && !ranked_less(&e->node.key, &best->node.key)) continue;
        if (ranked_before(&p->active, &k) + h->total <= total) best = e;
    }
    return best;
}

/* Who starts and who stops. A start only matters to those behind it, so the job that stops next is looked for when no
 * job before it starts. */
static void decide(struct sim *s, struct priority *p)
{
    int64_t total = s->up_shares - p->leaving_shares;
    for (;;) {
        struct ranked_node *over;
        struct entry *e = next_start(s, p, total);
        if (e) {
            from_waiting(p, e);
            to_active(s, p, e);
            array_push(&p->starters, e);
        } else if ((over = ranked_over(&p->active, total))) {
            ranked_remove(&p->active, over);
            array_push(&p->victims, entry_of(over));
        } else {
            return;
        }
    }
}

/* Starters are taken in order of key, so none of them is ever a victim. */
static void stop_victims(struct sim *s, struct priority *p)
{
    const struct job *by = p->starters.n ? p->starters.v[0]->job : NULL;
    for (size_t i = 0; i < p->victims.n; i++) {
        struct entry *e = p->victims.v[i];
        e->where = LEAVING;
        p->leaving_shares += e->shape->total;
        e->stopped = true;
        job_preempt(s, e->job, STOP_PREEMPTED, by);
    }
    array_clear(&p->victims);
}

/* Places the starters; false when one of them did not fit and the pass must be made again without its shape. */
static bool start_starters(struct sim *s, struct priority *p)
{
    bool all = true;
    for (size_t i = 0; i < p->starters.n; i++) {
        struct entry *e = p->starters.v[i];
        struct alloc a;
        if (batch_place(s, &p->batch, e->job, &a) == PLACED) {
            batch_admit(s, e->job, &a);
            continue;
        }
        ranked_remove(&p->active, &e->node);
        wait_as_before(e);
        to_waiting(s, p, e);
        if (p->leaving_shares) continue; /* it fits as soon as they have left */
        line_of(e->shape)->passed_over = true;
        all = false;
    }
    array_clear(&p->starters);
    return all;
}

static void explain_waits(struct sim *s, struct priority *p)
{
    for (struct shape *h = p->shapes.active; h; h = h->next_active) {
        struct job *first = entry_of(ranked_first(&line_of(h)->waiting))->job;
        enum place_result r = batch_try(s, &p->batch, first);
        sim_class_reason(s, &h->class, r == PLACED ? WAIT_ORDER : batch_reason(s, &p->batch, first, r));
    }
}

static void pass(void *ctx, void *arg)
{
    struct sim *s = ctx;
    struct priority *p = s->policy_state;
    (void)arg;
    p->batch.asked = false;
    p->in_pass = true;
    do {
        decide(s, p);
        stop_victims(s, p);
    } while (!start_starters(s, p));
    explain_waits(s, p);
    p->pass++;
    p->seq = 0;
    p->in_pass = false;
}

static void ask(struct sim *s, struct priority *p)
{
    if (!p->in_pass) sim_pass(s, pass, &p->batch.asked);
}

/* ---- the calls ---- */

void *priority_create(struct sim *s, enum priority_key key)
{
    struct priority *p = xcalloc(1, sizeof *p);
    (void)s;
    p->key = key;
    batch_init(&p->batch);
    shapes_init(&p->shapes);
    return p;
}

static bool free_entry(struct ranked_node *n, void *ctx)
{
    struct priority *p = ctx;
    struct entry *e = entry_of(n);
    e->next_free = p->free;
    p->free = e;
    return true;
}

void priority_destroy(struct sim *s, void *state)
{
    struct priority *p = state;
    for (size_t i = 0; i < s->n_specs; i++)
        if (s->by_index[i] && s->by_index[i]->policy) free_entry(s->by_index[i]->policy, p);
    while (p->free) {
        struct entry *next = p->free->next_free;
        free(p->free);
        p->free = next;
    }
    shapes_free(&p->shapes);
    array_free(&p->starters);
    array_free(&p->victims);
    free(p);
}

static struct entry *entry_new(struct sim *s, struct priority *p, struct job *j)
{
    struct entry *e = p->free;
    if (e) p->free = e->next_free;
    else e = xmalloc(sizeof *e);
    *e = (struct entry){.job = j, .shape = shapes_find(s, &p->shapes, j)};
    if (!e->shape->own) e->shape->own = xcalloc(1, sizeof(struct line));
    return j->policy = e;
}

void priority_submit(struct sim *s, struct job *j)
{
    struct priority *p = s->policy_state;
    struct entry *e = j->policy ? j->policy : entry_new(s, p, j);
    if (!e->stopped) e->rank = next_rank(p);
    if (e->stopped && e->started == p->pass) wait_as_before(e); /* started and stopped by one pass */
    else e->node.key = waiting_key(s, p, e);
    e->stopped = false;
    to_waiting(s, p, e);
    ask(s, p);
}

void priority_withdraw(struct sim *s, struct job *j)
{
    struct priority *p = s->policy_state;
    if (!j->policy) return; /* it still waits for other jobs */
    from_waiting(p, j->policy);
    free_entry(j->policy, p);
    j->policy = NULL;
    ask(s, p);
}

void priority_finished(struct sim *s, struct job *j)
{
    struct priority *p = s->policy_state;
    struct entry *e = j->policy;
    if (e->where == ACTIVE) to_leaving(p, e);
}

static void look_again(struct priority *p)
{
    for (struct shape *h = p->shapes.all; h; h = h->next) line_of(h)->passed_over = false;
}

void priority_released(struct sim *s, struct job *j)
{
    struct priority *p = s->policy_state;
    struct entry *e = j->policy;
    batch_released(s, &p->batch, j);
    if (e->where == ACTIVE) ranked_remove(&p->active, &e->node);
    else p->leaving_shares -= e->shape->total;
    if (j->flags & JOB_ENDED) {
        free_entry(&e->node, p);
        j->policy = NULL;
    }
    if (p->in_pass) return;
    look_again(p);
    ask(s, p);
}

void priority_capacity(struct sim *s)
{
    struct priority *p = s->policy_state;
    look_again(p);
    ask(s, p);
}
