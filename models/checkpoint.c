/* checkpoint.c - see checkpoint.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/checkpoint.h"

#include <string.h>

#include "base/detmath.h"

/* clang-format off */
const struct checkpoint_state checkpoint_states[] = {
    /* name                 weights master optimizer gradients */
    {"adam-mixed",          2, 4, 8, 0, "16-bit weights, 32-bit master copy, two 32-bit moments",
     "BLOOM tr11: 8 optimizer, 4 fp32 and 2 bf16 bytes (bigscience-workshop, train/tr11-176B-ml)"},
    {"adam-universal",      0, 4, 8, 0, "32-bit master copy and two 32-bit moments; 16-bit weights are made from it",
     "Universal Checkpointing, arXiv 2406.18820: 12 bytes"},
    {"adam-gradients",      2, 4, 8, 2, "adam-mixed with 16-bit gradients: all that training holds",
     "ZeRO, arXiv 1910.02054, section 3.1: 16 bytes"},
    {"adam-fp32",           4, 0, 8, 0, "32-bit weights and two 32-bit moments", "Kingma and Ba, arXiv 1412.6980"},
    {"adam-bf16",           2, 0, 4, 0, "16-bit weights and moments, no master copy", "torch.optim.AdamW over bf16 weights"},
    {"adam-8bit",           2, 4, 2, 0, "16-bit weights, 32-bit master copy, two 8-bit moments",
     "8-bit optimizers, arXiv 2110.02861"},
    {"adafactor",           4, 0, 0, 0, "32-bit weights; the factored second moment is small beside them",
     "Shazeer and Stern, arXiv 1804.04235"},
    {"sgd-momentum",        4, 0, 4, 0, "32-bit weights and one momentum", "torch.optim.SGD"},
    {"sgd",                 4, 0, 0, 0, "32-bit weights", "torch.optim.SGD"},
    {"weights",             2, 0, 0, 0, "16-bit weights alone, as for serving", "BLOOM tr11: 329 GiB for 176 billion"},
};
/* clang-format on */
const size_t n_checkpoint_states = sizeof checkpoint_states / sizeof *checkpoint_states;

const struct checkpoint_state *checkpoint_state_named(const char *name)
{
    for (size_t i = 0; i < n_checkpoint_states; i++)
        if (!strcmp(checkpoint_states[i].name, name)) return &checkpoint_states[i];
    return NULL;
}

double checkpoint_state_bytes(const struct checkpoint_state *s)
{
    return s->weights + s->master + s->optimizer + s->gradients;
}

/* ---- one save, one load ---- */

/* Seconds for the bytes through a limit, `width` of them side by side. */
static double through(double bytes, double bytes_per_s, double width)
{
    return bytes_per_s > 0 ? bytes / (bytes_per_s * width) : 0;
}

static double slowest(double a, double b) { return a > b ? a : b; }

/* `whole`: processes that each move all the state, when it is not sharded. */
static double transfer_s(const struct checkpoint_layout *l, const struct checkpoint_path *p, double whole, double store,
                         enum checkpoint_limit *limit)
{
    double bytes = l->bytes * whole, processes = l->sharded ? l->gpus : whole;
    double nodes = l->sharded ? l->nodes : whole < l->nodes ? whole : l->nodes;
    double by[N_CHECKPOINT_LIMITS] = {0, through(bytes, p->process_bytes_per_s, processes),
                                      through(bytes, p->node_bytes_per_s, nodes), through(bytes * l->savers, store, 1)};
    *limit = LIMIT_NONE;
    for (int i = 1; i < N_CHECKPOINT_LIMITS; i++)
        if (by[i] > by[*limit]) *limit = (enum checkpoint_limit)i;
    return p->fixed_s + by[*limit];
}

static double copy_s(const struct checkpoint_layout *l, const struct checkpoint_path *p)
{
    double gpus = l->sharded ? l->gpus : 1, nodes = l->sharded ? l->nodes : 1;
    return slowest(through(l->bytes, p->copy_bytes_per_s, gpus), through(l->bytes, p->host_bytes_per_s, nodes));
}

struct checkpoint_times checkpoint_times(const struct checkpoint_layout *l, const struct checkpoint_path *p)
{
    struct checkpoint_times t = {0};
    t.save_s = transfer_s(l, p, 1, p->store_write_bytes_per_s, &t.save_limit);
    t.load_s = transfer_s(l, p, l->copies, p->store_read_bytes_per_s, &t.load_limit);
    t.stall_s = l->async ? copy_s(l, p) : t.save_s;
    t.background_s = l->async ? t.save_s : 0;
    return t;
}

/* ---- a run of them ---- */

/* e^x - 1, without losing what is small beside 1. */
static double exp_less_one(double x)
{
    if (x > 1e-3 || x < -1e-3) return det_exp(x) - 1;
    return x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5))));
}

double checkpoint_segment_s(double work_s, struct checkpoint_cost c, const struct checkpoint_risk *r)
{
    double length = work_s + c.stall_s;
    if (!(r->mtbf_s > 0)) return length;
    double again = det_exp((r->recovery_s + c.lag_s) / r->mtbf_s);
    return again * (r->mtbf_s + r->down_s) * exp_less_one(length / r->mtbf_s);
}

double checkpoint_goodput(double work_s, struct checkpoint_cost c, const struct checkpoint_risk *r)
{
    return work_s > 0 ? work_s / checkpoint_segment_s(work_s, c, r) : 0;
}

double checkpoint_young_s(double stall_s, double mtbf_s) { return det_sqrt(2 * stall_s * mtbf_s); }

double checkpoint_daly_s(double stall_s, double mtbf_s)
{
    if (stall_s >= 2 * mtbf_s) return mtbf_s;
    double half = stall_s / (2 * mtbf_s);
    return checkpoint_young_s(stall_s, mtbf_s) * (1 + det_sqrt(half) / 3 + half / 9) - stall_s;
}
