/* batch.c - see batch.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/queue/batch.h"

#include <assert.h>

/* ---- lists ---- */

void job_list_insert(struct job_list *l, struct job *j)
{
    struct job *after = l->last; /* almost always a newcomer; only a requeued job walks back */
    while (after && after->index > j->index) after = after->prev;
    j->prev = after;
    j->next = after ? after->next : l->first;
    if (j->next) j->next->prev = j;
    else l->last = j;
    if (after) after->next = j;
    else l->first = j;
    l->n++;
}

void job_list_remove(struct job_list *l, struct job *j)
{
    if (j->next) j->next->prev = j->prev;
    else l->last = j->prev;
    if (j->prev) j->prev->next = j->next;
    else l->first = j->next;
    j->next = j->prev = NULL;
    l->n--;
}

/* ---- placing ---- */

void batch_init(struct batch *b) { *b = (struct batch){0}; }

static bool has_pods(const struct sim *s, const struct job *j)
{
    return s->lifecycle[job_detail_of(s, j)->kind]->needs_pods;
}

/* Shares that jobs with pods may still be promised: what exists and is up, less what is promised, and what jobs have been
 * scaled to beyond that. */
static int64_t unreserved(const struct sim *s, const struct batch *b)
{
    return s->up_shares - b->reserved - s->resized_shares;
}

enum place_result batch_try(struct sim *s, struct batch *b, struct job *j)
{
    struct place_request r;
    if (has_pods(s, j)) return job_total_shares(s, j) <= unreserved(s, b) ? PLACED : PLACE_LACKS;
    job_request(s, j, &r);
    return pool_try(s->pool, &r);
}

enum place_result batch_place(struct sim *s, struct batch *b, struct job *j, struct alloc *a)
{
    struct place_request r;
    *a = (struct alloc){0};
    if (!has_pods(s, j)) {
        job_request(s, j, &r);
        return pool_place(s->pool, &r, a);
    }
    int64_t shares = job_total_shares(s, j);
    if (shares > unreserved(s, b)) return PLACE_LACKS;
    b->reserved += shares;
    return PLACED;
}

void batch_admit(struct sim *s, struct job *j, struct alloc *a)
{
    job_admit(s, j, job_detail_of(s, j)->groups, has_pods(s, j) ? NULL : a);
}

void batch_start(struct sim *s, struct batch *b, struct job *j)
{
    struct alloc a;
    enum place_result result = batch_place(s, b, j, &a);
    assert(result == PLACED);
    (void)result;
    batch_admit(s, j, &a);
}

void batch_released(struct sim *s, struct batch *b, struct job *j)
{
    if (has_pods(s, j)) b->reserved -= job_total_shares(s, j);
}

enum wait_reason batch_reason(struct sim *s, struct batch *b, struct job *j, enum place_result result)
{
    struct place_request r;
    (void)b;
    job_request(s, j, &r);
    if (!pool_could_ever(s->pool, &r)) return WAIT_UNSATISFIABLE;
    if (result == PLACE_LACKS) return WAIT_CAPACITY;
    return result == PLACE_DOMAIN ? WAIT_TOPOLOGY : WAIT_FRAGMENTATION;
}
