/* export.c - see export.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/ui/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "study/export_csv.h"
#include "viz/draw/picture_file.h"
#include "viz/model/chrome_trace.h"
#include "viz/ui/private.h"

const char *export_ending_wrong(const char *path)
{
    if (str_ends_with(path, ".json") || str_ends_with(path, ".csv")) return NULL;
    return "the name must end in .json (Chrome trace) or .csv (timeline; NAME.jobs.csv, NAME.nodes.csv, NAME.series.csv)";
}

static void range_of(const struct ui *u, int64_t *from, int64_t *to)
{
    bool marked = u->mark_from_ns >= 0;
    *from = marked ? u->mark_from_ns : u->from_ns;
    *to = marked ? u->mark_to_ns : u->to_ns;
}

/* The runs that are shown: in the grid all, else A, B or both. */
static unsigned shown_runs(struct ui *u, const struct ui_run **runs)
{
    unsigned n = 0;
    for (unsigned i = 0; i < ui_n_runs(u) && grid_shown(u); i++) runs[n++] = runs_at(u, i);
    for (unsigned i = 0; i < u->n_runs && !grid_shown(u); i++)
        if (u->n_runs == 1 || u->show == UI_BOTH || i == (u->show == UI_ONLY_B)) runs[n++] = &u->runs[i];
    return n;
}

static bool trace(struct ui *u, struct str *out, char **err)
{
    struct chrome_trace_source from[UI_ALL_RUNS];
    const struct ui_run *runs[UI_ALL_RUNS];
    unsigned n = shown_runs(u, runs);
    int64_t from_ns, to_ns;
    range_of(u, &from_ns, &to_ns);
    for (unsigned i = 0; i < n; i++) from[i] = (struct chrome_trace_source){runs[i]->scene, runs[i]->curves, n > 1 ? runs[i]->scene->title : ""};
    return chrome_trace(from, n, from_ns, to_ns, out, err);
}

static const char *table_of(const char *path)
{
    for (size_t i = 0; i < n_export_tables; i++) {
        struct str end = {0};
        str_printf(&end, ".%s.csv", export_tables[i]);
        bool found = str_ends_with(path, str_text(&end));
        str_free(&end);
        if (found) return export_tables[i];
    }
    return "timeline";
}

static bool table(struct ui *u, const char *path, struct str *out, char **err)
{
    const struct ui_run *runs[UI_ALL_RUNS];
    unsigned n = shown_runs(u, runs);
    char *dirs[UI_ALL_RUNS], *bytes = NULL;
    size_t size = 0;
    struct export_range range;
    range_of(u, &range.from_ns, &range.to_ns);
    for (unsigned i = 0; i < n; i++) dirs[i] = xstrdup(runs[i]->scene->run->dir);
    FILE *to = open_memstream(&bytes, &size);
    bool ok = to && export_table(table_of(path), dirs, n, &range, to, NULL, err);
    if (to && fclose(to) != 0) ok = false;
    if (ok) str_append_n(out, bytes, size);
    if (!ok && !*err) *err = xstrdup(strerror(errno));
    for (unsigned i = 0; i < n; i++) free(dirs[i]);
    free(bytes);
    return ok;
}

bool ui_export_write(struct ui *u, const char *path, char **err)
{
    struct str out = {0}, s = {0};
    const char *wrong = u->n_runs ? export_ending_wrong(path) : "there is no run to export";
    char *why = NULL;
    bool ok = !wrong && (str_ends_with(path, ".json") ? trace(u, &out, &why) : table(u, path, &out, &why));
    if (!ok) {
        str_printf(&s, "%s: %s", path, wrong ? wrong : why);
        *err = str_take(&s);
    }
    ok = ok && picture_write(path, &out, err);
    free(why);
    str_free(&out);
    return ok;
}
