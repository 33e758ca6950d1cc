/* sources.c - see sources.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/sources.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "run/run.h"

/* Only the name is taken here; run_open says what is wrong with a manifest. */
static const char *approach_of(struct sources *s, const char *dir)
{
    struct diag quiet = {0};
    const char *name = "", *found = NULL;
    char *path = arena_printf(&s->arena, "%s/run.json", dir);
    struct json_doc *doc = json_load(path, &quiet);
    if (doc && json_get_string(doc, doc->root, "approach", &found)) name = arena_strdup(&s->arena, found);
    if (doc) json_free(doc);
    diag_free(&quiet);
    return name;
}

static struct approach_source *source_named(struct sources *s, size_t from, const char *name)
{
    for (size_t i = from; i < s->list.n; i++)
        if (!strcmp(s->list.v[i].name, name)) return &s->list.v[i];
    array_push(&s->list, (struct approach_source){.name = name});
    return &array_last(&s->list);
}

static void add_dir(struct sources *s, struct approach_source *to, const char *dir)
{
    char **dirs = arena_calloc(&s->arena, to->n + 1, sizeof *dirs);
    if (to->n) memcpy(dirs, to->dirs, to->n * sizeof *dirs);
    dirs[to->n++] = arena_strdup(&s->arena, dir);
    to->dirs = dirs;
}

/* A name that is there already: its directory tells it apart, with the approach when there are several in it. */
static void tell_apart(struct sources *s, size_t from, const char *dir)
{
    for (size_t i = from; i < s->list.n; i++)
        for (size_t k = 0; k < from; k++) {
            if (strcmp(s->list.v[k].name, s->list.v[i].name)) continue;
            s->list.v[i].name = s->list.n == from + 1 ? arena_strdup(&s->arena, dir)
                                                      : arena_printf(&s->arena, "%s:%s", dir, s->list.v[i].name);
            break;
        }
}

static bool add_leaves(struct sources *s, const char *dir, char **err)
{
    struct run_list leaves;
    size_t from = s->list.n;
    if (!run_tree(dir, &leaves, err)) return false;
    for (size_t i = 0; i < leaves.n; i++)
        add_dir(s, source_named(s, from, approach_of(s, leaves.dirs[i])), leaves.dirs[i]);
    run_list_free(&leaves);
    tell_apart(s, from, dir);
    return true;
}

bool sources_add_tree(struct sources *s, const char *dir, char **err)
{
    return add_leaves(s, dir, err);
}

static char *names_of(const struct sources *s, size_t from)
{
    struct str text = {0};
    for (size_t i = from; i < s->list.n; i++) str_printf(&text, "%s%s", i > from ? ", " : "", s->list.v[i].name);
    return str_take(&text);
}

bool sources_add_run(struct sources *s, const char *dir, char **err)
{
    size_t from = s->list.n;
    if (!add_leaves(s, dir, err)) return false;
    if (s->list.n != from + 1) {
        char *names = names_of(s, from);
        struct str text = {0};
        str_printf(&text, "%s holds several approaches (%s): give the directory of one", dir, names);
        *err = str_take(&text);
        free(names);
        return false;
    }
    return true;
}

static bool find(const struct sources *s, const char *name, size_t *at, char **err)
{
    for (*at = 0; *at < s->list.n; ++*at)
        if (!strcmp(s->list.v[*at].name, name)) return true;
    char *names = names_of(s, 0);
    struct str text = {0};
    str_printf(&text, "no approach \"%s\" here; there is: %s", name, names);
    *err = str_take(&text);
    free(names);
    return false;
}

bool sources_keep(struct sources *s, const char *const *names, size_t n, char **err)
{
    struct approach_source *kept = xcalloc(n + 1, sizeof *kept);
    size_t at;
    for (size_t i = 0; i < n; i++) {
        if (!find(s, names[i], &at, err)) {
            free(kept);
            return false;
        }
        kept[i] = s->list.v[at];
    }
    array_clear(&s->list);
    for (size_t i = 0; i < n; i++) array_push(&s->list, kept[i]);
    free(kept);
    return true;
}

bool sources_base(struct sources *s, const char *name, char **err)
{
    size_t at;
    if (!find(s, name, &at, err)) return false;
    struct approach_source base = s->list.v[at];
    memmove(s->list.v + 1, s->list.v, at * sizeof *s->list.v);
    s->list.v[0] = base;
    return true;
}

void sources_free(struct sources *s)
{
    array_free(&s->list);
    arena_free(&s->arena);
}
