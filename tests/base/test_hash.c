/* test_hash.c - hashes against published answers, map and interning.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/hmap.h"

/* SMHasher's VerificationTest: keys {}, {0}, {0,1}, ... {0..254}, seed 256 - i; the hash of all results, seed 0.
 * Its published value for MurmurHash3_x64_128 (main.cpp) is 0x6384BA69. */
static void murmur3_verification_value(void **state)
{
    (void)state;
    uint8_t key[256], all[256 * 16];
    for (uint32_t i = 0; i < 256; i++) {
        struct hash h;
        key[i] = (uint8_t)i;
        hash_init_seed(&h, 256 - i);
        hash_bytes(&h, key, i);
        struct hash128 r = hash_end(&h);
        memcpy(all + 16 * i, &r.lo, 8);
        memcpy(all + 16 * i + 8, &r.hi, 8);
    }
    assert_int_equal(hash64(all, sizeof all) & 0xffffffff, 0x6384BA69);
}

/* Guava's Murmur3Hash128Test, taken from the C++ reference. */
static void murmur3_known_texts(void **state)
{
    (void)state;
    static const char fox[] = "The quick brown fox jumps over the lazy dog";
    struct hash h;
    char text[HASH_TEXT_BYTES];
    hash_init(&h);
    hash_text(hash_end(&h), text);
    assert_string_equal(text, "00000000000000000000000000000000");
    hash_bytes(&h, fox, sizeof fox - 1);
    hash_text(hash_end(&h), text);
    assert_string_equal(text, "e34bbc7bbc071b6c7a433ca9c49a9347");
}

static bool equal(const struct hash *a, const struct hash *b)
{
    struct hash128 x = hash_end(a), y = hash_end(b);
    return x.lo == y.lo && x.hi == y.hi;
}

static void cutting_does_not_matter(void **state)
{
    (void)state;
    uint8_t data[200];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 7 + 3);
    struct hash whole;
    hash_init(&whole);
    hash_bytes(&whole, data, sizeof data);
    for (size_t step = 1; step < 50; step++) {
        struct hash h;
        hash_init(&h);
        for (size_t at = 0; at < sizeof data; at += step)
            hash_bytes(&h, data + at, at + step < sizeof data ? step : sizeof data - at);
        assert_true(equal(&h, &whole));
    }
}

static void strings_are_delimited(void **state)
{
    (void)state;
    struct hash a, b;
    hash_init(&a);
    hash_init(&b);
    hash_str(&a, "ab");
    hash_str(&a, "c");
    hash_str(&b, "a");
    hash_str(&b, "bc");
    assert_false(equal(&a, &b));
}

static void crc32_check_value(void **state)
{
    (void)state;
    assert_int_equal(hash_crc32(0, "123456789", 9), 0xCBF43926); /* the catalogue's check value of CRC-32/ISO-HDLC */
    assert_int_equal(hash_crc32(hash_crc32(0, "1234", 4), "56789", 5), 0xCBF43926);
}

static void map_keeps_insertion_order(void **state)
{
    (void)state;
    struct hmap m = {0};
    char key[32];
    for (unsigned i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "key-%u", i * 7919 % 5000);
        assert_true(hmap_put_str(&m, key, i));
    }
    assert_false(hmap_put_str(&m, "key-0", 77));
    assert_int_equal(m.n, 5000);
    const struct hmap_entry *e;
    unsigned seen = 0;
    for (size_t i = 0; (e = hmap_next(&m, &i)) != NULL; seen++) {
        snprintf(key, sizeof key, "key-%u", seen * 7919 % 5000);
        assert_string_equal(e->str, key);
        assert_int_equal(e->value, seen == 0 ? 77 : seen);
    }
    assert_int_equal(seen, 5000);
    uint64_t v = 5;
    assert_false(hmap_get_str(&m, "none", &v));
    assert_int_equal(v, 5);
    assert_true(hmap_get_strn(&m, "key-1xyz", 5, NULL));
    hmap_free(&m);
}

/* Against a plain table of 512 values, through 200,000 puts and deletes. */
static void map_agrees_with_a_table(void **state)
{
    (void)state;
    struct hmap m = {0};
    uint64_t value[512] = {0}, x = 1;
    size_t live = 0;
    for (int i = 1; i < 200000; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        uint64_t k = x >> 55, stored;
        if (x >> 20 & 1) {
            assert_int_equal(hmap_put_u64(&m, k << 32, (uint64_t)i), value[k] == 0);
            live += value[k] == 0;
            value[k] = (uint64_t)i;
        } else {
            assert_int_equal(hmap_del_u64(&m, k << 32), value[k] != 0);
            live -= value[k] != 0;
            value[k] = 0;
        }
        assert_int_equal(m.n, live);
        k = x >> 10 & 511;
        assert_int_equal(hmap_get_u64(&m, k << 32, &stored), value[k] != 0);
        if (value[k]) assert_int_equal(stored, value[k]);
    }
    assert_true(m.cap <= 4096);
    hmap_free(&m);
}

static void interning(void **state)
{
    (void)state;
    struct intern t = {0};
    assert_int_equal(intern_find(&t, "a"), INTERN_NONE);
    assert_int_equal(intern_id(&t, "a"), 0);
    assert_int_equal(intern_id(&t, ""), 1);
    assert_int_equal(intern_idn(&t, "abc", 1), 0);
    assert_int_equal(intern_id(&t, "b"), 2);
    assert_int_equal(intern_find(&t, "b"), 2);
    assert_string_equal(intern_text(&t, 1), "");
    assert_int_equal(intern_count(&t), 3);
    intern_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(murmur3_verification_value),
        cmocka_unit_test(murmur3_known_texts),
        cmocka_unit_test(cutting_does_not_matter),
        cmocka_unit_test(strings_are_delimited),
        cmocka_unit_test(crc32_check_value),
        cmocka_unit_test(map_keeps_insertion_order),
        cmocka_unit_test(map_agrees_with_a_table),
        cmocka_unit_test(interning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
