/* actions.c - the scenario's script by API calls.
 *
 * Playable is what an owner of jobs and queues can do. What machines do (a node is lost, a container exits, a process hangs)
 * is no call that an API server takes from a client, and changes of nodes or links would reach beyond the run: both are
 * refused by name before anything starts, and so is what is done to queues by a run that makes none.
 *
 * Nothing is written but to the run's own: objects are read first, and changed only when they carry its label and are still what was
 * read (resourceVersion); deletions and evictions name the UID that was seen. What has gone meanwhile is passed over.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "real/kubernetes/observe.h"

/* item: of the job, or the queue */
struct target { const struct seen_job *job; const struct seen_pod *pod; const struct manifest_item *item; };
typedef enum k8s_result (*play_fn)(struct k8s_run *, const struct target *, const struct script_action *);
/* False: there is nothing in the object that it could change. */
typedef bool (*edit_fn)(cJSON *object, const struct script_action *);

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

/* A queue of the run's own: the cluster may have one of any other name. */
static const struct manifest_item *find_queue(const struct k8s_run *r, const char *name)
{
    for (size_t i = 0; i < r->set.n; i++)
        if (strcmp(r->set.v[i].kind, "ClusterQueue") == 0 && strcmp(r->set.v[i].name, name) == 0) return &r->set.v[i];
    return NULL;
}

/* ---- deleting ---- */

static enum k8s_result delete_pod(struct k8s_run *r, const struct target *t, const struct script_action *a)
{
    return k8s_delete(r->client, &k8s_pods, t->pod->ns, t->pod->name, (struct k8s_deletion){ .uid = t->pod->uid, .now = a->action == DO_FORCE_DELETE }, r->d);
}

static enum k8s_result evict_pod(struct k8s_run *r, const struct target *t, const struct script_action *a)
{
    (void)a;
    return k8s_evict(r->client, t->pod->ns, t->pod->name, t->pod->uid, r->d);
}

static enum k8s_result delete_job(struct k8s_run *r, const struct target *t, const struct script_action *a)
{
    (void)a;
    return k8s_delete(r->client, k8s_resource_of(t->item->api_version, t->item->kind), t->item->ns, t->item->name,
                      (struct k8s_deletion){ .uid = t->job->uid }, r->d);
}

/* ---- changing ---- */

static bool set_item(cJSON *o, const char *key, cJSON *item)
{
    cJSON_DeleteItemFromObjectCaseSensitive(o, key);
    return cJSON_AddItemToObject(o, key, item);
}

static bool suspend(cJSON *o, const struct script_action *a)
{
    cJSON *spec = k8s_object_at(o, "spec");
    if (strcmp(k8s_text(o, "kind"), "PyTorchJob") == 0) spec = k8s_object_at(spec, "runPolicy");
    return set_item(spec, "suspend", cJSON_CreateBool(a->action == DO_SUSPEND));
}

static bool set_number(cJSON *o, const char *key, int64_t x)
{
    return o && set_item(o, key, cJSON_CreateNumber((double)x));
}

/* The group's bounds make room: KubeRay would keep within them. */
static bool set_group(cJSON *group, int64_t n)
{
    const cJSON *max = cJSON_GetObjectItemCaseSensitive(group, "maxReplicas"), *min = cJSON_GetObjectItemCaseSensitive(group, "minReplicas");
    if (cJSON_IsNumber(max) && max->valuedouble < (double)n) set_number(group, "maxReplicas", n);
    if (cJSON_IsNumber(min) && min->valuedouble > (double)n) set_number(group, "minReplicas", n);
    return set_number(group, "replicas", n);
}

static bool scale(cJSON *o, const struct script_action *a)
{
    cJSON *spec = cJSON_GetObjectItemCaseSensitive(o, "spec");
    cJSON *types = cJSON_GetObjectItemCaseSensitive(spec, "pytorchReplicaSpecs");
    cJSON *ray = cJSON_GetObjectItemCaseSensitive(spec, "rayClusterSpec");
    cJSON *groups = cJSON_GetObjectItemCaseSensitive(ray ? ray : spec, "workerGroupSpecs");
    if (types) return set_number(cJSON_GetObjectItemCaseSensitive(types, "Worker"), "replicas", a->value);
    if (groups && groups->child) return set_group(groups->child, a->value);
    return set_number(spec, "parallelism", a->value);
}

static bool touch(cJSON *o, const struct script_action *a)
{
    struct str when = { 0 };
    str_append_seconds(&when, a->at_ns);
    bool done = set_item(k8s_object_at(k8s_object_at(o, "metadata"), "annotations"), "trainyard/touched", cJSON_CreateString(str_text(&when)));
    str_free(&when);
    return done;
}

static bool set_quota(cJSON *o, const struct script_action *a)
{
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

static bool hold(cJSON *o, const struct script_action *a)
{
    const char *policy = a->value == 2 ? "HoldAndDrain" : a->value == 1 ? "Hold" : "None";
    return set_item(k8s_object_at(o, "spec"), "stopPolicy", cJSON_CreateString(policy));
}

/* One row an action that can be played; the target's kind is that of the row. */
static const struct { enum fault_action action; const char *target; play_fn play; edit_fn edit; } rows[] = {
    { DO_POD_DELETED, "pod/", delete_pod, NULL }, { DO_FORCE_DELETE, "pod/", delete_pod, NULL }, { DO_POD_EVICTED, "pod/", evict_pod, NULL },
    { DO_SUSPEND, "job/", NULL, suspend },        { DO_RESUME, "job/", NULL, suspend },          { DO_SCALE, "job/", NULL, scale },
    { DO_DELETE_JOB, "job/", delete_job, NULL },  { DO_TOUCH, "job/", NULL, touch },             { DO_SET_QUOTA, "queue/", NULL, set_quota },
    { DO_HOLD, "queue/", NULL, hold },
};

struct change { const struct k8s_run *r; const struct script_action *action; edit_fn edit; };

/* By the name of one of ours there may be another's by now. */
static enum k8s_result change_ours(cJSON *object, void *arg)
{
    const struct change *c = arg;
    return k8s_plan_is_ours(&c->r->mark, object) && c->edit(object, c->action) ? K8S_OK : K8S_NOT_FOUND;
}

static enum k8s_result change(struct k8s_run *r, const struct manifest_item *i, const struct script_action *a, edit_fn edit)
{
    struct change c = { r, a, edit };
    return k8s_update(r->client, k8s_resource_of(i->api_version, i->kind), i->ns, i->name, change_ours, &c, r->d);
}

/* ---- all ---- */

static size_t row_of(enum fault_action action)
{
    size_t i = 0;
    while (i < sizeof rows / sizeof *rows && rows[i].action != action) i++;
    return i;
}

static void refuse(const struct scenario *s, const struct script_action *a, struct diag *d)
{
    diag_error(d, s->file, (int)a->line, NULL, "\"%s\" on %s cannot be played on Kubernetes by a client that touches only its own jobs", fault_action_names[a->action], a->target);
    diag_help(d, "playable are pod-deleted, force-delete, pod-evicted; suspend, resume, scale, delete-job, touch of a job; set-quota, hold of a queue");
}

static void refuse_queue(const struct scenario *s, const struct script_action *a, struct diag *d)
{
    diag_error(d, s->file, (int)a->line, NULL, "\"%s\" on %s: this run makes no queues, and one of that name is somebody else's", fault_action_names[a->action], a->target);
    diag_help(d, "choose an approach with admission kueue, whose queues the run makes itself");
}

bool k8s_actions_check(const struct scenario *s, struct diag *d)
{
    size_t errors = diag_errors(d);
    for (uint32_t i = 0; i < s->faults.n_script; i++) {
        const struct script_action *a = &s->faults.script[i];
        size_t row = row_of(a->action);
        bool known = row < sizeof rows / sizeof *rows && str_starts_with(a->target, rows[row].target);
        if (!known) refuse(s, a, d);
        else if (str_starts_with(a->target, "queue/") && s->approach.admission == ADMIT_NONE) refuse_queue(s, a, d);
    }
    return diag_errors(d) == errors;
}

static bool find(struct k8s_run *r, const char *target, struct target *t)
{
    const char *name = strchr(target, '/') + 1;
    if (str_starts_with(target, "pod/")) {
        t->pod = find_pod(r, name);
        return t->pod != NULL;
    }
    if (str_starts_with(target, "queue/")) {
        t->item = find_queue(r, name);
        return t->item != NULL;
    }
    t->job = find_job(r, name);
    t->item = t->job ? t->job->item : NULL;
    return t->job && t->job->created && !t->job->gone;
}

static bool play(struct k8s_run *r, const struct script_action *a)
{
    struct target t = { 0 };
    size_t row = row_of(a->action);
    if (!find(r, a->target, &t)) {
        if (r->o->tell) fprintf(r->o->tell, "%s: %s is not there (yet): passed over\n", fault_action_names[a->action], a->target);
        return true;
    }
    enum k8s_result result = rows[row].play ? rows[row].play(r, &t, a) : change(r, t.item, a, rows[row].edit);
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
