/* job_life.c - batch/v1 Job as a life cycle: its row in the table.
 *
 * An admission policy suspends and resumes the object, as Kueue does: it is created suspended, start resumes it, stop
 * suspends it again; what it has learnt (completed indexes, failures, checkpoints) stays.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/objects.h"
#include "sim/lifecycle.h"
#include "sim/operator/job.h"

static void *create(struct sim *s) { return batch_ctl_create(s); }

static void destroy(struct sim *s, void *state)
{
    (void)s;
    batch_ctl_destroy(state);
}

static void reserve(struct batch_job *b)
{
    if (b->completions > b->cap) {
        b->done = xreallocarray(b->done, b->completions, sizeof *b->done);
        b->active_of = xreallocarray(b->active_of, b->completions, sizeof *b->active_of);
        b->cap = b->completions;
    }
    memset(b->done, 0, b->completions * sizeof *b->done);
    memset(b->active_of, 0, b->completions * sizeof *b->active_of);
}

static struct batch_job *new_object(struct sim *s, struct job *j)
{
    const struct job_detail *d = job_detail_of(s, j);
    struct batch_job *b = batch_job_new(s->lifecycle_state[d->kind], j);
    uint32_t main = d->n_roles - 1;
    bool by_policy = s->scenario->approach.admission != ADMIT_NONE;
    b->role = &d->roles[main];
    b->parallelism = job_role_replicas(s->scenario, j->spec, main);
    b->completions = d->completions ? d->completions : b->parallelism;
    if (b->parallelism > b->completions) b->parallelism = b->completions;
    b->shares = job_role_shares(s->scenario, j->spec, main);
    b->indexed = d->indexed;
    b->replace_failed = d->replace_failed_only;
    if (b->indexed) reserve(b);
    b->trains = j->spec->work_ns != TIME_NEVER;
    b->gang = b->trains && b->completions == b->parallelism;
    b->suspend = d->suspend && !by_policy;
    if (by_policy) {
        b->status.condition[JOB_COND_SUSPENDED] = CONDITION_TRUE;
        b->status.note[JOB_COND_SUSPENDED] = JOB_NOTE_SUSPENDED;
    }
    j->live->state = b;
    j->live->train = b->gang ? train_create(s, j, &batch_train_hooks) : NULL;
    return b;
}

static void start(struct sim *s, struct job *j)
{
    struct batch_job *b = j->live->state;
    if (!b) b = new_object(s, j);
    else b->suspend = b->allocated = false;
    b->groups = j->live->groups & kube_selected_groups(s, b->role->pod);
    if (j->live->pods) b->parallelism = j->live->pods;
    batch_sync_now(b);
    batch_refresh_wait(b);
}

static void stop(struct sim *s, struct job *j, enum stop_reason reason)
{
    struct batch_job *b = j->live->state;
    (void)s;
    if (reason == STOP_HORIZON) {
        job_ranks_close(b);
        return;
    }
    b->stopping = b->suspend = true;
    batch_sync_now(b);
}

/* ---- scripts ---- */

/* By its full name, or "JOB-INDEX": the newest of the index (NonIndexed: the so manieth pod ever). */
static struct pod *find(struct batch_job *b, const char *name)
{
    char buf[256], number[24];
    const char *id = job_id(b->ctl->sim->scenario, b->job->spec, number);
    for (struct pod *p = b->last; p; p = p->prev) {
        kube_pod_name(b->ctl->kube, p, buf, sizeof buf);
        if (!strcmp(buf, name)) return p;
        snprintf(buf, sizeof buf, "%s-%u", id, p->spec.index);
        if (!strcmp(buf, name)) return p;
    }
    return NULL;
}

static bool has_ended(const struct pod *p) { return p->phase >= POD_SUCCEEDED; }

/* A patch of the phase by hand, which the API server lets pass; a kubelet would not. */
static void patch_succeeded(struct batch_job *b, struct pod *p)
{
    p->phase = POD_SUCCEEDED;
    p->evicted = false;
    p->exit_code = 0;
    batch_pod_patched(b, p);
}

static bool act_on_pod(struct batch_job *b, struct pod *p, const struct script_action *a)
{
    switch (a->action) {
    case DO_HANG: job_ranks_hang(b); return true;
    case DO_TOUCH: batch_sync_soon(b); return true;
    case DO_POD_SUCCEEDED:
        if (!has_ended(p)) break;
        patch_succeeded(b, p);
        return true;
    default: break;
    }
    return kube_pod_script(b->ctl->kube, p, a);
}

static bool set_suspend(struct batch_job *b, bool on)
{
    if (b->ctl->sim->scenario->approach.admission != ADMIT_NONE) return false; /* the policy must let go of it */
    b->suspend = on;
    batch_sync_now(b);
    return true;
}

static bool scale(struct batch_job *b, int64_t replicas)
{
    if (replicas < 0 || replicas > UINT32_MAX / 2 || b->gang) return false; /* completions of a gang are fixed */
    b->parallelism = (uint32_t)replicas < b->completions ? (uint32_t)replicas : b->completions;
    job_resized(b->ctl->sim, b->job, (int64_t)b->parallelism * b->shares);
    batch_sync_now(b);
    return true;
}

static bool act_on_job(struct batch_job *b, const struct script_action *a)
{
    switch (a->action) {
    case DO_SUSPEND: return set_suspend(b, true);
    case DO_RESUME: return set_suspend(b, false);
    case DO_SCALE: return scale(b, a->value);
    case DO_HANG: job_ranks_hang(b); return true;
    case DO_CRASH: job_ranks_crash(b, 0, a->value ? (int32_t)a->value : 1); return true;
    case DO_TOUCH: batch_sync_now(b); return true;
    default: return false;
    }
}

static bool script(struct sim *s, struct job *j, const struct script_action *a, const char *pod)
{
    struct batch_job *b = j->live->state;
    (void)s;
    if (!b) return false;
    if (!pod) return act_on_job(b, a);
    struct pod *p = find(b, pod);
    return p && act_on_pod(b, p, a);
}

const struct lifecycle_ops lifecycle_batch_job = {
    .name = "batch-job",
    .needs_pods = true,
    .create = create,
    .destroy = destroy,
    .held = batch_job_held,
    .start = start,
    .stop = stop,
    .script = script,
};
