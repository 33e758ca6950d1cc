/* cmd_compare.c - trainyard compare: approaches on one scenario, or runs that are there already.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/command.h"
#include "study/compare.h"
#include "study/fail_if.h"
#include "study/flips.h"
#include "study/runs.h"
#include "study/sources.h"

struct rule {
    const char *text;
    struct fail_rule rule;
};

struct options {
    ARRAY(const char *) targets;
    ARRAY(const char *) approaches;
    ARRAY(const char *) overrides;
    ARRAY(struct rule) rules;
    const char *out, *base;
    const char *flips; /* name of a metric; NULL: not asked for */
    int64_t budget_ns;
    long replications, threads;
    bool force, quiet;
    enum output_format format;
};

static const struct argp_option options[] = {
    {"output",                                                            'o', "DIR", 0, "Keep the runs below DIR, and write DIR/compare.json", 0},
    {"replications",                                                              'n', "N", 0, "Replications with paired random numbers (default: as the scenario says)", 0},
    {"approach",              'a', "NAME", 0, "Compare this approach; may be given several times (default: all)", 0},
    {"base",                                                                   'B', "NAME", 0, "Compare the others with this approach (default: the first)", 0},
    {"set",   's', "POINTER=VALUE", 0, "Change one value of the scenario, e.g. /run/seed=7", 0},
    {"fail-if",                                                                  'x', "CONDITION", 0,
     "Exit with 1 when the condition holds for an approach against the base, over the whole 95 % interval: "
     "METRIC OP NUMBER[x|%|s|m|h], such as 'p95_wait>1.1x', 'mean_jct>+5m', 'goodput<90%'; may be given several times", 0},
    {"flips", 'l', "METRIC", OPTION_ARG_OPTIONAL,
     "Instead, say which constants of the stacks would turn METRIC (default: mean_jct) from one approach to the other: "
     "each alone from 0.1 to 10 times its value, with the value at which the sign of the difference changes", 0},
    {"budget", 'u', "DURATION", 0, "With --flips: begin no new constant after this time (default: 2m)", 0},
    {"threads",                                                                  't', "N", 0, "Threads (default: one a core); results do not depend on it", 0},
    {"format",                                                          'f', "text|json|csv", 0, "Format of the result (default: text)", 0},
    {"force",                                                             'F', 0, 0, "Replace runs that DIR already holds", 0},
    {"quiet", 'q', 0, 0, "No progress on stderr", 0},
    {0                                                                  },
};

static void add_rule(struct options *o, const char *text, struct argp_state *state)
{
    struct rule r = {.text = text};
    char *wrong = fail_rule_parse(text, &r.rule);
    if (wrong) argp_error(state, "--fail-if \"%s\": %s", text, wrong);
    free(wrong);
    array_push(&o->rules, r);
}

static const char *metric_name(const char *text, struct argp_state *state)
{
    const char *names[64];
    size_t n = 0;
    for (; n < 64 && n < metric_count(); n++) names[n] = metric_at(n)->name;
    return command_one_of(text, names, n, "--flips", "trainyard report --format json tells the metrics", state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'o': o->out = command_text(arg, "--output", state); return 0;
    case 'n': o->replications = command_number(arg, 1, 1000000, "--replications", state); return 0;
    case 'a':
        array_push(&o->approaches, command_once(arg, o->approaches.v, o->approaches.n, "--approach", state));
        return 0;
    case 'B': o->base = arg; return 0;
    case 's': array_push(&o->overrides, arg); return 0;
    case 'x': add_rule(o, arg, state); return 0;
    case 'l': o->flips = arg ? metric_name(arg, state) : "mean_jct"; return 0;
    case 'u': o->budget_ns = command_duration(arg, 1, "--budget", state); return 0;
    case 't': o->threads = command_number(arg, 1, 1024, "--threads", state); return 0;
    case 'f': o->format = command_format(arg, state); return 0;
    case 'F': o->force = true; return 0;
    case 'q': o->quiet = true; return 0;
    case ARGP_KEY_ARG: array_push(&o->targets, arg); return 0;
    case ARGP_KEY_END:
        if (!o->targets.n) argp_error(state, "SCENARIO, or two runs, are missing");
        if (o->flips && (o->targets.n > 1 || o->out || o->base || o->rules.n))
            argp_error(state, "--flips takes one SCENARIO, and neither --output, --base nor --fail-if: the first "
                              "--approach is the base, and no runs are kept");
        if (o->budget_ns && !o->flips) argp_error(state, "--budget goes with --flips");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp argp_compare = {
    options,
    parse,
    "SCENARIO\nRUN [RUN...]",
    "Compare approaches: what differs, by how much, how sure, and where it comes from.\v"
    "Given a scenario, runs it under its approaches; given directories, compares the runs in them.\n"
    "Examples: trainyard compare scenarios/demo.json --replications 20\n"
    "          trainyard compare scenarios/demo.json --flips=p50_wait -n 4\n"
    "          trainyard compare old/actor new/actor --fail-if 'p95_wait>1.1x'\n"
    "Exit: 0 ok, 1 a --fail-if condition holds or a run found that nothing can progress, 2 usage, 3 bad input, 4 I/O, "
    "130 interrupted.",
    NULL,
    NULL,
    NULL};

/* ---- runs ---- */

static void flag_patches(struct sources *s, const struct runs *r)
{
    for (size_t i = 0; i < s->list.n; i++)
        for (uint32_t a = 0; a < r->n_approaches; a++)
            if (!strcmp(s->list.v[i].name, r->scenarios[a]->approach.name))
                s->list.v[i].patches_cluster = r->scenarios[a]->approach.patches_cluster;
}

static struct runs_plan plan_of(const struct options *o, struct progress_sink *progress)
{
    *progress = progress_sink(o->quiet ? NULL : stderr);
    return (struct runs_plan){.scenario = o->targets.v[0],
                              .approaches = o->approaches.n ? o->approaches.v : NULL,
                              .n_approaches = o->approaches.n,
                              .overrides = o->overrides.v,
                              .replications = (uint32_t)o->replications,
                              .record_level = o->out ? 1 : 0,
                              .threads = (unsigned)o->threads,
                              .force = o->force,
                              .progress = progress,
                              .interrupt = command_catch_signals()};
}

/* Runs the scenario below `dir` and adds its runs to the sources. */
static int run_scenario(const struct options *o, const char *dir, struct sources *s)
{
    struct diag d = {0};
    struct runs r;
    struct progress_sink progress;
    char *err = NULL;
    struct runs_plan plan = plan_of(o, &progress);
    plan.out = dir;
    bool ok = runs_execute(&plan, &r, &d);
    int code = command_diag(&d);
    if (!ok && code == EXIT_OK) code = command_fail(EXIT_IO, "%s", r.error ? r.error : "the runs failed");
    if (code == EXIT_OK && r.interrupted) code = EXIT_INTERRUPTED;
    if (code == EXIT_OK && !sources_add_tree(s, dir, &err)) code = command_fail(EXIT_IO, "%s", err);
    if (code == EXIT_OK) {
        flag_patches(s, &r);
        if (runs_print_no_progress(&r, stderr)) code = EXIT_CHECK;
    }
    free(err);
    runs_free(&r);
    return code;
}

static int add_runs(const struct options *o, struct sources *s)
{
    char *err = NULL;
    bool ok = true;
    if (o->targets.n == 1) ok = sources_add_tree(s, o->targets.v[0], &err);
    for (size_t i = 0; i < o->targets.n && ok && o->targets.n > 1; i++) ok = sources_add_run(s, o->targets.v[i], &err);
    if (ok && o->approaches.n) ok = sources_keep(s, o->approaches.v, o->approaches.n, &err);
    int code = ok ? EXIT_OK : command_fail(EXIT_IO, "%s", err);
    free(err);
    return code;
}

/* ---- constants that turn the winner ---- */

static void print_flips(const struct options *o, const struct flips *f)
{
    void (*const forms[])(const struct flips *, struct str *) = {
        [FORMAT_TEXT] = flips_text, [FORMAT_JSON] = flips_json, [FORMAT_CSV] = flips_csv};
    struct str s = {0};
    forms[o->format](f, &s);
    fputs(str_text(&s), stdout);
    str_free(&s);
}

static int find_flips(const struct options *o)
{
    struct diag d = {0};
    struct flips f;
    struct progress_sink progress;
    struct flips_plan plan = {.runs = plan_of(o, &progress),
                              .metric = (size_t)metric_find(o->flips),
                              .budget_ns = o->budget_ns ? o->budget_ns : 120 * NS_PER_S};
    bool ok = flips_find(&plan, &f, &d);
    int code = command_diag(&d);
    if (!ok && code == EXIT_OK) code = command_fail(f.choose ? EXIT_USAGE : EXIT_IO, "--flips: %s", f.error);
    if (code == EXIT_OK && f.interrupted) code = EXIT_INTERRUPTED;
    if (code == EXIT_OK || (code == EXIT_INTERRUPTED && f.list.n)) print_flips(o, &f);
    flips_free(&f);
    return code;
}

/* ---- result ---- */

static void print_result(const struct options *o, const struct compare *c)
{
    struct str s = {0};
    if (o->format == FORMAT_JSON)
        compare_json(c, &s);
    else if (o->format == FORMAT_CSV)
        compare_csv(c, &s);
    else
        compare_text(c, &s);
    fputs(str_text(&s), stdout);
    str_free(&s);
}

static int write_json(const char *dir, const struct compare *c)
{
    struct diag d = {0};
    struct str s = {0}, path = {0};
    str_printf(&path, "%s/compare.json", dir);
    compare_json(c, &s);
    bool ok = file_make_dirs(dir, &d) && file_write_atomic(str_text(&path), str_text(&s), s.n, &d);
    command_diag(&d);
    str_free(&s);
    str_free(&path);
    return ok ? EXIT_OK : EXIT_IO;
}

/* Says on stderr which conditions hold or cannot be decided. */
static int judge(const struct options *o, const struct compare *c)
{
    int code = EXIT_OK;
    for (size_t r = 0; r < o->rules.n; r++) {
        const struct fail_rule *rule = &o->rules.v[r].rule;
        for (size_t i = 1; i < c->n_approaches; i++) {
            const struct approach_runs *a = &c->approaches[0], *b = &c->approaches[i];
            struct fail_sample s = {a->values + rule->metric * c->n_replications,
                                    b->values + rule->metric * c->n_replications, c->n_replications,
                                    a->bound[rule->metric], b->bound[rule->metric]};
            const char *why;
            enum fail_result f = fail_rule_judge(rule, &s, &why);
            if (f == FAIL_YES) code = command_fail(EXIT_CHECK, "failed: %s holds for %s", o->rules.v[r].text, b->name);
            if (f == FAIL_UNDECIDED) command_fail(0, "undecided: %s for %s: %s", o->rules.v[r].text, b->name, why);
        }
    }
    return code;
}

static int compare_sources(const struct options *o, struct sources *s)
{
    struct compare c;
    char *err = NULL;
    if (o->base && !sources_base(s, o->base, &err)) {
        int code = command_fail(EXIT_USAGE, "--base: %s", err);
        free(err);
        return code;
    }
    if (s->list.n < 2)
        return command_fail(EXIT_USAGE, "one approach only (%s): there is nothing to compare it with",
                            s->list.n ? s->list.v[0].name : "none");
    if (!compare_runs(s->list.v, s->list.n, &c, &err)) {
        int code = command_fail(EXIT_IO, "%s", err);
        free(err);
        return code;
    }
    if (c.warnings) fputs(c.warnings, stderr);
    print_result(o, &c);
    fflush(stdout);
    int code = o->out ? write_json(o->out, &c) : EXIT_OK;
    if (code == EXIT_OK) code = judge(o, &c);
    compare_free(&c);
    return code;
}

static int on_scenario(const struct options *o, struct sources *s)
{
    char *made = NULL;
    if (!o->out && !(made = file_temporary_dir("compare")))
        return command_fail(EXIT_IO, "no temporary directory can be made; give one with -o");
    int code = run_scenario(o, made ? made : o->out, s);
    if (code == EXIT_OK || code == EXIT_CHECK) {
        int then = compare_sources(o, s);
        if (then != EXIT_OK) code = then;
    }
    if (made) {
        struct diag d = {0};
        file_remove_tree(made, &d);
        command_diag(&d);
        free(made);
    }
    return code;
}

int cmd_compare(int argc, char **argv)
{
    struct options o = {.format = FORMAT_TEXT};
    struct sources s = {0};
    int code;
    argp_parse(&argp_compare, argc, argv, 0, NULL, &o);
    array_push(&o.overrides, NULL);
    bool is_scenario = o.targets.n == 1 && !file_is_dir(o.targets.v[0]);
    if (o.flips)
        code = is_scenario ? find_flips(&o) : command_fail(EXIT_USAGE, "--flips needs a scenario; these are runs already");
    else if (is_scenario)
        code = on_scenario(&o, &s);
    else if (o.overrides.n > 1 || o.replications)
        code = command_fail(EXIT_USAGE, "--set and --replications change a scenario; these are runs already");
    else {
        code = add_runs(&o, &s);
        if (code == EXIT_OK) code = compare_sources(&o, &s);
    }
    sources_free(&s);
    array_free(&o.targets);
    array_free(&o.approaches);
    array_free(&o.overrides);
    array_free(&o.rules);
    return command_end(code);
}
