/* pods.c - pods as the watch tells them, and what follows for their job.
 *
 * A pod holds its GPUs from the moment it is bound until it has ended or is gone, as the scheduler counts. A job runs while
 * all its ranks are ready or have ended well; what it waits for is said by the least advanced of them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/units.h"
#include "real/kubernetes/observe.h"

/* ---- one pod ---- */

static int64_t gpu_shares(const cJSON *pod)
{
    const cJSON *c, *r, *list = k8s_in(k8s_in(pod, "spec"), "containers");
    int64_t sum = 0, milli;
    cJSON_ArrayForEach(c, list)
    {
        const cJSON *limits = k8s_in(k8s_in(c, "resources"), "limits");
        cJSON_ArrayForEach(r, limits)
            if (str_ends_with(r->string, "/gpu") && cJSON_IsString(r) && !units_parse_quantity(r->valuestring, &milli) && milli > 0 &&
                milli <= MAX_GPUS_PER_NODE * 1000)
                sum += milli;
    }
    return sum;
}

static bool condition_is(const cJSON *pod, const char *type, const char *status)
{
    const cJSON *c, *list = k8s_in(k8s_in(pod, "status"), "conditions");
    cJSON_ArrayForEach(c, list) if (strcmp(k8s_text(c, "type"), type) == 0) return strcmp(k8s_text(c, "status"), status) == 0;
    return false;
}

struct containers { int64_t restarts; bool running, backoff, creating; };

static struct containers containers_of(const cJSON *pod)
{
    struct containers s = { .running = true };
    const cJSON *c, *list = k8s_in(k8s_in(pod, "status"), "containerStatuses");
    if (!list || !list->child) s.running = false;
    cJSON_ArrayForEach(c, list)
    {
        const cJSON *n = k8s_in(c, "restartCount"), *state = k8s_in(c, "state");
        s.restarts += cJSON_IsNumber(n) ? (int64_t)n->valuedouble : 0;
        if (!k8s_in(state, "running")) s.running = false;
        const char *waits_for = k8s_text(k8s_in(state, "waiting"), "reason");
        s.backoff |= strcmp(waits_for, "CrashLoopBackOff") == 0;
        s.creating |= strcmp(waits_for, "ContainerCreating") == 0;
    }
    return s;
}

static bool is_init_done(const cJSON *pod)
{
    const cJSON *c, *list = k8s_in(k8s_in(pod, "status"), "initContainerStatuses");
    cJSON_ArrayForEach(c, list) if (!k8s_in(k8s_in(c, "state"), "terminated")) return false;
    return true;
}

static enum pod_state state_of(const cJSON *pod, const struct seen_pod *p, struct containers c)
{
    const char *phase_word = k8s_text(k8s_in(pod, "status"), "phase");
    if (strcmp(phase_word, "Succeeded") == 0) return POD_IS_SUCCEEDED;
    if (strcmp(phase_word, "Failed") == 0) return strcmp(k8s_text(k8s_in(pod, "status"), "reason"), "Evicted") == 0 ? POD_IS_EVICTED : POD_IS_FAILED;
    if (k8s_in(k8s_in(pod, "metadata"), "deletionTimestamp")) return POD_IS_TERMINATING;
    if (!k8s_text(k8s_in(pod, "spec"), "nodeName")[0]) return POD_IS_PENDING;
    if (c.backoff) return POD_IS_BACKOFF;
    if (c.running && condition_is(pod, "Ready", "True")) return POD_IS_READY;
    if (c.running) return POD_IS_RUNNING;
    if (!is_init_done(pod)) return POD_IS_INIT;
    return c.creating && !p->pulled ? POD_IS_PULLING : POD_IS_STARTING; /* a kubelet says so until the image is there */
}

/* What the GPUs of a pod in this state do while the job does not run. */
static const uint8_t activities[N_POD_STATES] = {
    [POD_IS_SCHEDULED] = ACT_CONTAINER_START, [POD_IS_PULLING] = ACT_IMAGE_PULL, [POD_IS_STARTING] = ACT_CONTAINER_START,
    [POD_IS_INIT] = ACT_WAIT_HEAD, [POD_IS_RUNNING] = ACT_CONTAINER_START, [POD_IS_READY] = ACT_WAIT_PEERS, [POD_IS_BACKOFF] = ACT_BACKOFF,
    [POD_IS_TERMINATING] = ACT_TERMINATING };
/* What the job waits for by its least advanced pod, from the least advanced state on. */
static const struct { enum pod_state state; enum wait_reason reason; } waits[] = {
    { POD_IS_FAILED, WAIT_DETECTION }, { POD_IS_EVICTED, WAIT_DETECTION }, { POD_IS_TERMINATING, WAIT_CONTROL_PLANE }, { POD_IS_PENDING, WAIT_CAPACITY },
    { POD_IS_BACKOFF, WAIT_CONTAINER_BACKOFF }, { POD_IS_PULLING, WAIT_IMAGE }, { POD_IS_INIT, WAIT_HEAD },
    { POD_IS_STARTING, WAIT_START }, { POD_IS_RUNNING, WAIT_PEERS } };

static bool is_over(enum pod_state s) { return s == POD_IS_SUCCEEDED || s == POD_IS_FAILED || s == POD_IS_EVICTED || s == POD_IS_DELETED; }

static const char *phase_of(const struct seen_pod *p, enum pod_state s)
{
    static const char *const words[N_POD_STATES] = {
        [POD_IS_PENDING] = "pod-created", [POD_IS_PULLING] = "scheduled", [POD_IS_STARTING] = "scheduled", [POD_IS_INIT] = "init",
        [POD_IS_RUNNING] = "started", [POD_IS_READY] = "ready", [POD_IS_BACKOFF] = "backoff", [POD_IS_TERMINATING] = "terminating",
        [POD_IS_SUCCEEDED] = "succeeded", [POD_IS_FAILED] = "failed", [POD_IS_EVICTED] = "evicted", [POD_IS_DELETED] = "deleted" };
    if (s == POD_IS_STARTING && p->state == POD_IS_PULLING) return "pulled";
    return words[s] ? words[s] : "";
}

static void set_flag(bool *flag, bool to, uint64_t *count)
{
    *count += (uint64_t)(to && !*flag);
    *count -= (uint64_t)(!to && *flag);
    *flag = to;
}

/* Who holds its GPUs still, as far as has been seen, may have let go already: watches of two namespaces have no common order. */
static void take(struct k8s_run *r, struct seen_job *j, struct seen_pod *p)
{
    if (!p->shares || p->group != LIVE_NONE) return;
    p->group = live_take(r->live, j->index, p->node, p->shares, ACT_IMAGE_PULL);
    set_flag(&p->wants, p->group == LIVE_NONE && !k8s_job_is_over(r, j), &r->wanting);
}

void k8s_pods_take_wanted(struct k8s_run *r)
{
    for (size_t i = 0; i < r->n_jobs && r->wanting; i++)
        for (size_t k = 0; k < r->jobs[i].n_pods; k++) {
            struct seen_pod *p = r->jobs[i].pods[k];
            if (!p->wants) continue;
            take(r, &r->jobs[i], p);
            k8s_job_look(r, &r->jobs[i]);
        }
}

static void hold(struct k8s_run *r, struct seen_job *j, struct seen_pod *p, const char *node)
{
    if (!node[0] || is_over(p->state)) return;
    if (p->node == LIVE_NONE) p->node = k8s_node_number(r, node);
    set_flag(&p->stray, p->node == LIVE_NONE, &r->strays);
    if (p->stray) return;
    if (!j->admitted && !j->evicted) k8s_job_admit(r, j); /* the two watches have no common order */
    take(r, j, p);
}

static void drop(struct k8s_run *r, struct seen_job *j, struct seen_pod *p)
{
    bool held = p->group != LIVE_NONE;
    set_flag(&p->wants, false, &r->wanting);
    if (held) live_free(r->live, j->index, p->group);
    p->group = LIVE_NONE;
    if (held) k8s_pods_take_wanted(r);
}

/* Steps that were too quick to be seen by themselves are told with the one that shows them. */
static void tell_skipped(struct k8s_run *r, struct seen_job *j, const struct seen_pod *p, enum pod_state s)
{
    bool runs = s == POD_IS_INIT || s == POD_IS_RUNNING || s == POD_IS_READY || s == POD_IS_SUCCEEDED || s == POD_IS_BACKOFF;
    if (!p->told && s != POD_IS_PENDING) k8s_phase(r, j, "pod-created", "Pod", p->name, "");
    if (runs && p->state == POD_IS_PENDING) k8s_phase(r, j, "scheduled", "Pod", p->name, "");
}

static void enter_state(struct k8s_run *r, struct seen_job *j, struct seen_pod *p, enum pod_state s)
{
    if (p->state == s && p->told) return;
    tell_skipped(r, j, p, s);
    k8s_phase(r, j, phase_of(p, s), "Pod", p->name, "");
    p->told = true;
    p->state = s;
    int64_t b = s == POD_IS_PULLING || s == POD_IS_STARTING ? (int64_t)p->node : s == POD_IS_READY ? p->restarts : 0;
    if (s == POD_IS_PENDING) b = (int64_t)p->index - (int64_t)p->number;
    live_note(r->live, &(struct record){ .type = REC_POD_STATE, .job = (int32_t)j->index, .subject = p->number,
                                         .code = (uint16_t)(s | (unsigned)p->role << 8), .a = 1, .b = b });
}

/* ---- their job ---- */

static uint32_t wanted(const struct k8s_run *r, const struct seen_job *j)
{
    const struct job_spec *spec = &r->set.jobs[j->item->job];
    const struct job_detail *d = &r->s->details[spec->detail];
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->n_roles; i++)
        if (d->roles[i].role != ROLE_SUBMITTER) n += job_role_replicas(r->s, spec, i);
    bool head = j->ray;
    for (uint32_t i = 0; i < d->n_roles; i++) head &= d->roles[i].role != ROLE_HEAD;
    return n + head; /* one that the approach adds */
}

struct census { uint32_t there, bound, running, unfit; enum wait_reason reason; bool held; };

static struct census count(const struct seen_job *j)
{
    struct census c = { .reason = WAIT_CONTROL_PLANE };
    size_t least = sizeof waits / sizeof *waits;
    for (size_t i = 0; i < j->n_pods; i++) {
        const struct seen_pod *p = j->pods[i];
        if (p->gone) continue;
        c.held |= p->group != LIVE_NONE || !is_over(p->state);
        if (!p->counts) continue;
        c.there++;
        c.bound += p->state != POD_IS_PENDING;
        c.unfit += p->state == POD_IS_PENDING && p->unfit;
        c.running += p->state == POD_IS_READY || p->state == POD_IS_SUCCEEDED;
        for (size_t k = 0; k < least; k++)
            if (waits[k].state == p->state) least = k;
    }
    if (least < sizeof waits / sizeof *waits) c.reason = waits[least].reason;
    if (c.reason == WAIT_CAPACITY && !c.unfit) c.reason = WAIT_CONTROL_PLANE; /* the scheduler has not looked yet */
    return c;
}

static void show_groups(struct k8s_run *r, struct seen_job *j)
{
    for (size_t i = 0; i < j->n_pods; i++) {
        const struct seen_pod *p = j->pods[i];
        if (!p->gone && p->group != LIVE_NONE && activities[p->state]) live_enter(r->live, j->index, p->group, activities[p->state]);
    }
}

void k8s_job_look(struct k8s_run *r, struct seen_job *j)
{
    struct census c = count(j);
    uint32_t n = wanted(r, j);
    if (k8s_job_is_over(r, j) || !j->created) return;
    if (j->evicted && !c.held) {
        live_requeued(r->live, j->index, j->then);
        k8s_phase(r, j, "requeued", j->item->kind, j->item->name, "");
        j->evicted = false;
        return;
    }
    if (!j->admitted) return;
    bool whole = c.running >= n && (strcmp(j->item->kind, "RayJob") != 0 || j->ray_running), steps = live_steps_now(r->live, j->index);
    if (steps && !whole) {
        live_stopped(r->live, j->index, ACT_STALLED, c.reason, CAUSE_FAILURE);
        k8s_phase(r, j, "restarting", j->item->kind, j->item->name, "");
        steps = false;
    }
    if (steps) return;
    show_groups(r, j);
    live_waits(r->live, j->index, c.there < n ? WAIT_CONTROL_PLANE : c.reason);
    if (c.bound >= n) live_allocated(r->live, j->index);
    if (whole && live_started(r->live, j->index)) k8s_phase(r, j, "running", j->item->kind, j->item->name, "");
}

/* ---- the watch ---- */

static enum pod_role role_of(const cJSON *labels)
{
    const char *torch = k8s_text(labels, "training.kubeflow.org/replica-type"), *ray = k8s_text(labels, "ray.io/node-type");
    if (strcmp(torch, "master") == 0) return ROLE_MASTER;
    if (strcmp(torch, "worker") == 0 || strcmp(ray, "worker") == 0) return ROLE_WORKER;
    return strcmp(ray, "head") == 0 ? ROLE_HEAD : ROLE_POD;
}

static struct seen_pod *new_pod(struct k8s_run *r, struct seen_job *j, const cJSON *pod, const char *key)
{
    const cJSON *meta = k8s_in(pod, "metadata"), *labels = k8s_in(meta, "labels");
    struct seen_pod *p = arena_new(&r->arena, struct seen_pod);
    const char *index = k8s_text(labels, "training.kubeflow.org/replica-index");
    p->name = arena_strdup(&r->arena, k8s_text(meta, "name"));
    p->ns = arena_strdup(&r->arena, k8s_text(meta, "namespace"));
    p->uid = arena_strdup(&r->arena, k8s_text(meta, "uid"));
    p->job = (uint32_t)(j - r->jobs);
    p->number = r->n_pods++;
    p->index = (uint32_t)strtoul(index[0] ? index : k8s_text(labels, "batch.kubernetes.io/job-completion-index"), NULL, 10);
    p->role = role_of(labels);
    p->node = p->group = LIVE_NONE;
    p->shares = gpu_shares(pod);
    p->counts = !j->ray || k8s_text(labels, "ray.io/node-type")[0]; /* no submitter */
    hmap_put_str_ptr(&r->pods, key, p);
    if (j->n_pods == j->cap_pods) {
        j->cap_pods = j->cap_pods ? j->cap_pods * 2 : 8;
        j->pods = xreallocarray(j->pods, j->cap_pods, sizeof *j->pods);
    }
    j->pods[j->n_pods++] = p;
    return p;
}

static void go(struct k8s_run *r, struct seen_job *j, struct seen_pod *p)
{
    if (p->gone) return;
    if (!is_over(p->state)) enter_state(r, j, p, POD_IS_DELETED);
    drop(r, j, p);
    p->gone = true;
}

/* A pod of the same name is another one when its UID is another: what the first held is gone. */
static struct seen_pod *find_pod(struct k8s_run *r, struct seen_job *j, const cJSON *pod)
{
    const cJSON *meta = k8s_in(pod, "metadata");
    char key[600];
    snprintf(key, sizeof key, "%.250s/%.250s", k8s_text(meta, "namespace"), k8s_text(meta, "name"));
    struct seen_pod *p = hmap_get_str_ptr(&r->pods, key);
    if (p && strcmp(p->uid, k8s_text(meta, "uid")) == 0) return p;
    if (p) go(r, &r->jobs[p->job], p);
    return new_pod(r, j, pod, key);
}

/* A deletion after a gap comes with nothing but the name. */
static void vanish(struct k8s_run *r, const cJSON *meta)
{
    char key[600];
    snprintf(key, sizeof key, "%.250s/%.250s", k8s_text(meta, "namespace"), k8s_text(meta, "name"));
    struct seen_pod *p = hmap_get_str_ptr(&r->pods, key);
    if (!p) return;
    go(r, &r->jobs[p->job], p);
    k8s_job_look(r, &r->jobs[p->job]);
}

void k8s_observe_pod(enum k8s_change change, const cJSON *pod, void *arg)
{
    struct k8s_run *r = arg;
    const cJSON *meta = k8s_in(pod, "metadata");
    struct seen_job *j = k8s_job_named(r, k8s_text(meta, "namespace"), k8s_text(k8s_in(meta, "labels"), JOB_LABEL));
    if (change == K8S_DELETED) {
        vanish(r, meta);
        return;
    }
    if (!j || !j->created || !k8s_plan_is_ours(&r->mark, pod)) return;
    struct seen_pod *p = find_pod(r, j, pod);
    struct containers c = containers_of(pod);
    bool restarted = c.restarts > p->restarts;
    if (restarted) k8s_phase(r, j, "restarted", "Pod", p->name, "");
    p->restarts = c.restarts;
    p->unfit = condition_is(pod, "PodScheduled", "False");
    if (restarted && live_steps_now(r->live, j->index)) live_stopped(r->live, j->index, ACT_STALLED, WAIT_START, CAUSE_FAILURE);
    hold(r, j, p, k8s_text(k8s_in(pod, "spec"), "nodeName"));
    enter_state(r, j, p, state_of(pod, p, c));
    if (is_over(p->state)) drop(r, j, p);
    k8s_job_look(r, j);
}

/* Kubelets tell of pulled images by events alone. */
void k8s_observe_event(enum k8s_change change, const cJSON *e, void *arg)
{
    struct k8s_run *r = arg;
    const cJSON *of = k8s_in(e, "involvedObject");
    if (change == K8S_DELETED || strcmp(k8s_text(e, "reason"), "Pulled") != 0 || strcmp(k8s_text(of, "kind"), "Pod") != 0) return;
    char key[600];
    snprintf(key, sizeof key, "%.250s/%.250s", k8s_text(of, "namespace"), k8s_text(of, "name"));
    struct seen_pod *p = hmap_get_str_ptr(&r->pods, key);
    if (p && strcmp(p->uid, k8s_text(of, "uid")) == 0) p->pulled = true;
}
