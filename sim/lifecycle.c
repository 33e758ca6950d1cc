/* lifecycle.c - the table of life cycles.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/lifecycle.h"

static const struct lifecycle_ops *const lifecycles[N_LIFECYCLES] = {
    [LIFE_NONE] = &lifecycle_none,
    [LIFE_TRAINING_OPERATOR_V1] = &lifecycle_training_operator_v1,
    [LIFE_BATCH_JOB] = &lifecycle_batch_job,
    [LIFE_RAY_TRAIN_V2] = &lifecycle_ray_train_v2,
};

const struct lifecycle_ops *lifecycle_find(enum lifecycle_name name) { return lifecycles[name]; }
