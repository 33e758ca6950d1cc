/* calibrate_placements.h - the twelve numbers of models/placed_step.h from steps measured in placements.
 *
 *     struct placed_calibration c;
 *     calibrate_placements(rows, n, &c);
 *     struct placed_time t = placed_predict(&c, other->at, other->local_batch);
 *     placed_calibration_free(&c);
 *
 * What is minimised is the sum over rows of soft(ln predicted - ln measured) of the step and of its sync, soft(e) =
 * 2 f^2 (sqrt(1 + (e/f)^2) - 1) with f = 5 % (soft L1, Charbonnier et al. 1997): errors count by their size, not by its
 * square, for some rows were measured while something else was slow. Levenberg-Marquardt on the logarithms of the numbers,
 * of shares on those of their odds (GSL, multifit_nlinear), from values that the rows suggest (compute by a line through step - sync, times by their medians);
 * each number is held to where it began as by one measurement that is right within a factor e: what the rows do not tell
 * (one node only, one GPU only) stays there.
 *
 * A sync of 0 s is one too short to measure: the row's step counts, its sync does not. A prediction is the formula times what
 * rows of as many GPUs and the same batch have in common (placement_draws.h), of which much, little or nothing is kept, as
 * the rows themselves tell.
 *
 * Order of rows does not matter but for rounding. Cost: about 50 ms for 400 rows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_CALIBRATE_PLACEMENTS_H
#define TRAINYARD_STUDY_CALIBRATE_PLACEMENTS_H

#include "base/str.h"
#include "input/placement_table.h"
#include "study/placement_draws.h"

struct placed_calibration {
    struct placed_numbers numbers;
    struct placement_draws draws;
    size_t n_rows;
    /* Relative errors of the formula on the rows it was fitted to: no measure of what a prediction is worth. NAN: no sync
     * was measured. */
    double step_median, sync_median;
};

/* n >= 1 measured rows. */
void calibrate_placements(const struct placement_row *rows, size_t n, struct placed_calibration *);
struct placed_time placed_predict(const struct placed_calibration *, struct gpu_placement, double local_batch);
void placed_calibration_free(struct placed_calibration *);

/* The calibration as a profile: JSON. */
void placed_calibration_write(const struct placed_calibration *, const char *source, struct str *out);

#endif
