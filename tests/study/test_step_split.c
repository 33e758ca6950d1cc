/* test_step_split.c - the division that is found is the fastest that fits; a given one is scaled by its data-parallel ranks.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "study/step_split.h"

static struct step_input ask(const char *model, double batch)
{
    struct step_input in = {.model = *model_known(model), .split = {1, 1, 1, 1, 1, 1, 0, false}, .batch = {.global = batch, .micro = 1},
                            .hardware = step_hardware_of(gpu_spec_find("h100")), .place = {8}, .noise = {0, 1}, .overlap = 1};
    in.batch.recompute = RECOMPUTE_SELECTIVE;
    return in;
}

static const struct step_freedom all = {true, true, true};

/* 7B on one GPU needs 16 x 6.7 GB whatever is recomputed; on 8 GPUs sharding makes room. */
static void what_does_not_fit_is_said(void **state)
{
    struct step_input in = ask("llama2-7b", 8), best;
    (void)state;
    in.place.run = 1;
    assert_int_equal(step_split_search(&in, 1, &all, &best), 0);
    struct memory_fit f = step_memory(&best);
    assert_false(memory_fits(&f));
    in.place.run = 8;
    assert_true(step_split_search(&in, 8, &all, &best) > 0);
    f = step_memory(&best);
    assert_true(memory_fits(&f));
    assert_int_equal(parallel_ranks(&best.split), 8);
}

/* Nothing that is tried by hand and fits is faster. */
static void the_fastest_is_found(void **state)
{
    struct step_input in = ask("llama2-70b", 256), best;
    (void)state;
    assert_true(step_split_search(&in, 64, &all, &best) > 10);
    struct step_time found = step_time(&best);
    for (uint32_t tensor = 1; tensor <= 8; tensor *= 2)
        for (uint32_t pipeline = 1; pipeline <= 16; pipeline *= 2)
            for (uint8_t zero = 1; zero <= (pipeline > 1 ? 1 : 3); zero = (uint8_t)(zero + 2))
                for (int r = RECOMPUTE_SELECTIVE; r < N_RECOMPUTES; r++) {
                    struct step_input one = in;
                    one.split = (struct parallelism){64 / tensor / pipeline, tensor, pipeline, 1, 1, 1, zero, tensor > 1};
                    if (64 % (tensor * pipeline)) continue;
                    one.batch.recompute = (enum recompute)r;
                    one.overlap = zero == 3 ? 0 : 1;
                    struct memory_fit f = step_memory(&one);
                    struct step_time t = step_time(&one);
                    assert_true(!memory_fits(&f) || step_total(&t) >= step_total(&found));
                }
}

static void scaling_changes_the_data_parallel_ranks(void **state)
{
    struct step_input in = ask("llama2-70b", 256), out;
    (void)state;
    in.split = (struct parallelism){2, 8, 4, 1, 1, 1, 1, true};
    assert_true(step_scaled(&in, 128, &out));
    assert_int_equal(out.split.data, 4);
    assert_false(step_scaled(&in, 48, &out));   /* 32 do not divide 48 */
    assert_false(step_scaled(&in, 32768, &out)); /* 1,024 ranks, but 256 samples */
}

/* No transformer: only replicated. */
static void images_are_replicated(void **state)
{
    struct step_input in = ask("resnet-50", 3200), best;
    (void)state;
    in.batch.micro = 400;
    assert_int_equal(step_split_search(&in, 8, &all, &best), 1);
    assert_int_equal(best.split.data, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_fit_is_said),
        cmocka_unit_test(the_fastest_is_found),
        cmocka_unit_test(scaling_changes_the_data_parallel_ranks),
        cmocka_unit_test(images_are_replicated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
