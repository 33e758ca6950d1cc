/* manifest.h - what a checkpoint in an object store consists of, as JSON: the object that is put last.
 *
 *     {"trainyard_checkpoint": 1, "step": 70, "token": "0123456789abcdef", "data_crc": [305419896, 12]}
 *
 * One checksum a shard, of its floats, as in its header; the shards lie in step-NNNNNNNNNN.TOKEN/. A manifest that is
 * none, or of another step, is an error that names the object.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_WORKER_MANIFEST_H
#define TRAINYARD_REAL_WORKER_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/str.h"

#define MANIFEST_SHARDS_MAX 9999
#define MANIFEST_BYTES_MAX  ((size_t)1 << 20)

struct manifest {
    int64_t step;
    uint64_t token;
    int shards;
    uint32_t *data_crc;
};

void manifest_write(const struct manifest *, struct str *);
bool manifest_read(const char *name, const char *text, size_t n, int64_t step, struct manifest *, struct diag *);
void manifest_free(struct manifest *);

#endif
