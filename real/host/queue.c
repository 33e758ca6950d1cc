/* queue.c - who may begin: submission, admission of whole jobs by count of GPUs, their places.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "real/host/parts.h"

static void pass(void *arg);

void queue_pass_soon(struct host *h)
{
    if (!h->closing && !h->pass.place) host_after(h, &h->pass, 0, pass, h);
}

/* ---- places ---- */

static bool may_serve(const struct host *h, const struct host_job *j, uint32_t node)
{
    return h->node_up[node] && (j->detail->groups >> h->node_group[node] & 1);
}

/* The node for a pod of so many shares; UINT32_MAX: none has room. */
static uint32_t find_node(const struct host *h, const struct host_job *j, const int64_t *free, int64_t shares)
{
    enum placement_name how = h->scenario->approach.placement;
    uint32_t best = UINT32_MAX;
    for (uint32_t n = 0; n < h->scenario->cluster.n_nodes; n++) {
        if (!may_serve(h, j, n) || free[n] < shares) continue;
        bool better = best == UINT32_MAX || (how == PLACE_SPREAD && free[n] > free[best]) ||
                      (how == PLACE_PACK && free[n] < free[best]);
        if (better) best = n;
    }
    return best;
}

/* Of process `i`; `nodes` gets one a pod that it stands for. */
static bool find_places(const struct host *h, const struct host_job *j, uint32_t i, int64_t *free, uint32_t *nodes)
{
    const struct process_plan *v = &j->plan.v[i];
    for (uint32_t k = 0; k < v->n; k++) {
        int64_t shares = j->plan.pods[v->first + k].shares;
        nodes[k] = find_node(h, j, free, shares);
        if (nodes[k] == UINT32_MAX) return false;
        free[nodes[k]] -= shares;
    }
    return true;
}

static void take(struct host *h, struct host_pod *p, const uint32_t *nodes)
{
    const struct process_plan *v = &p->job->plan.v[p->number];
    for (uint32_t k = 0; k < v->n; k++) {
        int64_t shares = p->job->plan.pods[v->first + k].shares;
        uint32_t group = shares ? live_take(h->run, p->job->index, nodes[k], shares, ACT_CONTAINER_START) : LIVE_NONE;
        if (group != LIVE_NONE && live_steps_now(h->run, p->job->index))
            live_takes_part(h->run, p->job->index, group, false, ACT_CONTAINER_START);
        array_push(&p->holds, (struct holding){nodes[k], group, shares});
        h->free_shares[nodes[k]] -= shares;
    }
    seat_note(p, POD_IS_PENDING, 0);
    if (!p->job->life->pods_start) seat_note(p, POD_IS_READY, 0);
}

void queue_free(struct host_pod *p)
{
    struct host *h = p->job->host;
    seat_note(p, POD_IS_DELETED, 0);
    for (size_t i = 0; i < p->holds.n; i++) {
        const struct holding *o = &p->holds.v[i];
        if (o->group != LIVE_NONE) live_free(h->run, p->job->index, o->group);
        h->free_shares[o->node] += o->shares;
    }
    if (p->holds.n) queue_pass_soon(h);
    p->holds.n = 0;
}

/* All of the first `wanted` that hold nothing yet, or none of them. */
static bool place(struct host_job *j, const int64_t *free_now, bool commit)
{
    struct host *h = j->host;
    size_t n_nodes = h->scenario->cluster.n_nodes;
    int64_t *free_then = xcalloc(n_nodes + 1, sizeof *free_then);
    uint32_t *nodes = xcalloc(j->plan.v[j->plan.n - 1].first + j->plan.v[j->plan.n - 1].n, sizeof *nodes);
    bool fits = true;
    memcpy(free_then, free_now, n_nodes * sizeof *free_then);
    for (uint32_t i = 0; i < j->wanted && fits; i++)
        if (!j->pods[i].holds.n) fits = find_places(h, j, i, free_then, nodes + j->plan.v[i].first);
    for (uint32_t i = 0; i < j->wanted && fits && commit; i++)
        if (!j->pods[i].holds.n) take(h, &j->pods[i], nodes + j->plan.v[i].first);
    free(nodes);
    free(free_then);
    return fits;
}

static bool could_ever(struct host_job *j)
{
    const struct cluster_spec *c = &j->host->scenario->cluster;
    int64_t *all = xcalloc(c->n_nodes + 1, sizeof *all);
    for (uint32_t n = 0; n < c->n_nodes; n++) all[n] = (int64_t)c->groups[j->host->node_group[n]].gpus * SHARES_PER_GPU;
    bool fits = place(j, all, false);
    free(all);
    return fits;
}

/* ---- admission ---- */

/* Processes that the job is counted with: as it was submitted, or as it has been scaled; an elastic Ray cluster, which begins
 * with the fewest, as it was submitted until it is larger. */
static uint32_t counted(const struct host_job *j)
{
    bool grows_later = j->plan.max && j->plan.life == LIFE_RAY_TRAIN_V2;
    return grows_later && j->wanted < j->plan.nominal ? j->plan.nominal : j->wanted;
}

static int64_t shares_of(const struct host_job *j, uint32_t i)
{
    int64_t sum = 0;
    for (uint32_t k = 0; k < j->plan.v[i].n; k++) sum += j->plan.pods[j->plan.v[i].first + k].shares;
    return sum;
}

/* What active jobs are counted with and do not hold yet is not free. */
static bool fits_by_count(const struct host_job *j)
{
    const struct host *h = j->host;
    int64_t there = 0;
    for (uint32_t n = 0; n < h->scenario->cluster.n_nodes; n++) there += h->node_up[n] ? h->free_shares[n] : 0;
    for (size_t i = 0; i < h->n_jobs; i++)
        for (uint32_t k = 0; h->jobs[i].stage == STAGE_ACTIVE && k < counted(&h->jobs[i]); k++)
            if (!h->jobs[i].pods[k].holds.n && h->jobs[i].pods[k].state != SEAT_ENDED) there -= shares_of(&h->jobs[i], k);
    for (uint32_t k = 0; k < counted(j); k++) there -= shares_of(j, k);
    return there >= 0;
}

static enum wait_reason why_not(struct host_job *j)
{
    const struct host *h = j->host;
    int64_t there = 0;
    for (uint32_t n = 0; n < h->scenario->cluster.n_nodes; n++) there += may_serve(h, j, n) ? h->free_shares[n] : 0;
    if (!could_ever(j)) return WAIT_UNSATISFIABLE;
    return fits_by_count(j) && there >= job_shares(h->scenario, j->spec) ? WAIT_FRAGMENTATION : WAIT_CAPACITY;
}

static void admit(struct host_job *j)
{
    struct host *h = j->host;
    live_admitted(h->run, j->index);
    place(j, h->free_shares, true);
    live_allocated(h->run, j->index);
    j->stage = STAGE_ACTIVE;
    j->admitted_ns = host_now(h);
    host_tell(h, j, "is admitted");
    j->life->begin(j);
}

uint32_t queue_grow(struct host_job *j, uint32_t n)
{
    struct host *h = j->host;
    uint32_t more = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct process_plan *v = &j->plan.v[i];
        if (j->pods[i].holds.n || j->pods[i].state == SEAT_ENDED) continue;
        uint32_t *nodes = xcalloc(v->n, sizeof *nodes);
        int64_t *free_then = xcalloc(h->scenario->cluster.n_nodes + 1, sizeof *free_then);
        memcpy(free_then, h->free_shares, h->scenario->cluster.n_nodes * sizeof *free_then);
        if (find_places(h, j, i, free_then, nodes)) take(h, &j->pods[i], nodes), more++;
        free(free_then);
        free(nodes);
    }
    return more;
}

static void pass(void *arg)
{
    struct host *h = arg;
    bool strict = h->scenario->approach.admission == ADMIT_FIFO, blocked = false;
    if (h->closing) return;
    live_at(h->run, host_now(h));
    for (size_t i = 0; i < h->n_jobs; i++)
        if (h->jobs[i].stage == STAGE_ACTIVE && h->jobs[i].life->resized && queue_grow(&h->jobs[i], h->jobs[i].wanted))
            h->jobs[i].life->resized(&h->jobs[i]);
    for (size_t i = 0; i < h->n_jobs; i++) {
        struct host_job *j = &h->jobs[i];
        if (j->stage != STAGE_PENDING) continue;
        if (blocked && strict) {
            live_waits(h->run, j->index, WAIT_ORDER);
        } else if (fits_by_count(j) && place(j, h->free_shares, false)) {
            admit(j);
        } else {
            live_waits(h->run, j->index, why_not(j));
            blocked = true;
        }
    }
    host_look_for_end(h);
}

/* ---- submission ---- */

static bool waits_for_others(const struct host_job *j)
{
    for (uint32_t i = 0; i < j->detail->n_after; i++)
        if (j->host->jobs[j->detail->after[i]].stage < STAGE_ENDING) return true;
    return false;
}

/* What it comes after must have succeeded; one that has ended otherwise never will. */
static bool is_in_vain(const struct host_job *j)
{
    for (uint32_t i = 0; i < j->detail->n_after; i++) {
        const struct host_job *of = &j->host->jobs[j->detail->after[i]];
        if (of->stage >= STAGE_ENDING && live_state(j->host->run, of->index) != JOB_SUCCEEDED) return true;
    }
    return false;
}

void queue_asks(struct host_job *j)
{
    if (is_in_vain(j)) {
        job_over(j, JOB_CANCELLED, false);
    } else if (waits_for_others(j)) {
        j->stage = STAGE_DEPENDS;
        live_waits(j->host->run, j->index, WAIT_DEPENDENCY);
    } else {
        j->stage = STAGE_PENDING;
        queue_pass_soon(j->host);
    }
}

static void submit(struct host_job *j)
{
    live_submitted(j->host->run, j->index);
    host_tell(j->host, j, "is submitted");
    queue_asks(j);
}

void queue_job_ended(struct host *h)
{
    for (size_t i = 0; i < h->n_jobs; i++)
        if (h->jobs[i].stage == STAGE_DEPENDS) queue_asks(&h->jobs[i]);
}

static void arm_submit(struct host *h);

static void on_submit(void *arg)
{
    struct host *h = arg;
    int64_t now = host_now(h);
    live_at(h->run, now);
    while (h->next_submit < h->n_jobs && h->jobs[h->next_submit].spec->submit_ns <= now) submit(&h->jobs[h->next_submit++]);
    arm_submit(h);
}

static void arm_submit(struct host *h)
{
    if (h->next_submit < h->n_jobs)
        host_after(h, &h->submit, h->jobs[h->next_submit].spec->submit_ns - host_now(h), on_submit, h);
}

void queue_begin(struct host *h)
{
    arm_submit(h);
    queue_pass_soon(h);
}
