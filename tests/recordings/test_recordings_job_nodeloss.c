/* test_recordings_job_nodeloss.c - kubelets stop under three Jobs: the Job controller does what the recorded one did.
 *
 * As test_recordings_nodeloss.c, for the Jobs of recorded/nodeloss/nodeloss.json: all pods on lost-0, with 30 s of
 * toleration unless the name ends in 300; job-replfailed has podReplacementPolicy Failed. Replacements are Pending until
 * the node is back, since nothing else matches. job-replfailed is compared up to then: KWOK's delete stage waits for the
 * finalizer, which the controller takes off failed pods only, so there its pods never end (recorded/README.md).
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

#include "base/diag.h"
#include "base/file.h"
#include "base/str.h"
#include "sim/simulate.h"
#include "tests/support/shared.h"
#include "tests/support/side.h"

enum { OFFSET_S = 40, BACK_S = 435 };

static const struct loss_job { const char *name, *replacement; int pods; } jobs[] = {
    {"job-default", "TerminatingOrFailed", 2},
    {"job-replfailed", "Failed", 2},
    {"job-default300", "TerminatingOrFailed", 1},
};
enum { N_JOBS = sizeof jobs / sizeof *jobs };

static struct scenario *make_scenario(int64_t horizon_s)
{
    struct str text = {0};
    struct diag d = {0};
    str_append(&text, "{ \"trainyard\": 1, \"name\": \"nodeloss\", \"cluster\": { \"nodes\": [ { \"group\": \"lost-0\", \"count\": 1, \"gpus\": 8 } ] },"
                      "\"approaches\": { \"operator\": { \"lifecycle\": \"batch-job\", \"stack\": { \"node.toleration\": \"30s\","
                      "\"kubelet.container-start\": \"330ms\", \"kubelet.pod-delete\": \"300ms\" } } }, \"run\": { \"horizon\": \"460s\" },"
                      "\"workload\": { \"jobs\": [ ");
    for (int i = 0; i < N_JOBS; i++)
        str_printf(&text, "%s{ \"id\": \"%s\", \"kind\": \"Job\", \"completionMode\": \"Indexed\", \"restartPolicy\": \"Never\", \"gpus\": 0,"
                          " \"submit\": \"18s\", \"duration\": \"1s\", \"replicas\": %d, \"podReplacementPolicy\": \"%s\" }",
                   i ? ", " : "", jobs[i].name, jobs[i].pods, jobs[i].replacement);
    str_append(&text, " ] }, \"faults\": { \"script\": [ { \"at\": \"40s\", \"target\": \"node/lost-0-0\", \"action\": \"node-lost\" },"
                      "{ \"at\": \"435.4s\", \"target\": \"node/lost-0-0\", \"action\": \"node-back\" } ] } }");
    struct scenario *s = scenario_parse("nodeloss", str_text(&text), text.n, NULL, &d);
    diag_print(&d, stderr);
    diag_free(&d);
    str_free(&text);
    assert_non_null(s);
    s->run.horizon_ns = horizon_s * EVENT_SECOND;
    for (int i = 0; i < N_JOBS; i++) s->jobs[i].work_ns = TIME_NEVER;
    return s;
}

static void patient(struct pod *p) { p->spec.toleration_ns = 300 * EVENT_SECOND; }

static void play(int64_t horizon_s, struct side ours[N_JOBS])
{
    struct scenario *s = make_scenario(horizon_s);
    struct sim_result result = {.jobs = 0};
    struct side_watch watch[N_JOBS];
    char *error = NULL;
    for (int i = 0; i < N_JOBS; i++)
        watch[i] = (struct side_watch){.side = &ours[i],
                                       .job = i,
                                       .offset_s = OFFSET_S,
                                       .created = strstr(jobs[i].name, "300") ? patient : NULL,
                                       .next = i + 1 < N_JOBS ? &watch[i + 1] : NULL};
    struct kube_observer observer = side_observer(&watch[0]);
    struct sim *sim = sim_create(s, &(struct sim_options){.dir = NULL}, &error);
    assert_non_null(sim);
    kube_observe(sim->kube, &observer);
    while (sim_step(sim)) {}
    kube_observe(sim->kube, NULL);
    assert_true(sim_close(sim, &result));
    sim_result_free(&result);
    scenario_free(s);
}

static void cut_suffixes(struct side *s)
{
    for (size_t i = 0; i < s->pods.n; i++) *strrchr(s->pods.v[i].name, '-') = '\0';
}

static int compare(const cJSON *json, int i, struct side *ours)
{
    struct side recorded = {0};
    struct side_rules rules = {.slack_s = 6, .gone_unseen = true};
    char why[1024], object[64], prefix[64];
    snprintf(object, sizeof object, "Job/%s", jobs[i].name);
    snprintf(prefix, sizeof prefix, "%s-", jobs[i].name);
    side_read_object(&recorded, cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(json, "objects"), object),
                     jobs[i].name);
    side_read_pods(&recorded, cJSON_GetObjectItemCaseSensitive(json, "pods"), prefix);
    cut_suffixes(&recorded);
    cut_suffixes(ours);
    bool same = sides_agree(&recorded, ours, &rules, why);
    printf("%s %s%s%s\n", same ? "equal    " : "DIFFERENT", jobs[i].name, same ? "" : ": ", same ? "" : why);
    if (!same) {
        side_print("recorded", &recorded);
        side_print("ours", ours);
    }
    side_free(&recorded);
    side_free(ours);
    return !same;
}

static void lost_nodes(void **state)
{
    char path[SHARED_PATH_MAX];
    size_t n;
    struct diag d = {0};
    struct side ours[N_JOBS] = {0}, before[N_JOBS] = {0};
    (void)state;
    shared_path(path, "recorded/nodeloss/nodeloss.json");
    char *text = file_read(path, 64 << 20, &n, &d);
    assert_non_null(text);
    cJSON *json = cJSON_ParseWithLength(text, n);
    play(460, ours);
    play(BACK_S, before);
    int different = 0;
    for (int i = 0; i < N_JOBS; i++) {
        bool cut = strcmp(jobs[i].replacement, "Failed") == 0;
        different += compare(json, i, cut ? &before[i] : &ours[i]);
        side_free(cut ? &ours[i] : &before[i]);
    }
    assert_int_equal(different, 0);
    cJSON_Delete(json);
    free(text);
    diag_free(&d);
}

int main(void)
{
    return cmocka_run_group_tests(((const struct CMUnitTest[]){cmocka_unit_test(lost_nodes)}), NULL, NULL);
}
