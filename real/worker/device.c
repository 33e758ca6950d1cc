/* device.c - the GPU of a rank.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/worker/device.h"

#include "real/worker/net.h"

bool device_open(struct device *v, int local_rank, struct gpu_shape shape, unsigned needs, struct diag *d)
{
    *v = (struct device){0};
    if (!gpu_open(&v->gpu, GPU_BLAS | needs, d)) return false;
    bool ok = gpu_use(&v->gpu, local_rank % v->gpu.count, d) && gpu_facts(&v->gpu, &v->facts, d) &&
              gpu_step_open(&v->step, &v->gpu, shape, d);
    gpu_meter_begin(&v->meter, &v->gpu);
    if (!ok) device_close(v);
    return ok;
}

bool device_begin(struct device *v, struct diag *d)
{
    return gpu_step_begin(&v->step, d);
}

bool device_end(struct device *v, struct diag *d)
{
    double time_s = 0;
    if (net_now_ns() - v->sampled_ns >= DEVICE_SAMPLE_NS) {
        gpu_meter_sample(&v->meter);
        v->sampled_ns = net_now_ns();
    }
    bool ok = gpu_step_end(&v->step, &time_s, d);
    v->busy_s += time_s;
    v->steps++;
    return ok;
}

void device_tell(const struct device *v, struct gpu_record *r)
{
    double mean_s = v->steps ? v->busy_s / (double)v->steps : 0;
    *r = (struct gpu_record){.name = v->facts.name, .step_s = mean_s, .power_w = -1, .utilisation = -1};
    if (mean_s > 0) r->flops_per_s = gpu_shape_flops(v->step.shape) / mean_s;
    gpu_meter_mean(&v->meter, &r->power_w, &r->utilisation);
}

void device_close(struct device *v)
{
    gpu_step_close(&v->step);
    gpu_close(&v->gpu);
}
