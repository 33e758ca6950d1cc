/* gpu_power.h - power and utilisation of a GPU, as NVML tells them.
 *
 *     struct gpu_meter m;
 *     gpu_meter_begin(&m, &gpu);          // false where NVML is not there, or knows not this device
 *     gpu_meter_sample(&m);               // now and then
 *     gpu_meter_mean(&m, &watts, &utilisation)
 *
 * Watts are energy over time where the device counts energy (from Volta on), else the mean of the samples; utilisation is
 * the mean of what NVML says of its last period: the part of time in which a kernel ran.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_GPU_GPU_POWER_H
#define TRAINYARD_REAL_GPU_GPU_POWER_H

#include <stdint.h>

#include "real/gpu/gpu.h"

struct gpu_meter {
    const struct gpu *gpu;
    nvml_device device;
    int samples;
    double watts, utilisation; /* sums over samples */
    int64_t begin_ns;
    unsigned long long begin_mj; /* 0: energy is not counted */
};

bool gpu_meter_begin(struct gpu_meter *, const struct gpu *);
void gpu_meter_sample(struct gpu_meter *);
/* False when nothing was sampled. */
bool gpu_meter_mean(const struct gpu_meter *, double *watts, double *utilisation);

#endif
