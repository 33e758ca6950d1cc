/* bitmap.c - see bitmap.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/cluster/bitmap.h"

#include <stdlib.h>

#include "base/mem.h"

static uint32_t words(uint32_t n) { return n / 64 + 1; }

void bitmap_init(struct bitmap *b, uint32_t n)
{
    size_t total = 0;
    *b = (struct bitmap){.n = n};
    do {
        n = words(n);
        b->size[b->levels++] = n;
        total += n;
    } while (n > 1 && b->levels < BITMAP_LEVELS);
    uint64_t *p = xcalloc(total, sizeof *p);
    for (uint32_t l = 0; l < b->levels; l++) {
        b->level[l] = p;
        p += b->size[l];
    }
}

void bitmap_free(struct bitmap *b) { free(b->level[0]); }

void bitmap_set(struct bitmap *b, uint32_t i)
{
    for (uint32_t l = 0; l < b->levels; l++, i /= 64) b->level[l][i / 64] |= UINT64_C(1) << (i % 64);
}

void bitmap_clear(struct bitmap *b, uint32_t i)
{
    for (uint32_t l = 0; l < b->levels; l++, i /= 64) {
        b->level[l][i / 64] &= ~(UINT64_C(1) << (i % 64));
        if (b->level[l][i / 64]) return;
    }
}

/* Climbs until a level has a member at or after i in i's word, then descends to the lowest one. */
uint32_t bitmap_next(const struct bitmap *b, uint32_t i)
{
    uint32_t l = 0;
    if (i >= b->n) return BITMAP_NONE;
    for (;;) {
        uint64_t w = b->level[l][i / 64] >> (i % 64);
        if (w) {
            i += (uint32_t)__builtin_ctzll(w);
            break;
        }
        i = i / 64 + 1;
        if (++l == b->levels || i / 64 >= b->size[l]) return BITMAP_NONE;
    }
    while (l > 0) {
        l--;
        i = i * 64 + (uint32_t)__builtin_ctzll(b->level[l][i]);
    }
    return i;
}
