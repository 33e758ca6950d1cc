/* test_checkpoint.c - sizes, times and intervals of checkpoints: by hand, against GSL and the C library, against a
 * simulation of the formula's own story, and against what was measured elsewhere.
 *
 * Without arguments a test; the last one prints measured and predicted of checkpoint_facts.csv (docs/models.md).
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
#include <string.h>

#include "base/str.h"
#include "input/checkpoint_optimum.h"
#include "models/checkpoint.h"
#include "tests/support/doc_section.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static void assert_near(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want))) fail_msg("%.17g, wanted %.17g", got, want);
}

/* Each row's sum is the figure that its source gives. */
static void bytes_a_parameter(void **state)
{
    (void)state;
    static const struct { const char *name; double bytes; } rows[] = {
        {"adam-mixed", 14}, {"adam-universal", 12}, {"adam-gradients", 16}, {"adam-fp32", 12}, {"adam-bf16", 6},
        {"adam-8bit", 8}, {"adafactor", 4}, {"sgd-momentum", 8}, {"sgd", 4}, {"weights", 2},
    };
    assert_int_equal(n_checkpoint_states, COUNT(rows));
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct checkpoint_state *s = checkpoint_state_named(rows[i].name);
        assert_non_null(s);
        assert_true(checkpoint_state_bytes(s) == rows[i].bytes);
    }
    assert_null(checkpoint_state_named("adamw"));
}

/* 800 GB on 4 nodes of 8: each limit in turn is the narrowest. */
static void saves_by_hand(void **state)
{
    (void)state;
    struct checkpoint_layout l = {.bytes = 800e9, .gpus = 32, .nodes = 4, .savers = 1, .copies = 1, .sharded = true};
    struct checkpoint_path p = {.store_write_bytes_per_s = 20e9, .store_read_bytes_per_s = 40e9, .fixed_s = 2};
    assert_near(checkpoint_times(&l, &p).save_s, 2 + 40, 1e-12);
    assert_near(checkpoint_times(&l, &p).load_s, 2 + 20, 1e-12);
    p.node_bytes_per_s = 4e9; /* 16 GB/s of all nodes */
    assert_near(checkpoint_times(&l, &p).save_s, 2 + 50, 1e-12);
    p.process_bytes_per_s = 0.25e9; /* 8 GB/s of all ranks */
    assert_near(checkpoint_times(&l, &p).save_s, 2 + 100, 1e-12);
    l.savers = 8; /* 2.5 GB/s for each job */
    assert_near(checkpoint_times(&l, &p).save_s, 2 + 320, 1e-12);
    l.savers = 1;
    l.sharded = false; /* one process */
    assert_near(checkpoint_times(&l, &p).save_s, 2 + 3200, 1e-12);
    l.copies = 4; /* one a node reads it all: 1 GB/s of four processes */
    assert_near(checkpoint_times(&l, &p).load_s, 2 + 3200, 1e-12);
    assert_true(checkpoint_times(&l, &p).stall_s == checkpoint_times(&l, &p).save_s);
    assert_true(checkpoint_times(&l, &p).background_s == 0);
    l.sharded = l.async = true;
    p.copy_bytes_per_s = 25e9; /* 25 GB a GPU: 1 s; 200 GB a node over 100 GB/s: 2 s */
    assert_near(checkpoint_times(&l, &p).stall_s, 1, 1e-12);
    p.host_bytes_per_s = 100e9;
    assert_near(checkpoint_times(&l, &p).stall_s, 2, 1e-12);
    assert_near(checkpoint_times(&l, &p).background_s, 2 + 100, 1e-12);
}

/* Against the C library, over the range of everything. */
static void formulas(void **state)
{
    (void)state;
    for (double m = 100; m < 1e8; m *= 3)
        for (double c = 0.01; c < 2 * m; c *= 5)
            for (double w = 1; w < 5 * m; w *= 7) {
                struct checkpoint_risk r = {m, 120, 300};
                double want = exp((300 + 7) / m) * (m + 120) * expm1((w + c) / m);
                assert_near(checkpoint_segment_s(w, (struct checkpoint_cost){c, 7}, &r), want, 1e-12);
                assert_near(checkpoint_goodput(w, (struct checkpoint_cost){c, 7}, &r), w / want, 1e-12);
                assert_near(checkpoint_young_s(c, m), sqrt(2 * c * m), 1e-14);
            }
    struct checkpoint_risk never = {0, 120, 300};
    assert_near(checkpoint_goodput(90, (struct checkpoint_cost){10, 0}, &never), 0.9, 1e-15);
    assert_true(checkpoint_daly_s(300, 100) == 100);
    assert_true(checkpoint_goodput(0, (struct checkpoint_cost){10, 0}, &never) == 0);
}

/* The derivative of W/E vanishes there, and a step to either side is worse. */
static void optimum_is_one(void **state)
{
    (void)state;
    for (double m = 600; m < 1e7; m *= 2.7)
        for (double c = m * 1e-6; c < 3 * m; c *= 3.1) {
            struct checkpoint_risk r = {m, 60, 30};
            struct checkpoint_cost cost = {c, 0};
            double w = checkpoint_optimum_s(c, m), best = checkpoint_goodput(w, cost, &r);
            assert_true(w > 0 && w < m);
            assert_near(exp((w + c) / m) * (1 - w / m), 1, 1e-9);
            assert_true(checkpoint_goodput(w * 1.01, cost, &r) < best && checkpoint_goodput(w * 0.99, cost, &r) < best);
        }
    assert_int_equal(checkpoint_optimum_ns(60, 0, 10800), INT64_C(1099) * 1000000000); /* 1098.776 */
    assert_int_equal(checkpoint_optimum_ns(1, 0, 100), INT64_C(13483) * 1000000);
    assert_int_equal(checkpoint_optimum_ns(1, 500, 100), INT64_C(500) * 1000000000);
}

/* ---- the story behind the formula, told by chance ---- */

struct story { double work, stall, lag, mtbf, down, recovery; };

/* Time until `segments` saves are durable: exponential failures strike all the time but the downtime. */
static double told(gsl_rng *rng, const struct story *t, size_t segments)
{
    double now = 0, length = t->work + t->stall, need = length + t->lag;
    for (size_t durable = 0; durable < segments;) {
        double failure = gsl_ran_exponential(rng, t->mtbf);
        if (failure >= need) { /* this one and as many more as end before the failure */
            double more = floor((failure - need) / length);
            size_t left = segments - durable - 1;
            if (more >= (double)left) return now + need + (double)left * length;
            durable += 1 + (size_t)more;
        }
        now += failure + t->down;
        need = t->recovery + length + t->lag;
    }
    return now;
}

static void lag_counts_as_recovery(void **state)
{
    (void)state;
    static const struct story rows[] = {
        {1800, 30, 0, 7200, 120, 300}, {1800, 5, 600, 7200, 120, 300}, {600, 1, 590, 1800, 0, 60},
        {3600, 10, 3000, 3600, 600, 0}, {900, 2, 300, 86400, 60, 600},
    };
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct story *t = &rows[i];
        enum { RUNS = 40, SEGMENTS = 20000 };
        double sum = 0, squares = 0;
        for (int k = 0; k < RUNS; k++) {
            double x = told(rng, t, SEGMENTS) / SEGMENTS;
            sum += x;
            squares += x * x;
        }
        double mean = sum / RUNS, error = sqrt((squares / RUNS - mean * mean) / (RUNS - 1));
        double want = checkpoint_segment_s(t->work, (struct checkpoint_cost){t->stall, t->lag},
                                           &(struct checkpoint_risk){t->mtbf, t->down, t->recovery});
        if (!(fabs(mean - want) < 4 * error)) fail_msg("row %zu: %g +- %g, formula %g", i, mean, error, want);
        assert_true(error < 0.005 * want);
    }
    gsl_rng_free(rng);
}

/* ---- what was measured elsewhere ---- */

/* Figures of data/checkpoints/checkpoint_facts.csv whose inputs are public, with the inputs. Rates are measured on other
 * rows of the same set-up (named in `from`) and never on the row itself. */
struct fact {
    const char *what, *from;
    double measured, predicted;
};

static double saved_s(double bytes, uint32_t nodes, uint32_t gpus, struct checkpoint_path p)
{
    struct checkpoint_layout l = {bytes, gpus, nodes, 1, 1, gpus > 1, false};
    return checkpoint_times(&l, &p).save_s;
}

/* fixed + S / (nodes b) through two rows of torchsnapshot's table (20 GB; 1 and 2 nodes of 8). */
static struct checkpoint_path two_rows(double one_node_s, double two_nodes_s)
{
    double b = 20e9 / 2 / (one_node_s - two_nodes_s);
    return (struct checkpoint_path){.node_bytes_per_s = b, .fixed_s = one_node_s - 20e9 / b};
}

static void measured_elsewhere(void **state)
{
    (void)state;
    const double gb = 1e9, gib = 1073741824.0, tib = 1024 * gib, bloom = 176.247e9;
    double mixed = checkpoint_state_bytes(checkpoint_state_named("adam-mixed"));
    double universal = checkpoint_state_bytes(checkpoint_state_named("adam-universal"));
    double weights = checkpoint_state_bytes(checkpoint_state_named("weights"));
    struct checkpoint_path remote = {.store_write_bytes_per_s = 2.5e9}, save_1 = {.process_bytes_per_s = 20 * gb / 38};
    const struct fact facts[] = {
        {"BLOOM 176B: checkpoint, TB (TiB)", "adam-mixed", 2.3, bloom * mixed / tib},
        {"BLOOM 176B: bf16 weights, GB (GiB)", "weights", 329, bloom * weights / gib},
        {"GEMINI: MT-NLG 530B to a store at 20 Gb/s, s", "adam-universal", 2520, saved_s(530e9 * universal, 66, 528, remote)},
        {"torchsnapshot 20 GB, local disks, 4 x 8, s", "its 1 x 8 and 2 x 8", 1.29, saved_s(20 * gb, 4, 32, two_rows(3.38, 2.02))},
        {"torchsnapshot 20 GB, FSx Lustre, 4 x 8, s", "its 1 x 8 and 2 x 8", 2.68, saved_s(20 * gb, 4, 32, two_rows(7.61, 4.61))},
        {"torch.save 20 GB, FSx Lustre, 4 x 8, s", "its 1 x 1 (rank 0 writes)", 38, saved_s(20 * gb, 4, 1, save_1)},
        {"PyTorch DCP 7B synchronous, s", "adam-universal, torch.save on FSx", 148.8, saved_s(7e9 * universal, 1, 1, save_1)},
    };
    struct str out = {0};
    str_append(&out, "| measured elsewhere | predicted from | measured | predicted | error |\n|---|---|---|---|---|\n");
    double worst = 0;
    for (size_t i = 0; i < COUNT(facts); i++) {
        double error = facts[i].predicted / facts[i].measured - 1;
        str_printf(&out, "| %s | %s | %.4g | %.4g | %+.1f %% |\n", facts[i].what, facts[i].from, facts[i].measured,
                   facts[i].predicted, 100 * error);
        worst = fmax(worst, fabs(error));
    }
    doc_section("docs/models.md", "checkpoints", str_text(&out));
    str_free(&out);
    assert_true(worst < 0.20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_a_parameter),
        cmocka_unit_test(saves_by_hand),
        cmocka_unit_test(formulas),
        cmocka_unit_test(optimum_is_one),
        cmocka_unit_test(lag_counts_as_recovery),
        cmocka_unit_test(measured_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
