/* calibrate_placements.h - the twelve numbers of models/placed_step.h from steps measured in placements.
 *
 *     struct placed_calibration c;
 *     calibrate_placements(rows, n, &c);
 *     struct placed_time t = placed_step(&c.numbers, other->at, other->local_batch);
 *
 * What is minimised is the sum over rows of soft(ln predicted - ln measured) of the step and of its sync, soft(e) =
 * 2 f^2 (sqrt(1 + (e/f)^2) - 1) with f = 5 % (soft L1, Charbonnier et al. 1997): errors count by their size, not by its
 * square, for some rows were measured while something else was slow. Levenberg-Marquardt on the logarithms of the numbers,
 * of shares on those of their odds (GSL, multifit_nlinear), from values that the rows suggest (compute by a line through step - sync, times by their medians);
 * each number is held to where it began as by one measurement that is right within a factor e: what the rows do not tell
 * (one node only, one GPU only) stays there.
 *
 * Order of rows does not matter but for rounding. Cost: about 50 ms for 400 rows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_CALIBRATE_PLACEMENTS_H
#define TRAINYARD_STUDY_CALIBRATE_PLACEMENTS_H

#include "base/str.h"
#include "input/placement_table.h"

struct placed_calibration {
    struct placed_numbers numbers;
    size_t n_rows;
    double step_median, sync_median; /* relative errors of the fitted rows: no measure of what a prediction is worth */
};

/* n >= 1 measured rows. */
void calibrate_placements(const struct placement_row *rows, size_t n, struct placed_calibration *);

/* The calibration as a profile: JSON. */
void placed_calibration_write(const struct placed_calibration *, const char *source, struct str *out);

#endif
