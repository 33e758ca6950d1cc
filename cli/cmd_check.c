/* cmd_check.c - trainyard check: errors of a scenario, and what it lacks under each approach.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/command.h"
#include "input/check.h"

struct options { const char *scenario; };

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        if (o->scenario) argp_error(state, "one SCENARIO only");
        o->scenario = arg;
        return 0;
    case ARGP_KEY_END:
        if (!o->scenario) argp_error(state, "SCENARIO is missing");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp argp_check = {
    NULL, parse, "SCENARIO",
    "Read a scenario under each of its approaches; print every error with its place, and what the scenario lacks: load "
    "against capacity, jobs that can never fit, quota that no node can serve, keys that an approach ignores.\v"
    "Exit: 0 nothing stands in the way, 1 some jobs can never run, 3 errors.",
    NULL, NULL, NULL};

static void print_size(const struct scenario *s, size_t n_jobs)
{
    struct str text = {0};
    units_format_count(&text, (int64_t)n_jobs);
    str_append(&text, n_jobs > s->n_jobs ? " jobs (in replication 0) on " : " jobs on ");
    units_format_count(&text, s->cluster.n_nodes);
    str_append(&text, " nodes with ");
    units_format_count(&text, s->cluster.total_shares / SHARES_PER_GPU);
    printf("%s: %s GPUs\n", s->name, str_text(&text));
    str_free(&text);
}

static bool print_findings(const struct scenario *s, bool first)
{
    struct findings f = {0};
    bool problem = false;
    scenario_check(s, &f);
    if (first) print_size(s, f.n_jobs);
    printf("\napproach %s:%s\n", s->approach.name, f.list.n ? "" : " nothing to say");
    for (size_t i = 0; i < f.list.n; i++) {
        const struct finding *x = &f.list.v[i];
        printf("  %-8s %-9s %s\n", finding_severity_names[x->severity], x->topic, x->text);
        if (x->help) printf("  %-8s %-9s %s\n", "", "", x->help);
        problem |= x->severity == FINDING_PROBLEM;
    }
    findings_free(&f);
    return problem;
}

/* Errors of the first approach are mostly the file's; the others could only repeat them. */
static bool check_all(const char *file, const char *text, size_t n, struct diag *d)
{
    struct scenario *first = scenario_read(file, text, n, NULL, NULL, d);
    if (!first) return false;
    bool problem = print_findings(first, true);
    for (uint32_t a = 1; a < first->n_approaches; a++) {
        struct scenario *s = scenario_read(file, text, n, first->approach_names[a], NULL, d);
        if (!s) continue;
        problem |= print_findings(s, false);
        scenario_free(s);
    }
    scenario_free(first);
    return problem;
}

static int check(const char *file)
{
    struct diag d = {0};
    size_t n;
    char *text = file_read(file, FILE_READ_MAX, &n, &d);
    bool problem = text && check_all(file, text, n, &d);
    free(text);
    fflush(stdout);
    int code = command_diag(&d);
    return code == EXIT_OK && problem ? EXIT_CHECK : code;
}

int cmd_check(int argc, char **argv)
{
    struct options o = {0};
    argp_parse(&argp_check, argc, argv, 0, NULL, &o);
    return command_end(check(o.scenario));
}
