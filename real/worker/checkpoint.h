/* checkpoint.h - training state that is kept: whole or not there.
 *
 * A checkpoint is a set of shards in a store (store.h), which gives it its name, the step, once all are written. A shard
 * holds a header (step, which parameters, which of how many shards, the model's fingerprint, checksums of itself and of
 * what follows), then parameters, then momenta, as floats. With one writer (rank 0) there is one shard; sharded, each
 * rank writes its part of the parameters. Loading reads all shards, so any number of ranks can go on from it; the store
 * is one that all ranks see.
 *
 *     struct store *store = store_open("saved", &diag);                 // or "s3://bucket/prefix"
 *     struct saver *s = saver_open(store, &(struct saver_options){ .keep = 3 }, &life, &diag);
 *     saver_begin(s, step, n, parameters, momenta);        // copies, and writes in a thread of its own
 *     ... saver_state(s) is SAVER_WRITTEN or SAVER_FAILED on every rank: tell rank 0 ...
 *     saver_commit(s, &diag) on rank 0, saver_wait(s) on the others
 *
 * Keep N: at the start and after a commit rank 0 removes all but the newest N up to the step that was loaded or saved, and what killed
 * lives left half-made. A store that is down (ENOSPC, no answer, a fault) fails that save and no other; what cannot be removed (a key
 * that may not delete) fails none, and is told once.
 *
 * A checkpoint is removed in three cases, and in no other: N newer ones have been named since, one of its step takes its place, or
 * the caller goes back behind it (checkpoint_drop_newer). One training at a time uses a place.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_WORKER_CHECKPOINT_H
#define TRAINYARD_REAL_WORKER_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "real/worker/store.h"

#define CHECKPOINT_STEP_MAX INT64_C(9999999999)

/* ---- reading ---- */

/* Fills parameters and momenta (n each) from the checkpoint of that step. False and a reason that names the shard: it is not
 * there, a checksum is another, or it is of another model. */
bool checkpoint_load(struct store *, int64_t step, uint64_t fingerprint, size_t n, float *parameters, float *momenta,
                     struct diag *);

/* What checkpoint_load_newest gives in place of a step. */
enum { CHECKPOINT_NONE = -1, CHECKPOINT_OTHER_MODEL = -2, CHECKPOINT_STORE_FAILS = -3 };

/* The newest that can be loaded, loaded. Those that cannot are told in diag and passed over, but one of another model ends
 * the search, and so does a store that fails: the checkpoint may be sound. */
int64_t checkpoint_load_newest(struct store *, uint64_t fingerprint, size_t n, float *parameters, float *momenta,
                               struct diag *);

/* Removes all that are newer than `step`, whatever is in them: for a caller who was asked to go back there. */
bool checkpoint_drop_newer(struct store *, int64_t step, struct diag *);

/* ---- writing ---- */

struct saver_options {
    int keep; /* >= 1 */
    bool sharded;
};

struct saver;

/* One life of a job: whoever saves in it, and what it goes on from. */
struct saver_life {
    int rank, size;
    uint64_t token;       /* of this life only, alike on all ranks */
    uint64_t fingerprint; /* the model's */
    int64_t step;         /* of the checkpoint that was loaded; CHECKPOINT_NONE: none was */
};

/* Rank 0 removes what earlier lives left. The store must outlive it, and is its own from saver_begin to saver_wait. */
struct saver *saver_open(struct store *, const struct saver_options *, const struct saver_life *, struct diag *);

/* No save may be under way. Ranks that write nothing are at once SAVER_WRITTEN. */
void saver_begin(struct saver *, int64_t step, size_t n, const float *parameters, const float *momenta);

enum saver_state { SAVER_IDLE, SAVER_WRITING, SAVER_WRITTEN, SAVER_FAILED };
enum saver_state saver_state(struct saver *);

/* Ends this rank's part: waits for its thread. False and a reason when it could not write. */
bool saver_wait(struct saver *, struct diag *);

/* Rank 0, after saver_wait, all shards being written: gives it its name, and removes as Keep N says (a warning when it cannot). Or, one having failed: takes it away. */
bool saver_commit(struct saver *, struct diag *);
void saver_abandon(struct saver *);

/* The store fails until then, on the monotonic clock: a fault to play. */
void saver_store_down_until(struct saver *, int64_t until_ns);

void saver_close(struct saver *); /* waits for the thread; NULL is fine */

#endif
