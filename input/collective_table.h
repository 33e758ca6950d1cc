/* collective_table.h - tables of measured collective operations, whoever printed them.
 *
 *     struct collective_table t = {0};
 *     if (collective_table_read("measured.txt", &t, &d)) use(t.rows.v, t.rows.n);
 *     collective_table_free(&t);
 *
 * The content tells the format:
 *   CSV         a header with the columns size_bytes and time_us (out of place, us), in any order, quoted or not; inplace_time_us,
 *               algbw_gbs and busbw_gbs are used where present. A blank time is taken from algbw_gbs.
 *   nccl-tests  and rccl-tests: the printed text, with or without a prefix of mpirun ("[1,0]<stdout>:"); of its head are
 *               used the lines of ranks (how many, on how many hosts, which GPU), nThread and nGpus, and the name of the test.
 *   OSU         the printed text of an OSU micro-benchmark: size and average latency; the title names the operation;
 *               of osu_latency point to point. Tests of bandwidth are refused: many messages at once are no time of one.
 *
 * The time of a row is the smaller of out of place and in place. Rows come sorted by size. A size is what the file calls
 * so: OSU counts what one rank sends, nccl-tests the buffer (collective.h). A row of size 0 is passed over.
 * What the head does not say follows from bus over algorithm bandwidth where both are printed: 2 (n - 1) / n is an
 * all-reduce of n ranks, (n - 1) / n an all-gather; 1 an all-reduce of two.
 *
 * Errors (diag, with the line): a row that cannot be read, a time or size that is not positive, a file without rows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_COLLECTIVE_TABLE_H
#define TRAINYARD_INPUT_COLLECTIVE_TABLE_H

#include <stdbool.h>

#include "base/array.h"
#include "base/diag.h"
#include "models/collective.h"

struct collective_row { double bytes, time_s; };

struct collective_table {
    ARRAY(struct collective_row) rows;
    bool cpu;             /* OSU: CPU memory */
    bool op_known;
    enum collective_op op;
    unsigned ranks;       /* 0: not known */
    unsigned nodes;       /* 0: not known */
    unsigned gpus_per_process;
    char gpu[64];         /* "" when not known */
    double best_busbw;    /* GB/s, of the row that told the ratio */
};

bool collective_table_read(const char *file, struct collective_table *, struct diag *);
/* Adds the rows of a table of the same scale. */
void collective_table_join(struct collective_table *into, const struct collective_table *more);
void collective_table_free(struct collective_table *);

#endif
