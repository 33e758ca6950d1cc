/* torch_play.c - see torch_play.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/torch_play.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/str.h"
#include "base/mem.h"
#include "sim/simulate.h"
#include "tests/support/side.h"

struct play_action { struct torch_play *play; double t; char text[TEXT]; };

struct torch_play {
    char *name;
    cJSON *json;
    struct scenario *scenario;
    struct side recorded, ours;
    struct side_watch watch;
    struct play_action *actions;
    size_t n_actions;
    double until;
    char trouble[256]; /* an action that could not be done */
    struct sim *sim;
};

static void copy(char *to, size_t n, const char *from) { snprintf(to, n, "%s", from ? from : ""); }

static const char *text_of(const cJSON *o, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
    return cJSON_IsString(v) ? v->valuestring : NULL;
}

static const cJSON *get(const cJSON *o, const char *key) { return cJSON_GetObjectItemCaseSensitive(o, key); }

/* ---- the scenario ---- */

static const char head[] =
    "{ \"trainyard\": 1, \"name\": \"recording\", \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": 4, \"gpus\": 8 } ] },"
    "\"approaches\": { \"operator\": { \"lifecycle\": \"training-operator-v1\", \"stack\": {"
    "\"training-operator.qps\": 1000, \"training-operator.burst\": 1000,"
    "\"kubelet.container-start\": \"330ms\", \"kubelet.pod-delete\": \"300ms\" } } },"
    "\"objects\": [ ";

static bool make_scenario(struct torch_play *p, char no[256])
{
    struct str text = {0};
    struct diag d = {0};
    char *manifest = cJSON_Print(get(p->json, "manifest"));
    str_append(&text, head);
    str_append(&text, manifest);
    str_append(&text, " ] }");
    free(manifest);
    p->scenario = scenario_parse(p->name, str_text(&text), text.n, NULL, &d);
    if (!p->scenario) {
        snprintf(no, 256, "the manifest makes no scenario");
        diag_print(&d, stderr);
    } else {
        p->scenario->run.horizon_ns = (int64_t)(p->until * 1e9);
    }
    str_free(&text);
    diag_free(&d);
    return p->scenario != NULL;
}

static void read_actions(struct torch_play *p)
{
    const cJSON *list = get(p->json, "driver_actions"), *a;
    p->actions = xcalloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *p->actions);
    cJSON_ArrayForEach(a, list)
    {
        struct play_action *to = &p->actions[p->n_actions++];
        to->play = p;
        to->t = get(a, "t")->valuedouble;
        copy(to->text, sizeof to->text, text_of(a, "action"));
    }
}

static cJSON *read_json(const char *path)
{
    struct diag d = {0};
    size_t n;
    char *text = file_read(path, 64 << 20, &n, &d);
    cJSON *json = text ? cJSON_ParseWithLength(text, n) : NULL;
    free(text);
    diag_free(&d);
    return json;
}

struct torch_play *torch_play_read(const char *path, char no[256])
{
    cJSON *json = read_json(path);
    if (!json || !text_of(json, "kind") || strcmp(text_of(json, "kind"), "PyTorchJob") != 0) {
        snprintf(no, 256, "no recording of a PyTorchJob");
        cJSON_Delete(json);
        return NULL;
    }
    struct torch_play *p = xcalloc(1, sizeof *p);
    p->json = json;
    p->name = xstrdup(path);
    p->until = get(json, "observed_until")->valuedouble;
    const cJSON *object;
    cJSON_ArrayForEach(object, get(json, "objects"))
        if (!strncmp(object->string, "PyTorchJob/", 11)) side_read_object(&p->recorded, object, object->string + 11);
    side_read_pods(&p->recorded, get(json, "pods"), "");
    side_read_services(&p->recorded, get(json, "other"), "");
    read_actions(p);
    if (make_scenario(p, no)) return p;
    torch_play_free(p);
    return NULL;
}

/* ---- our side ---- */

/* How long the recorded pod took to go after the driver deleted it. */
static int64_t recorded_grace(const struct torch_play *p, const char *pod, double t)
{
    for (size_t i = 0; i < p->recorded.pods.n; i++) {
        const struct seen_pod *s = &p->recorded.pods.v[i];
        if (strcmp(s->name, pod) == 0 && s->created < t && s->deleted > t) return (int64_t)((s->deleted - t) * 1e9);
    }
    return -1;
}

static void script(struct torch_play *p, enum fault_action what, const char *pod, int64_t value)
{
    struct job *j = p->sim->by_index[0];
    struct script_action a = {.action = what, .value = value};
    if (!j || !j->live || !j->live->life->script(p->sim, j, &a, pod))
        snprintf(p->trouble, sizeof p->trouble, "%s on %s could not be done", fault_action_names[what], pod ? pod : "the job");
}

static void restart_in_place(struct torch_play *p, const char *name, unsigned times)
{
    struct pod *pod = kube_find_pod(p->sim->kube, name);
    if (!pod) {
        snprintf(p->trouble, sizeof p->trouble, "%s is not there to be restarted", name);
        return;
    }
    pod->restarts += times; /* the driver patched the status */
    side_see_pod(&p->watch, p->sim->kube, pod);
    pod->spec.ops->changed(p->sim->kube, pod, POD_READY);
}

static void delete_by_hand(struct torch_play *p, const char *name, double t)
{
    struct pod *pod = kube_find_pod(p->sim->kube, name);
    if (pod) kube_pod_delete(p->sim->kube, pod, recorded_grace(p, name, t));
    else snprintf(p->trouble, sizeof p->trouble, "%s is not there to be deleted", name);
}

static void on_action(void *ctx, void *arg)
{
    struct play_action *a = arg;
    struct torch_play *p = a->play;
    char pod[64];
    int from, to;
    unsigned n;
    (void)ctx;
    if (sscanf(a->text, "pod %63s (terminating) -> Failed exit %d", pod, &to) == 2 ||
        sscanf(a->text, "pod %63s -> Failed exit %d", pod, &to) == 2)
        script(p, DO_POD_FAILED, pod, to);
    else if (strstr(a->text, "Evicted") && sscanf(a->text, "pod %63s -> Failed", pod) == 1)
        script(p, DO_POD_EVICTED, pod, 0);
    else if (strstr(a->text, "-> Succeeded") && sscanf(a->text, "pod %63s -> Succeeded", pod) == 1)
        script(p, DO_POD_SUCCEEDED, pod, 0);
    else if (sscanf(a->text, "container of %63s restarted in place x%u", pod, &n) == 2) restart_in_place(p, pod, n);
    else if (sscanf(a->text, "annotate pod %63s", pod) == 1) script(p, DO_TOUCH, pod, 0);
    else if (sscanf(a->text, "delete pod %63s", pod) == 1) delete_by_hand(p, pod, a->t);
    else if (sscanf(a->text, "force-delete %63s", pod) == 1) script(p, DO_FORCE_DELETE, pod, 0);
    else if (sscanf(a->text, "workers %d -> %d", &from, &to) == 2) script(p, DO_SCALE, NULL, to);
    else if (strcmp(a->text, "suspend") == 0) script(p, DO_SUSPEND, NULL, 0);
    else if (strcmp(a->text, "resume") == 0) script(p, DO_RESUME, NULL, 0);
    else if (strncmp(a->text, "driver error", 12) != 0) /* it found nothing to act on */
        snprintf(p->trouble, sizeof p->trouble, "unknown action: %.200s", a->text);
}

static void without_init(struct pod *pod) { pod->spec.uses_init = false; } /* KWOK runs no init containers */

void torch_play_run(struct torch_play *p)
{
    struct sim_options options = {.dir = NULL};
    struct sim_result result = {.jobs = 0};
    p->watch = (struct side_watch){.side = &p->ours, .created = without_init};
    struct kube_observer observer = side_observer(&p->watch);
    char *error = NULL;
    p->sim = sim_create(p->scenario, &options, &error);
    kube_observe(p->sim->kube, &observer);
    for (size_t i = 0; i < p->n_actions; i++)
        event_at(p->sim->events, (int64_t)(p->actions[i].t * 1e9), EVENT_FAULT, on_action, &p->actions[i]);
    while (sim_step(p->sim)) {}
    kube_observe(p->sim->kube, NULL);
    if (!sim_close(p->sim, &result))
        snprintf(p->trouble, sizeof p->trouble, "the run's books do not balance: %.200s", result.error ? result.error : "");
    sim_result_free(&result);
}

static bool has_master(const struct torch_play *p)
{
    return get(get(get(get(p->json, "manifest"), "spec"), "pytorchReplicaSpecs"), "Master") != NULL;
}

bool torch_play_compare(struct torch_play *p, char why[1024])
{
    struct side_rules rules = {.has_master = has_master(p), .slack_s = 2};
    if (p->trouble[0]) {
        snprintf(why, 1024, "%s", p->trouble);
        return false;
    }
    return sides_agree(&p->recorded, &p->ours, &rules, why);
}

void torch_play_print(const struct torch_play *p)
{
    side_print("recorded", &p->recorded);
    side_print("ours", &p->ours);
}

void torch_play_free(struct torch_play *p)
{
    if (!p) return;
    side_free(&p->recorded);
    side_free(&p->ours);
    if (p->scenario) scenario_free(p->scenario);
    cJSON_Delete(p->json);
    free(p->actions);
    free(p->name);
    free(p);
}
