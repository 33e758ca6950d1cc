/* wait_series.h - how many jobs waited for what over time, one step function a reason.
 *
 *     struct wait_series *w = wait_series_create(scene);
 *     wait_series_columns(w, WAIT_QUOTA, from, to, 1200, col);
 *     wait_series_destroy(w);
 *
 * From the job tracks: a job counts from the begin of a wait to its end; in a queue by what its class waits for from moment to moment
 * (scene_wait_at). So the integral over a whole run is the sum of that column of jobs.csv, exactly; but where a run does not tell the
 * classes, for those of queues together.
 * Cost: 24 bytes a change, O(log n) a column.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_MODEL_WAIT_SERIES_H
#define TRAINYARD_VIZ_MODEL_WAIT_SERIES_H

#include "viz/model/curves.h"

struct wait_series *wait_series_create(const struct scene *);
void wait_series_destroy(struct wait_series *);

double wait_series_at(const struct wait_series *, unsigned reason, int64_t ns);
double wait_series_most(const struct wait_series *); /* jobs that waited at once, for whatever */
void wait_series_columns(const struct wait_series *, unsigned reason, int64_t from_ns, int64_t to_ns, unsigned n, struct curve_column *); /* means only */

#endif
