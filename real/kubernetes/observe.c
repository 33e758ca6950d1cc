/* observe.c - jobs and Kueue's workloads as the watches tell them.
 *
 * With Kueue a job is admitted when its Workload is (condition Admitted), and evicted when it says so (Evicted, with the reason
 * and, when preempted, the job of the preempting workload); without, when it is created and not suspended.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "real/kubernetes/observe.h"
#include "run/conditions.h"

/* ---- JSON ---- */

const char *k8s_text(const cJSON *o, const char *key)
{
    const char *t = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));
    return t ? t : "";
}

const cJSON *k8s_in(const cJSON *o, const char *key) { return cJSON_GetObjectItemCaseSensitive(o, key); }

static const cJSON *condition(const cJSON *object, const char *type)
{
    const cJSON *c, *list = k8s_in(k8s_in(object, "status"), "conditions");
    cJSON_ArrayForEach(c, list) if (strcmp(k8s_text(c, "type"), type) == 0) return c;
    return NULL;
}

static bool is_true(const cJSON *object, const char *type) { return strcmp(k8s_text(condition(object, type), "status"), "True") == 0; }

/* ---- phases.csv ---- */

static void quoted(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++) {
        if (*text == '"') fputc('"', to);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, to);
    }
    fputc('"', to);
}

void k8s_phase(struct k8s_run *r, const struct seen_job *j, const char *what, const char *kind, const char *object, const char *reason)
{
    struct str time = { 0 };
    char buf[24];
    if (!r->phases) return;
    str_append_seconds(&time, live_now(r->live));
    fprintf(r->phases, "%s,", str_text(&time));
    quoted(r->phases, job_id(r->s, &r->set.jobs[j->item->job], buf));
    fprintf(r->phases, ",%s,%s,%s,", what, kind, object);
    quoted(r->phases, reason);
    fputc('\n', r->phases);
    str_free(&time);
}

/* ---- jobs ---- */

struct seen_job *k8s_job_named(struct k8s_run *r, const char *ns, const char *name)
{
    char key[600];
    uint64_t i;
    snprintf(key, sizeof key, "%s/%s", ns, name);
    return hmap_get_str(&r->by_name, key, &i) ? &r->jobs[i] : NULL;
}

bool k8s_state_is_over(enum job_state s) { return s == JOB_SUCCEEDED || s == JOB_FAILED || s == JOB_CANCELLED || s == JOB_REJECTED; }
bool k8s_job_is_over(const struct k8s_run *r, const struct seen_job *j) { return k8s_state_is_over(live_state(r->live, j->index)); }

void k8s_job_admit(struct k8s_run *r, struct seen_job *j)
{
    if (j->admitted || k8s_job_is_over(r, j)) return;
    if (j->evicted) live_requeued(r->live, j->index, WAIT_CONTROL_PLANE);
    j->admitted = true;
    j->evicted = false;
    live_admitted(r->live, j->index);
    k8s_phase(r, j, "admitted", j->item->kind, j->item->name, "");
}

static void end_job(struct k8s_run *r, struct seen_job *j, enum job_state state, const char *reason)
{
    if (k8s_job_is_over(r, j)) return;
    live_ended(r->live, j->index, state);
    k8s_phase(r, j, state == JOB_SUCCEEDED ? "succeeded" : state == JOB_FAILED ? "failed" : j->created ? "deleted" : "cancelled", j->item->kind, j->item->name, reason);
}

/* Records a condition when its status is another than the last one. */
static void note_condition(struct k8s_run *r, struct seen_job *j, const char *type, uint32_t number, uint16_t code, int64_t reason, const char *word)
{
    char key[300];
    uint64_t last;
    snprintf(key, sizeof key, "%" PRIu32 "/%.100s", j->index, type);
    if (hmap_get_str(&r->conditions, key, &last) && last == code) return;
    hmap_put_str(&r->conditions, key, code);
    live_note(r->live, &(struct record){ .type = REC_JOB_CONDITION, .job = (int32_t)j->index, .subject = number, .code = code, .a = reason });
    k8s_phase(r, j, "condition", j->item->kind, j->item->name, word);
}

static void note_conditions(struct k8s_run *r, struct seen_job *j, const cJSON *object, const char *const *names, size_t n, uint32_t base)
{
    const cJSON *c, *list = k8s_in(k8s_in(object, "status"), "conditions");
    cJSON_ArrayForEach(c, list)
        for (size_t i = 0; i < n; i++) {
            if (strcmp(k8s_text(c, "type"), names[i]) != 0) continue;
            bool yes = strcmp(k8s_text(c, "status"), "True") == 0;
            char word[200];
            snprintf(word, sizeof word, "%s=%s %.100s", names[i], yes ? "True" : "False", k8s_text(c, "reason"));
            note_condition(r, j, names[i], base + (uint32_t)i, yes, 0, word);
        }
}

/* Suspended by its owner, where nothing else admits. */
static void look_at_suspension(struct k8s_run *r, struct seen_job *j, bool suspended)
{
    if (r->kueue || suspended == j->suspended) return;
    j->suspended = suspended;
    if (!suspended) {
        k8s_job_admit(r, j);
        return;
    }
    if (j->admitted) k8s_job_evict(r, j, STOP_SUSPENDED, NO_JOB, "Suspended", WAIT_SUSPENDED);
    else live_waits(r->live, j->index, WAIT_SUSPENDED);
}

static void look_at_pytorchjob(struct k8s_run *r, struct seen_job *j, const cJSON *o)
{
    note_conditions(r, j, o, condition_type_names, N_CONDITION_TYPES, 0);
    look_at_suspension(r, j, is_true(o, "Suspended"));
    if (is_true(o, "Succeeded")) end_job(r, j, JOB_SUCCEEDED, k8s_text(condition(o, "Succeeded"), "reason"));
    if (is_true(o, "Failed")) end_job(r, j, JOB_FAILED, k8s_text(condition(o, "Failed"), "reason"));
}

static void look_at_batch_job(struct k8s_run *r, struct seen_job *j, const cJSON *o)
{
    note_conditions(r, j, o, job_condition_names, N_JOB_CONDITIONS, JOB_CONDITION_BASE);
    look_at_suspension(r, j, cJSON_IsTrue(k8s_in(k8s_in(o, "spec"), "suspend")));
    if (is_true(o, "Complete")) end_job(r, j, JOB_SUCCEEDED, k8s_text(condition(o, "Complete"), "reason"));
    if (is_true(o, "Failed")) end_job(r, j, JOB_FAILED, k8s_text(condition(o, "Failed"), "reason"));
}

static size_t word_index(const char *word, const char *const *words, size_t n)
{
    size_t i = 0;
    while (i < n && strcmp(words[i], word) != 0) i++;
    return i;
}

static void look_at_rayjob(struct k8s_run *r, struct seen_job *j, const cJSON *o)
{
    const cJSON *status = k8s_in(o, "status");
    const char *deployment = k8s_text(status, "jobDeploymentStatus"), *app = k8s_text(status, "jobStatus");
    size_t code = word_index(deployment, rayjob_status_names, N_RAYJOB_STATUSES);
    size_t reason = word_index(k8s_text(status, "reason"), rayjob_reason_names, N_RAYJOB_REASONS);
    if (deployment[0] && code < N_RAYJOB_STATUSES)
        note_condition(r, j, "jobDeploymentStatus", RAY_CONDITION_JOB, (uint16_t)code, reason < N_RAYJOB_REASONS ? (int64_t)reason : 0, deployment);
    look_at_suspension(r, j, strcmp(deployment, "Suspended") == 0);
    j->ray_running = strcmp(app, "RUNNING") == 0;
    k8s_job_look(r, j);
    if (strcmp(deployment, "Complete") == 0) end_job(r, j, strcmp(app, "SUCCEEDED") == 0 ? JOB_SUCCEEDED : JOB_FAILED, app);
    if (strcmp(deployment, "Failed") == 0) end_job(r, j, JOB_FAILED, k8s_text(status, "reason"));
}

static void look_at_raycluster(struct k8s_run *r, struct seen_job *j, const cJSON *o)
{
    const cJSON *c, *list = k8s_in(k8s_in(o, "status"), "conditions");
    cJSON_ArrayForEach(c, list)
    {
        size_t i = word_index(k8s_text(c, "type"), raycluster_condition_names, N_RAYCLUSTER_CONDITIONS);
        size_t reason = word_index(k8s_text(c, "reason"), raycluster_reason_names, N_RAYCLUSTER_REASONS);
        char word[200];
        if (i == N_RAYCLUSTER_CONDITIONS) continue;
        snprintf(word, sizeof word, "%s=%.10s %.100s", raycluster_condition_names[i], k8s_text(c, "status"), k8s_text(c, "reason"));
        note_condition(r, j, raycluster_condition_names[i], RAY_CONDITION_BASE + (uint32_t)i, strcmp(k8s_text(c, "status"), "True") == 0 ? 2 : 1,
                       reason < N_RAYCLUSTER_REASONS ? (int64_t)reason : 0, word);
    }
    look_at_suspension(r, j, cJSON_IsTrue(k8s_in(k8s_in(o, "spec"), "suspend")));
}

/* One row a kind. */
static const struct { const char *kind; void (*look)(struct k8s_run *, struct seen_job *, const cJSON *); } kinds[] = {
    { "PyTorchJob", look_at_pytorchjob }, { "Job", look_at_batch_job }, { "RayJob", look_at_rayjob }, { "RayCluster", look_at_raycluster } };

static void submit(struct k8s_run *r, struct seen_job *j)
{
    if (!j->submitted) live_submitted(r->live, j->index);
    j->submitted = true;
}

void k8s_observe_dependent(struct k8s_run *r, struct seen_job *j, bool never)
{
    if (!j->submitted) {
        submit(r, j);
        live_waits(r->live, j->index, WAIT_DEPENDENCY);
    }
    if (never) end_job(r, j, JOB_CANCELLED, "a job that it comes after has not succeeded");
}

void k8s_observe_created(struct k8s_run *r, struct seen_job *j)
{
    j->created = true;
    submit(r, j);
    k8s_phase(r, j, "created", j->item->kind, j->item->name, "");
    live_waits(r->live, j->index, r->kueue ? WAIT_ORDER : WAIT_CONTROL_PLANE);
    j->suspended = !r->kueue && r->s->details[r->set.jobs[j->index].detail].suspend;
    if (!r->kueue && !j->suspended) k8s_job_admit(r, j);
    else if (!r->kueue) live_waits(r->live, j->index, WAIT_SUSPENDED);
}

void k8s_observe_job(enum k8s_change change, const cJSON *o, void *arg)
{
    struct k8s_run *r = arg;
    const cJSON *meta = k8s_in(o, "metadata");
    struct seen_job *j = k8s_job_named(r, k8s_text(meta, "namespace"), k8s_text(meta, "name"));
    if (j && j->creating && !j->created) k8s_observe_created(r, j); /* before the answer to the request */
    if (!j || !j->created) return;
    if (change == K8S_DELETED) {
        j->gone = true;
        end_job(r, j, JOB_CANCELLED, "");
        return;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].kind, j->item->kind) == 0) kinds[i].look(r, j, o);
}

/* ---- workloads ---- */

void k8s_job_evict(struct k8s_run *r, struct seen_job *j, enum stop_reason reason, int32_t by, const char *word, enum wait_reason then)
{
    if (!j->admitted || j->evicted) return;
    live_evicted(r->live, j->index, reason, by);
    j->evicted = true;
    j->admitted = j->quota = false;
    j->then = then;
    k8s_phase(r, j, "evicted", j->item->kind, j->item->name, word);
    k8s_job_look(r, j);
}

/* "Preempted to accommodate a workload (UID: ..., JobUID: ...) due to ...": Kueue 0.17 pkg/scheduler/preemption. */
static int32_t preemptor(struct k8s_run *r, const cJSON *workload)
{
    const char *at = strstr(k8s_text(condition(workload, "Preempted"), "message"), "JobUID: ");
    char uid[64];
    uint64_t i;
    if (!at || sscanf(at + 8, "%63[0-9a-fA-F-]", uid) != 1 || !hmap_get_str(&r->by_uid, uid, &i)) return NO_JOB;
    return (int32_t)r->jobs[i].index;
}

/* What Kueue says of a workload that has no quota yet. */
static enum wait_reason why_pending(const cJSON *w)
{
    const char *message = k8s_text(condition(w, "QuotaReserved"), "message");
    if (strstr(message, "maximum capacity") || strstr(message, "doesn't exist") || strstr(message, "is inactive")) return WAIT_UNSATISFIABLE;
    if (strstr(message, "insufficient") || strstr(message, "limit")) return WAIT_QUOTA;
    return WAIT_ORDER;
}

static void look_at_quota(struct k8s_run *r, struct seen_job *j, const cJSON *w)
{
    bool quota = is_true(w, "QuotaReserved") && !is_true(w, "Evicted"); /* an eviction is said before the quota is given back */
    const char *name = k8s_text(k8s_in(w, "metadata"), "name");
    if (quota && !j->quota) k8s_phase(r, j, "quota-reserved", "Workload", name, "");
    j->quota = quota;
    if (j->admitted || j->evicted) return;
    live_waits(r->live, j->index, quota ? WAIT_ADMISSION_CHECK : why_pending(w));
}

void k8s_observe_workload(enum k8s_change change, const cJSON *w, void *arg)
{
    struct k8s_run *r = arg;
    const cJSON *meta = k8s_in(w, "metadata"), *owner = k8s_in(meta, "ownerReferences");
    struct seen_job *j = owner && owner->child ? k8s_job_named(r, k8s_text(meta, "namespace"), k8s_text(owner->child, "name")) : NULL;
    if (change == K8S_DELETED || !j || !j->created || k8s_job_is_over(r, j)) return;
    const char *reason = k8s_text(condition(w, "Evicted"), "reason");
    if (is_true(w, "Evicted") && j->admitted)
        k8s_job_evict(r, j, strcmp(reason, "Preempted") == 0 ? STOP_PREEMPTED : STOP_EVICTED, preemptor(r, w), reason, WAIT_ORDER);
    look_at_quota(r, j, w);
    if (is_true(w, "Admitted") && !is_true(w, "Evicted")) k8s_job_admit(r, j);
}
