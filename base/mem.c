/* mem.c - allocation that cannot fail.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mem_exhausted(size_t bytes)
{
    fprintf(stderr, "trainyard: out of memory (%zu bytes)\n", bytes);
    abort();
}

static void *checked(void *p, size_t bytes)
{
    if (p == NULL) mem_exhausted(bytes);
    return p;
}

void *xmalloc(size_t bytes)
{
    return checked(malloc(bytes ? bytes : 1), bytes);
}

void *xcalloc(size_t n, size_t bytes)
{
    if (n == 0 || bytes == 0) n = bytes = 1;
    void *p = calloc(n, bytes);
    return checked(p, bytes > SIZE_MAX / n ? SIZE_MAX : n * bytes);
}

void *xrealloc(void *old, size_t bytes)
{
    return checked(realloc(old, bytes ? bytes : 1), bytes);
}

void *xreallocarray(void *old, size_t n, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(n, bytes, &all)) mem_exhausted(SIZE_MAX);
    return xrealloc(old, all);
}

char *xstrdup(const char *text)
{
    return xstrndup(text, strlen(text));
}

char *xstrndup(const char *text, size_t n)
{
    n = strnlen(text, n);
    char *copy = xmalloc(n + 1);
    memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}
