/* mem.h - allocation that cannot fail.
 *
 * Each call is the C library's, but prints "out of memory (N bytes)" on stderr and aborts instead of returning NULL:
 * a simulator that has lost memory has no sensible way on. A size of 0 gives a pointer that can be freed.
 * What these return is freed with free().
 *
 *     int *v = xcalloc(n, sizeof *v);
 *     free(v);
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_BASE_MEM_H
#define TRAINYARD_BASE_MEM_H

#include <stddef.h>

void *xmalloc(size_t bytes) __attribute__((malloc, warn_unused_result));

/* Zeroed; aborts also when n * bytes overflows. */
void *xcalloc(size_t n, size_t bytes) __attribute__((malloc, warn_unused_result));

void *xrealloc(void *old, size_t bytes) __attribute__((warn_unused_result));

/* realloc to n * bytes, overflow checked. */
void *xreallocarray(void *old, size_t n, size_t bytes) __attribute__((warn_unused_result));

/* Prints the message and aborts; for callers whose size overflowed. */
void mem_exhausted(size_t bytes) __attribute__((noreturn));

char *xstrdup(const char *text) __attribute__((malloc, warn_unused_result));
char *xstrndup(const char *text, size_t n) __attribute__((malloc, warn_unused_result));

#endif
