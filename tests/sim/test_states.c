/* test_states.c - every activity, cause and wait reason occurs in some run.
 *
 * The table says which of the scenarios in tests/sim/states/ shows which states; each is run and must show all of them
 * (more is allowed). What no mechanism can bring about yet stands in `not_yet`, with what will; the test fails when such a
 * state occurs after all, here or in a scenario drawn at random, so that the list stays true.
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

#include "tests/support/any_scenario.h"
#include "tests/support/temp_run.h"

/* One number a state: activities, then causes, then wait reasons. */
enum { A = 0, C = N_ACTIVITIES, W = N_ACTIVITIES + N_CAUSES, N_STATES = W + N_WAIT_REASONS, MOST = 24, SEEDS = 400 };

static const char *name_of(int state)
{
    if (state >= W) return wait_table[state - W].name;
    return state >= C ? cause_table[state - C].name : activity_table[state].name;
}

struct shows { const char *scenario, *approach; int states[MOST]; }; /* each + 1; 0 ends */
#define ACT(x) (A + (x) + 1)
#define CAU(x) (C + (x) + 1)
#define WAI(x) (W + (x) + 1)

static const struct shows table[] = {
    {"batch", "fifo", {0}}, {"batch", "skip", {0}}, {"quotas", "operator", {0}}, {"operator", "plain", {0}}, {"gangs", "coscheduling", {0}}, {"ray", "own", {0}}, {"ray", "shared", {0}},
};

static const struct { int state; const char *why; } not_yet[] = {
    {ACT(ACT_BUBBLE), "pipeline parallelism comes with the models"},
};

static void look(const struct run *r, bool seen[N_STATES])
{
    for (size_t i = 0; i < r->n_ledger; i++) {
        const struct run_ledger_row *row = &r->ledger[i];
        if (row->sum == 0) continue;
        seen[A + (int)row->activity] = true;
        if (row->kind[0]) seen[C + (int)row->cause] = true;
    }
    for (size_t i = 0; i < r->n_jobs; i++)
        for (int w = 0; w < N_WAIT_REASONS; w++)
            if (r->jobs[i].row.wait_ns[w] > 0) seen[W + w] = true;
}

static void run_one(struct scenario *s, struct diag *d, bool seen[N_STATES])
{
    if (!s) diag_print(d, stderr);
    assert_non_null(s);
    struct run *r = temp_run(s, RECORD_NONE);
    assert_non_null(r);
    look(r, seen);
    temp_run_close(r);
    scenario_free(s);
    diag_free(d);
}

static void run_file(const char *name, const char *approach, bool seen[N_STATES])
{
    char path[96];
    struct diag d = {0};
    snprintf(path, sizeof path, "tests/sim/states/%s.json", name);
    run_one(scenario_load(path, approach, NULL, &d), &d, seen);
}

static void run_random(uint64_t seed, const char *approach, bool seen[N_STATES])
{
    struct str json = {0};
    struct diag d = {0};
    any_scenario(seed, &json);
    run_one(scenario_parse("any.json", json.s, json.n, approach, &d), &d, seen);
    str_free(&json);
}

static const char *why_not_yet(int state)
{
    for (size_t i = 0; i < sizeof not_yet / sizeof *not_yet; i++)
        if (not_yet[i].state == state + 1) return not_yet[i].why;
    return NULL;
}

static void every_state_occurs(void **state)
{
    bool all[N_STATES] = {false};
    int bad = 0;
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        bool seen[N_STATES] = {false};
        run_file(table[i].scenario, table[i].approach, seen);
        if (getenv("EXPLORE")) { fprintf(stderr, "== %s %s:", table[i].scenario, table[i].approach); for (int s = 0; s < N_STATES; s++) if (seen[s]) fprintf(stderr, " %s%s", s >= W ? "w:" : s >= C ? "c:" : "", name_of(s)); fprintf(stderr, "\n"); }
        for (int k = 0; k < MOST && table[i].states[k]; k++) {
            int s = table[i].states[k] - 1;
            all[s] = true;
            if (seen[s]) continue;
            fprintf(stderr, "%s, %s: no %s\n", table[i].scenario, table[i].approach, name_of(s));
            bad++;
        }
        for (int s = 0; s < N_STATES; s++)
            if (seen[s] && why_not_yet(s)) fprintf(stderr, "%s shows %s: it is there now\n", table[i].scenario, name_of(s)), bad++;
    }
    for (int s = 0; s < N_STATES; s++)
        if (!all[s] && !why_not_yet(s)) fprintf(stderr, "nothing shows %s\n", name_of(s)), bad++;
    if (bad) fail_msg("%d states", bad);
}

static void what_cannot_be_yet_is_not(void **state)
{
    bool seen[N_STATES] = {false};
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        run_random(seed, "one", seen);
        run_random(seed, "two", seen);
    }
    if (getenv("EXPLORE")) for (int s = 0; s < N_STATES; s++) if (!seen[s]) fprintf(stderr, "random: no %s\n", name_of(s));
    for (int s = 0; s < N_STATES; s++)
        if (seen[s] && why_not_yet(s)) fail_msg("%s occurs: it is there now", name_of(s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_state_occurs), cmocka_unit_test(what_cannot_be_yet_is_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
