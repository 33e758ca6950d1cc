/* gpu_power.c - power and utilisation of a GPU.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/gpu/gpu_power.h"

#include "real/worker/net.h"

bool gpu_meter_begin(struct gpu_meter *m, const struct gpu *g)
{
    char bus[32] = "";
    *m = (struct gpu_meter){.begin_ns = net_now_ns()};
    if (!g->nvml || g->api.get_bus_id(bus, sizeof bus, g->device) || g->api.nvml_find(bus, &m->device)) return false;
    if (g->api.nvml_energy_mj(m->device, &m->begin_mj)) m->begin_mj = 0;
    m->gpu = g;
    return true;
}

void gpu_meter_sample(struct gpu_meter *m)
{
    unsigned mw;
    struct nvml_rates rates;
    if (!m->gpu || m->gpu->api.nvml_power_mw(m->device, &mw) || m->gpu->api.nvml_utilisation(m->device, &rates)) return;
    m->watts += mw * 1e-3;
    m->utilisation += rates.gpu * 1e-2;
    m->samples++;
}

bool gpu_meter_mean(const struct gpu_meter *m, double *watts, double *utilisation)
{
    unsigned long long mj;
    double elapsed_s = (double)(net_now_ns() - m->begin_ns) * 1e-9;
    if (m->samples == 0) return false;
    *watts = m->watts / m->samples;
    *utilisation = m->utilisation / m->samples;
    if (m->begin_mj && !m->gpu->api.nvml_energy_mj(m->device, &mj) && mj > m->begin_mj && elapsed_s >= 1)
        *watts = (double)(mj - m->begin_mj) * 1e-3 / elapsed_s;
    return true;
}
