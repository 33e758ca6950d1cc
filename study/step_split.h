/* step_split.h - how a model may be divided over GPUs: the divisions that make sense and fit, and the fastest of them.
 *
 *     struct step_input best;
 *     size_t fit = step_split_search(&asked, 64, &free, &best);  // asked: model, hardware, batch; 0: nothing fits
 *
 * Tried are tensor degrees 1, 2, 4 ... up to a node, pipelines of 1, 2, 4 ... stages that divide the layers, ZeRO 1 and 3 (3
 * without a pipeline), micro-batches 1, 2, 4 ... 64 and recompute selective or full; data-parallel ranks take the rest of the
 * GPUs. Models that are no transformers are only replicated. What the caller keeps fixed is not varied.
 * Of equal times the first in this order is taken: less division first.
 *
 * Pure. Cost: some 1,000 steps of 10 us.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_STEP_SPLIT_H
#define TRAINYARD_STUDY_STEP_SPLIT_H

#include <stdbool.h>
#include <stddef.h>

#include "models/step.h"

/* What may be varied; else it stays as in the input. */
struct step_freedom { bool split, micro, recompute; };

struct memory_fit step_memory(const struct step_input *);

/* Number of divisions that fit; *best is the fastest of them, or, when none fits, that which needs least memory. */
size_t step_split_search(const struct step_input *asked, uint32_t gpus, const struct step_freedom *, struct step_input *best);

/* The same division on another number of GPUs: data-parallel ranks change. False when they do not come out whole. */
bool step_scaled(const struct step_input *, uint32_t gpus, struct step_input *out);

#endif
