/* stream.c - Philox 4x32-10 streams and the distributions drawn from them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/engine/stream.h"

#include "base/detmath.h"
#include "base/philox.h"

#include <assert.h>
#include <stdlib.h>

/* Draws 2 block and 2 block + 1 of the stream. */
static inline void stream_block(const struct stream *s, uint64_t block, uint64_t pair[2])
{
    uint32_t counter[4] = {(uint32_t)block, s->lane, (uint32_t)s->entity, (uint32_t)(s->entity >> 32)};
    uint32_t key[2] = {(uint32_t)s->seed, (uint32_t)(s->seed >> 32)}, out[4];
    philox4x32_10(counter, key, out);
    pair[0] = (uint64_t)out[1] << 32 | out[0];
    pair[1] = (uint64_t)out[3] << 32 | out[2];
}

struct stream stream_make(uint64_t seed, uint32_t replication, enum stream_purpose purpose, uint64_t entity)
{
    assert(replication < 1u << 24 && (unsigned)purpose < STREAM_PURPOSES);
    return (struct stream){.seed = seed, .entity = entity, .lane = (uint32_t)purpose << 24 | replication};
}

struct stream stream_at(struct stream s, uint64_t k)
{
    s.next = k;
    if (k & 1) {
        uint64_t pair[2];
        stream_block(&s, k / 2, pair);
        s.spare = pair[1];
    }
    return s;
}

uint64_t stream_u64(struct stream *s)
{
    assert(s->next >> 33 == 0 && "a stream has 2^33 draws");
    if (s->next++ & 1) return s->spare;
    uint64_t pair[2];
    stream_block(s, s->next / 2, pair);
    s->spare = pair[1];
    return pair[0];
}

double stream_unit(struct stream *s)
{
    return (double)(int64_t)(stream_u64(s) >> 11 | 1) * 0x1p-53;
}

/* Lemire, "Fast random integer generation in an interval", ACM TOMACS 29(1), 2019: the upper half of x n, where the
 * values of x that would favour some results are refused. */
uint64_t stream_uniform_int(struct stream *s, uint64_t n)
{
    assert(n > 0);
    unsigned __int128 product = (unsigned __int128)stream_u64(s) * n;
    if ((uint64_t)product < n) {
        uint64_t refused = -n % n; /* 2^64 mod n */
        while ((uint64_t)product < refused) product = (unsigned __int128)stream_u64(s) * n;
    }
    return (uint64_t)(product >> 64);
}

double stream_exponential(struct stream *s, double mean)
{
    return -mean * det_log(stream_unit(s));
}

double stream_weibull(struct stream *s, double scale, double shape)
{
    return scale * det_pow(-det_log(stream_unit(s)), 1 / shape);
}

double stream_normal(struct stream *s, double mean, double deviation)
{
    return mean + deviation * det_norm_inv(stream_unit(s));
}

double stream_lognormal(struct stream *s, double mu, double sigma)
{
    return det_exp(stream_normal(s, mu, sigma));
}

int64_t stream_exponential_ns(struct stream *s, int64_t mean_ns)
{
    return det_round(stream_exponential(s, (double)mean_ns));
}

int64_t stream_weibull_ns(struct stream *s, int64_t scale_ns, double shape)
{
    return det_round(stream_weibull(s, (double)scale_ns, shape));
}

int64_t stream_lognormal_ns(struct stream *s, int64_t median_ns, double sigma)
{
    return det_round((double)median_ns * stream_lognormal(s, 0, sigma));
}

/* GSL */

static void gsl_set(void *state, unsigned long seed)
{
    *(struct stream *)state = stream_make(seed, 0, STREAM_STATISTICS, 0);
}

static unsigned long gsl_get(void *state)
{
    return stream_u64(state);
}

/* GSL wants [0, 1); (0, 1) lies within. */
static double gsl_get_double(void *state)
{
    return stream_unit(state);
}

static const gsl_rng_type GSL_TYPE = {
    .name = "philox4x32-10",
    .max = UINT64_MAX,
    .min = 0,
    .size = sizeof(struct stream),
    .set = gsl_set,
    .get = gsl_get,
    .get_double = gsl_get_double,
};

const gsl_rng_type *stream_gsl_type(void)
{
    return &GSL_TYPE;
}

gsl_rng *stream_gsl(struct stream s)
{
    gsl_rng *r = gsl_rng_alloc(&GSL_TYPE);
    if (!r) abort();
    *(struct stream *)r->state = s;
    return r;
}
