/* open.c - RUN directories to scenes: leaves, or trees of which one replication of each approach is taken, or all.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "viz/app/app.h"

struct leaf {
    const char *dir;
    int64_t replication;
    const char *approach;
};

static void fail(struct app_runs *r, int code, char *error)
{
    for (unsigned i = 0; i < r->n; i++) scene_close(r->scenes[i]);
    r->n = 0;
    r->code = code;
    free(r->error);
    r->error = error;
    size_t n = strlen(error);
    while (n > 0 && error[n - 1] == '\n') error[--n] = 0;
}

/* Approach and replication as the manifest has them; what is wrong with it, scene_open says. */
static void leaf_read(struct arena *a, const char *dir, struct leaf *l)
{
    struct diag quiet = {0};
    *l = (struct leaf){dir, 0, ""};
    struct json_doc *doc = json_load(path_join(a, dir, "run.json"), &quiet);
    if (doc) {
        const char *approach = "";
        json_get_int64(doc, doc->root, "replication", 0, UINT32_MAX, &l->replication);
        json_get_string(doc, doc->root, "approach", &approach);
        l->approach = arena_strdup(a, approach);
        json_free(doc);
    }
    diag_free(&quiet);
}

static void add(struct app_runs *r, const char *dir)
{
    char *err = NULL;
    struct scene *s = scene_open(dir, &err);
    if (s)
        r->scenes[r->n++] = s;
    else
        fail(r, EXIT_INPUT, err);
}

/* What of a tree is asked for, in its order: by approach, then replication. */
struct chosen {
    ARRAY(struct leaf) v;
    unsigned approaches;
    struct arena arena;
};

static void choose(struct chosen *c, const struct app_options *o, const struct run_list *list)
{
    const char *last = NULL;
    bool first_only = o->n_runs > 1 && !o->all; /* of several trees */
    for (size_t i = 0; i < list->n; i++) {
        struct leaf l;
        leaf_read(&c->arena, list->dirs[i], &l);
        bool same = last && strcmp(last, l.approach) == 0, asked = o->all || list->n == 1 || (l.replication == o->replication && !same);
        if (!asked || (first_only && c->v.n)) continue;
        c->approaches += !same;
        last = l.approach;
        array_push(&c->v, l);
    }
}

/* The same number of each approach where not all can be shown. */
static void add_chosen(struct app_runs *r, const struct chosen *c, unsigned room)
{
    unsigned each = c->v.n <= room ? UINT_MAX : room / c->approaches, of_this = 0, added = 0;
    if (each == 0) each = 1;
    for (size_t i = 0; i < c->v.n && added < room && !r->error; i++) {
        of_this = i && strcmp(c->v.v[i].approach, c->v.v[i - 1].approach) == 0 ? of_this + 1 : 0;
        if (of_this >= each) continue;
        add(r, c->v.v[i].dir);
        added++;
    }
    if (added == c->v.n || r->error) return;
    struct str s = {0};
    str_printf(&s, "%u of %zu runs are shown, %u of each approach%s; name the others, or give --replication N", added, c->v.n, each,
               c->approaches > room ? ", the first ones" : "");
    free(r->left_out);
    r->left_out = str_take(&s);
}

/* Nothing is there, or a directory without a run.json in which nothing hinders the search for a run. */
static bool may_come(const char *dir)
{
    struct str manifest = {0};
    str_printf(&manifest, "%s/run.json", dir);
    bool wrong = file_exists(str_text(&manifest));
    str_free(&manifest);
    if (access(dir, F_OK) != 0) return errno == ENOENT;
    return !wrong && file_is_dir(dir) && access(dir, R_OK | X_OK) == 0;
}

static void add_tree(struct app_runs *r, const struct app_options *o, const char *dir, unsigned room)
{
    struct run_list list;
    struct chosen c = {0};
    char *err = NULL;
    if (!run_tree(dir, &list, &err)) {
        fail(r, file_exists(dir) || file_is_dir(dir) ? EXIT_INPUT : EXIT_IO, err);
        r->missing = may_come(dir) ? dir : NULL;
        return;
    }
    choose(&c, o, &list);
    add_chosen(r, &c, room);
    if (c.v.n == 0 && !r->error) {
        struct str s = {0};
        str_printf(&s, "%s: it holds %zu runs, but none of replication %lld; give another --replication", dir, list.n, (long long)o->replication);
        fail(r, EXIT_INPUT, str_take(&s));
    }
    array_free(&c.v);
    arena_free(&c.arena);
    run_list_free(&list);
}

void app_open(const struct app_options *o, struct app_runs *r)
{
    *r = (struct app_runs){0};
    for (unsigned i = 0; i < o->n_runs && !r->error; i++) add_tree(r, o, o->runs[i], (UI_ALL_RUNS - r->n) / (o->n_runs - i));
}

void app_close(struct app_runs *r)
{
    for (unsigned i = 0; i < r->n; i++) scene_close(r->scenes[i]);
    free(r->error);
    free(r->left_out);
}
