/* ledger.c - the GPU ledger: clocked cells, lifted shares, and an independent integral to check them against.
 *
 * A cell is (shares now, since when, share-ns so far). Every call settles the cells that it touches and changes their
 * counts; nothing is ever scanned before ledger_settle. The existing and the lifted shares of a group have clocks of
 * their own, which no cell feeds: they are what the cells must add up to.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "run/ledger.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hmap.h"
#include "base/mem.h"

/* A count of shares and its integral over time. */
struct clocked {
    share_ns sum;
    int64_t shares, since_ns;
};

struct cell {
    struct clocked clock; /* what the ledger clocked and jobs booked */
    share_ns redone;      /* booked with the flag `redone` */
};
_Static_assert(sizeof(struct cell) == 48, "the memory that the header promises");

struct account {
    struct cell cells[N_ACTIVITIES];
    struct ledger_key key;
    int64_t lifted;
};

struct group {
    struct clocked existing, lifted;
    share_ns booked;
    int64_t idle, blocked_demand, fragmented_demand;
    uint32_t account;
};

enum { WHY_BYTES = 240 };

struct ledger {
    struct group *groups;
    ARRAY(struct account) accounts;
    struct hmap index[N_CAUSES]; /* key_bits -> account */
    char *why;
    int64_t now_ns;
    unsigned n_groups;
};

/* ---- clocks ---- */

static inline void settle(struct clocked *c, int64_t now_ns)
{
    c->sum += (share_ns)c->shares * (share_ns)(now_ns - c->since_ns);
    c->since_ns = now_ns;
}

static inline void change(struct clocked *c, int64_t by, int64_t now_ns)
{
    settle(c, now_ns);
    c->shares += by;
    assert(c->shares >= 0 && "a cell holds fewer shares than are taken from it");
}

static inline void advance(struct ledger *l, int64_t now_ns)
{
    assert(now_ns >= l->now_ns && "the time of a ledger never goes back");
    l->now_ns = now_ns;
}

/* ---- accounts ---- */

/* All columns but the cause, which has a map of its own. */
static uint64_t key_bits(const struct ledger_key *k)
{
    return (uint64_t)k->group | (uint64_t)k->queue << 16 | (uint64_t)k->team << 32 | (uint64_t)k->kind << 48;
}

uint32_t ledger_account(struct ledger *l, const struct ledger_key *key)
{
    uint64_t found;
    assert(key->group < l->n_groups && key->cause < N_CAUSES);
    if (hmap_get_u64(&l->index[key->cause], key_bits(key), &found)) return (uint32_t)found;
    struct account *a = array_add(&l->accounts);
    a->key = *key;
    hmap_put_u64(&l->index[key->cause], key_bits(key), l->accounts.n - 1);
    return (uint32_t)(l->accounts.n - 1);
}

const struct ledger_key *ledger_account_key(const struct ledger *l, uint32_t account)
{
    assert(account < l->accounts.n);
    return &l->accounts.v[account].key;
}

uint32_t ledger_accounts(const struct ledger *l)
{
    return (uint32_t)l->accounts.n;
}

uint32_t ledger_group_account(const struct ledger *l, unsigned group)
{
    assert(group < l->n_groups);
    return l->groups[group].account;
}

struct ledger *ledger_create(unsigned n_groups)
{
    assert(n_groups <= LEDGER_NONE);
    struct ledger *l = xcalloc(1, sizeof *l);
    l->n_groups = n_groups;
    l->groups = xcalloc(n_groups + 1, sizeof *l->groups);
    l->why = xcalloc(1, WHY_BYTES);
    for (unsigned g = 0; g < n_groups; g++)
        l->groups[g].account =
            ledger_account(l, &(struct ledger_key){(uint16_t)g, LEDGER_NONE, LEDGER_NONE, LEDGER_NONE, CAUSE_FIRST});
    return l;
}

void ledger_destroy(struct ledger *l)
{
    if (!l) return;
    free(l->groups);
    array_free(&l->accounts);
    for (int c = 0; c < N_CAUSES; c++) hmap_free(&l->index[c]);
    free(l->why);
    free(l);
}

/* ---- idle shares ---- */

static inline struct clocked *clock_of(struct ledger *l, uint32_t account, enum activity activity)
{
    assert(account < l->accounts.n && (unsigned)activity < N_ACTIVITIES);
    return &l->accounts.v[account].cells[activity].clock;
}

static inline struct group *group_of(struct ledger *l, unsigned group)
{
    assert(group < l->n_groups);
    return &l->groups[group];
}

static inline int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline void set_count(struct clocked *c, int64_t shares, int64_t now_ns)
{
    if (c->shares != shares) change(c, shares - c->shares, now_ns);
}

/* Splits the idle shares anew by counts: blocked first, then fragmented, the rest is free. */
static void idle_change(struct ledger *l, struct group *g, int64_t by, int64_t now_ns)
{
    struct cell *cells = l->accounts.v[g->account].cells;
    g->idle += by;
    assert(g->idle >= 0 && "more shares are taken from a group than are idle");
    int64_t blocked = lesser(g->idle, g->blocked_demand);
    int64_t fragmented = lesser(g->idle - blocked, g->fragmented_demand);
    set_count(&cells[ACT_BLOCKED].clock, blocked, now_ns);
    set_count(&cells[ACT_FRAGMENTED].clock, fragmented, now_ns);
    set_count(&cells[ACT_FREE].clock, g->idle - blocked - fragmented, now_ns);
}

void ledger_exist(struct ledger *l, unsigned group, int64_t shares, int64_t now_ns)
{
    struct group *g = group_of(l, group);
    advance(l, now_ns);
    change(&g->existing, shares, now_ns);
    idle_change(l, g, shares, now_ns);
}

void ledger_demand(struct ledger *l, unsigned group, int64_t blocked_shares, int64_t fragmented_shares, int64_t now_ns)
{
    struct group *g = group_of(l, group);
    assert(blocked_shares >= 0 && fragmented_shares >= 0);
    advance(l, now_ns);
    g->blocked_demand = blocked_shares;
    g->fragmented_demand = fragmented_shares;
    idle_change(l, g, 0, now_ns);
}

static bool is_down(enum activity a)
{
    return activity_table[a].class == CLASS_DOWN || activity_table[a].class == CLASS_ABSENT;
}

static bool is_held(enum activity a)
{
    return activity_table[a].class == CLASS_HELD || activity_table[a].class == CLASS_WORK;
}

void ledger_down(struct ledger *l, unsigned group, enum activity activity, int64_t shares, int64_t now_ns)
{
    struct group *g = group_of(l, group);
    assert(shares >= 0 && is_down(activity));
    advance(l, now_ns);
    idle_change(l, g, -shares, now_ns);
    change(clock_of(l, g->account, activity), shares, now_ns);
}

void ledger_up(struct ledger *l, unsigned group, enum activity activity, int64_t shares, int64_t now_ns)
{
    struct group *g = group_of(l, group);
    assert(shares >= 0 && is_down(activity));
    advance(l, now_ns);
    change(clock_of(l, g->account, activity), -shares, now_ns);
    idle_change(l, g, shares, now_ns);
}

/* ---- held shares ---- */

void ledger_take(struct ledger *l, unsigned group, uint32_t account, enum activity activity, int64_t shares,
                 int64_t now_ns)
{
    assert(shares >= 0 && is_held(activity) && ledger_account_key(l, account)->group == group);
    advance(l, now_ns);
    idle_change(l, group_of(l, group), -shares, now_ns);
    change(clock_of(l, account, activity), shares, now_ns);
}

void ledger_give(struct ledger *l, unsigned group, uint32_t account, enum activity activity, int64_t shares,
                 int64_t now_ns)
{
    assert(shares >= 0 && is_held(activity) && ledger_account_key(l, account)->group == group);
    advance(l, now_ns);
    change(clock_of(l, account, activity), -shares, now_ns);
    idle_change(l, group_of(l, group), shares, now_ns);
}

void ledger_move(struct ledger *l, uint32_t from_account, enum activity from, uint32_t to_account, enum activity to,
                 int64_t shares, int64_t now_ns)
{
    assert(shares >= 0 && is_held(from) && is_held(to));
    assert(ledger_account_key(l, from_account)->group == ledger_account_key(l, to_account)->group);
    advance(l, now_ns);
    change(clock_of(l, from_account, from), -shares, now_ns);
    change(clock_of(l, to_account, to), shares, now_ns);
}

static void lifted_change(struct ledger *l, uint32_t account, int64_t by, int64_t now_ns)
{
    struct account *a = &l->accounts.v[account];
    a->lifted += by;
    assert(a->lifted >= 0 && "more shares land than were lifted");
    change(&l->groups[a->key.group].lifted, by, now_ns);
}

void ledger_lift(struct ledger *l, uint32_t account, enum activity from, int64_t shares, int64_t now_ns)
{
    assert(shares >= 0 && is_held(from));
    advance(l, now_ns);
    change(clock_of(l, account, from), -shares, now_ns);
    lifted_change(l, account, shares, now_ns);
}

void ledger_land(struct ledger *l, uint32_t account, enum activity to, int64_t shares, int64_t now_ns)
{
    assert(shares >= 0 && is_held(to));
    advance(l, now_ns);
    change(clock_of(l, account, to), shares, now_ns);
    lifted_change(l, account, -shares, now_ns);
}

void ledger_book(struct ledger *l, uint32_t account, enum activity activity, bool redone, share_ns amount)
{
    assert(account < l->accounts.n && is_held(activity));
    struct account *a = &l->accounts.v[account];
    struct cell *c = &a->cells[activity];
    if (redone)
        c->redone += amount;
    else
        c->clock.sum += amount;
    l->groups[a->key.group].booked += amount;
}

/* ---- reading ---- */

share_ns ledger_sum(const struct ledger *l, uint32_t account, enum activity activity, bool redone)
{
    assert(account < l->accounts.n && (unsigned)activity < N_ACTIVITIES);
    const struct cell *c = &l->accounts.v[account].cells[activity];
    return redone ? c->redone : c->clock.sum;
}

share_ns ledger_existing(const struct ledger *l, unsigned group)
{
    assert(group < l->n_groups);
    return l->groups[group].existing.sum;
}

void ledger_settle(struct ledger *l, int64_t now_ns)
{
    advance(l, now_ns);
    for (uint32_t a = 0; a < l->accounts.n; a++)
        for (int i = 0; i < N_ACTIVITIES; i++) settle(&l->accounts.v[a].cells[i].clock, now_ns);
    for (unsigned g = 0; g < l->n_groups; g++) {
        settle(&l->groups[g].existing, now_ns);
        settle(&l->groups[g].lifted, now_ns);
    }
}

void ledger_close(struct ledger *l, int64_t end_ns)
{
    for (uint32_t a = 0; a < l->accounts.n; a++)
        assert(l->accounts.v[a].lifted == 0 && "shares are still lifted at the end of the run");
    ledger_settle(l, end_ns);
}

/* ---- the check ---- */

struct totals {
    share_ns sum;
    int64_t shares;
};

/* All cells of a group added up, from nothing but the cells. */
static void add_up(const struct ledger *l, struct totals *totals)
{
    for (uint32_t a = 0; a < l->accounts.n; a++) {
        const struct account *account = &l->accounts.v[a];
        struct totals *t = &totals[account->key.group];
        t->shares += account->lifted;
        for (int i = 0; i < N_ACTIVITIES; i++) {
            t->sum += account->cells[i].clock.sum + account->cells[i].redone;
            t->shares += account->cells[i].clock.shares;
        }
    }
}

static const char *decimal(share_ns value, char text[40])
{
    char *p = text + 39;
    *p = 0;
    do *--p = (char)('0' + (int)(value % 10));
    while (value /= 10);
    return p;
}

static bool differ(const struct ledger *l, unsigned group, const char *what, share_ns is, share_ns must_be)
{
    char a[40], b[40], c[40];
    share_ns off = is > must_be ? is - must_be : must_be - is;
    if (off == 0) return false;
    snprintf(l->why, WHY_BYTES, "node group %u: %s %s, must be %s: %s too %s", group, what, decimal(is, a),
             decimal(must_be, b), decimal(off, c), is > must_be ? "much" : "little");
    return true;
}

bool ledger_check(const struct ledger *l, const char **why)
{
    struct totals *totals = xcalloc(l->n_groups + 1, sizeof *totals);
    bool wrong = false;
    add_up(l, totals);
    for (unsigned i = 0; i < l->n_groups && !wrong; i++) {
        const struct group *g = &l->groups[i];
        wrong = differ(l, i, "shares in all cells", (share_ns)totals[i].shares, (share_ns)g->existing.shares) ||
                differ(l, i, "share-ns booked by jobs", g->booked, g->lifted.sum) ||
                differ(l, i, "share-ns of all cells", totals[i].sum, g->existing.sum);
    }
    free(totals);
    if (why) *why = wrong ? l->why : "";
    return !wrong;
}
