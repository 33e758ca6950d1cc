/* arena.h - memory that is freed all at once.
 *
 * A bump arena: allocation moves a pointer inside a block; there is no free of a single piece. It owns everything that
 * lives as long as its owner (a scenario, a simulation, a document), so that nobody has to walk structures to free
 * them.
 *
 *     struct arena a;
 *     arena_init(&a);                                   // or: struct arena a = {0};
 *     struct job *j = arena_alloc(&a, sizeof *j);       // 16-byte aligned, zeroed, never NULL
 *     j->name = arena_printf(&a, "job-%d", 7);
 *     arena_free(&a);                                   // everything is gone; the arena is empty and usable again
 *
 * Invariants: pieces never move; a piece larger than a quarter block gets a block of its own.
 * Cost: O(1) an allocation; blocks start at 4 KiB and double up to 1 MiB. Aborts when memory is out.
 * An arena belongs to one thread at a time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_BASE_ARENA_H
#define TRAINYARD_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *blocks; /* newest first; the first is the one that is filled */
    size_t used;                /* bytes used in the first block */
    size_t bytes;               /* bytes handed out, alignment included */
};

void arena_init(struct arena *a);

/* 16-byte aligned, zeroed. A size of 0 gives a unique pointer. */
void *arena_alloc(struct arena *a, size_t bytes) __attribute__((malloc));

/* n pieces of `bytes` each; aborts when the product overflows. */
void *arena_calloc(struct arena *a, size_t n, size_t bytes) __attribute__((malloc));

#define arena_new(a, type)      ((type *)arena_alloc((a), sizeof(type)))
#define arena_array(a, n, type) ((type *)arena_calloc((a), (n), sizeof(type)))

char *arena_strdup(struct arena *a, const char *text);
char *arena_strndup(struct arena *a, const char *text, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *a, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));

/* Frees everything; the arena is empty and usable afterwards. */
void arena_free(struct arena *a);

/* Bytes handed out so far, alignment included (not the size of the blocks). */
size_t arena_bytes(const struct arena *a);

#endif
