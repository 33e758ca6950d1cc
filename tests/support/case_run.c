/* case_run.c - see case_run.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/case_run.h"

#include <cjson/cJSON.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "sim/kube/kube.h"
#include "run/run.h"
#include "sim/simulate.h"
#include "tests/support/temp_run.h"

struct pod_count { char name[64]; int created, restarts; };
struct first_time { char what[96]; double t; };

struct row {
    const cJSON *json, *expect;
    struct scenario *scenario;
    struct sim *sim;
    ARRAY(struct pod_count) pods;
    ARRAY(struct first_time) firsts; /* "JOB Condition", "POD CHANGE" */
    struct str wrong;
    struct check *checks;
    struct arena arena;
    struct sim_result result;
};

struct check { struct row *row; const cJSON *json; };
struct ending { struct row *row; uint32_t id; int32_t code; };

static const char *const changes[N_POD_CHANGES] = {"CREATED", "UNSCHEDULABLE", "BOUND", "IMAGE_PULLED", "INIT", "STARTED",
                                                   "READY", "NOT_READY", "EXITED", "RESTARTING", "RESTARTED", "PHASE", "TERMINATING",
                                                   "GONE", "LOST", "FOUND"};

static const cJSON *get(const cJSON *o, const char *key) { return cJSON_GetObjectItemCaseSensitive(o, key); }

static void wrong(struct row *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void wrong(struct row *r, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    str_append(&r->wrong, "\n      ");
    str_vprintf(&r->wrong, fmt, args);
    va_end(args);
}

static double clock_s(const struct row *r) { return (double)sim_now(r->sim) / 1e9; }

/* ---- what is watched ---- */

static struct pod_count *count_of(struct row *r, const char *name)
{
    for (size_t i = 0; i < r->pods.n; i++)
        if (strcmp(r->pods.v[i].name, name) == 0) return &r->pods.v[i];
    struct pod_count *c = array_add(&r->pods);
    snprintf(c->name, sizeof c->name, "%s", name);
    return c;
}

static const struct first_time *first_of(const struct row *r, const char *what)
{
    for (size_t i = 0; i < r->firsts.n; i++)
        if (strcmp(r->firsts.v[i].what, what) == 0) return &r->firsts.v[i];
    return NULL;
}

static void saw(struct row *r, const char *who, const char *what)
{
    struct first_time f = {.t = clock_s(r)};
    snprintf(f.what, sizeof f.what, "%s %s", who, what);
    if (!first_of(r, f.what)) array_push(&r->firsts, f);
}

static void on_ending(void *ctx, void *arg)
{
    struct ending *e = arg;
    (void)ctx;
    for (struct pod *p = kube_first_pod(e->row->sim->kube); p; p = p->live_next)
        if (p->id == e->id) {
            kube_pod_exit(e->row->sim->kube, p, e->code);
            break;
        }
}

static void end_later(struct row *r, const struct pod *p, const char *name)
{
    const cJSON *x;
    cJSON_ArrayForEach(x, get(r->json, "exits"))
    {
        int64_t after = 0;
        if (strcmp(get(x, "pod")->valuestring, name) != 0) continue;
        units_parse_duration(get(x, "after")->valuestring, &after);
        struct ending *e = arena_new(&r->arena, struct ending);
        *e = (struct ending){r, p->id, get(x, "code")->valueint};
        event_after(r->sim->events, after, EVENT_FAULT, on_ending, e);
    }
}

static void on_pod(void *ctx, struct kube *k, const struct pod *p, enum pod_change what)
{
    struct row *r = ctx;
    char name[64];
    kube_pod_name(k, p, name, sizeof name);
    struct pod_count *c = count_of(r, name);
    c->created += what == POD_CREATED;
    c->restarts += what == POD_RESTARTED;
    saw(r, name, changes[what]);
    if (what == POD_STARTED || what == POD_RESTARTED) end_later(r, p, name);
}

static void on_condition(void *ctx, struct kube *k, const struct job *j, const char *type, const char *status,
                         const char *reason, const char *message)
{
    struct row *r = ctx;
    char number[24];
    (void)k;
    (void)message;
    char what[96];
    if (!j) return; /* a shared cluster's */
    const char *who = job_id(r->scenario, j->spec, number);
    if (strcmp(status, "True") == 0) saw(r, who, type);
    else if (strcmp(status, "False") != 0) { /* a state: "JobDeploymentStatus Failed", and with its reason */
        snprintf(what, sizeof what, "%s %s", type, status);
        saw(r, who, what);
        snprintf(what, sizeof what, "%s %s %s", type, status, reason);
        if (reason[0]) saw(r, who, what);
    }
}

/* ---- expectations ---- */

static void in_interval(struct row *r, const char *what, const cJSON *interval, bool known, double value)
{
    double least = interval ? cJSON_GetArrayItem(interval, 0)->valuedouble : 0;
    double most = interval ? cJSON_GetArrayItem(interval, 1)->valuedouble : 0;
    if (!known) wrong(r, "%s: never, expected %g to %g", what, least, most);
    else if (value < least || value > most) wrong(r, "%s: %g, expected %g to %g", what, value, least, most);
}

static void expect_first(struct row *r, const char *what, const cJSON *interval)
{
    const struct first_time *f = first_of(r, what);
    if (cJSON_IsNull(interval)) {
        if (f) wrong(r, "%s: at %g s, expected never", what, f->t);
    } else {
        in_interval(r, what, interval, f != NULL, f ? f->t : 0);
    }
}

static struct job *job_named(const struct row *r, const char *name)
{
    char number[24];
    for (size_t i = 0; i < r->sim->n_specs; i++)
        if (strcmp(job_id(r->scenario, &r->sim->specs[i], number), name) == 0) return r->sim->by_index[i];
    return NULL;
}

struct find_partial { const struct job *job; const struct pod_tally *found; };

static void is_partial(const struct pod_tally *t, void *arg)
{
    struct find_partial *f = arg;
    if (t->job == f->job) f->found = t;
}

static void expect_partial(struct row *r, const cJSON *e)
{
    struct find_partial f = {.job = job_named(r, e->string)};
    kube_each_partial(r->sim->kube, is_partial, &f);
    double t = clock_s(r);
    if (cJSON_IsNull(e)) {
        if (f.found) wrong(r, "at %g s: %s holds a part", t, e->string);
        return;
    }
    int64_t held = cJSON_GetArrayItem(e, 0)->valueint * INT64_C(1000), wanted = cJSON_GetArrayItem(e, 1)->valueint * INT64_C(1000);
    if (!f.found) wrong(r, "at %g s: %s holds no part", t, e->string);
    else if (f.found->held != held || f.found->wanted != wanted)
        wrong(r, "at %g s: %s holds %g and wants %g GPUs", t, e->string, (double)f.found->held / 1e3, (double)f.found->wanted / 1e3);
}

static void on_check(void *ctx, void *arg)
{
    struct check *c = arg;
    struct row *r = c->row;
    const cJSON *e;
    (void)ctx;
    cJSON_ArrayForEach(e, get(c->json, "held"))
    {
        const struct job *j = job_named(r, e->string);
        double held = j && j->live ? (double)j->live->held_shares / 1e3 : 0;
        if (cJSON_IsArray(e)) in_interval(r, e->string, e, true, held);
        else if (held != e->valuedouble) wrong(r, "at %g s: %s holds %g GPUs, expected %g", clock_s(r), e->string, held, e->valuedouble);
    }
    cJSON_ArrayForEach(e, get(c->json, "partial")) expect_partial(r, e);
    cJSON_ArrayForEach(e, get(c->json, "waits"))
    {
        const struct job *j = job_named(r, e->string);
        unsigned reason = !j ? NOT_WAITING : j->class ? j->class->clock.reason : j->wait;
        const char *w = reason < N_WAIT_REASONS ? wait_table[reason].name : "none";
        if (strcmp(w, e->valuestring) != 0) wrong(r, "at %g s: %s waits for %s, expected %s", clock_s(r), e->string, w, e->valuestring);
    }
}

static void expect_number(struct row *r, const char *key, double value)
{
    const cJSON *e = get(r->expect, key);
    if (cJSON_IsArray(e)) in_interval(r, key, e, true, value);
    else if (e && value != (cJSON_IsBool(e) ? (double)cJSON_IsTrue(e) : e->valuedouble)) wrong(r, "%s: %g", key, value);
}

static void expect_end(struct row *r)
{
    const cJSON *j, *e;
    char what[160];
    expect_number(r, "succeeded", (double)r->result.succeeded);
    expect_number(r, "failed", (double)r->result.failed);
    expect_number(r, "unfinished", (double)r->result.unfinished);
    expect_number(r, "no_progress", r->result.no_progress);
    expect_number(r, "end_s", (double)r->result.end_ns / 1e9);
    cJSON_ArrayForEach(e, get(r->expect, "says"))
        if (!r->result.no_progress_text || !strstr(r->result.no_progress_text, e->valuestring))
            wrong(r, "the report does not say \"%s\": %s", e->valuestring, r->result.no_progress_text ? r->result.no_progress_text : "");
    cJSON_ArrayForEach(j, get(r->expect, "conditions"))
        cJSON_ArrayForEach(e, j)
        {
            snprintf(what, sizeof what, "%s %s", j->string, e->string);
            expect_first(r, what, e);
        }
    cJSON_ArrayForEach(e, get(r->expect, "changes")) expect_first(r, e->string, e);
    cJSON_ArrayForEach(e, get(r->expect, "created")) in_interval(r, e->string, e, true, count_of(r, e->string)->created);
    cJSON_ArrayForEach(e, get(r->expect, "restarts")) in_interval(r, e->string, e, true, count_of(r, e->string)->restarts);
}

/* ---- jobs.csv ---- */

static const struct run_job_view *row_named(const struct run *run, const char *name)
{
    char number[24];
    for (size_t i = 0; i < run->n_jobs; i++) {
        snprintf(number, sizeof number, "%llu", (unsigned long long)run->jobs[i].row.number);
        if (strcmp(run->jobs[i].row.id ? run->jobs[i].row.id : number, name) == 0) return &run->jobs[i];
    }
    return NULL;
}

static void expect_moment(struct row *r, const cJSON *of, const char *key, int64_t ns)
{
    const cJSON *e = get(of, key);
    char what[128];
    snprintf(what, sizeof what, "%s %s", of->string, key);
    if (cJSON_IsNull(e) && ns >= 0) wrong(r, "%s: at %g s, expected never", what, (double)ns / 1e9);
    else if (cJSON_IsArray(e)) in_interval(r, what, e, ns >= 0, (double)ns / 1e9);
}

static void expect_job(struct row *r, const struct run *run, const cJSON *of)
{
    const struct run_job_view *j = row_named(run, of->string);
    const cJSON *evictions = get(of, "evictions"), *state = get(of, "state");
    if (!j) {
        wrong(r, "there is no job %s", of->string);
        return;
    }
    expect_moment(r, of, "admitted", j->row.admitted_ns);
    expect_moment(r, of, "finished", j->row.finished_ns);
    if (evictions && j->row.preemptions != (uint64_t)evictions->valuedouble)
        wrong(r, "%s: %llu evictions, expected %g", of->string, (unsigned long long)j->row.preemptions, evictions->valuedouble);
    if (state && strcmp(job_state_names[j->row.state], state->valuestring) != 0)
        wrong(r, "%s: %s, expected %s", of->string, job_state_names[j->row.state], state->valuestring);
}

static void expect_jobs(struct row *r, const char *dir)
{
    const cJSON *of;
    char *warnings = NULL, *error = NULL;
    uint64_t evictions = 0;
    struct run *run = run_open(dir, &warnings, &error);
    if (!run || warnings) {
        wrong(r, "%s", warnings ? warnings : error ? error : "no run");
        return;
    }
    for (size_t i = 0; i < run->n_jobs; i++) evictions += run->jobs[i].row.preemptions;
    expect_number(r, "evictions", (double)evictions);
    cJSON_ArrayForEach(of, get(r->expect, "jobs")) expect_job(r, run, of);
    temp_run_close(run);
}

/* ---- a row ---- */

static void make_endless(struct row *r)
{
    const cJSON *e;
    char number[24];
    cJSON_ArrayForEach(e, get(r->json, "endless"))
        for (size_t i = 0; i < r->scenario->n_jobs; i++)
            if (strcmp(job_id(r->scenario, &r->scenario->jobs[i], number), e->valuestring) == 0)
                r->scenario->jobs[i].work_ns = TIME_NEVER;
}

static void schedule_checks(struct row *r)
{
    const cJSON *at = get(r->expect, "at"), *e;
    int i = 0;
    r->checks = xcalloc((size_t)cJSON_GetArraySize(at) + 1, sizeof *r->checks);
    cJSON_ArrayForEach(e, at)
    {
        r->checks[i] = (struct check){r, e};
        event_at(r->sim->events, (int64_t)(get(e, "t")->valuedouble * 1e9), EVENT_OBSERVE, on_check, &r->checks[i++]);
    }
}

static bool run_row(struct row *r, const char *path, const cJSON *scenario)
{
    struct diag d = {0};
    struct sim_options options = {.dir = NULL};
    struct kube_observer observer = {.pod = on_pod, .condition = on_condition, .ctx = r};
    char *error = NULL, *text = cJSON_Print(scenario);
    r->scenario = scenario_parse(path, text, strlen(text), get(r->json, "approach")->valuestring, &d);
    free(text);
    if (!r->scenario) diag_print(&d, stderr);
    diag_free(&d);
    if (!r->scenario) return false;
    make_endless(r);
    char dir[64];
    bool reads_jobs = get(r->expect, "jobs") != NULL;
    if (reads_jobs && !(options.dir = temp_run_dir(dir, sizeof dir))) return false;
    options.force = reads_jobs;
    r->sim = sim_create(r->scenario, &options, &error);
    if (!r->sim) return false;
    kube_observe(r->sim->kube, &observer);
    schedule_checks(r);
    while (sim_step(r->sim)) {}
    kube_observe(r->sim->kube, NULL);
    if (!sim_close(r->sim, &r->result)) wrong(r, "%s", r->result.error ? r->result.error : "cannot be closed");
    expect_end(r);
    if (reads_jobs) expect_jobs(r, dir);
    return true;
}

static void row_free(struct row *r)
{
    if (r->scenario) scenario_free(r->scenario);
    sim_result_free(&r->result);
    array_free(&r->pods);
    array_free(&r->firsts);
    str_free(&r->wrong);
    free(r->checks);
    arena_free(&r->arena);
}

int case_run_file(const char *path, int *rows)
{
    struct diag d = {0};
    size_t n;
    int failures = 0;
    const cJSON *json;
    char *text = file_read(path, 1 << 20, &n, &d);
    cJSON *file = text ? cJSON_ParseWithLength(text, n) : NULL;
    if (!file) {
        printf("  WRONG %s is no JSON\n", path);
        failures++;
    }
    cJSON_ArrayForEach(json, get(file, "rows"))
    {
        struct row r = {.json = json, .expect = get(json, "expect")};
        bool ran = run_row(&r, path, get(file, "scenario"));
        bool right = ran && r.wrong.n == 0;
        printf("  %s case %s, %s%s\n", right ? "right" : "WRONG", get(file, "case")->valuestring,
               get(json, "name")->valuestring, right ? "" : ran ? str_text(&r.wrong) : ": no scenario");
        failures += !right;
        ++*rows;
        row_free(&r);
    }
    cJSON_Delete(file);
    free(text);
    diag_free(&d);
    return failures;
}
