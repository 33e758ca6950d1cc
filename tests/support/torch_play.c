/* torch_play.c - what is particular to recordings of PyTorchJobs (condition_play.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "tests/support/condition_play.h"

static const char head[] =
    "{ \"trainyard\": 1, \"name\": \"recording\", \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": 4, \"gpus\": 8 } ] },"
    "\"approaches\": { \"operator\": { \"lifecycle\": \"training-operator-v1\", \"stack\": {"
    "\"training-operator.qps\": 1000, \"training-operator.burst\": 1000,"
    "\"kubelet.container-start\": \"330ms\", \"kubelet.pod-delete\": \"300ms\" } } },"
    "\"objects\": [ ";

static void write_scenario(const struct condition_play *p, struct str *out)
{
    char *manifest = cJSON_Print(play_get(p->json, "manifest"));
    str_append(out, head);
    str_append(out, manifest);
    str_append(out, " ] }");
    free(manifest);
}

/* How long the recorded pod took to go after the driver deleted it. */
static int64_t recorded_grace(const struct condition_play *p, const char *pod, double t)
{
    for (size_t i = 0; i < p->recorded.pods.n; i++) {
        const struct seen_pod *s = &p->recorded.pods.v[i];
        if (strcmp(s->name, pod) == 0 && s->created < t && s->deleted > t) return (int64_t)((s->deleted - t) * 1e9);
    }
    return -1;
}

static void without_init(struct pod *pod) { pod->spec.uses_init = false; } /* KWOK runs no init containers */

static bool has_master(const struct condition_play *p)
{
    return play_get(play_get(play_get(play_get(p->json, "manifest"), "spec"), "pytorchReplicaSpecs"), "Master") != NULL;
}

static void rules(const struct condition_play *p, struct side_rules *r) { r->has_master = has_master(p); }

const struct condition_kind torch_kind = {
    .kind = "PyTorchJob",
    .scale = "workers",
    .services = true,
    .write_scenario = write_scenario,
    .grace = recorded_grace,
    .created = without_init,
    .rules = rules,
};
