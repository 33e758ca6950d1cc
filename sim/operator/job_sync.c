/* job_sync.c - the Job controller: syncJob of Kubernetes 1.35, its work queue and its client.
 *
 *     plan --> deletions or creations --> first write (active, ready, terminating, FailureTarget or SuccessCriteriaMet)
 *          --> a finalizer patch for each pod to be counted --> second write (succeeded, failed, Complete or Failed)
 *
 * Each step takes its calls from the client's bucket; steps that have nothing to do are left out.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/operator/job.h"

enum { MAX_PODS_PER_SYNC = 500 /* MaxPodCreateDeletePerSync */ };

#define X_NAME(e, name, ...) name,
static const char *const note_reasons[N_JOB_NOTES] = {JOB_NOTES(X_NAME)};
#undef X_NAME
#define X_MESSAGE(e, reason, message) message,
static const char *const note_messages[N_JOB_NOTES] = {JOB_NOTES(X_MESSAGE)};
#undef X_MESSAGE

static int64_t on_sync(void *ctx, void *arg, uint64_t key);

static int64_t now_of(const struct batch_job *b) { return sim_now(b->ctl->sim); }
static const struct job_detail *detail_of(const struct batch_job *b) { return job_detail_of(b->ctl->sim, b->job); }

/* ---- controller, objects ---- */

struct batch_ctl *batch_ctl_create(struct sim *s)
{
    struct batch_ctl *c = xcalloc(1, sizeof *c);
    const struct stack *k = &s->scenario->approach.stack;
    c->sim = s;
    c->kube = s->kube;
    c->stack = k;
    c->client = kube_client_make(k->kcm_qps, k->kcm_burst, k->kcm_call);
    c->queue = workqueue_create(s->events, k->job_workers > 0 ? (unsigned)k->job_workers : 1, on_sync, c);
    arena_init(&c->arena);
    return c;
}

void batch_ctl_destroy(struct batch_ctl *c)
{
    struct batch_job *lists[] = {c->first, c->free};
    for (struct batch_job *b = c->first; b; b = b->next)
        if (b->job->live) train_destroy(c->sim, b->job->live->train);
    for (size_t i = 0; i < 2; i++)
        for (struct batch_job *b = lists[i]; b; b = b->next) {
            free(b->done);
            free(b->active_of);
        }
    workqueue_destroy(c->queue);
    arena_free(&c->arena);
    free(c);
}

struct batch_job *batch_job_new(struct batch_ctl *c, struct job *j)
{
    struct batch_job *b = c->free, old = {0};
    if (b) {
        c->free = b->next;
        old = *b;
    } else {
        b = arena_new(&c->arena, struct batch_job);
    }
    *b = (struct batch_job){.job = j, .ctl = c, .done = old.done, .active_of = old.active_of, .cap = old.cap, .next = c->first};
    b->tally.job = j;
    b->events = bucket_event_spam(c->stack->kcm_event_burst);
    b->status.start_ns = -1;
    if (b->next) b->next->prev = b;
    c->first = b;
    return b;
}

static void job_free(struct batch_job *b)
{
    struct batch_ctl *c = b->ctl;
    if (b->prev) b->prev->next = b->next;
    else c->first = b->next;
    if (b->next) b->next->prev = b->prev;
    b->prev = NULL;
    b->next = c->free;
    c->free = b;
}

void batch_sync_now(struct batch_job *b) { workqueue_add(b->ctl->queue, (uint64_t)b->job->index); }

void batch_sync_soon(struct batch_job *b)
{
    if (!b->over) workqueue_add_after(b->ctl->queue, (uint64_t)b->job->index, b->ctl->stack->job_sync);
}

/* ---- events: one broadcaster sends them one after the other ---- */

static void send_event(struct batch_ctl *c);

static void on_event_sent(void *ctx, void *arg)
{
    struct batch_ctl *c = arg;
    (void)ctx;
    c->sending = false;
    send_event(c);
}

static void send_event(struct batch_ctl *c)
{
    if (c->sending || c->events_waiting == 0) return;
    c->sending = true;
    c->events_waiting--;
    event_at(c->sim->events, kube_client_call(c->kube, &c->client), EVENT_CONTROL, on_event_sent, c);
}

void batch_event(struct batch_job *b)
{
    if (!bucket_try(&b->events, now_of(b))) return;
    b->ctl->events_waiting++;
    send_event(b->ctl);
}

/* ---- release ---- */

static void let_go(struct batch_job *b)
{
    struct batch_ctl *c = b->ctl;
    struct job *j = b->job;
    for (struct pod *p = b->first; p; p = p->next) kube_pod_forget(c->kube, p);
    kube_tally_close(c->kube, &b->tally);
    job_ranks_close(b);
    train_destroy(c->sim, j->live->train);
    j->live->train = NULL;
    j->live->state = NULL;
    job_free(b);
    job_released(c->sim, j);
}

static bool is_watched(const struct batch_job *b)
{
    const struct kube_observer *o = kube_observer(b->ctl->kube);
    return o && o->keep_objects;
}

void batch_try_release(struct batch_job *b)
{
    if (b->run.busy || b->n_held) return;
    if (b->over) {
        if (!is_watched(b)) let_go(b);
    } else if (b->stopping && b->status.condition[JOB_COND_SUSPENDED] == CONDITION_TRUE && b->n_succeeded == 0) {
        b->stopping = false;
        job_released(b->ctl->sim, b->job);
    }
}

static void on_ttl(void *ctx, void *arg)
{
    struct sim *s = ctx;
    struct batch_job *b = arg;
    for (struct pod *p = b->first, *next; p; p = next) {
        next = p->next;
        kube_pod_delete(s->kube, p, -1);
    }
}

/* ---- writing the status ---- */

static void tell(struct sim *s, const struct job *j, unsigned condition, bool on, unsigned note)
{
    const struct kube_observer *o = kube_observer(s->kube);
    sim_record(s, REC_JOB_CONDITION, j, JOB_CONDITION_BASE + condition, on, note, 0);
    if (o && o->condition)
        o->condition(o->ctx, s->kube, j, job_condition_names[condition], on ? "True" : "False", note_reasons[note],
                     note_messages[note]);
}

/* What a Job shows that its policy has not let go yet: nothing of it is in memory. */
void batch_job_held(struct sim *s, struct job *j) { tell(s, j, JOB_COND_SUSPENDED, true, JOB_NOTE_SUSPENDED); }

static void job_over(struct batch_job *b, bool failed)
{
    struct sim *s = b->ctl->sim;
    const struct job_detail *d = detail_of(b);
    b->over = true;
    job_finished(s, b->job, failed ? JOB_FAILED : JOB_SUCCEEDED);
    for (struct pod *p = b->first; p; p = p->next)
        if (p->started && !p->terminating) kube_pod_activity(b->ctl->kube, p, ACT_AFTER_END);
    if (d->ttl_ns != TIME_NEVER && is_watched(b))
        event_at(s->events, now_of(b) / EVENT_SECOND * EVENT_SECOND + d->ttl_ns, EVENT_CONTROL, on_ttl, b);
}

static void publish(struct batch_job *b)
{
    struct job_status before = b->status;
    const struct job_status *now = &b->run.status;
    b->status = *now;
    for (unsigned i = 0; i < N_JOB_CONDITIONS; i++)
        if (before.condition[i] != now->condition[i] || before.note[i] != now->note[i])
            tell(b->ctl->sim, b->job, i, now->condition[i] == CONDITION_TRUE, now->note[i]);
    batch_refresh_wait(b);
    if (b->suspend && now->active == 0) job_idle(b->ctl->sim, b->job);
    if (now->condition[JOB_COND_FAILED] == CONDITION_TRUE) job_over(b, true);
    else if (now->condition[JOB_COND_COMPLETE] == CONDITION_TRUE) job_over(b, false);
    else batch_sync_soon(b); /* the watch brings the object back */
}

static void finish(struct batch_job *b)
{
    b->run.busy = false;
    workqueue_done(b->ctl->queue, (uint64_t)b->job->index);
    batch_try_release(b);
}

static void call(struct batch_job *b, event_fn *fn)
{
    event_at(b->ctl->sim->events, kube_client_call(b->ctl->kube, &b->ctl->client), EVENT_CONTROL, fn, b);
}

static void set(struct job_status *s, enum job_condition c, bool on, enum job_note note)
{
    s->condition[c] = on ? CONDITION_TRUE : CONDITION_FALSE;
    s->note[c] = (uint8_t)note;
}

static bool may_end(const struct batch_job *b)
{
    return b->run.outcome != N_JOB_CONDITIONS && b->run.status.terminating == 0;
}

static void on_second_write(void *ctx, void *arg)
{
    struct batch_job *b = arg;
    (void)ctx;
    if (may_end(b)) {
        set(&b->run.status, (enum job_condition)b->run.outcome, true, (enum job_note)b->run.note);
        batch_event(b);
    }
    publish(b);
    finish(b);
}

static void count(struct batch_job *b, struct pod *p)
{
    struct job_status *s = &b->run.status;
    if (p->phase == POD_SUCCEEDED) {
        if (!b->indexed) s->succeeded++;
        else if (!b->done[p->spec.index]) s->succeeded += b->done[p->spec.index] = 1;
    } else {
        s->failed++;
    }
    p->owner_tag &= ~(uint32_t)TAG_COUNT;
    batch_pod_counted(b, p);
}

static void on_patched(void *ctx, void *arg)
{
    struct batch_job *b = arg;
    (void)ctx;
    for (struct pod *p = b->first, *next; p; p = next) {
        next = p->next;
        if (p->owner_tag & TAG_COUNT) count(b, p);
    }
    b->backoff = b->run.backoff;
    call(b, on_second_write);
}

static void on_first_write(void *ctx, void *arg)
{
    struct batch_job *b = arg;
    publish(b);
    if (b->run.patches) {
        struct batch_ctl *c = b->ctl;
        int64_t t = bucket_take(&c->client.bucket, sim_now(ctx), b->run.patches) + c->client.call_ns;
        event_at(c->sim->events, t, EVENT_CONTROL, on_patched, b);
    } else if (may_end(b)) {
        call(b, on_second_write);
    } else {
        finish(b);
    }
}

static uint32_t mark_uncounted(struct batch_job *b)
{
    uint32_t n = 0;
    if (b->n_succeeded + b->n_failed == 0) return 0;
    for (struct pod *p = b->first; p; p = p->next)
        if (batch_has_succeeded(p) || batch_has_failed(b, p)) {
            p->owner_tag |= TAG_COUNT;
            n++;
        }
    return n;
}

static bool differs(const struct job_status *a, const struct job_status *b)
{
    return a->start_ns != b->start_ns || a->active != b->active || a->ready != b->ready ||
           a->terminating != b->terminating || memcmp(a->condition, b->condition, sizeof a->condition) != 0;
}

static void write_status(struct batch_job *b)
{
    b->run.patches = mark_uncounted(b);
    if (b->run.patches || differs(&b->status, &b->run.status)) call(b, on_first_write);
    else if (may_end(b)) call(b, on_second_write);
    else finish(b);
}

/* ---- deleting ---- */

static void on_deleted(void *ctx, void *arg)
{
    struct batch_job *b = arg;
    struct pod *p = b->run.cursor;
    (void)ctx;
    while (p && !(p->owner_tag & TAG_DELETE)) p = p->next;
    b->run.cursor = p ? p->next : NULL;
    if (p) {
        p->owner_tag &= ~(uint32_t)TAG_DELETE;
        if (b->run.uncounted_too) batch_pod_counted(b, p);
        kube_pod_delete(b->ctl->kube, p, -1);
        batch_event(b);
    }
    if (--b->run.delete == 0) {
        b->run.status.terminating = b->n_terminating;
        write_status(b);
    }
}

/* Marks up to n active pods; those that are not ready go first, then the newest. */
static uint32_t mark_deletions(struct batch_job *b, uint32_t n)
{
    uint32_t marked = 0;
    for (int ready = 0; ready < 2; ready++)
        for (struct pod *p = b->last; p && marked < n; p = p->prev)
            if (batch_is_active(p) && p->ready == (ready == 1) && !(p->owner_tag & TAG_DELETE)) {
                p->owner_tag |= TAG_DELETE;
                b->run.status.active--;
                b->run.status.ready -= p->ready;
                marked++;
            }
    return marked;
}

static void delete_pods(struct batch_job *b, uint32_t n, bool uncounted_too)
{
    b->run.delete = mark_deletions(b, n);
    b->run.uncounted_too = uncounted_too;
    b->run.cursor = b->first;
    if (b->run.delete == 0) {
        write_status(b);
        return;
    }
    for (uint32_t i = 0; i < b->run.delete; i++) {
        if (uncounted_too) bucket_take(&b->ctl->client.bucket, now_of(b), 1); /* its finalizer goes first */
        call(b, on_deleted);
    }
}

/* ---- creating ---- */

static uint32_t next_index(struct batch_job *b)
{
    if (!b->indexed) return b->n_created;
    while (b->run.next_index < b->completions && (b->done[b->run.next_index] || b->active_of[b->run.next_index]))
        b->run.next_index++;
    return b->run.next_index;
}

static void create_pod(struct batch_job *b, uint32_t index)
{
    struct pod_spec spec = {
        .ops = &batch_pod_ops, .ctx = b, .job = b->job, .tally = &b->tally, .role = b->role->role, .index = index,
        .shares = b->shares, .cpu_milli = b->role->cpu_milli, .mem_bytes = b->role->mem_bytes, .groups = b->groups,
        .restart = b->role->restart == RESTART_NEVER ? RESTART_NEVER : RESTART_ON_FAILURE,
        .priority = b->job->spec->priority, .toleration_ns = -1, .has_image = true, .finalizer = true,
    };
    b->n_created++;
    kube_pod_create(b->ctl->kube, &spec);
    batch_event(b);
}

static void next_batch(struct batch_job *b);

static void on_created(void *ctx, void *arg)
{
    struct batch_job *b = arg;
    (void)ctx;
    uint32_t index = next_index(b);
    if (!b->indexed || index < b->completions) create_pod(b, index);
    b->run.create--;
    if (--b->run.in_batch == 0) next_batch(b);
}

static void next_batch(struct batch_job *b)
{
    struct job_sync *r = &b->run;
    if (r->create == 0) {
        write_status(b);
        return;
    }
    r->in_batch = r->batch < r->create ? r->batch : r->create;
    r->batch *= 2;
    for (uint32_t i = 0; i < r->in_batch; i++) call(b, on_created);
}

static void create_pods(struct batch_job *b, uint32_t n)
{
    if (n > MAX_PODS_PER_SYNC) n = MAX_PODS_PER_SYNC;
    b->run.create = n;
    b->run.batch = 1;
    b->run.next_index = 0;
    b->run.status.active += n;
    next_batch(b);
}

/* ---- deciding ---- */

static struct job_backoff new_backoff(const struct batch_job *b)
{
    struct job_backoff r = b->backoff;
    int64_t success = -1;
    if (b->n_succeeded + b->n_failed == 0) return r;
    for (const struct pod *p = b->first; p && b->n_succeeded; p = p->next)
        if (batch_has_succeeded(p) && batch_finish_time(p) > success) success = batch_finish_time(p);
    if (success >= 0) r = (struct job_backoff){0, 0};
    for (const struct pod *p = b->first; p && b->n_failed; p = p->next) {
        int64_t t = batch_finish_time(p);
        if (!batch_has_failed(b, p) || t <= success) continue;
        r.failures++;
        if (t > r.last_ns) r.last_ns = t;
    }
    return r;
}

static int64_t backoff_left(const struct batch_job *b, const struct job_backoff *r)
{
    const struct stack *k = b->ctl->stack;
    if (r->failures == 0) return 0;
    int64_t wait = k->job_backoff;
    for (uint32_t i = 1; i < r->failures && wait < k->job_backoff_max; i++) wait *= 2;
    if (wait > k->job_backoff_max) wait = k->job_backoff_max;
    return r->last_ns + wait - now_of(b);
}

/* Loads of other kinds do not say one: the default of batch/v1 (SetDefaults_Job). */
static int64_t backoff_limit(const struct batch_job *b)
{
    int64_t limit = detail_of(b)->backoff_limit;
    return limit >= 0 ? limit : 6;
}

static bool too_many_restarts(const struct batch_job *b)
{
    int64_t limit = backoff_limit(b);
    if (b->role->restart == RESTART_NEVER) return false;
    return limit == 0 ? b->restarts > 0 : b->restarts >= (uint64_t)limit;
}

static enum job_note failure(struct batch_job *b)
{
    const struct job_detail *d = detail_of(b);
    if (b->status.condition[JOB_COND_FAILURE] == CONDITION_TRUE) return (enum job_note)b->status.note[JOB_COND_FAILURE];
    if ((int64_t)b->status.failed + b->n_failed > backoff_limit(b) || too_many_restarts(b)) return JOB_NOTE_BACKOFF;
    if (d->active_deadline_ns == TIME_NEVER || b->suspend) return JOB_NOTE_NONE;
    int64_t left = b->run.status.start_ns / EVENT_SECOND * EVENT_SECOND + d->active_deadline_ns - now_of(b);
    if (left <= 0) return JOB_NOTE_DEADLINE;
    workqueue_add_after(b->ctl->queue, (uint64_t)b->job->index, left);
    return JOB_NOTE_NONE;
}

static uint32_t succeeded(const struct batch_job *b)
{
    uint32_t n = b->status.succeeded;
    if (!b->indexed) return n + b->n_succeeded;
    for (const struct pod *p = b->first; p && b->n_succeeded; p = p->next)
        n += batch_has_succeeded(p) && !b->done[p->spec.index]; /* two of one index: only after a hand has deleted one */
    return n;
}

static void fail(struct batch_job *b, enum job_note note)
{
    b->run.outcome = JOB_COND_FAILED;
    b->run.note = (uint8_t)note;
    set(&b->run.status, JOB_COND_FAILURE, true, note);
    delete_pods(b, b->n_active, false);
}

static void set_suspended(struct batch_job *b)
{
    struct job_status *s = &b->run.status;
    if (b->suspend) {
        if (s->condition[JOB_COND_SUSPENDED] != CONDITION_TRUE) batch_event(b);
        set(s, JOB_COND_SUSPENDED, true, JOB_NOTE_SUSPENDED);
    } else if (s->condition[JOB_COND_SUSPENDED] == CONDITION_TRUE) {
        set(s, JOB_COND_SUSPENDED, false, JOB_NOTE_RESUMED);
        s->start_ns = now_of(b);
        batch_event(b);
    }
}

static void manage(struct batch_job *b, uint32_t done)
{
    uint32_t left = b->completions > done ? b->completions - done : 0;
    uint32_t want = b->suspend ? 0 : left < b->parallelism ? left : b->parallelism;
    uint32_t have = b->n_active + (b->replace_failed ? b->n_terminating : 0);
    int64_t wait = want > have ? backoff_left(b, &b->run.backoff) : 0;
    if (wait > 0) { /* nothing is written before (recorded) */
        if (wait < b->ctl->stack->job_sync) wait = b->ctl->stack->job_sync;
        workqueue_add_after(b->ctl->queue, (uint64_t)b->job->index, wait);
        finish(b);
        return;
    }
    if (left == 0) {
        b->run.outcome = JOB_COND_COMPLETE;
        b->run.note = JOB_NOTE_COMPLETIONS;
        set(&b->run.status, JOB_COND_SUCCESS, true, JOB_NOTE_COMPLETIONS);
    } else {
        set_suspended(b);
    }
    if (b->n_active > want) delete_pods(b, b->n_active - want, true);
    else if (want > have) create_pods(b, want - have);
    else write_status(b);
}

static void plan(struct batch_job *b)
{
    b->run = (struct job_sync){.busy = true, .status = b->status, .outcome = N_JOB_CONDITIONS, .backoff = new_backoff(b)};
    struct job_status *s = &b->run.status;
    s->active = b->n_active;
    s->ready = b->n_ready;
    s->terminating = b->n_terminating;
    if (s->start_ns < 0 && !b->suspend) s->start_ns = now_of(b);
    bool success = s->condition[JOB_COND_SUCCESS] == CONDITION_TRUE;
    enum job_note note = success ? JOB_NOTE_NONE : failure(b);
    if (note != JOB_NOTE_NONE) fail(b, note);
    else manage(b, success ? b->completions : succeeded(b));
}

static struct batch_job *job_of_key(struct batch_ctl *c, uint64_t key)
{
    struct job *j = c->sim->by_index[key];
    bool ours = j && j->live && j->live->state && j->live->life->start == c->sim->lifecycle[job_detail_of(c->sim, j)->kind]->start;
    struct batch_job *b = ours ? j->live->state : NULL;
    return b && b->ctl == c && !b->over ? b : NULL;
}

static void on_planned(void *ctx, void *arg)
{
    (void)ctx;
    plan(arg);
}

static int64_t on_sync(void *ctx, void *arg, uint64_t key)
{
    struct batch_job *b = job_of_key(arg, key);
    (void)ctx;
    if (!b) return 0;
    b->run.busy = true;
    event_now(b->ctl->sim->events, EVENT_CONTROL, on_planned, b);
    return WORKQUEUE_OPEN;
}
