/* bootstrap.c - see bootstrap.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/bootstrap.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort_double.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sim/engine/stream.h"

enum { LEAST_DRAWS = 2000, MOST_NUMBERS = 4000000 };

static size_t draws_for(size_t n)
{
    size_t draws = MOST_NUMBERS / n;
    return draws > BOOTSTRAP_DRAWS ? BOOTSTRAP_DRAWS : draws < LEAST_DRAWS ? LEAST_DRAWS : draws;
}

/* Sorted values; the ends lie `tail` of them from the outermost. */
static struct interval ends_of(double *x, size_t draws, size_t tail)
{
    gsl_sort(x, 1, draws);
    return (struct interval){x[tail], x[draws - 1 - tail], true};
}

struct interval bootstrap_difference(const double *a, const double *b, size_t n, double level, struct interval *ratio)
{
    assert(n >= BOOTSTRAP_LEAST);
    size_t draws = draws_for(n);
    double *means = xcalloc(2 * draws, sizeof *means), *ratios = means + draws;
    double side = gsl_cdf_ugaussian_P(-student_t(n, level) * sqrt((double)n / (double)(n - 1)));
    size_t tail = (size_t)(side * (double)draws);
    bool positive = true;
    gsl_rng *rng = stream_gsl(stream_make(BOOTSTRAP_SEED, 0, STREAM_STATISTICS, 0));
    for (size_t i = 0; i < draws; i++) {
        double sum_a = 0, sum_b = 0;
        for (size_t k = 0; k < n; k++) {
            size_t pick = gsl_rng_uniform_int(rng, n);
            sum_a += a[pick];
            sum_b += b[pick];
        }
        means[i] = (sum_b - sum_a) / (double)n;
        ratios[i] = sum_b / sum_a;
        positive &= sum_a > 0;
    }
    gsl_rng_free(rng);
    struct interval difference = ends_of(means, draws, tail);
    if (ratio) *ratio = positive ? ends_of(ratios, draws, tail) : (struct interval){NAN, NAN, false};
    free(means);
    return difference;
}
