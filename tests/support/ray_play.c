/* ray_play.c - see ray_play.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/ray_play.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "sim/kube/kube.h"
#include "sim/simulate.h"

enum { TEXT = 128, N_PLAY_ROLES = 3 };
enum line_of { OF_CLUSTER, OF_JOB, N_STREAMS };
static const char *const stream_text[N_STREAMS] = {"condition", "job status"};
enum play_role { PLAY_HEAD, PLAY_WORKER, PLAY_SUBMITTER };
static const char *const role_text[N_PLAY_ROLES] = {"head", "worker", "submitter"};

struct seen_pod { enum play_role role; const struct pod *pod; char name[TEXT]; char phase[16]; double created; unsigned restarts; bool deleted, terminating; };

struct side {
    ARRAY(char *) lines[N_STREAMS]; /* "type=status(reason)": of the RayClusters, of the RayJob */
    ARRAY(struct seen_pod) pods;
};

struct play_action { struct ray_play *play; double t; char text[TEXT]; };

struct ray_play {
    char *name;
    cJSON *json;
    struct scenario *scenario;
    struct sim *sim;
    struct side recorded, ours;
    ARRAY(struct play_action) actions;
    char trouble[256];
};

static const cJSON *get(const cJSON *o, const char *key) { return cJSON_GetObjectItemCaseSensitive(o, key); }

static const char *text_of(const cJSON *o, const char *key)
{
    const cJSON *v = get(o, key);
    return cJSON_IsString(v) ? v->valuestring : "";
}

static void note(struct side *s, enum line_of stream, const char *type, const char *status, const char *reason)
{
    struct str line = {0};
    str_printf(&line, "%s=%s(%s)", type, status, reason);
    array_push(&s->lines[stream], str_take(&line));
}

/* ---- the recorded side ---- */

static void read_conditions(struct ray_play *p)
{
    const cJSON *o, *c;
    cJSON_ArrayForEach(o, get(p->json, "objects"))
    {
        if (strncmp(o->string, "RayCluster/", 11) != 0) continue;
        cJSON_ArrayForEach(c, get(o, "conditions"))
            note(&p->recorded, OF_CLUSTER, text_of(c, "type"), text_of(c, "status"), text_of(c, "reason"));
    }
}

/* jobDeploymentStatus each time that it changes. */
static void read_job_status(struct ray_play *p)
{
    const cJSON *o, *step;
    char last[64] = "";
    cJSON_ArrayForEach(o, get(p->json, "objects"))
    {
        if (strncmp(o->string, "RayJob/", 7) != 0) continue;
        cJSON_ArrayForEach(step, get(o, "status"))
        {
            const cJSON *status = cJSON_GetArrayItem(step, 1);
            const char *now = text_of(status, "jobDeploymentStatus");
            if (strcmp(now, last) == 0) continue;
            snprintf(last, sizeof last, "%s", now);
            note(&p->recorded, OF_JOB, "JobDeploymentStatus", now, text_of(status, "reason"));
        }
    }
}

static enum play_role role_of_name(const char *name)
{
    if (strstr(name, "-head-")) return PLAY_HEAD;
    return strstr(name, "-worker-") ? PLAY_WORKER : PLAY_SUBMITTER;
}

static int by_creation(const void *a, const void *b)
{
    const struct seen_pod *x = a, *y = b;
    return (x->created > y->created) - (x->created < y->created);
}

static void read_pods(struct ray_play *p)
{
    const cJSON *pod, *step;
    cJSON_ArrayForEach(pod, get(p->json, "pods"))
    {
        struct seen_pod *s = array_add(&p->recorded.pods);
        snprintf(s->name, sizeof s->name, "%s", text_of(pod, "name"));
        s->role = role_of_name(s->name);
        s->created = get(pod, "created")->valuedouble;
        s->deleted = get(pod, "deleted") != NULL;
        cJSON_ArrayForEach(step, get(pod, "track"))
        {
            const cJSON *state = cJSON_GetArrayItem(step, 1);
            snprintf(s->phase, sizeof s->phase, "%s", text_of(state, "phase"));
            s->terminating = cJSON_IsTrue(get(state, "terminating"));
            const cJSON *restarts = get(state, "restarts");
            if (cJSON_IsNumber(restarts)) s->restarts = (unsigned)restarts->valueint;
        }
    }
    qsort(p->recorded.pods.v, p->recorded.pods.n, sizeof *p->recorded.pods.v, by_creation);
}

/* ---- the scenario ---- */

static const char before[] =
    "{\"trainyard\": 1, \"name\": \"recording\","
    " \"cluster\": {\"nodes\": [{\"group\": \"node\", \"count\": 20, \"gpus\": 8}]},"
    " \"approaches\": {\"kwok\": {\"lifecycle\": \"ray-train-v2\", \"admission\": \"none\", \"stack\": {"
    "\"kubelet.container-start\": \"300ms\", \"kubelet.pod-delete\": \"300ms\","
    "\"kuberay.readiness-initial\": \"0s\", \"kuberay.wait-gcs-poll\": \"0s\", \"ray.start\": \"0s\","
    "\"kuberay.dashboard-reachable\": false}}},";

static void write_script(struct ray_play *p, struct json_writer *w, const char *job)
{
    const cJSON *a;
    char target[TEXT];
    snprintf(target, sizeof target, "job/%s", job);
    json_write_array(w);
    cJSON_ArrayForEach(a, get(p->json, "driver_actions"))
    {
        const char *what = text_of(a, "action");
        if (strcmp(what, "suspend") != 0 && strcmp(what, "resume") != 0) continue;
        json_write_object(w);
        json_write_key(w, "at");
        json_write_double(w, get(a, "t")->valuedouble);
        json_write_key(w, "target");
        json_write_string(w, target);
        json_write_key(w, "action");
        json_write_string(w, what);
        json_write_end(w);
    }
    json_write_end(w);
}

static bool make_scenario(struct ray_play *p)
{
    const cJSON *manifest = get(p->json, "manifest");
    struct str text = {0};
    struct json_writer w;
    struct diag d = {0};
    str_append(&text, before);
    str_printf(&text, "\"run\": {\"horizon\": %d},", (int)get(p->json, "observed_until")->valuedouble);
    str_append(&text, "\"faults\": {\"script\": ");
    json_write_begin(&w, &text);
    write_script(p, &w, text_of(get(manifest, "metadata"), "name"));
    json_write_finish(&w);
    str_append(&text, "}, \"objects\": [");
    json_write_begin(&w, &text);
    json_write_cjson(&w, manifest);
    json_write_finish(&w);
    str_append(&text, "]}");
    p->scenario = scenario_parse(p->name, str_text(&text), text.n, NULL, &d);
    if (!p->scenario) diag_print(&d, stderr);
    diag_free(&d);
    str_free(&text);
    return p->scenario != NULL;
}

struct ray_play *ray_play_load(const char *file)
{
    struct diag d = {0};
    size_t n;
    const char *slash = strrchr(file, '/');
    char *text = file_read(file, FILE_READ_MAX, &n, &d);
    if (!text) {
        diag_print(&d, stderr);
        diag_free(&d);
        return NULL;
    }
    struct ray_play *p = xcalloc(1, sizeof *p);
    p->name = xstrdup(slash ? slash + 1 : file);
    p->json = cJSON_ParseWithLength(text, n);
    free(text);
    diag_free(&d);
    read_conditions(p);
    read_job_status(p);
    read_pods(p);
    if (make_scenario(p)) return p;
    ray_play_free(p);
    return NULL;
}

static void free_side(struct side *s)
{
    for (int k = 0; k < N_STREAMS; k++) {
        for (size_t i = 0; i < s->lines[k].n; i++) free(s->lines[k].v[i]);
        array_free(&s->lines[k]);
    }
    array_free(&s->pods);
}

void ray_play_free(struct ray_play *p)
{
    free_side(&p->recorded);
    free_side(&p->ours);
    array_free(&p->actions);
    cJSON_Delete(p->json);
    if (p->scenario) scenario_free(p->scenario);
    free(p->name);
    free(p);
}

/* ---- our side ---- */

static enum play_role role_of(const struct pod *pod)
{
    if (pod->spec.role == ROLE_HEAD) return PLAY_HEAD;
    return pod->spec.role == ROLE_SUBMITTER ? PLAY_SUBMITTER : PLAY_WORKER;
}

static struct seen_pod *ours_of(struct ray_play *p, const struct pod *pod)
{
    for (size_t i = 0; i < p->ours.pods.n; i++)
        if (p->ours.pods.v[i].pod == pod) return &p->ours.pods.v[i];
    return NULL;
}

static void on_pod(void *ctx, struct kube *k, const struct pod *pod, enum pod_change c)
{
    static const char *const phases[] = {"Pending", "Running", "Succeeded", "Failed"};
    struct ray_play *p = ctx;
    struct seen_pod *s = c == POD_CREATED ? array_add(&p->ours.pods) : ours_of(p, pod);
    if (c == POD_CREATED) {
        s->role = role_of(pod);
        s->pod = pod;
        s->created = (double)sim_now(kube_sim(k)) / 1e9;
        kube_pod_name(k, pod, s->name, sizeof s->name);
    }
    if (!s) return;
    snprintf(s->phase, sizeof s->phase, "%s", phases[pod->phase]);
    s->terminating = pod->terminating;
    s->restarts = pod->restarts;
    if (c != POD_GONE) return;
    bool forgotten = pod->phase >= POD_SUCCEEDED && (pod->spec.job->flags & JOB_ENDED);
    s->deleted = !forgotten;
    s->terminating = !forgotten;
    s->pod = NULL;
}

static void on_condition(void *ctx, struct kube *k, const struct job *j, const char *type, const char *status,
                         const char *reason, const char *message)
{
    struct ray_play *p = ctx;
    (void)k, (void)j, (void)message;
    bool of_job = strcmp(type, "JobDeploymentStatus") == 0;
    if (strcmp(type, "RayTrain") != 0) note(&p->ours, of_job ? OF_JOB : OF_CLUSTER, type, status, reason);
}

/* ---- what the driver did ---- */

/* Our pod with the same role and place in the order of creation as a recorded one. */
static struct pod *counterpart(struct ray_play *p, const char *name)
{
    enum play_role role = role_of_name(name);
    size_t rank = 0;
    for (size_t i = 0; i < p->recorded.pods.n && strcmp(p->recorded.pods.v[i].name, name) != 0; i++)
        rank += p->recorded.pods.v[i].role == role;
    for (size_t i = 0; i < p->ours.pods.n; i++)
        if (p->ours.pods.v[i].role == role && rank-- == 0) {
            for (struct pod *q = kube_first_pod(p->sim->kube); q; q = q->live_next)
                if (q == p->ours.pods.v[i].pod) return q;
            return NULL;
        }
    return NULL;
}

/* The recorded pod whose container ended while its phase stayed Running. */
static const char *ended_while_running(const struct ray_play *p)
{
    const cJSON *pod, *step;
    cJSON_ArrayForEach(pod, get(p->json, "pods"))
        cJSON_ArrayForEach(step, get(pod, "track"))
        {
            const cJSON *state = cJSON_GetArrayItem(step, 1);
            if (get(state, "exit") && strcmp(text_of(state, "phase"), "Running") == 0) return text_of(pod, "name");
        }
    return "";
}

/* KWOK's kubelet does nothing of its own here: the driver patches the status, and the watch shows it. */
static void patch_status(struct kube *k, struct pod *pod, bool ended, uint32_t restarts)
{
    pod->restarts += restarts;
    if (!ended) {
        kube_observer(k)->pod(kube_observer(k)->ctx, k, pod, POD_READY);
        pod->spec.ops->changed(k, pod, POD_READY);
        return;
    }
    pod->started = pod->ready = false;
    pod->spec.ops->changed(k, pod, POD_NOT_READY);
}

/* "pod NAME -> Failed exit 1", "delete pod NAME" and so on. */
static bool act(struct ray_play *p, const char *text)
{
    struct kube *k = p->sim->kube;
    char name[TEXT], phase[TEXT];
    int code = 0, times = 0;
    struct pod *pod;
    if (!strcmp(text, "suspend") || !strcmp(text, "resume")) return true; /* the script does it */
    if (sscanf(text, "pod %127s -> %127s exit %d", name, phase, &code) >= 2) {
        if (!(pod = counterpart(p, name))) return false;
        bool ok = strcmp(phase, "Succeeded") == 0;
        kube_pod_finish(k, pod, ok ? POD_SUCCEEDED : POD_FAILED, ok ? 0 : strstr(text, "Evicted") ? -1 : code);
        return true;
    }
    if (sscanf(text, "delete pod %127s", name) == 1 || sscanf(text, "force-delete %127s", name) == 1) {
        if (!(pod = counterpart(p, name))) return false;
        if (text[0] == 'f') kube_pod_force_delete(k, pod);
        else kube_pod_delete(k, pod, -1);
        return true;
    }
    if (sscanf(text, "container of %127s restarted in place x%d", name, &times) == 2) {
        if (!(pod = counterpart(p, name))) return false;
        patch_status(k, pod, false, (uint32_t)times);
        return true;
    }
    if (sscanf(text, "workers %d -> %d", &times, &code) == 2) {
        struct script_action scale = {.action = DO_SCALE, .value = code};
        struct job *j = p->sim->by_index[0];
        return j && j->live->life->script(p->sim, j, &scale, NULL);
    }
    if (strncmp(text, "annotate", 8) == 0 || strncmp(text, "driver error", 12) == 0) return true;
    if (sscanf(text, "pod %127s (terminating) -> Failed exit %d", name, &code) == 2) {
        if (!(pod = counterpart(p, name))) return false;
        kube_pod_finish(k, pod, POD_FAILED, code);
        return true;
    }
    if (strncmp(text, "ray container terminated", 24) == 0) {
        if (!(pod = counterpart(p, ended_while_running(p)))) return false;
        patch_status(k, pod, true, 0);
        return true;
    }
    return false;
}

static void on_action(void *ctx, void *arg)
{
    struct play_action *a = arg;
    (void)ctx;
    if (!act(a->play, a->text)) snprintf(a->play->trouble, sizeof a->play->trouble, "cannot do \"%s\"", a->text);
}

static void plan(struct ray_play *p)
{
    const cJSON *a;
    cJSON_ArrayForEach(a, get(p->json, "driver_actions"))
    {
        struct play_action *x = array_add(&p->actions);
        x->play = p;
        x->t = get(a, "t")->valuedouble;
        snprintf(x->text, sizeof x->text, "%s", text_of(a, "action"));
    }
    for (size_t i = 0; i < p->actions.n; i++)
        event_at(p->sim->events, (int64_t)(p->actions.v[i].t * 1e9), EVENT_FAULT, on_action, &p->actions.v[i]);
}

bool ray_play_run(struct ray_play *p)
{
    const struct kube_observer watch = {.pod = on_pod, .condition = on_condition, .ctx = p};
    const struct sim_options options = {0};
    struct sim_result r = {0};
    char *error = NULL;
    p->sim = sim_create(p->scenario, &options, &error);
    if (!p->sim) {
        fprintf(stderr, "%s: %s\n", p->name, error);
        free(error);
        return false;
    }
    kube_observe(p->sim->kube, &watch);
    plan(p);
    while (sim_step(p->sim)) {}
    kube_observe(p->sim->kube, NULL);
    bool ok = sim_close(p->sim, &r);
    if (!ok) fprintf(stderr, "%s: %s\n", p->name, r.error);
    sim_result_free(&r);
    p->sim = NULL;
    return ok;
}

/* ---- comparison ---- */

static size_t compare_lines(const struct ray_play *p, enum line_of k)
{
    const struct side *r = &p->recorded, *o = &p->ours;
    size_t wrong = 0, n = r->lines[k].n > o->lines[k].n ? r->lines[k].n : o->lines[k].n;
    for (size_t i = 0; i < n; i++) {
        const char *want = i < r->lines[k].n ? r->lines[k].v[i] : "nothing";
        const char *have = i < o->lines[k].n ? o->lines[k].v[i] : "nothing";
        if (strcmp(want, have) == 0) continue;
        printf("    %s: %s %zu: recorded %s, ours %s\n", p->name, stream_text[k], i, want, have);
        wrong++;
    }
    return wrong;
}

static void fate(const struct seen_pod *s, char out[TEXT])
{
    const char *end = s->deleted ? "deleted" : s->terminating ? "terminating" : "left";
    snprintf(out, TEXT, "%s %s %s, %u restarts", role_text[s->role], s->phase, end, s->restarts);
}

static size_t compare_pods(const struct ray_play *p)
{
    const struct side *r = &p->recorded, *o = &p->ours;
    size_t wrong = 0, n = r->pods.n > o->pods.n ? r->pods.n : o->pods.n;
    for (size_t i = 0; i < n; i++) {
        char want[TEXT] = "none", have[TEXT] = "none";
        if (i < r->pods.n) fate(&r->pods.v[i], want);
        if (i < o->pods.n) fate(&o->pods.v[i], have);
        if (strcmp(want, have) == 0) continue;
        printf("    %s: pod %zu: recorded %s, ours %s\n", p->name, i, want, have);
        wrong++;
    }
    return wrong;
}

size_t ray_play_compare(const struct ray_play *p)
{
    size_t wrong = 0;
    if (p->trouble[0]) {
        printf("    %s: %s\n", p->name, p->trouble);
        wrong++;
    }
    for (int k = 0; k < N_STREAMS; k++) wrong += compare_lines(p, (enum line_of)k);
    return wrong + compare_pods(p);
}
