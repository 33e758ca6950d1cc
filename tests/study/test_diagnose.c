/* test_diagnose.c - runs with known causes of low utilisation: the causes are named, in order, with what removing them gives.
 *
 * A set-up is a scenario that is healthy, and overrides that each bring in one cause. Nothing of them is in the names. The
 * truth is a simulation without the override: the GPU time that the same work takes less. The order that is expected is
 * the order of these differences.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/decimal.h"
#include "study/diagnose.h"
#include "study/explain.h"
#include "tests/support/doc_section.h"
#include "tests/support/temp_run.h"

enum { MOST_CAUSES = 2, MOST_OVERRIDES = 4 };
#define TOLERANCE 0.1 /* of a gain */

struct ill { enum health_cause cause; const char *overrides[MOST_OVERRIDES]; };
struct setup { const char *scenario; struct ill ills[MOST_CAUSES]; const char *always[MOST_OVERRIDES]; };

#define ONE "tests/study/diagnose/one.json"
#define MANY "tests/study/diagnose/many.json"
#define JOB "/workload/jobs/0/"
#define SLOW_SAVES {WHY_CHECKPOINT, {JOB "checkpoint/interval=\"10m\"", JOB "checkpoint/save=\"4m\""}}
/* 3 TB to a store of 20 GB/s take 150 s; copies of 8 GPUs to their host, at 25 GB/s each, 3.75 s. */
#define WAITS_FOR_SAVES {WHY_CHECKPOINT, {JOB "checkpoint/async=false"}}
#define STORED {JOB "checkpoint={\"interval\":\"5m\",\"size\":\"3TB\",\"storage\":\"s\",\"sharded\":true,\"async\":true}", \
                "/cluster/storage=[{\"name\":\"s\",\"kind\":\"object\",\"write\":\"20GB/s\",\"read\":\"40GB/s\"}]"}
#define LATE_DATA(ms) {WHY_DATA, {JOB "step/data=\"" #ms "ms\""}}
#define EXPOSED(ms) {WHY_COMMUNICATION, {JOB "step/communication=\"" #ms "ms\""}}
#define CRASHES(h) {WHY_RESTARTS, {JOB "crash_mtbf=\"" #h "h\""}}
#define SMALL_QUOTA {WHY_WAITING, {"/queues/0/quota/n=16"}}
/* What 8 loader processes a GPU easily load, and what holds each back. 32 x 256 x 110 kB a second are 0.9 GB/s. */
#define LOADER {JOB "data={\"samples\":256,\"workers\":8,\"cpu\":\"10ms\",\"locked\":0.6,\"size\":\"110kB\",\"storage\":\"s\"}", \
                "/cluster/storage=[{\"name\":\"s\",\"kind\":\"object\",\"write\":\"10GB/s\",\"read\":\"10GB/s\"}]"}
#define THREADS {WHY_LOCK, {JOB "data/mode=\"threads\""}}
#define FEW_WORKERS {WHY_CPU, {JOB "data/workers=1"}}
#define FEW_CORES {WHY_CPU, {JOB "data/cores=1.5"}}
#define SLOW_STORE {WHY_STORAGE, {"/cluster/storage/0/read=\"0.5GB/s\""}}
#define ORDER "tests/study/diagnose/order.json"
#define STRICT {WHY_WAITING, {"/approaches/x/admission=\"fifo\"", "/approaches/y/admission=\"fifo\""}}
#define MODEL "tests/study/diagnose/model.json"
/* Pods of one GPU that are spread: tensor-parallel neighbours lie on different nodes. */
#define SPREAD {WHY_TOPOLOGY, {JOB "replicas=64", JOB "gpus=1", "/approaches/x/placement=\"spread\"", "/approaches/y/placement=\"spread\""}}
#define TENSOR_16 {WHY_TOPOLOGY, {JOB "parallelism/tensor=16"}}
#define SLOW_NETWORK {WHY_COMMUNICATION, {"/cluster/network=\"ethernet-25\""}}
/* Two racks of 4 nodes, 12.8 Tbit/s down and a 64th of it up. */
#define NARROW {WHY_LINKS, {"/cluster/network/oversubscription={\"rack\":64}"}}
#define RACKS {"/cluster/topology={\"nodes_per_rack\":4}", "/cluster/network={\"profile\":\"ib-ndr-400\"}", \
               JOB "parallelism={\"tensor\":2,\"zero\":3,\"overlap\":1}", JOB "batch/global=128"}
#define SLOW_NODES {WHY_STRAGGLER, {"/cluster/stragglers={\"share\":0.2,\"slowness\":0.5}"}}
#define SLOW_SOME {WHY_STRAGGLER, {"/cluster/stragglers={\"share\":0.3,\"slowness\":0.3}"}}
#define SAMPLES {JOB "data={\"samples\":32,\"workers\":8,\"cpu\":\"450ms\",\"locked\":1}"}
#define JITTER {WHY_STRAGGLER, {"/cluster/stragglers={\"jitter\":0.1}"}}
#define SMALL_MICRO {WHY_MICRO_BATCH, {JOB "batch/micro=1"}}
#define SHARDED {JOB "model={\"name\":\"llama2-7b\",\"sequence\":1024}", JOB "parallelism={\"zero\":3}", JOB "batch/micro=8"}
#define NO_INTERLEAVE {WHY_BUBBLE, {JOB "parallelism/interleave=1"}}
#define PIPELINE {JOB "parallelism={\"tensor\":2,\"pipeline\":8,\"interleave\":5,\"zero\":1}", JOB "batch/global=96", JOB "steps=200000"}

#define PAIR "tests/study/diagnose/pair.json"
#define OTHER_SAVES {WHY_CHECKPOINT, {"/workload/jobs/1/checkpoint/save=\"20m\""}}

static const struct setup setups[] = {
    /* one of each cause */
    {ONE,   {SLOW_STORE},                  LOADER                          },
    {ONE,   {THREADS},                     LOADER                          },
    {MODEL, {SLOW_NETWORK},                {NULL}                          },
    {MODEL, {SPREAD},                      {NULL}                          },
    {ONE,   {WAITS_FOR_SAVES},             STORED                          },
    {MODEL, {SLOW_NODES},                  {NULL}                          },
    {MODEL, {SMALL_MICRO},                 SHARDED                         },
    {MODEL, {NO_INTERLEAVE},               PIPELINE                        },
    {MANY,  {SMALL_QUOTA},                 {NULL}                          },
    {ONE,   {CRASHES(10)},                 {NULL}                          },
    /* two at once */
    {ONE,   {THREADS, SLOW_SAVES},         LOADER                          },
    {MODEL, {SLOW_NODES, SPREAD},          {NULL}                          },
    {MODEL, {SMALL_MICRO, SLOW_SAVES},     SHARDED                         },
    {MODEL, {NO_INTERLEAVE, CRASHES(50)},  PIPELINE                        },
    {MANY,  {SMALL_QUOTA, EXPOSED(400)},   {NULL}                          },
    /* the same causes in other ways */
    {ORDER, {STRICT},                      {NULL}                          },
    {ONE,   {FEW_WORKERS},                 LOADER                          },
    {ONE,   {FEW_CORES},                   LOADER                          },
    {ONE,   {LATE_DATA(500)},              {NULL}                          },
    {ONE,   {EXPOSED(700)},                {NULL}                          },
    {MODEL, {TENSOR_16},                   {JOB "parallelism/tensor=8"}    },
    {MODEL, {NARROW},                      RACKS                           },
    {ONE,   {SLOW_SAVES},                  {NULL}                          },
    {MODEL, {JITTER},                      {NULL}                          },
    {ONE,   {SLOW_STORE, THREADS},         LOADER                          }, /* without the lock they wait as long */
    {ONE,   {THREADS, SLOW_SOME},          LOADER                          }, /* slow nodes hide behind slow loading */
    {MODEL, {SPREAD, THREADS},             SAMPLES                         }, /* slow loading hides behind slow steps */
    {ONE,   {SLOW_STORE, CRASHES(20)},     LOADER                          },
    {ONE,   {LATE_DATA(600), CRASHES(20)}, {NULL}                          },
    {ONE,   {SLOW_SAVES, EXPOSED(200)},    {NULL}                          },
    {PAIR,  {THREADS, OTHER_SAVES},        {NULL}                          },
};

/* The run of a set-up with all its ills but one; `without` MOST_CAUSES: with all. */
static struct run *simulate(const struct setup *u, const char *approach, int without)
{
    const char *overrides[(MOST_CAUSES + 1) * MOST_OVERRIDES + 1] = {NULL};
    size_t n = 0;
    struct diag d = {0};
    for (int k = 0; k < MOST_OVERRIDES && u->always[k]; k++) overrides[n++] = u->always[k];
    for (int i = 0; i < MOST_CAUSES; i++)
        for (int k = 0; k < MOST_OVERRIDES && u->ills[i].overrides[k] && i != without; k++)
            overrides[n++] = u->ills[i].overrides[k];
    struct scenario *s = scenario_load(u->scenario, approach, overrides, &d);
    diag_print(&d, stderr);
    assert_non_null(s);
    struct run *r = temp_run(s, RECORD_JOBS);
    assert_non_null(r);
    scenario_free(s);
    diag_free(&d);
    return r;
}

/* GPU time that the jobs took; of the whole cluster when jobs wait for it. */
static double gpu_time(const struct run *r, bool whole)
{
    double gpu_s = 0;
    for (size_t i = 0; i < r->n_ledger; i++) {
        enum activity_class class = activity_table[r->ledger[i].activity].class;
        if (whole || class == CLASS_HELD || class == CLASS_WORK) gpu_s += decimal_gpu_s(r->ledger[i].sum);
    }
    return gpu_s;
}

static double gain_of(const struct run *with, const struct setup *u, const char *approach, int ill)
{
    bool whole = u->ills[ill].cause == WHY_WAITING;
    struct run *without = simulate(u, approach, ill);
    double gain = gpu_time(with, whole) - gpu_time(without, whole);
    temp_run_close(without);
    return gain;
}

static void tell(const struct diagnosis *d)
{
    struct str s = {0};
    diagnosis_text(d, &s);
    print_message("%s\n", str_text(&s));
    str_free(&s);
}

/* A line of the table of docs/models.md. */
static void append_row(struct str *rows, const struct diagnosis *d, const struct setup *u, int i, double gain)
{
    const struct finding *f = &d->found[i];
    str_printf(rows, "| %s | %s | %.0f | %.0f | %.0f |\n", i ? "" : u->ills[1].overrides[0] ? "two" : "one",
               health_causes[u->ills[i].cause].title, 100 * f->gpu_s / d->gpu_s, 100 * f->saved_gpu_s / d->gpu_s,
               100 * gain / d->gpu_s);
}

static bool check(const struct setup *u, const char *approach, size_t number, struct str *rows)
{
    struct diagnosis d;
    bool good = true;
    double before = INFINITY;
    struct run *r = simulate(u, approach, MOST_CAUSES);
    diagnose_run(r, &d);
    for (int i = 0; i < MOST_CAUSES && u->ills[i].overrides[0]; i++) {
        const struct finding *f = &d.found[i];
        double gain = gain_of(r, u, approach, i);
        bool named = (size_t)i < d.n_found && f->cause == u->ills[i].cause;
        if (!named || fabs(f->saved_gpu_s - gain) > TOLERANCE * gain || !(gain < before)) {
            tell(&d);
            print_error("set-up %zu under %s: cause %d should be %s with a gain of %.4g GPU-h%s\n", number, approach, i + 1,
                        health_causes[u->ills[i].cause].name, gain / 3600, gain < before ? "" : ", which is more than the one before");
            good = false;
        }
        append_row(rows, &d, u, i, gain);
        before = gain;
    }
    diagnosis_free(&d);
    temp_run_close(r);
    return good;
}

static const char *const approaches[2] = {"x", "y"}; /* training operator, Ray Train */

/* Ray Train gives ranks node by node, so that pods that are spread do no harm. */
static bool spares(const struct setup *u, int approach)
{
    bool spread = false;
    for (int i = 0; i < MOST_CAUSES; i++)
        for (int k = 0; k < MOST_OVERRIDES && u->ills[i].overrides[k]; k++) spread |= strstr(u->ills[i].overrides[k], "spread") != NULL;
    return spread && approach == 1;
}

static void test_setups(void **state)
{
    size_t bad = 0;
    struct str rows[2] = {{0}, {0}};
    (void)state;
    str_append(&rows[0], "| causes | in order | share, % of GPU time | stated gain | simulated gain |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof setups / sizeof *setups; i++)
        for (int k = 0; k < 2; k++) bad += !spares(&setups[i], k) && !check(&setups[i], approaches[k], i + 1, &rows[k]);
    assert_int_equal(bad, 0);
    doc_section("docs/models.md", "what keeps utilisation low", str_text(&rows[0]));
    str_free(&rows[0]);
    str_free(&rows[1]);
}

/* Shares, rest and useful time are all of the GPU time, once each. */
static void assert_whole(const struct diagnosis *d)
{
    double sum = d->useful_gpu_s;
    for (int c = 0; c < N_HEALTH_CAUSES; c++) sum += d->found[c].gpu_s;
    for (int i = 0; i < N_HEALTH_RESTS; i++) sum += d->rest[i].gpu_s;
    assert_true(fabs(sum - d->gpu_s) < 1e-9 * d->gpu_s);
}

static void test_healthy(void **state)
{
    static const char *const files[] = {ONE, MANY, MODEL, PAIR, ORDER};
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct diagnosis d;
        struct run *r = simulate(&(struct setup){.scenario = files[i]}, "y", MOST_CAUSES);
        diagnose_run(r, &d);
        assert_true(diagnosis_healthy(&d));
        assert_int_equal(d.n_found, 0);
        assert_whole(&d);
        diagnosis_free(&d);
        temp_run_close(r);
    }
}

/* Loads of another kind, and GPUs for which nobody asks: low, but none of the causes. */
static void test_others(void **state)
{
    static const struct { const char *overrides[2]; int rest; double share; } rows[] = {
        {{"/workload/jobs/0={\"id\":\"a\",\"kind\":\"Job\",\"replicas\":4,\"gpus\":8,\"completions\":8,"
          "\"duration\":\"10h\"}", "/approaches/x/lifecycle=\"batch-job\""}, 2, 0.99}, /* the whole run, but for starting */
        {{"/cluster/nodes/0/count=12", NULL},           0, 8 / 12.}, /* 4 of 12 nodes are used */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct diagnosis d;
        struct run *r = simulate(&(struct setup){ONE, {{0, {rows[i].overrides[0], rows[i].overrides[1]}}}, {NULL}}, "x", MOST_CAUSES);
        diagnose_run(r, &d);
        assert_false(diagnosis_healthy(&d));
        assert_int_equal(d.n_found, 0);
        assert_whole(&d);
        assert_true(d.rest[rows[i].rest].gpu_s > (rows[i].share - 0.001) * d.gpu_s);
        diagnosis_free(&d);
        temp_run_close(r);
    }
}

/* Of one job: 10 minutes of steps, 4 of saving; the words, and the same as JSON. */
static void test_job(void **state)
{
    const struct setup u = {ONE, {SLOW_SAVES}, {NULL}};
    struct diagnosis d;
    struct str s = {0};
    struct json_writer w;
    (void)state;
    struct run *r = simulate(&u, "x", MOST_CAUSES);
    diagnose_job(r, explain_row(r, "a"), &d);
    assert_whole(&d);
    assert_int_equal(d.n_found, 1);
    assert_true(fabs(diagnosis_utilisation(&d) - 10 / 14.) < 0.001);
    assert_true(fabs(d.found[0].gpu_s / d.gpu_s - 4 / 14.) < 0.001);
    assert_true(diagnosis_utilisation_after(&d, &d.found[0]) > 0.999);
    diagnosis_text(&d, &s);
    assert_non_null(strstr(str_text(&s), "synchronous checkpoints"));
    str_clear(&s);
    json_write_begin(&w, &s);
    diagnosis_json(&d, &w);
    json_write_finish(&w);
    assert_non_null(strstr(str_text(&s), "\"cause\": \"checkpoint\""));
    str_free(&s);
    diagnosis_free(&d);
    temp_run_close(r);
}

/* Three of four nodes are held for 10 h less a minute, by a gang that lacks the fourth: 24 GPUs. */
static void test_gang(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct diagnosis d;
        struct run *r = simulate(&(struct setup){.scenario = "tests/study/diagnose/gang.json"}, approaches[k], MOST_CAUSES);
        diagnose_run(r, &d);
        assert_int_equal(d.n_found, 1);
        assert_int_equal(d.found[0].cause, WHY_WAITING);
        assert_true(fabs(d.found[0].gpu_s / (24 * (36000. - 60)) - 1) < 0.005); /* but for seconds of starting */
        assert_non_null(strstr(d.found[0].detail, "% of it held by incomplete gangs; jobs wait: 100 % capacity"));
        assert_string_equal(d.found[0].remedy, "place gangs as a whole, or not at all");
        assert_whole(&d);
        diagnosis_free(&d);
        temp_run_close(r);
    }
}

/* Without names a job is known by when it came and what it asked for; without a scenario its waiting for data is not divided. */
static void test_stripped(void **state)
{
    static const char *const causes[] = {"interpreter_lock", "data"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct diagnosis d;
        char path[300];
        struct run *r = simulate(&(struct setup){ONE, {THREADS}, LOADER}, "x", MOST_CAUSES);
        r->jobs[0].row.id = "?";
        snprintf(path, sizeof path, "%s/scenario.json", r->dir);
        if (k == 1) {
            FILE *f = fopen(path, "w");
            assert_non_null(f);
            fputs("{", f);
            fclose(f);
        }
        diagnose_run(r, &d);
        assert_string_equal(health_causes[d.found[0].cause].name, causes[k]);
        assert_int_equal(d.notes.n, k ? 2 : 0);
        assert_whole(&d);
        diagnosis_free(&d);
        temp_run_close(r);
    }
}

/* The best remedy of a set-up is what the set-up took away. */
static void test_remedies(void **state)
{
    static const struct { struct setup u; const char *remedy; } rows[] = {
        {{MODEL, {SPREAD}, {NULL}},          "8 consecutive ranks on a node instead of 1"},
        {{MODEL, {TENSOR_16}, {NULL}},       "tensor 8 instead of 16"                    },
        {{MODEL, {NO_INTERLEAVE}, PIPELINE}, "interleave 5, micro-batches of 1"          },
        {{MODEL, {SMALL_MICRO}, SHARDED},    "micro-batches of 8"                        },
        {{ONE, {THREADS}, LOADER},           "8 loader processes instead of threads"     },
        {{ONE, {FEW_WORKERS}, LOADER},       "at least 3 workers and 3 cores a loader"   }, /* 256 x 10 ms in a step of 1 s */
        {{ONE, {SLOW_STORE}, LOADER},        "at least 0.901 GB/s for the job"           }, /* 32 x 256 x 110 kB in 1 s */
        {{ONE, {WAITS_FOR_SAVES}, STORED},   "asynchronously: it stops for 3.75 s instead of 150 s"},
        {{MANY, {SMALL_QUOTA}, {NULL}},      "quota that follows demand, or may be borrowed"},
        {{ONE, {CRASHES(10)}, {NULL}},       "save every "                               },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct diagnosis d;
        struct run *r = simulate(&rows[i].u, "x", MOST_CAUSES);
        diagnose_run(r, &d);
        if (strncmp(d.found[0].remedy, rows[i].remedy, strlen(rows[i].remedy)))
            fail_msg("row %zu: %s", i + 1, d.found[0].remedy);
        diagnosis_free(&d);
        temp_run_close(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_setups),
        cmocka_unit_test(test_healthy),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_job),
        cmocka_unit_test(test_gang),
        cmocka_unit_test(test_remedies),
        cmocka_unit_test(test_stripped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
