/* bench_engine.c - what the event queue costs; tests/bench/engine.sh divides it by the reference loops' figures.
 *
 *     bench_engine hold N HOLDS    pop the earliest of N events and reschedule it at now + Exp(1): ns per hold
 *     bench_engine mm1 CUSTOMERS   M/M/1 at load 0.9: seconds, and the mean time in system as a check (10 in theory)
 *     bench_engine bytes N         memory the queue holds, per pending event
 *
 * Same generator (xoshiro256++), same libm log, same events as the references, so that the quotient measures the
 * engine alone. Not part of the simulator: libm is fine here.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/engine/event.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct random {
    uint64_t s[4];
};

static inline uint64_t rotated(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

static inline uint64_t random_u64(struct random *r)
{
    uint64_t *s = r->s, x = rotated(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotated(s[3], 45);
    return x;
}

/* Exp(1) seconds in ns. */
static inline int64_t exponential_ns(struct random *r, double mean_s)
{
    return (int64_t)(-log((double)((random_u64(r) >> 11) + 1) * 0x1.0p-53) * mean_s * 1e9);
}

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct hold {
    struct event_queue *q;
    struct random random;
};

static void tick(void *ctx, void *arg)
{
    struct hold *h = ctx;
    event_after(h->q, exponential_ns(&h->random, 1), EVENT_RELEASE, tick, arg);
}

static void hold_run(struct hold *h, uint64_t n)
{
    while (n-- > 0) event_step(h->q, h);
}

static struct hold hold_start(uint64_t n)
{
    struct hold h = {event_queue_create(), {{1, 2, 3, 4}}};
    for (uint64_t i = 0; i < n; i++) event_after(h.q, exponential_ns(&h.random, 1), EVENT_RELEASE, tick, NULL);
    return h;
}

static int bench_hold(uint64_t n, uint64_t holds)
{
    struct hold h = hold_start(n);
    hold_run(&h, n < 1000000 ? 1000000 : n);
    double start_s = cpu_s();
    hold_run(&h, holds);
    printf("%.3f\n", (cpu_s() - start_s) / (double)holds * 1e9);
    event_queue_destroy(h.q);
    return 0;
}

static int bench_bytes(uint64_t n)
{
    struct hold h = hold_start(n);
    hold_run(&h, n);
    printf("%.2f\n", (double)event_queue_bytes(h.q) / (double)n);
    event_queue_destroy(h.q);
    return 0;
}

enum { WAITING_MAX = 1 << 16 };

struct station {
    struct event_queue *q;
    struct random random;
    int64_t *arrived_ns; /* ring of those in the system */
    uint64_t head, tail, left, served;
    double sum_ns;
    bool busy;
};

static void depart(void *ctx, void *arg)
{
    struct station *m = ctx;
    m->sum_ns += (double)(event_clock(m->q) - m->arrived_ns[m->head++ % WAITING_MAX]);
    m->served++;
    m->busy = m->head != m->tail;
    if (m->busy) event_after(m->q, exponential_ns(&m->random, 1), EVENT_RELEASE, depart, arg);
}

static void arrive(void *ctx, void *arg)
{
    struct station *m = ctx;
    if (m->tail - m->head >= WAITING_MAX) abort();
    m->arrived_ns[m->tail++ % WAITING_MAX] = event_clock(m->q);
    if (!m->busy) event_after(m->q, exponential_ns(&m->random, 1), EVENT_RELEASE, depart, arg);
    m->busy = true;
    if (--m->left) event_after(m->q, exponential_ns(&m->random, 1 / 0.9), EVENT_REQUEST, arrive, arg);
}

static int bench_mm1(uint64_t customers)
{
    struct station m = {.q = event_queue_create(), .random = {{1, 2, 3, 4}}, .left = customers};
    m.arrived_ns = malloc(WAITING_MAX * sizeof *m.arrived_ns);
    if (!m.arrived_ns) abort();
    event_after(m.q, exponential_ns(&m.random, 1 / 0.9), EVENT_REQUEST, arrive, NULL);
    double start_s = cpu_s();
    event_run_until(m.q, &m, EVENT_NEVER);
    printf("%.4f %.3f\n", cpu_s() - start_s, m.sum_ns / (double)m.served * 1e-9);
    event_queue_destroy(m.q);
    free(m.arrived_ns);
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 0, holds = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    if (argc > 3 && n && holds && strcmp(argv[1], "hold") == 0) return bench_hold(n, holds);
    if (n && strcmp(argv[1], "mm1") == 0) return bench_mm1(n);
    if (n && strcmp(argv[1], "bytes") == 0) return bench_bytes(n);
    fputs("usage: bench_engine hold N HOLDS | mm1 CUSTOMERS | bytes N\n", stderr);
    return 2;
}
