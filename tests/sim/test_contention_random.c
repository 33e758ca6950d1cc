/* test_contention_random.c - what must hold when jobs meet on the fabric, over scenarios drawn at random (any_scenario.h).
 *
 * Ledgers are exact (sim_close says so otherwise); two simulations on two threads at once have the fingerprints that each
 * has alone; links are made narrow, and without contention the same scenario differs often enough for all this to mean something. What each run
 * must hold besides is in test_random.c, whose scenarios have networks too.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "sim/simulate.h"
#include "tests/support/any_scenario.h"

#include <pthread.h> /* behind the scenario: it has a SCHED_BATCH of its own */

enum { SEEDS = 150, MOST_EVENTS = 1000000 };

struct played { struct scenario *s; char print[33]; bool ended, exact; };

static struct scenario *load(uint64_t seed, const char *approach, const char *contention)
{
    struct diag d = {0};
    struct str json = {0};
    any_scenario(seed, &json);
    static const char narrow[] = "/cluster/topology={\"nodes_per_rack\": 2, \"racks_per_block\": 2}";
    const char *const overrides[] = {contention, narrow, "/cluster/network/inter=2GB/s", "/cluster/images/size=5GB",
                                     "/cluster/network/oversubscription={\"rack\": 8, \"block\": 4}",
                                     "/cluster/images/pull=1GB/s", NULL};
    struct scenario *s = scenario_read("any.json", json.s, json.n, approach, overrides, &d);
    if (!s) diag_print(&d, stderr);
    str_free(&json);
    diag_free(&d);
    assert_non_null(s);
    return s;
}

static void *play(void *arg)
{
    struct played *p = arg;
    struct sim_result r = {0};
    struct sim *sim = sim_create(p->s, &(struct sim_options){0}, &r.error);
    uint64_t n = 0;
    while (n < MOST_EVENTS && sim_step(sim)) n++;
    p->ended = n < MOST_EVENTS;
    p->exact = sim_close(sim, &r);
    memcpy(p->print, r.fingerprint, 33);
    sim_result_free(&r);
    return NULL;
}

static void ledgers_are_exact_and_threads_do_not_matter(void **state)
{
    int moved = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        static const char *const approaches[2] = {"one", "two"};
        struct played alone[2], together[2], without[2];
        pthread_t thread[2];
        for (int i = 0; i < 2; i++) {
            alone[i] = together[i] = (struct played){.s = load(seed, approaches[i], "/cluster/network/contention=true")};
            without[i] = (struct played){.s = load(seed, approaches[i], "/cluster/network/contention=false")};
            play(&alone[i]);
            play(&without[i]);
            moved += strcmp(alone[i].print, without[i].print) != 0;
        }
        for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&thread[i], NULL, play, &together[i]), 0);
        for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
        for (int i = 0; i < 2; i++) {
            bool good = alone[i].ended && alone[i].exact && strcmp(alone[i].print, together[i].print) == 0;
            if (!good) fprintf(stderr, "seed %lu, approach %s\n", (unsigned long)seed, approaches[i]);
            assert_true(good);
            scenario_free(alone[i].s);
            scenario_free(without[i].s);
        }
    }
    if (moved < SEEDS / 10) fail_msg("only %d of %d runs met on a link", moved, 2 * SEEDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ledgers_are_exact_and_threads_do_not_matter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
