/* store.c - which store a place is, and what all of them share.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/worker/store.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static const struct store_ops *const kinds[] = {&store_s3_ops, &store_dir_ops};

struct store *store_open(const char *where, struct diag *d)
{
    const struct store_ops *const *k = kinds;
    while (!str_starts_with(where, (*k)->scheme)) k++;
    void *state = (*k)->open(where, d);
    if (!state) return NULL;
    struct store *s = xcalloc(1, sizeof *s);
    *s = (struct store){.ops = *k, .where = where, .state = state};
    return s;
}

void store_close(struct store *s)
{
    if (!s) return;
    s->ops->close(s->state);
    free(s);
}

bool store_prepare(struct store *s, bool rank_0, struct diag *d)
{
    s->fails = false;
    return s->ops->prepare(s, rank_0, d);
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

bool store_list(struct store *s, step_list *steps, struct diag *d)
{
    s->fails = false;
    bool ok = s->ops->list(s, steps, d);
    array_sort(steps, ascending);
    return ok;
}

bool store_find(struct store *s, int64_t step, struct store_shards *shards, struct diag *d)
{
    s->fails = false;
    return s->ops->find(s, step, shards, d);
}

void store_shards_free(struct store_shards *shards)
{
    array_free(&shards->list);
    arena_free(&shards->arena);
}

char *store_read(struct store *s, const char *name, size_t limit, size_t *bytes, struct diag *d)
{
    s->fails = false;
    return s->ops->read(s, name, limit, bytes, d);
}

bool store_write(struct store *s, const struct store_part *part, const void *data, size_t n, struct diag *d)
{
    s->fails = false;
    return s->ops->write(s, part, data, n, d);
}

bool store_commit(struct store *s, int64_t step, uint64_t token, struct diag *d)
{
    s->fails = false;
    return s->ops->commit(s, step, token, d);
}

void store_abandon(struct store *s, int64_t step, uint64_t token)
{
    s->ops->abandon(s, step, token);
}

bool store_remove(struct store *s, int64_t step, struct diag *d)
{
    s->fails = false;
    return s->ops->remove(s, step, d);
}

bool store_tidy(struct store *s, const struct store_keep *keep, struct diag *d)
{
    s->fails = false;
    return s->ops->tidy(s, keep, d);
}

int64_t store_keep_from(const step_list *steps, const struct store_keep *keep)
{
    size_t n = steps->n, newest = (size_t)keep->newest;
    while (n > 0 && steps->v[n - 1] > keep->step) n--;
    return n > newest ? steps->v[n - newest] : 0;
}

static void warn(struct diag *d, const char *file, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    diag_add(d, DIAG_WARNING, file, 0, NULL, fmt, args);
    va_end(args);
}

void store_warn(struct diag *d, struct diag *left)
{
    if (left->entries.n > 0) {
        const struct diag_entry *e = &left->entries.v[0];
        warn(d, e->file, "what is no longer needed stays: %s", e->text);
        if (e->help) diag_help(d, "%s", e->help);
    }
    diag_free(left);
}

int64_t store_step_of(const char *name, const char **rest)
{
    int64_t step = 0;
    if (!str_starts_with(name, "step-")) return -1;
    for (const char *p = name + 5; p < name + 15; p++) {
        if (*p < '0' || *p > '9') return -1;
        step = step * 10 + (*p - '0');
    }
    *rest = name + 15;
    return step;
}
