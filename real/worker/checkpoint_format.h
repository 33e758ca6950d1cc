/* checkpoint_format.h - the header of a shard, which reader, writer and stores share.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_WORKER_CHECKPOINT_FORMAT_H
#define TRAINYARD_REAL_WORKER_CHECKPOINT_FORMAT_H

#include <stdint.h>

#define CHECKPOINT_MAGIC "TYCKPT1\n"

struct shard_header {
    char magic[8];
    int64_t step;
    uint64_t fingerprint, parameters, first, count; /* of the model; in all; here */
    uint32_t shard, shards;
    uint32_t data_crc, header_crc; /* of the floats; of the header with this field 0 */
};

_Static_assert(sizeof(struct shard_header) == 64, "header of a shard");

uint32_t shard_header_crc(struct shard_header); /* by value: the field is set to 0 first */

#endif
