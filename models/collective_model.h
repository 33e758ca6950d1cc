/* collective_model.h - the models behind collective.h: NCCL and RCCL, and MPI and Gloo. For models/ itself.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_MODELS_COLLECTIVE_MODEL_H
#define TRAINYARD_MODELS_COLLECTIVE_MODEL_H

#include "models/collective.h"

/* Ranks as a model sees them: `local` in each of `nodes` equal parts joined by the network; local x nodes > 1. */
struct collective_ranks { unsigned local, nodes; };

/* bytes >= 0; the time does not fall when bytes grow. */
struct collective_choice collective_nccl(const struct collective_fabric *f, enum collective_op op, double bytes,
                                         struct collective_ranks r);
struct collective_choice collective_mpi(const struct collective_fabric *f, enum collective_op op, double bytes,
                                        struct collective_ranks r);

/* floor(log2(x)), x >= 1; and the ceiling. */
unsigned collective_log2_floor(double x);
unsigned collective_log2_ceil(unsigned x);

#endif
