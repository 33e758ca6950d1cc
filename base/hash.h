/* hash.h - fingerprints and checksums.
 *
 * The fingerprint is MurmurHash3 x64 128 with seed 0 (Austin Appleby, public domain; the reference is SMHasher), fed in
 * pieces of any size: the result depends on the bytes only, not on how they were cut. It is little-endian by
 * definition, so machines agree. It tells equal from unequal; it is no defence against somebody who forges.
 * hash64() is its first half. The block checksum is CRC-32 (IEEE 802.3, zlib's).
 * Tests hold both to published answers: SMHasher's verification value 0x6384BA69, and CRC-32("123456789") = 0xCBF43926.
 *
 *     struct hash h;
 *     hash_init(&h);
 *     hash_u64(&h, job); hash_i64(&h, now_ns); hash_str(&h, name);
 *     struct hash128 f = hash_end(&h);                  // h can go on taking bytes
 *     char text[HASH_TEXT_BYTES];
 *     hash_text(f, text);                               // 32 hex digits
 *
 * Cost: above 3 GB/s for large pieces, about 3 ns for a u64.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_BASE_HASH_H
#define TRAINYARD_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash {
    uint64_t h1, h2;  /* state after all whole 16-byte blocks */
    uint64_t bytes;   /* bytes seen */
    uint8_t tail[16]; /* the bytes % 16 that wait for their block */
};

struct hash128 {
    uint64_t lo, hi;
};

#define HASH_TEXT_BYTES 33

void hash_init(struct hash *h);
void hash_init_seed(struct hash *h, uint32_t seed);
void hash_bytes(struct hash *h, const void *data, size_t n);

/* Eight bytes, little-endian. */
void hash_u64(struct hash *h, uint64_t x);
void hash_i64(struct hash *h, int64_t x);

/* Length, then the bytes: "ab","c" and "a","bc" differ. */
void hash_str(struct hash *h, const char *text);

struct hash128 hash_end(const struct hash *h);
void hash_text(struct hash128 x, char out[HASH_TEXT_BYTES]);

/* One call: the first half of the 128 bits, seed 0. */
uint64_t hash64(const void *data, size_t n);

/* CRC-32 of `data`; for several pieces give the result so far as `crc`, 0 to begin with. */
uint32_t hash_crc32(uint32_t crc, const void *data, size_t n);

#endif
