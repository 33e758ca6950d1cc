/* curves.h - quantities of a run over time, with exact integrals.
 *
 *     struct curves *c = curves_create(scene);
 *     struct curve_column col[1200]; curve_columns(c, CURVE_QUEUED_GPUS, from, to, 1200, col);   // least, most, mean a column
 *     share_ns held = curve_integral(c, CURVE_SHOW + ACT_IMAGE_PULL, from, to);
 *
 * Step functions that change at records: jobs and GPUs that wait (submitted, but their ranks not yet stepping for the first time
 * or again), jobs that run, shares by show (CURVE_SHOW + show; idle is what is left of existing ones), goodput (work that is not redone / existing),
 * bytes/s between nodes and from stores where study/series.h can tell them, and to stores what checkpoints wrote by their records.
 * Curves of GPUs are in shares (1 GPU = 1,000); integrals in share-ns equal those of scene.h, exactly.
 *
 * Cost: O(log n) beside 1/64 of the changes in the range and 64 a column; 16 bytes a change. Making:
 * 50 ns a change; curves_update: that of those that are new, and of the steps that lie behind the first of these.
 * Bytes are known once the run has ended; they are spread evenly over the time that a record tells, in whole bytes/s.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_MODEL_CURVES_H
#define TRAINYARD_VIZ_MODEL_CURVES_H

#include "viz/model/scene.h"

enum curve_id {
    CURVE_QUEUED_JOBS,
    CURVE_QUEUED_SHARES,
    CURVE_RUNNING_JOBS,
    CURVE_IDLE_SHARES,
    CURVE_EXISTING_SHARES,
    CURVE_GOODPUT,         /* ratio; from changes of work */
    CURVE_NETWORK_BYTES,   /* per second */
    CURVE_STORE_BYTES,     /* per second */
    CURVE_SHOW,            /* + show: N_SHOWS curves */
    N_CURVES = CURVE_SHOW + N_SHOWS
};

struct curve_info {
    const char *name, *title, *unit; /* "jobs", "shares", "ratio", "bytes/s" */
};
struct curve_info curve_info(unsigned id);

struct curve_column {
    double least, most, mean;
};

struct curves *curves_create(const struct scene *);
void curves_update(struct curves *);
bool curve_known(const struct curves *, unsigned id); /* false: this run does not tell it */
double curve_at(const struct curves *, unsigned id, int64_t ns);
/* The first moment at or after ns at which the curve is above x; -1: never. For "run until queue > N". */
int64_t curve_above(const struct curves *, unsigned id, double x, int64_t ns);
void curve_columns(const struct curves *, unsigned id, int64_t from_ns, int64_t to_ns, unsigned n, struct curve_column *);
double curve_most(const struct curves *, unsigned id);
share_ns curve_integral(const struct curves *, unsigned id, int64_t from_ns, int64_t to_ns); /* of curves in shares */
void curves_destroy(struct curves *);

#endif
