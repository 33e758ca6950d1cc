/* memo.c - see memo.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/ui/memo.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct memo {
    struct memo *next;
    const char *name;
    uint64_t key;
    void *piece;
    void (*release)(void *);
};

static void drop(struct memo *m)
{
    if (m->piece && m->release) m->release(m->piece);
    free(m->piece);
    m->piece = NULL;
}

static struct memo *find(struct memo **all, const char *name)
{
    struct memo *m = *all;
    while (m && strcmp(m->name, name) != 0) m = m->next;
    if (m) return m;
    m = xcalloc(1, sizeof *m);
    *m = (struct memo){.next = *all, .name = name};
    return *all = m;
}

void *memo_get(struct memo **all, const char *name, uint64_t key, size_t bytes, void (*release)(void *))
{
    struct memo *m = find(all, name);
    if (m->piece && m->key == key) return m->piece;
    drop(m);
    m->key = key;
    m->release = release;
    return m->piece = xcalloc(1, bytes);
}

void memo_free_all(struct memo **all)
{
    while (*all) {
        struct memo *m = *all;
        *all = m->next;
        drop(m);
        free(m);
    }
}
