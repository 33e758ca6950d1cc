/* test_data_loading.c - rates by hand, waits and cache hits against simulated loaders and caches.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "models/data_loading.h"
#include "tests/support/doc_section.h"

static void near(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want))) fail_msg("%.15g, not %.15g", got, want);
}

/* Each bound of the header in turn is the least: 100 samples of 10 ms CPU and 1 MB. */
static void bounds_by_hand(void **state)
{
    const struct data_loading plain = {.samples = 100, .workers = 4, .cpu_s = 0.010, .sample_bytes = 1e6, .prefetch = 8};
    struct data_loading l = plain;
    struct data_rate r = data_loading_rate(&l);
    (void)state;
    near(r.samples_per_s, 400, 1e-12); /* 4 workers / 10 ms */
    assert_int_equal(r.limit, DATA_WORKERS);
    l.latency_s = 0.005, l.read_bytes_per_s = 200e6; /* 10 + 5 + 5 ms */
    near(data_loading_rate(&l).samples_per_s, 200, 1e-12);
    l.hit = 0.5; /* 10 + 2.5 + 2.5 ms */
    near(data_loading_rate(&l).samples_per_s, 4 / 0.015, 1e-12);
    l = plain, l.cores = 2;
    r = data_loading_rate(&l);
    near(r.samples_per_s, 200, 1e-12);
    assert_int_equal(r.limit, DATA_CORES);
    l = plain, l.threads = true, l.locked = 0.8; /* 1 / 8 ms */
    r = data_loading_rate(&l);
    near(r.samples_per_s, 125, 1e-12);
    assert_int_equal(r.limit, DATA_LOCK);
    l.threads = false;
    near(data_loading_rate(&l).samples_per_s, 400, 1e-12);
    l = plain, l.workers = 64, l.read_bytes_per_s = 500e6; /* 500 a second; a worker takes 12 ms */
    r = data_loading_rate(&l);
    near(r.samples_per_s, 500, 1e-12);
    assert_int_equal(r.limit, DATA_STORAGE);
    l = (struct data_loading){.samples = 100, .workers = 1};
    assert_int_equal(data_loading_rate(&l).limit, DATA_UNLIMITED);
    assert_true(data_loading_wait_s(&l, 1) == 0);
}

/* 250 ms a batch: alone, behind a step, and with nothing ready. */
static void waits_by_hand(void **state)
{
    struct data_loading l = {.samples = 100, .workers = 4, .cpu_s = 0.010, .prefetch = 2};
    (void)state;
    near(data_loading_batch_s(&l), 0.25, 1e-12);
    assert_true(data_loading_wait_s(&l, 0.3) == 0);
    near(data_loading_wait_s(&l, 0.2), 0.05, 1e-12);
    l.prefetch = 0;
    near(data_loading_wait_s(&l, 0.3), 0.25, 1e-12);
    l.workers = 0; /* the process itself: one at a time */
    near(data_loading_wait_s(&l, 0.3), 1, 1e-12);
}

/* Ranks whose loaders have at most `prefetch` batches ready or in work each, gamma-distributed times, steps of 1 s that begin
 * when all have a batch. */
static double simulated_wait(gsl_rng *rng, unsigned ranks, unsigned prefetch, double variation, double load_s)
{
    enum { MOST = 200000 };
    int n = MOST / (ranks > 8 ? 8 : (int)ranks);
    double *taken = calloc((size_t)n + 1, sizeof *taken), *done = calloc(ranks, sizeof *done), shape = 1 / (variation * variation);
    for (int i = 1; i <= n; i++) {
        double free_at = i > (int)prefetch ? taken[i - (int)prefetch] : 0;
        taken[i] = taken[i - 1] + 1;
        for (unsigned r = 0; r < ranks; r++) {
            done[r] = fmax(done[r], free_at) + gsl_ran_gamma(rng, shape, load_s / shape);
            taken[i] = fmax(taken[i], done[r]);
        }
    }
    double wait = (taken[n] - taken[n / 5]) / (n - n / 5) - 1;
    free(taken);
    free(done);
    return wait;
}

/* The formula is an approximation. Its largest error over prefetch of 2 to 16 batches, variations to a half, loads about a
 * step. */
static void worst_wait(gsl_rng *rng, unsigned ranks, double *worst, double *worst_alone)
{
    static const unsigned prefetch[] = {2, 4, 16};
    static const double variation[] = {0.1, 0.3, 0.5}, load[] = {0.5, 0.8, 0.95, 1, 1.1, 1.3};
    for (size_t p = 0; p < 3; p++)
        for (size_t v = 0; v < 3; v++)
            for (size_t k = 0; k < 6; k++) {
                struct data_loading l = {.samples = 1, .workers = 1, .cpu_s = load[k], .prefetch = prefetch[p],
                                         .variation = variation[v], .ranks = ranks};
                double wait = simulated_wait(rng, ranks, prefetch[p], variation[v], load[k]);
                double error = data_loading_wait_s(&l, 1) - wait;
                if (fabs(error) > fabs(*worst)) *worst = error;
                l.ranks = 1;
                error = data_loading_wait_s(&l, 1) - wait;
                if (fabs(error) > fabs(*worst_alone)) *worst_alone = error;
            }
}

/* Deeper prefetch never waits longer, and goes to the maximum of the means. */
static void prefetch_helps(void **state)
{
    struct data_loading l = {.samples = 1, .workers = 1, .cpu_s = 0.9, .variation = 0.4};
    double last = 2;
    (void)state;
    for (l.prefetch = 0; l.prefetch < 200; l.prefetch++) {
        double wait = data_loading_wait_s(&l, 1);
        assert_true(wait <= last);
        last = wait;
    }
    assert_true(last < 1e-6);
}

/* Hits of a node that reads every n-th sample of each random order, least recently used dropped first. */
static double simulated_lru(gsl_rng *rng, unsigned nodes, double held)
{
    enum { SAMPLES = 2000, EPOCHS = 60 };
    int order[SAMPLES], last[SAMPLES], clock = 0, hits = 0, reads = 0, room = (int)(held * SAMPLES);
    int *recent = malloc(sizeof *recent * (SAMPLES / nodes + 1) * EPOCHS); /* who was read at each clock */
    for (int i = 0; i < SAMPLES; i++) order[i] = i, last[i] = -1;
    for (int e = 0; e < EPOCHS; e++) {
        gsl_ran_shuffle(rng, order, SAMPLES, sizeof *order);
        for (int i = 0; i < SAMPLES / (int)nodes; i++, clock++) {
            int x = order[i], others = 0;
            for (int t = last[x] + 1; last[x] >= 0 && t < clock; t++) others += last[recent[t]] == t;
            bool hit = last[x] >= 0 && others < room;
            if (e >= EPOCHS / 2) hits += hit, reads++;
            last[x] = clock;
            recent[clock] = x;
        }
    }
    free(recent);
    return (double)hits / reads;
}

static double worst_hit(gsl_rng *rng)
{
    static const unsigned nodes[] = {1, 2, 4};
    static const double held[] = {0.25, 0.5, 0.8};
    double worst = 0;
    for (size_t n = 0; n < 3; n++)
        for (size_t h = 0; h < 3; h++) {
            double error = data_cache_hit(CACHE_LRU, held[h], nodes[n]) - simulated_lru(rng, nodes[n], held[h]);
            if (fabs(error) > worst) worst = fabs(error);
        }
    return worst;
}

static void against_simulation(void **state)
{
    static const unsigned ranks[] = {1, 8, 64};
    static const double within[] = {0.02, 0.15, 0.25}; /* what the approximation is worth, not what is wished for */
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    double hit = worst_hit(rng);
    struct str out = {0};
    (void)state;
    str_printf(&out, "| what | against | largest error | if ranks did not wait for each other |\n|---|---|---|---|\n");
    for (int i = 0; i < 3; i++) {
        double wait = 0, alone = 0;
        worst_wait(rng, ranks[i], &wait, &alone);
        str_printf(&out, "| wait of %u rank%s, times that vary by 0.1 to 0.5, 2 to 16 batches ahead | simulated loaders, gamma times, 54 "
                         "set-ups | %+.1f %% of a step | %+.1f %% |\n", ranks[i], i ? "s" : "", 100 * wait, 100 * alone);
        assert_true(fabs(wait) <= within[i]);
    }
    str_printf(&out, "| hits of the least recently used, 1 to 4 nodes, 0.25 to 0.8 held | simulated cache, 9 set-ups | %.3f | |\n", hit);
    assert_true(hit <= 0.012);
    doc_section("docs/models.md", "data loading", str_text(&out));
    str_free(&out);
    gsl_rng_free(rng);
}

static void cache_by_hand(void **state)
{
    (void)state;
    near(data_cache_hit(CACHE_LRU, 0.5, 1), 0.5 + 0.5 * log(0.5), 1e-13);
    near(data_cache_hit(CACHE_LRU, 0.5, 1000), 0.5, 2e-3); /* many nodes: uses as by independent draws, hit = held */
    near(data_cache_hit(CACHE_KEEP, 0.3, 7), 0.3, 1e-15);
    assert_true(data_cache_hit(CACHE_LRU, 1, 3) == 1 && data_cache_hit(CACHE_LRU, 0, 3) == 0);
    near(data_cache_hit_of_run(0.8, 4), 0.6, 1e-13);
    assert_true(data_cache_hit_of_run(0.8, 0.7) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_by_hand),
        cmocka_unit_test(waits_by_hand),
        cmocka_unit_test(against_simulation),
        cmocka_unit_test(prefetch_helps),
        cmocka_unit_test(cache_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
