/* profiles.c - finds and reads profiles: named figures with their source.
 *
 * Looked for in this order: $TRAINYARD_DATA, ../scenarios beside the program's folder, PREFIX/share/trainyard,
 * ./scenarios, ../share/trainyard beside the program's folder (another prefix); in each in profiles/FOLDER/NAME.json.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "input/profiles.h"
#include "input/raw.h"

#ifndef TRAINYARD_PREFIX
#define TRAINYARD_PREFIX "/usr/local"
#endif

enum { N_PLACES = 5 };

static void data_places(struct arena *arena, const char *places[N_PLACES])
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    places[0] = getenv("TRAINYARD_DATA");
    places[1] = places[4] = NULL;
    if (n > 0) {
        self[n] = '\0';
        places[1] = path_join(arena, path_dir(arena, self), "../scenarios");
        places[4] = path_join(arena, path_dir(arena, self), "../share/trainyard");
    }
    places[2] = TRAINYARD_PREFIX "/share/trainyard";
    places[3] = "scenarios";
}

char *profile_path(struct arena *arena, const char *folder, const char *name)
{
    const char *places[N_PLACES];
    data_places(arena, places);
    for (int i = 0; i < N_PLACES; i++) {
        if (!places[i]) continue;
        char *path = arena_printf(arena, "%s/profiles/%s/%s.json", places[i], folder, name);
        if (file_exists(path)) return path;
    }
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_names(struct arena *arena, const char *dir, struct profile_names *out)
{
    DIR *d = opendir(dir);
    if (!d) return;
    for (struct dirent *e; (e = readdir(d)) != NULL && out->n < PROFILE_NAMES_MAX;) {
        size_t n = strlen(e->d_name);
        if (n <= 5 || strcmp(e->d_name + n - 5, ".json") != 0) continue;
        char *name = arena_strndup(arena, e->d_name, n - 5);
        bool known = false;
        for (size_t i = 0; i < out->n; i++) known |= strcmp(out->v[i], name) == 0;
        if (!known) out->v[out->n++] = name;
    }
    closedir(d);
}

void profile_list(struct arena *arena, const char *folder, struct profile_names *out)
{
    const char *places[N_PLACES];
    data_places(arena, places);
    out->n = 0;
    for (int i = 0; i < N_PLACES; i++)
        if (places[i]) add_names(arena, arena_printf(arena, "%s/profiles/%s", places[i], folder), out);
    array_sort(out, by_name);
}

/* Nothing is installed where this program looks, or it was moved away from it. */
static void help_where(struct build *b)
{
    const char *places[N_PLACES];
    struct str s = {0};
    data_places(b->arena, places);
    for (int i = 0; i < N_PLACES; i++)
        if (places[i]) str_printf(&s, "%s%s", s.n ? ", " : "", places[i]);
    diag_help(b->diag, "no profiles are installed in %s; set TRAINYARD_DATA to the folder that has profiles/", str_text(&s));
    str_free(&s);
}

static void no_such_profile(struct build *b, const char *folder, const char *name, const struct value *at, bool is_file)
{
    struct profile_names names, others;
    profile_list(b->arena, folder, &names);
    profile_list(b->arena, "hardware", &others);
    value_error(b->diag, at, "there is no %s profile \"%s\"", folder, name);
    if (is_file) diag_help(b->diag, "no such file; a name that ends in .json or has a slash is one");
    else if (names.n) diag_help_allowed(b->diag, name, names.v, names.n);
    else if (others.n) diag_help(b->diag, "none is shipped; give a file, such as mine.json");
    else help_where(b);
}

const struct value *profile_load(struct build *b, const char *folder, const char *name, const struct value *at)
{
    bool is_file = strchr(name, '/') || str_ends_with(name, ".json");
    char *path = is_file ? path_join(b->arena, b->dir, name) : profile_path(b->arena, folder, name);
    if (!path || !file_exists(path)) {
        no_such_profile(b, folder, name, at, is_file);
        return NULL;
    }
    struct json_doc *doc = json_load(path, b->diag);
    if (!doc) return NULL;
    struct value *v = value_from_json(b->arena, doc);
    json_free(doc);
    return v;
}
