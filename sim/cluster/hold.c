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

static share_ns share_time(int64_t shares, int64_t ns)
{
    share_ns a = (uint64_t)shares, b = (uint64_t)ns;
    return a * b;
}

static uint32_t groups(const struct sim *s) { return s->scenario->cluster.n_groups; }

static void identify(struct hold *h, struct sim *s, struct job *job)
{
    h->job = job;
    h->queue = job ? job->spec->queue : LEDGER_NONE;
    h->team = job ? job->spec->team : LEDGER_NONE;
    h->kind = job ? (uint16_t)job_detail_of(s, job)->kind : LEDGER_NONE;
    h->cause = job ? job->cause : CAUSE_FIRST;
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
        h->job->live->held += share_time(h->alloc.shares, now - h->since_ns);
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
    for (uint32_t g = 0; g < groups(s); g++) {
        int64_t shares = alloc_shares_of(s->pool, &h->alloc, g);
        if (shares) ledger_take(s->ledger, g, account(s, h, g), activity, shares, sim_now(s));
    }
    record_nodes(s, h);
    record_state(s, h);
}

void hold_enter(struct sim *s, struct hold *h, enum activity activity)
{
    assert(!h->lifted);
    if (h->activity == activity) return;
    settle(s, h);
    for (uint32_t g = 0; g < groups(s); g++) {
        int64_t shares = alloc_shares_of(s->pool, &h->alloc, g);
        uint32_t a = shares ? account(s, h, g) : 0;
        if (shares) ledger_move(s->ledger, a, h->activity, a, activity, shares, sim_now(s));
    }
    h->activity = (uint8_t)activity;
    record_state(s, h);
}

void hold_recause(struct sim *s, struct hold *h)
{
    struct hold old = *h;
    assert(!h->lifted);
    if (!h->job || h->cause == h->job->cause) return;
    h->cause = h->job->cause;
    for (uint32_t g = 0; g < groups(s); g++) {
        int64_t shares = alloc_shares_of(s->pool, &h->alloc, g);
        if (shares)
            ledger_move(s->ledger, account(s, &old, g), h->activity, account(s, h, g), h->activity, shares, sim_now(s));
    }
    record_state(s, h);
}

void hold_lift(struct sim *s, struct hold *h)
{
    settle(s, h);
    h->lifted = true;
    for (uint32_t g = 0; g < groups(s); g++) {
        int64_t shares = alloc_shares_of(s->pool, &h->alloc, g);
        if (shares) ledger_lift(s->ledger, account(s, h, g), h->activity, shares, sim_now(s));
    }
}

void hold_land(struct sim *s, struct hold *h, enum activity activity)
{
    assert(h->lifted);
    h->lifted = false;
    h->since_ns = sim_now(s);
    for (uint32_t g = 0; g < groups(s); g++) {
        int64_t shares = alloc_shares_of(s->pool, &h->alloc, g);
        if (shares) ledger_land(s->ledger, account(s, h, g), activity, shares, sim_now(s));
    }
    h->activity = (uint8_t)activity;
    record_state(s, h);
}

void hold_book(struct sim *s, struct hold *h, enum activity activity, bool redone, int64_t ns)
{
    if (ns == 0) return;
    for (uint32_t g = 0; g < groups(s); g++) {
        share_ns sum = share_time(alloc_shares_of(s->pool, &h->alloc, g), ns);
        if (sum) ledger_book(s->ledger, account(s, h, g), activity, redone, sum);
    }
    if (h->job && h->job->live) {
        share_ns sum = share_time(h->alloc.shares, ns);
        if (redone) h->job->live->redone += sum;
        else h->job->live->work += sum;
    }
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
    for (uint32_t g = 0; g < groups(s); g++) {
        int64_t shares = alloc_shares_of(s->pool, &h->alloc, g);
        if (shares) ledger_give(s->ledger, g, account(s, h, g), h->activity, shares, sim_now(s));
    }
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
