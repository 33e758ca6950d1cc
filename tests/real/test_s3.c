/* test_s3.c - the requests of an object store: tries and waits, pages, parts, refusals, places and environments.
 *
 * The server is tests/support/object_store.h. Waits are at least S3_WAIT_NS x 1, 2, 4 ... by s3.h, and at most half as long again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "real/worker/manifest.h"
#include "real/worker/net.h"
#include "real/worker/s3.h"
#include "tests/support/object_store.h"

static struct object_store *server;
static struct s3 *s3;

static int setup(void **state)
{
    (void)state;
    server = object_store_start();
    s3 = s3_open("s3://runs/a/b/", &(struct diag){0});
    return s3 == NULL;
}

static int teardown(void **state)
{
    (void)state;
    s3_close(s3);
    object_store_stop(server);
    return 0;
}

static void says(struct diag *d, const char *text)
{
    if (diag_errors(d) == 0) fail_msg("no error, where \"%s\" is expected", text);
    const struct diag_entry *e = &d->entries.v[0];
    if (!strstr(e->text, text) && !(e->help && strstr(e->help, text))) fail_msg("\"%s\" does not say \"%s\"", e->text, text);
    diag_free(d);
}

static void objects_are_put_read_and_deleted(void **state)
{
    (void)state;
    struct diag d = {0};
    size_t bytes, whole;
    assert_true(s3_put(s3, "x/y", "hello", 5, &d));
    assert_memory_equal(object_store_find(server, "a/b/x/y", "", &bytes), "hello", 5); /* below the prefix */
    char *text = s3_get(s3, "x/y", 100, &bytes, &whole, &d);
    assert_string_equal(text, "hello");
    assert_int_equal(bytes, 5);
    free(text);
    text = s3_get(s3, "x/y", 2, &bytes, &whole, &d);
    assert_string_equal(text, "he");
    assert_int_equal(whole, 5);
    free(text);
    assert_true(s3_delete(s3, "x/y", &d) && s3_delete(s3, "x/y", &d));
    assert_null(s3_get(s3, "x/y", 100, &bytes, &whole, &d));
    assert_false(s3_failed(s3)); /* it is the object that is not there */
    says(&d, "is not there");
}

static void lists_have_pages(void **state)
{
    (void)state;
    struct diag d = {0};
    struct s3_keys keys = {0};
    char key[32];
    object_store_page(server, 3);
    for (int i = 0; i < 10; i++) {
        snprintf(key, sizeof key, "k%d", i);
        assert_true(s3_put(s3, key, "", 0, &d));
    }
    assert_true(s3_put(s3, "other", "", 0, &d) && s3_list(s3, "k", &keys, &d));
    assert_int_equal(keys.list.n, 10);
    for (size_t i = 0; i < 10; i++) assert_int_equal(keys.list.v[i][1] - '0', i);
    s3_keys_free(&keys);
}

/* 40 MiB are two parts of 16 and one of 8. */
static void what_is_large_goes_in_parts(void **state)
{
    (void)state;
    struct diag d = {0};
    size_t n = (size_t)40 << 20, got, before;
    char *data = xmalloc(n);
    for (size_t i = 0; i < n; i++) data[i] = (char)(i * 2654435761u >> 13);
    before = object_store_requests(server);
    assert_true(s3_put(s3, "large", data, n, &d));
    assert_int_equal(object_store_requests(server) - before, 5); /* begin, three parts, end */
    assert_memory_equal(object_store_find(server, "a/b/large", "", &got), data, n);
    assert_int_equal(got, n);
    object_store_fail(server, 2, 3, 500); /* the second part, each of three times */
    assert_false(s3_put(s3, "again", data, n, &d));
    assert_int_equal(object_store_uploads(server), 0); /* it was ended */
    object_store_fail(server, 2, 1000, 500); /* the store stays away */
    assert_false(s3_put(s3, "again", data, n, &d));
    object_store_fail(server, 0, 0, 0);
    assert_int_equal(object_store_uploads(server), 1);
    s3_abort_uploads(s3, "aga"); /* the next life */
    assert_int_equal(object_store_uploads(server), 0);
    assert_null(object_store_find(server, "a/b/again", "", &got));
    diag_free(&d);
    free(data);
}

static void what_passes_is_tried_again(void **state)
{
    (void)state;
    static const int passing[] = {0, 429, 500, 502, 503, 504};
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++) {
        struct diag d = {0};
        int64_t begin_ns = net_now_ns();
        object_store_fail(server, 0, 2, passing[i]);
        assert_true(s3_put(s3, "x", "hello", 5, &d));
        assert_int_equal(diag_errors(&d), 0);
        int64_t took_ns = net_now_ns() - begin_ns;
        assert_true(took_ns >= 3 * S3_WAIT_NS);
        size_t before = object_store_requests(server);
        object_store_fail(server, 0, 3, passing[i]);
        assert_false(s3_put(s3, "x", "hello", 5, &d));
        assert_int_equal(object_store_requests(server) - before, 3); /* AWS_MAX_ATTEMPTS */
        assert_true(s3_failed(s3));
        says(&d, "tried 3 times");
    }
}

/* What is refused is refused at once, and told. */
static void refusals_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *code, *says;
        int status;
    } rows[] = {
        {"AccessDenied", "access is denied", 403},
        {"NoSuchBucket", "there is no such bucket", 404},
        {"InvalidAccessKeyId", "does not know this key", 403},
        {"SignatureDoesNotMatch", "refuses the signature", 403},
        {"ExpiredToken", "has expired", 400},
        {"RequestTimeTooSkewed", "clock is off", 403},
        {"PermanentRedirect", "another region", 301},
        {"AuthorizationHeaderMalformed", "another region", 400},
        {"EntityTooLarge", "the store answers 400 EntityTooLarge", 400},
        {"", "the store answers 403", 403},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct diag d = {0};
        size_t before = object_store_requests(server);
        object_store_fail(server, 0, 1, rows[i].status);
        object_store_fail_with(server, rows[i].code);
        assert_false(s3_put(s3, "x", "hello", 5, &d));
        assert_int_equal(object_store_requests(server) - before, 1);
        assert_true(s3_failed(s3));
        says(&d, rows[i].says);
    }
    struct diag d = {0};
    setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9", 1);
    struct s3 *none = s3_open("s3://runs", &d);
    assert_false(s3_put(none, "x", "", 0, &d));
    assert_true(s3_failed(none));
    says(&d, "http://127.0.0.1:9 does not answer");
    s3_close(none);
}

static void places_and_environments_are_checked(void **state)
{
    (void)state;
    static const char *const wrong[] = {"s3://", "s3:///a", "s3://a b", "s3://a//b", "s3://a/../b", "s3://a/b?c"};
    struct diag d = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (s3_open(wrong[i], &d)) fail_msg("%s is taken", wrong[i]);
        says(&d, "is no place in an object store");
    }
    setenv("AWS_MAX_ATTEMPTS", "0", 1);
    assert_null(s3_open("s3://runs", &d));
    says(&d, "AWS_MAX_ATTEMPTS");
    setenv("AWS_MAX_ATTEMPTS", "3", 1);
    setenv("AWS_ENDPOINT_URL", "localhost:9000", 1);
    assert_null(s3_open("s3://runs", &d));
    says(&d, "is no http");
    unsetenv("AWS_SECRET_ACCESS_KEY");
    assert_null(s3_open("s3://runs", &d));
    says(&d, "AWS_SECRET_ACCESS_KEY is not set");
}

static void manifests_are_read_as_written(void **state)
{
    (void)state;
    uint32_t crc[] = {0, 4294967295u, 7};
    struct manifest m = {70, 0x0123456789abcdefu, 3, crc}, got = {0};
    struct str text = {0};
    struct diag d = {0};
    manifest_write(&m, &text);
    assert_true(manifest_read("m", text.s, text.n, 70, &got, &d));
    assert_true(got.step == 70 && got.token == m.token && got.shards == 3 && got.data_crc[1] == crc[1]);
    manifest_free(&got);
    assert_false(manifest_read("m", text.s, text.n, 71, &got, &d)); /* of another step */
    manifest_free(&got);
    static const char *const wrong[] = {
        "", "[]", "{}", "{\"trainyard_checkpoint\": 2, \"step\": 70, \"token\": \"0123456789abcdef\", \"data_crc\": [1]}",
        "{\"trainyard_checkpoint\": 1, \"step\": 70, \"token\": \"0123456789abcde\", \"data_crc\": [1]}",
        "{\"trainyard_checkpoint\": 1, \"step\": 70, \"token\": \"0123456789abcdef\", \"data_crc\": []}",
        "{\"trainyard_checkpoint\": 1, \"step\": 70, \"token\": \"0123456789abcdef\", \"data_crc\": [-1]}",
        "{\"trainyard_checkpoint\": 1, \"step\": 70, \"token\": \"0123456789abcdef\"}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (manifest_read("m", wrong[i], strlen(wrong[i]), 70, &got, &d)) fail_msg("row %zu is taken", i);
        manifest_free(&got);
    }
    diag_free(&d);
    str_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(objects_are_put_read_and_deleted, setup, teardown),
        cmocka_unit_test_setup_teardown(lists_have_pages, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_large_goes_in_parts, setup, teardown),
        cmocka_unit_test_setup_teardown(what_passes_is_tried_again, setup, teardown),
        cmocka_unit_test_setup_teardown(refusals_are_told, setup, teardown),
        cmocka_unit_test_setup_teardown(places_and_environments_are_checked, setup, teardown),
        cmocka_unit_test(manifests_are_read_as_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
