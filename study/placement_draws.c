/* placement_draws.c - see placement_draws.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/placement_draws.h"

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

static const double candidates[] = {0, 0.5, 1, 2, 4, 8, INFINITY};
enum { N_CANDIDATES = sizeof candidates / sizeof *candidates };

enum of { STEP, SYNC };
static double residual(const struct placement_residual *r, enum of of)
{
    return of == STEP ? r->step : r->sync;
}

static int compare(uint32_t gpus, double batch, uint32_t other_gpus, double other_batch)
{
    if (gpus != other_gpus) return gpus < other_gpus ? -1 : 1;
    return batch < other_batch ? -1 : batch > other_batch;
}

static int by_draw(const void *left, const void *right)
{
    const struct placement_residual *a = left, *b = right;
    return compare(a->gpus, a->local_batch, b->gpus, b->local_batch);
}

static size_t group_end(const struct placement_residual *r, size_t n, size_t i)
{
    size_t end = i + 1;
    while (end < n && !by_draw(&r[i], &r[end])) end++;
    return end;
}

/* What the measured of r[begin..end) have in common but for the one at `without`. x: room for them. */
static double common(const struct placement_residual *r, size_t begin, size_t end, size_t without, enum of of, double held,
                     double *x)
{
    size_t k = 0;
    for (size_t i = begin; i < end; i++)
        if (i != without && !isnan(residual(&r[i], of))) x[k++] = residual(&r[i], of);
    if (!k || isinf(held)) return 0;
    gsl_sort(x, 1, k);
    return gsl_stats_median_from_sorted_data(x, 1, k) * (double)k / ((double)k + held);
}

static double error_left(const struct placement_residual *r, size_t n, enum of of, double held, double *x)
{
    double sum = 0;
    for (size_t begin = 0, end; begin < n; begin = end) {
        end = group_end(r, n, begin);
        for (size_t i = begin; i < end; i++)
            if (!isnan(residual(&r[i], of))) sum += fabs(residual(&r[i], of) - common(r, begin, end, i, of, held, x));
    }
    return sum;
}

/* Of equals the one that holds more. */
static double choose(const struct placement_residual *r, size_t n, enum of of, double *x)
{
    double best = INFINITY, least = INFINITY;
    for (int i = N_CANDIDATES - 1; i >= 0; i--) {
        double left = error_left(r, n, of, candidates[i], x);
        if (left < least) {
            least = left;
            best = candidates[i];
        }
    }
    return best;
}

void placement_draws_learn(struct placement_residual *r, size_t n, struct placement_draws *d)
{
    double *x = xcalloc(n, sizeof *x);
    qsort(r, n, sizeof *r, by_draw);
    *d = (struct placement_draws){.step_held = choose(r, n, STEP, x), .sync_held = choose(r, n, SYNC, x)};
    bool nothing = isinf(d->step_held) && isinf(d->sync_held);
    for (size_t begin = 0, end; begin < n && !nothing; begin = end) {
        end = group_end(r, n, begin);
        struct placement_draw draw = {r[begin].gpus, r[begin].local_batch, common(r, begin, end, n, STEP, d->step_held, x),
                                      common(r, begin, end, n, SYNC, d->sync_held, x)};
        array_push(&d->list, draw);
    }
    free(x);
}

static int by_key(const void *key, const void *item)
{
    const struct placement_draw *a = key, *b = item;
    return compare(a->gpus, a->local_batch, b->gpus, b->local_batch);
}

const struct placement_draw *placement_draws_find(const struct placement_draws *d, uint32_t gpus, double local_batch)
{
    struct placement_draw key = {.gpus = gpus, .local_batch = local_batch};
    return d->list.n ? bsearch(&key, d->list.v, d->list.n, sizeof *d->list.v, by_key) : NULL;
}

void placement_draws_free(struct placement_draws *d) { array_free(&d->list); }
