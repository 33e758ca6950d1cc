/* job_series.h - curves of a job's training, as the scenario tells them (study/series.h), kept between draws.
 *
 *     const struct job_series *s = job_series(&ui->memos, run, scene);      // NULL: no timeline
 *     const job_points *p = job_series_points(&ui->memos, run, scene, job); // by time; empty when nothing is told
 *
 * The first call for a run costs a pass over its timeline and the reading of its scenario; for a job, its points.
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
    double step_s;                            /* as recorded, over the steps until the next record; NAN: none */
};
typedef ARRAY(struct job_point) job_points;

struct job_series;
const struct job_series *job_series(struct memo **, unsigned run, const struct scene *);
const char *job_series_error(const struct job_series *); /* why there are none, NULL: there may be */
const job_points *job_series_points(struct memo **, unsigned run, const struct scene *, int32_t job);

#endif
