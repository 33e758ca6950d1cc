/* ranked.c - see ranked.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/queue/ranked.h"

#include <stddef.h>

/* Heap order of the treap: a bijective mix (the finalizer of splitmix64), so that ranks that count up spread well. */
static uint64_t height(const struct ranked_node *n)
{
    uint64_t x = (uint64_t)n->key.rank * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

bool ranked_less(const struct ranked_key *a, const struct ranked_key *b)
{
    if (a->value != b->value) return a->value < b->value;
    if (a->since != b->since) return a->since < b->since;
    return a->rank < b->rank;
}

static void update(struct ranked_node *n)
{
    n->sum = n->amount;
    n->least = n->length;
    for (int side = 0; side < 2; side++) {
        const struct ranked_node *c = side ? n->right : n->left;
        if (!c) continue;
        n->sum += c->sum;
        if (c->least < n->least) n->least = c->least;
    }
}

static void split(struct ranked_node *n, const struct ranked_key *key, struct ranked_node **less, struct ranked_node **rest)
{
    if (!n) {
        *less = *rest = NULL;
    } else if (ranked_less(&n->key, key)) {
        split(n->right, key, &n->right, rest);
        *less = n;
        update(n);
    } else {
        split(n->left, key, less, &n->left);
        *rest = n;
        update(n);
    }
}

static struct ranked_node *merge(struct ranked_node *a, struct ranked_node *b)
{
    if (!a || !b) return a ? a : b;
    if (height(a) > height(b)) {
        a->right = merge(a->right, b);
        update(a);
        return a;
    }
    b->left = merge(a, b->left);
    update(b);
    return b;
}

static struct ranked_node *insert(struct ranked_node *at, struct ranked_node *n)
{
    if (at && height(at) >= height(n)) {
        struct ranked_node **side = ranked_less(&n->key, &at->key) ? &at->left : &at->right;
        *side = insert(*side, n);
        update(at);
        return at;
    }
    split(at, &n->key, &n->left, &n->right);
    update(n);
    return n;
}

static struct ranked_node *removed(struct ranked_node *at, struct ranked_node *n)
{
    if (at == n) return merge(n->left, n->right);
    struct ranked_node **side = ranked_less(&n->key, &at->key) ? &at->left : &at->right;
    *side = removed(*side, n);
    update(at);
    return at;
}

void ranked_insert(struct ranked *r, struct ranked_node *n)
{
    r->root = insert(r->root, n);
    r->n++;
}

void ranked_remove(struct ranked *r, struct ranked_node *n)
{
    r->root = removed(r->root, n);
    r->n--;
}

struct ranked_node *ranked_first(const struct ranked *r)
{
    struct ranked_node *n = r->root;
    while (n && n->left) n = n->left;
    return n;
}

int64_t ranked_before(const struct ranked *r, const struct ranked_key *key)
{
    int64_t sum = 0;
    for (const struct ranked_node *n = r->root; n;) {
        if (ranked_less(&n->key, key)) {
            sum += n->amount + (n->left ? n->left->sum : 0);
            n = n->right;
        } else {
            n = n->left;
        }
    }
    return sum;
}

struct ranked_node *ranked_over(const struct ranked *r, int64_t total)
{
    struct ranked_node *n = r->root;
    if (!n || n->sum <= total) return NULL;
    for (;;) {
        int64_t left = n->left ? n->left->sum : 0;
        if (n->left && left > total) { /* a total below 0: the very first */
            n = n->left;
        } else if (left + n->amount > total) {
            return n;
        } else {
            total -= left + n->amount;
            n = n->right;
        }
    }
}

struct ranked_node *ranked_shorter(const struct ranked *r, int64_t length)
{
    struct ranked_node *n = r->root;
    if (!n || n->least > length) return NULL;
    for (;;) {
        if (n->left && n->left->least <= length) n = n->left;
        else if (n->length <= length) return n;
        else n = n->right;
    }
}

static bool each(struct ranked_node *n, bool (*fn)(struct ranked_node *, void *), void *ctx)
{
    return !n || (each(n->left, fn, ctx) && fn(n, ctx) && each(n->right, fn, ctx));
}

void ranked_each(const struct ranked *r, bool (*fn)(struct ranked_node *, void *), void *ctx) { each(r->root, fn, ctx); }
