/* calibrate_step.h - the numbers of the step model from measured steps.
 *
 *     struct step_calibration c;
 *     calibrate_step(rows, n, &c);
 *     double s = calibrated_step_s(&c, &other_row);
 *
 * Fits the coefficients of models/step_efficiency.h: three numbers for each GPU family that has rows, five for all. What is
 * minimised is the sum over rows of soft(ln predicted - ln measured), soft(e) = 2 f^2 (sqrt(1 + (e/f)^2) - 1) with f = 3 %:
 * squares for small errors, absolute values for large ones, so that a few rows that something else slowed do not pull
 * (soft L1, Charbonnier et al. 1997). Levenberg-Marquardt on the logarithms of the numbers (GSL, multifit_nlinear). Each
 * number is held to what specification and kernel counts let expect, as by one more measurement that is right within a
 * factor e: what the rows do not tell (no run in 8 bits, one node only) stays there.
 *
 * A family without rows takes the mean of those that have some: only the specification tells the two apart.
 * Order of rows does not matter but for rounding. Cost: about 10 ms for 144 rows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_CALIBRATE_STEP_H
#define TRAINYARD_STUDY_CALIBRATE_STEP_H

#include "base/diag.h"
#include "base/str.h"
#include "input/step_table.h"

enum { STEP_FAMILIES_MAX = 16 };

struct step_family {
    const char *name;
    size_t rows;
    struct gpu_coefficients numbers;
};

struct step_calibration {
    struct step_coefficients all;
    struct step_family family[STEP_FAMILIES_MAX];
    size_t n_families, n_rows;
    double median, p90; /* relative errors of the fitted rows: no measure of what a prediction is worth */
};

/* n >= 1 rows with outcomes. */
void calibrate_step(const struct step_row *rows, size_t n, struct step_calibration *);
struct gpu_coefficients calibrated_gpu(const struct step_calibration *, const char *family);
double calibrated_step_s(const struct step_calibration *, const struct step_row *);

/* The calibration as a profile that a scenario may name at /cluster/kernels: JSON. */
void step_calibration_write(const struct step_calibration *, const char *name, const char *source, struct str *out);

/* The q-quantile of |x|, by order of |x| (GSL's interpolation); x is reordered. */
double absolute_quantile(double *x, size_t n, double q);

#endif
