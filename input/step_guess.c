/* step_guess.c - see step_guess.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/step_guess.h"

#include "base/detmath.h"
#include "models/memory_fit.h"

static uint32_t count(double x)
{
    return x < 1 ? 1 : x > UINT32_MAX ? UINT32_MAX : (uint32_t)x;
}

static bool fits(const struct step_work *w, const struct gpu_spec *gpu, double sequences, bool recompute)
{
    static const uint8_t stage[N_STEP_SHARDINGS] = {0, 2, 3};
    struct model_shape m = {.parameters = w->parameters, .active_parameters = w->parameters, .layers = count(w->layers),
                            .hidden = count(w->hidden), .vocabulary = count(w->vocabulary), .sequence = count(w->sequence),
                            .tied = true};
    struct parallelism p = {.data = count(w->ranks), .tensor = 1, .pipeline = 1, .interleave = 1, .context = 1, .expert = 1,
                            .zero = stage[w->sharding]};
    struct step_batch b = {.global = sequences * w->ranks, .micro = count(det_ceil(sequences)),
                      .recompute = recompute ? RECOMPUTE_FULL : RECOMPUTE_SELECTIVE, .precision = PRECISION_BF16};
    struct memory_fit f = memory_fit(&m, &p, &b, gpu->memory_bytes, 0);
    return memory_fits(&f);
}

bool step_guess_recompute(const struct step_work *w, const struct gpu_spec *gpu)
{
    return !fits(w, gpu, w->tokens / w->sequence, false);
}

double step_guess_micro_batches(const struct step_work *w, const struct gpu_spec *gpu, double sequences)
{
    enum { TRIES = 4096 };
    for (double n = 1; n <= sequences && n <= TRIES; n++)
        if (fits(w, gpu, sequences / n, w->recompute)) return n;
    return sequences < 1 ? 1 : sequences;
}
