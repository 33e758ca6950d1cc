/* bitmap.h - a set of small integers with "next member at or after i" in O(levels).
 *
 * Words of 64 bits with summary levels above them: bit i of a level says that word i of the level below is not empty.
 * Three levels hold 262,144 members. Set and clear O(levels), next O(levels), empty O(1).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_CLUSTER_BITMAP_H
#define TRAINYARD_SIM_CLUSTER_BITMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BITMAP_LEVELS = 5 }; /* 2^30 members */
#define BITMAP_NONE UINT32_MAX

struct bitmap {
    uint64_t *level[BITMAP_LEVELS]; /* level 0: the members; one allocation, owned by level[0] */
    uint32_t size[BITMAP_LEVELS];   /* words of each level */
    uint32_t n, levels;
};

void bitmap_init(struct bitmap *, uint32_t n);
void bitmap_free(struct bitmap *);
void bitmap_set(struct bitmap *, uint32_t i);
void bitmap_clear(struct bitmap *, uint32_t i);
/* The smallest member >= i, or BITMAP_NONE. */
uint32_t bitmap_next(const struct bitmap *, uint32_t i);

static inline bool bitmap_has(const struct bitmap *b, uint32_t i) { return b->level[0][i / 64] >> (i % 64) & 1; }

#endif
