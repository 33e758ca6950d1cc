/* test_bookmarks.c - bookmarks, their list, the list of commands, and the pages of the help, as sessions.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "tests/support/viewer_session.h"
#include "viz/ui/actions.h"

static void near(double x, double y)
{
    if (fabs(x - y) > 1e-6) fail_msg("%.12g is not %.12g", x, y);
}

#define AT(time) "key g\ntext " time "\nkey enter\n"
#define THREE AT("2d") "key k\ntext two\nkey enter\n" AT("1d") "key k\ntext one\nkey enter\n" \
              AT("3d") "key v\n" AT("3d 12:00") "key k\ntext three\nkey enter\nkey esc\n"

static unsigned count(struct session *s, const char *path)
{
    return (unsigned)cJSON_GetArraySize(session_find(s, path));
}

/* In order of time whenever they were set; a range is one, too. */
static void test_order(void **state)
{
    struct session *s = *state;
    session_restart(s, false);
    session_play(s, THREE);
    assert_int_equal(count(s, "bookmarks"), 3);
    static const struct { const char *name; double from, to; } expected[] = {{"one", 86400, 86400}, {"two", 172800, 172800}, {"three", 259200, 302400}};
    for (unsigned i = 0; i < 3; i++) {
        struct str path = {0};
        str_printf(&path, "bookmarks.%u", i);
        const cJSON *b = session_find(s, str_text(&path));
        assert_string_equal(cJSON_GetObjectItem(b, "name")->valuestring, expected[i].name);
        near(cJSON_GetObjectItem(b, "from_s")->valuedouble, expected[i].from);
        near(cJSON_GetObjectItem(b, "to_s")->valuedouble, expected[i].to);
        str_free(&path);
    }
    session_play(s, AT("2d") "key k");
    assert_string_equal(session_text(s, "field_text"), "two"); /* there is one: its name is changed */
    session_play(s, "text -b\nkey enter");
    assert_int_equal(count(s, "bookmarks"), 3);
    assert_string_equal(session_text(s, "bookmarks.1.name"), "two-b");
}

static void test_going_there(void **state)
{
    struct session *s = *state;
    session_restart(s, false);
    session_play(s, THREE "key 0\nkey home\n" AT("0s") "key }");
    near(session_number(s, "cursor_s"), 86400);
    session_play(s, "key }\nkey }");
    near(session_number(s, "cursor_s"), 259200);
    near(session_number(s, "mark_to_s"), 302400);
    session_play(s, "key }");
    assert_string_equal(session_text(s, "message"), "no bookmark later");
    session_play(s, "key {");
    near(session_number(s, "cursor_s"), 172800);
    session_play(s, AT("1d") "key w\nkey w\nkey w\nkey w\nkey K\nkey up\nkey enter"); /* the last of three, out of sight */
    near(session_number(s, "mark_from_s"), 259200);
    near(session_number(s, "window_s"), 43200 * 1.2);
    near(session_number(s, "from_s"), 259200 - 4320);
    session_play(s, "key ctrl+z");
    near(session_number(s, "cursor_s"), 86400);
}

static void test_list(void **state)
{
    struct session *s = *state;
    session_restart(s, false);
    session_play(s, THREE "key K\nkey down");
    assert_int_equal(count(s, "menu.rows"), 3);
    near(session_number(s, "menu.chosen"), 1);
    assert_string_equal(session_text(s, "menu.rows.2.1"), "3d 00:00 to 3d 12:00");
    assert_string_equal(session_text(s, "check"), "");
    session_play(s, "key delete\nkey w\nkey esc"); /* letters do nothing below the list */
    assert_int_equal(count(s, "bookmarks"), 2);
    assert_string_equal(session_text(s, "bookmarks.1.name"), "three");
    near(session_number(s, "window_s"), 432000);
    assert_true(cJSON_IsNull(session_find(s, "menu")));
}

/* The list stands in the upper third of the window: a title, then a line a bookmark. Beside it a click closes it. */
static void test_click_in_list(void **state)
{
    struct session *s = *state;
    struct str script = {0};
    session_restart(s, false);
    session_play(s, THREE "key K");
    near(session_number(s, "menu.chosen"), 0); /* it is drawn */
    double line = (double)s->ui->theme.line, top = (800 - 4 * line - 2 * (double)s->ui->theme.pad) / 3 + (double)s->ui->theme.pad;
    str_printf(&script, "press 640 %.1f\nrelease 640 %.1f", top + 2.5 * line, top + 2.5 * line); /* the second */
    session_play(s, str_text(&script));
    near(session_number(s, "cursor_s"), 172800);
    assert_true(cJSON_IsNull(session_find(s, "menu")));
    session_play(s, "key K");
    assert_string_equal(session_text(s, "menu.name"), "bookmarks");
    session_play(s, "press 20 700\nrelease 20 700");
    near(session_number(s, "cursor_s"), 172800);
    assert_true(cJSON_IsNull(session_find(s, "menu")));
    str_free(&script);
}

/* Every command is there, and does what its key does. */
static void test_commands(void **state)
{
    struct session *s = *state;
    session_restart(s, false);
    session_play(s, "key :");
    assert_int_equal(count(s, "menu.rows"), N_ACTIONS - 1); /* all but itself */
    assert_string_equal(session_text(s, "check"), "");
    session_play(s, "text go to a time\nkey enter");
    assert_string_equal(session_text(s, "field"), "goto");
    session_play(s, "text 1d\nkey enter");
    near(session_number(s, "cursor_s"), 86400);
    session_play(s, "key :\ntext next preemption\nkey enter");
    assert_string_equal(session_text(s, "selection.kind"), "event");
    session_play(s, "key :\ntext qqq\nkey enter");
    assert_int_equal(count(s, "menu.rows"), 0);
    session_play(s, "key esc");
    assert_string_equal(session_text(s, "field"), "");
    assert_true(cJSON_IsNull(session_find(s, "menu")));
}

/* A small window shows the help in pages; nothing is cut on any of them. */
static void test_help_pages(void **state)
{
    struct session *s = *state;
    static const char *const sizes[] = {"320 240", "640 480", "1280 800"};
    for (unsigned i = 0; i < 3; i++) {
        struct str script = {0};
        session_restart(s, false);
        str_printf(&script, "resize %s\nkey ?", sizes[i]);
        session_play(s, str_text(&script));
        for (unsigned page = 0; page < 8; page++) {
            assert_string_equal(session_text(s, "check"), "");
            session_play(s, "key page-down");
        }
        str_free(&script);
    }
}

static int open_runs(void **state)
{
    *state = session_open(&(struct session_plan){.scenario = {"scenarios/demo.json"}, .approach = {"operator", "actor"}, .n = 2});
    return 0;
}

static int close_runs(void **state)
{
    session_close(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order),         cmocka_unit_test(test_going_there), cmocka_unit_test(test_list),
                                       cmocka_unit_test(test_click_in_list), cmocka_unit_test(test_commands),    cmocka_unit_test(test_help_pages)};
    return cmocka_run_group_tests(tests, open_runs, close_runs);
}
