/* conservative.c - conservative backfilling on named machines, with the exact meaning of Batsim's scheduler batsched.
 *
 * Every job that waits holds a reservation: specific slots (slots.h) over its whole time limit, at the first time at
 * which enough are free, the lowest of them; so no job delays one that came before it. Reservations persist: a submission
 * only adds its own; when GPUs are released, each waiting job in order of submission is taken out and put in again where
 * it first fits now. (Building all anew instead gives another schedule.)
 *
 * A node that goes down or comes back changes the plan under the reservations: then they are all made anew, on the nodes
 * that are up, in order. A job whose slots cannot be counted on at any time (held without a limit, or down) has no
 * reservation until they can. A job that no state of the cluster holds waits without one. GPUs on nodes of several:
 * slots.h.
 *
 * Cost: a submission is one plan_fit (plan.h), a release one a waiting job, so O(waiting x steps x slots / 64) at least:
 * quadratic in the length of the line, and that is the policy's meaning. tests/bench/bench_growth.c measures it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "base/mem.h"
#include "sim/queue/batch.h"
#include "sim/queue/plan.h"
#include "sim/queue/policy.h"
#include "sim/queue/slots.h"

/* A job's place: job->policy points to it until the job has ended. */
struct entry {
    int64_t from_ns, to_ns; /* of its window in the plan; from TIME_NEVER: none */
    struct slot_list slots;
};

enum change { NOTHING, SUBMITTED, RELEASED, NODES };

struct conservative {
    struct batch batch;
    struct slot_map map;
    struct plan plan;
    struct job_list line, running;
    struct job *first_new;     /* from here on the line has no reservations yet */
    struct wait_class capacity;
    enum change change;        /* the most that has happened since the last pass */
    uint64_t *up;
};

static struct entry *entry_of(const struct job *j) { return j->policy; }

/* ---- reservations ---- */

static const uint64_t *allowed(struct sim *s, struct conservative *c, const struct job *j)
{
    return slot_map_allowed(&c->map, s, job_detail_of(s, j)->groups);
}

static void take_out(struct conservative *c, struct job *j)
{
    struct entry *e = entry_of(j);
    if (e->from_ns != TIME_NEVER) plan_give(&c->plan, e->from_ns, e->to_ns, &e->slots);
    e->from_ns = TIME_NEVER;
}

static void put_in(struct sim *s, struct conservative *c, struct job *j)
{
    struct entry *e = entry_of(j);
    int64_t window = slots_window_ns(j);
    e->from_ns = plan_fit(&c->plan, allowed(s, c, j), slots_of_job(s, j), window, &e->slots);
    if (e->from_ns == TIME_NEVER) return;
    e->to_ns = window < TIME_NEVER - e->from_ns ? e->from_ns + window : TIME_NEVER;
    plan_take(&c->plan, e->from_ns, e->to_ns, &e->slots);
}

static void start(struct sim *s, struct conservative *c, struct job *j)
{
    struct alloc a = {0};
    if (c->first_new == j) c->first_new = j->next;
    job_list_remove(&c->line, j);
    job_list_insert(&c->running, j);
    slots_place(s, &c->map, &entry_of(j)->slots, &a);
    job_admit(s, j, job_detail_of(s, j)->groups, &a);
}

/* The plan of running jobs alone. A window that is over, or lies on slots that are down, takes nothing away. */
static void replan(struct sim *s, struct conservative *c)
{
    plan_begin(&c->plan, sim_now(s), c->up);
    for (struct job *j = c->running.first; j; j = j->next) {
        struct entry *e = entry_of(j);
        plan_take(&c->plan, sim_now(s), e->to_ns, &e->slots);
    }
    for (struct job *j = c->line.first; j; j = j->next) entry_of(j)->from_ns = TIME_NEVER;
}

static enum wait_reason reason_of(struct sim *s, struct conservative *c, const struct job *j)
{
    const uint64_t *set = allowed(s, c, j);
    uint32_t n = slots_of_job(s, j);
    if (slots_count(&c->map, set, set) < n) return WAIT_UNSATISFIABLE;
    return slots_count(&c->map, c->plan.steps.v[0].free, set) < n ? WAIT_CAPACITY : WAIT_ORDER;
}

static void explain_wait(struct sim *s, struct conservative *c, struct job *j)
{
    enum wait_reason r = reason_of(s, c, j);
    if (r == WAIT_CAPACITY) job_wait_in(s, j, &c->capacity);
    else job_wait(s, j, r);
}

static void pass(void *ctx, void *arg)
{
    struct sim *s = ctx;
    struct conservative *c = s->policy_state;
    bool all = c->change >= RELEASED;
    (void)arg;
    c->batch.asked = false;
    plan_advance(&c->plan, sim_now(s));
    if (c->change == NODES) replan(s, c);
    for (struct job *j = all ? c->line.first : c->first_new, *next; j; j = next) {
        next = j->next;
        take_out(c, j);
        put_in(s, c, j);
        if (entry_of(j)->from_ns == sim_now(s)) start(s, c, j);
    }
    for (struct job *j = all ? c->line.first : c->first_new; j; j = j->next) explain_wait(s, c, j);
    c->first_new = NULL;
    c->change = NOTHING;
}

static void ask(struct sim *s, struct conservative *c, enum change change)
{
    if (change > c->change) c->change = change;
    sim_pass(s, pass, &c->batch.asked);
}

/* ---- the calls ---- */

static void *create(struct sim *s)
{
    struct conservative *c = xcalloc(1, sizeof *c);
    batch_init(&c->batch);
    slot_map_init(&c->map, s);
    c->up = slot_set_new(&c->map);
    slot_map_up(&c->map, s, c->up);
    plan_init(&c->plan, &c->map);
    plan_begin(&c->plan, 0, c->up);
    sim_class_init(s, &c->capacity, ~UINT64_C(0), WAIT_CAPACITY);
    return c;
}

static void free_entry(struct job *j)
{
    array_free(&entry_of(j)->slots.a);
    free(j->policy);
    j->policy = NULL;
}

static void destroy(struct sim *s, void *state)
{
    struct conservative *c = state;
    for (size_t i = 0; i < s->n_specs; i++)
        if (s->by_index[i] && s->by_index[i]->policy) free_entry(s->by_index[i]);
    plan_free(&c->plan);
    slot_map_free(&c->map);
    free(c->up);
    free(c);
}

static void submit(struct sim *s, struct job *j)
{
    struct conservative *c = s->policy_state;
    if (!j->policy) j->policy = xcalloc(1, sizeof(struct entry));
    entry_of(j)->from_ns = TIME_NEVER;
    job_list_insert(&c->line, j);
    job_wait_in(s, j, &c->capacity);
    if (j->next && j->next != c->first_new) {
        ask(s, c, RELEASED); /* back in the middle of the line: the others come after it */
    } else {
        if (!c->first_new || j->next) c->first_new = j;
        ask(s, c, SUBMITTED);
    }
}

static void withdraw(struct sim *s, struct job *j)
{
    struct conservative *c = s->policy_state;
    if (!j->policy) return; /* it still waits for other jobs */
    if (c->first_new == j) c->first_new = j->next;
    take_out(c, j);
    job_list_remove(&c->line, j);
    free_entry(j);
    ask(s, c, RELEASED);
}

static void finished(struct sim *s, struct job *j)
{
    (void)s;
    (void)j;
}

static void released(struct sim *s, struct job *j)
{
    struct conservative *c = s->policy_state;
    struct entry *e = entry_of(j);
    plan_advance(&c->plan, sim_now(s));
    plan_give(&c->plan, sim_now(s), e->to_ns, &e->slots);
    job_list_remove(&c->running, j);
    if (j->flags & JOB_ENDED) free_entry(j);
    ask(s, c, RELEASED);
}

static void capacity(struct sim *s)
{
    struct conservative *c = s->policy_state;
    slot_map_up(&c->map, s, c->up);
    ask(s, c, NODES);
}

const struct policy_ops policy_conservative = {"conservative", create,   destroy,  submit, withdraw,
                                               finished,       released, capacity, NULL, NULL, NULL};
