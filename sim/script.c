/* script.c - see script.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/script.h"

#include <stdlib.h>
#include <string.h>

#include "base/hmap.h"
#include "base/mem.h"
#include "sim/cluster/calendar.h"
#include "sim/cluster/network.h"
#include "sim/kube/kube.h"
#include "sim/queue/policy.h"

struct script {
    struct hmap jobs; /* id -> index */
    uint32_t next, n;
};

static struct job *find_job(struct sim *s, struct script *p, const char *id, size_t n)
{
    uint64_t index;
    if (!hmap_get_strn(&p->jobs, id, n, &index)) return NULL;
    return s->by_index[index];
}

static struct job *find_job_of_pod(struct sim *s, struct script *p, const char *pod)
{
    for (size_t n = strlen(pod); n > 0; n--)
        if (pod[n] == '-') {
            struct job *j = find_job(s, p, pod, n);
            if (j) return j;
        }
    return NULL;
}

/* "GROUP-3" -> node number, UINT32_MAX when there is none. */
static uint32_t find_node(const struct sim *s, const char *name)
{
    const struct cluster_spec *c = &s->scenario->cluster;
    const char *dash = strrchr(name, '-');
    if (!dash) return UINT32_MAX;
    unsigned long i = strtoul(dash + 1, NULL, 10);
    for (uint32_t g = 0; g < c->n_groups; g++)
        if (strlen(c->groups[g].name) == (size_t)(dash - name) && !strncmp(c->groups[g].name, name, (size_t)(dash - name)) &&
            i < c->groups[g].count)
            return c->groups[g].first_node + (uint32_t)i;
    return UINT32_MAX;
}

static bool act_on_node(struct sim *s, const struct script_action *a)
{
    uint32_t node = find_node(s, a->target + strlen("node/"));
    if (node == UINT32_MAX) return false;
    if (a->action == DO_SET_LINK) {
        network_link_scale(s, NET_NODE, node, NET_UP, (uint32_t)a->value);
        network_link_scale(s, NET_NODE, node, NET_DOWN, (uint32_t)a->value);
        return true;
    }
    if (a->action != DO_NODE_LOST && a->action != DO_NODE_BACK && a->action != DO_NODE_DRAIN) return false;
    if (a->action == DO_NODE_DRAIN && pool_node_is_up(s->pool, node)) s->node_state[node] = ACT_DRAINED;
    calendar_force(s, node, a->action == DO_NODE_BACK);
    return true;
}

/* Suspend and resume of a job whose life cycle leaves them to us. */
static bool act_on_job(struct sim *s, struct job *j, const struct script_action *a)
{
    switch (a->action) {
    case DO_SUSPEND:
        if (j->state == JOB_PENDING) {
            job_put_aside(s, j);
        } else if (j->state == JOB_ADMITTED || j->state == JOB_RUNNING) {
            job_preempt(s, j, STOP_SUSPENDED, NULL);
        }
        return true;
    case DO_RESUME:
        if (j->state == JOB_SUSPENDED)
            job_ask_again(s, j);
        else if ((j->flags & JOB_STOPPING) && j->wait == WAIT_SUSPENDED)
            job_wait(s, j, WAIT_PREEMPTED); /* its pods still leave; then it asks again */
        else
            return false;
        return true;
    default: return false;
    }
}

/* Pods of no job are a shared Ray cluster's. */
static bool act_on_pod(struct sim *s, const char *pod, const struct script_action *a)
{
    struct pod *p = s->kube ? kube_find_pod(s->kube, pod) : NULL;
    return p && !p->spec.job && kube_pod_script(s->kube, p, a);
}

static bool act(struct sim *s, struct script *p, const struct script_action *a)
{
    const char *pod = NULL;
    struct job *j = NULL;
    if (!strncmp(a->target, "node/", 5)) return act_on_node(s, a);
    if (!strncmp(a->target, "queue/", 6)) return policy_script(s, a);
    if (!strncmp(a->target, "pod/", 4)) j = find_job_of_pod(s, p, pod = a->target + 4);
    else if (!strncmp(a->target, "job/", 4)) j = find_job(s, p, a->target + 4, strlen(a->target + 4));
    if (!j) return pod && act_on_pod(s, pod, a);
    if (j->live && j->live->life && j->live->life->script && j->live->life->script(s, j, a, pod)) return true;
    return !pod && act_on_job(s, j, a);
}

static void on_action(void *ctx, void *arg)
{
    struct sim *s = ctx;
    struct script *p = arg;
    const struct script_action *a = &s->scenario->faults.script[p->next++];
    if (p->next < p->n) event_at(s->events, s->scenario->faults.script[p->next].at_ns, EVENT_FAULT, on_action, p);
    bool done = act(s, p, a);
    sim_record(s, REC_FAULT, NULL, p->next - 1, a->action, a->value, done);
}

struct script *script_create(struct sim *s)
{
    char buf[24];
    struct script *p = xcalloc(1, sizeof *p);
    p->n = s->scenario->faults.n_script;
    if (p->n == 0) return p;
    for (size_t i = 0; i < s->n_specs; i++) hmap_put_str(&p->jobs, job_id(s->scenario, &s->specs[i], buf), i);
    event_at(s->events, s->scenario->faults.script[0].at_ns, EVENT_FAULT, on_action, p);
    return p;
}

void script_destroy(struct script *p)
{
    if (!p) return;
    hmap_free(&p->jobs);
    free(p);
}

bool script_more(const struct script *p) { return p->next < p->n; }
