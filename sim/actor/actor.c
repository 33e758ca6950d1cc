/* actor.c - see actor.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/actor/actor.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/value.h"
#include "sim/lifecycle.h"

/* ---- what the workload says ---- */

/* What the job's nodes must be like (d->groups) is said of its workers; a head with a template has its own selector. */
static struct ray_shape shape_of(const struct sim *s, const struct job *j, uint32_t role)
{
    const struct job_detail *d = job_detail_of(s, j);
    const struct role_spec *r = &d->roles[role];
    uint64_t own = kube_selected_groups(s, r->pod);
    bool worker = r->role != ROLE_HEAD && r->role != ROLE_SUBMITTER;
    return (struct ray_shape){.shares = job_role_shares(s->scenario, j->spec, role),
                              .cpu_milli = r->cpu_milli,
                              .mem_bytes = r->mem_bytes,
                              .groups = worker ? own & d->groups & j->live->groups : own};
}

static void add_group(struct ray_run *r, uint32_t role)
{
    const struct job_detail *d = job_detail_of(r->sim, r->job);
    const struct role_spec *spec = &d->roles[role];
    bool elastic = d->elastic.max > 0 && r->sim->scenario->approach.elastic == ELASTIC_RAY;
    uint32_t n = job_role_replicas(r->sim->scenario, r->job->spec, role);
    struct ray_group g = {.shape = shape_of(r->sim, r->job, role), .replicas = n, .min = n, .max = n};
    if (spec->max_replicas > spec->min_replicas) g.min = spec->min_replicas, g.max = spec->max_replicas;
    if (elastic) g.min = d->elastic.min, g.max = d->elastic.max;
    r->groups[r->n_groups++] = g;
}

void actor_shapes(struct ray_run *r)
{
    const struct approach *a = &r->sim->scenario->approach;
    const struct job_detail *d = job_detail_of(r->sim, r->job);
    r->head = (struct ray_shape){.cpu_milli = a->head_cpu_milli, .mem_bytes = a->head_mem_bytes, .groups = UINT64_MAX};
    r->submitter = (struct ray_shape){.groups = UINT64_MAX};
    r->n_groups = 0;
    for (uint32_t i = 0; i < d->n_roles; i++) {
        if (d->roles[i].role == ROLE_HEAD) r->head = shape_of(r->sim, r->job, i);
        else if (d->roles[i].role == ROLE_SUBMITTER) r->submitter = shape_of(r->sim, r->job, i);
        else add_group(r, i);
    }
}

static enum rayjob_mode mode_of(const struct job_detail *d)
{
    const char *mode = d->manifest ? d->manifest->submission_mode : NULL;
    for (int m = 0; mode && m < N_RAYJOB_MODES; m++)
        if (strcmp(mode, rayjob_mode_names[m]) == 0) return (enum rayjob_mode)m;
    return RJ_K8S_JOB;
}

static const struct value *spec_member(const struct job_detail *d, const char *key)
{
    const struct value *spec = d->manifest && d->manifest->value ? value_member(d->manifest->value, "spec") : NULL;
    return spec ? value_member(spec, key) : NULL;
}

static uint32_t submitter_backoff(const struct sim *s, const struct job_detail *d)
{
    const struct value *config = spec_member(d, "submitterConfig");
    const struct value *limit = config ? value_member(config, "backoffLimit") : NULL;
    if (limit && limit->kind == VALUE_NUMBER) return (uint32_t)strtoul(limit->text, NULL, 10);
    return (uint32_t)s->scenario->approach.stack.kr_submitter_backoff;
}

/* ---- what a job waits for ---- */

static bool in_shared(const struct ray_run *r) { return r->rayjob && r->rayjob->spec.shared; }

/* From the least advanced on. */
static const uint8_t least_advanced[] = {
    WAIT_CONTROL_PLANE, WAIT_CAPACITY,  WAIT_FRAGMENTATION,     WAIT_TOPOLOGY, WAIT_UNSATISFIABLE,
    WAIT_GANG,          WAIT_SCHEDULER_BACKOFF, WAIT_DETECTION, WAIT_IMAGE,    WAIT_START,
    WAIT_CONTAINER_BACKOFF, WAIT_HEAD,  WAIT_PEERS,
};

static unsigned wait_of_pods(const struct ray_run *r)
{
    const struct raycluster *rc = r->cluster;
    if (!rc->head || rc->n_workers < raycluster_wanted(rc)) return WAIT_CONTROL_PLANE;
    for (size_t i = 0; i < sizeof least_advanced; i++)
        if (r->waits[least_advanced[i]]) return least_advanced[i];
    if (!rc->head->ready) return WAIT_HEAD;
    return rc->n_ready < rc->n_workers ? WAIT_PEERS : WAIT_CONTROL_PLANE;
}

static bool is_suspended(const struct ray_run *r)
{
    return r->rayjob ? r->rayjob->spec.suspend : r->cluster && r->cluster->spec.suspend;
}

static void update_wait(struct ray_run *r)
{
    struct job *j = r->job;
    if (j->state != JOB_ADMITTED || (j->flags & (JOB_STOPPING | JOB_ENDED))) return;
    if (is_suspended(r)) {
        job_wait(r->sim, j, WAIT_SUSPENDED);
        return;
    }
    bool placed = r->train && (r->train->failing || (r->train->pg && r->train->pg->state == PG_CREATED));
    if (placed || (r->train && (r->train->driver_dead || in_shared(r)))) return;
    if (in_shared(r)) {
        job_wait(r->sim, j, r->rayjob->spec.shared->status.ready ? WAIT_CONTROL_PLANE : WAIT_HEAD);
        return;
    }
    unsigned reason = r->cluster ? wait_of_pods(r) : WAIT_CONTROL_PLANE;
    if (reason == WAIT_CONTROL_PLANE && r->train && r->cluster && r->cluster->status.ready) reason = WAIT_PEERS;
    job_wait(r->sim, j, reason);
}

static void count_wait(struct ray_run *r, struct pod *p, enum pod_change c)
{
    if (c != POD_CREATED) r->waits[p->owner_tag]--;
    if (c == POD_GONE) return;
    p->owner_tag = kube_pod_waits_for(r->sim->kube, p);
    r->waits[p->owner_tag]++;
}

/* ---- the end of a job's stay ---- */

static void stop_driver(struct ray_run *r)
{
    if (!r->train) return;
    if (r->autoscaler) autoscaler_drop(r->autoscaler, r->train);
    ray_train_stop(r->train);
    r->train = NULL;
}

static void forget_run(struct ray_run *r)
{
    struct job *j = r->job;
    event_cancel(r->sim->events, r->end);
    stop_driver(r);
    if (j->live->train) train_destroy(r->sim, j->live->train);
    j->live->train = NULL;
    j->live->state = NULL;
    if (r->rayjob) rayjob_destroy(r->rayjob);
    kube_tally_close(r->sim->kube, &r->tally);
    free(r);
}

static bool all_gone(const struct ray_run *r)
{
    bool ended = r->job->flags & JOB_ENDED;
    if (!r->rayjob) return ended ? r->clusters == 0 : r->cluster->status.suspended && !r->cluster->first;
    if (ended) return r->rayjob->dying == 0 && (in_shared(r) || !r->rayjob->cluster);
    return rayjob_idle(r->rayjob) && (r->rayjob->status == RJ_SUSPENDED || r->rayjob->closing);
}

static void on_release(void *ctx, void *arg)
{
    struct sim *s = ctx;
    struct ray_run *r = arg;
    struct job *j = r->job;
    r->release = EVENT_NONE;
    if (!all_gone(r)) return;
    if (j->flags & JOB_ENDED) {
        if (r->rayjob) rayjob_delete(r->rayjob); /* what is left of it are submitters */
        if (r->rayjob && !rayjob_idle(r->rayjob)) return;
        event_cancel(s->events, r->release);
        forget_run(r);
        job_released(s, j);
    } else if (j->flags & JOB_STOPPING) {
        job_released(s, j);
    }
}

/* Looks later in this instant: whoever calls is still at work on what may be freed. */
static void check_release(struct ray_run *r)
{
    if (!event_is_pending(r->sim->events, r->release))
        r->release = event_now(r->sim->events, EVENT_RELEASE, on_release, r);
}

/* ---- its own cluster ---- */

/* What the shares of a running pod without a place in a group are in. */
static void idle_activity(struct ray_run *r, struct ray_pod *p)
{
    bool waits = !p->head && !r->ready_seen;
    if (p->pod->started && !p->pod->terminating && !p->pod->node_lost && !p->pod->hold.lifted)
        kube_pod_activity(r->sim->kube, p->pod, waits ? ACT_WAIT_PEERS : ACT_IDLE_POD);
}

static void on_pod(struct raycluster *rc, struct ray_pod *p, enum pod_change c)
{
    struct ray_run *r = rc->spec.ctx;
    if (rc == r->cluster) count_wait(r, p->pod, c);
    if (c == POD_STARTED || c == POD_RESTARTED) idle_activity(r, p);
    if (c == POD_EXITED) kube_pod_activity(r->sim->kube, p->pod, p->pod->backoff > 1 ? ACT_BACKOFF : ACT_CONTAINER_START);
    if (rc == r->cluster) update_wait(r);
    if (r->autoscaler && rc == r->cluster) autoscaler_wake(r->autoscaler);
    if (c == POD_GONE && (r->job->flags & (JOB_STOPPING | JOB_ENDED))) check_release(r);
}

/* Of a job that is only a cluster. */
static void drop_cluster(struct ray_run *r)
{
    struct raycluster *rc = r->cluster;
    if (r->autoscaler) autoscaler_destroy(r->autoscaler);
    r->autoscaler = NULL;
    r->cluster = NULL;
    raycluster_delete(rc);
}

static void on_work_done(void *ctx, void *arg)
{
    struct sim *s = ctx;
    struct ray_run *r = arg;
    r->end = EVENT_NONE;
    job_finished(s, r->job, JOB_SUCCEEDED);
    drop_cluster(r);
    check_release(r);
}

/* A cluster that is wanted for itself: it works from the moment when all its pods are ready. */
static void cluster_ready(struct ray_run *r)
{
    if (r->rayjob || r->job->spec->work_ns == TIME_NEVER || r->job->state != JOB_ADMITTED) return;
    job_started(r->sim, r->job);
    r->end = event_after(r->sim->events, r->job->spec->work_ns, EVENT_RELEASE, on_work_done, r);
}

static void on_cluster_status(struct raycluster *rc)
{
    struct ray_run *r = rc->spec.ctx;
    if (rc != r->cluster) return;
    if (rc->status.ready && !r->ready_seen) {
        r->ready_seen = true;
        if (!(r->job->flags & (JOB_ENDED | JOB_STOPPING))) job_allocated(r->sim, r->job);
        for (struct ray_pod *p = rc->first; p; p = p->next) idle_activity(r, p);
        cluster_ready(r);
    }
    if (rc->status.suspended) check_release(r);
    if (r->rayjob) rayjob_look(r->rayjob);
    update_wait(r);
}

static void on_cluster_empty(struct raycluster *rc)
{
    struct ray_run *r = rc->spec.ctx;
    if (r->rayjob) r->rayjob->dying--;
    r->clusters--;
    check_release(r);
}

static const struct raycluster_ops cluster_ops = {
    .status = on_cluster_status, .pod = on_pod, .empty = on_cluster_empty};

static struct raycluster *make_cluster(struct ray_run *r)
{
    const struct job_detail *d = job_detail_of(r->sim, r->job);
    bool elastic = d->elastic.max > 0 && r->sim->scenario->approach.elastic == ELASTIC_RAY;
    struct raycluster_spec spec = {
        .ops = &cluster_ops, .ctx = r, .job = r->job, .tally = &r->tally, .head = r->head, .n_groups = r->n_groups,
        .priority = r->job->spec->priority, .autoscaling = d->autoscaling || elastic, .gcs_ft = d->gcs_ft,
        .suspend = !r->rayjob && d->suspend, .head_final = r->rayjob && r->rayjob->spec.mode == RJ_SIDECAR};
    for (uint32_t g = 0; g < r->n_groups; g++) {
        spec.groups[g] = r->groups[g];
        if (elastic) spec.groups[g].replicas = spec.groups[g].min;
    }
    r->clusters++;
    r->ready_seen = false;
    memset(r->waits, 0, sizeof r->waits);
    r->cluster = raycluster_create(r->actor->kuberay, &spec);
    if (spec.autoscaling) r->autoscaler = autoscaler_create(r->cluster);
    return r->cluster;
}

/* ---- its RayJob ---- */

static struct raycluster *rj_make_cluster(struct rayjob *rj) { return make_cluster(rj->spec.ctx); }

static void rj_submit(struct rayjob *rj)
{
    struct ray_run *r = rj->spec.ctx;
    stop_driver(r);
    r->train = ray_train_create(rj->cluster->gcs, r->job, r->groups, r->n_groups,
                                rj->spec.shared ? &shared_seats : &own_seats, r);
    if (r->autoscaler) autoscaler_add(r->autoscaler, r->train);
    ray_train_begin(r->train);
    update_wait(r);
}

/* Called before the cluster is deleted, too. */
static void rj_kill(struct rayjob *rj)
{
    struct ray_run *r = rj->spec.ctx;
    stop_driver(r);
    if (rj->spec.shared) return;
    if (r->autoscaler) autoscaler_destroy(r->autoscaler);
    r->autoscaler = NULL;
    r->cluster = NULL;
}

static void end_job(struct ray_run *r, enum job_state state)
{
    if (r->job->flags & JOB_ENDED) return;
    for (struct ray_pod *p = r->cluster ? r->cluster->first : NULL; p; p = p->next)
        if (p->pod->started && !p->pod->terminating && !p->pod->node_lost && !p->pod->hold.lifted)
            kube_pod_activity(r->sim->kube, p->pod, ACT_AFTER_END);
    job_finished(r->sim, r->job, state);
}

static void rj_status(struct rayjob *rj)
{
    struct ray_run *r = rj->spec.ctx;
    struct job *j = r->job;
    switch ((enum rayjob_status)rj->status) {
    case RJ_COMPLETE: end_job(r, JOB_SUCCEEDED); break;
    case RJ_FAILED:
        stop_driver(r);
        end_job(r, JOB_FAILED);
        break;
    case RJ_RETRYING:
        stop_driver(r);
        if (!(j->flags & JOB_STOPPING)) job_interrupted(r->sim, j, WAIT_CONTROL_PLANE, CAUSE_FAILURE);
        break;
    default: update_wait(r);
    }
    if (j->flags & (JOB_ENDED | JOB_STOPPING)) check_release(r);
}

static void rj_empty(struct rayjob *rj) { check_release(rj->spec.ctx); }

static const struct rayjob_ops job_ops = {
    .make_cluster = rj_make_cluster, .submit = rj_submit, .kill = rj_kill, .status = rj_status, .empty = rj_empty};

void actor_shared_ready(struct actor *a)
{
    for (size_t i = 0; i < a->sim->next_arrival; i++) {
        struct job *j = a->sim->by_index[i];
        if (!j || !j->live || j->live->life != &lifecycle_ray_train_v2) continue;
        struct ray_run *r = j->live->state;
        if (!r || !in_shared(r)) continue;
        rayjob_look(r->rayjob);
        update_wait(r);
    }
}

void actor_driver_wants(struct ray_train *t)
{
    struct ray_run *r = t->ctx;
    if (r->autoscaler) autoscaler_wake(r->autoscaler);
}

void actor_driver_ended(struct ray_train *t, enum ray_train_state state)
{
    struct ray_run *r = t->ctx;
    if (r->autoscaler) autoscaler_drop(r->autoscaler, t);
    if (!t->driver_dead) rayjob_app_ended(r->rayjob, state == RT_FINISHED);
}

static void make_rayjob(struct ray_run *r)
{
    const struct job_detail *d = job_detail_of(r->sim, r->job);
    struct rayjob_spec spec = {
        .ops = &job_ops, .ctx = r, .job = r->job, .mode = mode_of(d), .backoff_limit = d->ray_backoff_limit,
        .submitter_backoff = submitter_backoff(r->sim, d), .submitter = r->submitter,
        .deadline_ns = d->active_deadline_ns, .ttl_ns = d->ttl_ns, .suspend = d->suspend,
        .shutdown = d->shutdown_after || d->kind != KIND_RAYJOB,
        .shared = r->actor->shared ? shared_cluster(r->actor->shared) : NULL};
    if (spec.shared) r->autoscaler = shared_autoscaler(r->actor->shared);
    r->rayjob = rayjob_create(r->actor->rayjobs, &spec);
}

/* ---- the row of the table ---- */

static void *actor_create(struct sim *s)
{
    struct actor *a = xcalloc(1, sizeof *a);
    a->sim = s;
    a->kuberay = kuberay_create(s);
    a->rayjobs = rayjob_controller_create(a->kuberay);
    if (s->scenario->approach.ray_cluster == RAY_SHARED) a->shared = shared_create(a);
    return a;
}

static void free_run(struct ray_run *r)
{
    if (r->train) ray_train_free(r->train);
    if (r->autoscaler && !in_shared(r)) autoscaler_destroy(r->autoscaler);
    if (r->job->live->train) train_destroy(r->sim, r->job->live->train);
    r->job->live->train = NULL;
    r->job->live->state = NULL;
    if (r->rayjob) rayjob_destroy(r->rayjob);
    free(r);
}

static void actor_destroy(struct sim *s, void *state)
{
    struct actor *a = state;
    for (size_t i = 0; i < s->n_specs; i++) {
        struct job *j = s->by_index[i];
        if (j && j->live && j->live->life == &lifecycle_ray_train_v2 && j->live->state) free_run(j->live->state);
    }
    if (a->shared) shared_destroy(a->shared);
    rayjob_controller_destroy(a->rayjobs);
    kuberay_destroy(a->kuberay);
    free(a);
}

static struct ray_run *new_run(struct sim *s, struct job *j)
{
    struct ray_run *r = xcalloc(1, sizeof *r);
    r->actor = s->lifecycle_state[job_detail_of(s, j)->kind];
    r->sim = s;
    r->job = j;
    r->tally.job = j;
    j->live->state = r;
    return r;
}

static void actor_start(struct sim *s, struct job *j)
{
    struct ray_run *r = j->live->state ? j->live->state : new_run(s, j);
    bool only_cluster = job_detail_of(s, j)->kind == KIND_RAYCLUSTER;
    actor_shapes(r);
    job_wait(s, j, WAIT_CONTROL_PLANE);
    if (r->rayjob) rayjob_suspend(r->rayjob, false);
    else if (r->cluster) raycluster_suspend(r->cluster, false);
    else if (only_cluster) make_cluster(r);
    else make_rayjob(r);
}

static void let_go(struct ray_run *r)
{
    if (r->rayjob) rayjob_delete(r->rayjob);
    else if (r->cluster) drop_cluster(r);
    check_release(r);
}

static void actor_stop(struct sim *s, struct job *j, enum stop_reason reason)
{
    struct ray_run *r = j->live->state;
    (void)s;
    if (reason == STOP_HORIZON) {
        if (r->train) ray_train_halt(r->train);
        if (r->seats) shared_settle(r->seats);
        return;
    }
    stop_driver(r);
    event_cancel(r->sim->events, r->end);
    if (reason == STOP_DELETED || reason == STOP_DEADLINE) let_go(r);
    else if (r->rayjob) rayjob_suspend(r->rayjob, true);
    else if (r->cluster) raycluster_suspend(r->cluster, true);
    check_release(r);
}

/* ---- scripted actions ---- */

static bool script_on_pod(struct ray_run *r, struct pod *p, const struct script_action *a)
{
    bool head = p->spec.role == ROLE_HEAD;
    switch (a->action) {
    case DO_HEAD_CRASH: kube_pod_exit(r->sim->kube, p, a->value ? (int32_t)a->value : 137); return true;
    case DO_CRASH:
        if (head && r->cluster) gcs_process_crashed(r->cluster->gcs);
        else if (r->train) ray_train_fault(r->train, 0, false);
        return true;
    case DO_HANG:
        if (r->train) ray_train_fault(r->train, 0, true);
        return true;
    default: return kube_pod_script(r->sim->kube, p, a);
    }
}

/* Not while a policy has it or takes it back: then the job is none of this life cycle's. */
static bool delete_job(struct ray_run *r)
{
    bool ours = r->job->state == JOB_ADMITTED || r->job->state == JOB_RUNNING;
    if (!ours || (r->job->flags & (JOB_STOPPING | JOB_ENDED))) return false;
    stop_driver(r);
    job_finished(r->sim, r->job, JOB_CANCELLED);
    let_go(r);
    return true;
}

/* An object that was created suspended is admitted all the same: its owner resumes it here. */
static bool resume(struct ray_run *r)
{
    if (!is_suspended(r) || (r->job->flags & JOB_STOPPING)) return false;
    if (r->rayjob) rayjob_suspend(r->rayjob, false);
    else raycluster_suspend(r->cluster, false);
    update_wait(r);
    return true;
}

static bool script_on_job(struct ray_run *r, const struct script_action *a)
{
    struct raycluster *rc = r->cluster;
    switch (a->action) {
    case DO_SUSPEND:
        if (!r->rayjob || !rayjob_refuses_suspend(r->rayjob)) return false;
        rayjob_suspend(r->rayjob, true);
        return true;
    case DO_RESUME: return r->job->state == JOB_ADMITTED && resume(r);
    case DO_HEAD_CRASH: return rc && rc->head && script_on_pod(r, rc->head->pod, a);
    case DO_CRASH:
    case DO_HANG:
        if (r->train) ray_train_fault(r->train, 0, a->action == DO_HANG);
        return true;
    case DO_SCALE:
        if (rc) raycluster_scale(rc, 0, (uint32_t)a->value);
        return rc != NULL;
    case DO_TOUCH:
        if (r->rayjob) rayjob_look(r->rayjob);
        return true;
    case DO_DELETE_JOB: return delete_job(r);
    default: return false;
    }
}

/* In a shared cluster JOB-worker-3 is no pod, but rank 3 in one. */
static bool script_on_rank(struct ray_run *r, const char *pod, const struct script_action *a)
{
    char number[24], *end;
    const char *id = job_id(r->sim->scenario, r->job->spec, number), *rank = pod + strlen(id) + strlen("-worker-");
    bool crash = a->action == DO_CRASH || a->action == DO_CONTAINER_EXIT;
    if (!r->train || (!crash && a->action != DO_HANG) || strncmp(pod + strlen(id), "-worker-", strlen("-worker-"))) return false;
    unsigned long n = strtoul(rank, &end, 10);
    return *rank && !*end && n < UINT32_MAX && ray_train_fault(r->train, (uint32_t)n, !crash);
}

static bool actor_script(struct sim *s, struct job *j, const struct script_action *a, const char *pod)
{
    struct ray_run *r = j->live ? j->live->state : NULL;
    if (!r) return false;
    if (!pod) return script_on_job(r, a);
    if (in_shared(r)) return script_on_rank(r, pod, a);
    struct pod *p = kube_find_pod(s->kube, pod);
    return p && p->spec.job == j && script_on_pod(r, p, a);
}

/* Pods tell of their nodes themselves (POD_LOST). */
static void actor_node(struct sim *s, struct job *j, uint32_t node, bool up) { (void)s, (void)j, (void)node, (void)up; }

const struct lifecycle_ops lifecycle_ray_train_v2 = {
    .name = "ray-train-v2",
    .needs_pods = true,
    .create = actor_create,
    .destroy = actor_destroy,
    .start = actor_start,
    .stop = actor_stop,
    .script = actor_script,
    .node = actor_node,
};
