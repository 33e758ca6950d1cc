/* device.h - the GPU of a rank: each step computes the matrix products of a transformer on it, beside the model's own gradient.
 *
 *     struct device v;
 *     if (!device_open(&v, local_rank, shape, needs, &diag)) return EXIT_IO;      // "no GPU: ..."
 *     device_begin(&v, &diag); ... the gradient, on the CPU ... device_end(&v, &diag);
 *     device_tell(&v, &record);
 *     device_close(&v);
 *
 * Of the GPUs that the process is shown, local rank i takes number i modulo how many there are: one is shown where a
 * scheduler hands them out (CUDA_VISIBLE_DEVICES).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_WORKER_DEVICE_H
#define TRAINYARD_REAL_WORKER_DEVICE_H

#include "real/gpu/gpu_power.h"
#include "real/gpu/gpu_step.h"
#include "real/worker/steplog.h"

#define DEVICE_SAMPLE_NS (INT64_C(100) * 1000000) /* NVML's own periods are 20 to 100 ms and more */

struct device {
    struct gpu gpu;
    struct gpu_step step;
    struct gpu_meter meter;
    struct gpu_facts facts;
    int64_t sampled_ns, steps;
    double busy_s; /* of the device, in steps */
};

bool device_open(struct device *, int local_rank, struct gpu_shape, unsigned needs, struct diag *);
bool device_begin(struct device *, struct diag *);
bool device_end(struct device *, struct diag *);
void device_tell(const struct device *, struct gpu_record *);
void device_close(struct device *);

#endif
