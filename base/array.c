/* array.c - growable arrays.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void *array_grown(void *v, size_t want, size_t *cap, size_t bytes)
{
    if (want <= *cap) return v;
    size_t room = *cap ? *cap : 8;
    while (room < want) room = room > want / 2 ? want : room * 2;
    if (*cap && room < *cap * 2) room = *cap * 2; /* never less than doubling, so that pushing stays amortised O(1) */
    v = xreallocarray(v, room, bytes);
    *cap = room;
    return v;
}

void array_zero(void *element, size_t bytes)
{
    memset(element, 0, bytes);
}

void array_release(void *v)
{
    free(v);
}
