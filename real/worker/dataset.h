/* dataset.h - a file of labelled samples, its generator, and batches read ahead by a thread.
 *
 * The file: 32 bytes of header ("TYDATA1\n", samples, features, classes as uint32, CRC-32 of the rows, seed as uint64), then a
 * row a sample: `features` floats and a uint32 label; little-endian. The generator draws each class's centre uniformly in
 * [-1, 1] a feature and adds normal noise of the given width to it, from Philox keyed by the seed: the same file everywhere.
 *
 * Order. An epoch is samples / batch batches (the rest of it is left out); in each the samples are shuffled anew (Fisher and
 * Yates, keyed by seed and epoch). A batch depends on nothing but the step, so that training can go on anywhere. Of a batch
 * of B, rank r of q has the samples [r B / q, (r + 1) B / q), whatever q is.
 *
 *     struct dataset *s = dataset_open("train.data", &diag);
 *     struct loader *l = loader_start(s, (struct share){ .batch = 256, .rank = 1, .size = 4, .seed = 1 }, first_step, ahead);
 *     while ((b = loader_next(l)) != NULL) { model_gradient(..., b->x, b->label, b->n, ...); }
 *     loader_stop(l);
 *
 * dataset_open checks header, size and checksum (it reads the file once). A label beyond the classes or a value that is no
 * number is found when its batch is read.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_WORKER_DATASET_H
#define TRAINYARD_REAL_WORKER_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define DATASET_HEADER_BYTES 32
#define DATASET_NOISE        0.5 /* where none is asked for: clouds that overlap a little */

struct dataset_shape {
    uint32_t samples, features, classes;
};

struct dataset {
    struct dataset_shape shape;
    uint32_t crc; /* of the rows: which data it is */
    int fd;
};

/* Writes such a file, atomically. */
bool dataset_generate(const char *path, struct dataset_shape, double noise, uint64_t seed, struct diag *);

struct dataset *dataset_open(const char *path, struct diag *);
void dataset_close(struct dataset *); /* NULL is fine */

struct share {
    uint32_t batch; /* of all ranks together; at most the samples */
    int rank, size;
    uint64_t seed;
};

/* How many samples of each batch this rank has. */
size_t share_samples(const struct share *);

struct batch {
    int64_t step;
    size_t n;
    float *x;
    uint32_t *label;
};

struct loader;

/* Reads up to `ahead` batches (>= 1) ahead, from the one of `first_step` on. The dataset must outlive it. */
struct loader *loader_start(const struct dataset *, struct share, int64_t first_step, int ahead);

/* The next batch, good until the next call; NULL when reading failed: loader_error says why. */
const struct batch *loader_next(struct loader *);
const char *loader_error(const struct loader *);
void loader_stop(struct loader *); /* NULL is fine */

#endif
