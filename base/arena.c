/* arena.c - memory that is freed all at once.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/arena.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define ALIGN         16
#define FIRST_BLOCK   ((size_t)4 << 10)
#define LARGEST_BLOCK ((size_t)1 << 20)

struct arena_block {
    struct arena_block *next;
    size_t size; /* of data */
    _Alignas(ALIGN) unsigned char data[];
};

void arena_init(struct arena *a)
{
    *a = (struct arena){0};
}

static struct arena_block *new_block(size_t size)
{
    struct arena_block *b = xmalloc(sizeof *b + size);
    b->next = NULL;
    b->size = size;
    return b;
}

/* A piece that would waste much of a block: its own block, behind the one that is being filled. */
static void *alloc_large(struct arena *a, size_t bytes)
{
    struct arena_block *b = new_block(bytes);
    if (a->blocks == NULL) {
        a->blocks = b;
        a->used = bytes;
    } else {
        b->next = a->blocks->next;
        a->blocks->next = b;
    }
    return memset(b->data, 0, bytes);
}

static void start_block(struct arena *a)
{
    size_t size = FIRST_BLOCK;
    if (a->blocks != NULL) {
        size = a->blocks->size < LARGEST_BLOCK / 2 ? a->blocks->size * 2 : LARGEST_BLOCK;
        if (size < FIRST_BLOCK) size = FIRST_BLOCK;
    }
    struct arena_block *b = new_block(size);
    b->next = a->blocks;
    a->blocks = b;
    a->used = 0;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX / 2) mem_exhausted(bytes);
    size_t need = bytes ? (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1) : ALIGN;
    a->bytes += need;
    if (a->blocks == NULL || a->blocks->size - a->used < need) {
        if (need > LARGEST_BLOCK / 4) return alloc_large(a, need);
        do start_block(a);
        while (a->blocks->size < need);
    }
    void *p = a->blocks->data + a->used;
    a->used += need;
    return memset(p, 0, need);
}

void *arena_calloc(struct arena *a, size_t n, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(n, bytes, &all)) all = SIZE_MAX;
    return arena_alloc(a, all);
}

char *arena_strdup(struct arena *a, const char *text)
{
    return arena_strndup(a, text, strlen(text));
}

char *arena_strndup(struct arena *a, const char *text, size_t n)
{
    n = strnlen(text, n);
    char *copy = arena_alloc(a, n + 1);
    memcpy(copy, text, n);
    return copy;
}

char *arena_vprintf(struct arena *a, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    assert(n >= 0);
    char *text = arena_alloc(a, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, fmt, again);
    va_end(again);
    return text;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *text = arena_vprintf(a, fmt, args);
    va_end(args);
    return text;
}

void arena_free(struct arena *a)
{
    for (struct arena_block *b = a->blocks, *next; b != NULL; b = next) {
        next = b->next;
        free(b);
    }
    arena_init(a);
}

size_t arena_bytes(const struct arena *a)
{
    return a->bytes;
}
