/* cmd_explain.c - trainyard explain: a run in words, or one of its jobs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "cli/command.h"
#include "run/run.h"
#include "study/diagnose.h"
#include "study/explain.h"
#include "study/explain_env.h"
#include "study/measures.h"
#include "study/series.h"

struct options {
    const char *run, *job, *approach;
    bool env, series;
    enum output_format format;
};

static const struct argp_option options[] = {
    {"env",                                                                           'e', 0, 0, "Print the environment of each pod of JOB instead; then RUN may be a scenario", 0},
    {"series", 's', 0, 0, "Show the series of JOB instead: loss, learning rate, samples/s, memory, bytes over its steps", 0},
    {"approach",                                                                              'a', "NAME", 0, "With --env of a scenario: under this approach (default: the first)", 0},
    {"format", 'f', "text|json", 0, "With json: the diagnosis, what keeps utilisation low (default: text)", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'e': o->env = true; return 0;
    case 's': o->series = true; return 0;
    case 'a': o->approach = arg; return 0;
    case 'f':
        o->format = command_format(arg, state);
        if (o->format == FORMAT_CSV) argp_error(state, "--format is text or json here");
        return 0;
    case ARGP_KEY_ARG:
        if (o->job) argp_error(state, "one RUN and one JOB only");
        if (o->run)
            o->job = arg;
        else
            o->run = arg;
        return 0;
    case ARGP_KEY_END:
        if (!o->run) argp_error(state, "RUN is missing");
        if (o->env && !o->job) argp_error(state, "--env needs a JOB");
        if (o->series && (!o->job || o->env || o->format != FORMAT_TEXT)) argp_error(state, "--series needs a JOB, and prints text only");
        if (o->env && o->format != FORMAT_TEXT) argp_error(state, "--env prints text only");
        if (o->approach && !o->env) argp_error(state, "--approach goes with --env; give the directory of the approach");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp argp_explain = {
    options,
    parse,
    "RUN [JOB]\n--series RUN JOB\n--env RUN|SCENARIO JOB",
    "Say where the GPU time of a run went, what keeps utilisation low and what removing it would give, and why its jobs "
    "waited; with JOB, the life of that job: its waits with who blocked it, its attempts, and where its GPU-seconds went.\v"
    "RUN may hold several approaches and replications: the first replication of each approach is told.\n"
    "Example: trainyard explain out/operator/0 tune-3",
    NULL,
    NULL,
    NULL};

/* The pods' environment under the scenario's approach; `file` may be a run's resolved scenario. */
static int tell_env(const struct options *o, const char *file, const char *approach, uint32_t replication)
{
    struct diag d = {0};
    struct str out = {0};
    char *err = NULL;
    struct scenario *s = scenario_load(file, approach, NULL, &d);
    int code = command_diag(&d);
    if (s && code == EXIT_OK && !explain_env(s, replication, o->job, &out, &err))
        code = command_fail(EXIT_INPUT, "%s", err);
    fputs(str_text(&out), stdout);
    str_free(&out);
    free(err);
    if (s) scenario_free(s);
    return code;
}

static int tell_env_of_run(const struct options *o, const struct run *run)
{
    struct str file = {0};
    str_printf(&file, "%s/scenario.json", run->dir);
    int code = tell_env(o, str_text(&file), NULL, run->replication);
    str_free(&file);
    return code;
}

static int tell_diagnosis(const struct options *o, const struct run *run, struct json_writer *w)
{
    struct diagnosis d;
    const struct job_row *row = o->job ? explain_row(run, o->job) : NULL;
    if (o->job && !row) {
        char *err = explain_no_such_job(run, o->job);
        int code = command_fail(EXIT_INPUT, "%s", err);
        free(err);
        return code;
    }
    if (row) diagnose_job(run, row, &d);
    else diagnose_run(run, &d);
    diagnosis_json(&d, w);
    diagnosis_free(&d);
    return EXIT_OK;
}

static int tell(const struct options *o, const struct run *run, struct json_writer *w)
{
    if (o->format == FORMAT_JSON) return tell_diagnosis(o, run, w);
    if (o->env) return tell_env_of_run(o, run);
    struct str out = {0};
    char *err = NULL;
    int code = EXIT_OK;
    if (o->series) {
        if (!series_text(run, o->job, &out, &err)) code = command_fail(EXIT_INPUT, "%s", err);
    } else if (!o->job)
        explain_run(run, &out);
    else if (!explain_job(run, o->job, &out, &err))
        code = command_fail(EXIT_INPUT, "%s", err);
    fputs(str_text(&out), stdout);
    free(err);
    str_free(&out);
    return code;
}

static void warn_of_timeline(const struct run *run)
{
    struct str warnings = {0};
    timeline_warning(run, &warnings);
    fputs(str_text(&warnings), stderr);
    str_free(&warnings);
}

/* One leaf; told only when it is the first of its approach. */
static int tell_leaf(const struct options *o, const char *dir, char **approach, struct json_writer *w)
{
    char *err = NULL, *said = NULL;
    struct run *run = run_open(dir, &said, &err);
    if (said) fputs(said, stderr);
    free(said);
    if (!run) {
        int code = command_fail(EXIT_IO, "%s", err);
        free(err);
        return code;
    }
    int code = EXIT_OK;
    if (!*approach || strcmp(*approach, run->approach)) {
        if (*approach && o->format == FORMAT_TEXT) printf("\n----------------\n\n");
        free(*approach);
        *approach = strdup(run->approach);
        if (!o->env) warn_of_timeline(run);
        code = tell(o, run, w);
    }
    run_close(run);
    return code;
}

static int explain(const struct options *o)
{
    struct run_list runs;
    char *err = NULL, *approach = NULL;
    int code = EXIT_OK;
    if (o->env && !file_is_dir(o->run)) return tell_env(o, o->run, o->approach, 0);
    if (!run_tree(o->run, &runs, &err)) {
        code = command_fail(EXIT_IO, "%s", err);
        free(err);
        return code;
    }
    struct str json = {0};
    struct json_writer w;
    json_write_begin(&w, &json);
    json_write_array(&w);
    for (size_t i = 0; i < runs.n && code == EXIT_OK; i++) code = tell_leaf(o, runs.dirs[i], &approach, &w);
    json_write_end(&w);
    json_write_finish(&w);
    if (o->format == FORMAT_JSON && code == EXIT_OK) fputs(str_text(&json), stdout);
    str_free(&json);
    if (code == EXIT_OK && runs.n > 1)
        fprintf(stderr, "trainyard: %s holds %zu runs; shown is the first replication of each approach\n", o->run,
                runs.n);
    free(approach);
    run_list_free(&runs);
    return code;
}

int cmd_explain(int argc, char **argv)
{
    struct options o = {0};
    argp_parse(&argp_explain, argc, argv, 0, NULL, &o);
    return command_end(explain(&o));
}
