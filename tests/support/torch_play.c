/* torch_play.c - see torch_play.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/torch_play.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "input/objects.h"
#include "sim/kube/kube.h"
#include "sim/simulate.h"

enum { TEXT = 160 };

struct seen_condition { double t; char type[24], status[16], reason[48], message[TEXT]; };
struct seen_pod { char name[64]; double created, deleted; int phase, restarts, exit; bool terminating; };
struct seen_service { char name[64]; int added, deleted; };

/* What one side showed. */
struct side {
    ARRAY(struct seen_condition) conditions;
    ARRAY(struct seen_pod) pods;
    ARRAY(struct seen_service) services;
};

struct play_action { struct torch_play *play; double t; char text[TEXT]; };

struct torch_play {
    char *name;
    cJSON *json;
    struct scenario *scenario;
    struct pod_template templates[2];
    struct side recorded, ours;
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

/* ---- the recorded side ---- */

/* Messages carry the recording's namespace, ours the default one. */
static void neutral_message(char *to, size_t n, const char *message, const char *job)
{
    char slash[80];
    snprintf(slash, sizeof slash, "/%s", job);
    copy(to, n, message);
    char *at = strstr(to, slash), *from = at;
    if (!at) return;
    while (from > to && from[-1] != ' ') from--;
    memmove(from, at, strlen(at) + 1);
}

static void read_conditions(struct torch_play *p, const cJSON *object, const char *job)
{
    const cJSON *c;
    cJSON_ArrayForEach(c, get(object, "conditions"))
    {
        struct seen_condition *s = array_add(&p->recorded.conditions);
        s->t = get(c, "t")->valuedouble;
        copy(s->type, sizeof s->type, text_of(c, "type"));
        copy(s->status, sizeof s->status, text_of(c, "status"));
        copy(s->reason, sizeof s->reason, text_of(c, "reason"));
        neutral_message(s->message, sizeof s->message, text_of(c, "message") ? text_of(c, "message") : "", job);
    }
}

static int phase_of(const char *s)
{
    static const char *const names[] = {"Pending", "Running", "Succeeded", "Failed"};
    for (int i = 0; i < 4; i++)
        if (s && strcmp(s, names[i]) == 0) return i;
    return -1;
}

static void read_pods(struct torch_play *p)
{
    const cJSON *pod, *step;
    cJSON_ArrayForEach(pod, get(p->json, "pods"))
    {
        struct seen_pod *s = array_add(&p->recorded.pods);
        copy(s->name, sizeof s->name, text_of(pod, "name"));
        s->created = get(pod, "created")->valuedouble;
        s->deleted = cJSON_IsNumber(get(pod, "deleted")) ? get(pod, "deleted")->valuedouble : -1;
        s->exit = -1;
        cJSON_ArrayForEach(step, get(pod, "track"))
        {
            const cJSON *state = cJSON_GetArrayItem(step, 1);
            s->phase = phase_of(text_of(state, "phase"));
            const cJSON *restarts = get(state, "restarts"), *code = get(state, "exit");
            if (cJSON_IsNumber(restarts)) s->restarts = restarts->valueint;
            if (cJSON_IsArray(restarts)) s->restarts = cJSON_GetArrayItem(restarts, 0)->valueint;
            if (cJSON_IsArray(code)) s->exit = cJSON_GetArrayItem(code, 0)->valueint;
            s->terminating = cJSON_IsTrue(get(state, "terminating"));
        }
    }
}

static struct seen_service *service_named(struct side *s, const char *name)
{
    for (size_t i = 0; i < s->services.n; i++)
        if (strcmp(s->services.v[i].name, name) == 0) return &s->services.v[i];
    struct seen_service *n = array_add(&s->services);
    copy(n->name, sizeof n->name, name);
    return n;
}

static void read_services(struct torch_play *p)
{
    const cJSON *o, *change;
    cJSON_ArrayForEach(o, get(p->json, "other"))
    {
        if (strncmp(o->string, "Service/", 8) != 0) continue;
        struct seen_service *s = service_named(&p->recorded, o->string + 8);
        cJSON_ArrayForEach(change, o)
        {
            bool added = strcmp(cJSON_GetArrayItem(change, 1)->valuestring, "ADDED") == 0;
            *(added ? &s->added : &s->deleted) += 1;
        }
    }
}

/* ---- the scenario ---- */

static void copy_number(struct json_writer *w, const cJSON *from, const char *key)
{
    const cJSON *v = get(from, key);
    if (!cJSON_IsNumber(v)) return;
    json_write_key(w, key);
    json_write_int64(w, v->valueint);
}

static void copy_text(struct json_writer *w, const cJSON *from, const char *key)
{
    if (!text_of(from, key)) return;
    json_write_key(w, key);
    json_write_string(w, text_of(from, key));
}

static void write_role(struct json_writer *w, const cJSON *specs, const char *role)
{
    const cJSON *r = get(specs, role);
    if (!r) return;
    json_write_key(w, role);
    json_write_object(w);
    copy_number(w, r, "replicas");
    copy_text(w, r, "restartPolicy");
    json_write_end(w);
}

static void write_job(struct json_writer *w, const cJSON *manifest)
{
    const cJSON *spec = get(manifest, "spec"), *run = get(spec, "runPolicy"), *elastic = get(spec, "elasticPolicy");
    const cJSON *roles = get(spec, "pytorchReplicaSpecs");
    json_write_object(w);
    json_write_key(w, "id");
    json_write_string(w, text_of(get(manifest, "metadata"), "name"));
    json_write_key(w, "kind");
    json_write_string(w, "PyTorchJob");
    json_write_key(w, "gpus");
    json_write_int64(w, 0);
    json_write_key(w, "duration");
    json_write_string(w, "1s");
    json_write_key(w, "roles");
    json_write_object(w);
    write_role(w, roles, "Master");
    write_role(w, roles, "Worker");
    json_write_end(w);
    copy_number(w, run, "backoffLimit");
    copy_number(w, run, "activeDeadlineSeconds");
    copy_number(w, run, "ttlSecondsAfterFinished");
    copy_text(w, run, "cleanPodPolicy");
    if (cJSON_IsTrue(get(run, "suspend"))) {
        json_write_key(w, "suspend");
        json_write_bool(w, true);
    }
    if (elastic) {
        json_write_key(w, "elastic");
        json_write_object(w);
        copy_number(w, elastic, "minReplicas");
        copy_number(w, elastic, "maxReplicas");
        copy_number(w, elastic, "maxRestarts");
        json_write_end(w);
    }
    json_write_end(w);
}

static const char head[] =
    "{ \"trainyard\": 1, \"name\": \"recording\", \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": 4, \"gpus\": 8 } ] },"
    "\"approaches\": { \"operator\": { \"lifecycle\": \"training-operator-v1\", \"stack\": {"
    "\"training-operator.qps\": 1000, \"training-operator.burst\": 1000,"
    "\"kubelet.container-start\": \"330ms\", \"kubelet.pod-delete\": \"300ms\" } } },"
    "\"workload\": { \"jobs\": [ ";

/* A node selector is not part of the scenario's roles, only of manifests. */
static void add_selector(struct torch_play *p, const cJSON *specs, const char *role, uint32_t at)
{
    const cJSON *selector = get(get(get(get(specs, role), "template"), "spec"), "nodeSelector"), *pair;
    struct role_spec *r = &p->scenario->details[0].roles[at];
    struct pod_template *t = &p->templates[at];
    if (!selector) return;
    t->node_selector = arena_calloc(&p->scenario->arena, (size_t)cJSON_GetArraySize(selector), sizeof *t->node_selector);
    cJSON_ArrayForEach(pair, selector)
        t->node_selector[t->n_node_selector++] = (struct manifest_text){pair->string, pair->valuestring};
    r->pod = t;
}

static bool make_scenario(struct torch_play *p, char no[256])
{
    const cJSON *manifest = get(p->json, "manifest"), *specs = get(get(manifest, "spec"), "pytorchReplicaSpecs");
    struct str text = {0};
    struct json_writer w;
    struct diag d = {0};
    str_append(&text, head);
    json_write_begin(&w, &text);
    write_job(&w, manifest);
    json_write_finish(&w);
    str_append(&text, "] } }");
    p->scenario = scenario_parse(p->name, str_text(&text), text.n, NULL, &d);
    if (!p->scenario) {
        snprintf(no, 256, "the manifest makes no scenario");
        diag_print(&d, stderr);
    } else {
        p->scenario->jobs[0].work_ns = TIME_NEVER; /* as for an object that does not say how long it works */
        p->scenario->run.horizon_ns = (int64_t)(p->until * 1e9);
        uint32_t at = 0;
        if (get(specs, "Master")) add_selector(p, specs, "Master", at++);
        if (get(specs, "Worker")) add_selector(p, specs, "Worker", at);
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
        if (!strncmp(object->string, "PyTorchJob/", 11)) read_conditions(p, object, object->string + 11);
    read_pods(p);
    read_services(p);
    read_actions(p);
    if (make_scenario(p, no)) return p;
    torch_play_free(p);
    return NULL;
}

/* ---- our side ---- */

static double seconds(struct kube *k) { return (double)sim_now(kube_sim(k)) / 1e9; }

static void on_pod(void *ctx, struct kube *k, const struct pod *pod, enum pod_change what)
{
    struct torch_play *p = ctx;
    struct seen_pod *s = NULL;
    char name[64];
    kube_pod_name(k, pod, name, sizeof name);
    if (what == POD_CREATED) {
        ((struct pod *)pod)->spec.uses_init = false; /* KWOK runs no init containers */
        s = array_add(&p->ours.pods);
        copy(s->name, sizeof s->name, name);
        s->created = seconds(k);
        s->deleted = s->exit = -1;
    }
    for (size_t i = p->ours.pods.n; !s && i-- > 0;)
        if (strcmp(p->ours.pods.v[i].name, name) == 0) s = &p->ours.pods.v[i];
    if (what == POD_GONE) s->deleted = seconds(k);
    s->phase = pod->phase;
    s->restarts = (int)pod->restarts;
    s->exit = pod->phase >= POD_SUCCEEDED && !pod->evicted ? pod->exit_code : -1;
    s->terminating = pod->terminating;
}

static void on_condition(void *ctx, struct kube *k, const struct job *j, const char *type, const char *status,
                         const char *reason, const char *message)
{
    struct torch_play *p = ctx;
    struct seen_condition *s = array_add(&p->ours.conditions);
    char number[24];
    s->t = seconds(k);
    copy(s->type, sizeof s->type, type);
    copy(s->status, sizeof s->status, status);
    copy(s->reason, sizeof s->reason, reason);
    neutral_message(s->message, sizeof s->message, message ? message : "", job_id(p->scenario, j->spec, number));
}

static void on_object(void *ctx, struct kube *k, const struct job *j, const char *kind, const char *name, bool added)
{
    struct torch_play *p = ctx;
    (void)k;
    (void)j;
    (void)kind;
    struct seen_service *s = service_named(&p->ours, name);
    *(added ? &s->added : &s->deleted) += 1;
}

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
    on_pod(p, p->sim->kube, pod, POD_RESTARTED);
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

void torch_play_run(struct torch_play *p)
{
    struct sim_options options = {.dir = NULL};
    struct sim_result result = {.jobs = 0};
    struct kube_observer observer = {.pod = on_pod, .condition = on_condition, .object = on_object, .ctx = p};
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

/* ---- comparison ---- */

static bool differ(char why[1024], const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(why, 1024, fmt, args);
    va_end(args);
    return false;
}

static bool has_master(const struct torch_play *p)
{
    return get(get(get(get(p->json, "manifest"), "spec"), "pytorchReplicaSpecs"), "Master") != NULL;
}

/* A time during which Restarting was shown. */
struct incident { double from, to; bool worker; };

struct split { ARRAY(struct incident) incidents; ARRAY(const struct seen_condition *) rest; };

/* Takes Restarting, and the Running that it replaces and that replaces it, out of the list. */
static struct split split_conditions(const struct side *s)
{
    struct split out = {0};
    bool restarting = false;
    for (size_t i = 0; i < s->conditions.n; i++) {
        const struct seen_condition *c = &s->conditions.v[i];
        bool removed = strcmp(c->status, "(removed)") == 0;
        if (!strcmp(c->type, "Restarting")) {
            if (!removed && !restarting)
                array_push(&out.incidents, (struct incident){c->t, 1e9, strstr(c->message, "Worker") != NULL});
            if (removed) out.incidents.v[out.incidents.n - 1].to = c->t;
            restarting = !removed;
            continue;
        }
        if (!strcmp(c->type, "Running") && removed) continue;
        bool back = !strcmp(c->type, "Running") && !strcmp(c->status, "True") && i + 1 < s->conditions.n &&
                    !strcmp(s->conditions.v[i + 1].type, "Restarting") && s->conditions.v[i + 1].status[0] == '(';
        if (!back) array_push(&out.rest, c);
    }
    return out;
}

static void split_free(struct split *s)
{
    array_free(&s->incidents);
    array_free(&s->rest);
}

static bool overlap(const struct incident *a, const struct incident *b)
{
    const double slack = 1.5; /* s: the recordings' uncertainty */
    return a->from <= b->to + slack && b->from <= a->to + slack;
}

static bool incidents_agree(const struct torch_play *p, const struct split *r, const struct split *o, char why[1024])
{
    for (size_t i = 0; i < r->incidents.n; i++) {
        bool found = false;
        for (size_t k = 0; k < o->incidents.n; k++) found |= overlap(&r->incidents.v[i], &o->incidents.v[k]);
        if (!found) return differ(why, "recorded Restarting at %.2f s, ours not", r->incidents.v[i].from);
    }
    for (size_t k = 0; k < o->incidents.n; k++) {
        bool found = false;
        for (size_t i = 0; i < r->incidents.n; i++) found |= overlap(&r->incidents.v[i], &o->incidents.v[k]);
        if (!found && !(has_master(p) && o->incidents.v[k].worker))
            return differ(why, "our Restarting at %.2f s is not recorded", o->incidents.v[k].from);
    }
    return true;
}

static bool rest_agrees(const struct split *r, const struct split *o, char why[1024])
{
    for (size_t i = 0; i < r->rest.n || i < o->rest.n; i++) {
        const struct seen_condition *a = i < r->rest.n ? r->rest.v[i] : NULL, *b = i < o->rest.n ? o->rest.v[i] : NULL;
        if (a && b && !strcmp(a->type, b->type) && !strcmp(a->status, b->status) && !strcmp(a->reason, b->reason) &&
            !strcmp(a->message, b->message))
            continue;
        return differ(why, "condition %zu: recorded %s %s %s (%s), ours %s %s %s (%s)", i, a ? a->type : "none",
                      a ? a->status : "", a ? a->reason : "", a ? a->message : "", b ? b->type : "none",
                      b ? b->status : "", b ? b->reason : "", b ? b->message : "");
    }
    return true;
}

static bool conditions_agree(const struct torch_play *p, char why[1024])
{
    struct split r = split_conditions(&p->recorded), o = split_conditions(&p->ours);
    bool same = rest_agrees(&r, &o, why) && incidents_agree(p, &r, &o, why);
    split_free(&r);
    split_free(&o);
    return same;
}

static const struct seen_pod *nth(const struct side *s, const char *name, size_t n)
{
    for (size_t i = 0; i < s->pods.n; i++)
        if (strcmp(s->pods.v[i].name, name) == 0 && n-- == 0) return &s->pods.v[i];
    return NULL;
}

static bool near(double a, double b) { return fabs(a - b) <= 2.0; }

static bool pod_agrees(const struct seen_pod *a, const struct seen_pod *b, char why[1024])
{
    if ((a->deleted >= 0) != (b->deleted >= 0))
        return differ(why, "%s: recorded %s, ours %s", a->name, a->deleted >= 0 ? "deleted" : "left",
                      b->deleted >= 0 ? "deleted" : "left");
    if (!near(a->created, b->created) && a->created > 4) /* bring-up on a loaded host is no matter of semantics */
        return differ(why, "%s: created at %.2f s, ours %.2f s", a->name, a->created, b->created);
    if (a->deleted >= 0 && !near(a->deleted, b->deleted))
        return differ(why, "%s: deleted at %.2f s, ours %.2f s", a->name, a->deleted, b->deleted);
    if (a->phase != b->phase || a->restarts != b->restarts || a->exit != b->exit || a->terminating != b->terminating)
        return differ(why, "%s: last phase %d, restarts %d, exit %d, terminating %d; ours %d, %d, %d, %d", a->name, a->phase,
                      a->restarts, a->exit, a->terminating, b->phase, b->restarts, b->exit, b->terminating);
    return true;
}

/* Each instance of each name; and within a replica type the order of creation. */
static bool pods_agree(const struct torch_play *p, char why[1024])
{
    if (p->recorded.pods.n != p->ours.pods.n)
        return differ(why, "recorded %zu pods, ours %zu", p->recorded.pods.n, p->ours.pods.n);
    for (size_t i = 0; i < p->recorded.pods.n; i++) {
        const struct seen_pod *a = &p->recorded.pods.v[i];
        size_t n = 0;
        for (size_t k = 0; k < i; k++) n += !strcmp(p->recorded.pods.v[k].name, a->name);
        const struct seen_pod *b = nth(&p->ours, a->name, n);
        if (!b) return differ(why, "instance %zu of %s is missing", n, a->name);
        if (!pod_agrees(a, b, why)) return false;
    }
    return true;
}

static bool services_agree(const struct torch_play *p, char why[1024])
{
    if (p->recorded.services.n != p->ours.services.n)
        return differ(why, "recorded %zu services, ours %zu", p->recorded.services.n, p->ours.services.n);
    for (size_t i = 0; i < p->recorded.services.n; i++) {
        const struct seen_service *a = &p->recorded.services.v[i];
        const struct seen_service *b = service_named(&((struct torch_play *)p)->ours, a->name);
        if (a->added != b->added || a->deleted != b->deleted)
            return differ(why, "Service %s: added %d, deleted %d; ours %d, %d", a->name, a->added, a->deleted, b->added,
                          b->deleted);
    }
    return true;
}

bool torch_play_compare(const struct torch_play *p, char why[1024])
{
    if (p->trouble[0]) return differ(why, "%s", p->trouble);
    return conditions_agree(p, why) && pods_agree(p, why) && services_agree(p, why);
}

static void print_side(const char *title, const struct side *s)
{
    printf("  %s\n", title);
    for (size_t i = 0; i < s->conditions.n; i++) {
        const struct seen_condition *c = &s->conditions.v[i];
        printf("    %8.2f  %-10s %-9s %-24s %s\n", c->t, c->type, c->status, c->reason, c->message);
    }
    for (size_t i = 0; i < s->pods.n; i++) {
        const struct seen_pod *d = &s->pods.v[i];
        printf("    %8.2f  %-14s deleted %6.2f phase %d restarts %d exit %d terminating %d\n", d->created, d->name,
               d->deleted, d->phase, d->restarts, d->exit, d->terminating);
    }
}

void torch_play_print(const struct torch_play *p)
{
    print_side("recorded", &p->recorded);
    print_side("ours", &p->ours);
}

static void side_free(struct side *s)
{
    array_free(&s->conditions);
    array_free(&s->pods);
    array_free(&s->services);
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
