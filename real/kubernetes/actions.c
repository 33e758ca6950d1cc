/* actions.c - the scenario's script by API calls.
 *
 * Playable is what an owner of jobs and queues can do. What machines do (a node is lost, a container exits, a process hangs)
 * is no call that an API server takes from a client, and changes of nodes or links would reach beyond the run: both are
 * refused by name before anything starts.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "real/kubernetes/observe.h"

struct target { struct seen_job *job; struct seen_pod *pod; const char *queue; };
typedef enum k8s_result (*act)(struct k8s_run *, const struct target *, const struct script_action *);

/* ---- finding ---- */

static struct seen_job *find_job(struct k8s_run *r, const char *id)
{
    char buf[24];
    for (size_t i = 0; i < r->n_jobs; i++)
        if (strcmp(job_id(r->s, &r->set.jobs[r->jobs[i].item->job], buf), id) == 0 || strcmp(r->jobs[i].item->name, id) == 0) return &r->jobs[i];
    return NULL;
}

/* By name, or the newest whose name begins so and goes on with what the controller put behind it. */
static struct seen_pod *find_pod(struct k8s_run *r, const char *name)
{
    struct seen_pod *best = NULL;
    size_t n = strlen(name);
    for (size_t i = 0; i < r->n_jobs; i++)
        for (size_t k = 0; k < r->jobs[i].n_pods; k++) {
            struct seen_pod *p = r->jobs[i].pods[k];
            bool fits = strncmp(p->name, name, n) == 0 && (!p->name[n] || p->name[n] == '-');
            if (fits && !p->gone && (!best || p->number > best->number)) best = p;
        }
    return best;
}

/* ---- doing ---- */

static enum k8s_result delete_pod(struct k8s_run *r, const struct target *t, const struct script_action *a)
{
    return k8s_delete(r->client, &k8s_pods, t->pod->ns, t->pod->name, (struct k8s_deletion){ .uid = t->pod->uid, .now = a->action == DO_FORCE_DELETE }, r->d);
}

static enum k8s_result evict_pod(struct k8s_run *r, const struct target *t, const struct script_action *a)
{
    (void)a;
    return k8s_evict(r->client, t->pod->ns, t->pod->name, r->d);
}

static enum k8s_result delete_job(struct k8s_run *r, const struct target *t, const struct script_action *a)
{
    (void)a;
    const struct manifest_item *i = t->job->item;
    return k8s_delete(r->client, k8s_resource_of(i->api_version, i->kind), i->ns, i->name, (struct k8s_deletion){ 0 }, r->d);
}

/* An object with nothing but its identity, to be applied with one field more. */
static cJSON *fields_of(const char *api, const char *kind, const char *ns, const char *name, cJSON **spec)
{
    cJSON *o = cJSON_CreateObject(), *meta;
    cJSON_AddStringToObject(o, "apiVersion", api);
    cJSON_AddStringToObject(o, "kind", kind);
    meta = cJSON_AddObjectToObject(o, "metadata");
    cJSON_AddStringToObject(meta, "name", name);
    if (ns) cJSON_AddStringToObject(meta, "namespace", ns);
    *spec = cJSON_AddObjectToObject(o, "spec");
    return o;
}

static enum k8s_result suspend_job(struct k8s_run *r, const struct target *t, const struct script_action *a)
{
    const struct manifest_item *i = t->job->item;
    cJSON *spec, *o = fields_of(i->api_version, i->kind, i->ns, i->name, &spec);
    if (strcmp(i->kind, "PyTorchJob") == 0) spec = cJSON_AddObjectToObject(spec, "runPolicy");
    cJSON_AddBoolToObject(spec, "suspend", a->action == DO_SUSPEND);
    enum k8s_result result = k8s_apply(r->client, o, r->d);
    cJSON_Delete(o);
    return result;
}

static bool set_number(cJSON *o, const char *key, int64_t x)
{
    if (o) cJSON_DeleteItemFromObjectCaseSensitive(o, key);
    return o && cJSON_AddNumberToObject(o, key, (double)x);
}

/* The group's bounds make room: KubeRay would keep within them. */
static bool set_group(cJSON *group, int64_t n)
{
    const cJSON *max = cJSON_GetObjectItemCaseSensitive(group, "maxReplicas"), *min = cJSON_GetObjectItemCaseSensitive(group, "minReplicas");
    if (cJSON_IsNumber(max) && max->valuedouble < (double)n) set_number(group, "maxReplicas", n);
    if (cJSON_IsNumber(min) && min->valuedouble > (double)n) set_number(group, "minReplicas", n);
    return set_number(group, "replicas", n);
}

static bool scale(cJSON *o, void *arg)
{
    const struct script_action *a = arg;
    cJSON *spec = cJSON_GetObjectItemCaseSensitive(o, "spec");
    cJSON *types = cJSON_GetObjectItemCaseSensitive(spec, "pytorchReplicaSpecs");
    cJSON *ray = cJSON_GetObjectItemCaseSensitive(spec, "rayClusterSpec");
    cJSON *groups = cJSON_GetObjectItemCaseSensitive(ray ? ray : spec, "workerGroupSpecs");
    if (types) return set_number(cJSON_GetObjectItemCaseSensitive(types, "Worker"), "replicas", a->value);
    if (groups && groups->child) return set_group(groups->child, a->value);
    return set_number(spec, "parallelism", a->value);
}

static enum k8s_result scale_job(struct k8s_run *r, const struct target *t, const struct script_action *a)
{
    const struct manifest_item *i = t->job->item;
    struct script_action copy = *a;
    return k8s_update(r->client, k8s_resource_of(i->api_version, i->kind), i->ns, i->name, scale, &copy, r->d);
}

static enum k8s_result touch_job(struct k8s_run *r, const struct target *t, const struct script_action *a)
{
    const struct manifest_item *i = t->job->item;
    cJSON *spec, *o = fields_of(i->api_version, i->kind, i->ns, i->name, &spec);
    struct str when = { 0 };
    cJSON_DeleteItemFromObjectCaseSensitive(o, "spec");
    str_append_seconds(&when, a->at_ns);
    cJSON_AddStringToObject(cJSON_AddObjectToObject(cJSON_GetObjectItemCaseSensitive(o, "metadata"), "annotations"), "trainyard/touched", str_text(&when));
    enum k8s_result result = k8s_apply(r->client, o, r->d);
    str_free(&when);
    cJSON_Delete(o);
    return result;
}

static bool set_quota(cJSON *o, void *arg)
{
    const struct script_action *a = arg;
    cJSON *spec = cJSON_GetObjectItemCaseSensitive(o, "spec"), *group = cJSON_GetObjectItemCaseSensitive(spec, "resourceGroups");
    cJSON *flavor = group && group->child ? cJSON_GetObjectItemCaseSensitive(group->child, "flavors") : NULL;
    cJSON *amount, *amounts = flavor && flavor->child ? cJSON_GetObjectItemCaseSensitive(flavor->child, "resources") : NULL;
    char text[32];
    snprintf(text, sizeof text, "%lldm", (long long)a->value);
    cJSON_ArrayForEach(amount, amounts)
    {
        if (!str_ends_with(k8s_text(amount, "name"), "/gpu")) continue;
        return cJSON_ReplaceItemInObjectCaseSensitive(amount, "nominalQuota", cJSON_CreateString(text));
    }
    return false;
}

static const struct k8s_resource *queues(void) { return k8s_resource_of("kueue.x-k8s.io/v1beta2", "ClusterQueue"); }

static enum k8s_result set_queue_quota(struct k8s_run *r, const struct target *t, const struct script_action *a)
{
    struct script_action copy = *a;
    return k8s_update(r->client, queues(), NULL, t->queue, set_quota, &copy, r->d);
}

static enum k8s_result hold_queue(struct k8s_run *r, const struct target *t, const struct script_action *a)
{
    cJSON *spec, *o = fields_of(queues()->api_version, queues()->kind, NULL, t->queue, &spec);
    cJSON_AddStringToObject(spec, "stopPolicy", a->value == 2 ? "HoldAndDrain" : a->value == 1 ? "Hold" : "None");
    enum k8s_result result = k8s_apply(r->client, o, r->d);
    cJSON_Delete(o);
    return result;
}

/* One row an action that can be played; the target's kind is that of the row. */
static const struct { enum fault_action action; const char *target; act play; } rows[] = {
    { DO_POD_DELETED, "pod/", delete_pod },   { DO_FORCE_DELETE, "pod/", delete_pod }, { DO_POD_EVICTED, "pod/", evict_pod },
    { DO_SUSPEND, "job/", suspend_job },      { DO_RESUME, "job/", suspend_job },      { DO_SCALE, "job/", scale_job },
    { DO_DELETE_JOB, "job/", delete_job },    { DO_TOUCH, "job/", touch_job },         { DO_SET_QUOTA, "queue/", set_queue_quota },
    { DO_HOLD, "queue/", hold_queue },
};

static size_t row_of(enum fault_action action)
{
    size_t i = 0;
    while (i < sizeof rows / sizeof *rows && rows[i].action != action) i++;
    return i;
}

bool k8s_actions_check(const struct scenario *s, struct diag *d)
{
    size_t errors = diag_errors(d);
    for (uint32_t i = 0; i < s->faults.n_script; i++) {
        const struct script_action *a = &s->faults.script[i];
        size_t row = row_of(a->action);
        bool known = row < sizeof rows / sizeof *rows;
        if (known && str_starts_with(a->target, rows[row].target)) continue;
        diag_error(d, s->file, (int)a->line, NULL, "\"%s\" on %s cannot be played on Kubernetes by a client that touches only its own jobs", fault_action_names[a->action], a->target);
        diag_help(d, "playable are pod-deleted, force-delete, pod-evicted; suspend, resume, scale, delete-job, touch of a job; set-quota, hold of a queue");
    }
    return diag_errors(d) == errors;
}

static bool find(struct k8s_run *r, const char *target, struct target *t)
{
    const char *name = strchr(target, '/') + 1;
    if (str_starts_with(target, "pod/")) t->pod = find_pod(r, name);
    else if (str_starts_with(target, "job/")) t->job = find_job(r, name);
    else t->queue = name;
    return t->pod || (t->job && t->job->created) || t->queue;
}

static bool play(struct k8s_run *r, const struct script_action *a)
{
    struct target t = { 0 };
    if (!find(r, a->target, &t)) {
        if (r->o->tell) fprintf(r->o->tell, "%s: %s is not there (yet): passed over\n", fault_action_names[a->action], a->target);
        return true;
    }
    enum k8s_result result = rows[row_of(a->action)].play(r, &t, a);
    if (r->o->tell) fprintf(r->o->tell, "%s %s%s\n", fault_action_names[a->action], a->target, result == K8S_OK ? "" : ": was not there");
    return result != K8S_FAILED;
}

bool k8s_actions_play(struct k8s_run *r, int64_t now_ns)
{
    const struct fault_spec *f = &r->s->faults;
    while (r->next_action < f->n_script && f->script[r->next_action].at_ns <= now_ns)
        if (!play(r, &f->script[r->next_action++])) return false;
    return true;
}
