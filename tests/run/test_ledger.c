/* test_ledger.c - the GPU ledger against a model that knows each share by name.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/ledger.h"

/* splitmix64 (Steele, Lea, Flood 2014): enough for a test, equal everywhere. */
static uint64_t next_random(uint64_t *s)
{
    uint64_t z = (*s += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int64_t below(uint64_t *s, int64_t n)
{
    return (int64_t)(next_random(s) % (uint64_t)n);
}

/* ---- the naive model: each share has a place; each ns-span is added share by share ---- */

enum { SHARES = 60, GROUPS = 2, ACCOUNTS = 6, GONE = -1, IDLE = -2, LIFTED = -3 };

struct naive {
    int group[SHARES], account[SHARES], activity[SHARES]; /* activity may be GONE, IDLE or LIFTED */
    int64_t blocked[GROUPS], fragmented[GROUPS];
    share_ns sum[GROUPS + ACCOUNTS][N_ACTIVITIES], existing[GROUPS], lifted[GROUPS + ACCOUNTS];
    int64_t now;
};

static void naive_idle(struct naive *m, int g, share_ns dt)
{
    int64_t rank = 0;
    for (int i = 0; i < SHARES; i++) {
        if (m->group[i] != g || m->activity[i] != IDLE) continue;
        enum activity a = rank < m->blocked[g]                      ? ACT_BLOCKED
                          : rank < m->blocked[g] + m->fragmented[g] ? ACT_FRAGMENTED
                                                                    : ACT_FREE;
        m->sum[g][a] += dt;
        rank++;
    }
}

static void naive_pass(struct naive *m, int64_t dt_ns)
{
    share_ns dt = (share_ns)dt_ns;
    for (int i = 0; i < SHARES; i++) {
        if (m->activity[i] != GONE) m->existing[m->group[i]] += dt;
        if (m->activity[i] == LIFTED) m->lifted[m->account[i]] += dt;
        if (m->activity[i] >= 0) m->sum[m->account[i]][m->activity[i]] += dt;
    }
    for (int g = 0; g < GROUPS; g++) naive_idle(m, g, dt);
    m->now += dt_ns;
}

/* Moves up to n shares of one place to another; says how many. */
static int naive_move(struct naive *m, int group, int acc0, int act0, int acc1, int act1, int64_t n)
{
    int moved = 0;
    for (int i = 0; i < SHARES && moved < n; i++) {
        if (m->group[i] != group || m->activity[i] != act0 || (act0 >= 0 && m->account[i] != acc0)) continue;
        if (act0 == LIFTED && m->account[i] != acc0) continue;
        m->account[i] = acc1;
        m->activity[i] = act1;
        moved++;
    }
    return moved;
}

static const enum activity held[] = {ACT_IMAGE_PULL, ACT_WAIT_PEERS, ACT_COMPUTE, ACT_TERMINATING, ACT_HUNG};
static const enum activity down[] = {ACT_FAILED, ACT_REPAIR, ACT_DRAINED, ACT_ABSENT};

static enum activity any_held(uint64_t *s)
{
    return held[below(s, 5)];
}

static enum activity any_down(uint64_t *s)
{
    return down[below(s, 4)];
}

/* The account of the model's number: 0, 1 are the groups', the rest are jobs', alternating between the groups. */
static struct ledger_key key_of(int account)
{
    return (struct ledger_key){.group = (uint16_t)(account % 2),
                               .queue = (uint16_t)account,
                               .team = 7,
                               .kind = 3,
                               .cause = (uint16_t)(account % N_CAUSES)};
}

/* A job books all that its lifted shares did so far, in odd parts, some of it redone. */
static void book(struct ledger *l, struct naive *m, const uint32_t *id, int a, share_ns *redone, uint64_t *s)
{
    share_ns all = m->lifted[a], part = all / 3;
    bool again = below(s, 2);
    ledger_book(l, id[a], ACT_COMMUNICATION, again, part);
    ledger_book(l, id[a], ACT_COMPUTE, false, all - part);
    m->sum[a][ACT_COMPUTE] += all - part;
    if (again)
        redone[a] += part;
    else
        m->sum[a][ACT_COMMUNICATION] += part;
    m->lifted[a] = 0;
}

struct both {
    struct ledger *l;
    struct naive m;
    uint32_t id[GROUPS + ACCOUNTS];
    share_ns redone[GROUPS + ACCOUNTS];
    uint64_t s;
};

static void step_exist(struct both *b, int g, int n)
{
    if (below(&b->s, 2)) {
        int moved = naive_move(&b->m, g, 0, GONE, g, IDLE, n);
        ledger_exist(b->l, (unsigned)g, moved, b->m.now);
    } else {
        int moved = naive_move(&b->m, g, 0, IDLE, g, GONE, n);
        ledger_exist(b->l, (unsigned)g, -moved, b->m.now);
    }
}

static void step_down(struct both *b, int g, int n)
{
    enum activity x = any_down(&b->s);
    if (below(&b->s, 2)) ledger_down(b->l, (unsigned)g, x, naive_move(&b->m, g, 0, IDLE, g, (int)x, n), b->m.now);
    else ledger_up(b->l, (unsigned)g, x, naive_move(&b->m, g, g, (int)x, g, IDLE, n), b->m.now);
}

static void step_held(struct both *b, int g, int n)
{
    int a = GROUPS + g + 2 * (int)below(&b->s, ACCOUNTS / 2), c = GROUPS + g + 2 * (int)below(&b->s, ACCOUNTS / 2);
    enum activity x = any_held(&b->s), y = any_held(&b->s);
    struct naive *m = &b->m;
    switch (below(&b->s, 5)) {
    case 0: ledger_take(b->l, (unsigned)g, b->id[a], x, naive_move(m, g, 0, IDLE, a, (int)x, n), m->now); break;
    case 1: ledger_give(b->l, (unsigned)g, b->id[a], x, naive_move(m, g, a, (int)x, g, IDLE, n), m->now); break;
    case 2:
        if (a != c || x != y)
            ledger_move(b->l, b->id[a], x, b->id[c], y, naive_move(m, g, a, (int)x, c, (int)y, n), m->now);
        break;
    case 3: ledger_lift(b->l, b->id[a], x, naive_move(m, g, a, (int)x, a, LIFTED, n), m->now); break;
    default:
        book(b->l, m, b->id, a, b->redone, &b->s);
        ledger_land(b->l, b->id[a], x, naive_move(m, g, a, LIFTED, a, (int)x, n), m->now);
    }
}

static void step(struct both *b)
{
    int g = (int)below(&b->s, GROUPS), n = (int)below(&b->s, 12);
    naive_pass(&b->m, below(&b->s, 4) ? below(&b->s, 1000) : 0);
    int64_t what = below(&b->s, 10);
    if (what == 0)
        step_exist(b, g, n);
    else if (what == 1)
        step_down(b, g, n);
    else if (what == 2) {
        b->m.blocked[g] = below(&b->s, 20);
        b->m.fragmented[g] = below(&b->s, 20);
        ledger_demand(b->l, (unsigned)g, b->m.blocked[g], b->m.fragmented[g], b->m.now);
    } else
        step_held(b, g, n);
}

static void finish(struct both *b)
{
    for (int a = GROUPS; a < GROUPS + ACCOUNTS; a++) {
        book(b->l, &b->m, b->id, a, b->redone, &b->s);
        ledger_land(b->l, b->id[a], ACT_HUNG, naive_move(&b->m, a % 2, a, LIFTED, a, ACT_HUNG, SHARES), b->m.now);
    }
    naive_pass(&b->m, 12345);
    ledger_close(b->l, b->m.now);
}

static void begin(struct both *b, uint64_t seed)
{
    memset(b, 0, sizeof *b);
    b->s = seed;
    b->l = ledger_create(GROUPS);
    for (int a = 0; a < GROUPS + ACCOUNTS; a++) {
        struct ledger_key key = key_of(a);
        b->id[a] = a < GROUPS ? ledger_group_account(b->l, (unsigned)a) : ledger_account(b->l, &key);
    }
    for (int i = 0; i < SHARES; i++) b->m.group[i] = i % GROUPS, b->m.activity[i] = GONE;
}

static void random_operations_equal_the_model(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct both b;
        const char *why;
        begin(&b, seed);
        for (int i = 0; i < 400; i++) step(&b);
        finish(&b);
        for (int a = 0; a < GROUPS + ACCOUNTS; a++)
            for (int act = 0; act < N_ACTIVITIES; act++) {
                assert_true(ledger_sum(b.l, b.id[a], (enum activity)act, false) == b.m.sum[a][act]);
                share_ns redone = act == ACT_COMMUNICATION ? b.redone[a] : 0;
                assert_true(ledger_sum(b.l, b.id[a], (enum activity)act, true) == redone);
            }
        for (unsigned g = 0; g < GROUPS; g++) assert_true(ledger_existing(b.l, g) == b.m.existing[g]);
        assert_true(ledger_check(b.l, &why));
        assert_string_equal(why, "");
        ledger_destroy(b.l);
    }
}

/* 100,000 GPUs for a year of 365 days: 1e8 shares x 3.1536e16 ns = 3.1536e24 > 2^64 = 1.8e19. */
static void a_year_of_100000_gpus(void **state)
{
    (void)state;
    const int64_t shares = 100000000, year = 365LL * 86400 * 1000000000;
    struct ledger *l = ledger_create(1);
    uint32_t a = ledger_account(l, &(struct ledger_key){0});
    ledger_exist(l, 0, shares, 0);
    ledger_take(l, 0, a, ACT_IDLE_POD, shares, 0);
    ledger_lift(l, a, ACT_IDLE_POD, shares, year / 2);
    ledger_land(l, a, ACT_AFTER_END, shares, year);
    ledger_book(l, a, ACT_COMPUTE, false, (share_ns)shares * (share_ns)(year / 2));
    ledger_give(l, 0, a, ACT_AFTER_END, shares, year);
    ledger_close(l, year);
    share_ns expected = (share_ns)31536 * 10000000000u * 10000000000u;
    assert_true(ledger_existing(l, 0) == expected);
    assert_true(ledger_sum(l, a, ACT_COMPUTE, false) == expected / 2);
    assert_true(ledger_sum(l, a, ACT_IDLE_POD, false) == expected / 2);
    assert_true(ledger_check(l, NULL));
    ledger_destroy(l);
}

/* idle 10: demand (blocked, fragmented) -> seconds in each cell */
static void idle_is_split_by_counts(void **state)
{
    (void)state;
    static const struct {
        int64_t blocked, fragmented, in_blocked, in_fragmented, in_free;
    } rows[] = {
        {0,  0,  0,  0, 10},
        {4,  0,  4,  0, 6 },
        {0,  4,  0,  4, 6 },
        {4,  3,  4,  3, 3 },
        {4,  9,  4,  6, 0 },
        {10, 5,  10, 0, 0 },
        {99, 99, 10, 0, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ledger *l = ledger_create(1);
        ledger_demand(l, 0, rows[i].blocked, rows[i].fragmented, 0);
        ledger_exist(l, 0, 10, 0);
        ledger_close(l, 1);
        uint32_t a = ledger_group_account(l, 0);
        assert_true(ledger_sum(l, a, ACT_BLOCKED, false) == (share_ns)rows[i].in_blocked);
        assert_true(ledger_sum(l, a, ACT_FRAGMENTED, false) == (share_ns)rows[i].in_fragmented);
        assert_true(ledger_sum(l, a, ACT_FREE, false) == (share_ns)rows[i].in_free);
        ledger_destroy(l);
    }
}

static void accounts_are_found_again(void **state)
{
    (void)state;
    struct ledger *l = ledger_create(3);
    uint32_t ids[3 * 40 * 4];
    for (int pass = 0; pass < 2; pass++)
        for (uint16_t i = 0; i < 480; i++) {
            struct ledger_key k = {.group = i % 3, .queue = i / 3 % 40, .team = 1, .kind = 2, .cause = i / 120};
            uint32_t id = ledger_account(l, &k);
            if (pass) assert_int_equal(id, ids[i]);
            ids[i] = id;
            assert_int_equal(ledger_account_key(l, id)->queue, k.queue);
        }
    assert_int_equal(ledger_accounts(l), 3 + 480);
    ledger_destroy(l);
}

/* What a forgetful simulator would do to the book; each must be noticed and named. */
enum fault { NO_FAULT, BOOK_SHORT, BOOK_LONG, BOOK_TWICE, BOOK_OTHER_GROUP, BOOK_NOTHING, N_FAULTS };

static void wrong_books_are_noticed(void **state)
{
    (void)state;
    for (int f = NO_FAULT; f < N_FAULTS; f++) {
        struct ledger *l = ledger_create(2);
        uint32_t a = ledger_account(l, &(struct ledger_key){.group = 0, .queue = 1});
        uint32_t b = ledger_account(l, &(struct ledger_key){.group = 1, .queue = 1});
        for (unsigned g = 0; g < 2; g++) ledger_exist(l, g, 8000, 0);
        ledger_take(l, 0, a, ACT_IMAGE_PULL, 8000, 5);
        ledger_lift(l, a, ACT_IMAGE_PULL, 8000, 10);
        share_ns right = 8000 * 90;
        share_ns amount = f == BOOK_SHORT ? right - 1 : f == BOOK_LONG ? right + 1 : f == BOOK_NOTHING ? 0 : right;
        for (int i = 0; i < (f == BOOK_TWICE ? 2 : 1); i++)
            ledger_book(l, f == BOOK_OTHER_GROUP ? b : a, ACT_COMPUTE, f & 1, amount);
        ledger_land(l, a, ACT_TERMINATING, 8000, 100);
        ledger_give(l, 0, a, ACT_TERMINATING, 8000, 101);
        ledger_close(l, 200);
        const char *why;
        assert_int_equal(ledger_check(l, &why), f == NO_FAULT);
        if (f != NO_FAULT) assert_non_null(strstr(why, "node group 0: share-ns booked by jobs"));
        if (f == BOOK_SHORT) assert_non_null(strstr(why, "719999, must be 720000: 1 too little"));
        ledger_destroy(l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_operations_equal_the_model), cmocka_unit_test(a_year_of_100000_gpus),
        cmocka_unit_test(idle_is_split_by_counts),           cmocka_unit_test(accounts_are_found_again),
        cmocka_unit_test(wrong_books_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
