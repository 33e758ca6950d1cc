/* calibrate_gpu.h - from what was measured on a machine's GPUs to profiles, with residuals.
 *
 *     struct gpu_fit fits[N_GPU_QUANTITIES];
 *     calibrate_gpu(&rows, fits);
 *     calibrate_gpu_hardware(&facts, gpus, fits, name, source, &json);      // a hardware profile
 *     calibrate_gpu_kernels(spec, fits, name, source, &json)                // a kernel profile
 *     calibrate_gpu_residuals(&rows, fits, &csv);
 *
 * Each quantity is a line over its work: t = start + work / rate, least squares of relative errors (weights 1/t^2; GSL's
 * gsl_fit_wlinear), start at least 0. Two rows are needed. Residuals are predicted / measured - 1; their median and 90th
 * percentile are of absolute values. The error of the rate is the fit's own standard error, relative.
 * The ceiling of matrix products is the best row's rate, not the line's: small and narrow ones do not reach it.
 *
 * Kernel profile: `gemm` is the fraction that the matrix products of whole steps reach of what the largest do by
 * models/gpu_spec.h; a GPU that is not in that table has none. All else keeps the defaults. Hardware profile: `pcie` is the
 * slot's line rate, `intra` the bus bandwidth of the all-reduce's largest messages where there are several GPUs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_CALIBRATE_GPU_H
#define TRAINYARD_STUDY_CALIBRATE_GPU_H

#include "base/str.h"
#include "models/gpu_spec.h"
#include "real/gpu/gpu_measure.h"

struct gpu_fit {
    size_t rows;                    /* 0: not measured */
    double start_s, rate, best_rate; /* work a second; best: of the single best row */
    double rate_error;              /* relative, 1 sigma; NaN with two rows */
    double median, p90;             /* of residuals */
};

void calibrate_gpu(const struct gpu_rows *, struct gpu_fit[N_GPU_QUANTITIES]);
double calibrate_gpu_s(const struct gpu_fit *, double work);

void calibrate_gpu_hardware(const struct gpu_facts *, int gpus, const struct gpu_fit[N_GPU_QUANTITIES], int all_reduce_ranks,
                            const char *name, const char *source, struct str *json);

/* What the steps reach of the specification's largest products; 0 where there is no spec or no row. */
double calibrate_gpu_gemm(const struct gpu_spec *, const struct gpu_fit[N_GPU_QUANTITIES]);
void calibrate_gpu_kernels(const struct gpu_spec *, const struct gpu_fit[N_GPU_QUANTITIES], const char *name, const char *source,
                           struct str *json);

/* quantity,work,m,n,k,measured_s,predicted_s,residual */
void calibrate_gpu_residuals(const struct gpu_rows *, const struct gpu_fit[N_GPU_QUANTITIES], struct str *csv);

#endif
