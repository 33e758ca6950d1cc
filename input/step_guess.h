/* step_guess.h - what a table of training steps does not say, from what fits into the GPU's memory.
 *
 * People recompute activations where they would not fit, and take the largest micro-batch that fits. Memory is that of
 * memory_fit.h, mixed precision with Adam, with FlashAttention (no scores kept). Of the 144 public rows of the llm-foundry table
 * the first guess is right for all (tests/input/test_step_table.c).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_STEP_GUESS_H
#define TRAINYARD_INPUT_STEP_GUESS_H

#include "models/step_efficiency.h"

/* Whether the kept activations of a micro-batch do not fit beside weights, gradients and optimizer. */
bool step_guess_recompute(const struct step_work *, const struct gpu_spec *);
/* In how many micro-batches `sequences` a rank are worked through: the fewest that fit; `sequences` when none does. */
double step_guess_micro_batches(const struct step_work *, const struct gpu_spec *, double sequences);

#endif
