/* test_collective.c - the models of collective operations: worked values, NCCL's known choices, limits, properties.
 *
 * What they are worth against measurements: tests/study/test_calibrate_collective.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "models/collective.h"
#include "models/ring.h"

#define KIB 1024.0
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

static void within(double got, double want, double relative)
{
    if (!(fabs(got / want - 1) <= relative)) fail_msg("%.6g is not %.6g within %.1f %%", got, want, 100 * relative);
}

static double busbw(const struct collective_fabric *f, enum collective_op op, double bytes, unsigned local, unsigned nodes)
{
    return bytes / collective_time_s(f, op, bytes, local, nodes, NULL) * collective_bus_factor(op, local * nodes) / 1e9;
}

/* The shared table of closed forms (oracles.csv): ring of 8 ranks, 1 GiB, 240 GB/s, 4 us a hop 7.885 ms (8 x A100 measured
 * 8.24 ms); 64 ranks, 384 GB/s, 5 us 6.135 ms. */
static void rings_by_hand(void **state)
{
    (void)state;
    assert_int_equal(ring_all_reduce_ns(1073741824, 8, 4000, 240e9), 7885368);
    assert_int_equal(ring_all_reduce_ns(1073741824, 64, 5000, 384e9), 6135024);
}

/* NVIDIA/nccl-tests issue 309: a node of 8 H100 takes RING/LL up to 1 MiB and NVLS/Simple from 2 MiB. */
static void nccl_chooses_on_one_node(void **state)
{
    (void)state;
    struct collective_fabric f = collective_fabric_default();
    for (double bytes = 8; bytes <= 16 * GIB; bytes *= 2) {
        struct collective_choice c;
        collective_time_s(&f, COLLECTIVE_ALL_REDUCE, bytes, 8, 1, &c);
        assert_int_equal(c.algorithm, bytes <= MIB ? COLLECTIVE_RING : COLLECTIVE_NVLS);
        assert_int_equal(c.protocol, bytes <= MIB ? COLLECTIVE_LL : COLLECTIVE_SIMPLE);
    }
}

/* The same issue: over nodes trees for small messages, NVLS trees for the largest. */
static void nccl_chooses_over_nodes(void **state)
{
    (void)state;
    struct collective_fabric f = collective_fabric_default();
    for (unsigned nodes = 2; nodes <= 8; nodes *= 2) {
        struct collective_choice small, large;
        collective_time_s(&f, COLLECTIVE_ALL_REDUCE, 8, 8, nodes, &small);
        collective_time_s(&f, COLLECTIVE_ALL_REDUCE, 8 * GIB, 8, nodes, &large);
        assert_int_equal(small.algorithm, COLLECTIVE_TREE);
        assert_int_equal(small.protocol, COLLECTIVE_LL);
        assert_int_equal(large.algorithm, COLLECTIVE_NVLS_TREE);
    }
}

/* By NCCL's latencies: LL over a ring of 8 GPUs 6.6 + 14 x 0.6 us, over trees 6.8 + 2 (7 x 0.6 + levels x 5) us. (Measured with
 * NCCL 2.26, nccl-tests issue 309: 24.9 us on two nodes, 34.5 us on four.) EFA of A100 nodes: 75 us more a level each way,
 * of H100 nodes 15 (20 us a hop, aws-ofi-nccl); a declared latency of 9 us is 4 above InfiniBand's; a process with 8 GPUs
 * launches 7 x 2.55 us longer (nccl-tests issue 123). */
static void small_messages_by_hand(void **state)
{
    (void)state;
    struct collective_fabric f = collective_fabric_default();
    within(collective_time_s(&f, COLLECTIVE_ALL_REDUCE, 8, 8, 1, NULL), 15.0e-6, 0.002);
    within(collective_time_s(&f, COLLECTIVE_ALL_REDUCE, 8, 8, 2, NULL), 25.2e-6, 0.002);
    within(collective_time_s(&f, COLLECTIVE_ALL_REDUCE, 8, 8, 4, NULL), 35.2e-6, 0.002);
    f.net_latency_s = 9e-6;
    within(collective_time_s(&f, COLLECTIVE_ALL_REDUCE, 8, 8, 2, NULL), 33.2e-6, 0.002);
    f.net_latency_s = -1;
    f.gpus_per_process = 8;
    within(collective_time_s(&f, COLLECTIVE_ALL_REDUCE, 8, 8, 2, NULL), 43.05e-6, 0.002);
    f.gpus_per_process = 1;
    f.nic = COLLECTIVE_NIC_EFA;
    within(collective_time_s(&f, COLLECTIVE_ALL_REDUCE, 8, 8, 2, NULL), 55.2e-6, 0.002);
    f.gpu_generation = 80;
    within(collective_time_s(&f, COLLECTIVE_ALL_REDUCE, 8, 8, 2, NULL), 175.2e-6, 0.002);
}

/* NVIDIA/nccl-tests issue 123: one process, rings of 2 to 8 A100, 128 B. The launch of a further GPU was taken from these seven
 * by least squares; that one number is right for all of them is what is tested. */
static void one_process_launches_in_turn(void **state)
{
    static const double measured_us[] = {10, 13.76, 16.88, 20.8, 25.2, 29.5, 33.7};
    (void)state;
    struct collective_fabric f = collective_fabric_default();
    f.gpu_generation = 80;
    f.nvlink_links = 12;
    f.nvlink_bytes_per_s = 300e9;
    f.algorithms = 1u << COLLECTIVE_RING;
    for (unsigned ranks = 2; ranks <= 8; ranks++) {
        f.gpus_per_process = ranks;
        within(collective_time_s(&f, COLLECTIVE_ALL_REDUCE, 128, ranks, 1, NULL), measured_us[ranks - 2] * 1e-6, 0.06);
    }
}

/* NCCL has 1.4 times the latency for rings of whole buffers over nodes in all-reduces, 1.9 times before Ampere, none in
 * all-gathers (tuning.cc). 2 x 1: 8.4 + 2 x 14 us; one crossing for the all-gather. 64 MiB twice around, per byte 1 and 1/2. */
static void rings_over_nodes_plateau(void **state)
{
    (void)state;
    struct collective_fabric f = collective_fabric_default();
    double bytes = 64 * MIB, x = bytes / (0.96 * 50e9);
    f.algorithms = 1u << COLLECTIVE_RING;
    within(collective_time_s(&f, COLLECTIVE_ALL_REDUCE, bytes, 1, 2, NULL), 1.4 * 36.4e-6 + x, 1e-9);
    within(collective_time_s(&f, COLLECTIVE_ALL_GATHER, bytes, 1, 2, NULL), 22.4e-6 + x / 2, 1e-9);
    f.gpu_generation = 70;
    within(collective_time_s(&f, COLLECTIVE_ALL_REDUCE, bytes, 1, 2, NULL), 1.9 * 36.4e-6 + x, 1e-9);
}

/* stas00/ml-engineering, network/README.md: bus bandwidth of 4 to 8 H200 at 8 GiB with and without NVLS. */
static void nvls_gains_with_ranks(void **state)
{
    static const struct { unsigned ranks; double with, without; } measured[] = {
        {4, 363.3, 363.3}, {5, 414.2, 364.4}, {6, 435.6, 365.1}, {7, 460.0, 365.7}, {8, 473.1, 365.6}};
    (void)state;
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        struct collective_fabric f = collective_fabric_default();
        within(busbw(&f, COLLECTIVE_ALL_REDUCE, 8 * GIB, measured[i].ranks, 1), measured[i].with, 0.05);
        f.algorithms = 1u << COLLECTIVE_RING;
        within(busbw(&f, COLLECTIVE_ALL_REDUCE, 8 * GIB, measured[i].ranks, 1), measured[i].without, 0.05);
    }
}

/* Two nodes: a tree moves each byte once each way over the NICs, a ring nearly twice; SHARP like the tree on any number. */
static void what_crosses_the_network(void **state)
{
    (void)state;
    struct collective_fabric f = collective_fabric_default();
    double line = 8 * f.nic_bytes_per_s / 1e9;
    f.nvlink_bytes_per_s = 1e13; /* the network alone */
    f.nvlink_links = 1000;
    f.algorithms = 1u << COLLECTIVE_RING;
    within(busbw(&f, COLLECTIVE_ALL_REDUCE, 1024 * GIB, 8, 4), 0.96 * line, 0.02);
    f.sharp = true;
    f.algorithms = 1u << COLLECTIVE_COLLNET;
    double algbw = 1024 * GIB / collective_time_s(&f, COLLECTIVE_ALL_REDUCE, 1024 * GIB, 8, 4, NULL) / 1e9;
    within(algbw, 0.96 * line, 0.02);
}

/* One rank has nobody to talk to; nothing to send still costs the start. */
static void limits(void **state)
{
    (void)state;
    struct collective_fabric f = collective_fabric_default();
    for (int op = 0; op < COLLECTIVE_N_OPS; op++) {
        assert_true(collective_time_s(&f, (enum collective_op)op, GIB, 1, 1, NULL) == 0);
        double t = collective_time_s(&f, (enum collective_op)op, 0, 8, 2, NULL);
        assert_true(t > 0 && t < 1e-3);
        assert_true(isfinite(collective_time_s(&f, (enum collective_op)op, 1e18, 8, 1000, NULL)));
    }
    assert_true(collective_bus_factor(COLLECTIVE_ALL_REDUCE, 1) == 0);
    within(collective_bus_factor(COLLECTIVE_ALL_REDUCE, 16), 30.0 / 16, 1e-12);
    within(collective_bus_factor(COLLECTIVE_ALL_GATHER, 16), 15.0 / 16, 1e-12);
    within(collective_bus_factor(COLLECTIVE_BROADCAST, 16), 1, 1e-12);
}

/* A small generator of its own: the same machines each time. */
static unsigned pick(uint64_t *seed, unsigned n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*seed >> 33) % n;
}

static struct collective_fabric some_machine(uint64_t *s)
{
    static const unsigned generations[] = {70, 80, 89, 90, 94, 100};
    struct collective_fabric f = collective_fabric_default();
    f.library = (enum collective_library)pick(s, COLLECTIVE_N_LIBRARIES);
    f.gpu_generation = generations[pick(s, 6)];
    f.nvlink_switch = pick(s, 2);
    f.nvlink_links = pick(s, 19);
    f.nvlink_bytes_per_s = f.nvlink_links * 25e9;
    f.nvlink_domain = pick(s, 4) == 0 ? 72 : 0;
    f.pcie_peer = pick(s, 2);
    f.nic = (enum collective_nic)pick(s, COLLECTIVE_N_NICS);
    f.nics = 1 + pick(s, 16);
    f.nic_bytes_per_s = 1e9 * (1 + pick(s, 50));
    f.net_latency_s = pick(s, 2) ? -1 : 1e-6 * pick(s, 50);
    f.sharp = pick(s, 2);
    f.amd_cpu = pick(s, 2);
    f.gpus_per_process = 1 + pick(s, 8);
    f.algorithms = pick(s, 2) ? 0 : 1u << pick(s, COLLECTIVE_N_ALGORITHMS);
    if (pick(s, 2) == 0) {
        f.measured = (struct collective_curve){1 + pick(s, collective_curve_n_forms()), 1e-6 * (1 + pick(s, 200)),
                                               1e9 * (1 + pick(s, 300)), 0};
        static const double third[] = {1e8, 1e10, 1e-4};
        f.measured.third = third[collective_curve_form(f.measured.form).kind];
        f.measured_op = (enum collective_op)pick(s, COLLECTIVE_N_OPS);
        f.measured_ranks_per_node = 1 + pick(s, 8);
        f.measured_nodes = 2 + pick(s, 3);
    }
    return f;
}

/* On any machine: finite, not negative, never falling with the size, never faster when cards are shared. */
static void properties(void **state)
{
    uint64_t seed = 4;
    (void)state;
    for (int i = 0; i < 2000; i++) {
        struct collective_fabric f = some_machine(&seed), shared = collective_fabric_share(f, 1 + pick(&seed, 8));
        enum collective_op op = (enum collective_op)pick(&seed, COLLECTIVE_N_OPS);
        unsigned local = 1 + pick(&seed, 8), nodes = 1 + pick(&seed, 70);
        double before = 0, step = 1.1 + 0.1 * pick(&seed, 30);
        for (double bytes = 1; bytes < 1e12; bytes *= step) {
            double t = collective_time_s(&f, op, bytes, local, nodes, NULL);
            if (!isfinite(t) || t < 0) fail_msg("machine %d: %g s for %g bytes", i, t, bytes);
            if (t < before) fail_msg("machine %d, %s, %u x %u: %.9g s for %g bytes after %.9g s", i, collective_op_names[op], nodes, local, t, bytes, before);
            before = t;
        }
        if (f.measured.form == COLLECTIVE_NO_CURVE && f.library >= COLLECTIVE_MPI)
            assert_true(collective_time_s(&shared, op, GIB, local, nodes, NULL) >=
                        collective_time_s(&f, op, GIB, local, nodes, NULL));
    }
}

/* A measured curve holds at its scale; at another it is moved by the ratio of the models. */
static void a_curve_and_its_scale(void **state)
{
    (void)state;
    struct collective_fabric f = collective_fabric_default(), plain = f;
    f.measured = (struct collective_curve){1, 30e-6, 200e9, 1e8};
    f.measured_op = COLLECTIVE_ALL_REDUCE;
    f.measured_ranks_per_node = 8;
    f.measured_nodes = 2;
    for (double bytes = 8; bytes <= 8 * GIB; bytes *= 2) {
        double own = collective_curve_s(&f.measured, bytes);
        assert_true(collective_time_s(&f, COLLECTIVE_ALL_REDUCE, bytes, 8, 2, NULL) == own);
        double ratio = collective_time_s(&plain, COLLECTIVE_ALL_REDUCE, bytes, 8, 4, NULL) /
                       collective_time_s(&plain, COLLECTIVE_ALL_REDUCE, bytes, 8, 2, NULL);
        assert_true(collective_time_s(&f, COLLECTIVE_ALL_REDUCE, bytes, 8, 4, NULL) >= own * ratio * (1 - 1e-12));
    }
}

/* Ends of each form: the latency for nothing, the plateau for everything. */
static void ends_of_the_forms(void **state)
{
    static const double third[] = {1e8, 2e10, 60e-6};
    (void)state;
    for (unsigned form = 1; form <= collective_curve_n_forms(); form++) {
        struct collective_curve c = {form, 20e-6, 200e9, third[collective_curve_form(form).kind]};
        within(collective_curve_s(&c, 0), 20e-6, 0.02);
        within(1e17 / collective_curve_s(&c, 1e17), 200e9, 0.02);
        double before = 0;
        for (double bytes = 1; bytes < 1e15; bytes *= 1.3) {
            double t = collective_curve_s(&c, bytes);
            assert_true(t >= before);
            before = t;
        }
    }
}

/* MPI by hand: two ranks on one node hand 8 bytes over once: 0.4 us + 8 bytes / 8 GB/s + 8 bytes of sums at 5 GB/s. Gloo has
 * no recursive doubling: a half each way. */
static void mpi_by_hand(void **state)
{
    (void)state;
    struct collective_fabric f = {.library = COLLECTIVE_MPI, .nic = COLLECTIVE_NIC_TCP, .nics = 1, .nic_bytes_per_s = 1.25e9,
                                  .net_latency_s = -1};
    within(collective_time_s(&f, COLLECTIVE_ALL_REDUCE, 8, 2, 1, NULL), 0.4e-6 + 1e-9 + 1.6e-9, 1e-9);
    within(collective_time_s(&f, COLLECTIVE_POINT_TO_POINT, 1000, 1, 2, NULL), 20e-6 + 1000 / (0.94 * 1.25e9), 1e-9);
    f.library = COLLECTIVE_GLOO;
    within(collective_time_s(&f, COLLECTIVE_ALL_REDUCE, 8, 2, 1, NULL), 2 * (0.4e-6 + 0.5e-9) + 0.8e-9, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_by_hand),
        cmocka_unit_test(nccl_chooses_on_one_node),
        cmocka_unit_test(nccl_chooses_over_nodes),
        cmocka_unit_test(small_messages_by_hand),
        cmocka_unit_test(one_process_launches_in_turn),
        cmocka_unit_test(rings_over_nodes_plateau),
        cmocka_unit_test(nvls_gains_with_ranks),
        cmocka_unit_test(what_crosses_the_network),
        cmocka_unit_test(limits),
        cmocka_unit_test(properties),
        cmocka_unit_test(a_curve_and_its_scale),
        cmocka_unit_test(ends_of_the_forms),
        cmocka_unit_test(mpi_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
