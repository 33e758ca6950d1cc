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
enum { A = 0, C = N_ACTIVITIES, W = N_ACTIVITIES + N_CAUSES, N_STATES = W + N_WAIT_REASONS, MOST = 24, SEEDS = 60 };

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
    {"batch", "fifo",
     {ACT(ACT_FREE), ACT(ACT_BLOCKED), ACT(ACT_FAILED), ACT(ACT_DRAINED), CAU(CAUSE_FIRST), WAI(WAIT_ORDER), WAI(WAIT_CAPACITY), WAI(WAIT_DEPENDENCY),
      WAI(WAIT_SUSPENDED)}},
    {"shapes", "skip", {ACT(ACT_FRAGMENTED), WAI(WAIT_FRAGMENTATION), WAI(WAIT_TOPOLOGY), WAI(WAIT_UNSATISFIABLE)}},
    {"quotas", "operator",
     {ACT(ACT_TERMINATING), ACT(ACT_CHECKPOINT_LOAD), ACT(ACT_CHECKPOINT), CAU(CAUSE_PREEMPTION), WAI(WAIT_QUOTA), WAI(WAIT_CONTROL_PLANE),
      WAI(WAIT_CHECKPOINT_LOAD), WAI(WAIT_PREEMPTED)}},
    {"operator", "plain",
     {ACT(ACT_IMAGE_PULL), ACT(ACT_CONTAINER_START), ACT(ACT_WAIT_PEERS), ACT(ACT_RENDEZVOUS), ACT(ACT_STALLED), ACT(ACT_HUNG),
      ACT(ACT_COMPUTE), ACT(ACT_COMMUNICATION), ACT(ACT_DATA_WAIT), CAU(CAUSE_FAILURE), WAI(WAIT_IMAGE), WAI(WAIT_START),
      WAI(WAIT_RENDEZVOUS), WAI(WAIT_DETECTION)}},
    {"gangs", "coscheduling", {WAI(WAIT_GANG)}},
    {"models", "plain", {ACT(ACT_BUBBLE), ACT(ACT_STRAGGLER)}},
    {"elastic", "torchrun", {CAU(CAUSE_RESIZE), WAI(WAIT_RESIZE)}},
    {"ray", "own", {ACT(ACT_WAIT_HEAD), ACT(ACT_IDLE_POD), ACT(ACT_AFTER_END), WAI(WAIT_HEAD), WAI(WAIT_PEERS)}},
    {"ray", "shared", {WAI(WAIT_AUTOSCALER)}},
    {"endless", "plain", {ACT(ACT_BACKOFF), ACT(ACT_OTHER_LOAD), WAI(WAIT_CONTAINER_BACKOFF)}},
};

static const struct { int state; const char *why; } not_yet[] = {
    {ACT(ACT_REPAIR), "a calendar knows when a node is down, not when its repair begins"},
    {ACT(ACT_ABSENT), "nodes that are not provisioned come with spot capacity and node autoscaling"},
    {ACT(ACT_UNOBSERVED), "of live runs only"},
    {WAI(WAIT_ADMISSION_CHECK), "admission checks come with the rest of Kueue; a stopped queue is a matter of quota"},
    {WAI(WAIT_SCHEDULER_BACKOFF), "pods wait in classes, and a class that backs off does not tell each job"},
    {WAI(WAIT_STORAGE), "stores that are down or saturated come with the models of storage"},
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
    for (int s = 0; s < N_STATES; s++)
        if (seen[s] && why_not_yet(s)) fail_msg("%s occurs: it is there now", name_of(s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_state_occurs), cmocka_unit_test(what_cannot_be_yet_is_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
