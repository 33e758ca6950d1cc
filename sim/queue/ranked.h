/* ranked.h - an ordered set with sums: who stands before a key, and how much do they hold together.
 *
 * A treap of nodes that live in their owners; its shape comes from a fixed mix of the key's last word, so equal contents
 * cost the same in every run. Keys are compared word by word and must be unique.
 *
 *     struct ranked set = {0};
 *     e->node.key = (struct ranked_key){ .value = end_ns, .rank = index };
 *     e->node.amount = shares;
 *     ranked_insert(&set, &e->node);
 *     int64_t before = ranked_before(&set, &key);           // sum of the amounts of smaller keys
 *     struct ranked_node *n = ranked_over(&set, total);     // the first that no longer fits into `total`
 *
 * Cost: O(log n) expected for each call but ranked_first on an empty set. Memory: 80 bytes a node, owned by the caller.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_QUEUE_RANKED_H
#define TRAINYARD_SIM_QUEUE_RANKED_H

#include <stdbool.h>
#include <stdint.h>

struct ranked_key { int64_t value, since, rank; };

struct ranked_node {
    struct ranked_key key;
    struct ranked_node *left, *right;
    int64_t amount;  /* of this node; >= 0 */
    int64_t sum;     /* of its subtree */
    int64_t length;  /* what ranked_shorter asks for */
    int64_t least;   /* smallest length of its subtree */
};

struct ranked { struct ranked_node *root; uint64_t n; };

bool ranked_less(const struct ranked_key *, const struct ranked_key *);
void ranked_insert(struct ranked *, struct ranked_node *);
void ranked_remove(struct ranked *, struct ranked_node *);
struct ranked_node *ranked_first(const struct ranked *); /* NULL when empty */
/* Sum of amounts of the nodes with a smaller key. */
int64_t ranked_before(const struct ranked *, const struct ranked_key *);
/* The first node at which the running sum of amounts exceeds `total`, or NULL. */
struct ranked_node *ranked_over(const struct ranked *, int64_t total);
/* The first node of at most this length, or NULL. */
struct ranked_node *ranked_shorter(const struct ranked *, int64_t length);
/* Calls fn in order until it says false. */
void ranked_each(const struct ranked *, bool (*fn)(struct ranked_node *, void *ctx), void *ctx);

#endif
