/* life.c - training-operator v1 as a life cycle: its row in the table.
 *
 * A PyTorchJob has the replica types of its object. A neutral load `train` becomes a Master and workers (workers only when
 * it is elastic), as the Kubeflow SDK writes it.
 *
 * An admission policy suspends and resumes through the job's object, as Kueue does: stop deletes the pods and writes
 * Suspended, start resumes; the object and what it has learnt stay.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/objects.h"
#include "sim/lifecycle.h"
#include "sim/operator/torch.h"

static void *create(struct sim *s) { return torch_op_create(s); }

static void destroy(struct sim *s, void *state)
{
    (void)s;
    torch_op_destroy(state);
}

static struct torch_op *op_of(struct sim *s, const struct job *j)
{
    return s->lifecycle_state[job_detail_of(s, j)->kind];
}

/* ---- the job object ---- */

static void add_type(struct torch_job *t, const struct role_spec *spec, enum pod_role role, uint32_t replicas, uint32_t shares)
{
    struct replica_type *r = &t->type[t->n_types++];
    r->spec = spec;
    r->role = role;
    r->restart = spec->restart;
    r->replicas = replicas;
    r->shares = shares;
    r->groups = t->job->live->groups & kube_selected_groups(t->op->sim, spec->pod);
    torch_type_reserve(r, replicas);
}

static void add_types(struct torch_job *t)
{
    const struct sim *s = t->op->sim;
    const struct job_detail *d = job_detail_of(s, t->job);
    for (uint32_t i = 0; i < d->n_roles && t->n_types < MAX_TYPES; i++) {
        const struct role_spec *spec = &d->roles[i];
        uint32_t n = job_role_replicas(s->scenario, t->job->spec, i), shares = job_role_shares(s->scenario, t->job->spec, i);
        bool split = d->n_roles == 1 && d->kind != KIND_PYTORCHJOB && !t->max;
        if (split && n) {
            add_type(t, spec, ROLE_MASTER, 1, shares);
            if (n > 1) add_type(t, spec, ROLE_WORKER, n - 1, shares);
        } else {
            add_type(t, spec, spec->role == ROLE_MASTER ? ROLE_MASTER : ROLE_WORKER, n, shares);
        }
    }
}

/* What the object shows that a policy holds: it is created suspended. */
static void set_held(struct conditions *c)
{
    conditions_set(c, (struct condition){.type = COND_CREATED, .note = NOTE_CREATED, .status = true});
    conditions_set(c, (struct condition){.type = COND_SUSPENDED, .note = NOTE_SUSPENDED, .status = true});
}

static void held(struct sim *s, struct job *j)
{
    struct conditions none = {0}, shown = {0};
    set_held(&shown);
    conditions_publish(s, j, &none, &shown);
}

static struct torch_job *new_object(struct sim *s, struct job *j)
{
    struct torch_job *t = torch_job_new(op_of(s, j), j);
    const struct job_detail *d = job_detail_of(s, j);
    if (d->elastic.max && (d->kind == KIND_PYTORCHJOB || s->scenario->approach.elastic == ELASTIC_TORCHRUN)) {
        t->min = d->elastic.min ? d->elastic.min : 1;
        t->max = d->elastic.max;
    }
    add_types(t);
    t->nominal = torch_wanted(t);
    t->trains = j->spec->work_ns != TIME_NEVER;
    if (s->scenario->approach.admission == ADMIT_NONE) t->suspend = d->suspend;
    else set_held(&t->status.conditions);
    j->live->state = t;
    j->live->train = t->trains ? train_create(s, j, &torch_train_hooks) : NULL;
    if (s->scenario->approach.gang == GANG_COSCHEDULING) t->gang = kube_gang_create(s->kube, j, torch_wanted(t));
    return t;
}

static void tell_size(struct torch_job *t)
{
    int64_t shares = 0;
    for (uint32_t i = 0; i < t->n_types; i++) shares += (int64_t)t->type[i].replicas * t->type[i].shares;
    job_resized(t->op->sim, t->job, shares);
}

static void start(struct sim *s, struct job *j)
{
    struct torch_job *t = j->live->state;
    if (!t) {
        t = new_object(s, j);
    } else {
        t->suspend = t->allocated = false;
        for (uint32_t i = 0; i < t->n_types; i++)
            t->type[i].groups = j->live->groups & kube_selected_groups(s, t->type[i].spec->pod);
        tell_size(t);
    }
    torch_enqueue(t);
    torch_refresh_wait(t);
}

static void stop(struct sim *s, struct job *j, enum stop_reason reason)
{
    struct torch_job *t = j->live->state;
    (void)s;
    if (reason == STOP_HORIZON) {
        ranks_close(t);
        return;
    }
    t->stopping = true;
    t->suspend = true;
    torch_enqueue(t);
}

/* ---- scripts ---- */

static struct pod *find(struct torch_job *t, const char *name)
{
    char buf[256];
    for (uint32_t i = 0; i < t->n_types; i++)
        for (uint32_t k = 0; k < t->type[i].top_pod; k++) {
            if (!t->type[i].pods[k]) continue;
            kube_pod_name(t->op->kube, t->type[i].pods[k], buf, sizeof buf);
            if (!strcmp(buf, name)) return t->type[i].pods[k];
        }
    return NULL;
}

static bool scale(struct torch_job *t, int64_t replicas)
{
    struct replica_type *r = &t->type[t->n_types - 1];
    if (replicas < 0 || replicas > UINT32_MAX / 2 || r->role == ROLE_MASTER) return false;
    r->replicas = (uint32_t)replicas;
    torch_type_reserve(r, r->replicas);
    tell_size(t);
    torch_enqueue(t);
    return true;
}

static bool set_suspend(struct torch_job *t, bool on)
{
    if (t->op->sim->scenario->approach.admission != ADMIT_NONE) return false; /* the policy must let go of it */
    t->suspend = on;
    torch_enqueue(t);
    return true;
}

static bool act_on_job(struct torch_job *t, const struct script_action *a)
{
    switch (a->action) {
    case DO_SUSPEND: return set_suspend(t, true);
    case DO_RESUME: return set_suspend(t, false);
    case DO_SCALE: return scale(t, a->value);
    case DO_HANG: ranks_hang(t); return true;
    case DO_CRASH: ranks_crash(t, 0, a->value ? (int32_t)a->value : 1); return true;
    case DO_TOUCH: torch_enqueue(t); return true;
    default: return false;
    }
}

static bool script(struct sim *s, struct job *j, const struct script_action *a, const char *pod)
{
    struct torch_job *t = j->live->state;
    if (!t) return false;
    if (!pod) return act_on_job(t, a);
    struct pod *p = find(t, pod);
    if (!p) return false;
    if (a->action == DO_TOUCH || a->action == DO_HANG) return act_on_job(t, a);
    if (a->action != DO_CRASH) return kube_pod_script(s->kube, p, a);
    ranks_crash_in(t, p, a->value ? (int32_t)a->value : 1);
    return true;
}

const struct lifecycle_ops lifecycle_training_operator_v1 = {
    .name = "training-operator-v1",
    .needs_pods = true,
    .create = create,
    .destroy = destroy,
    .held = held,
    .start = start,
    .stop = stop,
    .script = script,
};
