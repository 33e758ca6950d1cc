/* test_step_table.c - tables of training steps: columns in any order, what may be absent, what is refused and how.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "input/step_guess.h"
#include "input/step_shape.h"
#include "input/step_table.h"
#include "tests/support/shared.h"

/* Reads a text; what was said is in `said`. */
static bool read_text(const char *text, enum step_table_use use, struct step_table *t, char said[4096])
{
    char path[40];
    struct diag d = {0};
    int fd = memfd_create("steps", MFD_CLOEXEC);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    bool ok = step_table_read(path, use, t, &d);
    assert_int_equal(ok, diag_errors(&d) == 0);
    FILE *to = fmemopen(said, 4096, "w");
    diag_print(&d, to);
    fclose(to);
    diag_free(&d);
    close(fd);
    return ok;
}

#define HEAD "gpu,model,n_params,seqlen,n_gpus,microbatch,grad_accum,precision,sharding,act_ckpt,derived_step_time_s\n"

static const struct bad { const char *text, *says; } bad[] = {
    {"",                                                              "is empty; the first row names the columns"   },
    {HEAD,                                                            "there are no rows"                           },
    {HEAD "h100_80gb,7b,,2048,8,6,1,amp_bf16,FULL_SHARD,False,\n",    "no row has an outcome"                       },
    {HEAD "h100_80gb,7b,,2048,8,6,1,amp_bf16,FULL_SHARD,False,x\n",   ":2: derived_step_time_s: \"x\" is no number" },
    {HEAD "h100_80gb,7b,,2048,8,6,1,amp_bf16,FULL_SHARD,False,-1\n",  "derived_step_time_s: -1 is out of range"     },
    {HEAD "z9,7b,,2048,8,6,1,amp_bf16,FULL_SHARD,False,1\n",          "gpu: \"z9\" is no GPU that is known\n    known are: a100_80gb"},
    {HEAD ",7b,,2048,8,6,1,amp_bf16,FULL_SHARD,False,1\n",            "no GPU is named"                             },
    {HEAD "h100_80gb,big,,2048,8,6,1,amp_bf16,FULL_SHARD,False,1\n",  "neither parameters nor a model that is known"},
    {HEAD "h100_80gb,7b,1,2048,8,6,1,amp_bf16,FULL_SHARD,False,1\n",  "n_params: 1 is out of range"                 },
    {HEAD "h100_80gb,7b,,nan,8,6,1,amp_bf16,FULL_SHARD,False,1\n",    "seqlen: \"nan\" is no number"                },
    {HEAD "h100_80gb,7b,,2048,,6,1,amp_bf16,FULL_SHARD,False,1\n",    "the number of GPUs is missing"               },
    {HEAD "h100_80gb,7b,,2048,0,6,1,amp_bf16,FULL_SHARD,False,1\n",   "n_gpus: 0 is out of range"                   },
    {HEAD "h100_80gb,7b,,2048,8,,,amp_bf16,FULL_SHARD,False,1\n",     "give microbatch and grad_accum"              },
    {HEAD "h100_80gb,7b,,2048,8,6,1,amp_bf16,SOME,False,1\n",         "sharding: \"SOME\" is no sharding"           },
    {HEAD "h100_80gb,7b,,2048,8,6,1,amp_bf16,FULL_SHARD,maybe,1\n",   "act_ckpt: \"maybe\" is neither True nor False"},
    {HEAD "h100_80gb,7b\n",                                           ":2: the row has 2 fields, the header has 11" },
    {"gpu,gpu,n_gpus\na100,a100,8\n",                                 "column \"gpu\" is there twice"               },
};

static void wrong_tables_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct step_table t = {0};
        char said[4096];
        assert_false(read_text(bad[i].text, STEP_TABLE_MEASURED, &t, said));
        if (!strstr(said, bad[i].says)) fail_msg("row %zu: not \"%s\" but %s", i, bad[i].says, said);
        step_table_free(&t);
    }
}

static void all_wrong_rows_are_said(void **state)
{
    struct step_table t = {0};
    char said[4096];
    (void)state;
    assert_false(read_text(HEAD "z9,7b,,2048,8,6,1,,,,1\nh100_80gb,7b,,2048,8,6,1,,,,1\nh100_80gb,7b,,x,8,6,1,,,,1\n",
                           STEP_TABLE_MEASURED, &t, said));
    assert_non_null(strstr(said, ":2: gpu"));
    assert_non_null(strstr(said, ":4: seqlen"));
    assert_non_null(strstr(said, "2 errors"));
    step_table_free(&t);
}

static void same_work(const struct step_work *a, const struct step_work *b)
{
    assert_true(a->parameters == b->parameters && a->layers == b->layers && a->hidden == b->hidden);
    assert_true(a->sequence == b->sequence && a->tokens == b->tokens && a->micro_batches == b->micro_batches);
    assert_true(a->ranks == b->ranks && a->sharding == b->sharding && a->recompute == b->recompute && a->fp8 == b->fp8);
}

/* One row, said in several ways; what it says of outcomes is nonsense and must not be seen. */
static void ways_to_say_a_row(void **state)
{
    static const char *const texts[] = {
        "gpu,model,n_params,seqlen,n_gpus,microbatch,grad_accum,global_batch_seq,precision,sharding,act_ckpt\n"
        "a100_40gb,1b,1315950592,2048,16,10,2,320,amp_bf16,FULL_SHARD,True\n",
        "act_ckpt,sharding,grad_accum,microbatch,n_gpus,seqlen,n_params,model,gpu\nTrue,FULL_SHARD,2,10,16,2048,1315950592,1b,a100_40gb\n",
        "gpu,n_params,n_gpus,microbatch,global_batch_seq,act_ckpt\nA100-40GB,1315950592,16,10,320,true\n",
        "gpu,model,n_params,n_gpus,grad_accum,global_batch_tokens,act_ckpt\na100_40gb,1b,1315950592,16,2,655360,1\n",
        "gpu,model,n_params,microbatch,grad_accum,global_batch_seq,global_batch_tokens,act_ckpt\n"
        "a100_40gb,1b,1315950592,10,2,320,655360,1\n",
        "section,model,n_params,n_gpus,microbatch,grad_accum,act_ckpt\n\"A100 40GB with 1600 Gbps node-node interconnect "
        "(RoCE)\",mpt-1b,1315950592,16,10,2,True\n",
        "gpu,model,n_params,n_gpus,microbatch,grad_accum,act_ckpt,mfu_pct,derived_step_time_s,tokens_per_s\n"
        "a100_40gb,1b,1315950592,16,10,2,True,junk,-5,???\n",
    };
    struct step_table first = {0};
    char said[4096];
    (void)state;
    assert_true(read_text(texts[0], STEP_TABLE_TO_PREDICT, &first, said));
    const struct step_work *w = &first.rows.v[0].work;
    assert_true(w->tokens == 20480 && w->micro_batches == 2 && w->ranks == 16 && w->layers == 24 && w->hidden == 2048);
    assert_true(w->recompute && !w->fp8 && w->sharding == SHARD_FULL && isnan(first.rows.v[0].step_s));
    for (size_t i = 1; i < sizeof texts / sizeof *texts; i++) {
        struct step_table t = {0};
        if (!read_text(texts[i], STEP_TABLE_TO_PREDICT, &t, said)) fail_msg("text %zu: %s", i, said);
        assert_ptr_equal(t.rows.v[0].gpu, first.rows.v[0].gpu);
        if (i == 2) t.rows.v[0].work.layers = w->layers, t.rows.v[0].work.hidden = w->hidden; /* no name: from the size */
        same_work(w, &t.rows.v[0].work);
        step_table_free(&t);
    }
    step_table_free(&first);
}

/* Rows keep their numbers when some have no outcome. */
static void unmeasured_rows_are_left_out(void **state)
{
    struct step_table t = {0};
    char said[4096];
    (void)state;
    assert_true(read_text(HEAD "a100_80gb,7b,,2048,8,6,1,,,,\na100_80gb,7b,,2048,8,6,1,,,,1.5\n", STEP_TABLE_MEASURED, &t, said));
    assert_int_equal(t.rows.n, 1);
    assert_int_equal(t.n_unmeasured, 1);
    assert_int_equal(t.rows.v[0].row, 2);
    assert_true(t.rows.v[0].step_s == 1.5);
    step_table_free(&t);
}

/* Memory alone says which rows of the public table recompute. */
static void guesses_are_counted(void **state)
{
    (void)state;
    struct step_table t = {0};
    char said[4096];
    assert_true(read_text("gpu,model,n_gpus,seqlen,global_batch_seq,microbatch,act_ckpt\n"
                          "h100_80gb,7b,8,2048,64,2,True\n"
                          "h100_80gb,7b,8,2048,64,,True\n"
                          "h100_80gb,7b,8,,64,2,\n", STEP_TABLE_TO_PREDICT, &t, said));
    assert_int_equal(t.n_guessed[GUESS_SEQUENCE], 1);
    assert_int_equal(t.n_guessed[GUESS_MICROBATCH], 1);
    assert_int_equal(t.n_guessed[GUESS_RECOMPUTE], 1);
    step_table_free(&t);
}

static void recompute_is_guessed(void **state)
{
    char path[SHARED_PATH_MAX];
    struct step_table t = {0};
    struct diag d = {0};
    size_t wrong = 0;
    (void)state;
    shared_path(path, "data/training/mosaicml_llm_foundry.csv");
    assert_true(step_table_read(path, STEP_TABLE_MEASURED, &t, &d));
    for (size_t i = 0; i < t.rows.n; i++)
        wrong += step_guess_recompute(&t.rows.v[i].work, t.rows.v[i].gpu) != t.rows.v[i].work.recompute;
    assert_int_equal(t.rows.n, 144);
    assert_int_equal(wrong, 0);
    step_table_free(&t);
    diag_free(&d);
}

/* Published shapes that the interpolation does not know: layers and width within a fifth of them. */
static void shapes_from_parameters(void **state)
{
    static const struct { const char *name; double parameters, layers, hidden; } rows[] = {
        {"llama2-7b",  6.74e9,   32, 4096}, /* arXiv 2307.09288 */
        {"llama2-70b", 68.98e9,  80, 8192},
        {"gpt3-13b",   12.85e9,  40, 5140}, /* arXiv 2005.14165, table 2.1 */
        {"gpt3-2.7b",  2.65e9,   32, 2560},
    };
    struct step_shape s;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(step_shape_find(rows[i].name, rows[i].parameters, 2048, &s));
        assert_true(fabs(s.layers / rows[i].layers - 1) < 0.2 && fabs(s.hidden / rows[i].hidden - 1) < 0.2);
    }
    assert_true(step_shape_find("llama-1.3B", 0, 2048, &s) && s.parameters == 1.3e9);
    assert_false(step_shape_find("model", 0, 2048, &s));
    assert_false(step_shape_find(NULL, 0, 2048, &s));
}

static void gpus_by_many_names(void **state)
{
    static const struct { const char *said, *meant; } rows[] = {
        {"a100_80gb", "a100_80gb"}, {"A100-SXM-80GB", "a100_80gb"}, {"NVIDIA A100-SXM4-40GB", "a100_40gb"}, {"a100", "a100_80gb"},
        {"H100", "h100_80gb"}, {"NVIDIA H100 80GB HBM3", "h100_80gb"}, {"h200", "h200_141gb"}, {"V100-32GB", "v100_32gb"},
        {"MI300X", "mi300x"}, {"B200", "b200_180gb"}, {"GB200", "gb200"}, {"L4", "l4"}, {"L40S", "l40s"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gpu_spec *g = gpu_spec_find(rows[i].said);
        if (!g || strcmp(g->name, rows[i].meant)) fail_msg("%s: %s", rows[i].said, g ? g->name : "(none)");
    }
    assert_null(gpu_spec_find(""));
    assert_null(gpu_spec_find("z9"));
    assert_null(gpu_spec_find("100"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_tables_are_refused),    cmocka_unit_test(all_wrong_rows_are_said),
        cmocka_unit_test(ways_to_say_a_row),           cmocka_unit_test(unmeasured_rows_are_left_out),
        cmocka_unit_test(guesses_are_counted),
        cmocka_unit_test(recompute_is_guessed),
        cmocka_unit_test(shapes_from_parameters),      cmocka_unit_test(gpus_by_many_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
