/* fifo_skip.c - first in, first out with skipping: in order of submission, each job that fits starts.
 *
 * A scan of the line in order is equal to this: among the shapes that fit, start the oldest job; repeat until no shape
 * fits. (A start only takes resources, so a job that did not fit before it does not fit after it.) So a pass costs
 * O(shapes) whatever the length of the line: a standing queue of 10,000 jobs of 20 shapes is 20 looks, and its waits
 * are kept by one clock a shape.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "base/mem.h"
#include "sim/queue/batch.h"
#include "sim/queue/policy.h"
#include "sim/queue/shapes.h"

struct fifo_skip {
    struct batch batch;
    struct shapes shapes;
};

/* The fitting shape whose head is oldest; shapes that do not fit get their reason. */
static struct shape *best_shape(struct sim *s, struct fifo_skip *f)
{
    struct shape *best = NULL;
    for (struct shape *h = f->shapes.active; h; h = h->next_active) {
        if (best && best->line.first->index < h->line.first->index) continue;
        enum place_result r = batch_try(s, &f->batch, h->line.first);
        if (r == PLACED) best = h;
        else sim_class_reason(s, &h->class, batch_reason(s, &f->batch, h->line.first, r));
    }
    return best;
}

static void pass(void *ctx, void *arg)
{
    struct sim *s = ctx;
    struct fifo_skip *f = s->policy_state;
    struct shape *h;
    (void)arg;
    f->batch.asked = false;
    while ((h = best_shape(s, f))) {
        struct job *j = h->line.first;
        shapes_remove(&f->shapes, j);
        batch_start(s, &f->batch, j);
    }
}

static void *create(struct sim *s)
{
    struct fifo_skip *f = xcalloc(1, sizeof *f);
    (void)s;
    batch_init(&f->batch);
    shapes_init(&f->shapes);
    return f;
}

static void destroy(struct sim *s, void *state)
{
    struct fifo_skip *f = state;
    (void)s;
    shapes_free(&f->shapes);
    free(f);
}

static void submit(struct sim *s, struct job *j)
{
    struct fifo_skip *f = s->policy_state;
    struct shape *h = shapes_insert(s, &f->shapes, j);
    job_wait_in(s, j, &h->class);
    if (h->line.first == j) sim_pass(s, pass, &f->batch.asked);
}

static void withdraw(struct sim *s, struct job *j)
{
    (void)s;
    shapes_remove(&((struct fifo_skip *)s->policy_state)->shapes, j);
}

static void finished(struct sim *s, struct job *j)
{
    (void)s;
    (void)j;
}

static void released(struct sim *s, struct job *j)
{
    struct fifo_skip *f = s->policy_state;
    batch_released(s, &f->batch, j);
    if (f->shapes.active) sim_pass(s, pass, &f->batch.asked);
}

static void capacity(struct sim *s)
{
    struct fifo_skip *f = s->policy_state;
    sim_pass(s, pass, &f->batch.asked);
}

const struct policy_ops policy_fifo_skip = {"fifo-skip", create,   destroy,  submit, withdraw,
                                            finished,    released, capacity, NULL, capacity, NULL};
