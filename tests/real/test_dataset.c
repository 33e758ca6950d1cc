/* test_dataset.c - the file, its damage, and that ranks share each batch whatever their number.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "real/worker/dataset.h"

static const struct dataset_shape shape = {103, 5, 3};
static char path[] = "/tmp/trainyard-data-XXXXXX";

static int setup(void **state)
{
    (void)state;
    struct diag d = {0};
    int fd = mkstemp(path);
    return fd < 0 || close(fd) || !dataset_generate(path, shape, 0.3, 42, &d);
}

static int teardown(void **state)
{
    (void)state;
    return unlink(path);
}

static void a_file_is_made_the_same_and_opens(void **state)
{
    (void)state;
    struct diag d = {0};
    size_t n, again_n;
    char *first = file_read(path, FILE_READ_MAX, &n, &d);
    assert_true(dataset_generate(path, shape, 0.3, 42, &d));
    char *again = file_read(path, FILE_READ_MAX, &again_n, &d);
    assert_int_equal(n, 32 + 103 * (5 + 1) * 4);
    assert_int_equal(n, again_n);
    assert_memory_equal(first, again, n);
    struct dataset *s = dataset_open(path, &d);
    assert_non_null(s);
    assert_memory_equal(&s->shape, &shape, sizeof shape);
    dataset_close(s);
    free(first);
    free(again);
}

static void refused(const char *bytes, size_t n, const char *why)
{
    char other[] = "/tmp/trainyard-data-XXXXXX";
    struct diag d = {0};
    int fd = mkstemp(other);
    assert_true(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && close(fd) == 0);
    assert_null(dataset_open(other, &d));
    if (!strstr(d.entries.v[0].text, why)) fail_msg("%s, not %s", d.entries.v[0].text, why);
    unlink(other);
    diag_free(&d);
}

static void damage_is_found(void **state)
{
    (void)state;
    struct diag d = {0};
    size_t n;
    char *bytes = file_read(path, FILE_READ_MAX, &n, &d);
    refused(bytes, n - 1, "cut off");
    refused(bytes, 20, "no data set");
    bytes[n / 2] ^= 4;
    refused(bytes, n, "checksum");
    bytes[n / 2] ^= 4;
    bytes[0] = 'X';
    refused(bytes, n, "no data set");
    bytes[0] = 'T';
    memset(bytes + 12, 0, 4); /* features */
    refused(bytes, n, "no sensible number");
    assert_null(dataset_open("/nonexistent", &d));
    assert_non_null(strstr(d.entries.v[0].text, "cannot open"));
    diag_free(&d);
    free(bytes);
}

/* The labels and first features of `steps` batches, the ranks' shares one behind the other. */
static void gather(const struct dataset *s, uint32_t batch, int ranks, int64_t first, int steps, float *x)
{
    struct loader *loaders[8];
    size_t at = 0;
    for (int r = 0; r < ranks; r++) loaders[r] = loader_start(s, (struct share){batch, r, ranks, 9}, first, 1 + r % 3);
    for (int k = 0; k < steps; k++)
        for (int r = 0; r < ranks; r++) {
            const struct batch *b = loader_next(loaders[r]);
            assert_non_null(b);
            assert_int_equal(b->step, first + k);
            for (size_t i = 0; i < b->n; i++) x[at++] = b->x[i * 5] + 1000 * (float)b->label[i];
        }
    assert_int_equal(at, (size_t)steps * batch);
    for (int r = 0; r < ranks; r++) loader_stop(loaders[r]);
}

/* Batches of 20 of 103 samples: 5 an epoch, 3 samples left out, over 12 steps, begun at 0 or at 7. */
static void ranks_share_each_batch_whatever_their_number(void **state)
{
    (void)state;
    struct diag d = {0};
    struct dataset *s = dataset_open(path, &d);
    float one[240], some[240];
    gather(s, 20, 1, 0, 12, one);
    for (int ranks = 1; ranks <= 8; ranks++) {
        gather(s, 20, ranks, 0, 12, some);
        assert_memory_equal(one, some, sizeof one);
    }
    gather(s, 20, 3, 7, 5, some);
    assert_memory_equal(one + 140, some, 100 * sizeof *some);
    for (int i = 0; i < 100; i++) /* no sample twice in an epoch; values are continuous, so equal ones are the same sample */
        for (int j = 0; j < i; j++) assert_true(one[i] != one[j]);
    assert_memory_not_equal(one, one + 100, 100 * sizeof *one); /* the second epoch has another order */
    dataset_close(s);
}

static void a_bad_value_names_its_sample(void **state)
{
    (void)state;
    struct diag d = {0};
    struct dataset *s = dataset_open(path, &d);
    float bad = NAN;
    int fd = open(path, O_WRONLY);
    assert_true(pwrite(fd, &bad, 4, 32 + 24 * 11) == 4 && close(fd) == 0); /* behind the checksum's back: sample 11 */
    struct loader *l = loader_start(s, (struct share){103, 0, 1, 9}, 0, 2);
    assert_null(loader_next(l));
    assert_non_null(strstr(loader_error(l), "sample 11 "));
    loader_stop(l);
    dataset_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_made_the_same_and_opens),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(ranks_share_each_batch_whatever_their_number),
        cmocka_unit_test(a_bad_value_names_its_sample),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
