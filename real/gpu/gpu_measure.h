/* gpu_measure.h - what a GPU of this machine reaches: rows of work and time, on the device's own clock.
 *
 *     struct gpu_rows rows = {0};
 *     gpu_measure(&gpu, &(struct gpu_measure_options){ .budget_ns = seconds(90) }, &rows, &diag);
 *
 * Quantity   work              rows
 * gemm       operations        square products in bfloat16, 1,024 to 16,384 wide, and the four projections of common widths
 * memory     bytes moved       copies on the device, 1 MiB to 1 GiB: each byte read and written counts
 * to-device  bytes             copies from page-locked memory of the host, 64 KiB to 256 MiB
 * to-host    bytes             and back
 * step       operations        gpu_step.h, some widths and depths
 * all-reduce bytes of a rank   NCCL's, over all GPUs of the machine, 4 KiB to 256 MiB; none with one GPU
 *
 * Each row is the median of so many repeats as fit, at least GPU_REPEATS, after one that is not counted; sizes that
 * do not fit into the device's memory are left out. When the time given is over, the rest of the rows is left out, the smaller first
 * of each quantity being there. Power and utilisation while steps run are NVML's, where it is.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_GPU_GPU_MEASURE_H
#define TRAINYARD_REAL_GPU_GPU_MEASURE_H

#include <stdint.h>

#include "base/array.h"
#include "real/gpu/gpu_step.h"

#define GPU_REPEATS 5

enum gpu_quantity { GPU_GEMM, GPU_MEMORY, GPU_TO_DEVICE, GPU_TO_HOST, GPU_STEP, GPU_ALL_REDUCE, N_GPU_QUANTITIES };
extern const char *const gpu_quantity_names[N_GPU_QUANTITIES];

struct gpu_row {
    enum gpu_quantity quantity;
    double work, time_s;
    int m, n, k; /* of a product; of a step: layers, width, tokens */
};

struct gpu_power { /* of device 0, while steps ran */
    double mean_w, utilisation; /* utilisation: of time, 0 to 1 */
    int samples;                /* 0: NVML did not tell */
};

struct gpu_rows {
    ARRAY(struct gpu_row) list;
    struct gpu_power power;
    int all_reduce_ranks;
};

struct gpu_measure_options {
    int64_t budget_ns;
};

bool gpu_measure(struct gpu *, const struct gpu_measure_options *, struct gpu_rows *, struct diag *);
void gpu_rows_free(struct gpu_rows *);

#endif
