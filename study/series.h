/* series.h - what one would see on a job's dashboard, at moments of its run: loss, learning rate, gradient norm, samples/s ...
 *
 *     struct series s;
 *     if (!series_read(run, &s, &warnings, &err)) ...
 *     struct series_point p = series_at(&s, &s.progress.spans.v[i], step);
 *     series_free(&s);
 *
 * Nothing of it is recorded: it follows from how far a job was when (progress.h) and from its resolved scenario. What the
 * scenario does not tell is NAN. At a step k:
 *   samples          of a step ("batch", else "data"), times k; tokens: times the model's sequence
 *   loss             input/learning.h, after these samples
 *   learning rate    ibid., of step k
 *   gradient norm    sqrt(-(d loss / d step) / learning rate): plain gradient descent with that loss and rate, whose loss falls
 *                    by rate x norm^2 a step to first order; what a run with Adam shows differs by Adam's scaling
 *   samples/s, tokens/s  samples a step over the pace of the span
 *   GPU memory       of the fullest GPU (models/memory_fit.h), of a job with a model
 *   network bytes/s  what the job's ring or its groups put on links between nodes (models/traffic.h, models/step.h)
 *   read bytes/s     from the store of its data, cached ones not counted
 * Sizes are those that the job asked for, on full nodes; an elastic job's pace is its own, its bytes a step are not.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_SERIES_H
#define TRAINYARD_STUDY_SERIES_H

#include "base/str.h"
#include "input/scenario.h"
#include "study/progress.h"

struct series_job {      /* what does not change while it runs; NAN: not known */
    const struct learning_spec *learning;
    int64_t total_steps; /* 0: not known */
    double samples, tokens; /* a step */
    double parameters;
    double memory_bytes, network_bytes, read_bytes; /* of the fullest GPU; a step */
};

struct series {
    struct scenario *scenario;
    struct series_job *jobs; /* by number */
    size_t n_jobs;
    struct progress progress;
};

struct series_point {
    int64_t time_ns;
    double samples, tokens, loss, learning_rate, gradient_norm, samples_per_s, tokens_per_s, memory_bytes,
        network_bytes_per_s, read_bytes_per_s;
};

/* False and *err (to free): no scenario, no timeline, or damaged ones. */
bool series_read(const struct run *, struct series *, char **err);
/* At a step of a span, first <= step <= last. */
struct series_point series_at(const struct series *, const struct progress_span *, int64_t step);
void series_free(struct series *);

/* Steps at which a span is shown: its ends, and what divides its job into so many parts. The one behind `step`, or -1. */
int64_t series_next(const struct series *, const struct progress_span *, int64_t step, int64_t parts);

/* The series of one job as a table: a row each tenth of its steps. False and *err (to free): no such job, or as series_read. */
bool series_text(const struct run *, const char *job, struct str *, char **err);

/* After so many steps; NAN where nothing is said. */
double learning_loss(const struct series_job *, int64_t step);
double learning_rate(const struct series_job *, int64_t step);
double learning_gradient(const struct series_job *, int64_t step);

#endif
