/* checkpoint.h - training state on disk: whole or not there.
 *
 * A checkpoint is a directory DIR/step-NNNNNNNNNN with one file a shard. It is made beside, as DIR/step-
 * NNNNNNNNNN.TOKEN.partial: each writer writes and syncs its shard, and once all have, rank 0 syncs the directory,
 * renames it to its name and syncs DIR. So whatever is killed when, a checkpoint that has its name is whole. TOKEN is
 * of one life of the job: what an earlier life left behind is never mixed in, and is removed when rank 0 opens DIR.
 *
 * A shard holds a header (step, which parameters, which of how many shards, the model's fingerprint, checksums of
 * itself and of what follows), then parameters, then momenta, as floats. With one writer (rank 0) there is one shard;
 * sharded, each rank writes its part of the parameters. Loading reads all shards, so any number of ranks can go on
 * from it; DIR is one that all ranks see.
 *
 *     struct saver *s = saver_open(dir, &(struct saver_options){ .keep = 3 }, rank, size, token, fingerprint, &diag);
 *     saver_begin(s, step, n, parameters, momenta);        // copies, and writes in a thread of its own
 *     ... saver_state(s) is SAVER_WRITTEN or SAVER_FAILED on every rank: tell rank 0 ...
 *     saver_commit(s, &diag) on rank 0, saver_wait(s) on the others
 *
 * Keep N: after a commit rank 0 removes all but the newest N (renamed first, so that a half-removed one has no name).
 * A store that is down (ENOSPC, a fault) fails that save and no other.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_WORKER_CHECKPOINT_H
#define TRAINYARD_REAL_WORKER_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/diag.h"

#define CHECKPOINT_STEP_MAX INT64_C(9999999999)

/* ---- reading ---- */

typedef ARRAY(int64_t) step_list;

/* The steps of the checkpoints in DIR, ascending; a DIR that is not there has none. */
bool checkpoint_list(const char *dir, step_list *, struct diag *);

/* Fills parameters and momenta (n each) from the checkpoint of that step. False and a reason that names the file: it lacks a
 * shard, a checksum is another, or it is of another model. */
bool checkpoint_load(const char *dir, int64_t step, uint64_t fingerprint, size_t n, float *parameters, float *momenta,
                     struct diag *);

/* The newest that can be loaded, loaded; -1 when there is none. Those that cannot are told in diag and passed over, but one of
 * another model, or a DIR that cannot be listed, ends the search with -2. */
int64_t checkpoint_load_newest(const char *dir, uint64_t fingerprint, size_t n, float *parameters, float *momenta, struct diag *);

/* Takes the names from all that are newer than `step`: training goes on from there. */
bool checkpoint_drop_newer(const char *dir, int64_t step, struct diag *);

/* ---- writing ---- */

struct saver_options {
    int keep; /* >= 1 */
    bool sharded;
};

struct saver;

struct saver *saver_open(const char *dir, const struct saver_options *, int rank, int size, uint64_t token, uint64_t fingerprint,
                         struct diag *);

/* No save may be under way. Ranks that write nothing are at once SAVER_WRITTEN. */
void saver_begin(struct saver *, int64_t step, size_t n, const float *parameters, const float *momenta);

enum saver_state { SAVER_IDLE, SAVER_WRITING, SAVER_WRITTEN, SAVER_FAILED };
enum saver_state saver_state(struct saver *);

/* Ends this rank's part: waits for its thread. False and a reason when it could not write. */
bool saver_wait(struct saver *, struct diag *);

/* Rank 0, after saver_wait, all shards being written: gives it its name. Or, one having failed: takes it away. */
bool saver_commit(struct saver *, struct diag *);
void saver_abandon(struct saver *);

/* The store fails until then, on the monotonic clock: a fault to play. */
void saver_store_down_until(struct saver *, int64_t until_ns);

void saver_close(struct saver *); /* waits for the thread; NULL is fine */

#endif
