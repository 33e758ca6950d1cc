/* script.c - the scenario's scripted actions, on processes.
 *
 *   container-exit, crash     SIGKILL; the end counts as an exit with the action's code (1 where it names none)
 *   hang                      the process stands still (SIGUSR1)
 *   pod-deleted, -failed, -evicted, force-delete     SIGKILL; another pod takes its place, at once
 *   node-lost                 the processes on it are stopped (SIGSTOP), so that peers see nothing, as of a machine that is gone;
 *                             node-back ends them
 *   scale, suspend, resume, delete-job
 *
 * The others make no sense with processes alone, and are refused before the run.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <ctype.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "real/host/parts.h"

enum { KILLED = 128 + SIGKILL, RETRYABLE = 128 };

/* ---- targets ---- */

static struct host_job *find_job(struct host *h, const char *id)
{
    for (size_t i = 0; i < h->n_jobs; i++)
        if (!strcmp(h->jobs[i].plan.id, id)) return &h->jobs[i];
    return NULL;
}

/* JOB-ROLE-INDEX, as the operator names its pods; those that share a process are found too. */
static struct host_pod *find_pod_of(struct host_job *j, const char *role, uint64_t index)
{
    for (uint32_t i = 0; i < j->plan.n; i++)
        for (uint32_t k = j->plan.v[i].first; k < j->plan.v[i].first + j->plan.v[i].n; k++) {
            const struct pod_plan *p = &j->plan.pods[k];
            if (p->index == index && !strcasecmp(role_names[p->role], role)) return &j->pods[i];
        }
    return NULL;
}

static struct host_pod *find_pod(struct host *h, const char *name)
{
    for (size_t i = 0; i < h->n_jobs; i++) {
        size_t n = strlen(h->jobs[i].plan.id);
        if (strncmp(name, h->jobs[i].plan.id, n) != 0 || name[n] != '-') continue;
        char role[32];
        const char *dash = strchr(name + n + 1, '-');
        if (!dash || (size_t)(dash - name) - n - 1 >= sizeof role) continue;
        memcpy(role, name + n + 1, (size_t)(dash - name) - n - 1);
        role[(size_t)(dash - name) - n - 1] = '\0';
        struct host_pod *p = find_pod_of(&h->jobs[i], role, strtoull(dash + 1, NULL, 10));
        if (p) return p;
    }
    return NULL;
}

static uint32_t find_node(const struct host *h, const char *name)
{
    const struct cluster_spec *c = &h->scenario->cluster;
    const char *dash = strrchr(name, '-');
    for (uint32_t g = 0; dash && g < c->n_groups; g++)
        if (strlen(c->groups[g].name) == (size_t)(dash - name) && !strncmp(c->groups[g].name, name, (size_t)(dash - name)))
            return c->groups[g].first_node + (uint32_t)strtoul(dash + 1, NULL, 10);
    return UINT32_MAX;
}

/* ---- pods ---- */

static bool is_active(const struct host_pod *p) { return p && p->job->stage == STAGE_ACTIVE && p->process.pid; }

/* Of a process that an agent outlives, or of its container. */
static bool do_exit(struct host_pod *p, int64_t code, bool is_crash)
{
    if (!is_active(p)) return false;
    p->is_agent = is_crash && p->took_part && p->job->plan.max > 0;
    seat_kill(p, code ? (int)code : 1);
    return true;
}

/* The operator makes another one: as an exit that ends the pod, where its policy has others made. */
static bool do_replace(struct host_pod *p)
{
    if (!is_active(p)) return false;
    p->replaced = true;
    p->is_agent = false;
    seat_kill(p, KILLED);
    return true;
}

static bool do_hang(struct host_pod *p)
{
    struct host_job *j = p ? p->job : NULL;
    if (!is_active(p) || !live_steps_now(j->host->run, j->index)) return false;
    process_signal(&p->process, SIGUSR1);
    p->hung = true;
    ranks_stop(j, ACT_HUNG, WAIT_DETECTION, CAUSE_FAILURE);
    for (uint32_t i = 0; i < j->plan.n; i++) j->pods[i].hung |= j->pods[i].state == SEAT_STUCK;
    ranks_refresh(j);
    j->life->hang(j, p);
    return true;
}

static bool act_on_pod(struct host_pod *p, const struct script_action *a)
{
    switch (a->action) {
    case DO_CONTAINER_EXIT:
    case DO_CRASH: return do_exit(p, a->value, a->action == DO_CRASH);
    case DO_HANG: return do_hang(p);
    case DO_POD_DELETED:
    case DO_POD_FAILED:
    case DO_POD_EVICTED:
    case DO_FORCE_DELETE: return do_replace(p);
    default: return false;
    }
}

/* ---- jobs ---- */

static bool do_scale(struct host_job *j, int64_t replicas)
{
    bool master = j->plan.v[0].role == ROLE_MASTER;
    int64_t wanted = replicas + master;
    if (!j->life->resized || wanted < 1 || wanted > j->plan.n) return false;
    j->wanted = (uint32_t)wanted;
    if (j->stage == STAGE_ACTIVE) j->life->resized(j);
    queue_pass_soon(j->host);
    return true;
}

static bool do_suspend(struct host_job *j)
{
    if (j->stage == STAGE_PENDING || j->stage == STAGE_DEPENDS) {
        live_waits(j->host->run, j->index, WAIT_SUSPENDED);
        j->stage = STAGE_SUSPENDED;
    } else if (j->stage == STAGE_ACTIVE) {
        job_take_back(j, STOP_SUSPENDED);
    } else {
        return false;
    }
    return true;
}

static bool do_resume(struct host_job *j)
{
    bool leaves = j->stage == STAGE_STOPPING && j->stop_reason == WAIT_SUSPENDED;
    if (leaves) j->stop_reason = WAIT_ORDER;
    else if (j->stage == STAGE_SUSPENDED) queue_asks(j);
    else return false;
    return true;
}

static bool do_delete(struct host_job *j)
{
    if (j->stage == STAGE_FUTURE || j->stage >= STAGE_ENDING) return false;
    job_over(j, JOB_CANCELLED, false);
    return true;
}

/* Rank 0 is meant where a job's process is. */
static struct host_pod *first_rank(struct host_job *j)
{
    for (uint32_t i = 0; i < j->plan.n; i++)
        if (j->pods[i].process.pid) return &j->pods[i];
    return NULL;
}

static bool act_on_job(struct host_job *j, const struct script_action *a)
{
    switch (a->action) {
    case DO_SCALE: return do_scale(j, a->value);
    case DO_SUSPEND: return do_suspend(j);
    case DO_RESUME: return do_resume(j);
    case DO_DELETE_JOB: return do_delete(j);
    default: return act_on_pod(first_rank(j), a);
    }
}

/* ---- nodes ---- */

static bool stands_on(const struct host_pod *p, uint32_t node)
{
    for (size_t i = 0; i < p->holds.n; i++)
        if (p->holds.v[i].node == node) return true;
    return false;
}

static void lose(struct host_pod *p)
{
    struct host_job *j = p->job;
    bool stepped = p->state == SEAT_READY;
    p->stands = true;
    seat_note(p, POD_IS_LOST, 0);
    process_signal(&p->process, SIGSTOP);
    if (stepped) ranks_stop(j, ACT_STALLED, WAIT_DETECTION, CAUSE_FAILURE);
    if (stepped && j->life->resized) j->life->hang(j, p); /* its own watchdog stands too: it is ended with the node */
    p->is_agent = false;                                  /* so does its agent */
    if (j->life == &host_operator) loop_disarm(j->host->loop, &p->timer);
    ranks_refresh(j);
}

static bool act_on_node(struct host *h, uint32_t node, const struct script_action *a)
{
    bool back = a->action == DO_NODE_BACK;
    if (node >= h->scenario->cluster.n_nodes || h->node_up[node] == back) return false;
    h->node_up[node] = back;
    live_node(h->run, node, back ? ACT_FREE : ACT_FAILED);
    for (size_t i = 0; i < h->n_jobs; i++)
        for (uint32_t k = 0; k < h->jobs[i].plan.n; k++) {
            struct host_pod *p = &h->jobs[i].pods[k];
            if (!stands_on(p, node)) continue;
            if (back && p->stands) seat_kill(p, KILLED);
            if (!back && p->process.pid) lose(p);
        }
    for (size_t i = 0; back && i < h->n_jobs; i++)
        if (h->jobs[i].stage == STAGE_ACTIVE && h->jobs[i].life->resized) h->jobs[i].life->resized(&h->jobs[i]);
    queue_pass_soon(h);
    return true;
}

/* ---- all ---- */

static bool act(struct host *h, const struct script_action *a)
{
    const char *slash = strchr(a->target, '/'), *name = slash ? slash + 1 : a->target;
    if (str_starts_with(a->target, "node/")) return act_on_node(h, find_node(h, name), a);
    if (str_starts_with(a->target, "pod/")) return act_on_pod(find_pod(h, name), a);
    struct host_job *j = find_job(h, name);
    return j && act_on_job(j, a);
}

static void arm(struct host *h);

static void on_action(void *arg)
{
    struct host *h = arg;
    const struct script_action *a = &h->scenario->faults.script[h->next_action++];
    live_at(h->run, host_now(h));
    bool done = act(h, a);
    live_note(h->run, &(struct record){.type = REC_FAULT, .job = NO_JOB, .subject = h->next_action - 1,
                                       .code = (uint16_t)a->action, .a = a->value, .b = done});
    if (h->options->tell)
        fprintf(h->options->tell, "%10.3f s  %s %s%s\n", (double)host_now(h) / 1e9, fault_action_names[a->action], a->target,
                done ? "" : ": no effect");
    arm(h);
    host_look_for_end(h);
}

static void arm(struct host *h)
{
    if (!host_script_more(h) || h->closing) return;
    host_after(h, &h->script, h->scenario->faults.script[h->next_action].at_ns - host_now(h), on_action, h);
}

bool host_script_more(const struct host *h) { return h->next_action < h->scenario->faults.n_script; }

void host_script_begin(struct host *h) { arm(h); }

void script_check(const struct scenario *s, struct diag *d)
{
    static const char *const why_not[N_FAULT_ACTIONS] = {
        [DO_POD_SUCCEEDED] = "a process cannot be made to succeed", [DO_NODE_DRAIN] = "nobody drains a host",
        [DO_HEAD_CRASH] = "there is no Ray head among the processes", [DO_TOUCH] = "there is no controller to wake",
        [DO_SET_QUOTA] = "there are no quotas", [DO_HOLD] = "there are no queues to hold",
        [DO_SET_LINK] = "the network is the machine's own",
    };
    for (uint32_t i = 0; i < s->faults.n_script; i++) {
        const struct script_action *a = &s->faults.script[i];
        char at[64];
        snprintf(at, sizeof at, "/faults/script/%" PRIu32, a->order);
        if (why_not[a->action])
            diag_error(d, s->file, (int)a->line, at, "the host back end cannot play %s: %s", fault_action_names[a->action], why_not[a->action]);
    }
}
