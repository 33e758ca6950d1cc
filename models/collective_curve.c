/* collective_curve.c - see collective_curve.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/collective_curve.h"

#include <assert.h>

#include "base/detmath.h"

const char *const collective_curve_kind_names[] = {"filling", "late-start", "slow-words"};

/* Each kind is a grid of its two global values. */
static const double growth[] = {0.3, 0.5, 0.7, 0.9}, sharpness[] = {0.7, 1.5};
static const double start[] = {1.3, 2, 4, 8}, pipelining[] = {0.5, 1.5};
static const double words[] = {0.06, 0.12, 0.25, 0.5};

#define COUNT(a) ((unsigned)(sizeof(a) / sizeof *(a)))
static const struct grid {
    enum collective_curve_kind kind;
    const double *a, *b;
    unsigned n_a, n_b;
} grids[] = {
    {COLLECTIVE_FILLING, growth, sharpness, COUNT(growth), COUNT(sharpness)},
    {COLLECTIVE_LATE_START, start, pipelining, COUNT(start), COUNT(pipelining)},
    {COLLECTIVE_SLOW_WORDS, words, pipelining, COUNT(words), COUNT(pipelining)},
};

unsigned collective_curve_n_forms(void)
{
    unsigned n = 0;
    for (unsigned i = 0; i < COUNT(grids); i++) n += grids[i].n_a * grids[i].n_b;
    return n;
}

struct collective_curve_form collective_curve_form(unsigned form)
{
    assert(form >= 1 && form <= collective_curve_n_forms());
    const struct grid *g = grids;
    unsigned i = form - 1;
    for (; i >= g->n_a * g->n_b; g++) i -= g->n_a * g->n_b;
    return (struct collective_curve_form){g->kind, g->a[i / g->n_b], g->b[i % g->n_b]};
}

/* (a^p + b^p)^(1/p), a and b >= 0. */
static double joined(double a, double b, double p)
{
    double large = a > b ? a : b, small = a > b ? b : a;
    if (!(large > 0) || large > 1e300) return large;
    return large * det_pow(1 + det_pow(small / large, p), 1 / p);
}

/* (a^-8 + b^-8)^(-1/8), a and b > 0. */
static double faster(double a, double b)
{
    double r = a < b ? a / b : b / a, r2 = r * r, r4 = r2 * r2;
    return (a < b ? a : b) / det_sqrt(det_sqrt(det_sqrt(1 + r4 * r4)));
}

static double buffers(double at_once, double transfer, double p)
{
    return at_once + transfer + p * det_sqrt(at_once * transfer);
}

static double filling(const struct collective_curve *c, double bytes, double r, double u)
{
    double x = bytes / c->plateau_bytes_per_s;
    if (bytes > 0) x *= det_pow(1 + det_pow(c->third / bytes, u), r / u);
    return joined(c->latency_s, x, 1.3);
}

double collective_curve_s(const struct collective_curve *c, double bytes)
{
    struct collective_curve_form f = collective_curve_form(c->form);
    double x = bytes / c->plateau_bytes_per_s;
    switch (f.kind) {
    case COLLECTIVE_FILLING: return filling(c, bytes, f.a, f.b);
    case COLLECTIVE_LATE_START:
        return faster(c->latency_s + bytes / c->third, buffers(f.a * c->latency_s, x, f.b));
    default: return faster(joined(c->latency_s, x / f.a, 1.5), buffers(c->third, x, f.b));
    }
}
