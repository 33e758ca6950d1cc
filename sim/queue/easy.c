/* easy.c - EASY backfilling on named machines (Lifka 1995), with the exact meaning of Batsim's scheduler batsched.
 *
 * Jobs are served first come, first served. The head of the line, when it cannot start, holds a reservation: the earliest
 * time at which enough named slots (slots.h) are free, counting on every running job to use its whole time limit, and
 * there the lowest of them. It is made anew at every pass. Any other job may start when enough specific slots are free
 * for its whole limit beside that reservation, and takes the lowest of them. Only the head is protected.
 * From now on slots only become free, but for the reservation: so a job that would still run then must keep off the
 * reserved slots, any other may use all free ones, and no profile over time is needed.
 *
 * A running job without a limit frees nothing that can be counted on: a head that needs its slots has no reservation. A
 * node that is down leaves with its slots, and nobody knows when it is back. A job that no state of the cluster holds is
 * passed over. GPUs on nodes of several: see slots.h.
 *
 * Cost of a pass: O(running jobs) for the reservation when somebody could start beside it, and O((starts + 1) x shapes x
 * (slots / 64 + log waiting)): the line itself is not gone through (first of a shape with a short enough limit: ranked.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "base/mem.h"
#include "sim/queue/batch.h"
#include "sim/queue/policy.h"
#include "sim/queue/ranked.h"
#include "sim/queue/shapes.h"
#include "sim/queue/slots.h"

struct entry {
    struct ranked_node node; /* waiting: of its shape's line, in order of submission; running: of `running`; first */
    struct job *job;
    struct shape *shape;
    struct slot_list slots;  /* while it runs */
};

struct easy_shape {
    struct ranked waiting;
    const uint64_t *allowed;
    uint32_t width;       /* slots of a job */
    bool impossible;
};

struct easy {
    struct batch batch;
    struct shapes shapes;
    struct slot_map map;
    struct ranked running; /* by the end of their limit */
    uint64_t *up, *held, *free, *beside, *soon; /* beside: free and not reserved; soon: work space */
    int64_t reserved_ns;   /* when the head will start; TIME_NEVER: nothing is reserved */
};

static struct entry *entry_of(struct ranked_node *n) { return (struct entry *)n; }
static struct easy_shape *own(const struct shape *h) { return h->own; }

static void find_free(struct easy *z)
{
    for (uint32_t w = 0; w < z->map.words; w++) z->free[w] = z->beside[w] = z->up[w] & ~z->held[w];
}

/* ---- the head and its reservation ---- */

static struct entry *head_of(struct easy *z)
{
    struct entry *head = NULL;
    for (struct shape *h = z->shapes.active; h; h = h->next_active) {
        if (own(h)->impossible) continue;
        struct entry *e = entry_of(ranked_first(&own(h)->waiting));
        if (!head || e->job->index < head->job->index) head = e;
    }
    return head;
}

struct walk { struct easy *z; struct easy_shape *shape; uint32_t have; int64_t at_ns; };

/* Adds what a running job will free; false when that is enough and the next one ends later. */
static bool add_ending(struct ranked_node *n, void *ctx)
{
    struct walk *w = ctx;
    struct easy *z = w->z;
    if (w->have >= w->shape->width && n->key.value > w->at_ns) return false;
    if (n->key.value == TIME_NEVER) return false;
    slots_add(z->soon, &entry_of(n)->slots);
    for (uint32_t i = 0; i < z->map.words; i++) z->soon[i] &= z->up[i];
    w->have = slots_count(&z->map, z->soon, w->shape->allowed);
    w->at_ns = n->key.value;
    return true;
}

static void reserve(struct easy *z, struct entry *head)
{
    struct walk w = {z, own(head->shape), 0, 0};
    struct slot_list list = {0};
    z->reserved_ns = TIME_NEVER;
    for (uint32_t i = 0; i < z->map.words; i++) z->soon[i] = z->free[i];
    ranked_each(&z->running, add_ending, &w);
    if (w.have < w.shape->width) return;
    z->reserved_ns = w.at_ns;
    slots_lowest(&z->map, z->soon, w.shape->allowed, w.shape->width, &list);
    slots_remove(z->beside, &list);
    array_free(&list.a);
}

/* ---- starting ---- */

static int64_t end_ns(const struct sim *s, const struct job *j)
{
    int64_t window = slots_window_ns(j);
    return window < TIME_NEVER - sim_now(s) ? sim_now(s) + window : TIME_NEVER;
}

static void start(struct sim *s, struct easy *z, struct entry *e, const uint64_t *from)
{
    struct easy_shape *h = own(e->shape);
    struct alloc a = {0};
    ranked_remove(&h->waiting, &e->node);
    if (!h->waiting.n) shapes_deactivate(&z->shapes, e->shape);
    slots_lowest(&z->map, from, h->allowed, h->width, &e->slots);
    slots_add(z->held, &e->slots);
    slots_remove(z->free, &e->slots);
    slots_remove(z->beside, &e->slots);
    e->node.key = (struct ranked_key){.value = end_ns(s, e->job), .rank = e->job->index};
    ranked_insert(&z->running, &e->node);
    slots_place(s, &z->map, &e->slots, &a);
    job_admit(s, e->job, job_detail_of(s, e->job)->groups, &a);
}

static struct entry *start_heads(struct sim *s, struct easy *z)
{
    struct entry *head;
    while ((head = head_of(z)) && slots_count(&z->map, z->free, own(head->shape)->allowed) >= own(head->shape)->width)
        start(s, z, head, z->free);
    return head;
}

/* Slots that a shape may use: with limits up to the reservation all free ones, with longer ones those beside it. */
static struct entry *first_beside(struct sim *s, struct easy *z, struct shape *h, bool *short_one)
{
    struct easy_shape *o = own(h);
    if (o->impossible || slots_count(&z->map, z->free, o->allowed) < o->width) return NULL;
    *short_one = slots_count(&z->map, z->beside, o->allowed) < o->width;
    int64_t most = *short_one && z->reserved_ns != TIME_NEVER ? z->reserved_ns - sim_now(s) : TIME_NEVER;
    return (struct entry *)ranked_shorter(&o->waiting, most);
}

static bool any_free(const struct easy *z)
{
    uint64_t any = 0;
    for (uint32_t w = 0; w < z->map.words; w++) any |= z->free[w];
    return any;
}

static void backfill(struct sim *s, struct easy *z)
{
    for (;;) {
        struct entry *best = NULL;
        bool short_one = false;
        for (struct shape *h = z->shapes.active; h; h = h->next_active) {
            bool is_short;
            struct entry *e = first_beside(s, z, h, &is_short);
            if (!e || (best && best->job->index < e->job->index)) continue;
            best = e;
            short_one = is_short;
        }
        if (!best) return;
        bool may_use_all = short_one || end_ns(s, best->job) <= z->reserved_ns;
        start(s, z, best, may_use_all ? z->free : z->beside);
    }
}

static void explain_waits(struct sim *s, struct easy *z)
{
    for (struct shape *h = z->shapes.active; h; h = h->next_active) {
        bool fits = slots_count(&z->map, z->free, own(h)->allowed) >= own(h)->width;
        sim_class_reason(s, &h->class, own(h)->impossible ? WAIT_UNSATISFIABLE : fits ? WAIT_ORDER : WAIT_CAPACITY);
    }
}

static void pass(void *ctx, void *arg)
{
    struct sim *s = ctx;
    struct easy *z = s->policy_state;
    (void)arg;
    z->batch.asked = false;
    find_free(z);
    struct entry *head = start_heads(s, z);
    if (head && any_free(z)) {
        reserve(z, head);
        backfill(s, z);
    }
    explain_waits(s, z);
}

/* ---- the calls ---- */

static void *create(struct sim *s)
{
    struct easy *z = xcalloc(1, sizeof *z);
    batch_init(&z->batch);
    shapes_init(&z->shapes);
    slot_map_init(&z->map, s);
    z->up = slot_set_new(&z->map);
    z->held = slot_set_new(&z->map);
    z->free = slot_set_new(&z->map);
    z->beside = slot_set_new(&z->map);
    z->soon = slot_set_new(&z->map);
    slot_map_up(&z->map, s, z->up);
    return z;
}

static void free_entry(struct entry *e)
{
    e->job->policy = NULL;
    array_free(&e->slots.a);
    free(e);
}

static void destroy(struct sim *s, void *state)
{
    struct easy *z = state;
    for (size_t i = 0; i < s->n_specs; i++)
        if (s->by_index[i] && s->by_index[i]->policy) free_entry(s->by_index[i]->policy);
    shapes_free(&z->shapes);
    slot_map_free(&z->map);
    free(z->up);
    free(z->held);
    free(z->free);
    free(z->beside);
    free(z->soon);
    free(z);
}

static void prepare_shape(struct sim *s, struct easy *z, struct shape *h, const struct job *j)
{
    struct easy_shape *o = h->own = xcalloc(1, sizeof *o);
    o->allowed = slot_map_allowed(&z->map, s, job_detail_of(s, j)->groups);
    o->width = slots_of_job(s, j);
    o->impossible = slots_count(&z->map, o->allowed, o->allowed) < o->width;
}

static struct entry *entry_new(struct sim *s, struct easy *z, struct job *j)
{
    struct entry *e = xcalloc(1, sizeof *e);
    e->job = j;
    e->shape = shapes_find(s, &z->shapes, j);
    if (!e->shape->own) prepare_shape(s, z, e->shape, j);
    return j->policy = e;
}

static void submit(struct sim *s, struct job *j)
{
    struct easy *z = s->policy_state;
    struct entry *e = j->policy ? j->policy : entry_new(s, z, j);
    struct easy_shape *h = own(e->shape);
    e->node.key = (struct ranked_key){.rank = j->index};
    e->node.length = slots_window_ns(j);
    if (!h->waiting.n) shapes_activate(&z->shapes, e->shape);
    ranked_insert(&h->waiting, &e->node);
    job_wait_in(s, j, &e->shape->class);
    sim_pass(s, pass, &z->batch.asked);
}

static void withdraw(struct sim *s, struct job *j)
{
    struct easy *z = s->policy_state;
    struct entry *e = j->policy;
    if (!e) return; /* it still waits for other jobs */
    ranked_remove(&own(e->shape)->waiting, &e->node);
    if (!own(e->shape)->waiting.n) shapes_deactivate(&z->shapes, e->shape);
    free_entry(e);
    sim_pass(s, pass, &z->batch.asked);
}

static void finished(struct sim *s, struct job *j)
{
    (void)s;
    (void)j;
}

static void released(struct sim *s, struct job *j)
{
    struct easy *z = s->policy_state;
    struct entry *e = j->policy;
    ranked_remove(&z->running, &e->node);
    slots_remove(z->held, &e->slots);
    if (j->flags & JOB_ENDED) free_entry(e);
    sim_pass(s, pass, &z->batch.asked);
}

static void capacity(struct sim *s)
{
    struct easy *z = s->policy_state;
    slot_map_up(&z->map, s, z->up);
    sim_pass(s, pass, &z->batch.asked);
}

static int32_t blocker(struct sim *s, const struct job *j)
{
    struct entry *head = head_of(s->policy_state);
    return head && head->job != j ? head->job->index : NO_JOB;
}

const struct policy_ops policy_easy = {"easy",   create,   destroy,  submit, withdraw,
                                       finished, released, capacity, blocker, NULL, NULL};
