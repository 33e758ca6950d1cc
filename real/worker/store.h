/* store.h - where checkpoints lie: a directory, or a bucket of an S3-compatible object store.
 *
 * A checkpoint is a set of shards that has its step as name only when all of it is there, whatever is killed when. Each
 * writer writes its shard under the step and the token, which is of one life of the job, so that what an earlier life
 * left is never mixed in; when all have, rank 0 gives the name. How, differs:
 *
 *     where              a shard before its name          the name
 *     DIR                step-N.TOKEN.partial/shard-i-of-n   the directory, synced, becomes step-N by rename
 *     s3://BUCKET/PREFIX step-N.TOKEN/shard-i-of-n           the object step-N.manifest, put last: each shard's object,
 *                                                            bytes and checksum, read back from the shards as they lie
 *                                                            there; to put it again replaces the checkpoint as a whole
 *
 * (N has ten digits.) To remove a checkpoint takes its name first. An object store answers for a put only when it holds
 * the object, and lists what it has answered for (Amazon S3 User Guide, "Amazon S3 data consistency model").
 *
 *     struct store *s = store_open("s3://runs/a", &diag);
 *     store_prepare(s, true, &diag);                              // rank 0
 *     store_write(s, &(struct store_part){ .step = 70, .token = t, .shards = 1 }, bytes, n, &diag);
 *     store_commit(s, 70, t, &diag);
 *     store_tidy(s, &(struct store_keep){70, 3, false}, &diag);   // the newest three stay
 *     store_find(s, 70, &names, &diag); text = store_read(s, names.v[0].name, limit, &n, &diag);
 *     store_close(s);
 *
 * Each call gives false (or NULL) and a reason. s->fails then says whether it was the store that failed, so that
 * another try may go well, and not what was asked for: it is not there, or has more bytes than it can have. Whatever else keeps
 * a thing from being read is the store's doing. One thread at a time uses a store.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_WORKER_STORE_H
#define TRAINYARD_REAL_WORKER_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/diag.h"

#define STORE_STEP  "step-%010lld"
#define STORE_SHARD "shard-%04d-of-%04d"

typedef ARRAY(int64_t) step_list;

struct store_shard {
    const char *name; /* whole, as errors say it */
    bool checked;     /* the store keeps a checksum of its own: */
    uint32_t data_crc;
};

struct store_shards { /* in order; names live in the arena */
    ARRAY(struct store_shard) list;
    struct arena arena;
};

struct store_part {
    int64_t step;
    uint64_t token;
    int shard, shards;
};

/* What stays: of the checkpoints up to `step` the newest `newest`, and all later ones; at the start of a life, when no rank writes yet,
 * nothing else, and later what has no name of later steps: other ranks may have begun the next save. */
struct store_keep {
    int64_t step; /* -1: none is counted */
    int newest;   /* >= 1 */
    bool start;
};

struct store;

struct store_ops {
    const char *scheme; /* that the place begins with; "" is the row for all the rest */
    void *(*open)(const char *where, struct diag *);
    bool (*prepare)(struct store *, bool rank_0, struct diag *);
    bool (*list)(struct store *, step_list *, struct diag *);
    bool (*find)(struct store *, int64_t step, struct store_shards *, struct diag *);
    char *(*read)(struct store *, const char *name, size_t limit, size_t *bytes, struct diag *);
    bool (*write)(struct store *, const struct store_part *, const void *, size_t, struct diag *);
    bool (*commit)(struct store *, int64_t step, uint64_t token, struct diag *);
    void (*abandon)(struct store *, int64_t step, uint64_t token);
    bool (*remove)(struct store *, int64_t step, struct diag *);
    bool (*tidy)(struct store *, const struct store_keep *, struct diag *);
    void (*close)(void *);
};

struct store {
    const struct store_ops *ops;
    const char *where; /* the caller's */
    void *state;
    bool fails; /* why the last call gave false */
};

extern const struct store_ops store_dir_ops, store_s3_ops;

/* NULL: the place is none, or what it needs of the environment is not set. Nothing is reached yet. */
struct store *store_open(const char *where, struct diag *);
void store_close(struct store *); /* NULL is fine */

/* Makes the place ready for writing; on rank 0 ends uploads that earlier lives began, as far as it can. */
bool store_prepare(struct store *, bool rank_0, struct diag *);

/* The steps of the checkpoints that are there, ascending; a place that is not there yet has none. */
bool store_list(struct store *, step_list *, struct diag *);

/* The shards of a checkpoint. */
bool store_find(struct store *, int64_t step, struct store_shards *, struct diag *);
void store_shards_free(struct store_shards *);

/* One of them whole, freed by the caller; more than `limit` bytes is an error. */
char *store_read(struct store *, const char *name, size_t limit, size_t *bytes, struct diag *);

/* True when it is kept for good. */
bool store_write(struct store *, const struct store_part *, const void *, size_t, struct diag *);

/* All shards being written: gives the name, and one of that name is replaced (store_tidy takes away what it was). Or takes them away. */
bool store_commit(struct store *, int64_t step, uint64_t token, struct diag *);
void store_abandon(struct store *, int64_t step, uint64_t token);

/* A checkpoint, its name first; fine when it is not there. */
bool store_remove(struct store *, int64_t step, struct diag *);

/* Takes away all that is not to be kept, also what has no name: at the start of a life, and after each save, since a store may do what
 * a killed writer asked for (a put, or the first half of a removal) when the next life has begun, and since a writer may be killed
 * between a save and this. False and why, of what cannot be taken away. */
bool store_tidy(struct store *, const struct store_keep *, struct diag *);

/* For stores: of these steps (ascending) what comes before this one goes. */
int64_t store_keep_from(const step_list *, const struct store_keep *);

/* For stores and savers: what could not be taken away is in nobody's way. The first of these errors becomes a warning of d; frees them. */
void store_warn(struct diag *d, struct diag *left);

/* "step-NNNNNNNNNN" and what follows it; -1 when the text is none. */
int64_t store_step_of(const char *name, const char **rest);

#endif
