/* test_stream.c - known answers, jumps, separate streams, and the laws of the distributions.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/philox.h"
#include "sim/engine/event.h"
#include "sim/engine/stream.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>

#define LENGTH(a) (sizeof(a) / sizeof *(a))

/* Random123, tests/kat_vectors, "philox4x32 10". */
static void known_answers(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } rows[] = {
        {{0, 0, 0, 0},                                     {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}                                                          },
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}                                                          },
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        uint32_t out[4];
        philox4x32_10(rows[i].counter, rows[i].key, out);
        assert_memory_equal(out, rows[i].out, sizeof out);
    }
}

/* The layout of key and counter that stream.h states, on the published vectors: counter 0 is draw 0 of (seed 0,
 * replication 0, purpose 0, entity 0). The third vector's lane word 85a308d3 would be purpose 0x85: none, so a stream
 * of our own stands for it. */
static void counter_layout(void **state)
{
    (void)state;
    struct stream zero = stream_make(0, 0, STREAM_ARRIVAL, 0);
    assert_true(stream_u64(&zero) == UINT64_C(0xe169c58d6627e8d5));
    assert_true(stream_u64(&zero) == UINT64_C(0x9b00dbd8bc57ac4c));

    uint32_t out[4], counter[4] = {70000, STREAM_SPOT << 24 | 0xabcde, 0x89abcdef, 0x01234567}, key[2] = {7, 9};
    philox4x32_10(counter, key, out);
    struct stream s = stream_make(UINT64_C(9) << 32 | 7, 0xabcde, STREAM_SPOT, UINT64_C(0x0123456789abcdef));
    s = stream_at(s, 140000);
    assert_true(stream_u64(&s) == ((uint64_t)out[1] << 32 | out[0]));
    assert_true(stream_u64(&s) == ((uint64_t)out[3] << 32 | out[2]));
}

static void jumps(void **state)
{
    (void)state;
    struct stream start = stream_make(42, 3, STREAM_TEST, 17), s = start;
    for (uint64_t k = 0; k < 1000; k++) {
        struct stream jumped = stream_at(start, k), back = stream_at(s, k);
        uint64_t draw = stream_u64(&s);
        assert_true(stream_u64(&jumped) == draw && stream_u64(&back) == draw);
        assert_true(stream_u64(&jumped) == stream_u64(&back)); /* and goes on from there */
    }
}

/* A change of any one part of the key gives other numbers; 64-bit draws practically never meet. */
static void streams_are_separate(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed, entity;
        uint32_t replication;
        enum stream_purpose purpose;
    } rows[] = {
        {1,                     1,                     1, STREAM_WORK   },
        {2,                     1,                     1, STREAM_WORK   },
        {1,                     2,                     1, STREAM_WORK   },
        {1,                     1,                     2, STREAM_WORK   },
        {1,                     1,                     1, STREAM_ARRIVAL},
        {1 | UINT64_C(1) << 32, 1,                     1, STREAM_WORK   },
        {1,                     1 | UINT64_C(1) << 32, 1, STREAM_WORK   },
    };
    enum { DRAWS = 100, ALL = DRAWS * LENGTH(rows) };
    uint64_t draws[ALL];
    size_t n = 0;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct stream s = stream_make(rows[i].seed, rows[i].replication, rows[i].purpose, rows[i].entity);
        for (int k = 0; k < DRAWS; k++) draws[n++] = stream_u64(&s);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) assert_true(draws[i] != draws[j]);
}

enum { SAMPLE = 20000 };

/* Kolmogorov and Smirnov: with n draws, sqrt(n) D exceeds 1.95 once in 1,000 (Smirnov 1948). The seeds are fixed, so
 * the outcome is too. `law` has the distribution function F(x). */
static void assert_law(const char *name, double *x, double (*law)(double))
{
    double d = 0;
    gsl_sort(x, 1, SAMPLE);
    for (int i = 0; i < SAMPLE; i++) {
        double f = law(x[i]);
        d = fmax(d, fmax((double)(i + 1) / SAMPLE - f, f - (double)i / SAMPLE));
    }
    printf("%-12s sqrt(n) D = %.3f\n", name, d * sqrt(SAMPLE));
    assert_true(d * sqrt(SAMPLE) < 1.95);
}

static double draw_exponential(struct stream *s)
{
    return stream_exponential(s, 3);
}
static double law_exponential(double x)
{
    return gsl_cdf_exponential_P(x, 3);
}
static double draw_weibull(struct stream *s)
{
    return stream_weibull(s, 5, 0.7);
}
static double law_weibull(double x)
{
    return gsl_cdf_weibull_P(x, 5, 0.7);
}
static double draw_normal(struct stream *s)
{
    return stream_normal(s, -2, 4);
}
static double law_normal(double x)
{
    return gsl_cdf_gaussian_P(x + 2, 4);
}
static double draw_lognormal(struct stream *s)
{
    return stream_lognormal(s, 1, 0.8);
}
static double law_lognormal(double x)
{
    return gsl_cdf_lognormal_P(x, 1, 0.8);
}
static double law_uniform(double x)
{
    return x;
}
static double draw_exponential_ns(struct stream *s)
{
    return (double)stream_exponential_ns(s, 3 * EVENT_SECOND) * 1e-9;
}
static double draw_weibull_ns(struct stream *s)
{
    return (double)stream_weibull_ns(s, 5 * EVENT_SECOND, 0.7) * 1e-9;
}
static double draw_lognormal_ns(struct stream *s)
{
    return (double)stream_lognormal_ns(s, 2718281828, 0.8) * 1e-9; /* median e seconds: mu = 1 */
}

/* One draw each: after n numbers the stream stands at n. Draws of one entity, and the first draws of many entities. */
static void laws(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double (*draw)(struct stream *s);
        double (*law)(double x);
    } rows[] = {
        {"unit",           stream_unit,         law_uniform    },
        {"exponential",    draw_exponential,    law_exponential},
        {"weibull",        draw_weibull,        law_weibull    },
        {"normal",         draw_normal,         law_normal     },
        {"lognormal",      draw_lognormal,      law_lognormal  },
        {"exponential ns", draw_exponential_ns, law_exponential},
        {"weibull ns",     draw_weibull_ns,     law_weibull    },
        {"lognormal ns",   draw_lognormal_ns,   law_lognormal  },
    };
    static double x[SAMPLE];
    for (size_t r = 0; r < LENGTH(rows); r++) {
        struct stream s = stream_make(5, 0, STREAM_TEST, r);
        for (int i = 0; i < SAMPLE; i++) x[i] = rows[r].draw(&s);
        assert_int_equal(s.next, SAMPLE);
        assert_law(rows[r].name, x, rows[r].law);
        for (int i = 0; i < SAMPLE; i++) {
            struct stream first = stream_make(5, 1, STREAM_TEST, (uint64_t)i);
            x[i] = rows[r].draw(&first);
        }
        assert_law("  by entity", x, rows[r].law);
    }
}

/* Chi-square against equal shares. Of n = 3 * 2^62 the remainders by 3 are counted: without refusals 0 would come twice
 * as often as 1. */
static void integers_are_fair(void **state)
{
    (void)state;
    static const struct {
        uint64_t n, cells;
    } rows[] = {
        {1,                 1 },
        {2,                 2 },
        {7,                 7 },
        {96,                96},
        {1000,              10},
        {UINT64_C(3) << 62, 3 }
    };
    for (size_t r = 0; r < LENGTH(rows); r++) {
        uint64_t count[96] = {0};
        struct stream s = stream_make(6, 0, STREAM_TEST, r);
        for (int i = 0; i < SAMPLE; i++) {
            uint64_t v = stream_uniform_int(&s, rows[r].n);
            assert_true(v < rows[r].n);
            count[v % rows[r].cells]++;
        }
        double chi2 = 0, wanted = (double)SAMPLE / (double)rows[r].cells;
        for (uint64_t c = 0; c < rows[r].cells; c++) chi2 += pow((double)count[c] - wanted, 2) / wanted;
        if (rows[r].cells > 1) assert_true(gsl_cdf_chisq_Q(chi2, (double)(rows[r].cells - 1)) > 1e-3);
    }
}

/* Odd multiples of 2^-53: neither 0 nor 1 can come, and u and 1 - u are equally likely. */
static void units_lie_within(void **state)
{
    (void)state;
    struct stream s = stream_make(9, 0, STREAM_TEST, 0);
    for (int i = 0; i < SAMPLE; i++) assert_true(fmod(stream_unit(&s) * 0x1p53, 2) == 1);
}

static void nanoseconds_stay_in_range(void **state)
{
    (void)state;
    struct stream s = stream_make(7, 0, STREAM_TEST, 0);
    for (int i = 0; i < 1000; i++) {
        assert_true(stream_exponential_ns(&s, INT64_MAX) >= 0);
        assert_true(stream_weibull_ns(&s, INT64_MAX, 0.1) >= 0);
        assert_true(stream_lognormal_ns(&s, INT64_MAX, 50) >= 0);
        assert_int_equal(stream_exponential_ns(&s, 0), 0);
    }
}

static void as_gsl_generator(void **state)
{
    (void)state;
    struct stream s = stream_make(8, 2, STREAM_STATISTICS, 3);
    gsl_rng *r = stream_gsl(s);
    assert_string_equal(gsl_rng_name(r), "philox4x32-10");
    for (int i = 0; i < 10; i++) assert_true(gsl_rng_get(r) == stream_u64(&s));
    gsl_rng *copy = gsl_rng_clone(r);
    for (int i = 0; i < 10; i++) {
        double u = gsl_rng_uniform(r);
        assert_true(u == stream_unit(&s) && u == gsl_rng_uniform(copy) && u > 0 && u < 1);
    }
    gsl_rng_free(copy);
    gsl_rng_free(r);

    r = gsl_rng_alloc(stream_gsl_type());
    gsl_rng_set(r, 99);
    s = stream_make(99, 0, STREAM_STATISTICS, 0);
    assert_true(gsl_rng_get(r) == stream_u64(&s));
    gsl_rng_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(counter_layout),
        cmocka_unit_test(jumps),
        cmocka_unit_test(streams_are_separate),
        cmocka_unit_test(laws),
        cmocka_unit_test(integers_are_fair),
        cmocka_unit_test(units_lie_within),
        cmocka_unit_test(nanoseconds_stay_in_range),
        cmocka_unit_test(as_gsl_generator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
