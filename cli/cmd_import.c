/* cmd_import.c - trainyard import FORMAT FILE... -o X.json: traces of other systems, or a live cluster, to a scenario or a workload
 * profile.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/json_write.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/import_cluster.h"
#include "input/fit.h"
#include "input/import.h"

enum { N_OUTPUT_FORMATS = FORMAT_CSV + 1 };
static const char *const output_formats[N_OUTPUT_FORMATS] = {"text", "json", "csv"};

enum option_key { KEY_FIT = 256, KEY_NODES, KEY_GPUS, KEY_MAP, KEY_FORMAT, KEY_CONTEXT, KEY_KUBECONFIG };
static const struct argp_option options[] = {
    {"output",                                                              'o', "X.json", 0, "Write the scenario here and its job table beside it, as X.jobs.csv", 0},
    {"fit",                                                             KEY_FIT, NULL, 0, "Fit a workload profile to the trace and write that instead (on stdout without -o)", 0},
    {"nodes", KEY_NODES, "N", 0, "Nodes of the cluster; else the trace's own size or the fewest that do (80 % load)",
     0},
    {"gpus",                                                                     KEY_GPUS, "M", 0, "GPUs a node; larger jobs are split into replicas. Default: usual for the format", 0},
    {"map",  KEY_MAP, "FIELD=COLUMN", 0, "Take a field from another column of the trace; may be repeated", 0},
    {"format",                                                                    KEY_FORMAT, "text|json|csv", 0, "Form of the summary on stdout", 0},
    {"context", KEY_CONTEXT, "NAME", 0, "Of cluster: the context of the kubeconfig; in-cluster: the account of this pod. There is no default", 0},
    {"kubeconfig", KEY_KUBECONFIG, "FILE", 0, "Of cluster (default: $KUBECONFIG, else ~/.kube/config)", 0},
    {0                                                                   },
};

struct import_arguments {
    const struct import_format *format;
    ARRAY(const char *) files;
    const char *output;
    struct import_options options;
    struct import_cluster cluster;
    enum output_format summary;
    bool fit, live; /* live: a cluster, no file */
    const char *context, *kubeconfig;
};

/* ---- arguments ---- */

static int index_of(const char *word, const char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(words[i], word) == 0) return i;
    return -1;
}

static void parse_count(struct argp_state *state, const char *name, const char *text, int64_t max, uint32_t *out)
{
    int64_t x;
    if (units_parse_int64(text, &x) != NULL || x < 1 || x > max)
        argp_error(state, "--%s: \"%s\" is no whole number from 1 to %lld", name, text, (long long)max);
    else
        *out = (uint32_t)x;
}

static void parse_map(struct argp_state *state, struct import_arguments *a, char *text)
{
    char *equals = strchr(text, '=');
    if (equals == NULL || equals[1] == '\0') {
        argp_error(state, "--map: \"%s\" is not FIELD=COLUMN", text);
        return;
    }
    *equals = '\0';
    int field = index_of(text, import_field_names, N_IMPORT_FIELDS);
    if (field >= 0) {
        a->options.column[field] = equals + 1;
        return;
    }
    struct str known = {0};
    for (int i = 0; i < N_IMPORT_FIELDS; i++) str_printf(&known, "%s%s", i ? ", " : "", import_field_names[i]);
    argp_error(state, "--map: no field \"%s\"; there are %s", text, str_text(&known));
    str_free(&known);
}

static void parse_format(struct argp_state *state, struct import_arguments *a, const char *name)
{
    size_t n;
    const char *const *names = import_format_names(&n);
    a->format = import_format_find(name);
    if (a->format) return;
    const char *near = str_suggest(name, names, n);
    const struct import_format *probed = file_exists(name) ? import_format_probe(name) : NULL;
    if (probed)
        argp_error(state, "the format comes first: import %s %s", probed->name, name);
    else
        argp_error(state, "unknown format \"%s\"%s%s", name, near ? "; did you mean " : "", near ? near : "");
}

static void check_live(struct argp_state *state, const struct import_arguments *a)
{
    if (state->arg_num > 1) argp_error(state, "cluster takes no file: it is the cluster of --context");
    if (!a->context) argp_error(state, "cluster needs --context NAME: no cluster is read by default");
    if (!a->output) argp_error(state, "cluster needs -o X.json (- is stdout)");
    if (a->fit || a->cluster.nodes || a->cluster.gpus) argp_error(state, "--fit, --nodes and --gpus are of traces");
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct import_arguments *a = state->input;
    int form;
    switch (key) {
    case 'o': a->output = text; return 0;
    case KEY_FIT: a->fit = true; return 0;
    case KEY_NODES: parse_count(state, "nodes", text, 10000000, &a->cluster.nodes); return 0;
    case KEY_GPUS: parse_count(state, "gpus", text, MAX_GPUS_PER_NODE, &a->cluster.gpus); return 0;
    case KEY_MAP: parse_map(state, a, text); return 0;
    case KEY_FORMAT:
        form = index_of(text, output_formats, N_OUTPUT_FORMATS);
        if (form < 0)
            argp_error(state, "--format: \"%s\" is none of text, json, csv", text);
        else
            a->summary = (enum output_format)form;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num == 0 && strcmp(text, "cluster") == 0)
            a->live = true;
        else if (state->arg_num == 0)
            parse_format(state, a, text);
        else
            array_push(&a->files, text);
        return 0;
    case KEY_CONTEXT: a->context = command_text(text, "--context", state); return 0;
    case KEY_KUBECONFIG: a->kubeconfig = command_text(text, "--kubeconfig", state); return 0;
    case ARGP_KEY_END:
        if (a->live)
            check_live(state, a);
        else if (a->context || a->kubeconfig)
            argp_error(state, "--context and --kubeconfig go with import cluster");
        else if (state->arg_num < 2)
            argp_error(state, "a format and at least one file are needed (\"-\" is stdin)");
        else if (a->output && strcmp(a->output, "-") == 0 && !a->fit)
            argp_error(state, "-o: a scenario is two files and needs a name, such as X.json");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* The list of formats behind the options of --help, from their table. */
static char *help_filter(int key, const char *text, void *input)
{
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC) return (char *)(uintptr_t)text;
    struct str s = {0};
    str_append(&s, "Formats:\n");
    for (size_t i = 0; i < n_import_formats; i++)
        str_printf(&s, "  %-9s %s\n", import_formats[i].name, import_formats[i].description);
    str_append(&s, "\nFields of --map:");
    for (int i = 0; i < N_IMPORT_FIELDS; i++) str_printf(&s, " %s", import_field_names[i]);
    return str_take(&s);
}

const struct argp argp_import = {
    options,
    parse_option,
    "FORMAT FILE...\ncluster",
    "Reads a trace and writes a scenario, or with --fit a workload profile. Without -o it only says what the trace "
    "holds. `cluster` reads nodes, queues, workloads' jobs and pods of a live Kubernetes cluster, and changes nothing."
    "\v",
    NULL,
    help_filter,
    NULL,
};

/* ---- the summary ---- */

struct fact {
    const char *key, *label;
    struct str value;
    bool number;
};
struct facts {
    ARRAY(struct fact) list;
};

static void add_fact(struct facts *f, const char *key, const char *label, bool number, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
static void add_fact(struct facts *f, const char *key, const char *label, bool number, const char *fmt, ...)
{
    struct fact fact = {.key = key, .label = label, .number = number};
    va_list args;
    va_start(args, fmt);
    str_vprintf(&fact.value, fmt, args);
    va_end(args);
    array_push(&f->list, fact);
}

static void collect_facts(struct facts *f, const struct import_result *r, struct import_cluster c)
{
    struct import_totals t = import_totals(r);
    double gpu_s = (double)t.share_ns / SHARES_PER_GPU / (double)NS_PER_S;
    double span_s = (double)(t.last_ns - t.first_ns) / (double)NS_PER_S;
    add_fact(f, "format", "format", false, "%s", r->format->name);
    add_fact(f, "rows", "rows read", true, "%llu", (unsigned long long)r->rows);
    add_fact(f, "jobs", "jobs", true, "%zu", r->n_jobs);
    add_fact(f, "span_s", "submitted over, s", true, "%.9g", span_s);
    add_fact(f, "gpu_hours", "work, GPU-hours", true, "%.1f", gpu_s / 3600);
    add_fact(f, "largest_gpus", "largest job, GPUs", true, "%u", t.largest_gpus);
    add_fact(f, "teams", "teams", true, "%u", intern_count(&r->teams) - 1);
    add_fact(f, "queues", "queues", true, "%u", intern_count(&r->queues) - 1);
    add_fact(f, "nodes", "cluster, nodes", true, "%u", c.nodes);
    add_fact(f, "gpus_per_node", "cluster, GPUs a node", true, "%u", c.gpus);
    double gpus = (double)c.nodes * c.gpus;
    if (span_s > 0) add_fact(f, "offered_load", "offered load", true, "%.3f", gpu_s / span_s / gpus);
}

static void print_text(const struct facts *f)
{
    for (size_t i = 0; i < f->list.n; i++) printf("%-21s %s\n", f->list.v[i].label, str_text(&f->list.v[i].value));
}

static void print_csv(const struct facts *f)
{
    printf("quantity,value\n");
    for (size_t i = 0; i < f->list.n; i++) printf("%s,%s\n", f->list.v[i].key, str_text(&f->list.v[i].value));
}

static void print_json(const struct facts *f)
{
    struct str out = {0};
    struct json_writer w;
    json_write_begin(&w, &out);
    json_write_object(&w);
    for (size_t i = 0; i < f->list.n; i++) {
        json_write_key(&w, f->list.v[i].key);
        if (f->list.v[i].number)
            json_write_raw(&w, str_text(&f->list.v[i].value));
        else
            json_write_string(&w, str_text(&f->list.v[i].value));
    }
    json_write_end(&w);
    json_write_finish(&w);
    fputs(str_text(&out), stdout);
    str_free(&out);
}

static void print_summary(const struct import_result *r, struct import_cluster c, enum output_format form)
{
    static void (*const print[N_OUTPUT_FORMATS])(const struct facts *) = {print_text, print_json, print_csv};
    struct facts f = {0};
    collect_facts(&f, r, c);
    print[form](&f);
    for (size_t i = 0; i < f.list.n; i++) str_free(&f.list.v[i].value);
    array_free(&f.list);
}

static void print_notes(const struct import_result *r, const char *why)
{
    struct str s = {0};
    for (size_t i = 0; i < r->notes.n; i++) {
        str_append(&s, "note: ");
        import_note_text(&r->notes.v[i], &s);
        str_append_char(&s, '\n');
    }
    if (why) str_printf(&s, "note: %s\n", why);
    fputs(str_text(&s), stderr);
    str_free(&s);
}

/* ---- the command ---- */

static bool readable(const struct import_arguments *a)
{
    bool ok = true;
    for (size_t i = 0; i < a->files.n; i++) {
        const char *file = a->files.v[i];
        if (strcmp(file, "-") == 0 || access(file, R_OK) == 0) continue;
        fprintf(stderr, "%s: cannot be read: %s\n", file, strerror(errno));
        ok = false;
    }
    return ok;
}

/* "-like" behind the format, or the name of the file that is written. */
static const char *profile_name(const struct import_arguments *a, struct arena *arena)
{
    if (a->output == NULL || strcmp(a->output, "-") == 0) return arena_printf(arena, "%s-like", a->format->name);
    const char *base = path_base(a->output);
    size_t n = strlen(base);
    return arena_strndup(arena, base, str_ends_with(base, ".json") ? n - 5 : n);
}

static void describe_source(const struct import_arguments *a, struct str *out)
{
    if (a->format->origin) str_printf(out, "%s; ", a->format->origin);
    str_printf(out, "fitted by trainyard import --fit %s to", a->format->name);
    for (size_t i = 0; i < a->files.n; i++) str_printf(out, " %s", path_base(a->files.v[i]));
}

static int write_profile(const struct import_arguments *a, const struct import_result *r, struct diag *d)
{
    struct arena arena = {0};
    struct str source = {0}, json = {0};
    describe_source(a, &source);
    struct workload_profile *p = fit_profile(profile_name(a, &arena), str_text(&source), r, d);
    if (p) workload_profile_write(p, &json);
    int code = p ? command_write(a->output ? a->output : "-", &json) : EXIT_INPUT;
    workload_profile_free(p);
    str_free(&json);
    str_free(&source);
    arena_free(&arena);
    return code;
}

static int write_scenario(const struct import_arguments *a, const struct import_result *r, struct import_cluster c,
                          const char *why, struct diag *d)
{
    struct str source = {0};
    for (size_t i = 0; i < a->files.n; i++) str_printf(&source, "%s%s", i ? ", " : "", path_base(a->files.v[i]));
    bool ok = a->output == NULL || import_write(r, c, why, str_text(&source), a->output, d);
    str_free(&source);
    if (ok) print_summary(r, c, a->summary);
    return ok ? EXIT_OK : EXIT_IO;
}

/* A trace given under a wrong name fails in a thousand ways; one line says why. */
static void hint_format(const struct import_arguments *a)
{
    const struct import_format *probed = import_format_probe(a->files.v[0]);
    if (probed == NULL || probed == a->format) return;
    fprintf(stderr, "%s looks like the format %s, not like %s\n", a->files.v[0], probed->name, a->format->name);
}

static int import_files(struct import_arguments *a, struct diag *d)
{
    struct import_result r;
    struct import_cluster c = a->cluster;
    const char *why;
    a->options.gpus_per_node = c.gpus ? c.gpus : a->format->gpus_per_node;
    int code = import_read(a->format, a->files.v, a->files.n, &a->options, &r, d) ? EXIT_OK : EXIT_INPUT;
    if (code != EXIT_OK)
        hint_format(a);
    else {
        import_cluster_choose(&r, &c, &why);
        print_notes(&r, a->fit ? NULL : why);
        code = a->fit ? write_profile(a, &r, d) : write_scenario(a, &r, c, why, d);
    }
    import_free(&r);
    return code;
}

int cmd_import(int argc, char **argv)
{
    struct import_arguments a = {0};
    struct diag d = {0};
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&argp_import, argc, argv, 0, NULL, &a) != 0) return EXIT_USAGE;
    int code = a.live ? import_cluster(a.kubeconfig, a.context, a.output) : readable(&a) ? import_files(&a, &d) : EXIT_IO;
    diag_print(&d, stderr);
    diag_free(&d);
    array_free(&a.files);
    if (fflush(stdout) != 0 && code == EXIT_OK) code = EXIT_IO;
    return code;
}
