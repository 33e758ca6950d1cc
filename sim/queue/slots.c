/* slots.c - see slots.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/queue/slots.h"

#include <stdlib.h>

#include "base/mem.h"

void slot_map_init(struct slot_map *m, const struct sim *s)
{
    uint32_t nodes = pool_nodes(s->pool), n = 0;
    *m = (struct slot_map){.first = xcalloc(nodes + 1, sizeof *m->first)};
    for (uint32_t i = 0; i < nodes; i++) {
        m->first[i] = n;
        n += s->scenario->cluster.groups[pool_node_group(s->pool, i)].gpus;
    }
    m->first[nodes] = m->n = n;
    m->words = n / 64 + 1;
    m->node = xcalloc(n + 1, sizeof *m->node);
    for (uint32_t i = 0; i < nodes; i++)
        for (uint32_t k = m->first[i]; k < m->first[i + 1]; k++) m->node[k] = i;
}

void slot_map_free(struct slot_map *m)
{
    for (size_t i = 0; i < m->allowed.n; i++) free(m->allowed.v[i].set);
    array_free(&m->allowed);
    free(m->first);
    free(m->node);
}

uint64_t *slot_set_new(const struct slot_map *m) { return xcalloc(m->words, sizeof(uint64_t)); }

static uint64_t bits_between(uint32_t from, uint32_t end)
{
    uint64_t below = end == 64 ? UINT64_MAX : (UINT64_C(1) << end) - 1;
    return below & ~((UINT64_C(1) << from) - 1);
}

static void change_range(uint64_t *set, struct slot_range r, bool add)
{
    for (uint32_t at = r.first, end = r.first + r.n; at < end;) {
        uint32_t w = at / 64, stop = (w + 1) * 64 < end ? (w + 1) * 64 : end;
        uint64_t bits = bits_between(at - w * 64, stop - w * 64);
        if (add) set[w] |= bits;
        else set[w] &= ~bits;
        at = stop;
    }
}

void slots_add(uint64_t *set, const struct slot_list *l)
{
    for (size_t i = 0; i < l->a.n; i++) change_range(set, l->a.v[i], true);
}

void slots_remove(uint64_t *set, const struct slot_list *l)
{
    for (size_t i = 0; i < l->a.n; i++) change_range(set, l->a.v[i], false);
}

void slot_map_up(const struct slot_map *m, const struct sim *s, uint64_t *set)
{
    for (uint32_t i = 0; i < pool_nodes(s->pool); i++) {
        struct slot_range r = {m->first[i], m->first[i + 1] - m->first[i]};
        change_range(set, r, pool_node_is_up(s->pool, i));
    }
}

const uint64_t *slot_map_allowed(struct slot_map *m, const struct sim *s, uint64_t groups)
{
    const struct cluster_spec *c = &s->scenario->cluster;
    for (size_t i = 0; i < m->allowed.n; i++)
        if (m->allowed.v[i].groups == groups) return m->allowed.v[i].set;
    uint64_t *set = slot_set_new(m);
    for (uint32_t g = 0; g < c->n_groups; g++) {
        uint32_t first = m->first[c->groups[g].first_node];
        if (groups >> g & 1) change_range(set, (struct slot_range){first, c->groups[g].count * c->groups[g].gpus}, true);
    }
    array_push(&m->allowed, (struct slot_allowed){groups, set});
    return set;
}

uint32_t slots_count(const struct slot_map *m, const uint64_t *set, const uint64_t *allowed)
{
    uint32_t n = 0;
    for (uint32_t w = 0; w < m->words; w++) n += (uint32_t)__builtin_popcountll(set[w] & allowed[w]);
    return n;
}

static void append(struct slot_list *l, uint32_t slot)
{
    struct slot_range *last = l->a.n ? &l->a.v[l->a.n - 1] : NULL;
    if (last && last->first + last->n == slot) last->n++;
    else array_push(&l->a, (struct slot_range){slot, 1});
}

void slots_lowest(const struct slot_map *m, const uint64_t *set, const uint64_t *allowed, uint32_t n, struct slot_list *l)
{
    array_clear(&l->a);
    for (uint32_t w = 0; w < m->words && n; w++)
        for (uint64_t bits = set[w] & allowed[w]; bits && n; bits &= bits - 1, n--)
            append(l, w * 64 + (uint32_t)__builtin_ctzll(bits));
}

void slots_place(struct sim *s, const struct slot_map *m, const struct slot_list *l, struct alloc *a)
{
    for (size_t i = 0; i < l->a.n; i++)
        for (uint32_t at = l->a.v[i].first, end = at + l->a.v[i].n; at < end;) {
            uint32_t node = m->node[at], stop = m->first[node + 1] < end ? m->first[node + 1] : end;
            pool_take_devices(s->pool, node, bits_between(at - m->first[node], stop - m->first[node]), a);
            at = stop;
        }
    pool_devices_taken(s->pool, a);
}

uint32_t slots_of_job(const struct sim *s, const struct job *j)
{
    return (uint32_t)((job_total_shares(s, j) + SHARES_PER_GPU - 1) / SHARES_PER_GPU);
}

int64_t slots_window_ns(const struct job *j)
{
    if (j->spec->limit_ns == TIME_NEVER) return TIME_NEVER;
    return j->spec->limit_ns - (j->live ? j->live->done_ns : 0);
}
