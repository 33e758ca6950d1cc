/* run_tree.c - the leaves of a run tree: DIR, DIR/<approach>, DIR/<approach>/<replication>.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "run/parts.h"

enum { MOST_LEVELS = 2 };

struct leaf {
    char *dir;
    uint32_t approach_index, replication;
};

struct walk {
    ARRAY(struct leaf) leaves;
    struct diag diag;
    struct arena arena;
};

/* Only the order is taken from the manifest; what is wrong with it, run_open says. */
static void add_leaf(struct walk *w, const char *dir, const char *manifest)
{
    struct leaf leaf = {.dir = xstrdup(dir)};
    struct run_inside *in = inside_create();
    struct diag quiet = {0};
    size_t n;
    char *text = file_read(manifest, FILE_READ_MAX, &n, &quiet);
    if (text && manifest_parse(in, manifest, text, n, &quiet)) {
        leaf.approach_index = in->run.approach_index;
        leaf.replication = in->run.replication;
    }
    free(text);
    diag_free(&quiet);
    inside_destroy(in);
    array_push(&w->leaves, leaf);
}

static void not_allowed(struct walk *w, const char *path)
{
    diag_error(&w->diag, path, 0, NULL, "may not be read: %s", strerror(EACCES));
    diag_help(&w->diag, "its owner allows it with: chmod -R a+rX %s", path);
}

/* Reading a pipe or a device in its place would wait for ever. */
static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static void walk(struct walk *w, const char *dir, int level)
{
    const char *manifest = path_join(&w->arena, dir, "run.json");
    if (access(dir, X_OK) != 0 && errno == EACCES) {
        not_allowed(w, dir);
        return;
    }
    if (file_exists(manifest)) {
        if (is_file(manifest)) add_leaf(w, dir, manifest);
        else diag_error(&w->diag, manifest, 0, NULL, "is no regular file, as those of a run are");
        return;
    }
    if (level == MOST_LEVELS) return;
    struct dirent **entries;
    int n = scandir(dir, &entries, NULL, alphasort);
    if (n < 0 && errno == EACCES) not_allowed(w, dir);
    else if (n < 0) diag_error(&w->diag, dir, 0, NULL, "%s", strerror(errno));
    for (int i = 0; i < n; i++) {
        const char *below = path_join(&w->arena, dir, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && file_is_dir(below)) walk(w, below, level + 1);
        free(entries[i]);
    }
    if (n >= 0) free(entries);
}

static int by_order(const void *left, const void *right)
{
    const struct leaf *a = left, *b = right;
    if (a->approach_index != b->approach_index) return a->approach_index < b->approach_index ? -1 : 1;
    if (a->replication != b->replication) return a->replication < b->replication ? -1 : 1;
    return strcmp(a->dir, b->dir);
}

static bool walk_all(struct walk *w, const char *dir)
{
    struct stat st;
    if (stat(dir, &st) != 0 && errno == EACCES)
        not_allowed(w, dir);
    else if (stat(dir, &st) != 0)
        diag_error(&w->diag, dir, 0, NULL, "%s", strerror(errno));
    else if (!S_ISDIR(st.st_mode))
        diag_error(&w->diag, dir, 0, NULL, "is a file; give the directory of the run");
    else
        walk(w, dir, 0);
    return diag_errors(&w->diag) == 0;
}

static void walk_free(struct walk *w)
{
    array_free(&w->leaves);
    diag_free(&w->diag);
    arena_free(&w->arena);
}

bool run_tree(const char *dir, struct run_list *list, char **err)
{
    struct walk w = {0};
    *list = (struct run_list){0};
    bool ok = walk_all(&w, dir);
    if (ok && w.leaves.n == 0) {
        diag_error(&w.diag, dir, 0, NULL, "there is no run here: no run.json, nor one or two levels below");
        diag_help(&w.diag, "give the directory that `trainyard run -o` wrote");
        ok = false;
    }
    if (!ok && err) *err = out_diag_text(&w.diag);
    if (w.leaves.n) qsort(w.leaves.v, w.leaves.n, sizeof *w.leaves.v, by_order);
    list->dirs = xcalloc(w.leaves.n, sizeof *list->dirs);
    for (size_t i = 0; i < w.leaves.n; i++) list->dirs[list->n++] = w.leaves.v[i].dir;
    if (!ok) run_list_free(list);
    walk_free(&w);
    return ok;
}

void run_list_free(struct run_list *list)
{
    for (size_t i = 0; i < list->n; i++) free(list->dirs[i]);
    free(list->dirs);
    *list = (struct run_list){0};
}

const char *const run_files[N_RUN_FILES] = {"scenario.json", "scenario.jobs.csv", "timeline.bin",
                                            "jobs.csv",      "ledger.csv",        "run.json"};

static bool is_a_run(struct arena *a, const char *dir)
{
    const char *path = path_join(a, dir, "run.json");
    struct run_inside *in = inside_create();
    struct diag quiet = {0};
    size_t n;
    char *text = is_file(path) ? file_read(path, FILE_READ_MAX, &n, &quiet) : NULL;
    bool ok = text && manifest_parse(in, path, text, n, &quiet);
    free(text);
    diag_free(&quiet);
    inside_destroy(in);
    return ok;
}

bool run_may_write(const char *dir, bool force, char **err)
{
    struct arena a = {0};
    struct str why = {0};
    bool run = is_a_run(&a, dir);
    for (size_t i = 0; i < N_RUN_FILES && !run && !why.n; i++)
        if (file_exists(path_join(&a, dir, run_files[i])))
            str_printf(&why, "%s: holds a %s that is no run's, and which a run would replace; give another directory", dir,
                       run_files[i]);
    if (run && !force) str_printf(&why, "%s: holds a run already; give another directory, or --force to replace it", dir);
    arena_free(&a);
    if (!why.n) return true;
    *err = str_take(&why);
    return false;
}

/* The manifest goes last, so that a half-removed run is still seen as one. */
static bool remove_leaf(struct arena *a, const char *dir, char **err)
{
    if (!run_may_write(dir, true, err)) return false;
    for (size_t i = 0; i < N_RUN_FILES; i++) {
        const char *path = path_join(a, dir, run_files[i]);
        if (unlink(path) == 0 || errno == ENOENT) continue;
        struct str s = {0};
        str_printf(&s, "%s: cannot remove the old file: %s", path, strerror(errno));
        *err = str_take(&s);
        return false;
    }
    return true;
}

/* Removes leaves, and then what has become empty between them and the top. */
static bool remove_all(struct walk *w, const char *top, char **err)
{
    for (size_t i = 0; i < w->leaves.n; i++) {
        const char *dir = w->leaves.v[i].dir;
        if (!remove_leaf(&w->arena, dir, err)) return false;
        while (strlen(dir) > strlen(top) && rmdir(dir) == 0) dir = path_dir(&w->arena, dir);
    }
    return true;
}

static char *refusal(const char *dir, size_t runs)
{
    struct str s = {0};
    str_printf(&s, "%s: holds %zu run%s already; give another directory, or --force to replace %s", dir, runs,
               runs == 1 ? "" : "s", runs == 1 ? "it" : "them");
    return str_take(&s);
}

bool run_prepare(const char *dir, bool force, char **err)
{
    struct walk w = {0};
    char *error = NULL;
    if (!file_exists(dir)) {
        if (!file_make_dirs(dir, &w.diag)) error = out_diag_text(&w.diag);
    } else if (!walk_all(&w, dir))
        error = out_diag_text(&w.diag);
    else if (w.leaves.n && !force)
        error = refusal(dir, w.leaves.n);
    else
        remove_all(&w, dir, &error);
    for (size_t i = 0; i < w.leaves.n; i++) free(w.leaves.v[i].dir);
    walk_free(&w);
    if (error && err)
        *err = error;
    else
        free(error);
    return error == NULL;
}
