/* steplog.h - what a rank did, as JSON lines and as Prometheus text.
 *
 * One line an event, each with "event", "time_s" (since the epoch) and "rank":
 *
 *     join        kind: looks for its peers from now on; where the rank is given at the meeting, it is -1
 *     met         size: all are there, and it has its rank
 *     start       kind, size, transport, parameters, rendezvous_s, resumed_step (-1: from the beginning), load_s
 *     step        step, loss (mean of the batch), rate, gradient_norm, data_s, compute_s, communication_s, checkpoint_s, step_s
 *     save        step: a checkpoint of it begins (rank 0, as the next)
 *     checkpoint  step, save_s (begin to name), ok
 *     gpu         name, step_s (mean of the device's part), flops_per_s, power_w and utilisation (-1: not known), before the end
 *     end         step, loss, weights (fingerprint of the parameters' bytes), reason: done, stopped, resize (a rank has come)
 *
 * step_s is the whole step; what its four parts leave is the worker's own book-keeping. Steps count from 0; a checkpoint of
 * step N holds the state before step N.
 * The Prometheus text is one file, replaced as a whole at most once a second and at the end: for a file collector.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_WORKER_STEPLOG_H
#define TRAINYARD_REAL_WORKER_STEPLOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/str.h"

struct step_times {
    int64_t data_ns, compute_ns, communication_ns, checkpoint_ns, all_ns;
};

struct step_record {
    int64_t step;
    double loss, rate, gradient_norm;
    struct step_times times;
};

struct steplog {
    FILE *lines;            /* NULL: none are written */
    const char *prometheus; /* NULL: none is written */
    int rank, size;
    int64_t every; /* a line for each step that is a multiple */
    int64_t written_ns;
    struct step_record last;
    struct step_times sum; /* of this life */
    int64_t steps, checkpoints, failed_checkpoints;
    struct str text;
};

struct start_record {
    const char *kind, *transport;
    size_t parameters;
    int64_t rendezvous_ns, resumed_step, load_ns;
};

struct gpu_record {
    const char *name;
    double step_s, flops_per_s, power_w, utilisation; /* utilisation: of time, 0 to 1; -1: not known, as power */
};

void steplog_join(struct steplog *, const char *kind);
void steplog_met(struct steplog *);
void steplog_start(struct steplog *, const struct start_record *);
void steplog_step(struct steplog *, const struct step_record *);
void steplog_save(struct steplog *, int64_t step);
void steplog_checkpoint(struct steplog *, int64_t step, int64_t save_ns, bool ok);
void steplog_gpu(struct steplog *, const struct gpu_record *);
void steplog_end(struct steplog *, int64_t step, double loss, const char *weights, const char *reason);

/* False when something could not be written. */
bool steplog_close(struct steplog *, struct diag *);

#endif
