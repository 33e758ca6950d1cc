/* data_loading.h - how fast samples come, what holds them back, and how long a step waits for them.
 *
 *     struct data_loading l = {.samples = 256, .workers = 8, .cpu_s = 0.012, .cores = 6, .sample_bytes = 110e3,
 *                              .read_bytes_per_s = 2e9, .prefetch = 16};
 *     struct data_rate r = data_loading_rate(&l);          // samples/s, and by what they are held back
 *     double wait_s = data_loading_wait_s(&l, 0.180);      // behind 180 ms of computing and communicating
 *
 * All of it is one rank's, but for the wait. A worker takes a sample at a time: it reads it, unless it is cached, and spends CPU time on it.
 * Rate is the least of four bounds (asymptotic bounds of a closed network of W customers: Denning and Buzen, Computing
 * Surveys 10, 1978; Lazowska et al., Quantitative System Performance, 1984, chapter 5):
 *     workers   W / (cpu + miss (latency + bytes / bandwidth))
 *     cores     cores / cpu
 *     lock      1 / (locked share x cpu), for threads of one interpreter; processes have one each
 *     storage   bandwidth / (miss x bytes)
 *
 * Wait. Without prefetch, or without workers (the training process loads by itself), loading and computing take turns: the
 * wait is all of t_load = samples / rate. With prefetch they overlap, and the wait a step is max(0, t_load - t_step) as long
 * as no time varies. With a coefficient of variation c of t_load, a batch may be late although loading is fast enough in the
 * mean. How far loading is ahead is a random walk with steps of mean m = t_step - t_load and deviation s = c t_load between
 * two walls; as a Brownian motion it presses on the lower wall, which is the wait, with
 *     wait = m / (e^(2 m B / s^2) - 1)
 * a step (Harrison, Brownian Motion and Stochastic Flow Systems, 1985, section 5.6), for walls B apart. That a walk jumps
 * over its walls moves each of them by 0.5826 s (Siegmund, Advances in Applied Probability 11, 1979):
 *     B = (prefetch - 1) t_step + 2 x 0.5826 s
 * For c = 0 it is the maximum above, for any prefetch. Of n ranks that step together each is pressed by its own wall and
 * lifted by what the others wait: each presses with p = wait(m + (n - 1) p), and all wait n p (a mean field: waits of others are
 * taken as spread evenly). Taking turns, and with one batch ahead, the slowest of n normal times counts (order_statistics.h).
 *
 * Cache. Each epoch reads every sample once in a new random order, a node every n-th. A cache that never gives up what it
 * holds hits with the share c of the dataset that it holds (Mohan et al., "Analyzing and Mitigating Data Stalls in DNN
 * Training", VLDB 2021, section 4.1). One that drops the least recently used hits when fewer than c of the samples came
 * between two uses: of the epochs in between the node has not seen q = (1 - 1/n)^(k-1) (k epochs later), of the two at the
 * ends X and Y, each uniform on [1 - 1/n, 1]; so hit = sum over k of 1/n (1 - 1/n)^(k-1) P(q X Y > 1 - c), which for one
 * node is c + (1 - c) ln(1 - c). The first epoch always misses.
 *
 * Not modelled: that the training process itself needs the lock; that batches of several workers are handed on in order.
 *
 * Pure, seconds and bytes; no function of libm. Cost: O(1); the cache O(n) of its nodes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_MODELS_DATA_LOADING_H
#define TRAINYARD_MODELS_DATA_LOADING_H

#include <stdbool.h>
#include <stdint.h>

struct data_loading {
    double samples;          /* a step */
    uint32_t workers;        /* 0: the training process itself */
    bool threads;            /* of one interpreter; else processes */
    double cpu_s;            /* a sample */
    double locked;           /* share of it that holds the interpreter's lock, 0 .. 1; counts for threads */
    double cores;            /* for these workers; 0: not limited */
    double sample_bytes;     /* read from the store */
    double read_bytes_per_s; /* what the store gives this rank; 0: not limited */
    double latency_s;        /* of a read */
    double hit;              /* share of samples that are cached, 0 .. 1 */
    double prefetch;         /* batches that are ready or in work while a step runs; 0: none */
    double variation;        /* standard deviation of a batch's loading time over its mean */
    uint32_t ranks;          /* that step together, each with such a loader; 0 counts as 1 */
};

enum data_limit { DATA_UNLIMITED, DATA_WORKERS, DATA_CORES, DATA_LOCK, DATA_STORAGE, N_DATA_LIMITS };
extern const char *const data_limit_names[N_DATA_LIMITS];

struct data_rate { double samples_per_s; enum data_limit limit; }; /* infinite: nothing limits it */
struct data_rate data_loading_rate(const struct data_loading *);
double data_loading_batch_s(const struct data_loading *);
/* Whether it loads while a step runs. */
bool data_loads_ahead(const struct data_loading *);
/* A step's wait, that of the slowest rank, when all else in it takes step_s. */
double data_loading_wait_s(const struct data_loading *, double step_s);

enum cache_rule { CACHE_KEEP, CACHE_LRU };
/* Share of reads that a node's cache, which holds `held` of the dataset (0 .. 1), hits after the first epoch; `nodes` share
 * the reading. */
double data_cache_hit(enum cache_rule, double held, uint32_t nodes);
/* The same over a run of so many epochs, the first included; below one epoch nothing is read twice. */
double data_cache_hit_of_run(double hit, double epochs);

#endif
