/* line.h - a line that the driver (driver.py) prints: what Ray Train's controller does, what the ranks say.
 *
 *     struct ray_line l;
 *     if (ray_line_read(text, n, &l)) ...     // "trainyard {...}"; other output of the job is false, and so is what has no sense
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_RAY_LINE_H
#define TRAINYARD_REAL_RAY_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "real/host/line.h"
#include "run/conditions.h"

enum ray_line_kind { RAY_DRIVER, RAY_STATE, RAY_PLACED, RAY_GROUP, RAY_FAULT, RAY_RANK, RAY_STEPS };
enum { RAY_MOST_RANKS = 4096, RAY_ADDRESS = 64 };

/* Steps first .. next - 1, and their parts in sum. */
struct ray_steps { int64_t first, next, data_ns, compute_ns, communication_ns, checkpoint_ns; };

struct ray_line {
    enum ray_line_kind kind;
    int64_t time_ns;                 /* since the epoch; of RAY_STEPS: end of the last one */
    int state;                       /* RAY_STATE: enum ray_train_state, or -1: one that has no counterpart there */
    int64_t group, world, rank;      /* world of RAY_STATE: workers that are asked for; 0: not told */
    bool hang;                       /* RAY_FAULT; else the worker is killed */
    struct worker_line said;         /* RAY_RANK; never a step */
    struct ray_steps steps;          /* RAY_STEPS */
    uint32_t n_nodes;                /* RAY_PLACED, RAY_GROUP: node of each bundle, of each rank */
    char nodes[RAY_MOST_RANKS][RAY_ADDRESS];
};

bool ray_line_read(const char *text, size_t n, struct ray_line *);

#endif
