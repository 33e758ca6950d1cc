/* job_play.c - see job_play.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/job_play.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "sim/simulate.h"
#include "tests/support/side.h"

struct play_action { struct job_play *play; double t; char text[TEXT]; };

struct job_play {
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

static void copy_number(struct json_writer *w, const cJSON *from, const char *key, const char *as)
{
    const cJSON *v = get(from, key);
    if (!cJSON_IsNumber(v)) return;
    json_write_key(w, as);
    json_write_int64(w, v->valueint);
}

static void write_text(struct json_writer *w, const char *key, const char *value)
{
    if (!value) return;
    json_write_key(w, key);
    json_write_string(w, value);
}

static void write_job(struct json_writer *w, const cJSON *manifest)
{
    const cJSON *spec = get(manifest, "spec"), *pod = get(get(spec, "template"), "spec");
    json_write_object(w);
    write_text(w, "id", text_of(get(manifest, "metadata"), "name"));
    write_text(w, "kind", "Job");
    json_write_key(w, "gpus");
    json_write_int64(w, 0);
    write_text(w, "duration", "1s");
    copy_number(w, spec, "parallelism", "replicas");
    copy_number(w, spec, "completions", "completions");
    copy_number(w, spec, "backoffLimit", "backoffLimit");
    copy_number(w, spec, "activeDeadlineSeconds", "activeDeadlineSeconds");
    copy_number(w, spec, "ttlSecondsAfterFinished", "ttlSecondsAfterFinished");
    write_text(w, "completionMode", text_of(spec, "completionMode"));
    write_text(w, "podReplacementPolicy", text_of(spec, "podReplacementPolicy"));
    write_text(w, "restartPolicy", text_of(pod, "restartPolicy"));
    if (cJSON_IsTrue(get(spec, "suspend"))) {
        json_write_key(w, "suspend");
        json_write_bool(w, true);
    }
    json_write_end(w);
}

static const char head[] =
    "{ \"trainyard\": 1, \"name\": \"recording\", \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": 4, \"gpus\": 8 } ] },"
    "\"approaches\": { \"operator\": { \"lifecycle\": \"batch-job\", \"stack\": {"
    "\"kubelet.container-start\": \"330ms\", \"kubelet.pod-delete\": \"300ms\" } } },"
    "\"workload\": { \"jobs\": [ ";

static bool make_scenario(struct job_play *p, char no[256])
{
    struct str text = {0};
    struct json_writer w;
    struct diag d = {0};
    str_append(&text, head);
    json_write_begin(&w, &text);
    write_job(&w, get(p->json, "manifest"));
    json_write_finish(&w);
    str_append(&text, "] } }");
    p->scenario = scenario_parse(p->name, str_text(&text), text.n, NULL, &d);
    if (!p->scenario) {
        snprintf(no, 256, "the manifest makes no scenario");
        diag_print(&d, stderr);
    } else {
        p->scenario->jobs[0].work_ns = TIME_NEVER; /* as for an object that does not say how long it works */
        p->scenario->run.horizon_ns = (int64_t)(p->until * 1e9);
    }
    str_free(&text);
    diag_free(&d);
    return p->scenario != NULL;
}

static void read_actions(struct job_play *p)
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

struct job_play *job_play_read(const char *path, char no[256])
{
    cJSON *json = read_json(path);
    if (!json || !text_of(json, "kind") || strcmp(text_of(json, "kind"), "Job") != 0) {
        snprintf(no, 256, "no recording of a Job");
        cJSON_Delete(json);
        return NULL;
    }
    struct job_play *p = xcalloc(1, sizeof *p);
    p->json = json;
    p->name = xstrdup(path);
    p->until = get(json, "observed_until")->valuedouble;
    const cJSON *object;
    cJSON_ArrayForEach(object, get(json, "objects"))
        if (!strncmp(object->string, "Job/", 4)) side_read_object(&p->recorded, object, object->string + 4);
    side_read_pods(&p->recorded, get(json, "pods"), "");
    read_actions(p);
    if (make_scenario(p, no)) return p;
    job_play_free(p);
    return NULL;
}

/* ---- which pod ---- */

/* Length of a pod's name without its random suffix. */
static size_t stem(const char *name)
{
    const char *dash = strrchr(name, '-');
    return dash ? (size_t)(dash - name) : strlen(name);
}

static bool same_stem(const char *a, const char *b) { return stem(a) == stem(b) && !strncmp(a, b, stem(a)); }

/* Our pod that is the recorded one: the same instance of the same index. NULL: none yet. */
static const char *ours_of(const struct job_play *p, const char *recorded)
{
    size_t nth = 0;
    for (size_t i = 0; i < p->recorded.pods.n && strcmp(p->recorded.pods.v[i].name, recorded); i++)
        nth += same_stem(p->recorded.pods.v[i].name, recorded);
    for (size_t i = 0; i < p->ours.pods.n; i++)
        if (same_stem(p->ours.pods.v[i].name, recorded) && nth-- == 0) return p->ours.pods.v[i].name;
    return NULL;
}

static void cut_suffixes(struct side *s)
{
    for (size_t i = 0; i < s->pods.n; i++) s->pods.v[i].name[stem(s->pods.v[i].name)] = '\0';
}

/* ---- our side ---- */

/* How long the recorded pod's container took to stop after the driver deleted it. KWOK stops it when the finalizer is off;
 * only a pod that stayed for more than a second after that was slow of itself. */
static int64_t recorded_grace(const struct job_play *p, const char *name, double t)
{
    const cJSON *pod;
    cJSON_ArrayForEach(pod, get(p->json, "pods"))
    {
        const cJSON *track = get(pod, "track"), *gone = get(pod, "deleted");
        if (strcmp(text_of(pod, "name"), name) != 0 || !cJSON_IsNumber(gone)) continue;
        double last = cJSON_GetArrayItem(cJSON_GetArrayItem(track, cJSON_GetArraySize(track) - 1), 0)->valuedouble;
        if (gone->valuedouble - last > 1) return (int64_t)((gone->valuedouble - t) * 1e9);
    }
    return -1;
}

static void script(struct job_play *p, enum fault_action what, const char *recorded, int64_t value)
{
    struct job *j = p->sim->by_index[0];
    struct script_action a = {.action = what, .value = value};
    const char *pod = recorded ? ours_of(p, recorded) : NULL;
    bool there = j && j->live && (pod || !recorded);
    if (!there || !j->live->life->script(p->sim, j, &a, pod))
        snprintf(p->trouble, sizeof p->trouble, "%s on %s could not be done", fault_action_names[what],
                 recorded ? recorded : "the job");
}

static struct pod *pod_named(struct job_play *p, const char *recorded)
{
    const char *name = ours_of(p, recorded);
    struct pod *pod = name ? kube_find_pod(p->sim->kube, name) : NULL;
    if (!pod) snprintf(p->trouble, sizeof p->trouble, "%s is not there", recorded);
    return pod;
}

/* Also of a pod that has failed: the driver patched the status, as no kubelet would. */
static void succeed(struct job_play *p, const char *name)
{
    struct pod *pod = pod_named(p, name);
    script(p, DO_POD_SUCCEEDED, name, 0);
    if (pod) side_see_pod(&p->watch, p->sim->kube, pod);
}

static void restart_in_place(struct job_play *p, const char *name, unsigned times)
{
    struct pod *pod = pod_named(p, name);
    if (!pod) return;
    pod->restarts += times; /* the driver patched the status */
    side_see_pod(&p->watch, p->sim->kube, pod);
    pod->spec.ops->changed(p->sim->kube, pod, POD_READY);
}

static void delete_by_hand(struct job_play *p, const char *name, double t)
{
    struct pod *pod = pod_named(p, name);
    if (pod) kube_pod_delete(p->sim->kube, pod, recorded_grace(p, name, t));
}

static void on_action(void *ctx, void *arg)
{
    struct play_action *a = arg;
    struct job_play *p = a->play;
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
        succeed(p, pod);
    else if (sscanf(a->text, "container of %63s restarted in place x%u", pod, &n) == 2) restart_in_place(p, pod, n);
    else if (sscanf(a->text, "annotate pod %63s", pod) == 1) script(p, DO_TOUCH, pod, 0);
    else if (sscanf(a->text, "delete pod %63s", pod) == 1) delete_by_hand(p, pod, a->t);
    else if (sscanf(a->text, "force-delete %63s", pod) == 1) script(p, DO_FORCE_DELETE, pod, 0);
    else if (sscanf(a->text, "parallelism %d -> %d", &from, &to) == 2) script(p, DO_SCALE, NULL, to);
    else if (strcmp(a->text, "suspend") == 0) script(p, DO_SUSPEND, NULL, 0);
    else if (strcmp(a->text, "resume") == 0) script(p, DO_RESUME, NULL, 0);
    else if (strncmp(a->text, "driver error", 12) != 0) /* it found nothing to act on */
        snprintf(p->trouble, sizeof p->trouble, "unknown action: %.200s", a->text);
}

void job_play_run(struct job_play *p)
{
    struct sim_options options = {.dir = NULL};
    struct sim_result result = {.jobs = 0};
    p->watch = (struct side_watch){.side = &p->ours};
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
    cut_suffixes(&p->recorded);
    cut_suffixes(&p->ours);
}

bool job_play_compare(struct job_play *p, char why[1024])
{
    struct side_rules rules = {.gone_unseen = true, .slack_s = 2};
    if (p->trouble[0]) {
        snprintf(why, 1024, "%s", p->trouble);
        return false;
    }
    return sides_agree(&p->recorded, &p->ours, &rules, why);
}

void job_play_print(const struct job_play *p)
{
    side_print("recorded", &p->recorded);
    side_print("ours", &p->ours);
}

void job_play_free(struct job_play *p)
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
