/* change_sort.c - see change_sort.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/change_sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { DIGITS = 256 };

/* Signed moments in the order of unsigned keys. */
static unsigned digit(const struct change *c, unsigned byte)
{
    return ((uint64_t)c->ns ^ (UINT64_C(1) << 63)) >> (8 * byte) & (DIGITS - 1);
}

/* By one byte, from one array into the other; false: all have the same, nothing was moved. */
static bool pass(const struct change *from, struct change *to, size_t n, unsigned byte)
{
    size_t begin[DIGITS] = {0}, at = 0;
    for (size_t i = 0; i < n; i++) begin[digit(&from[i], byte)]++;
    if (begin[digit(&from[0], byte)] == n) return false;
    for (unsigned d = 0; d < DIGITS; d++) {
        size_t count = begin[d];
        begin[d] = at;
        at += count;
    }
    for (size_t i = 0; i < n; i++) to[begin[digit(&from[i], byte)]++] = from[i];
    return true;
}

void change_sort(struct change *v, size_t n)
{
    if (n < 2) return;
    struct change *other = xcalloc(n, sizeof *other), *from = v, *to = other;
    for (unsigned byte = 0; byte < sizeof v->ns; byte++) {
        if (!pass(from, to, n, byte)) continue;
        struct change *swap = from;
        from = to;
        to = swap;
    }
    if (from != v) memcpy(v, from, n * sizeof *v);
    free(other);
}
