/* shapes.c - see shapes.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/queue/shapes.h"

#include <stdlib.h>

#include "base/mem.h"

void shapes_init(struct shapes *t) { *t = (struct shapes){0}; }

void shapes_free(struct shapes *t)
{
    while (t->all) {
        struct shape *next = t->all->next;
        free(t->all->own);
        free(t->all);
        t->all = next;
    }
    hmap_free(&t->by_key);
    hmap_free(&t->classes);
}

static struct shape *shape_new(struct sim *s, struct shapes *t, const struct job_spec *spec)
{
    struct shape *h = xcalloc(1, sizeof *h);
    h->next = t->all;
    t->all = h;
    h->total = job_shares(s->scenario, spec);
    h->detail = spec->detail;
    h->replicas = spec->replicas;
    h->shares = spec->gpu_shares;
    sim_class_init(s, &h->class, s->scenario->details[spec->detail].groups, WAIT_CAPACITY);
    return h;
}

struct shape *shapes_find(struct sim *s, struct shapes *t, const struct job *j)
{
    const struct job_spec *spec = j->spec;
    struct shape *h = t->last;
    if (h && h->detail == spec->detail && h->replicas == spec->replicas && h->shares == spec->gpu_shares) return h;
    uint64_t class_key = (uint64_t)spec->detail << 32 | spec->replicas, class = t->classes.n;
    if (!hmap_get_u64(&t->classes, class_key, &class)) hmap_put_u64(&t->classes, class_key, class);
    uint64_t key = class << 32 | spec->gpu_shares;
    h = hmap_get_u64_ptr(&t->by_key, key);
    if (!h) hmap_put_u64_ptr(&t->by_key, key, h = shape_new(s, t, spec));
    return t->last = h;
}

void shapes_activate(struct shapes *t, struct shape *h)
{
    h->prev_active = NULL;
    h->next_active = t->active;
    if (t->active) t->active->prev_active = h;
    t->active = h;
}

void shapes_deactivate(struct shapes *t, struct shape *h)
{
    if (h->next_active) h->next_active->prev_active = h->prev_active;
    if (h->prev_active) h->prev_active->next_active = h->next_active;
    else t->active = h->next_active;
}

struct shape *shapes_insert(struct sim *s, struct shapes *t, struct job *j)
{
    struct shape *h = shapes_find(s, t, j);
    if (!h->line.first) shapes_activate(t, h);
    job_list_insert(&h->line, j);
    j->policy = h;
    return h;
}

void shapes_remove(struct shapes *t, struct job *j)
{
    struct shape *h = j->policy;
    job_list_remove(&h->line, j);
    if (!h->line.first) shapes_deactivate(t, h);
}
