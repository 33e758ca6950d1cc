/* test_placement_table.c - tables of placements: what is read, and each way in which a table can be wrong.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "input/placement_table.h"

static bool read_text(const char *text, enum placement_table_use use, struct placement_table *t, struct diag *d)
{
    char path[40];
    int fd = memfd_create("placements", MFD_CLOEXEC);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    bool ok = placement_table_read(path, use, t, d);
    close(fd);
    return ok;
}

#define HEAD "placement,local_bsz,step_time,sync_time\n"

static void columns_by_name(void **state)
{
    struct placement_table t = {0};
    struct diag d = {0};
    (void)state;
    assert_true(read_text("sync_time,note,placement,step_time,local_bsz\n0.25,x,132,1.5,8\n", PLACEMENTS_MEASURED, &t, &d));
    assert_int_equal(t.rows.n, 1);
    const struct placement_row *r = &t.rows.v[0];
    assert_string_equal(r->name, "132");
    assert_true(r->at.nodes == 3 && r->at.gpus == 6 && r->at.most == 3);
    assert_true(r->local_batch == 8 && r->step_s == 1.5 && r->sync_s == 0.25 && r->row == 1);
    placement_table_free(&t);
    assert_true(read_text(HEAD "44,8,nonsense,\n", PLACEMENTS_TO_PREDICT, &t, &d)); /* times are not read */
    assert_true(isnan(t.rows.v[0].step_s));
    placement_table_free(&t);
    assert_true(read_text(HEAD "1,8,1.5,0\n", PLACEMENTS_MEASURED, &t, &d)); /* one GPU waits for nobody */
    assert_true(t.rows.v[0].sync_s == 0);
    placement_table_free(&t);
    assert_int_equal(diag_errors(&d), 0);
    diag_free(&d);
}

static void what_is_wrong_is_said(void **state)
{
    static const struct { const char *text, *column, *says; } cases[] = {
        {HEAD "2x,8,1,0.5\n", "placement", "\"2x\" is no placement"},
        {HEAD "20,8,1,0.5\n", "placement", "\"20\" is no placement"},
        {HEAD ",8,1,0.5\n", "placement", "\"\" is no placement"},
        {HEAD "21,eight,1,0.5\n", "local_bsz", "\"eight\" is no number"},
        {HEAD "21,0,1,0.5\n", "local_bsz", "\"0\" is out of range"},
        {HEAD "21,8,nan,0.5\n", "step_time", "\"nan\" is no number"},
        {HEAD "21,8,-1,0.5\n", "step_time", "\"-1\" is out of range"},
        {HEAD "21,8,1,-0.1\n", "sync_time", "\"-0.1\" is out of range"},
        {HEAD "21,8,1,\n", "sync_time", "\"\" is no number"},
        {HEAD "21,8,1,1.5\n", "sync_time", "\"1.5\" is not below step_time, whose part it is"},
        {HEAD, "", "a table without a row"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct placement_table t = {0};
        struct diag d = {0};
        assert_false(read_text(cases[i].text, PLACEMENTS_MEASURED, &t, &d));
        assert_int_equal(diag_errors(&d), 1);
        assert_string_equal(d.entries.v[0].text, cases[i].says);
        assert_string_equal(d.entries.v[0].pointer, cases[i].column);
        assert_int_equal(d.entries.v[0].line, *cases[i].column ? 2 : 0);
        placement_table_free(&t);
        diag_free(&d);
    }
}

static void a_missing_column_is_named(void **state)
{
    struct placement_table t = {0};
    struct diag d = {0};
    (void)state;
    assert_false(read_text("placement,local_bsz\n21,8\n", PLACEMENTS_MEASURED, &t, &d));
    assert_true(diag_errors(&d) > 0 && strstr(d.entries.v[0].text, "step_time"));
    placement_table_free(&t);
    diag_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_by_name),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(a_missing_column_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
