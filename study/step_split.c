/* step_split.c - see step_split.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/step_split.h"

enum { TENSOR_MOST = 64, PIPELINE_MOST = 64, MICRO_MOST = 64 };

struct search {
    const struct step_freedom *free;
    uint32_t gpus;
    size_t fit;
    double best_s, least_bytes;
    struct step_input *best;
};

struct memory_fit step_memory(const struct step_input *in)
{
    return memory_fit(&in->model, &in->split, &in->batch, in->hardware.gpu.memory_bytes, in->hardware.workspace_bytes);
}

static double total_s(const struct step_input *in)
{
    struct step_time t = step_time(in);
    return step_total(&t);
}

bool step_scaled(const struct step_input *in, uint32_t gpus, struct step_input *out)
{
    uint32_t others = in->split.tensor * in->split.pipeline * in->split.context;
    if (gpus % others) return false;
    *out = *in;
    out->split.data = gpus / others;
    return step_problem(out) == NULL && in->batch.global >= out->split.data;
}

static void consider(struct search *s, const struct step_input *in)
{
    struct memory_fit f = step_memory(in);
    if (!memory_fits(&f)) {
        if (s->fit == 0 && (s->least_bytes == 0 || f.total < s->least_bytes)) {
            s->least_bytes = f.total;
            *s->best = *in;
        }
        return;
    }
    double t = total_s(in);
    if (s->fit++ && t >= s->best_s) return;
    s->best_s = t;
    *s->best = *in;
}

static void vary_recompute(struct search *s, struct step_input in)
{
    consider(s, &in);
    if (!s->free->recompute || !in.model.layers) return;
    in.batch.recompute = RECOMPUTE_FULL;
    consider(s, &in);
}

static void vary_micro(struct search *s, struct step_input in)
{
    double each = in.batch.global / in.split.data;
    uint32_t most = each < MICRO_MOST ? (uint32_t)each : MICRO_MOST;
    if (!s->free->micro || !in.model.layers) {
        vary_recompute(s, in);
        return;
    }
    for (in.batch.micro = 1; in.batch.micro <= most; in.batch.micro *= 2) vary_recompute(s, in);
}

static void vary_zero(struct search *s, struct step_input in)
{
    struct step_input out;
    if (!step_scaled(&in, s->gpus, &out)) return;
    for (uint8_t zero = 1; zero <= (in.split.pipeline > 1 ? 1 : 3); zero = (uint8_t)(zero + 2)) {
        out.split.zero = zero;
        out.overlap = zero == 3 ? 0 : 1;
        vary_micro(s, out);
    }
}

static void vary_split(struct search *s, struct step_input in)
{
    uint32_t node = in.place.run < TENSOR_MOST ? in.place.run : TENSOR_MOST;
    if (!in.model.layers) {
        in.split = (struct parallelism){1, 1, 1, 1, 1, 1, 0, false};
        if (step_scaled(&in, s->gpus, &in)) consider(s, &in);
        return;
    }
    for (uint32_t tensor = 1; tensor <= node; tensor *= 2)
        for (uint32_t pipeline = 1; pipeline <= PIPELINE_MOST; pipeline *= 2) {
            if (in.model.layers % pipeline) continue;
            in.split = (struct parallelism){1, tensor, pipeline, 1, 1, 1, 1, tensor > 1};
            vary_zero(s, in);
        }
}

size_t step_split_search(const struct step_input *asked, uint32_t gpus, const struct step_freedom *what, struct step_input *best)
{
    struct search s = {what, gpus, 0, 0, 0, best};
    *best = *asked;
    if (what->split) vary_split(&s, *asked);
    else vary_micro(&s, *asked);
    return s.fit;
}
