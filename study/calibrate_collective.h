/* calibrate_collective.h - a measured table of a collective operation as a curve of three numbers and a form.
 *
 *     struct collective_calibration c;
 *     calibrate_collective(table.rows.v, table.rows.n, &c);
 *     double s = collective_curve_s(&c.curve, 1 << 20);
 *
 * Four numbers a table and no more: latency, plateau bandwidth, a third (see models/collective_curve.h), and which form,
 * the best of a fixed list. For each form sum over rows of soft(ln predicted - ln measured) is minimised,
 * soft(e) = 2 f^2 (sqrt(1 + (e/f)^2) - 1) with f = 1 %: squares for small errors, absolute values for large ones, as a few
 * outliers (a first call, another job on the switch) must not pull. Levenberg-Marquardt on the logarithms (GSL,
 * multifit_nlinear) from three starts. What few rows do not tell stays within a factor e^3 or so of a rough guess: that
 * counts as much as one row that is 1 % off.
 * The form that fits best is taken. Nothing but the rows is looked at: names of files, GPUs and sizes left out play no part.
 *
 * Other scales: the curve goes into the fabric of the machine that the table is most like (collective_machine), and
 * collective_time_s multiplies it by the ratio of that machine's model.
 *
 * Cost: about 50 ms for 16 rows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_CALIBRATE_COLLECTIVE_H
#define TRAINYARD_STUDY_CALIBRATE_COLLECTIVE_H

#include "base/str.h"
#include "input/collective_table.h"

struct collective_calibration {
    struct collective_curve curve;
    size_t n_rows;
    double median, p90; /* relative errors of the fitted rows: no measure of what a prediction is worth */
};

/* The best form of one kind; gives what the sum came to (HUGE_VAL where nothing converged: the rough guess is given). */
double collective_curve_fit(const struct collective_row *rows, size_t n, enum collective_curve_kind, struct collective_curve *);

/* n >= 1 rows, by size. */
void calibrate_collective(const struct collective_row *rows, size_t n, struct collective_calibration *);

/* "filling r=0.3 u=0.7", "late-start k=3 p=1", "slow-words w=0.25 p=0.5". */
void collective_form_name(unsigned form, struct str *out);

#endif
