/* lifecycle.h - the table of life cycles: what an admitted job does.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_LIFECYCLE_H
#define TRAINYARD_SIM_LIFECYCLE_H

#include "sim/cluster/sim.h"

const struct lifecycle_ops *lifecycle_find(enum lifecycle_name);

extern const struct lifecycle_ops lifecycle_none;                  /* GPUs for a duration: sim/none.c */
extern const struct lifecycle_ops lifecycle_training_operator_v1;  /* sim/operator/ */
extern const struct lifecycle_ops lifecycle_batch_job;             /* sim/operator/job.h */
extern const struct lifecycle_ops lifecycle_ray_train_v2;          /* sim/actor/ */

#endif
