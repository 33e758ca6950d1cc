/* cmd_export.c - trainyard export: runs in the formats of other programs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "cli/command.h"
#include "run/run.h"
#include "study/export_csv.h"

struct options {
    const char *run, *to, *out, *table;
};

static const struct argp_option options[] = {
    {"to",           't', "FORMAT", 0, "Format: csv", 0},
    {"output",      'o', "DIR|-", 0, "Write the files into DIR; - prints one table (see --table) on stdout", 0},
    {"table", 'T', "NAME", 0, "Of csv: this table only: jobs, ledger, timeline, nodes or series (default: all; with -: jobs)",
     0},
    {0             },
};

static void check_table(const char *name, struct argp_state *state)
{
    for (size_t i = 0; i < n_export_tables; i++)
        if (!strcmp(name, export_tables[i])) return;
    argp_error(state, "--table takes jobs, ledger, timeline, nodes or series, not \"%s\"", name);
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
    case ARGP_KEY_ARG:
        if (o->run) argp_error(state, "one RUN only");
        o->run = arg;
        return 0;
    case ARGP_KEY_END:
        if (!o->run) argp_error(state, "RUN is missing");
        if (!o->to) argp_error(state, "--to FORMAT is missing; there is: csv");
        if (!o->out) argp_error(state, "-o DIR is missing (- is stdout)");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp argp_export = {
    options,
    parse,
    "RUN",
    "Write a run, or all runs below a directory, in another format.\v"
    "csv: jobs.csv, ledger.csv, timeline.csv (names instead of codes), nodes.csv (which job held which nodes when) and "
    "series.csv (of jobs with steps: loss, learning rate, gradient norm, samples and tokens a second, GPU memory, network "
    "and read bytes, as far as the scenario tells); each row begins with approach and replication.\n"
    "Example: trainyard export out --to csv -o tables",
    NULL,
    NULL,
    NULL};

/* ---- csv ---- */

/* Runs are opened for each table; what is wrong with them is said with the first. */
static int csv_file(const struct options *o, const char *table, const struct run_list *runs, bool first)
{
    struct str path = {0}, warnings = {0};
    char *err = NULL;
    str_printf(&path, "%s/%s.csv", o->out, table);
    FILE *to = fopen(str_text(&path), "w");
    bool ok = to && export_table(table, runs->dirs, runs->n, to, first ? &warnings : NULL, &err);
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
    bool ok = export_table(o->table ? o->table : "jobs", runs->dirs, runs->n, stdout, &warnings, &err);
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
        if (o->table && strcmp(o->table, export_tables[i])) continue;
        int code = csv_file(o, export_tables[i], runs, first);
        if (code != EXIT_OK) return code;
        first = false;
    }
    return EXIT_OK;
}

/* One row a format. */
static const struct format {
    const char *name;
    int (*write)(const struct options *, const struct run_list *);
} formats[] = {
    {"csv", write_csv},
};

static int export(const struct options *o)
{
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
    return command_fail(EXIT_USAGE, "\"%s\" is no format of export; there is: csv", o->to);
}

int cmd_export(int argc, char **argv)
{
    struct options o = {0};
    argp_parse(&argp_export, argc, argv, 0, NULL, &o);
    return command_end(export(&o));
}
