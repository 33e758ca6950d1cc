/* placed_step.h - a data-parallel step by where its GPUs lie: what one rank computes, and how long it waits for the others.
 *
 *     struct placed_time t = placed_step(&numbers, (struct gpu_placement){.nodes = 2, .gpus = 6, .most = 4}, local_batch);
 *     t.compute_s + t.sync_s                                  // the step
 *
 * One rank's compute is c + s b for a local batch b. Its wait, for n GPUs on N nodes with at most g on one, is
 *     sync = fixed + hidden(x) + rest x comm + uneven x compute x ln n            (fixed alone for one GPU)
 *     comm = [2 (n - 1)/n w + 2 (n - 1) hop] crowd^(g - 1)     across nodes; 2 (n - 1)/n w within one
 *     x    = comm - overlap x compute
 * comm is a ring all-reduce (ring.h): w the gradient over the bandwidth, w = node_s within a node, pair_s between two nodes
 * (all connections join one pair of hosts), fabric_s among more; each further GPU of a node slows its node's traffic by the
 * factor crowd. Of it what does not fit behind the backward pass, overlap x compute, is exposed (PyTorch DDP: Li et al., VLDB
 * 2020, section 3.2.3), and the last bucket always, which no computation follows. comm varies from step to step: hidden(x) is
 * the mean of max(0, x) for a logistic deviation of blur x comm, blur comm ln(1 + e^(x / (blur comm))). The slowest of n
 * ranks, whose speeds differ, keeps the others waiting: of n exponential tails the largest grows as ln n.
 *
 * Beside it: Pollux (Qiao et al., OSDI 2021, section 3.2) has one bandwidth and latency each for one and for several nodes
 * and combines compute and sync by a power mean; what it measured is this model's data (docs/models.md).
 *
 * Pure; seconds; no function of libm. Cost: O(1).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_MODELS_PLACED_STEP_H
#define TRAINYARD_MODELS_PLACED_STEP_H

#include <stdint.h>

struct gpu_placement { uint32_t nodes, gpus, most; /* most: on one node */ };

/* Of one model on one platform; all positive. */
struct placed_numbers {
    double compute_s;  /* of a step, whatever its batch */
    double sample_s;   /* of each sample */
    double fixed_s;    /* of a synchronisation with nobody: copies of the buckets */
    double node_s, pair_s, fabric_s; /* gradient over bandwidth */
    double hop_s;      /* latency of a hop, over all buckets */
    double crowd;      /* 1: GPUs of a node do not slow each other */
    double overlap;    /* share of compute behind which communication hides */
    double rest;       /* share of communication that nothing hides */
    double uneven;     /* relative spread of the ranks' compute times */
    double blur;       /* relative deviation of the communication time */
};

struct placed_time { double compute_s, sync_s; }; /* a step is their sum */
struct placed_time placed_step(const struct placed_numbers *, struct gpu_placement, double local_batch);

#endif
