/* bench_kueue.c - what Kueue's decisions cost.
 *
 *     bench_kueue [NAME...]
 *
 * A queue of its own size, simulated time as its own events ask for it: ends at admission + run time, cycles as long as
 * something is to do, batches when due. Prints one line a figure: NAME VALUE UNIT goal GOAL. CPU time.
 *
 *   kueue_admit_ns             submit, admit, finish one after the other in an empty queue, per workload
 *   kueue_standing_ns          the same with 10,000 standing workloads of 16 shapes, hashing, per finished one
 *   kueue_standing_nohash_ns   without hashing, per head looked at (each takes 30 ms of simulated time)
 *   kueue_large_ns             10 cohorts x 100 queues, 50,000 workloads, preemption on (upstream's large-scale),
 *                              per workload
 *   kueue_strict_ns            1,000 StrictFIFO queues in 10 cohorts, all heads blocked, preemption on,
 *                              per head looked at
 *   kueue_workload_bytes       memory of a pending workload
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/queue/kueue/kueue.h"

#define SECOND_NS 1000000000ll

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void print_figure(const char *name, double value, const char *unit, double goal)
{
    printf("%s %.1f %s goal %.0f\n", name, value, unit, goal);
}

/* What ends when: workloads by the time of their end, in a binary heap. */
struct ends {
    struct end {
        int64_t at_ns;
        uint32_t workload;
    } * v;
    size_t n;
};

static void push_end(struct ends *h, int64_t at_ns, uint32_t workload)
{
    size_t i = h->n++;
    for (; i > 0 && h->v[(i - 1) / 2].at_ns > at_ns; i = (i - 1) / 2) h->v[i] = h->v[(i - 1) / 2];
    h->v[i] = (struct end){at_ns, workload};
}

static struct end pop_end(struct ends *h)
{
    struct end first = h->v[0], last = h->v[--h->n];
    size_t i = 0, c;
    for (; (c = 2 * i + 1) < h->n; i = c) {
        if (c + 1 < h->n && h->v[c + 1].at_ns < h->v[c].at_ns) c++;
        if (h->v[c].at_ns >= last.at_ns) break;
        h->v[i] = h->v[c];
    }
    h->v[i] = last;
    return first;
}

struct bench {
    struct kueue *k;
    struct ends ends;
    int64_t now_ns, cycle_ns, run_ns;
    uint64_t cycles, heads, finished, evicted;
};

static uint32_t add_queue(struct kueue *k, uint32_t cohort, int64_t nominal, int64_t borrow, bool strict, bool preempt)
{
    struct kueue_flavor_quotas q = {.quotas = {{nominal, borrow, KUEUE_UNLIMITED}}};
    struct kueue_group g = {.n_resources = 1, .n_flavors = 1, .flavors = &q};
    struct kueue_queue_config c = {.cohort = cohort, .n_groups = 1, .groups = &g};
    c.strategy = strict ? KUEUE_STRICT_FIFO : KUEUE_BEST_EFFORT_FIFO;
    c.within_queue = preempt ? KUEUE_PREEMPT_LOWER_PRIORITY : KUEUE_PREEMPT_NEVER;
    c.reclaim_within_cohort = preempt ? KUEUE_PREEMPT_ANY : KUEUE_PREEMPT_NEVER;
    return kueue_add_queue(k, &c);
}

static uint32_t shape(struct kueue *k, uint32_t queue, int32_t priority, int64_t units)
{
    struct kueue_pod_set ps = {.count = 1, .flavors = 1, .requests = {units}};
    return kueue_shape(k, queue, priority, 1, &ps);
}

/* A run time between half and one and a half of the mean, so that ends do not come in bursts. */
static int64_t spread(int64_t mean_ns, uint64_t owner)
{
    uint64_t h = (owner + 1) * 0x9e3779b97f4a7c15ull;
    return mean_ns / 2 + (int64_t)((h >> 32) * (uint64_t)(mean_ns / 1000) >> 32) * 1000;
}

static void run_cycle(struct bench *b)
{
    const struct kueue_cycle *c = kueue_run_cycle(b->k, b->now_ns);
    b->cycles++;
    b->heads += c->heads;
    b->evicted += c->evicted;
    b->now_ns += b->cycle_ns;
    uint32_t gone[4096], n_gone = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct kueue_outcome *o = &c->outcomes[i];
        if (o->kind == KUEUE_ADMIT)
            push_end(&b->ends, b->now_ns + spread(b->run_ns, o->owner), o->workload);
        else if (o->kind == KUEUE_EVICT && n_gone < 4096)
            gone[n_gone++] = o->workload;
    }
    for (uint32_t i = 0; i < n_gone; i++) kueue_release(b->k, gone[i], b->now_ns);
}

/* One thing that happens next; false when nothing will. */
static bool step(struct bench *b)
{
    int64_t retry = kueue_next_retry(b->k), end = b->ends.n ? b->ends.v[0].at_ns : KUEUE_NEVER;
    if (end <= b->now_ns || (!kueue_ready(b->k) && end <= retry && end != KUEUE_NEVER)) {
        struct end e = pop_end(&b->ends);
        if (e.at_ns > b->now_ns) b->now_ns = e.at_ns;
        if (kueue_is_admitted(b->k, e.workload)) kueue_finish(b->k, e.workload, b->now_ns), b->finished++;
    } else if (retry <= b->now_ns || (!kueue_ready(b->k) && retry != KUEUE_NEVER)) {
        if (retry > b->now_ns) b->now_ns = retry;
        kueue_retry(b->k, b->now_ns);
    } else if (kueue_ready(b->k)) {
        run_cycle(b);
    } else {
        return false;
    }
    return true;
}

/* What the figure is made of, on stderr. */
static void print_work(const char *name, const struct bench *b)
{
    fprintf(stderr, "%s: %lu finished, %lu cycles, %lu heads, %lu evictions, %.0f s\n", name,
            (unsigned long)b->finished, (unsigned long)b->cycles, (unsigned long)b->heads, (unsigned long)b->evicted,
            (double)b->now_ns * 1e-9);
}

static struct bench start(bool hashing, int64_t cycle_ns, int64_t run_ns)
{
    struct kueue_options o = {
        .n_flavors = 1, .n_resources = 1, .priority_sorting = true, .equivalence_hashing = hashing};
    struct bench b = {.k = kueue_create(&o), .cycle_ns = cycle_ns, .run_ns = run_ns};
    b.ends.v = malloc((1u << 20) * sizeof *b.ends.v);
    return b;
}

static void end(struct bench *b)
{
    kueue_destroy(b->k);
    free(b->ends.v);
}

static void bench_admit(void)
{
    struct bench b = start(true, 0, 0);
    uint32_t s = shape(b.k, add_queue(b.k, KUEUE_NONE, 64, KUEUE_UNLIMITED, false, false), 0, 8);
    const uint32_t n = 500000;
    double t = cpu_ns();
    for (uint32_t i = 0; i < n; i++) {
        uint32_t w = kueue_submit(b.k, s, i, b.now_ns, i);
        kueue_run_cycle(b.k, b.now_ns);
        kueue_finish(b.k, w, b.now_ns);
        b.now_ns += 2 * SECOND_NS;
        kueue_retry(b.k, b.now_ns);
    }
    print_figure("kueue_admit_ns", (cpu_ns() - t) / n, "ns", 1000);
    end(&b);
}

static void bench_standing(bool hashing)
{
    struct bench b = start(hashing, 30000000, 60 * SECOND_NS);
    uint32_t q = add_queue(b.k, KUEUE_NONE, 512, KUEUE_UNLIMITED, false, false), shapes[16], steps = 0;
    for (uint32_t i = 0; i < 16; i++) shapes[i] = shape(b.k, q, 0, 1 + i * 4);
    uint64_t submitted = 0;
    double t = cpu_ns();
    do {
        for (; kueue_pending(b.k, q) < 10000; submitted++)
            kueue_submit(b.k, shapes[submitted * 7919 % 16], submitted, b.now_ns, submitted * 104729);
    } while (++steps < 400000 && step(&b));
    print_work(hashing ? "standing" : "standing_nohash", &b);
    if (hashing)
        print_figure("kueue_standing_ns", (cpu_ns() - t) / (double)b.finished, "ns", 20000);
    else
        print_figure("kueue_standing_nohash_ns", (cpu_ns() - t) / (double)b.heads, "ns", 2000);
    end(&b);
}

/* Upstream's large-scale configuration: per queue 35 small, 10 medium, 5 large. */
static void bench_large(void)
{
    struct bench b = start(true, 0, SECOND_NS);
    uint64_t uid = 0;
    double t = cpu_ns();
    for (int i = 0; i < 10; i++) {
        uint32_t cohort = kueue_add_cohort(b.k, KUEUE_NONE);
        for (int j = 0; j < 100; j++) {
            uint32_t q = add_queue(b.k, cohort, 20, 100, false, true);
            const struct {
                int n;
                int32_t priority;
                int64_t units;
            } class[] = {
                {35, 50,  1 },
                {10, 100, 5 },
                {5,  200, 20}
            };
            for (int c = 0; c < 3; c++)
                for (int n = 0; n < class[c].n; n++, uid++)
                    kueue_submit(b.k, shape(b.k, q, class[c].priority, class[c].units), uid, n * SECOND_NS / 10,
                                 uid * 7919);
        }
    }
    while (step(&b)) continue;
    print_figure("kueue_large_ns", (cpu_ns() - t) / (double)b.finished, "ns", 20000);
    print_work("large", &b);
    end(&b);
}

static void bench_strict(void)
{
    struct bench b = start(true, SECOND_NS / 100, 10 * SECOND_NS);
    uint64_t uid = 0;
    for (int i = 0; i < 10; i++) {
        uint32_t cohort = kueue_add_cohort(b.k, KUEUE_NONE);
        for (int j = 0; j < 100; j++) {
            uint32_t s = shape(b.k, add_queue(b.k, cohort, 8, 0, true, true), 0, 8);
            for (int n = 0; n < 50; n++, uid++) kueue_submit(b.k, s, uid, 0, uid * 7919);
        }
    }
    double t = cpu_ns();
    while (step(&b)) continue;
    print_figure("kueue_strict_ns", (cpu_ns() - t) / (double)b.heads, "ns", 1000);
    print_work("strict", &b);
    end(&b);
}

static void bench_bytes(void)
{
    struct bench b = start(true, 0, 0);
    uint32_t s = shape(b.k, add_queue(b.k, KUEUE_NONE, 1, 0, false, false), 0, 8);
    const uint32_t n = 1u << 20;
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (uint32_t i = 0; i < n; i++) kueue_submit(b.k, s, i, 0, i);
    print_figure("kueue_workload_bytes", (double)(mallinfo2().uordblks + mallinfo2().hblkhd - before) / n, "bytes",
                 128);
    end(&b);
}

static void bench_standing_hash(void)
{
    bench_standing(true);
}
static void bench_standing_nohash(void)
{
    bench_standing(false);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } benches[] = {
        {"admit",           bench_admit          },
        {"standing",        bench_standing_hash  },
        {"standing_nohash", bench_standing_nohash},
        {"large",           bench_large          },
        {"strict",          bench_strict         },
        {"bytes",           bench_bytes          },
    };
    for (size_t i = 0; i < sizeof benches / sizeof *benches; i++) {
        bool wanted = argc < 2;
        for (int j = 1; j < argc; j++) wanted = wanted || strcmp(argv[j], benches[i].name) == 0;
        if (wanted) benches[i].run();
    }
    return 0;
}
