/* test_step.c - a training step, its FLOPs and its memory against closed forms and published figures.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "models/order_statistics.h"
#include "models/step.h"

static void near(double got, double want, double relative)
{
    if (fabs(got - want) > relative * fabs(want)) fail_msg("%.9g instead of %.9g", got, want);
}

/* A transformer of n GPUs that only the fields given make special. */
static struct step_input plain(const char *model, struct parallelism split, double global, uint32_t micro)
{
    struct step_hardware a100 = step_hardware_of(gpu_spec_find("a100_80gb"));
    a100.efficiency = 0.5;
    return (struct step_input){
        .model = *model_known(model),
        .split = split,
        .batch = {.global = global, .micro = micro, .recompute = RECOMPUTE_SELECTIVE},
        .hardware = a100,
        .place = {8},
        .noise = {0, 1},
        .overlap = 1,
    };
}

/* ---- FLOPs ---- */

/* Brown et al. 2020, table D.1: 3.14e23 for 300B tokens. */
static void gpt3_took_3e23(void **state)
{
    (void)state;
    near(training_flops(model_known("gpt3-175b")->parameters, 300e9), 3.14e23, 0.001);
}

/* The same work as Megatron's equation 3 counts, parameters as equation 2 counts (the biases and norms are the difference). */
static void the_general_formula_is_megatrons(void **state)
{
    static const char *const names[] = {"gpt3-175b", "megatron-530b", "megatron-1t", "bloom-176b", "mpt-7b"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct model_shape *m = model_known(names[i]);
        near(hardware_flops(m, RECOMPUTE_FULL), megatron_flops(1, m->sequence, m->layers, m->hidden, m->vocabulary), 0.006);
        near(m->parameters, gpt_parameters(m->sequence, m->layers, m->hidden, m->vocabulary), 0.006);
    }
}

/* 8 N a token with full recompute: Narayanan et al. give 34 days for 300B tokens on 1,024 GPUs at 140 TFLOPs. */
static void gpt3_takes_34_days(void **state)
{
    (void)state;
    const struct model_shape *m = model_known("gpt3-175b");
    double days = hardware_flops(m, RECOMPUTE_FULL) / m->sequence * 300e9 / (1024 * 140e12) / 86400;
    near(days, 34, 0.03);
}

/* Mixture of experts: 2 of 8 work on a token; their parameters are 45.1 of 46.7 billion. */
static void experts_count_as_they_work(void **state)
{
    (void)state;
    const struct model_shape *m = model_known("mixtral-8x7b");
    near(m->active_parameters, m->parameters - m->expert_parameters * 6 / 8, 0.01);
}

/* ---- memory ---- */

/* Rajbhandari et al., figure 1: 7.5B parameters, 64 ranks. */
static void zero_divides_states(void **state)
{
    static const double gb[] = {120, 31.4, 16.6, 1.9};
    struct model_shape m = {.parameters = 7.5e9};
    (void)state;
    for (uint8_t stage = 0; stage < 4; stage++) {
        struct parallelism p = {64, 1, 1, 1, 1, 1, .zero = stage};
        struct memory_fit f = memory_fit(&m, &p, &(struct step_batch){64, 1, RECOMPUTE_NONE, PRECISION_BF16}, 80e9, 0);
        double states = f.bytes[MEM_WEIGHTS] + f.bytes[MEM_GRADIENTS] + f.bytes[MEM_OPTIMIZER];
        assert_int_equal(lround(states / 1e8), lround(gb[stage] * 10));
        assert_int_equal(memory_fits(&f), stage > 0);
    }
}

/* BLOOM's checkpoint: 2 bytes of weights and 12 of optimizer and master a parameter. */
static void a_checkpoint_has_14_bytes_a_parameter(void **state)
{
    (void)state;
    const struct precision_bytes *b = &precision_table[PRECISION_BF16];
    assert_true(b->weight + b->optimizer == 14);
}

/* Korthikanti et al., section 5: of GPT-3's s b h (34 + 5 a s / h) attention's scores are 80 / 114, which selective
 * recompute leaves out; full recompute keeps 2. Tensor and sequence parallelism divide by t. */
static void activations_of_gpt3(void **state)
{
    (void)state;
    const struct model_shape *m = model_known("gpt3-175b");
    struct parallelism p = {1, 8, 8, 1, 1, 1, .sequence = true};
    double by[N_RECOMPUTES], sbh = 2048.0 * 12288;
    for (int r = 0; r < N_RECOMPUTES; r++) {
        struct step_batch b = {64, 1, (enum recompute)r, PRECISION_BF16};
        by[r] = memory_fit(m, &p, &b, 80e9, 0).bytes[MEM_ACTIVATIONS];
    }
    near(by[RECOMPUTE_NONE], 96 * sbh / 8 * 114, 1e-12); /* the first stage: 8 micro-batches of 12 layers */
    near(by[RECOMPUTE_SELECTIVE], 96 * sbh / 8 * 34, 1e-12);
    near(by[RECOMPUTE_FULL], 96 * sbh / 8 * 2, 1e-12);
    p.interleave = 3;
    near(memory_fit(m, &p, &(struct step_batch){64, 1, RECOMPUTE_SELECTIVE, PRECISION_BF16}, 80e9, 0).bytes[MEM_ACTIVATIONS],
         96 * sbh / 8 * 34 * (1 + 7.0 / 24), 1e-12);
}

static void the_term_that_overflows_is_named(void **state)
{
    (void)state;
    const struct model_shape *m = model_known("llama2-7b");
    struct parallelism p = {8, 1, 1, 1, 1, 1, 0, false};
    struct step_batch b = {8, 1, RECOMPUTE_SELECTIVE, PRECISION_BF16};
    assert_int_equal(memory_fit(m, &p, &b, 80e9, 0).overflows, MEM_OPTIMIZER); /* 13.5 + 13.5 + 80.9 */
    p.zero = 3;
    assert_true(memory_fits(&(struct memory_fit){.total = memory_fit(m, &p, &b, 80e9, 0).total, .capacity = 80e9}));
    b.micro = 16;
    assert_int_equal(memory_fit(m, &p, &b, 80e9, 0).overflows, MEM_ACTIVATIONS);
}

/* ---- the step ---- */

/* data/oracles.csv: (p - 1)/(v m). */
static void bubbles(void **state)
{
    static const struct { uint32_t p, m, v; double want; } rows[] = {
        {8, 32, 1, 0.21875}, {8, 32, 4, 0.0546875}, {16, 16, 1, 0.9375}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct step_input in = plain("megatron-1t", (struct parallelism){1, 1, rows[i].p, rows[i].v, 1, 1, 0, false}, rows[i].m, 1);
        struct step_time t = step_time(&in);
        assert_null(step_problem(&in));
        near(t.part[STEP_BUBBLE], rows[i].want * (t.part[STEP_COMPUTE] - t.optimizer_s), 1e-9);
    }
}

/* ZeRO, section 7: gradients of P values move 2 P, 2 P, 2 P, 3 P values a rank (times (n - 1)/n); here 2 bytes each. */
static void volumes_of_zero(void **state)
{
    static const double volume[] = {2, 2, 2, 3};
    (void)state;
    for (uint8_t stage = 0; stage < 4; stage++) {
        struct step_input in = plain("mpt-7b", (struct parallelism){16, 1, 1, 1, 1, 1, .zero = stage}, 16, 1);
        in.place.run = 1;
        near(step_time(&in).fabric_bytes, volume[stage] * 15 / 16 * 2 * in.model.parameters, 1e-9);
    }
}

/* FLOPs over what the GPUs reach, whole pipeline stages, and MFU by its definition. */
static void computation_is_flops_over_rate(void **state)
{
    (void)state;
    struct step_input in = plain("gpt3-175b", (struct parallelism){4, 8, 16, 1, 1, 1, 0, false}, 256, 2);
    in.batch.recompute = RECOMPUTE_FULL;
    struct step_time t = step_time(&in);
    near(t.part[STEP_COMPUTE] - t.optimizer_s, hardware_flops(&in.model, RECOMPUTE_FULL) * 256 / (512 * 312e12 * 0.5), 1e-9);
    near(t.mfu, model_flops(&in.model) * 256 / (step_total(&t) * 512 * 312e12), 1e-12);
    assert_true(t.micro_batches == 32);
    in.split.pipeline = 20; /* 96 layers: stages of 5, so 4 of 100 places are empty */
    struct step_time uneven = step_time(&in);
    near((uneven.part[STEP_COMPUTE] - uneven.optimizer_s) / (t.part[STEP_COMPUTE] - t.optimizer_s), 5.0 / 6, 1e-9);
}

/* Eight ranks of a tensor-parallel group on one node, or on two: then each layer's all-reduces cross the fabric. */
static void a_tensor_group_across_nodes_is_slow(void **state)
{
    (void)state;
    struct step_input in = plain("llama2-70b", (struct parallelism){1, 8, 1, 1, 1, 1, 0, false}, 8, 1);
    struct step_time one = step_time(&in);
    in.place.run = 4;
    in.hardware.fabric.nics = 1; /* 100 Gbps a node */
    in.hardware.fabric.nic_bytes_per_s = 12.5e9;
    struct step_time two = step_time(&in);
    assert_true(one.fabric_bytes == 0);
    near(two.fabric_bytes, 8 * 80 * 4 * 2.0 * (4096.0 * 8192 * 2) / 4 / 2, 1e-9); /* of a ring of 2 nodes, a 4th each rank */
    assert_true(two.exposed[TRAFFIC_TENSOR] >= 8 * 80 * 4 * (4096.0 * 8192 * 2) / 12.5e9); /* a node sends all of it once */
    assert_true(two.exposed[TRAFFIC_TENSOR] > 5 * one.exposed[TRAFFIC_TENSOR]);
    assert_true(one.part[STEP_COMPUTE] == two.part[STEP_COMPUTE]);
}

/* Traffic that computation hides costs its last bucket; without overlap all of it. */
static void overlap_hides_gradients(void **state)
{
    (void)state;
    struct step_input in = plain("mpt-7b", (struct parallelism){64, 1, 1, 1, 1, 1, .zero = 3}, 1024, 4);
    struct step_time hidden = step_time(&in);
    in.overlap = 0;
    struct step_time bare = step_time(&in);
    assert_true(bare.hidden_s == 0);
    near(bare.exposed[TRAFFIC_DATA], hidden.exposed[TRAFFIC_DATA] + hidden.hidden_s, 1e-12);
    near(hidden.exposed[TRAFFIC_DATA] * 32, bare.exposed[TRAFFIC_DATA], 1e-9); /* one layer of 32 */
}

static void all_wait_for_the_slowest(void **state)
{
    (void)state;
    struct step_input in = plain("mpt-7b", (struct parallelism){128, 1, 1, 1, 1, 1, .zero = 3}, 1024, 1);
    struct step_time even = step_time(&in);
    in.noise = (struct step_noise){0, 1.1};
    struct step_time slow = step_time(&in);
    near(slow.part[STEP_STRAGGLER], 0.1 * even.part[STEP_COMPUTE], 1e-9);
    in.noise = (struct step_noise){0.01, 1};
    near(step_time(&in).part[STEP_STRAGGLER], 0.01 * max_of_normals(128) * even.part[STEP_COMPUTE], 1e-12);
    assert_true(even.part[STEP_STRAGGLER] == 0);
}

/* What makes no sense is said; each row breaks one rule. */
static void nonsense_is_named(void **state)
{
    static const struct { const char *model; struct parallelism split; } rows[] = {
        {"mpt-7b", {1, 0, 1, 1, 1, 1, 0, false}},     {"mpt-7b", {1, 1, 64, 1, 1, 1, 0, false}},  {"mpt-7b", {1, 64, 1, 1, 1, 1, 0, false}},
        {"mpt-7b", {4, 1, 1, 1, 1, 2, 0, false}},     {"mpt-7b", {1, 1, 1, 2, 1, 1, 0, false}},   {"resnet-50", {1, 2, 1, 1, 1, 1, 0, false}},
        {"mixtral-8x7b", {3, 1, 1, 1, 1, 2, 0, false}}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct step_input in = plain(rows[i].model, rows[i].split, 8, 1);
        assert_non_null(step_problem(&in));
    }
}

/* ---- order statistics ---- */

/* Harter 1961 (n = 2: 1/sqrt(pi); 3: 3/(2 sqrt(pi))); data/oracles.csv for H_n. */
static void the_slowest_of_n(void **state)
{
    static const struct { double n, normal; } harter[] = {
        {2, 0.56418958}, {3, 0.84628438}, {5, 1.16296447}, {10, 1.53875273}, {50, 2.24907363}, {100, 2.50759364}, {400, 2.96817818}};
    static const struct { double n, h; } sums[] = {{8, 2.71785714}, {128, 5.43314709}, {1024, 7.50917567}};
    (void)state;
    for (size_t i = 0; i < sizeof harter / sizeof *harter; i++) near(max_of_normals(harter[i].n), harter[i].normal, 1e-7);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) near(max_of_exponentials(sums[i].n), sums[i].h, 1e-8);
    assert_true(max_of_normals(1) == 0 && max_of_exponentials(1) == 1);
    near(max_of_exponentials(257), max_of_exponentials(256) + 1.0 / 257, 1e-11); /* where the series takes over */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpt3_took_3e23),
        cmocka_unit_test(the_general_formula_is_megatrons),
        cmocka_unit_test(gpt3_takes_34_days),
        cmocka_unit_test(experts_count_as_they_work),
        cmocka_unit_test(zero_divides_states),
        cmocka_unit_test(a_checkpoint_has_14_bytes_a_parameter),
        cmocka_unit_test(activations_of_gpt3),
        cmocka_unit_test(the_term_that_overflows_is_named),
        cmocka_unit_test(bubbles),
        cmocka_unit_test(volumes_of_zero),
        cmocka_unit_test(computation_is_flops_over_rate),
        cmocka_unit_test(a_tensor_group_across_nodes_is_slow),
        cmocka_unit_test(overlap_hides_gradients),
        cmocka_unit_test(all_wait_for_the_slowest),
        cmocka_unit_test(nonsense_is_named),
        cmocka_unit_test(the_slowest_of_n),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
