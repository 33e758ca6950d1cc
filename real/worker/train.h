/* train.h - data-parallel training: the loop of one rank.
 *
 * A step: wait for the batch, add up the gradients of this rank's share of it, sum them over ranks with one
 * all-reduce, update. Behind the gradient the same all-reduce carries the loss and four counts that all ranks must
 * agree on in the same step: who has been asked to stop, whether somebody new has come, whose part of the checkpoint
 * under way is written, whose has failed. So all stop, or name a checkpoint, in the same step, with no message beside.
 *
 * Checkpoints: before step N, N a multiple of `every`, and at the end (unless no_last_save). Sync: training stands until all
 * parts are written. Async: it goes on, and rank 0 gives the name in the step in which it learns that all are written; a next
 * one waits for that. Resume: rank 0 loads and sends it to all; told to go back to a step, or to none, it drops what is newer,
 * and otherwise nothing. Momentum, step and so the order of data go on as if nothing had been; at the same number of ranks the
 * weights are bit for bit those of an undisturbed run.
 *
 * Elastic: when somebody new comes to the meeting place, all save (or not: on_resize) and leave in the same step with TRAIN_RESIZE; when a rank is
 * lost, those left leave with TRAIN_LOST. Their caller joins again and goes on from the newest checkpoint.
 *
 *     int code = train(&options, data, comm, &log, &start);     // 0, 3, 4, 130 after SIGTERM or SIGINT, or one of the two
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_WORKER_TRAIN_H
#define TRAINYARD_REAL_WORKER_TRAIN_H

#include "real/worker/checkpoint.h"
#include "real/worker/comm.h"
#include "real/worker/dataset.h"
#include "real/worker/device.h"
#include "real/worker/fault.h"
#include "real/worker/model.h"
#include "real/worker/steplog.h"

#define TRAIN_RESUME_NEWEST (-1)
#define TRAIN_RESUME_NONE   (-2)

enum { TRAIN_LOST = -1, TRAIN_RESIZE = -2 };

/* When somebody comes to an elastic world: all save and leave, leave, or train on until whoever supervises ends them. */
enum resize_way { RESIZE_SAVES, RESIZE_DROPS, RESIZE_IGNORES };

struct train_options {
    const char *data;
    int hidden[MODEL_LAYERS_MAX - 1], n_hidden;
    uint32_t batch; /* of all ranks together */
    int64_t steps;
    double rate, momentum;
    int64_t warmup; /* steps over which the rate grows to its value */
    uint64_t seed;
    int prefetch;
    int64_t pace_ns; /* computing a step takes at least this long */
    struct device *device; /* NULL: none */
    int pace_ranks;  /* ... on so many ranks; on others in proportion to its part of the batch; 0: on any */

    const char *checkpoints; /* a store's place; NULL: none */
    int64_t every;
    struct saver_options saver;
    bool async;
    bool no_last_save; /* the end of training is no reason to save */
    enum resize_way on_resize;
    int64_t resume; /* a step, or TRAIN_RESUME_ */

    struct fault *faults;
    size_t n_faults;
    int first_rank; /* for the faults: the one of the first join */
    const volatile int *stop; /* set when asked to */
};

/* What all ranks must run with alike, with the data's checksum. */
uint64_t train_settings(const struct train_options *, const struct dataset *);

int train(const struct train_options *, const struct dataset *, struct comm *, struct steplog *, struct start_record *);

/* Says which peer is lost; gives TRAIN_LOST. */
int train_lost(const struct comm *);

#endif
