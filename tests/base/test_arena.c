/* test_arena.c - arena and array.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"

/* Mostly small; some get a block of their own. */
static size_t piece_bytes(size_t i)
{
    return i % 500 == 0 ? 300000 : i % 97;
}

static void pieces_are_aligned_zeroed_and_stay(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    unsigned char *piece[2000];
    for (size_t i = 0; i < 2000; i++) {
        size_t n = piece_bytes(i);
        piece[i] = arena_alloc(&a, n);
        assert_int_equal((uintptr_t)piece[i] % 16, 0);
        for (size_t k = 0; k < n; k++) assert_int_equal(piece[i][k], 0);
        memset(piece[i], (int)(i % 251), n);
    }
    for (size_t i = 0; i < 2000; i++) {
        size_t n = piece_bytes(i);
        for (size_t k = 0; k < n; k++) assert_int_equal(piece[i][k], i % 251);
    }
    arena_free(&a);
    assert_int_equal(arena_bytes(&a), 0);
    assert_string_equal(arena_strdup(&a, "again"), "again");
    arena_free(&a);
}

static void bytes_count_with_alignment(void **state)
{
    (void)state;
    struct arena a = {0};
    arena_alloc(&a, 1);
    arena_alloc(&a, 16);
    arena_alloc(&a, 17);
    assert_int_equal(arena_bytes(&a), 16 + 16 + 32);
    assert_ptr_not_equal(arena_alloc(&a, 0), arena_alloc(&a, 0));
    arena_free(&a);
}

static void a_first_large_piece_leaves_the_arena_usable(void **state)
{
    (void)state;
    struct arena a = {0};
    char *big = arena_alloc(&a, 3000000);
    char *small = arena_strndup(&a, "abcdef", 3);
    big[2999999] = 1;
    assert_string_equal(small, "abc");
    assert_string_equal(arena_printf(&a, "%s-%05d", "job", 42), "job-00042");
    arena_free(&a);
}

struct pair {
    int a;
    double b;
};

static void arrays_grow_by_doubling(void **state)
{
    (void)state;
    ARRAY(int) a = {0};
    for (int i = 0; i < 1000; i++) array_push(&a, i * i);
    assert_int_equal(a.n, 1000);
    assert_int_equal(a.cap, 1024);
    for (int i = 0; i < 1000; i++) assert_int_equal(a.v[i], i * i);
    assert_int_equal(array_pop(&a), 999 * 999);
    assert_int_equal(array_last(&a), 998 * 998);
    array_push(&a, a.v[3]); /* an own element, also when it has to grow */
    assert_int_equal(array_last(&a), 9);
    array_clear(&a);
    assert_int_equal(a.n, 0);
    array_free(&a);
    assert_null(a.v);
}

static void arrays_of_structs(void **state)
{
    (void)state;
    ARRAY(struct pair) a = {0};
    array_reserve(&a, 100);
    assert_int_equal(a.cap, 100);
    array_push(&a, (struct pair){.a = 1, .b = 2.5});
    struct pair *p = array_add(&a);
    assert_int_equal(p->a, 0);
    assert_true(p == &a.v[1]);
    assert_int_equal(a.v[0].a, 1);
    array_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_zeroed_and_stay),
        cmocka_unit_test(bytes_count_with_alignment),
        cmocka_unit_test(a_first_large_piece_leaves_the_arena_usable),
        cmocka_unit_test(arrays_grow_by_doubling),
        cmocka_unit_test(arrays_of_structs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
