/* condition_play.c - see condition_play.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/condition_play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/mem.h"
#include "sim/simulate.h"

struct play_action { struct condition_play *play; double t; char text[TEXT]; };

const cJSON *play_get(const cJSON *o, const char *key) { return cJSON_GetObjectItemCaseSensitive(o, key); }

const char *play_text(const cJSON *o, const char *key)
{
    const cJSON *v = play_get(o, key);
    return cJSON_IsString(v) ? v->valuestring : NULL;
}

/* ---- reading ---- */

static bool make_scenario(struct condition_play *p, char *why)
{
    struct str text = {0};
    struct diag d = {0};
    p->kind->write_scenario(p, &text);
    p->scenario = scenario_parse(p->name, str_text(&text), text.n, NULL, &d);
    if (!p->scenario) {
        snprintf(why, PLAY_WHY, "the manifest makes no scenario");
        diag_print(&d, stderr);
    } else {
        if (p->kind->adjust) p->kind->adjust(p->scenario);
        p->scenario->run.horizon_ns = (int64_t)(p->until * 1e9);
    }
    str_free(&text);
    diag_free(&d);
    return p->scenario != NULL;
}

static void read_actions(struct condition_play *p)
{
    const cJSON *list = play_get(p->json, "driver_actions"), *a;
    p->actions = xcalloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *p->actions);
    cJSON_ArrayForEach(a, list)
    {
        struct play_action *to = &p->actions[p->n_actions++];
        const char *text = play_text(a, "action");
        to->play = p;
        to->t = play_get(a, "t")->valuedouble;
        snprintf(to->text, sizeof to->text, "%s", text ? text : "");
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

static void play_free(struct condition_play *p)
{
    side_free(&p->recorded);
    side_free(&p->ours);
    if (p->scenario) scenario_free(p->scenario);
    cJSON_Delete(p->json);
    free(p->actions);
    free(p->name);
    free(p);
}

static void read_recorded(struct condition_play *p)
{
    const cJSON *object;
    size_t n = strlen(p->kind->kind);
    cJSON_ArrayForEach(object, play_get(p->json, "objects"))
        if (!strncmp(object->string, p->kind->kind, n) && object->string[n] == '/')
            side_read_object(&p->recorded, object, object->string + n + 1);
    side_read_pods(&p->recorded, play_get(p->json, "pods"), "");
    if (p->kind->services) side_read_services(&p->recorded, play_get(p->json, "other"), "");
}

static struct condition_play *play_read(const struct condition_kind *kind, const char *path, char *why)
{
    cJSON *json = read_json(path);
    if (!json || !play_text(json, "kind") || strcmp(play_text(json, "kind"), kind->kind) != 0) {
        snprintf(why, PLAY_WHY, "no recording of a %s", kind->kind);
        cJSON_Delete(json);
        return NULL;
    }
    struct condition_play *p = xcalloc(1, sizeof *p);
    p->kind = kind;
    p->json = json;
    p->name = xstrdup(path);
    p->until = play_get(json, "observed_until")->valuedouble;
    read_recorded(p);
    read_actions(p);
    if (make_scenario(p, why)) return p;
    play_free(p);
    return NULL;
}

/* ---- our side ---- */

static const char *ours_of(const struct condition_play *p, const char *recorded)
{
    return p->kind->ours_of ? p->kind->ours_of(p, recorded) : recorded;
}

static void script(struct condition_play *p, enum fault_action what, const char *recorded, int64_t value)
{
    struct job *j = p->sim->by_index[0];
    struct script_action a = {.action = what, .value = value};
    const char *pod = recorded ? ours_of(p, recorded) : NULL;
    bool there = j && j->live && (pod || !recorded);
    if (!there || !j->live->life->script(p->sim, j, &a, pod))
        snprintf(p->trouble, sizeof p->trouble, "%s on %s could not be done", fault_action_names[what],
                 recorded ? recorded : "the job");
}

static struct pod *pod_named(struct condition_play *p, const char *recorded)
{
    const char *name = ours_of(p, recorded);
    struct pod *pod = name ? kube_find_pod(p->sim->kube, name) : NULL;
    if (!pod) snprintf(p->trouble, sizeof p->trouble, "%s is not there", recorded);
    return pod;
}

/* Also of a pod that has failed: the driver patched the status, as no kubelet would. */
static void succeed(struct condition_play *p, const char *name)
{
    struct pod *pod = pod_named(p, name);
    script(p, DO_POD_SUCCEEDED, name, 0);
    if (pod) side_see_pod(&p->watch, p->sim->kube, pod);
}

static void restart_in_place(struct condition_play *p, const char *name, unsigned times)
{
    struct pod *pod = pod_named(p, name);
    if (!pod) return;
    pod->restarts += times; /* the driver patched the status */
    side_see_pod(&p->watch, p->sim->kube, pod);
    pod->spec.ops->changed(p->sim->kube, pod, POD_READY);
}

static void delete_by_hand(struct condition_play *p, const char *name, double t)
{
    struct pod *pod = pod_named(p, name);
    if (pod) kube_pod_delete(p->sim->kube, pod, p->kind->grace(p, name, t));
}

static bool is_scale(const struct condition_play *p, const char *text, int *to)
{
    int from;
    size_t n = strlen(p->kind->scale);
    return !strncmp(text, p->kind->scale, n) && sscanf(text + n, " %d -> %d", &from, to) == 2;
}

static void on_action(void *ctx, void *arg)
{
    struct play_action *a = arg;
    struct condition_play *p = a->play;
    char pod[64];
    int to;
    unsigned n;
    (void)ctx;
    if (sscanf(a->text, "pod %63s (terminating) -> Failed exit %d", pod, &to) == 2 ||
        sscanf(a->text, "pod %63s -> Failed exit %d", pod, &to) == 2)
        script(p, DO_POD_FAILED, pod, to);
    else if (strstr(a->text, "Evicted") && sscanf(a->text, "pod %63s -> Failed", pod) == 1)
        script(p, DO_POD_EVICTED, pod, 0);
    else if (strstr(a->text, "-> Succeeded") && sscanf(a->text, "pod %63s -> Succeeded", pod) == 1)
        succeed(p, pod);
    else if (sscanf(a->text, "container of %63s restarted in place x%u", pod, &n) == 2) restart_in_place(p, pod, n);
    else if (sscanf(a->text, "annotate pod %63s", pod) == 1) script(p, DO_TOUCH, pod, 0);
    else if (sscanf(a->text, "delete pod %63s", pod) == 1) delete_by_hand(p, pod, a->t);
    else if (sscanf(a->text, "force-delete %63s", pod) == 1) script(p, DO_FORCE_DELETE, pod, 0);
    else if (is_scale(p, a->text, &to)) script(p, DO_SCALE, NULL, to);
    else if (strcmp(a->text, "suspend") == 0) script(p, DO_SUSPEND, NULL, 0);
    else if (strcmp(a->text, "resume") == 0) script(p, DO_RESUME, NULL, 0);
    else if (strncmp(a->text, "driver error", 12) != 0) /* it found nothing to act on */
        snprintf(p->trouble, sizeof p->trouble, "unknown action: %.200s", a->text);
}

static void play_run(struct condition_play *p)
{
    struct sim_result result = {.jobs = 0};
    p->watch = (struct side_watch){.side = &p->ours, .created = p->kind->created};
    struct kube_observer observer = side_observer(&p->watch);
    char *error = NULL;
    p->sim = sim_create(p->scenario, &(struct sim_options){.dir = p->dir, .record_level = RECORD_FULL}, &error);
    kube_observe(p->sim->kube, &observer);
    for (size_t i = 0; i < p->n_actions; i++)
        event_at(p->sim->events, (int64_t)(p->actions[i].t * 1e9), EVENT_FAULT, on_action, &p->actions[i]);
    while (sim_step(p->sim)) {}
    kube_observe(p->sim->kube, NULL);
    if (!sim_close(p->sim, &result))
        snprintf(p->trouble, sizeof p->trouble, "the run's books do not balance: %.200s", result.error ? result.error : "");
    sim_result_free(&result);
    if (p->kind->finish) p->kind->finish(p);
}

static bool play_compare(struct condition_play *p, char *why)
{
    struct side_rules rules = {.slack_s = 2};
    p->kind->rules(p, &rules);
    if (!p->trouble[0]) return sides_agree(&p->recorded, &p->ours, &rules, why);
    snprintf(why, PLAY_WHY, "%s", p->trouble);
    return false;
}

enum play_verdict condition_play(const struct condition_kind *kind, const char *path, bool verbose, char why[PLAY_WHY])
{
    struct condition_play *p = play_read(kind, path, why);
    if (!p) return PLAY_DIFFERENT;
    play_run(p);
    bool same = play_compare(p, why);
    if (same) why[0] = '\0';
    if (verbose) side_print("recorded", &p->recorded), side_print("ours", &p->ours);
    play_free(p);
    return same ? PLAY_EQUAL : PLAY_DIFFERENT;
}

cJSON *condition_play_into(const struct condition_kind *kind, const char *path, const char *dir, char why[PLAY_WHY])
{
    struct condition_play *p = play_read(kind, path, why);
    if (!p) return NULL;
    p->dir = dir;
    play_run(p);
    cJSON *json = p->json;
    p->json = NULL;
    if (p->trouble[0]) {
        snprintf(why, PLAY_WHY, "%s", p->trouble);
        cJSON_Delete(json);
        json = NULL;
    }
    play_free(p);
    return json;
}
