/* stream.h - random numbers: counter-based streams, one for each thing that is random.
 *
 * A draw is a pure function of (seed, replication, purpose, entity, k): the k-th 64-bit number of the stream of that
 * entity. Nothing is shared, so an approach that asks for more numbers of one kind, or asks in another order, moves no
 * other number: two approaches see the same arrivals, the same work and the same hardware failures (common random
 * numbers), and adding nodes leaves the old nodes' lives alone.
 *
 *     struct stream s = stream_make(seed, replication, STREAM_HARDWARE, node_index);
 *     int64_t up_ns = stream_exponential_ns(&s, mtbf_ns);
 *     struct stream retry = stream_at(s, 4 * attempt);     // jump: O(1)
 *
 * Generator: Philox 4x32 with 10 rounds (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3",
 * SC 2011; base/philox.h). The key is the seed; the counter is made of, from low to high,
 *
 *     block 32 (k / 2) | replication 24, purpose 8 | entity 64
 *
 * so that different tuples give different counters, without hashing: no two streams overlap. A stream has 2^33 draws;
 * replication < 2^24.
 *
 * Every distribution takes exactly one draw (by inversion), so "the k-th life of this node" is stream_at(s, k); only
 * stream_uniform_int may take more, with probability n / 2^64. All arithmetic is that of base/detmath.h: equal bits on
 * each machine and with each compiler.
 *
 * A `struct stream` is a small value: copy it freely, keep it in the entity or make it anew. Cost: about 15 ns a draw.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_ENGINE_STREAM_H
#define TRAINYARD_SIM_ENGINE_STREAM_H

#include <gsl/gsl_rng.h>
#include <stdint.h>

/* What a number is for. Paired purposes are keyed by what exists in all approaches alike (job, node, user); unpaired
 * ones by what an approach itself brings forth (a retry, a trial), and pair only as long as the approaches agree.
 * The numbers are part of the meaning of a seed: append, never reorder. */
enum stream_purpose {
    /* paired */
    STREAM_ARRIVAL,       /* when jobs are submitted; entity: generator or team */
    STREAM_WORK,          /* size, duration and shape of a job; entity: job */
    STREAM_HARDWARE,      /* up and down times; entity: group, node index and component */
    STREAM_PROCESS_FAULT, /* crashes and hangs on accumulated training time; entity: job and kind, k: which */
    STREAM_STRAGGLER,     /* which nodes are slow and by how much; entity: node */
    STREAM_SPOT,          /* reclaims of spot capacity; entity: node */
    STREAM_HUMAN,         /* reaction times of users and administrators; entity: job or node */
    /* unpaired: reacts to the system */
    STREAM_CONTROL,   /* jitter of the control plane; entity: the object */
    STREAM_PLACEMENT, /* ties between nodes; entity: the allocation group */
    STREAM_RETRY,     /* jitter of back-offs; entity: the object */
    STREAM_TUNING,    /* scores of trials; entity: study and trial */
    STREAM_SERVING,   /* requests of a service; entity: the service */
    /* never reaches a simulated clock */
    STREAM_STATISTICS, /* bootstrap; entity: the metric */
    STREAM_TEST,       /* tests and generators of random scenarios */
    STREAM_PURPOSES
};

struct stream {
    uint64_t seed;
    uint64_t entity;
    uint64_t next;  /* k of the next draw */
    uint64_t spare; /* draw `next`, when that is odd */
    uint32_t lane;  /* replication 24, purpose 8 */
};

struct stream stream_make(uint64_t seed, uint32_t replication, enum stream_purpose purpose, uint64_t entity);
struct stream stream_at(struct stream s, uint64_t k); /* the same stream, before draw k */

uint64_t stream_u64(struct stream *s);                     /* 64 random bits */
double stream_unit(struct stream *s);                      /* in (0, 1): an odd multiple of 2^-53, never 0 or 1 */
uint64_t stream_uniform_int(struct stream *s, uint64_t n); /* 0 … n-1, each equally likely; n >= 1 */
double stream_exponential(struct stream *s, double mean);  /* -mean ln U */
double stream_weibull(struct stream *s, double scale, double shape); /* scale (-ln U)^(1/shape) */
double stream_normal(struct stream *s, double mean, double deviation);
double stream_lognormal(struct stream *s, double mu, double sigma); /* exp(mu + sigma N); median exp(mu) */

/* The same in nanoseconds, rounded to the nearest and at most EVENT_NEVER. */
int64_t stream_exponential_ns(struct stream *s, int64_t mean_ns);
int64_t stream_weibull_ns(struct stream *s, int64_t scale_ns, double shape);
int64_t stream_lognormal_ns(struct stream *s, int64_t median_ns, double sigma);

/* For what GSL does with random numbers and no simulated clock sees (bootstrap, tests): GSL's distributions use the C
 * library's log. The generator is a copy of `s`; the caller frees it with gsl_rng_free(). */
gsl_rng *stream_gsl(struct stream s);
const gsl_rng_type *stream_gsl_type(void);

#endif
