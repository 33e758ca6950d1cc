/* open.c - RUN directories to scenes: one or two leaves, or a tree whose first two approaches become A and B.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

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

/* Of one tree: the first `most` approaches that have the replication. */
static void add_tree(struct app_runs *r, const struct app_options *o, const char *dir, unsigned most)
{
    struct run_list list;
    struct arena a = {0};
    char *err = NULL;
    const char *last = NULL;
    unsigned added = 0;
    if (!run_tree(dir, &list, &err)) {
        fail(r, file_exists(dir) || file_is_dir(dir) ? EXIT_INPUT : EXIT_IO, err);
        return;
    }
    for (size_t i = 0; i < list.n && added < most && !r->error; i++) {
        struct leaf l;
        leaf_read(&a, list.dirs[i], &l);
        if (list.n > 1 && (l.replication != o->replication || (last && strcmp(last, l.approach) == 0))) continue;
        last = l.approach;
        add(r, l.dir);
        added++;
    }
    if (added == 0 && !r->error) {
        struct str s = {0};
        str_printf(&s, "%s: it holds %zu runs, but none of replication %lld; give another --replication", dir, list.n, (long long)o->replication);
        fail(r, EXIT_INPUT, str_take(&s));
    }
    arena_free(&a);
    run_list_free(&list);
}

void app_open(const struct app_options *o, struct app_runs *r)
{
    *r = (struct app_runs){0};
    for (unsigned i = 0; i < o->n_runs && !r->error; i++) add_tree(r, o, o->runs[i], o->n_runs == 1 ? UI_MAX_RUNS : 1);
}

void app_close(struct app_runs *r)
{
    for (unsigned i = 0; i < r->n; i++) scene_close(r->scenes[i]);
    free(r->error);
}
