/* cmd_run.c - trainyard run: play a scenario under its approaches, in the simulator or live.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/csv.h"
#include "base/json_write.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/run_host.h"
#include "cli/run_kubernetes.h"
#include "cli/run_ray.h"
#include "cli/viewer.h"
#include "run/metrics.h"
#include "study/runs.h"
#include "study/words.h"

struct options {
    const char *scenario, *out, *on, *work, *address, *node_command;
    struct kubernetes_options kubernetes;
    ARRAY(const char *) approaches;
    ARRAY(const char *) overrides;
    long replications, threads;
    int record_level; /* -1: not asked for */
    bool force, quiet, view;
    double speed;     /* of --pace; 0: none */
    enum output_format format;
};

enum { KEY_ADDRESS = 256, KEY_NODE_COMMAND, KEY_CONTEXT, KEY_KUBECONFIG, KEY_IMAGE, KEY_DRY_RUN, KEY_CLEANUP };

static const struct argp_option options[] = {
    {"approach", 'a', "NAME", 0, "Run this approach only; may be given several times (default: all)", 0},
    {"output", 'o', "DIR", 0, "Write run directories below DIR (default: print the summary only)", 0},
    {"replications", 'n', "N", 0, "Replications with paired random numbers (default: as the scenario says)", 0},
    {"set", 's', "POINTER=VALUE", 0, "Change one value of the scenario, e.g. /run/seed=7", 0},
    {"record", 'r', "none|jobs|full", 0, "What the timeline keeps (default: jobs)", 0},
    {"threads", 't', "N", 0, "Threads (default: one a core); results do not depend on it", 0},
    {"on", 'b', "sim|host|gpu|kubernetes|ray", 0,
     "Back end: the simulator; real processes on this machine and those of the scenario's \"live\"; gpu: processes that compute on GPUs "
     "of this machine; objects on a live cluster; a live Ray cluster (default: sim)", 0},
    {"address", KEY_ADDRESS, "URL", 0,
     "Of --on ray: the dashboard of the head (default: $RAY_API_SERVER_ADDRESS, else http://127.0.0.1:8265); its token is in $RAY_AUTH_TOKEN", 0},
    {"node-command", KEY_NODE_COMMAND, "PROGRAM", 0,
     "Of --on ray: run with lost, back or exit and a node's address where the script does that to a node", 0},
    {"work", 'w', "DIR", 0, "Of live runs: where data and checkpoints go (default: work in the run's directory)", 0},
    {"format", 'f', "text|json|csv", 0, "Format of the summary (default: text)", 0},
    {"view", 'v', 0, 0,
     "Open the viewer on the growing run, of the first two approaches side by side, of replication 0; with --record full "
     "where nothing else is asked for. Needs --output", 0},
    {"pace", 'p', "SPEEDx", 0,
     "Slow down what is watched: simulated time passes at most so many times as fast as real time, as 3600x: an hour a "
     "second. Results are the same", 0},
    {"context", KEY_CONTEXT, "NAME", 0, "Of --on kubernetes: the context of the kubeconfig; in-cluster: the account of this pod. There is no default", 0},
    {"kubeconfig", KEY_KUBECONFIG, "FILE", 0, "Of --on kubernetes (default: $KUBECONFIG, else ~/.kube/config)", 0},
    {"image", KEY_IMAGE, "NAME", 0, "Of --on kubernetes: image of the containers that no manifest of the scenario gives", 0},
    {"dry-run", KEY_DRY_RUN, 0, 0,
     "Of --on kubernetes: have the server check each object and keep none; print what would be made, and the GPUs it would hold", 0},
    {"cleanup", KEY_CLEANUP, 0, 0,
     "Of --on kubernetes: delete what the run in DIR has left on the cluster, also after it was killed; nothing without its label", 0},
    {"force", 'F', 0, 0, "Replace runs that DIR already holds", 0},
    {"quiet", 'q', 0, 0, "No progress on stderr", 0},
    {0},
};

static int record_level(const char *text, struct argp_state *state)
{
    static const char *const levels[] = {"none", "jobs", "full"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, levels[i])) return i;
    argp_error(state, "--record takes none, jobs or full, not \"%s\"", text);
    return 0;
}

static double speed_of(const char *text, struct argp_state *state)
{
    char *end;
    double x = strtod(text, &end);
    if (end == text || (strcmp(end, "x") && *end) || !(x > 0) || !(x <= 1e12))
        argp_error(state, "--pace takes a speed such as 3600x (an hour a second), not \"%s\"", text);
    return x;
}

static const char *const back_ends[] = {"sim", "host", "gpu", "kubernetes", "ray"};

static bool is_on(const struct options *o, const char *back_end) { return o->on && !strcmp(o->on, back_end); }
static bool is_kubernetes(const struct options *o) { return is_on(o, "kubernetes"); }

static bool is_live(const struct options *o) { return o->on && strcmp(o->on, "sim") != 0; }

/* What a run in real time has no use for. */
static void check_live(const struct options *o, struct argp_state *state)
{
    if (!o->out && !o->kubernetes.dry_run) argp_error(state, "--on %s needs --output DIR", o->on);
    if (o->replications > 1) argp_error(state, "--on %s plays once: no --replications", o->on);
    if (o->speed > 0) argp_error(state, "--on %s passes in real time: no --pace", o->on);
    if (o->view) argp_error(state, "--on %s: open the viewer beside it, with trainyard view DIR", o->on);
}

static void check(struct options *o, struct argp_state *state)
{
    const struct kubernetes_options *k = &o->kubernetes;
    if (k->cleanup && o->scenario) argp_error(state, "--cleanup takes the run in --output DIR, no SCENARIO");
    if (!o->scenario && !k->cleanup) argp_error(state, "SCENARIO is missing");
    if (is_kubernetes(o) && !k->context) argp_error(state, "--on kubernetes needs --context NAME: no cluster is touched by default");
    if (is_kubernetes(o) && o->work) argp_error(state, "--work goes with --on host or gpu");
    if (!is_kubernetes(o) && (k->context || k->kubeconfig || k->image || k->dry_run || k->cleanup))
        argp_error(state, "--context, --kubeconfig, --image, --dry-run and --cleanup go with --on kubernetes");
    if (o->view && !o->out) argp_error(state, "--view needs --output DIR: the viewer reads the files of the run");
    if (o->view && o->record_level == RECORD_NONE) argp_error(state, "--view needs records: not --record none");
    if (is_live(o)) check_live(o, state);
    else if (o->work) argp_error(state, "--work is of live runs");
    if ((o->address || o->node_command) && !is_on(o, "ray")) argp_error(state, "--address and --node-command go with --on ray");
    if (o->record_level < 0) o->record_level = o->view ? RECORD_FULL : RECORD_JOBS;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'a':
        array_push(&o->approaches, command_once(arg, o->approaches.v, o->approaches.n, "--approach", state));
        return 0;
    case 'o': o->out = command_text(arg, "--output", state); return 0;
    case 'n': o->replications = command_number(arg, 1, 1000000, "--replications", state); return 0;
    case 's': array_push(&o->overrides, arg); return 0;
    case 'r': o->record_level = record_level(arg, state); return 0;
    case 't': o->threads = command_number(arg, 1, 1024, "--threads", state); return 0;
    case 'b':
        o->on = command_one_of(arg, back_ends, sizeof back_ends / sizeof *back_ends, "back end", "it is sim, host, gpu, kubernetes or ray", state);
        return 0;
    case KEY_ADDRESS: o->address = command_text(arg, "--address", state); return 0;
    case KEY_NODE_COMMAND: o->node_command = command_text(arg, "--node-command", state); return 0;
    case 'w': o->work = command_text(arg, "--work", state); return 0;
    case 'f': o->format = command_format(arg, state); return 0;
    case KEY_CONTEXT: o->kubernetes.context = command_text(arg, "--context", state); return 0;
    case KEY_KUBECONFIG: o->kubernetes.kubeconfig = command_text(arg, "--kubeconfig", state); return 0;
    case KEY_IMAGE: o->kubernetes.image = command_text(arg, "--image", state); return 0;
    case KEY_DRY_RUN: o->kubernetes.dry_run = true; return 0;
    case KEY_CLEANUP: o->kubernetes.cleanup = true; return 0;
    case 'F': o->force = true; return 0;
    case 'q': o->quiet = true; return 0;
    case ARGP_KEY_ARG:
        if (o->scenario) argp_error(state, "one SCENARIO only");
        o->scenario = arg;
        return 0;
    case 'v': o->view = true; return 0;
    case 'p': o->speed = speed_of(arg, state); return 0;
    case ARGP_KEY_END: check(o, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp argp_run = {
    options, parse, "SCENARIO",
    "Play a scenario under its approaches, in the simulator or live; write run directories and print one line a run.\v"
    "Example: trainyard run scenarios/two-teams.json -o out --replications 5\n"
    "Live: trainyard run scenario.json --on host --approach operator -o live\n"
    "Live: trainyard run scenario.json --on kubernetes --context lab -o live\n"
    "Watch it: trainyard run scenarios/two-teams.json -o out --view --pace 3600x\n"
    "Exit: 0 ok, 1 a run found that nothing can progress, 2 usage, 3 bad input, 4 I/O, 130 interrupted.",
    NULL, NULL, NULL};

/* ---- watching ---- */

static void open_viewer(void *arg, char **dirs, unsigned n)
{
    viewer_start(arg, dirs, n);
}

/* ---- output ---- */

static const char *state_of(const struct runs_cell *c)
{
    if (!c->done) return "not run";
    if (!c->ok) return "failed";
    if (c->result.interrupted) return "interrupted";
    return c->result.no_progress ? "no progress" : "complete";
}

static void print_text(const struct runs *r)
{
    printf("%-16s %4s  %-12s %9s %9s %7s %10s  %-16s %s\n", "approach", "rep", "state", "jobs", "succeeded", "failed",
           "unfinished", "ends after", "fingerprint");
    for (size_t i = 0; i < (size_t)r->n_approaches * r->n_replications; i++) {
        const struct runs_cell *c = &r->cells[i];
        struct str name = {0}, end = {0};
        words_left(&name, r->scenarios[c->approach]->approach.name, 16);
        units_format_duration(&end, c->result.end_ns);
        printf("%s %4" PRIu32 "  %-12s %9zu %9zu %7zu %10zu  %-16s %s\n", str_text(&name), c->replication, state_of(c),
               c->result.jobs, c->result.succeeded, c->result.failed, c->result.unfinished, str_text(&end),
               c->result.fingerprint);
        str_free(&name);
        str_free(&end);
    }
}

static void print_csv(const struct runs *r)
{
    struct csv_writer w;
    csv_writer_begin(&w, stdout);
    printf("approach,replication,state,jobs,succeeded,failed,unfinished,end_s,events,fingerprint\n");
    for (size_t i = 0; i < (size_t)r->n_approaches * r->n_replications; i++) {
        const struct runs_cell *c = &r->cells[i];
        csv_write_str(&w, r->scenarios[c->approach]->approach.name);
        csv_write_i64(&w, c->replication);
        csv_write_str(&w, state_of(c));
        csv_write_i64(&w, (int64_t)c->result.jobs);
        csv_write_i64(&w, (int64_t)c->result.succeeded);
        csv_write_i64(&w, (int64_t)c->result.failed);
        csv_write_i64(&w, (int64_t)c->result.unfinished);
        csv_write_seconds(&w, c->result.end_ns);
        csv_write_i64(&w, (int64_t)c->result.events);
        csv_write_str(&w, c->result.fingerprint);
        csv_write_row_end(&w);
    }
    csv_writer_end(&w); /* command_end says when stdout failed */
}

static void print_json(const struct runs *r)
{
    struct str text = {0};
    struct json_writer w;
    json_write_begin(&w, &text);
    json_write_array(&w);
    for (size_t i = 0; i < (size_t)r->n_approaches * r->n_replications; i++) {
        const struct runs_cell *c = &r->cells[i];
        json_write_object(&w);
        json_write_key(&w, "approach");
        json_write_string(&w, r->scenarios[c->approach]->approach.name);
        json_write_key(&w, "replication");
        json_write_int64(&w, c->replication);
        json_write_key(&w, "state");
        json_write_string(&w, state_of(c));
        json_write_key(&w, "jobs");
        json_write_int64(&w, (int64_t)c->result.jobs);
        json_write_key(&w, "succeeded");
        json_write_int64(&w, (int64_t)c->result.succeeded);
        json_write_key(&w, "failed");
        json_write_int64(&w, (int64_t)c->result.failed);
        json_write_key(&w, "unfinished");
        json_write_int64(&w, (int64_t)c->result.unfinished);
        json_write_key(&w, "end_s");
        json_write_seconds(&w, c->result.end_ns);
        json_write_key(&w, "fingerprint");
        json_write_string(&w, c->result.fingerprint);
        json_write_end(&w);
    }
    json_write_end(&w);
    puts(str_text(&text));
    str_free(&text);
}

static void print_summary(const struct options *o, const struct runs *r)
{
    if (o->format == FORMAT_JSON) print_json(r);
    else if (o->format == FORMAT_CSV) print_csv(r);
    else print_text(r);
}

static int live(const struct options *o, const struct runs_plan *plan)
{
    struct runs r;
    int code = is_kubernetes(o)  ? run_on_kubernetes(plan, &o->kubernetes, o->quiet, &r)
               : is_on(o, "ray") ? run_on_ray(plan, &(struct ray_options){.address = o->address, .work = o->work, .node_command = o->node_command}, o->quiet, &r)
                                 : run_on_host(plan, o->work, is_on(o, "gpu"), o->quiet, &r);
    if (r.cells && r.cells[0].ok) print_summary(o, &r);
    runs_free(&r);
    return code;
}

static int execute(const struct options *o)
{
    char *viewer = o->view ? viewer_find() : NULL;
    if (o->view && !viewer) return viewer_missing();
    struct diag d = {0};
    struct runs r;
    struct progress_sink progress = progress_sink(o->quiet ? NULL : stderr);
    struct runs_plan plan = {.scenario = o->scenario,
                             .approaches = o->approaches.n ? o->approaches.v : NULL,
                             .n_approaches = o->approaches.n,
                             .overrides = o->overrides.v,
                             .replications = (uint32_t)o->replications,
                             .out = o->out,
                             .record_level = o->record_level,
                             .threads = (unsigned)o->threads,
                             .force = o->force,
                             .progress = &progress,
                             .interrupt = command_catch_signals(),
                             .n_watched = o->view || o->speed > 0 ? RUNS_MAX_WATCHED : 0,
                             .speed = o->speed,
                             .begun = viewer ? open_viewer : NULL,
                             .arg = viewer};
    if (o->kubernetes.cleanup) return clean_kubernetes(o->out, &o->kubernetes, plan.interrupt);
    if (is_live(o)) return live(o, &plan);
    bool ok = runs_execute(&plan, &r, &d);
    int code = command_diag(&d);
    if (!ok && r.error) code = command_fail(EXIT_IO, "%s", r.error);
    if (code == EXIT_OK) {
        print_summary(o, &r);
        if (runs_print_no_progress(&r, stderr)) code = EXIT_CHECK;
        if (r.interrupted) code = EXIT_INTERRUPTED;
    }
    runs_free(&r);
    free(viewer);
    return code;
}

int cmd_run(int argc, char **argv)
{
    struct options o = {.record_level = -1};
    argp_parse(&argp_run, argc, argv, 0, NULL, &o);
    array_push(&o.overrides, NULL);
    int code = execute(&o);
    array_free(&o.approaches);
    array_free(&o.overrides);
    return command_end(code);
}
