/* data.h - a job's "data": what its steps read, and what the loader of one of its processes has for that.
 *
 *     if (detail->data) {
 *         struct data_loading l = data_loading_at(scenario, detail, &(struct data_place){.gpus = 16, .on_node = 8, .nodes = 2,
 *                                                 .cores = 12, .steps = 10000, .share = 1});
 *         wait_s = data_loading_wait_s(&l, step_s);              // models/data_loading.h
 *     }
 *
 * Each GPU has a loader of its own (a pod of 8 GPUs has 8), or, of a job with a model, each data-parallel rank: the GPUs that
 * share a sample have one. A loader may read as fast as the least of
 *   its share of the store      read bytes/s of the store over all loaders of the job; over those of a node for a local store
 *   its share of its node       inter bytes/s of the cluster's network over the loaders of the node, where it is given
 * and uses as many cores as "cores" says, else its share of what the pod asks for, else its share of the node.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_DATA_H
#define TRAINYARD_INPUT_DATA_H

#include "input/scenario.h"
#include "models/data_loading.h"

struct data_spec {
    double samples;         /* a step and loader, on the nominal number of GPUs */
    uint32_t gpus_a_loader;
    uint32_t workers, prefetch; /* prefetch: batches a worker */
    bool threads;
    int64_t cpu_ns;         /* a sample */
    double locked;          /* share of it under the interpreter's lock */
    int64_t cores_milli;    /* of a loader; 0: as above */
    int64_t sample_bytes;
    uint32_t store;         /* index; NO_STORE */
    int64_t latency_ns;     /* of a read */
    double variation;       /* of a batch's loading time */
    int64_t dataset_bytes;  /* 0: not said, nothing is read twice */
    int64_t cache_bytes;    /* of a node */
    enum cache_rule cache_rule;
};
enum { NO_STORE = UINT32_MAX };

struct data_place {
    uint32_t gpus, nodes;      /* of the job; that they lie on */
    uint32_t on_node;          /* GPUs on the fullest node */
    double cores;              /* of a node over the GPUs of a node; 0: not known */
    int64_t steps;             /* of the whole job, for its epochs */
    double share;              /* nominal number of GPUs over that at hand: so many times the samples */
};

/* Where a job would lie that has its nodes for itself: pod by pod on those of the first group that may serve it. */
struct data_place data_place_nominal(const struct scenario *, const struct job_spec *);

/* detail->data is not NULL. */
struct data_loading data_loading_at(const struct scenario *, const struct job_detail *, const struct data_place *);
double data_loaders(const struct data_spec *, uint32_t gpus); /* among so many GPUs */
/* Share of the reads of the whole run that a node's cache serves. */
double data_hit(const struct data_spec *, const struct data_place *);

#endif
