/* test_k8s_run.c - whole runs against an API server in memory: jobs that come after others, interruption, the check beforehand.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "real/kubernetes/run.h"
#include "run/run.h"
#include "tests/support/k8s_bench.h"
#include "tests/support/kube_store.h"
#include "tests/support/temp_run.h"

#define LIVE "\"live\": { \"time_scale\": 1 },"
#define JOB(id, more) "{ \"id\": \"" id "\", \"kind\": \"Job\", \"gpus\": 4, \"duration\": 60" more " }"

struct cluster {
    const char *condition;   /* of the first job that is made; NULL: none */
    volatile int stop;
    bool interrupts;         /* the user, while the first job is being made */
    char ns[200];
    atomic_bool made;
};

/* In the stream of jobs the condition, as soon as there is a job to have it. */
static void tell(struct fake_request *r, struct cluster *c)
{
    struct str event = {0};
    fake_begin(r);
    while (!c->made)
        if (!fake_chunk(r, "\n")) return;
        else usleep(20000);
    usleep(100000);
    str_printf(&event, "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"first\",\"namespace\":\"%s\",\"resourceVersion\":\"9\"},"
                       "\"status\":{\"conditions\":[{\"type\":\"%s\",\"status\":\"True\",\"reason\":\"r\"}]}}}\n", c->ns, c->condition);
    fake_chunk(r, str_text(&event));
    str_free(&event);
    while (fake_chunk(r, "\n")) usleep(20000);
}

static bool hook(struct fake_request *r, void *arg)
{
    struct cluster *c = arg;
    bool makes = strcmp(r->method, "POST") == 0 && strstr(r->path, "/jobs?");
    if (makes && !c->made) {
        sscanf(strstr(r->path, "/namespaces/") + 12, "%199[^/]", c->ns);
        c->made = true;
        c->stop = c->interrupts;
        if (c->interrupts) usleep(2000000); /* its answer comes too late */
    }
    if (!c->condition || !strstr(r->path, "/jobs?watch=true")) return false;
    tell(r, c);
    return true;
}

struct played { char dir[300]; bool ok; struct k8s_outcome out; struct diag d; char *writes; size_t left; struct run *run; };

static void play(struct played *p, struct cluster *c, const char *jobs)
{
    char *warnings = NULL, *err = NULL;
    *p = (struct played){0};
    struct kube_store *s = kube_store_start(hook, c);
    struct scenario *sc = k8s_bench_scenario(jobs, LIVE, false);
    struct k8s_access access = {.server = kube_store_server(s), .context = "lab"};
    assert_non_null(temp_run_dir(p->dir, sizeof p->dir));
    struct k8s_options o = {.dir = p->dir, .record_level = RECORD_FULL, .force = true, .stop = &c->stop};
    p->ok = k8s_run(sc, &access, &o, &p->out, &p->d);
    p->writes = strdup(kube_store_writes(s));
    p->left = kube_store_count(s);
    p->run = run_open(p->dir, &warnings, &err);
    if (!p->run) fail_msg("%s", err);
    free(warnings);
    scenario_free(sc);
    kube_store_stop(s);
}

static void end(struct played *p)
{
    run_close(p->run);
    diag_free(&p->d);
    free(p->writes);
    assert_true(file_remove_tree(p->dir, &(struct diag){0}));
}

static enum job_state state_of(const struct run *r, const char *id)
{
    for (size_t i = 0; i < r->n_jobs; i++)
        if (strcmp(r->jobs[i].row.id, id) == 0) return r->jobs[i].row.state;
    fail_msg("%s has no row", id);
    return JOB_PENDING;
}

static unsigned count(const char *text, const char *what)
{
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what)) n++;
    return n;
}

/* No horizon: the run ends because all jobs have, the one that has failed and those that come after it, of which none is made. */
static void after_a_failure(void **state)
{
    struct cluster c = {.condition = "Failed"};
    struct played p;
    (void)state;
    play(&p, &c, JOB("first", "") "," JOB("second", ", \"after\": [\"first\"]") "," JOB("third", ", \"after\": [\"second\"]") ","
                 JOB("fourth", ", \"submit\": \"1s\", \"after\": [\"first\"]"));
    if (!p.ok) diag_print(&p.d, stderr);
    assert_true(p.ok);
    assert_int_equal(state_of(p.run, "first"), JOB_FAILED);
    assert_int_equal(state_of(p.run, "second"), JOB_CANCELLED);
    assert_int_equal(state_of(p.run, "third"), JOB_CANCELLED);
    assert_int_equal(state_of(p.run, "fourth"), JOB_CANCELLED);
    assert_int_equal(count(p.writes, "/jobs\n"), 1);
    assert_int_equal(p.out.failed, 1);
    assert_int_equal(p.out.unfinished, 0);
    assert_int_equal(p.left, 0);
    end(&p);
}

/* SIGINT while a request waits for its answer: the run is interrupted, not failed, and cleaned up. */
static void interrupted(void **state)
{
    struct cluster c = {.interrupts = true};
    struct played p;
    (void)state;
    play(&p, &c, JOB("first", ""));
    if (!p.ok) diag_print(&p.d, stderr);
    assert_true(p.ok);
    assert_true(p.out.interrupted);
    assert_int_equal(diag_errors(&p.d), 0);
    assert_int_equal(p.run->state, RUN_INTERRUPTED);
    assert_int_equal(p.left, 0); /* also what was made by the request that was broken off */
    end(&p);
}

/* Each job in a namespace of its own; "default" is the run's, too. */
static bool checks(unsigned namespaces, struct diag *d)
{
    struct str text = {0};
    str_append(&text, "{ \"trainyard\": 1, \"cluster\": { \"nodes\": [{ \"group\": \"g\", \"gpus\": 8 }] }, \"objects\": [");
    for (unsigned i = 0; i < namespaces; i++)
        str_printf(&text, "%s{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"j\",\"namespace\":\"team-%u\",\"annotations\":{\"trainyard/duration\":\"60\"}},"
                          "\"spec\":{\"template\":{\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}", i ? "," : "", i);
    str_append(&text, "], \"approaches\": { \"a\": { \"lifecycle\": \"batch-job\" } } }");
    struct scenario *s = scenario_parse("t.json", text.s, text.n, NULL, d);
    if (!s) diag_print(d, stderr);
    assert_non_null(s);
    bool ok = k8s_run_check(s, d);
    scenario_free(s);
    str_free(&text);
    return ok;
}

static void too_many_namespaces(void **state)
{
    struct diag d = {0};
    (void)state;
    assert_true(checks(MAX_NAMESPACES - 1, &d));
    assert_false(checks(MAX_NAMESPACES, &d));
    assert_non_null(strstr(d.entries.v[d.entries.n - 1].text, "more than 64 namespaces"));
    diag_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(after_a_failure), cmocka_unit_test(interrupted), cmocka_unit_test(too_many_namespaces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
