/* test_recordings_nodeloss.c - three nodes vanish and come back: PyTorchJobs do what recorded ones did.
 *
 * The recording (recorded/nodeloss/nodeloss.json) has no manifests; names, nodes and actions say what they were: replicas
 * are pinned to nodes, tolerate unreachable nodes for 30 s unless the name ends in 300, and pt-NAME has the policy NAME
 * or the default OnFailure. Its clock starts when the kubelets stopped; ours runs 40 s ahead, a moment at which leases are
 * renewed. Detection is uncertain by the controller's 5 s look plus the age of the last lease, so times may differ by 6 s.
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
#include "input/objects.h"
#include "sim/simulate.h"
#include "tests/support/shared.h"
#include "tests/support/side.h"

enum { OFFSET_S = 40, N_NODES = 4 };
static const char *const nodes[N_NODES] = {"lost-0", "node-00", "node-01", "node-02"};

static const struct loss_job { const char *name, *policy, *master, *worker; int workers; } jobs[] = {
    /* name            policy       master on  workers on */
    {"pt-onfailure",   "OnFailure", "node-02", "lost-0",  2},
    {"pt-exitcode",    "ExitCode",  "node-00", "lost-0",  2},
    {"pt-never",       "Never",     "node-00", "lost-0",  2},
    {"pt-always",      "Always",    "node-00", "lost-0",  2},
    {"pt-forcedelete", "OnFailure", "node-00", "lost-0",  2},
    {"pt-masterlost",  "OnFailure", "lost-0",  "node-00", 2},
    {"pt-default300",  "OnFailure", "node-00", "lost-0",  1},
};
enum { N_JOBS = sizeof jobs / sizeof *jobs };

static void write_scenario(struct str *out)
{
    str_append(out, "{ \"trainyard\": 1, \"name\": \"nodeloss\", \"cluster\": { \"nodes\": [");
    for (int i = 0; i < N_NODES; i++)
        str_printf(out, "%s{ \"group\": \"%s\", \"count\": 1, \"gpus\": 8, \"labels\": { \"host\": \"%s\" } }", i ? ", " : "",
                   nodes[i], nodes[i]);
    str_append(out, "] }, \"approaches\": { \"operator\": { \"lifecycle\": \"training-operator-v1\", \"stack\": {"
                    "\"training-operator.qps\": 1000, \"training-operator.burst\": 1000, \"node.toleration\": \"30s\","
                    "\"kubelet.container-start\": \"330ms\", \"kubelet.pod-delete\": \"300ms\" } } },"
                    "\"run\": { \"horizon\": \"460s\" }, \"workload\": { \"jobs\": [");
    for (int i = 0; i < N_JOBS; i++)
        str_printf(out, "%s{ \"id\": \"%s\", \"kind\": \"PyTorchJob\", \"submit\": \"%ds\", \"gpus\": 0, \"duration\": \"1s\","
                        "\"restartPolicy\": \"%s\", \"roles\": { \"Master\": { \"replicas\": 1 }, \"Worker\": { \"replicas\": %d } } }",
                   i ? ", " : "", jobs[i].name, 17 + i, jobs[i].policy, jobs[i].workers);
    str_append(out, "] }, \"faults\": { \"script\": ["
                    "{ \"at\": \"40s\", \"target\": \"node/lost-0-0\", \"action\": \"node-lost\" },"
                    "{ \"at\": \"210.26s\", \"target\": \"pod/pt-forcedelete-worker-0\", \"action\": \"force-delete\" },"
                    "{ \"at\": \"210.38s\", \"target\": \"pod/pt-forcedelete-worker-1\", \"action\": \"force-delete\" },"
                    "{ \"at\": \"435.4s\", \"target\": \"node/lost-0-0\", \"action\": \"node-back\" } ] } }");
}

/* Manifests pin each role; the scenario's short form cannot. */
static void pin(struct scenario *s, struct pod_template t[N_JOBS][2], struct manifest_text on[N_JOBS][2])
{
    for (int i = 0; i < N_JOBS; i++) {
        struct job_detail *d = &s->details[s->jobs[i].detail];
        on[i][0] = (struct manifest_text){"host", jobs[i].master};
        on[i][1] = (struct manifest_text){"host", jobs[i].worker};
        s->jobs[i].work_ns = TIME_NEVER;
        for (int r = 0; r < 2; r++) {
            t[i][r] = (struct pod_template){.node_selector = &on[i][r], .n_node_selector = 1};
            d->roles[r].pod = &t[i][r];
        }
    }
}

static void patient(struct pod *p)
{
    p->spec.uses_init = false;
    p->spec.toleration_ns = 300 * EVENT_SECOND;
}

static void without_init(struct pod *p) { p->spec.uses_init = false; } /* KWOK runs no init containers */

static void play(struct scenario *s, struct side ours[N_JOBS])
{
    struct sim_options options = {.dir = NULL};
    struct sim_result result = {.jobs = 0};
    struct side_watch watch[N_JOBS];
    char *error = NULL;
    for (int i = 0; i < N_JOBS; i++)
        watch[i] = (struct side_watch){.side = &ours[i],
                                       .job = i,
                                       .offset_s = OFFSET_S,
                                       .created = strstr(jobs[i].name, "300") ? patient : without_init,
                                       .next = i + 1 < N_JOBS ? &watch[i + 1] : NULL};
    struct kube_observer observer = side_observer(&watch[0]);
    struct sim *sim = sim_create(s, &options, &error);
    assert_non_null(sim);
    kube_observe(sim->kube, &observer);
    while (sim_step(sim)) {}
    kube_observe(sim->kube, NULL);
    assert_true(sim_close(sim, &result));
    sim_result_free(&result);
}

static struct scenario *make_scenario(void)
{
    struct str text = {0};
    struct diag d = {0};
    write_scenario(&text);
    struct scenario *s = scenario_parse("nodeloss", str_text(&text), text.n, NULL, &d);
    diag_print(&d, stderr);
    diag_free(&d);
    str_free(&text);
    return s;
}

static int compare(const cJSON *json, int i, struct side *ours)
{
    struct side recorded = {0};
    struct side_rules rules = {.has_master = true, .any_count = true, .slack_s = 6};
    char why[1024], object[64], prefix[64];
    snprintf(object, sizeof object, "PyTorchJob/%s", jobs[i].name);
    snprintf(prefix, sizeof prefix, "%s-", jobs[i].name);
    side_read_object(&recorded, cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(json, "objects"), object),
                     jobs[i].name);
    side_read_pods(&recorded, cJSON_GetObjectItemCaseSensitive(json, "pods"), prefix);
    side_read_services(&recorded, cJSON_GetObjectItemCaseSensitive(json, "other"), prefix);
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
    (void)state;
    shared_path(path, "recorded/nodeloss/nodeloss.json");
    char *text = file_read(path, 64 << 20, &n, &d);
    assert_non_null(text);
    cJSON *json = cJSON_ParseWithLength(text, n);
    struct scenario *s = make_scenario();
    assert_non_null(s);
    struct pod_template templates[N_JOBS][2];
    struct manifest_text on[N_JOBS][2];
    struct side ours[N_JOBS] = {0};
    pin(s, templates, on);
    play(s, ours);
    int different = 0;
    for (int i = 0; i < N_JOBS; i++) different += compare(json, i, &ours[i]);
    assert_int_equal(different, 0);
    scenario_free(s);
    cJSON_Delete(json);
    free(text);
    diag_free(&d);
}

int main(void)
{
    return cmocka_run_group_tests(((const struct CMUnitTest[]){cmocka_unit_test(lost_nodes)}), NULL, NULL);
}
