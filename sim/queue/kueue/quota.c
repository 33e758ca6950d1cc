/* quota.c - quota and usage of a forest of cohorts and queues.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/queue/kueue/quota.h"

#include <assert.h>
#include <string.h>

/* Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014): the mix of SplitMix64. */
static uint64_t mix64(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The state is a sum over the leaves' usages, each times a number of its own. */
static void count_state(struct quota *q, uint32_t leaf, uint16_t fr, int64_t amount)
{
    q->nodes.v[q->nodes.v[leaf].root].state += mix64((uint64_t)leaf << 16 | fr) * (uint64_t)amount;
}

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void quota_init(struct quota *q, uint32_t n_frs)
{
    *q = (struct quota){.n_frs = n_frs};
}

void quota_free(struct quota *q)
{
    array_free(&q->nodes);
    array_free(&q->cells);
}

static void raise_heights(struct quota *q, uint32_t node)
{
    uint16_t height = 0;
    for (uint32_t up = q->nodes.v[node].parent; up != KUEUE_NONE; up = q->nodes.v[up].parent) {
        if (q->nodes.v[up].height > height) return;
        q->nodes.v[up].height = ++height;
    }
}

uint32_t quota_add_node(struct quota *q, uint32_t parent, bool leaf)
{
    uint32_t id = (uint32_t)q->nodes.n;
    struct quota_node node = {.parent = parent, .root = id, .leaf = leaf};
    node.first_child = node.next_sibling = node.last_child = KUEUE_NONE;
    if (parent != KUEUE_NONE) {
        struct quota_node *up = &q->nodes.v[parent];
        assert(!up->leaf);
        node.root = up->root;
        if (up->first_child == KUEUE_NONE)
            up->first_child = id;
        else
            q->nodes.v[up->last_child].next_sibling = id;
        up->last_child = id;
    }
    array_push(&q->nodes, node);
    raise_heights(q, id);
    for (uint32_t i = 0; i < q->n_frs; i++)
        array_push(&q->cells,
                   (struct quota_cell){.borrowing_limit = KUEUE_UNLIMITED, .lending_limit = KUEUE_UNLIMITED});
    return id;
}

void quota_set(struct quota *q, uint32_t node, uint16_t fr, struct kueue_quota quota)
{
    struct quota_cell *c = quota_cell(q, node, fr);
    c->nominal = quota.nominal;
    c->borrowing_limit = quota.borrowing_limit;
    c->lending_limit = quota.lending_limit;
}

/* Parents are added before their children, so one pass from the last node to the first goes from leaves up. */
void quota_rebuild(struct quota *q)
{
    q->rebuilds++;
    for (size_t i = 0; i < q->nodes.n; i++) q->nodes.v[i].state += mix64(q->rebuilds << 48);
    for (size_t i = 0; i < q->cells.n; i++) {
        struct quota_cell *c = &q->cells.v[i];
        c->subtree = c->nominal;
        c->above = 0;
        if (!q->nodes.v[i / q->n_frs].leaf) c->usage = 0;
    }
    for (size_t i = q->cells.n; i-- > 0;) {
        struct quota_cell *c = &q->cells.v[i];
        uint32_t parent = q->nodes.v[i / q->n_frs].parent;
        c->local = c->lending_limit == KUEUE_UNLIMITED ? 0 : max64(0, c->subtree - c->lending_limit);
        if (parent == KUEUE_NONE) continue;
        struct quota_cell *up = quota_cell(q, parent, (uint16_t)(i % q->n_frs));
        up->subtree += c->subtree - c->local;
        up->usage += max64(0, c->usage - c->local);
        up->above += q->nodes.v[i / q->n_frs].leaf ? c->usage > c->subtree : c->above;
    }
}

static void count_above(struct quota *q, uint32_t leaf, uint16_t fr, bool before)
{
    const struct quota_cell *c = quota_cell(q, leaf, fr);
    bool now = c->usage > c->subtree;
    if (now == before) return;
    for (uint32_t up = q->nodes.v[leaf].parent; up != KUEUE_NONE; up = q->nodes.v[up].parent)
        quota_cell(q, up, fr)->above += now ? 1 : -1;
}

void quota_add(struct quota *q, uint32_t leaf, uint16_t fr, int64_t amount)
{
    if (amount <= 0) return;
    count_state(q, leaf, fr, amount);
    const struct quota_cell *first = quota_cell(q, leaf, fr);
    bool before = first->usage > first->subtree;
    for (uint32_t node = leaf; amount > 0 && node != KUEUE_NONE; node = q->nodes.v[node].parent) {
        struct quota_cell *c = quota_cell(q, node, fr);
        int64_t room = max64(0, c->local - c->usage);
        c->usage += amount;
        amount -= room;
    }
    count_above(q, leaf, fr, before);
}

void quota_remove(struct quota *q, uint32_t leaf, uint16_t fr, int64_t amount)
{
    if (amount <= 0) return;
    count_state(q, leaf, fr, -amount);
    const struct quota_cell *first = quota_cell(q, leaf, fr);
    bool before = first->usage > first->subtree;
    for (uint32_t node = leaf; amount > 0 && node != KUEUE_NONE; node = q->nodes.v[node].parent) {
        struct quota_cell *c = quota_cell(q, node, fr);
        int64_t in_parent = c->usage - c->local;
        c->usage -= amount;
        amount = min64(amount, in_parent);
    }
    count_above(q, leaf, fr, before);
}

int64_t quota_local_available(const struct quota *q, uint32_t node, uint16_t fr)
{
    const struct quota_cell *c = quota_cell(q, node, fr);
    return max64(0, c->local - c->usage);
}

static int64_t available(const struct quota *q, uint32_t node, uint16_t fr)
{
    const struct quota_cell *c = quota_cell(q, node, fr);
    uint32_t parent = q->nodes.v[node].parent;
    if (parent == KUEUE_NONE) return c->subtree - c->usage;
    int64_t from_parent = available(q, parent, fr);
    if (c->borrowing_limit != KUEUE_UNLIMITED) {
        int64_t stored = c->subtree - c->local, used = max64(0, c->usage - c->local);
        from_parent = min64(from_parent, stored - used + c->borrowing_limit);
    }
    return max64(0, c->local - c->usage) + from_parent;
}

int64_t quota_available(const struct quota *q, uint32_t node, uint16_t fr)
{
    return max64(0, available(q, node, fr));
}

int64_t quota_potential(const struct quota *q, uint32_t node, uint16_t fr)
{
    const struct quota_cell *c = quota_cell(q, node, fr);
    uint32_t parent = q->nodes.v[node].parent;
    if (parent == KUEUE_NONE) return c->subtree;
    int64_t most = c->local + quota_potential(q, parent, fr);
    if (c->borrowing_limit != KUEUE_UNLIMITED) most = min64(most, c->subtree + c->borrowing_limit);
    return most;
}

bool quota_borrows_with(const struct quota *q, uint32_t node, uint16_t fr, int64_t amount)
{
    const struct quota_cell *c = quota_cell(q, node, fr);
    return c->usage + amount > c->subtree; /* a queue's subtree is its nominal quota */
}

bool quota_within(const struct quota *q, uint32_t node, uint32_t n, const struct quota_use *uses)
{
    for (uint32_t i = 0; i < n; i++)
        if (quota_borrows_with(q, node, uses[i].fr, 0)) return false;
    return true;
}

bool quota_fits(const struct quota *q, uint32_t node, uint32_t n, const struct quota_use *uses)
{
    for (uint32_t i = 0; i < n; i++)
        if (uses[i].amount > quota_available(q, node, uses[i].fr)) return false;
    return true;
}

uint16_t quota_height_that_fits(const struct quota *q, uint32_t node, uint16_t fr, int64_t amount, bool *smaller)
{
    *smaller = quota_has_parent(q, node);
    if (!quota_has_parent(q, node) || !quota_borrows_with(q, node, fr, amount)) return 0;
    uint32_t at = node;
    int64_t rest = amount;
    do {
        rest -= quota_local_available(q, at, fr);
        at = q->nodes.v[at].parent;
    } while (quota_has_parent(q, at) && quota_borrows_with(q, at, fr, rest));
    *smaller = quota_has_parent(q, at);
    return q->nodes.v[at].height;
}
