/* job_series.h - curves of a job's training, as the scenario tells them (study/series.h), kept between draws.
 *
 *     job_points p = {0};
 *     const struct job_series *s = job_series(&ui->memos, run, scene);      // NULL: no timeline
 *     job_series_points(s, job, 100, &p);                                  // about 100 a job; empty when nothing is told
 *     array_free(&p);
 *
 * The first call for a run costs a pass over its timeline and the reading of its scenario.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_VIEWS_JOB_SERIES_H
#define TRAINYARD_VIZ_VIEWS_JOB_SERIES_H

#include "base/array.h"
#include "viz/model/scene.h"
#include "viz/ui/memo.h"

struct job_point {
    int64_t time_ns;
    double loss, samples_per_s, tokens_per_s; /* NAN: not told */
};
typedef ARRAY(struct job_point) job_points;

struct job_series;
const struct job_series *job_series(struct memo **, unsigned run, const struct scene *);
const char *job_series_error(const struct job_series *); /* why there are none, NULL: there may be */
void job_series_points(const struct job_series *, int32_t job, int64_t parts, job_points *);

#endif
