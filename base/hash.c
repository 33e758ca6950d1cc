/* hash.c - MurmurHash3 x64 128 in pieces, and CRC-32.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/hash.h"

#include <string.h>
#include <zlib.h>

/* Constants and mixing steps as in SMHasher, MurmurHash3.cpp, MurmurHash3_x64_128 (public domain). */
#define C1 UINT64_C(0x87c37b91114253d5)
#define C2 UINT64_C(0x4cf5ad432745937f)

static inline uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static inline uint64_t load64(const uint8_t *p)
{
    uint64_t x;
    memcpy(&x, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    return x;
}

static inline void block(struct hash *h, const uint8_t *p)
{
    uint64_t k1 = load64(p), k2 = load64(p + 8);
    h->h1 ^= rotate(k1 * C1, 31) * C2;
    h->h1 = (rotate(h->h1, 27) + h->h2) * 5 + 0x52dce729;
    h->h2 ^= rotate(k2 * C2, 33) * C1;
    h->h2 = (rotate(h->h2, 31) + h->h1) * 5 + 0x38495ab5;
}

void hash_init_seed(struct hash *h, uint32_t seed)
{
    *h = (struct hash){.h1 = seed, .h2 = seed};
}

void hash_init(struct hash *h)
{
    hash_init_seed(h, 0);
}

void hash_bytes(struct hash *h, const void *data, size_t n)
{
    const uint8_t *p = data;
    size_t have = h->bytes & 15;
    if (n == 0) return;
    h->bytes += n;
    if (have) {
        size_t take = 16 - have < n ? 16 - have : n;
        memcpy(h->tail + have, p, take);
        if (have + take < 16) return;
        block(h, h->tail);
        p += take;
        n -= take;
    }
    for (; n >= 16; p += 16, n -= 16) block(h, p);
    if (n) memcpy(h->tail, p, n);
}

void hash_u64(struct hash *h, uint64_t x)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    hash_bytes(h, &x, 8);
}

void hash_i64(struct hash *h, int64_t x)
{
    hash_u64(h, (uint64_t)x);
}

void hash_str(struct hash *h, const char *text)
{
    size_t n = strlen(text);
    hash_u64(h, n);
    hash_bytes(h, text, n);
}

static uint64_t final_mix(uint64_t k)
{
    k = (k ^ k >> 33) * UINT64_C(0xff51afd7ed558ccd);
    k = (k ^ k >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return k ^ k >> 33;
}

struct hash128 hash_end(const struct hash *h)
{
    uint64_t h1 = h->h1, h2 = h->h2;
    size_t have = h->bytes & 15;
    uint8_t tail[16] = {0};
    memcpy(tail, h->tail, have);
    if (have > 8) h2 ^= rotate(load64(tail + 8) * C2, 33) * C1;
    if (have > 0) h1 ^= rotate(load64(tail) * C1, 31) * C2;
    h1 ^= h->bytes;
    h2 ^= h->bytes;
    h1 += h2;
    h2 += h1;
    h1 = final_mix(h1);
    h2 = final_mix(h2);
    h1 += h2;
    h2 += h1;
    return (struct hash128){h1, h2};
}

/* The first half leads, each half with its high digit first: the order in which the function is usually printed. */
void hash_text(struct hash128 x, char out[HASH_TEXT_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 16; i++) {
        out[15 - i] = digits[x.lo >> (4 * i) & 15];
        out[31 - i] = digits[x.hi >> (4 * i) & 15];
    }
    out[32] = '\0';
}

uint64_t hash64(const void *data, size_t n)
{
    struct hash h;
    hash_init(&h);
    hash_bytes(&h, data, n);
    return hash_end(&h).lo;
}

uint32_t hash_crc32(uint32_t crc, const void *data, size_t n)
{
    return (uint32_t)crc32_z(crc, data, n);
}
