/* test_comm.c - sums that are right, equal on all ranks and equal each time; peers that end or hang.
 *
 * The ranks are threads, so that the sanitizers see all of it. The expected sum is added in double (exact to 2^-52), the
 * tolerance is the bound of comm.h: (p - 1) u / (1 - (p - 1) u) sum |x|, u = 2^-24.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/philox.h"
#include "base/units.h"
#include "real/worker/comm.h"
#include "real/worker/comm_shm.h"
#include "real/worker/net.h"
#include "tests/support/mesh_threads.h"

/* From -8 to 8, with many binary digits, so that orders of addition differ. */
static float value(int rank, size_t i)
{
    uint32_t out[4];
    philox4x32_10((uint32_t[4]){(uint32_t)i, (uint32_t)rank, 0, 0}, (uint32_t[2]){5, 7}, out);
    return (float)((double)out[0] * 0x1p-28 - 8);
}

struct sums {
    size_t n;
    float *got[MESH_THREADS_MAX];
    atomic_int failed;
};

static void sum(struct comm *c, void *arg)
{
    struct sums *s = arg;
    for (size_t i = 0; i < s->n; i++) s->got[c->rank][i] = value(c->rank, i);
    if (!comm_all_reduce(c, s->got[c->rank], s->n)) s->failed++;
}

static void sums_make(struct sums *s, int size, size_t n)
{
    *s = (struct sums){.n = n};
    for (int r = 0; r < size; r++) s->got[r] = xcalloc(n, sizeof(float));
}

static void sums_free(struct sums *s)
{
    for (int r = 0; r < MESH_THREADS_MAX; r++) free(s->got[r]);
}

static void within_bound(const struct sums *s, int size)
{
    double u = 0x1p-24, gamma = (size - 1) * u / (1 - (size - 1) * u);
    for (size_t i = 0; i < s->n; i++) {
        double exact = 0, absolute = 0;
        for (int r = 0; r < size; r++) exact += (double)value(r, i), absolute += fabs((double)value(r, i));
        if (fabs((double)s->got[0][i] - exact) > gamma * absolute * (1 + 1e-9))
            fail_msg("float %zu of %zu on %d ranks: %.9g, not %.9g", i, s->n, size, (double)s->got[0][i], exact);
    }
}

static const struct way {
    enum comm_transport transport;
    enum comm_algorithm algorithm;
} ways[] = {
    {COMM_TCP, COMM_RING},
    {COMM_TCP, COMM_TREE},
    {COMM_TCP, COMM_ANY },
    {COMM_SHM, COMM_ANY }
};

static void sums_are_right_and_repeat(void **state)
{
    (void)state;
    static const int sizes[] = {2, 3, 4, 8};
    static const size_t lengths[] = {
        1, 2, 7, 100, SHM_FLAT_FLOATS, SHM_FLAT_FLOATS + 1, SHM_SEGMENT_FLOATS + 17, 3 * SHM_SEGMENT_FLOATS - 5};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
                struct sums a, b;
                int size = sizes[k];
                sums_make(&a, size, lengths[l]);
                sums_make(&b, size, lengths[l]);
                mesh_threads(size, ways[w].transport, ways[w].algorithm, seconds(60), sum, &a);
                mesh_threads(size, ways[w].transport, ways[w].algorithm, seconds(60), sum, &b);
                assert_int_equal(a.failed + b.failed, 0);
                within_bound(&a, size);
                for (int r = 0; r < size; r++) assert_memory_equal(a.got[r], a.got[0], lengths[l] * sizeof(float));
                assert_memory_equal(a.got[0], b.got[0], lengths[l] * sizeof(float));
                sums_free(&a);
                sums_free(&b);
            }
}

/* Operations of all kinds and lengths in turn: that no slot is written while a peer still reads it. Whole numbers: exact. */
static void mixed(struct comm *c, void *arg)
{
    atomic_int *failed = arg;
    static const size_t lengths[] = {1, 3000, 2048, 140000, 5, 70000, 65536};
    float *v = xcalloc(140000, sizeof *v);
    for (int round = 0; round < 60; round++) {
        size_t n = lengths[round % 7];
        if (round % 5 == 4) {
            for (size_t i = 0; i < n; i++) v[i] = c->rank == 0 ? (float)(round + (int)(i % 7)) : 0;
            if (!comm_broadcast(c, v, n * sizeof *v)) ++*failed;
            for (size_t i = 0; i < n; i++) *failed += v[i] != (float)(round + (int)(i % 7));
            continue;
        }
        for (size_t i = 0; i < n; i++) v[i] = (float)((c->rank + 1) * (round + (int)(i % 11)));
        if (!comm_all_reduce(c, v, n)) ++*failed;
        float ranks = (float)(c->size * (c->size + 1) / 2);
        for (size_t i = 0; i < n; i++) *failed += v[i] != ranks * (float)(round + (int)(i % 11));
    }
    free(v);
}

static void operations_do_not_disturb_each_other(void **state)
{
    (void)state;
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (int size = 2; size <= 5; size++) {
            atomic_int failed = 0;
            mesh_threads(size, ways[w].transport, ways[w].algorithm, seconds(60), mixed, &failed);
            assert_int_equal(failed, 0);
        }
}

struct odd {
    int odd_rank; /* which ends, or sleeps, at once */
    bool sleeps;
    char text[MESH_THREADS_MAX][160];
    int64_t took_ns[MESH_THREADS_MAX], cpu_ns[MESH_THREADS_MAX];
};

static int64_t thread_cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static void one_is_odd(struct comm *c, void *arg)
{
    struct odd *o = arg;
    float v = 1;
    if (c->rank == o->odd_rank) {
        if (o->sleeps) nanosleep(&(struct timespec){1, 0}, NULL);
        return; /* closes its connections: as if the process had ended */
    }
    int64_t begin_ns = net_now_ns(), cpu_ns = thread_cpu_ns();
    bool ok = comm_all_reduce(c, &v, 1) && comm_all_reduce(c, &v, 1);
    o->took_ns[c->rank] = net_now_ns() - begin_ns;
    o->cpu_ns[c->rank] = thread_cpu_ns() - cpu_ns;
    strcpy(o->text[c->rank], ok ? "" : comm_error(c));
    nanosleep(&(struct timespec){0, 300000000}, NULL); /* so that only the odd one is gone while the others look */
}

static void an_ended_peer_is_noticed(void **state)
{
    (void)state;
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        struct odd o = {.odd_rank = 2};
        mesh_threads(3, ways[w].transport, ways[w].algorithm, seconds(60), one_is_odd, &o);
        assert_non_null(strstr(o.text[0], "rank 2 is gone"));
        assert_true(o.took_ns[0] < seconds(5));
    }
}

/* The peer sleeps 1 s, the time-out is 0.3 s; waiting takes a tenth of the core at most. */
static void a_hung_peer_is_noticed_and_waited_for_asleep(void **state)
{
    (void)state;
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        struct odd o = {.odd_rank = 1, .sleeps = true};
        mesh_threads(2, ways[w].transport, ways[w].algorithm, milliseconds(300), one_is_odd, &o);
        assert_non_null(strstr(o.text[0], "no answer from rank 1"));
        assert_true(o.took_ns[0] >= milliseconds(300) && o.took_ns[0] < milliseconds(900));
        assert_true(o.cpu_ns[0] < milliseconds(30));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_right_and_repeat),
        cmocka_unit_test(operations_do_not_disturb_each_other),
        cmocka_unit_test(an_ended_peer_is_noticed),
        cmocka_unit_test(a_hung_peer_is_noticed_and_waited_for_asleep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
