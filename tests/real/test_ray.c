/* test_ray.c - the Ray back end against a server that answers as a Ray head does (paths and members: Ray 2.60), and its
 * driver's lines. What happens at which second is told by hand; ledger, waits and restarts follow by arithmetic.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/str.h"
#include "real/ray/line.h"
#include "real/ray/ray.h"
#include "study/measures.h"
#include "tests/support/fake_kube.h"

static char top[] = "/tmp/trainyard-ray-XXXXXX";

static const char scenario_text[] =
    "{\"trainyard\": 1, \"name\": \"ray\", \"cluster\": {\"nodes\": [{\"group\": \"n\", \"count\": 2, \"gpus\": 2}]},\n"
    " \"workload\": {\"jobs\": [{\"id\": \"a\", \"kind\": \"train\", \"replicas\": 2, \"gpus\": 1, \"submit\": 0, \"steps\": 20,\n"
    "   \"step\": \"1s\", \"checkpoint\": {\"interval\": \"5s\", \"save\": \"10ms\"}, \"maxFailures\": 3}]},\n"
    " \"faults\": {\"script\": [{\"at\": \"16s\", \"target\": \"pod/a-worker-1\", \"action\": \"crash\"}]},\n"
    " \"live\": {\"samples\": 64},\n"
    " \"approaches\": {\"actor\": {\"lifecycle\": \"ray-train-v2\", \"ray_cluster\": \"shared\", \"admission\": \"none\",\n"
    "   \"shared_cluster\": {\"min\": 2, \"max\": 2}}}}\n";

/* Four workers, all that the two nodes have; Ray on the second ends at 0.4. */
static const char losses_text[] =
    "{\"trainyard\": 1, \"name\": \"ray\", \"cluster\": {\"nodes\": [{\"group\": \"n\", \"count\": 2, \"gpus\": 2}]},\n"
    " \"workload\": {\"jobs\": [{\"id\": \"a\", \"kind\": \"train\", \"replicas\": 4, \"gpus\": 1, \"submit\": 0, \"steps\": 20, \"step\": \"1s\"}]},\n"
    " \"faults\": {\"script\": [{\"at\": \"0.4s\", \"target\": \"pod/ray-shared-worker-1\", \"action\": \"container-exit\"}]},\n"
    " \"live\": {\"samples\": 64},\n"
    " \"approaches\": {\"actor\": {\"lifecycle\": \"ray-train-v2\", \"ray_cluster\": \"shared\", \"admission\": \"none\",\n"
    "   \"shared_cluster\": {\"min\": 2, \"max\": 2}}}}\n";

/* The head: its job's output, of which each look shows six lines more. */
struct head {
    double begin_s;
    ARRAY(char *) lines;
    size_t shown;
    bool busy;     /* has said so */
    bool scripted; /* the fault is told by the driver; else the controller sees it by itself */
    int two_nodes; /* GPUs of the second node */
    bool loses;    /* the story of test_nodes, told as it happens */
    bool cuts;     /* takes the submission, but its answer is lost */
    bool refuses;  /* ... does not take it */
    bool ends;     /* says a second after the submission that the job has ended; all of its output is there then */
    size_t chatter; /* bytes of other output before the job's */
    int n_looks;   /* at the output: how often, when first and last */
    double first_s, last_s;
    char submitted[1 << 16];
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void line(struct head *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void line(struct head *h, const char *fmt, ...)
{
    struct str s = {0};
    va_list args;
    va_start(args, fmt);
    str_append(&s, "trainyard ");
    str_vprintf(&s, fmt, args);
    va_end(args);
    array_push(&h->lines, str_take(&s));
}

static void state(struct head *h, double at, const char *word)
{
    line(h, "{\"time_s\": %.6f, \"state\": \"%s\"}", h->begin_s + at, word);
}

/* Its placement group ("placed") or its workers ("group") are there. */
static void group(struct head *h, const char *what, int number, double at)
{
    line(h, "{\"time_s\": %.6f, \"%s\": %d, \"world\": 2, \"nodes\": [\"127.0.0.9\", \"127.0.0.10\"]}", h->begin_s + at, what, number);
}

static void said(struct head *h, int number, int rank, double at, const char *event, const char *more)
{
    line(h, "{\"group\": %d, \"rank\": %d, \"line\": {\"event\": \"%s\", \"time_s\": %.6f, \"rank\": %d%s}}", number, rank, event,
         h->begin_s + at, rank, more);
}

/* Of steps first .. next - 1, which end at `at`, each with so many seconds of both parts. */
static void sums(struct head *h, int number, int first, int next, double at, double compute_s, double communication_s)
{
    line(h, "{\"group\": %d, \"first\": %d, \"data_s\": 0.0, \"compute_s\": %.9f, \"communication_s\": %.9f, \"checkpoint_s\": 0.0, "
            "\"time_s\": %.6f, \"next\": %d}", number, first, compute_s * (next - first), communication_s * (next - first), h->begin_s + at, next);
}

/* Steps first .. next - 1 of a second each, the first from `at` on; each fifth is saved. */
static void steps(struct head *h, int number, int first, int next, double at)
{
    char more[200];
    for (int i = first, end; i < next; i = end) {
        end = (i / 5 + 1) * 5 < next ? (i / 5 + 1) * 5 : next;
        sums(h, number, i, end, at + end - first, 0.75, 0.25);
        if (end % 5) continue;
        snprintf(more, sizeof more, ", \"step\": %d, \"ok\": true", end);
        said(h, number, 0, at + end - first, "save", more);
        said(h, number, 0, at + end - first, "checkpoint", more);
    }
}

static void begin_group(struct head *h, int number, double at, int resumed)
{
    char more[80];
    snprintf(more, sizeof more, ", \"size\": 2, \"resumed_step\": %d", resumed);
    for (int r = 0; r < 2; r++) said(h, number, r, at, "join", "");
    for (int r = 0; r < 2; r++) said(h, number, r, at + 0.5, "met", more);
    for (int r = 0; r < 2; r++) said(h, number, r, at + 1, "start", more);
}

/* Placed at 3, group at 4, steps from 6 on; 8 of them, 5 saved; a worker is lost at 15 (the last step ended at 14), seen at 17; the
 * next group is placed at 19, there at 20 and steps from 22 on, 3 steps again and 12 new: until 37, seen at 39. */
static void write_story(struct head *h)
{
    state(h, 1, "DRIVER");
    line(h, "{\"time_s\": %.6f, \"state\": \"SCHEDULING\", \"workers\": 2}", h->begin_s + 2);
    group(h, "placed", 1, 3);
    group(h, "group", 1, 4);
    state(h, 4, "RUNNING");
    begin_group(h, 1, 5, -1);
    steps(h, 1, 0, 8, 6);
    if (h->scripted) line(h, "{\"time_s\": %.6f, \"fault\": \"crash\", \"rank\": 1}", h->begin_s + 15);
    state(h, 17, "RESTARTING");
    state(h, 18, "SCHEDULING");
    group(h, "placed", 2, 19);
    group(h, "group", 2, 20);
    begin_group(h, 2, 21, 5);
    steps(h, 2, 5, 20, 22);
    for (int r = 0; r < 2; r++) said(h, 2, r, 37, "end", ", \"reason\": \"done\"");
    state(h, 38, "SHUTTING_DOWN");
    state(h, 39, "FINISHED");
}

/* Lines that the head has at `at`. */
static void say_at(struct head *h, double at, size_t n)
{
    if (now_s() - h->begin_s >= at && h->shown < n) h->shown = n;
}

/* A group from 0.1 on, of two, so that the story is short. At 0.4 the script ends Ray on the second node, which is seen at 0.6; from
 * then on the job waits for room until 2.2. From 1.0 on the head has a new Ray node there, and has lost the first. */
static void write_losses(struct head *h)
{
    state(h, 0.05, "SCHEDULING");
    group(h, "placed", 1, 0.1);
    group(h, "group", 1, 0.1);
    begin_group(h, 1, -0.8, -1);
    for (int i = 0; i < 2; i++) sums(h, 1, i, i + 1, 0.25 + 0.05 * i, 0.05, 0);
    state(h, 0.6, "RESTARTING");
    state(h, 0.6, "SCHEDULING");
    group(h, "placed", 2, 2.2);
    state(h, 2.3, "FINISHED");
}

static void show_losses(struct head *h)
{
    say_at(h, 0.3, 11);
    say_at(h, 0.6, 13);
    say_at(h, 2.3, h->lines.n);
}

static void show(struct fake_request *r, struct head *h)
{
    struct str body = {0};
    if (h->loses) show_losses(h);
    else h->shown += h->chatter ? 24 : 6;
    h->last_s = now_s();
    if (!h->n_looks++) h->first_s = h->last_s;
    str_append(&body, "{\"logs\": \"Running entrypoint\\n");
    for (size_t i = 0; i < h->chatter; i += 10) str_append(&body, "chatter.\\n");
    for (size_t i = 0; i < h->lines.n && i < h->shown; i++) {
        for (const char *p = h->lines.v[i]; *p; p++) str_printf(&body, *p == '"' ? "\\%c" : "%c", *p);
        str_append(&body, "\\n");
    }
    str_append(&body, "\"}");
    fake_reply(r, 200, "", str_text(&body));
    str_free(&body);
}

static void answer(struct fake_request *r, void *arg)
{
    struct head *h = arg;
    char nodes[600];
    bool later = h->loses && h->begin_s > 0 && now_s() - h->begin_s > 1;
    if (strstr(r->path, "/api/v0/nodes")) {
        snprintf(nodes, sizeof nodes,
                 "{\"result\": true, \"data\": {\"result\": {\"total\": 3, \"result\": ["
                 "{\"node_ip\": \"127.0.0.10\", \"state\": \"ALIVE\", \"start_time_ms\": %.0f, \"resources_total\": {\"GPU\": %d.0, \"CPU\": 8.0}},"
                 "{\"node_ip\": \"127.0.0.9\", \"state\": \"%s\", \"resources_total\": {\"GPU\": 2.0}},"
                 "{\"node_ip\": \"127.0.0.8\", \"state\": \"DEAD\", \"resources_total\": {\"GPU\": 2.0}}]}}}",
                 later ? now_s() * 1e3 : 1e12, h->two_nodes, later ? "DEAD" : "ALIVE");
        fake_reply(r, 200, "", nodes);
    } else if (strstr(r->path, "/logs")) {
        show(r, h);
    } else if (!strcmp(r->method, "POST") && h->scripted && !h->busy) {
        h->busy = true; /* once: what it says just after its start */
        fake_reply(r, 500, "", "No available agent to submit job, please try again later.");
    } else if (!strcmp(r->method, "POST") && (h->refuses || h->submitted[0])) {
        fake_reply(r, 500, "", "ValueError: Job with submission_id x already exists. Please use a different submission_id.");
    } else if (!strcmp(r->method, "POST")) {
        snprintf(h->submitted, sizeof h->submitted, "%s", r->body);
        h->begin_s = now_s();
        if (h->loses) write_losses(h);
        else write_story(h);
        if (!h->cuts) fake_reply(r, 200, "", "{\"submission_id\": \"x\"}");
    } else if (!h->submitted[0]) {
        fake_reply(r, 404, "", "Job x does not exist");
    } else if (h->ends && now_s() - h->begin_s > 1) {
        h->shown = h->lines.n;
        fake_reply(r, 200, "", "{\"status\": \"SUCCEEDED\"}");
    } else {
        fake_reply(r, 200, "", "{\"status\": \"RUNNING\"}");
    }
}

static bool play(struct head *h, const char *name, const char *command, struct ray_result *result, struct diag *d)
{
    struct str dir = {0};
    struct fake_kube *f = fake_kube_start(answer, h);
    const char *text = h->loses ? losses_text : scenario_text;
    struct scenario *sc = scenario_parse("ray.json", text, strlen(text), NULL, d);
    assert_non_null(sc);
    assert_true(ray_check(sc, d));
    str_printf(&dir, "%s/%s", top, name);
    struct ray_options o = {.dir = str_text(&dir), .address = fake_kube_server(f), .worker = "/opt/worker", .node_command = command,
                            .record_level = RECORD_FULL};
    bool ok = ray_run(sc, &o, result, d);
    fake_kube_stop(f);
    scenario_free(sc);
    str_free(&dir);
    for (size_t i = 0; i < h->lines.n; i++) free(h->lines.v[i]);
    array_free(&h->lines);
    return ok;
}

static double cell(const struct run *r, enum activity activity, bool redone)
{
    double sum = 0;
    for (size_t i = 0; i < r->n_ledger; i++)
        if (r->ledger[i].activity == activity && r->ledger[i].redone == redone) sum += (double)r->ledger[i].sum / 1e12;
    return sum;
}

static double sample(const struct measures *m, unsigned quantity)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->samples[i].quantity == quantity) return (double)m->samples[i].ns / 1e9;
    fail_msg("no %s", quantity_name(quantity));
    return 0;
}

/* The run's clock begins a moment before the server's, when files are made: half a second is far more than that takes. */
#define assert_seconds(x, expected) assert_true((x) > (expected) - 0.01 && (x) < (expected) + 0.5)
/* Looks come five times a second. */
#define assert_within(x, expected) assert_true((x) > (expected) - 0.3 && (x) < (expected) + 0.5)
#define assert_near(x, expected) assert_true((x) > (expected) - 1e-3 && (x) < (expected) + 1e-3)

static void must_be_story(const char *name, double lost_at)
{
    struct str dir = {0};
    struct measures m;
    char *err = NULL;
    str_printf(&dir, "%s/%s", top, name);
    if (!measures_read(str_text(&dir), &m, &err)) fail_msg("%s", err);
    assert_string_equal(m.run->back_end, "ray");
    assert_int_equal(m.run->jobs[0].row.state, JOB_SUCCEEDED);
    assert_int_equal(m.run->jobs[0].row.restarts, 1);
    assert_near(sample(&m, Q_ADMISSION), 0);
    assert_seconds(sample(&m, Q_ALLOCATION), 3);
    assert_near(sample(&m, Q_START), 3);
    assert_near(sample(&m, Q_RESTART), 22 - lost_at);
    assert_near(sample(&m, Q_WAITS + WAIT_DETECTION), 17 - lost_at);
    assert_near(sample(&m, Q_WAITS + WAIT_START), 2 * 1);
    assert_near(sample(&m, Q_WAITS + WAIT_RENDEZVOUS), 2 * 1.5);
    assert_near(sample(&m, Q_WAITS + WAIT_CHECKPOINT_LOAD), 2 * 0.5);
    assert_seconds(sample(&m, Q_WAITS + WAIT_CONTROL_PLANE), 3 + 2 + 2);
    assert_near(cell(m.run, ACT_COMPUTE, false), 2 * (20 * 0.75 + lost_at - 14));
    assert_near(cell(m.run, ACT_IDLE_POD, false), 2 * 2);
    assert_near(cell(m.run, ACT_COMPUTE, true), 2 * 3 * 0.75);
    assert_near(cell(m.run, ACT_COMMUNICATION, false), 2 * 20 * 0.25);
    assert_near(cell(m.run, ACT_STALLED, false), 2 * (17 - lost_at));
    measures_free(&m);
    str_free(&dir);
}

static void test_scripted(void **state)
{
    static struct head h = {.scripted = true, .two_nodes = 2};
    struct ray_result r;
    struct diag d = {0};
    (void)state;
    if (!play(&h, "scripted", NULL, &r, &d)) fail_msg("%s", d.entries.v[0].text);
    assert_int_equal(r.succeeded, 1);
    must_be_story("scripted", 15);
    assert_non_null(strstr(h.submitted, "python3 -c \\\"$TRAINYARD_DRIVER\\\""));
    assert_non_null(strstr(h.submitted, "/opt/worker"));
    assert_non_null(strstr(h.submitted, "\\\"rank\\\": 1,"));
    assert_non_null(strstr(h.submitted, "DataParallelTrainer"));
    assert_non_null(strstr(h.submitted, "/a/trainyard-")); /* checkpoints of this run alone */
    diag_free(&d);
}

/* Nobody says when the worker was lost: its ranks stood still since their last step. */
static void test_seen_late(void **state)
{
    static struct head h = {.two_nodes = 2};
    struct ray_result r;
    struct diag d = {0};
    (void)state;
    if (!play(&h, "late", NULL, &r, &d)) fail_msg("%s", d.entries.v[0].text);
    must_be_story("late", 14);
    diag_free(&d);
}

/* Its answer is lost, so it is sent again, and there already: Ray answers 500. Where the head has no such job the same answer is an error. */
static void test_lost_answer(void **state)
{
    static struct head h = {.cuts = true, .two_nodes = 2}, none = {.refuses = true, .two_nodes = 2};
    struct ray_result r;
    struct diag d = {0};
    (void)state;
    if (!play(&h, "cut", NULL, &r, &d)) fail_msg("%s", d.entries.v[0].text);
    assert_int_equal(diag_errors(&d), 0);
    must_be_story("cut", 14);
    assert_false(play(&none, "refused", NULL, &r, &d));
    assert_non_null(strstr(d.entries.v[0].text, "HTTP 500: ValueError: Job with submission_id"));
    diag_free(&d);
}

/* 1.8 MB of output at each look: no more than 4 MB a second are asked for, over all. */
static void test_long_output(void **state)
{
    static struct head h = {.chatter = 2000000, .two_nodes = 2};
    struct ray_result r;
    struct diag d = {0};
    (void)state;
    if (!play(&h, "long", NULL, &r, &d)) fail_msg("%s", d.entries.v[0].text);
    must_be_story("long", 14);
    assert_true(h.n_looks > 1);
    assert_true((h.last_s - h.first_s) * 4e6 > 0.99 * 1.8e6 * (h.n_looks - 1));
    diag_free(&d);
}

/* 9 MB of output, which is read again after 2.25 s; at 2 s the head says that the job has ended. What it said last counts, not that. */
static void test_ended(void **state)
{
    static struct head h = {.chatter = 10000000, .ends = true, .two_nodes = 2};
    struct ray_result r;
    struct diag d = {0};
    (void)state;
    if (!play(&h, "ended", NULL, &r, &d)) fail_msg("%s", d.entries.v[0].text);
    assert_int_equal(h.n_looks, 2);
    must_be_story("ended", 14);
    diag_free(&d);
}

/* A head that stops no job: both that are left when the run's time is up must be asked to. */

static void answer_stubbornly(struct fake_request *r, void *arg)
{
    unsigned *stops = arg;
    bool post = !strcmp(r->method, "POST");
    if (strstr(r->path, "/api/v0/nodes")) {
        fake_reply(r, 200, "", "{\"data\": {\"result\": {\"result\": [{\"node_ip\": \"127.0.0.9\", \"state\": \"ALIVE\", \"resources_total\": {\"GPU\": 2.0}},"
                               "{\"node_ip\": \"127.0.0.10\", \"state\": \"ALIVE\", \"resources_total\": {\"GPU\": 2.0}}]}}}");
    } else if (post && strstr(r->path, "/stop")) {
        ++*stops;
        fake_reply(r, 500, "", "no");
    } else if (post) {
        fake_reply(r, 200, "", "{}");
    } else {
        fake_reply(r, 200, "", "{\"logs\": \"\", \"status\": \"RUNNING\"}");
    }
}

static void test_stops(void **state)
{
    static const char text[] =
        "{\"trainyard\": 1, \"name\": \"two\", \"cluster\": {\"nodes\": [{\"group\": \"n\", \"count\": 2, \"gpus\": 2}]},"
        " \"workload\": {\"jobs\": [{\"id\": \"a\", \"gpus\": 1, \"duration\": 60}, {\"id\": \"b\", \"gpus\": 1, \"duration\": 60}]}, \"live\": {\"samples\": 64}, \"run\": {\"horizon\": 0.6},"
        " \"approaches\": {\"actor\": {\"lifecycle\": \"ray-train-v2\", \"ray_cluster\": \"shared\", \"admission\": \"none\","
        " \"shared_cluster\": {\"min\": 2, \"max\": 2}}}}";
    static unsigned stops;
    struct ray_result r;
    struct diag d = {0};
    struct str dir = {0};
    (void)state;
    struct fake_kube *f = fake_kube_start(answer_stubbornly, &stops);
    struct scenario *sc = scenario_parse("ray.json", text, sizeof text - 1, NULL, &d);
    assert_non_null(sc);
    str_printf(&dir, "%s/stops", top);
    ray_run(sc, &(struct ray_options){.dir = str_text(&dir), .address = fake_kube_server(f), .worker = "w"}, &r, &d);
    fake_kube_stop(f);
    assert_int_equal(r.unfinished, 2);
    assert_int_equal(stops, 2);
    assert_int_equal(diag_errors(&d), 2);
    scenario_free(sc);
    str_free(&dir);
    diag_free(&d);
}

/* What the command is run with, how long the job stands still, and the node that goes by itself. */
static void test_nodes(void **state)
{
    static struct head h = {.loses = true, .two_nodes = 2};
    struct ray_result r;
    struct diag d = {0};
    struct measures m;
    char *err = NULL, command[80], said_to[80], dir[80], *told;
    size_t n;
    (void)state;
    snprintf(command, sizeof command, "%s/node", top);
    snprintf(said_to, sizeof said_to, "%s/node.args", top);
    snprintf(dir, sizeof dir, "%s/nodes", top);
    FILE *f = fopen(command, "w");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\necho \"$@\" >>%s\n", said_to);
    fclose(f);
    assert_int_equal(chmod(command, 0755), 0);
    assert_false(play(&h, "nobody", NULL, &r, &d));
    assert_non_null(strstr(d.entries.v[0].text, "only you can do \"container-exit\" to pod/ray-shared-worker-1"));
    diag_free(&d);
    d = (struct diag){0};
    if (!play(&h, "nodes", command, &r, &d)) fail_msg("%s", d.entries.v[0].text);
    told = file_read(said_to, 1000, &n, &d);
    assert_non_null(told);
    assert_string_equal(told, "exit 127.0.0.10\n");
    free(told);
    if (!measures_read(dir, &m, &err)) fail_msg("%s", err);
    assert_int_equal(m.run->jobs[0].row.restarts, 1);
    assert_within(sample(&m, Q_WAITS + WAIT_DETECTION), 0.2);
    assert_within(sample(&m, Q_WAITS + WAIT_CAPACITY), 1.6);
    assert_true(cell(m.run, ACT_FAILED, false) > 0); /* 127.0.0.9, which nobody has announced */
    measures_free(&m);
    diag_free(&d);
}

static void test_other_cluster(void **state)
{
    static struct head h = {.two_nodes = 1};
    struct ray_result r;
    struct diag d = {0};
    (void)state;
    assert_false(play(&h, "other", NULL, &r, &d));
    assert_non_null(strstr(d.entries.v[0].text, "node 127.0.0.10 of the Ray cluster has 1 GPUs"));
    diag_free(&d);
}

static void refused(const char *from, const char *to, const char *why)
{
    struct str text = {0};
    struct diag d = {0};
    const char *at = strstr(scenario_text, from);
    assert_non_null(at);
    str_append_n(&text, scenario_text, (size_t)(at - scenario_text));
    str_append(&text, to);
    str_append(&text, at + strlen(from));
    struct scenario *sc = scenario_parse("ray.json", str_text(&text), text.n, NULL, &d);
    assert_non_null(sc);
    assert_false(ray_check(sc, &d));
    if (!strstr(d.entries.v[0].text, why)) fail_msg("\"%s\" lacks \"%s\"", d.entries.v[0].text, why);
    scenario_free(sc);
    str_free(&text);
    diag_free(&d);
}

static void test_refused(void **state)
{
    (void)state;
    refused("\"action\": \"crash\"", "\"action\": \"pod-evicted\"", "cannot play \"pod-evicted\"");
    refused("pod/a-worker-1", "pod/a-worker-x", "is no job and no worker of one");
    refused("\"samples\": 64", "\"time_scale\": 10", "cannot be scaled");
}

static void test_nobody_there(void **state)
{
    struct ray_result r;
    struct diag d = {0};
    static volatile int stop = 1; /* do not wait for it to come */
    (void)state;
    struct scenario *sc = scenario_parse("ray.json", scenario_text, sizeof scenario_text - 1, NULL, &d);
    struct ray_options o = {.dir = top, .address = "http://127.0.0.1:1", .worker = "w", .stop = &stop};
    assert_false(ray_run(sc, &o, &r, &d));
    assert_true(diag_errors(&d) > 0);
    scenario_free(sc);
    diag_free(&d);
}

static void test_lines(void **state)
{
    static const char *const bad[] = {
        "", "trainyard", "trainyard ", "trainyard 5", "trainyard {}", "trainyard {\"state\": \"RUNNING\"}",
        "trainyard {\"time_s\": -1, \"state\": \"RUNNING\"}", "trainyard {\"time_s\": 1e300, \"state\": \"RUNNING\"}",
        "trainyard {\"time_s\": 1, \"group\": 1, \"world\": 2, \"nodes\": [\"a\"]}",
        "trainyard {\"time_s\": 1, \"group\": 1.5, \"world\": 1, \"nodes\": [\"a\"]}",
        "trainyard {\"time_s\": 1, \"group\": 1, \"world\": 0, \"nodes\": []}",
        "trainyard {\"time_s\": 1, \"placed\": 1.5, \"world\": 1, \"nodes\": [\"a\"]}",
        "trainyard {\"group\": 1, \"rank\": 0, \"line\": {\"event\": \"other\"}}",
        "trainyard {\"group\": 1, \"rank\": -1, \"line\": {\"event\": \"join\"}}",
        "trainyard {\"group\": 1, \"rank\": 0, \"line\": {\"event\": \"step\", \"step\": 1}}",
        "trainyard {\"time_s\": 1, \"group\": 1, \"first\": 3, \"next\": 3, \"data_s\": 0, \"compute_s\": 1, \"communication_s\": 0, \"checkpoint_s\": 0}",
        "trainyard {\"time_s\": 1, \"group\": 1, \"first\": 3, \"next\": 4, \"data_s\": 0, \"compute_s\": -1, \"communication_s\": 0, \"checkpoint_s\": 0}",
        "trainyard {\"time_s\": 1, \"group\": 1, \"first\": 3, \"next\": 4, \"data_s\": 0, \"compute_s\": 1, \"communication_s\": 0}",
        "hello trainyard {\"time_s\": 1, \"state\": \"RUNNING\"}",
    };
    static struct ray_line l;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (ray_line_read(bad[i], strlen(bad[i]), &l)) fail_msg("taken: %s", bad[i]);
    const char good[] = "trainyard {\"time_s\": 1.5, \"state\": \"RESIZING\"}";
    assert_true(ray_line_read(good, sizeof good - 1, &l));
    assert_int_equal(l.kind, RAY_STATE);
    assert_int_equal(l.state, RT_RESIZING);
    assert_int_equal(l.time_ns, 1500000000);
}

/* The driver prints steps in sums: the short story of tests/real/ray_driver.py, then 400,000 steps of 50 ms, of each of which 1 ms is the
 * save's. A line each 0.2 s until the job is 2,000 s old, then one each ten-thousandth of its age, at the next look: at most
 * 10,000 (1 + ln 10) lines until 20,000 s. */
static void must_be_steps(const struct ray_line *l, int64_t group, int64_t first, int64_t next)
{
    assert_int_equal(l->kind, RAY_STEPS);
    assert_int_equal(l->group, group);
    assert_int_equal(l->steps.first, first);
    assert_int_equal(l->steps.next, next);
}

static void next_line(FILE *f, struct ray_line *l)
{
    char text[1000];
    assert_non_null(fgets(text, sizeof text, f));
    if (!ray_line_read(text, strlen(text), l)) fail_msg("not taken: %s", text);
}

static void test_driver(void **state)
{
    static struct ray_line l;
    FILE *f = popen("python3 tests/real/ray_driver.py", "r");
    int64_t next = 0, checkpoint_ns = 0;
    int lines = 0;
    (void)state;
    assert_non_null(f);
    next_line(f, &l), must_be_steps(&l, 1, 0, 3);
    assert_int_equal(l.time_ns, 1150000000);
    assert_int_equal(l.steps.compute_ns, 3 * 40000000);
    next_line(f, &l), assert_int_equal(l.said.event, WORKER_SAVE);
    next_line(f, &l), must_be_steps(&l, 1, 3, 5);
    next_line(f, &l), assert_int_equal(l.kind, RAY_STATE);
    next_line(f, &l), must_be_steps(&l, 2, 3, 4); /* the same numbers again, in another group */
    for (; next < 400000; lines++, next = l.steps.next, checkpoint_ns += l.steps.checkpoint_ns)
        next_line(f, &l), must_be_steps(&l, 3, next, l.steps.next);
    assert_null(fgets((char[10]){0}, 10, f));
    assert_int_equal(pclose(f), 0);
    assert_int_equal(l.time_ns, 20000000000000);
    assert_true(lines > 10000 && lines < 33027);
    assert_true(llabs(checkpoint_ns - 400000 * INT64_C(1000000)) <= lines); /* a ns of rounding a line */
}

/* A median over both kinds of restart hides what each of them is off by: tests/live/ray_compare.py tells them apart. */
static void test_rows(void **state)
{
    (void)state;
    assert_int_equal(system("python3 tests/real/ray_rows.py >/dev/null"), 0);
}

static int make_top(void **state)
{
    (void)state;
    return mkdtemp(top) ? 0 : -1;
}

static int remove_top(void **state)
{
    struct diag d = {0};
    (void)state;
    bool ok = file_remove_tree(top, &d);
    diag_free(&d);
    return ok ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scripted), cmocka_unit_test(test_seen_late),    cmocka_unit_test(test_other_cluster),
        cmocka_unit_test(test_nodes),    cmocka_unit_test(test_lost_answer),  cmocka_unit_test(test_long_output),
        cmocka_unit_test(test_ended),    cmocka_unit_test(test_stops),    cmocka_unit_test(test_driver),       cmocka_unit_test(test_rows),
        cmocka_unit_test(test_refused),  cmocka_unit_test(test_nobody_there), cmocka_unit_test(test_lines),
    };
    return cmocka_run_group_tests(tests, make_top, remove_top);
}
