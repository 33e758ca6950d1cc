/* fifo.c - strict first in, first out: nobody overtakes the head of the line.
 *
 * The head waits for capacity (or shape); all others wait for their turn. Cost: O(1) a job and a pass.
 * With life cycles that have pods, the head is admitted when its shares are free by count and the pod scheduler finds
 * the nodes; the count is kept here (`reserved`).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/mem.h"
#include "sim/queue/batch.h"
#include "sim/queue/policy.h"

struct fifo {
    struct batch batch;
    struct wait_class others;
    struct job_list line;
    struct job *head;  /* the job whose own reason is kept; NULL: none */
};

static void pass(void *ctx, void *arg)
{
    struct sim *s = ctx;
    struct fifo *f = s->policy_state;
    (void)arg;
    f->batch.asked = false;
    while (f->line.first) {
        struct job *j = f->line.first;
        struct alloc a;
        enum place_result r = batch_place(s, &f->batch, j, &a);
        if (r != PLACED) {
            job_wait(s, j, batch_reason(s, &f->batch, j, r));
            return;
        }
        job_list_remove(&f->line, j);
        batch_admit(s, j, &a);
    }
}

static void *create(struct sim *s)
{
    struct fifo *f = xcalloc(1, sizeof *f);
    sim_class_init(s, &f->others, ~UINT64_C(0), WAIT_ORDER);
    batch_init(&f->batch);
    return f;
}

static void destroy(struct sim *s, void *state)
{
    (void)s;
    free(state);
}

static void submit(struct sim *s, struct job *j)
{
    struct fifo *f = s->policy_state;
    bool empty = !f->line.first;
    job_list_insert(&f->line, j);
    if (!empty) job_wait_in(s, j, &f->others);
    if (f->line.first == j) sim_pass(s, pass, &f->batch.asked);
}

static void withdraw(struct sim *s, struct job *j)
{
    struct fifo *f = s->policy_state;
    job_list_remove(&f->line, j);
    sim_pass(s, pass, &f->batch.asked);
}

static void finished(struct sim *s, struct job *j)
{
    (void)s;
    (void)j;
}

static void released(struct sim *s, struct job *j)
{
    struct fifo *f = s->policy_state;
    batch_released(s, &f->batch, j);
    if (f->line.first) sim_pass(s, pass, &f->batch.asked);
}

static void capacity(struct sim *s)
{
    struct fifo *f = s->policy_state;
    sim_pass(s, pass, &f->batch.asked);
}

static int32_t blocker(struct sim *s, const struct job *j)
{
    struct fifo *f = s->policy_state;
    return f->line.first && f->line.first != j ? f->line.first->index : NO_JOB;
}

const struct policy_ops policy_fifo = {"fifo",   create,   destroy,  submit, withdraw,
                                       finished, released, capacity, blocker, capacity, NULL};
