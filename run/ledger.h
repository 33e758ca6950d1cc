/* ledger.h - where every share-nanosecond of the GPUs goes.
 *
 * 1 GPU = 1,000 shares. At each instant each existing share is in exactly one cell; a cell is (account, activity,
 * redone). An account is one combination of the other columns: cause, queue, team, node group, job kind. Idle and
 * down shares lie in the accounts of their node group with no job columns.
 *
 *     struct ledger *l = ledger_create(n_groups);
 *     uint32_t a = ledger_account(l, &(struct ledger_key){.group = 0, .queue = q, .team = t, .kind = k, .cause = c});
 *     ledger_exist(l, group, +8000, 0);                       // a node appears, free
 *     ledger_take(l, group, a, ACT_IMAGE_PULL, 8000, now);    // free -> held by an account
 *     ledger_move(l, a, ACT_IMAGE_PULL, a, ACT_CONTAINER_START, 8000, now);
 *     ledger_lift(l, a, ACT_CONTAINER_START, 8000, now);      // from now on the job keeps its own clock ...
 *     ledger_book(l, a, ACT_COMPUTE, false, share_ns);        // ... books parts, in sum exactly shares * (t1 - t0)
 *     ledger_land(l, a, ACT_TERMINATING, 8000, now);          // ... and gives the shares back to a clocked cell
 *     ledger_give(l, group, a, ACT_TERMINATING, 8000, now);   // held -> free
 *     ledger_close(l, end);                                   // settles all clocks
 *     ledger_check(l, &why);                                  // sum of cells == integral of existing shares, exactly
 *
 * Invariants: no cell's count of shares is negative; clocked + lifted + idle + down shares of a group equal its
 * existing shares; time never goes back. Each is an assert, and the sums are checked against independent integrals of
 * the existing and of the lifted shares.
 * Idle shares of a group are split by counts: blocked = min(free, demand kept off by order, quota or policy),
 * fragmented = min(rest, demand that may start but does not fit), free = what remains (design, section 5).
 * Units: share-ns in unsigned __int128 (100,000 GPUs overflow 64 bits in a day). Cost: every call O(1).
 * Memory: N_ACTIVITIES * 48 bytes an account; accounts are few (queues x teams x kinds x causes that occur).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_RUN_LEDGER_H
#define TRAINYARD_RUN_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "run/states.h"

typedef unsigned __int128 share_ns;

struct ledger;

/* The columns of an account. LEDGER_NONE in queue, team and kind: not a job's. */
enum { LEDGER_NONE = 0xffff };
struct ledger_key {
    uint16_t group; /* node group */
    uint16_t queue, team, kind;
    uint16_t cause; /* enum cause */
};

struct ledger *ledger_create(unsigned n_groups);
void ledger_destroy(struct ledger *);

/* The account of a key; made at its first use. O(1). */
uint32_t ledger_account(struct ledger *, const struct ledger_key *);
const struct ledger_key *ledger_account_key(const struct ledger *, uint32_t account);
uint32_t ledger_accounts(const struct ledger *);

/* Shares of a group that begin (+) or cease (-) to exist; they come from and go to idle. Absent and unobserved shares
 * exist here (they fill cells of class absent); what is left out of a denominator is the metrics' business. */
void ledger_exist(struct ledger *, unsigned group, int64_t shares, int64_t now_ns);

/* Idle <-> down (ACT_FAILED, ACT_REPAIR, ACT_DRAINED) and idle <-> absent (ACT_ABSENT, ACT_UNOBSERVED). Shares that a
 * job holds are given first. */
void ledger_down(struct ledger *, unsigned group, enum activity, int64_t shares, int64_t now_ns);
void ledger_up(struct ledger *, unsigned group, enum activity, int64_t shares, int64_t now_ns);

/* Pending demand of a group, in shares: kept off by order, quota or policy; allowed but not fitting. */
void ledger_demand(struct ledger *, unsigned group, int64_t blocked_shares, int64_t fragmented_shares, int64_t now_ns);

void ledger_take(struct ledger *, unsigned group, uint32_t account, enum activity, int64_t shares, int64_t now_ns);
void ledger_give(struct ledger *, unsigned group, uint32_t account, enum activity, int64_t shares, int64_t now_ns);
void ledger_move(struct ledger *, uint32_t from_account, enum activity from, uint32_t to_account, enum activity to,
                 int64_t shares, int64_t now_ns);

/* Lifted shares keep no clock here; their job books what they did. Clocked and lifted activities are held or work. */
void ledger_lift(struct ledger *, uint32_t account, enum activity from, int64_t shares, int64_t now_ns);
void ledger_land(struct ledger *, uint32_t account, enum activity to, int64_t shares, int64_t now_ns);
void ledger_book(struct ledger *, uint32_t account, enum activity, bool redone, share_ns);

/* Settle every clock up to end_ns; sums are final after it. Lifted shares must have landed. */
void ledger_close(struct ledger *, int64_t end_ns);
/* Settle every clock up to now without ending (for curves and deadlock reports). */
void ledger_settle(struct ledger *, int64_t now_ns);
share_ns ledger_sum(const struct ledger *, uint32_t account, enum activity, bool redone);
/* Idle cells lie in the account that this returns. */
uint32_t ledger_group_account(const struct ledger *, unsigned group);

/* True when the sum of all cells of every group equals the integral of its existing shares, the bookings equal the
 * integral of its lifted shares, and the counts add up; else *why (a buffer of the ledger) says which group and by how
 * much. Exact after ledger_settle or ledger_close, when every lifted job has booked up to that moment. O(accounts). */
bool ledger_check(const struct ledger *, const char **why);
share_ns ledger_existing(const struct ledger *, unsigned group);

#endif
