/* step_table.h - tables of measured training steps: CSV, columns by name in any order.
 *
 *     struct step_table t = {0};
 *     if (step_table_read("train.csv", STEP_TABLE_MEASURED, &t, &d)) use(t.rows.v, t.rows.n);
 *     step_table_free(&t);
 *
 * Columns (those of MosaicML's llm-foundry benchmark table):
 *   gpu                   a name of gpu_spec.h; else `section` is searched for one
 *   n_gpus                ranks, data-parallel; else what the batch's columns together take
 *   model, n_params       one of them: the shape follows (step_shape.h)
 *   seqlen                else tokens of the batch over its sequences, else 2048
 *   microbatch, grad_accum, global_batch_seq, global_batch_tokens    one follows from the others; of a lone global batch the
 *                         micro-batch is guessed (step_guess.h)
 *   precision             amp_bf16 (default), bf16, amp_fp16, amp_fp8 ...: what ends in fp8 is 8 bits
 *   sharding              FULL_SHARD (default), HYBRID_SHARD, SHARD_GRAD_OP, NO_SHARD
 *   act_ckpt              guessed when absent: whether it must be for memory (step_guess.h)
 *   act_offload           False when absent
 *   derived_step_time_s   the outcome, in seconds
 * Other columns are not looked at: outcomes (mfu_pct, hfu_pct, model_tflops_per_gpu, tokens_per_s ...) least of all. Of a
 * table that is read for prediction the outcome is not read either, though it be there. Measured rows with a blank
 * outcome are left out and counted. An empty field is an absent one.
 *
 * Errors (diag, with the line): a number that is none or out of range, a GPU or a model that nobody knows, no GPUs, no batch.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_STEP_TABLE_H
#define TRAINYARD_INPUT_STEP_TABLE_H

#include "base/array.h"
#include "base/diag.h"
#include "models/step_efficiency.h"

enum step_table_use { STEP_TABLE_MEASURED, STEP_TABLE_TO_PREDICT };

struct step_row {
    size_t row; /* of the file's data rows, from 1 */
    int line;
    const struct gpu_spec *gpu;
    struct step_work work;
    double step_s; /* the outcome; NAN in a table to predict */
};

/* What a row did not say and was taken for it. */
enum step_guess { GUESS_SEQUENCE, GUESS_MICROBATCH, GUESS_RECOMPUTE, N_STEP_GUESSES };
extern const char *const step_guess_words[N_STEP_GUESSES]; /* "seqlen (2,048 is taken)" ... */

struct step_table {
    ARRAY(struct step_row) rows;
    size_t n_read;      /* data rows of the file */
    size_t n_guessed[N_STEP_GUESSES]; /* rows in which it was */
    size_t n_unmeasured; /* left out: without outcome */
};

/* False with errors in d; a table without a row is one. */
bool step_table_read(const char *file, enum step_table_use, struct step_table *, struct diag *d);
void step_table_free(struct step_table *);

#endif
