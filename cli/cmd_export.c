/* cmd_export.c - trainyard export: runs in the formats of other programs, scenarios as Kubernetes objects.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "cli/command.h"
#include "cli/export_manifests.h"
#include "cli/export_perfetto.h"
#include "run/run.h"
#include "study/export_csv.h"
#include "viz/ui/time_axis.h"

struct options {
    const char *run, *to, *out, *table, *approach, *image; /* run: or the scenario */
    struct export_range range;                             /* to_ns 0: all of it */
};

static const struct argp_option options[] = {
    {"to",           't', "FORMAT", 0, "Format: csv, perfetto (of runs), manifests (of a scenario)", 0},
    {"output",      'o', "DIR|-", 0, "Write the files into DIR (of perfetto: this file); - prints on stdout: one table (see --table), the trace, or all objects as one stream", 0},
    {"table", 'T', "NAME", 0, "Of csv: this table only: jobs, ledger, timeline, nodes or series (default: all; with -: jobs)",
     0},
    {"range", 'r', "FROM:TO", 0, "Of csv and perfetto: this range of time, such as 0:6h or 2d 03:15..2d 06:00", 0},
    {"approach", 'a', "NAME", 0, "Of manifests: under this approach (default: the first)", 0},
    {"image", 'i', "NAME", 0, "Of manifests: image of the containers that no manifest of the scenario gives", 0},
    {0             },
};

static void check_table(const char *name, struct argp_state *state)
{
    for (size_t i = 0; i < n_export_tables; i++)
        if (!strcmp(name, export_tables[i])) return;
    argp_error(state, "--table takes jobs, ledger, timeline, nodes or series, not \"%s\"", name);
}

static void check(const struct options *o, struct argp_state *state)
{
    if (!o->run) argp_error(state, "RUN is missing (of manifests: SCENARIO)");
    if (!o->to) argp_error(state, "--to FORMAT is missing; there are: csv, perfetto, manifests");
    if (!o->out) argp_error(state, "-o DIR is missing (- is stdout)");
    bool manifests = !strcmp(o->to, "manifests");
    if (o->table && strcmp(o->to, "csv")) argp_error(state, "--table goes with --to csv");
    if (o->range.to_ns && manifests) argp_error(state, "--range goes with --to csv and --to perfetto");
    if (o->range.to_ns && o->table && !export_table_has_range(o->table)) argp_error(state, "--table %s has sums over the whole run, and none of a --range", o->table);
    if ((o->approach || o->image) && !manifests) argp_error(state, "--approach and --image go with --to manifests");
}

static void parse_range(struct options *o, const char *arg, struct argp_state *state)
{
    const char *wrong = time_parse_range(arg, &o->range.from_ns, &o->range.to_ns);
    if (wrong) argp_error(state, "--range %s: %s", arg, wrong);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 't': o->to = arg; return 0;
    case 'o': o->out = command_text(arg, "--output", state); return 0;
    case 'T':
        check_table(arg, state);
        o->table = arg;
        return 0;
    case 'r': parse_range(o, arg, state); return 0;
    case 'a': o->approach = command_text(arg, "--approach", state); return 0;
    case 'i': o->image = command_text(arg, "--image", state); return 0;
    case ARGP_KEY_ARG:
        if (o->run) argp_error(state, "one RUN or SCENARIO only");
        o->run = arg;
        return 0;
    case ARGP_KEY_END: check(o, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp argp_export = {
    options,
    parse,
    "RUN|SCENARIO",
    "Write a run, or all runs below a directory, in another format; or a scenario as Kubernetes objects.\v"
    "csv: jobs.csv, ledger.csv, timeline.csv (names instead of codes), nodes.csv (which job held which nodes when) and "
    "series.csv (of jobs with steps: loss, learning rate, gradient norm, samples and tokens a second, GPU memory, network "
    "and read bytes, as far as the scenario tells); each row begins with approach and replication.\n"
    "perfetto: a Chrome trace for ui.perfetto.dev: a process a node, a thread a GPU and a job, events, and counters.\n"
    "manifests: the objects that the scenario stands for under one approach, one file each, in the order of creation: Kueue's "
    "queues and flavors, then PyTorchJobs, RayJobs, RayClusters and Jobs; index.csv says when to create which, scenario.json is "
    "the scenario over these files, nodes.yaml the nodes for players such as KWOK.\n"
    "Example: trainyard export out --to csv -o tables\n"
    "Example: trainyard export out/operator --to perfetto --range 1d:2d -o day.json\n"
    "Example: trainyard export scenarios/two-teams.json --to manifests -o - | kubectl apply -f -",
    NULL,
    NULL,
    NULL};

/* ---- csv ---- */

static const struct export_range *range_of(const struct options *o)
{
    return o->range.to_ns ? &o->range : NULL;
}

/* Runs are opened for each table; what is wrong with them is said with the first. */
static int csv_file(const struct options *o, const char *table, const struct run_list *runs, bool first)
{
    struct str path = {0}, warnings = {0};
    char *err = NULL;
    str_printf(&path, "%s/%s.csv", o->out, table);
    FILE *to = fopen(str_text(&path), "w");
    bool ok = to && export_table(table, runs->dirs, runs->n, range_of(o), to, first ? &warnings : NULL, &err);
    if (to && fclose(to) != 0) ok = false;
    fputs(str_text(&warnings), stderr);
    int code = ok ? EXIT_OK : command_fail(EXIT_IO, "%s: %s", str_text(&path), err ? err : strerror(errno));
    free(err);
    str_free(&path);
    str_free(&warnings);
    return code;
}

static int csv_stdout(const struct options *o, const struct run_list *runs)
{
    struct str warnings = {0};
    char *err = NULL;
    bool ok = export_table(o->table ? o->table : "jobs", runs->dirs, runs->n, range_of(o), stdout, &warnings, &err);
    fputs(str_text(&warnings), stderr);
    int code = ok ? EXIT_OK : command_fail(EXIT_IO, "%s", err);
    str_free(&warnings);
    free(err);
    return code;
}

static int write_csv(const struct options *o, const struct run_list *runs)
{
    struct diag d = {0};
    struct str manifest = {0};
    if (!strcmp(o->out, "-")) return csv_stdout(o, runs);
    str_printf(&manifest, "%s/run.json", o->out);
    bool is_run = file_exists(str_text(&manifest));
    str_free(&manifest);
    if (is_run) return command_fail(EXIT_IO, "%s: holds a run, whose tables would be written over; give another directory", o->out);
    if (!file_make_dirs(o->out, &d)) {
        command_diag(&d);
        return EXIT_IO;
    }
    bool first = true;
    for (size_t i = 0; i < n_export_tables; i++) {
        if (o->table ? strcmp(o->table, export_tables[i]) != 0 : o->range.to_ns && !export_table_has_range(export_tables[i])) continue;
        int code = csv_file(o, export_tables[i], runs, first);
        if (code != EXIT_OK) return code;
        first = false;
    }
    return EXIT_OK;
}

static int write_perfetto(const struct options *o, const struct run_list *runs)
{
    return export_perfetto(runs, o->range.from_ns, o->range.to_ns ? o->range.to_ns : INT64_MAX, o->out);
}

/* One row a format. */
static const struct format {
    const char *name;
    int (*write)(const struct options *, const struct run_list *);
} formats[] = {
    {"csv", write_csv},
    {"perfetto", write_perfetto},
};

static int export(const struct options *o)
{
    if (!strcmp(o->to, "manifests")) return export_manifests(o->run, o->approach, o->image, o->out);
    struct run_list runs;
    char *err = NULL;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(formats[i].name, o->to)) continue;
        if (!run_tree(o->run, &runs, &err)) {
            int code = command_fail(EXIT_IO, "%s", err);
            free(err);
            return code;
        }
        int code = formats[i].write(o, &runs);
        run_list_free(&runs);
        return code;
    }
    return command_fail(EXIT_USAGE, "\"%s\" is no format of export; there are: csv, perfetto, manifests", o->to);
}

int cmd_export(int argc, char **argv)
{
    struct options o = {0};
    argp_parse(&argp_export, argc, argv, 0, NULL, &o);
    return command_end(export(&o));
}
