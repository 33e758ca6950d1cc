/* hold.c - see hold.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/cluster/hold.h"

#include <assert.h>

static uint32_t account(struct sim *s, const struct hold *h, uint32_t group)
{
    struct ledger_key key = {
        .group = (uint16_t)group, .queue = h->queue, .team = h->team, .kind = h->kind, .cause = h->cause};
    return ledger_account(s->ledger, &key);
}

/* Node group of the whole allocation, NO_INDEX when it lies in several. */
static uint16_t home_of(const struct sim *s, const struct alloc *a)
{
    uint32_t home = 0;
    if (s->scenario->cluster.n_groups == 1) return 0;
    for (uint32_t i = 0; i < a->n_parts; i++) {
        const struct alloc_part *p = &a->parts[i];
        uint32_t g = p->n_nodes ? pool_node_group(s->pool, p->first_node) : p->first_node;
        if (i && g != home) return NO_INDEX;
        if (p->n_nodes > 1 && pool_node_group(s->pool, p->first_node + p->n_nodes - 1) != g) return NO_INDEX;
        home = g;
    }
    return (uint16_t)home;
}

/* What a hold has in each node group, one after another: nearly always one. */
struct share { uint32_t group, account; int64_t shares; };

static bool next_share(struct sim *s, const struct hold *h, struct share *at)
{
    if (h->home != NO_INDEX) {
        if (at->group != UINT32_MAX) return false;
        *at = (struct share){h->home, h->account, h->alloc.shares};
        return at->shares > 0;
    }
    while (++at->group < s->scenario->cluster.n_groups) {
        at->shares = alloc_shares_of(s->pool, &h->alloc, at->group);
        if (at->shares == 0) continue;
        at->account = account(s, h, at->group);
        return true;
    }
    return false;
}

#define EACH_SHARE(s, h, x) for (struct share x = {.group = UINT32_MAX}; next_share(s, h, &x);)

static share_ns share_time(int64_t shares, int64_t ns)
{
    share_ns a = (uint64_t)shares, b = (uint64_t)ns;
    return a * b;
}

static void identify(struct hold *h, struct sim *s, struct job *job)
{
    h->job = job;
    h->queue = job ? job->spec->queue : LEDGER_NONE;
    h->team = job ? job->spec->team : LEDGER_NONE;
    h->kind = job ? (uint16_t)job_detail_of(s, job)->kind : LEDGER_NONE;
    h->cause = job ? job->cause : CAUSE_FIRST;
    h->home = home_of(s, &h->alloc);
    if (h->home != NO_INDEX) h->account = account(s, h, h->home);
}

static void record_nodes(struct sim *s, const struct hold *h)
{
    for (uint32_t i = 0; i < h->alloc.n_parts; i++) {
        const struct alloc_part *p = &h->alloc.parts[i];
        sim_record(s, REC_GROUP_NODES, h->job, h->group, p->fraction, (int64_t)p->n_nodes << 32 | p->first_node,
                   (int64_t)p->gpus);
    }
}

static void record_state(struct sim *s, const struct hold *h)
{
    sim_record(s, REC_GROUP_STATE, h->job, h->group, (unsigned)(h->activity | h->cause << 8), h->alloc.shares, 0);
}

/* The job's own sum of the time in the present activity. */
static void settle(struct sim *s, struct hold *h)
{
    int64_t now = sim_now(s);
    if (h->job && h->job->live && !h->lifted && activity_table[h->activity].class == CLASS_HELD)
        job_live_held(h->job->live, h->activity, h->cause, share_time(h->alloc.shares, now - h->since_ns));
    h->since_ns = now;
}

void holds_settle(struct sim *s)
{
    for (struct hold *h = s->holds; h; h = h->next) settle(s, h);
}

static void link_in(struct sim *s, struct hold *h)
{
    h->next = s->holds;
    if (h->next) h->next->prev = h;
    s->holds = h;
}

static void link_out(struct sim *s, struct hold *h)
{
    if (h->next) h->next->prev = h->prev;
    if (h->prev) h->prev->next = h->next;
    else s->holds = h->next;
}

bool hold_is_on(const struct hold *h, uint32_t node)
{
    for (uint32_t i = 0; i < h->alloc.n_parts; i++) {
        const struct alloc_part *p = &h->alloc.parts[i];
        if (node >= p->first_node && node < p->first_node + p->n_nodes) return true;
    }
    return false;
}

void hold_take(struct sim *s, struct hold *h, struct job *job, struct alloc *a, uint32_t group, enum activity activity)
{
    *h = (struct hold){.alloc = *a, .since_ns = sim_now(s), .group = group, .activity = (uint8_t)activity};
    *a = (struct alloc){0};
    identify(h, s, job);
    link_in(s, h);
    if (job && job->live) job->live->held_shares += h->alloc.shares;
    EACH_SHARE(s, h, x) ledger_take(s->ledger, x.group, x.account, activity, x.shares, sim_now(s));
    record_nodes(s, h);
    record_state(s, h);
}

void hold_enter(struct sim *s, struct hold *h, enum activity activity)
{
    assert(!h->lifted);
    if (h->activity == activity) return;
    settle(s, h);
    EACH_SHARE(s, h, x) ledger_move(s->ledger, x.account, h->activity, x.account, activity, x.shares, sim_now(s));
    h->activity = (uint8_t)activity;
    record_state(s, h);
}

void hold_recause(struct sim *s, struct hold *h)
{
    struct hold old = *h;
    assert(!h->lifted);
    if (!h->job || h->cause == h->job->cause) return;
    h->cause = h->job->cause;
    EACH_SHARE(s, &old, x)
        ledger_move(s->ledger, x.account, h->activity, account(s, h, x.group), h->activity, x.shares, sim_now(s));
    if (h->home != NO_INDEX) h->account = account(s, h, h->home);
    record_state(s, h);
}

void hold_lift(struct sim *s, struct hold *h)
{
    settle(s, h);
    h->lifted = true;
    EACH_SHARE(s, h, x) ledger_lift(s->ledger, x.account, h->activity, x.shares, sim_now(s));
}

void hold_land(struct sim *s, struct hold *h, enum activity activity)
{
    assert(h->lifted);
    h->lifted = false;
    h->since_ns = sim_now(s);
    EACH_SHARE(s, h, x) ledger_land(s->ledger, x.account, activity, x.shares, sim_now(s));
    h->activity = (uint8_t)activity;
    record_state(s, h);
}

void hold_book(struct sim *s, struct hold *h, enum activity activity, bool redone, int64_t ns)
{
    if (ns == 0) return;
    EACH_SHARE(s, h, x) ledger_book(s->ledger, x.account, activity, redone, share_time(x.shares, ns));
    if (h->job && h->job->live) job_live_worked(h->job->live, activity, redone, share_time(h->alloc.shares, ns));
}

/* Shares of the allocation that lie on nodes which are down go to the down states, part by part. */
static void bury(struct sim *s, const struct alloc *a)
{
    if (!s->node_state) return;
    for (uint32_t i = 0; i < a->n_parts; i++) {
        const struct alloc_part *p = &a->parts[i];
        int64_t each = p->fraction ? p->fraction : INT64_C(1000) * __builtin_popcountll(p->gpus);
        for (uint32_t k = 0; k < p->n_nodes; k++) {
            uint32_t node = p->first_node + k;
            if (!pool_node_is_up(s->pool, node) && each)
                ledger_down(s->ledger, pool_node_group(s->pool, node), s->node_state[node], each, sim_now(s));
        }
    }
}

void hold_drop(struct sim *s, struct hold *h)
{
    assert(!h->lifted);
    settle(s, h);
    if (h->job && h->job->live) h->job->live->held_shares -= h->alloc.shares;
    EACH_SHARE(s, h, x) ledger_give(s->ledger, x.group, x.account, h->activity, x.shares, sim_now(s));
    sim_record(s, REC_GROUP_FREED, h->job, h->group, 0, h->alloc.shares, 0);
    link_out(s, h);
    bury(s, &h->alloc);
    pool_release(s->pool, &h->alloc);
}

uint32_t hold_intervals(const struct alloc *a, struct node_interval *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->n_parts; i++) {
        const struct alloc_part *p = &a->parts[i];
        if (p->n_nodes == 0) continue;
        if (n && p->first_node <= out[n - 1].last + 1) {
            uint32_t last = p->first_node + p->n_nodes - 1;
            if (last > out[n - 1].last) out[n - 1].last = last;
        } else {
            out[n++] = (struct node_interval){p->first_node, p->first_node + p->n_nodes - 1};
        }
    }
    return n;
}
