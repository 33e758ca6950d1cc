/* comparison_between.c - the comparison of two runs: the one that lies above them, else one that is made.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "viz/model/comparison.h"

enum { LEVELS_ABOVE = 2 }; /* DIR/<approach>/<replication> */

/* ---- compare.json ---- */

static bool is_below(const char *dir, const char *top)
{
    size_t n = strlen(top);
    return strncmp(dir, top, n) == 0 && (dir[n] == '/' || !dir[n]);
}

/* The name in the file of the approach that this run is of, NULL: none. */
static const char *name_of_run(struct json_doc *doc, const struct run *run)
{
    const cJSON *a;
    cJSON_ArrayForEach(a, json_member(doc->root, "approaches"))
    {
        const cJSON *approach = json_member(a, "approach"), *hash = json_member(a, "scenario_hash"), *name = json_member(a, "name");
        const char *seed = json_number_text(doc, json_member(a, "seed"));
        if (!cJSON_IsString(approach) || !cJSON_IsString(hash) || !cJSON_IsString(name) || !seed) continue;
        if (str_equal(approach->valuestring, run->approach) && str_equal(hash->valuestring, run->scenario_hash) &&
            strtoull(seed, NULL, 10) == run->seed)
            return name->valuestring;
    }
    return NULL;
}

static struct comparison *read_file(const char *path, const struct run *base, const struct run *other)
{
    struct diag d = {0};
    size_t n;
    char *text = file_exists(path) ? file_read(path, FILE_READ_MAX, &n, &d) : NULL, *err = NULL;
    struct json_doc *doc = text ? json_parse(path, text, n, &d) : NULL;
    const char *a = doc ? name_of_run(doc, base) : NULL, *b = doc ? name_of_run(doc, other) : NULL;
    struct comparison *c = a && b ? comparison_parse(path, text, n, a, b, &err) : NULL;
    if (c) c->source = arena_strdup(&c->arena, path);
    if (doc) json_free(doc);
    free(text);
    free(err);
    diag_free(&d);
    return c;
}

static struct comparison *find_file(const struct run *base, const struct run *other)
{
    char *a = realpath(base->dir, NULL), *b = realpath(other->dir, NULL);
    struct comparison *c = NULL;
    for (int level = 0; a && b && !c && level < LEVELS_ABOVE; level++) {
        char *slash = strrchr(a, '/');
        if (!slash || slash == a) break;
        *slash = '\0';
        struct str path = {0};
        str_printf(&path, "%s/compare.json", a);
        if (is_below(b, a)) c = read_file(str_text(&path), base, other);
        str_free(&path);
    }
    free(a);
    free(b);
    return c;
}

/* ---- a new one ---- */

static bool is_number(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0';
}

/* The run and the replications beside it; the run alone where its folder is not named by a number. */
static void source_of(struct arena *arena, const struct run *run, struct approach_source *s)
{
    struct run_list leaves = {0};
    char *dir = realpath(run->dir, NULL), *err = NULL;
    const char *here = arena_strdup(arena, dir ? dir : run->dir);
    s->dirs = arena_alloc(arena, sizeof *s->dirs);
    s->dirs[s->n++] = arena_strdup(arena, run->dir);
    if (is_number(path_base(here)) && run_tree(path_dir(arena, here), &leaves, &err)) {
        s->dirs = arena_calloc(arena, leaves.n + 1, sizeof *s->dirs);
        s->n = 0;
        for (size_t i = 0; i < leaves.n; i++)
            if (is_number(path_base(leaves.dirs[i]))) s->dirs[s->n++] = arena_strdup(arena, leaves.dirs[i]);
        run_list_free(&leaves);
    }
    free(dir);
    free(err);
}

static struct comparison *make(const struct run *base, const struct run *other, char **err)
{
    const struct run *runs[2] = {base, other};
    struct approach_source sources[2] = {{0}};
    struct comparison *made = NULL;
    struct arena arena = {0};
    struct compare c;
    bool same_name = str_equal(base->approach, other->approach);
    for (int i = 0; i < 2; i++) {
        sources[i].name = same_name ? runs[i]->dir : runs[i]->approach;
        source_of(&arena, runs[i], &sources[i]);
    }
    if (compare_runs(sources, 2, &c, err)) {
        made = comparison_of(&c, &c.pairs[0], err);
        if (made) made->source = arena_printf(&made->arena, "%s beside %s and %s", made->replications == 1 ? "the runs" : "all replications", base->dir, other->dir);
        compare_free(&c);
    }
    arena_free(&arena);
    return made;
}

struct comparison *comparison_between(const struct run *base, const struct run *other, char **err)
{
    struct comparison *c = find_file(base, other);
    *err = NULL;
    return c ? c : make(base, other, err);
}
