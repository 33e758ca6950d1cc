/* rayjob.c - see rayjob.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/actor/rayjob.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

#define X_NAME(e, n) [e] = n,
const char *const rayjob_mode_names[N_RAYJOB_MODES] = {RAYJOB_MODES(X_NAME)};

struct rayjob_controller {
    struct kuberay *kuberay;
    struct sim *sim;
    struct reconciler *queue;
};

static int64_t reconcile(struct reconciler *, struct work_item *);
static void on_gcs(struct gcs_listener *, enum gcs_change, struct raylet *);

static struct sim *sim_of(const struct rayjob *rj) { return rj->controller->sim; }
static const struct stack *stack_of(const struct rayjob *rj) { return &sim_of(rj)->scenario->approach.stack; }
static int64_t now(const struct rayjob *rj) { return sim_now(sim_of(rj)); }

struct rayjob_controller *rayjob_controller_create(struct kuberay *kuberay)
{
    struct rayjob_controller *c = xcalloc(1, sizeof *c);
    c->kuberay = kuberay;
    c->sim = kuberay_sim(kuberay);
    c->queue = reconciler_create(c->sim, reconcile);
    return c;
}

void rayjob_controller_destroy(struct rayjob_controller *c)
{
    reconciler_destroy(c->queue);
    free(c);
}

void rayjob_look(struct rayjob *rj) { reconciler_add(rj->controller->queue, &rj->work); }

static int64_t call(struct rayjob *rj)
{
    return kube_client_call(sim_of(rj)->kube, kuberay_client(rj->controller->kuberay)) - now(rj);
}

/* ---- its looks at the world ---- */

static void on_poll(void *ctx, void *arg)
{
    (void)ctx;
    struct rayjob *rj = arg;
    rj->poll = EVENT_NONE;
    rayjob_look(rj);
}

/* The first of its looks, one every 3 s since the last, that comes after t. */
static void look_after(struct rayjob *rj, int64_t t_ns)
{
    int64_t period = stack_of(rj)->kr_job_requeue, at = t_ns > now(rj) ? t_ns : now(rj);
    if (t_ns == TIME_NEVER) return;
    if (period > 0) {
        int64_t looks = (at - rj->seen_ns + period - 1) / period;
        at = rj->seen_ns + (looks > 0 ? looks : 1) * period;
    }
    if (event_is_pending(sim_of(rj)->events, rj->poll)) event_cancel(sim_of(rj)->events, rj->poll);
    rj->poll = event_at(sim_of(rj)->events, at, EVENT_CONTROL, on_poll, rj);
}

/* ---- the submitter ---- */

static void submitter_pod(struct rayjob *rj);

static void submitter_says(struct rayjob *rj, int32_t code)
{
    if (rj->submitter.pod) kube_pod_exit(sim_of(rj)->kube, rj->submitter.pod, code);
}

static bool submitter_runs(const struct rayjob *rj) { return rj->submitter.pod && rj->submitter.pod->started; }

/* `ray job submit`: submits unless the head knows the id, then follows the job to its end. */
static void submitter_program(struct rayjob *rj)
{
    if (!stack_of(rj)->kr_dashboard || !rj->cluster) return;
    if (!rj->cluster->gcs->up) {
        submitter_says(rj, 1);
        return;
    }
    if (rj->app == APP_UNKNOWN) {
        rj->app = APP_RUNNING;
        rj->spec.ops->submit(rj);
    } else if (rj->app != APP_RUNNING) {
        submitter_says(rj, rj->app == APP_SUCCEEDED ? 0 : 1);
    }
}

static void on_job_finished(void *ctx, void *arg)
{
    (void)ctx;
    struct rayjob *rj = arg;
    struct submitter *s = &rj->submitter;
    s->event = EVENT_NONE;
    s->state = s->failures ? SUBMITTER_FAILED : SUBMITTER_COMPLETE;
    s->finished_ns = now(rj);
    rayjob_look(rj);
}

static void on_retry(void *ctx, void *arg)
{
    (void)ctx;
    struct rayjob *rj = arg;
    rj->submitter.event = EVENT_NONE;
    submitter_pod(rj);
}

static void in(struct rayjob *rj, int64_t ns, event_fn *fn)
{
    struct event_queue *q = sim_of(rj)->events;
    event_cancel(q, rj->submitter.event);
    rj->submitter.event = event_after(q, ns, EVENT_CONTROL, fn, rj);
}

/* The Job controller counts the end of a pod: again after its back-off, or over. */
static void submitter_failed(struct rayjob *rj)
{
    const struct stack *st = stack_of(rj);
    struct submitter *s = &rj->submitter;
    s->pod = NULL;
    s->failures++;
    if (s->failures > rj->spec.submitter_backoff) {
        in(rj, st->job_sync, on_job_finished);
        return;
    }
    uint32_t doublings = s->failures - 1 < 32 ? s->failures - 1 : 32;
    int64_t wait = st->job_backoff << doublings;
    in(rj, wait > st->job_backoff_max ? st->job_backoff_max : wait, on_retry);
}

static void submitter_succeeded(struct rayjob *rj)
{
    rj->submitter.pod = NULL;
    rj->submitter.failures = 0;
    in(rj, stack_of(rj)->job_sync, on_job_finished);
}

static void list_pod(struct rayjob *rj, struct pod *pod, bool on)
{
    if (on) {
        pod->next = rj->pods;
        if (rj->pods) rj->pods->prev = pod;
        rj->pods = pod;
        return;
    }
    if (pod->prev) pod->prev->next = pod->next;
    else rj->pods = pod->next;
    if (pod->next) pod->next->prev = pod->prev;
}

static void submitter_changed(struct kube *k, struct pod *pod, enum pod_change c)
{
    (void)k;
    struct rayjob *rj = pod->spec.ctx;
    if (c == POD_CREATED) list_pod(rj, pod, true);
    if (c == POD_GONE) list_pod(rj, pod, false);
    bool present = rj->submitter.pod == pod;
    if (present && c == POD_STARTED) submitter_program(rj);
    else if (present && c == POD_PHASE && pod->phase == POD_SUCCEEDED) submitter_succeeded(rj);
    else if (present && (c == POD_PHASE || c == POD_TERMINATING || c == POD_GONE)) submitter_failed(rj);
    if (c == POD_GONE) rj->spec.ops->empty(rj);
}

static const struct pod_owner_ops submitter_ops = {.changed = submitter_changed};

static void submitter_pod(struct rayjob *rj)
{
    const struct ray_shape *shape = &rj->spec.submitter;
    struct pod_spec spec = {
        .ops = &submitter_ops, .ctx = rj, .job = rj->spec.job, .role = ROLE_SUBMITTER, .index = rj->submitter.made++,
        .shares = shape->shares, .cpu_milli = shape->cpu_milli, .mem_bytes = shape->mem_bytes, .groups = shape->groups,
        .restart = RESTART_NEVER, .priority = rj->spec.job->spec->priority, .toleration_ns = -1, .has_image = true};
    rj->submitter.pod = kube_pod_create(sim_of(rj)->kube, &spec);
}

static void submitter_create(struct rayjob *rj)
{
    rj->submitter.state = SUBMITTER_ACTIVE;
    rj->submitter.failures = 0;
    submitter_pod(rj);
}

/* All its pods, the finished ones too. */
static void submitter_delete(struct rayjob *rj)
{
    struct kube *k = sim_of(rj)->kube;
    event_cancel(sim_of(rj)->events, rj->submitter.event);
    rj->submitter.pod = NULL;
    rj->submitter.state = SUBMITTER_NONE;
    for (struct pod *p = rj->pods, *next; p; p = next) {
        next = p->next;
        kube_pod_delete(k, p, -1);
    }
}

/* ---- the cluster ---- */

static void attach(struct rayjob *rj, struct raycluster *rc)
{
    rj->cluster = rc;
    rj->listener.changed = on_gcs;
    gcs_listen(rc->gcs, &rj->listener);
}

static void kill_app(struct rayjob *rj)
{
    rj->spec.ops->kill(rj);
    rj->app = APP_UNKNOWN;
}

static void detach(struct rayjob *rj)
{
    struct raycluster *rc = rj->cluster;
    if (!rc) return;
    gcs_unlisten(rc->gcs, &rj->listener);
    rj->cluster = NULL;
    if (rj->spec.shared) return;
    rj->dying++;
    raycluster_delete(rc);
}

static void on_gcs(struct gcs_listener *l, enum gcs_change c, struct raylet *r)
{
    struct rayjob *rj = (struct rayjob *)((char *)l - offsetof(struct rayjob, listener));
    const struct stack *st = stack_of(rj);
    (void)r;
    if (c != GCS_DOWN && c != GCS_UP) return;
    if (rj->spec.mode != RJ_K8S_JOB && rj->status == RJ_RUNNING) look_after(rj, now(rj));
    if (c == GCS_UP || !rj->cluster->gcs->driver_lost || !st->kr_dashboard) return;
    if (rj->app == APP_RUNNING) rj->app = rj->cluster->spec.gcs_ft ? APP_FAILED : APP_UNKNOWN;
    else if (!rj->cluster->spec.gcs_ft) rj->app = APP_UNKNOWN;
    if (st->kr_head_loss && submitter_runs(rj)) submitter_says(rj, (int32_t)st->kr_submitter_exit);
}

void rayjob_app_ended(struct rayjob *rj, bool ok)
{
    if (rj->app != APP_RUNNING) return;
    rj->app = ok ? APP_SUCCEEDED : APP_FAILED;
    if (rj->spec.mode == RJ_K8S_JOB) {
        if (submitter_runs(rj)) submitter_program(rj);
    } else {
        look_after(rj, now(rj));
    }
}

/* ---- reconcile ---- */

enum { AT_LOOK, AT_WRITE, AT_END };

/* The status is written: the only place that changes it. */
static int64_t write_status(struct rayjob *rj, enum rayjob_status status, enum rayjob_reason reason)
{
    struct sim *sim = sim_of(rj);
    const struct kube_observer *o = kube_observer(sim->kube);
    rj->status = (uint8_t)status;
    rj->reason = (uint8_t)reason;
    rj->at = AT_END;
    sim_record(sim, REC_JOB_CONDITION, rj->spec.job, RAY_CONDITION_JOB, status, reason, rj->failed);
    if (o && o->condition)
        o->condition(o->ctx, sim->kube, rj->spec.job, "JobDeploymentStatus", rayjob_status_names[status],
                     rayjob_reason_names[reason], "");
    if (rj->spec.ops->status) rj->spec.ops->status(rj);
    rayjob_look(rj); /* its own write comes back on the watch */
    return call(rj);
}

static int64_t fail(struct rayjob *rj, enum rayjob_reason reason)
{
    rj->failed++;
    rj->end_ns = now(rj);
    bool again = reason != RJR_DEADLINE && rj->failed <= rj->spec.backoff_limit;
    return write_status(rj, again ? RJ_RETRYING : RJ_FAILED, reason);
}

static int64_t complete(struct rayjob *rj)
{
    rj->end_ns = now(rj);
    return write_status(rj, RJ_COMPLETE, RJR_NONE);
}

static int64_t done(struct rayjob *rj)
{
    rj->at = AT_LOOK;
    return RECONCILED;
}

static int64_t again(struct rayjob *rj, int64_t ns)
{
    rj->at = AT_LOOK;
    return ns;
}

static bool past_deadline(const struct rayjob *rj)
{
    return rj->spec.deadline_ns != TIME_NEVER && now(rj) - rj->start_ns >= rj->spec.deadline_ns;
}

static void look_at_deadline(struct rayjob *rj)
{
    if (rj->spec.deadline_ns != TIME_NEVER && !event_is_pending(sim_of(rj)->events, rj->poll))
        look_after(rj, rj->start_ns + rj->spec.deadline_ns);
}

static int64_t look_new(struct rayjob *rj)
{
    rj->start_ns = now(rj);
    return write_status(rj, RJ_INITIALIZING, RJR_NONE);
}

static int64_t look_initializing(struct rayjob *rj)
{
    if (rj->spec.suspend) return write_status(rj, RJ_SUSPENDING, RJR_NONE);
    if (past_deadline(rj)) return fail(rj, RJR_DEADLINE);
    if (!rj->cluster) {
        attach(rj, rj->spec.shared ? rj->spec.shared : rj->spec.ops->make_cluster(rj));
        return again(rj, rj->spec.shared ? 0 : call(rj));
    }
    look_at_deadline(rj);
    if (!rj->cluster->status.ready) return done(rj);
    if (rj->spec.mode == RJ_K8S_JOB && rj->submitter.state == SUBMITTER_NONE) {
        submitter_create(rj);
        return again(rj, call(rj));
    }
    return write_status(rj, RJ_RUNNING, RJR_NONE);
}

static int64_t look_at_submitter(struct rayjob *rj)
{
    const struct submitter *s = &rj->submitter;
    int64_t grace_end = s->finished_ns + stack_of(rj)->kr_submitter_grace;
    bool answers = stack_of(rj)->kr_dashboard && rj->cluster->gcs->up;
    if (!stack_of(rj)->kr_head_loss && rj->app == APP_UNKNOWN) return done(rj);
    if (s->state == SUBMITTER_FAILED) return fail(rj, rj->app == APP_FAILED ? RJR_APP_FAILED : RJR_SUBMISSION_FAILED);
    if (s->state != SUBMITTER_COMPLETE) return done(rj);
    if (answers && rj->app == APP_SUCCEEDED) return complete(rj);
    if (answers && (rj->app == APP_FAILED || rj->app == APP_UNKNOWN)) return fail(rj, RJR_APP_FAILED);
    if (now(rj) >= grace_end) return fail(rj, RJR_GRACE);
    look_after(rj, grace_end);
    return done(rj);
}

static int64_t look_over_http(struct rayjob *rj)
{
    if (!stack_of(rj)->kr_dashboard || !rj->cluster->gcs->up) return done(rj);
    if (rj->app == APP_UNKNOWN) {
        rj->app = APP_RUNNING;
        rj->spec.ops->submit(rj);
        return done(rj);
    }
    if (rj->app == APP_SUCCEEDED) return complete(rj);
    return rj->app == APP_FAILED ? fail(rj, RJR_APP_FAILED) : done(rj);
}

static int64_t look_at_sidecar(struct rayjob *rj)
{
    const struct ray_pod *head = rj->cluster->head;
    if (stack_of(rj)->kr_head_loss && !head) return fail(rj, RJR_APP_FAILED);
    if (stack_of(rj)->kr_head_loss && head->pod->phase == POD_FAILED) return fail(rj, RJR_SUBMISSION_FAILED);
    return look_over_http(rj);
}

static int64_t look_running(struct rayjob *rj)
{
    static int64_t (*const by_mode[])(struct rayjob *) = {
        [RJ_K8S_JOB] = look_at_submitter, [RJ_HTTP] = look_over_http, [RJ_SIDECAR] = look_at_sidecar};
    if (rj->spec.suspend) return write_status(rj, RJ_SUSPENDING, RJR_NONE);
    if (past_deadline(rj)) return fail(rj, RJR_DEADLINE);
    int64_t ns = by_mode[rj->spec.mode](rj);
    look_at_deadline(rj);
    return ns;
}

/* Suspending and Retrying: everything of the attempt goes; the next status follows once cluster and Job are deleted. */
static int64_t look_cleaning(struct rayjob *rj)
{
    if (rj->cluster) {
        kill_app(rj);
        detach(rj);
        return again(rj, call(rj));
    }
    if (rj->submitter.state != SUBMITTER_NONE) {
        submitter_delete(rj);
        return again(rj, call(rj));
    }
    return write_status(rj, rj->status == RJ_RETRYING ? RJ_NEW : RJ_SUSPENDED, RJR_NONE);
}

static int64_t look_suspended(struct rayjob *rj)
{
    return rj->spec.suspend ? done(rj) : write_status(rj, RJ_NEW, RJR_NONE);
}

static int64_t look_finished(struct rayjob *rj)
{
    int64_t shut_ns = rj->spec.ttl_ns == TIME_NEVER ? rj->end_ns : rj->end_ns + rj->spec.ttl_ns;
    if (!rj->cluster || !rj->spec.shutdown) return done(rj);
    if (now(rj) < shut_ns) {
        event_cancel(sim_of(rj)->events, rj->poll);
        rj->poll = event_at(sim_of(rj)->events, shut_ns, EVENT_CONTROL, on_poll, rj);
        return done(rj);
    }
    rj->spec.ops->kill(rj);
    detach(rj);
    return again(rj, call(rj));
}

bool rayjob_refuses_suspend(const struct rayjob *rj)
{
    return !rj->spec.shutdown && sim_of(rj)->scenario->approach.admission == ADMIT_NONE;
}

/* Each look validates the object anew. What is refused is so for good: its status is none of those that are looked at further. */
static bool is_refused(const struct rayjob *rj)
{
    bool over = rj->status == RJ_COMPLETE || rj->status == RJ_FAILED || rj->status == RJ_INVALID;
    return rj->spec.suspend && !over && rayjob_refuses_suspend(rj);
}

static int64_t look_refused(struct rayjob *rj) { return done(rj); }

static int64_t reconcile(struct reconciler *q, struct work_item *w)
{
    static int64_t (*const looks[N_RAYJOB_STATUSES])(struct rayjob *) = {
        [RJ_NEW] = look_new,           [RJ_INITIALIZING] = look_initializing, [RJ_RUNNING] = look_running,
        [RJ_COMPLETE] = look_finished, [RJ_FAILED] = look_finished,           [RJ_RETRYING] = look_cleaning,
        [RJ_SUSPENDING] = look_cleaning, [RJ_SUSPENDED] = look_suspended, [RJ_INVALID] = look_refused,
    };
    struct rayjob *rj = (struct rayjob *)w;
    (void)q;
    if (rj->closing || rj->at == AT_END) return done(rj);
    rj->seen_ns = now(rj);
    if (is_refused(rj)) return write_status(rj, RJ_INVALID, RJR_INVALID);
    return looks[rj->status](rj);
}

/* ---- what its creator asks for ---- */

struct rayjob *rayjob_create(struct rayjob_controller *c, const struct rayjob_spec *spec)
{
    struct rayjob *rj = xcalloc(1, sizeof *rj);
    rj->controller = c;
    rj->spec = *spec;
    rayjob_look(rj);
    return rj;
}

bool rayjob_idle(const struct rayjob *rj)
{
    return rj->dying == 0 && !rj->pods && (!rj->cluster || rj->spec.shared);
}

void rayjob_destroy(struct rayjob *rj)
{
    event_cancel(sim_of(rj)->events, rj->poll);
    event_cancel(sim_of(rj)->events, rj->submitter.event);
    if (rj->cluster) gcs_unlisten(rj->cluster->gcs, &rj->listener);
    reconciler_drop(rj->controller->queue, &rj->work);
    free(rj);
}

void rayjob_suspend(struct rayjob *rj, bool on)
{
    rj->spec.suspend = on;
    rayjob_look(rj);
}

void rayjob_delete(struct rayjob *rj)
{
    if (rj->closing) return;
    rj->closing = true;
    event_cancel(sim_of(rj)->events, rj->poll);
    kill_app(rj);
    detach(rj);
    submitter_delete(rj);
}
