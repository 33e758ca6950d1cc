/* placement_draws.h - what steps of as many GPUs and the same local batch have in common, beside their placement.
 *
 * Samplers of training data are seeded: n ranks with a local batch b draw the same samples wherever they lie. With samples of
 * different lengths (speech, text, images that are scaled) the measured rank then computes more or less than the others by the
 * same amount in all placements of n and b. No formula of the placement knows it, but rows of other placements show it:
 *
 *     struct placement_draws d = {0};
 *     placement_draws_learn(residuals, n, &d);                        // sorts residuals
 *     const struct placement_draw *own = placement_draws_find(&d, gpus, local_batch);   // NULL: not seen
 *     step *= exp(own->step); sync *= exp(own->sync);
 *     placement_draws_free(&d);
 *
 * A residual is ln measured / formula. Of k residuals with equal n and b the median counts k / (k + c): c, one number for steps
 * and one for syncs of all n and b, is the one of 0, 1/2, 1, 2, 4, 8 and infinity (nothing in common) by which each row is best
 * told from the others of its n and b (least sum of absolute errors). Cost: O(n (log n + k^2)).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_PLACEMENT_DRAWS_H
#define TRAINYARD_STUDY_PLACEMENT_DRAWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

struct placement_residual { /* NAN: not measured */
    uint32_t gpus;
    double local_batch, step, sync;
};

struct placement_draw { uint32_t gpus; double local_batch, step, sync; };

struct placement_draws {
    ARRAY(struct placement_draw) list; /* by gpus, then batch; empty where nothing is in common */
    double step_held, sync_held;       /* c of each; INFINITY: nothing in common */
};

void placement_draws_learn(struct placement_residual *, size_t n, struct placement_draws *);
const struct placement_draw *placement_draws_find(const struct placement_draws *, uint32_t gpus, double local_batch);
void placement_draws_free(struct placement_draws *);

#endif
