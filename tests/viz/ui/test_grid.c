/* test_grid.c - more runs than two: the grid, what is common to its tiles, and how A and B are chosen from it.
 *
 * Expected values come from what tests/study/tiny.json works out by hand: strict ends after 170 s, skip after 150 s.
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

#include "tests/support/viewer_session.h"

#define TINY "tests/study/tiny.json"

enum { N = 5 };

static int set_up(void **state)
{
    *state = session_open(&(struct session_plan){.scenario = {TINY}, .approach = {"skip", "strict", "again", "strict", "skip"}, .n = N, .grid = true});
    return 0;
}

static int tear_down(void **state)
{
    session_close(*state);
    return 0;
}

static double of_tile(struct session *s, unsigned tile, const char *what)
{
    char path[64];
    snprintf(path, sizeof path, "grid.%u.%s", tile, what);
    return session_number(s, path);
}

static const char *text_of_tile(struct session *s, unsigned tile, const char *what)
{
    char path[64];
    snprintf(path, sizeof path, "grid.%u.%s", tile, what);
    return session_text(s, path);
}

static void assert_sound(struct session *s)
{
    assert_string_equal(session_text(s, "check"), "");
}

/* Tiles do not overlap, lie in reading order and have the same size but for a pixel. */
static void test_tiles_share_the_body(void **state)
{
    struct session *s = *state;
    session_restart(s, false);
    assert_int_equal(session_number(s, "all_runs"), N);
    for (unsigned i = 0; i < N; i++) {
        double x = of_tile(s, i, "box.0"), y = of_tile(s, i, "box.1"), w = of_tile(s, i, "box.2"), h = of_tile(s, i, "box.3");
        assert_true(w > 200 && h > 100);
        assert_true(w - of_tile(s, 0, "box.2") <= 6 && of_tile(s, 0, "box.2") - w <= 6); /* the last of a row has no gap beside it */
        for (unsigned k = 0; k < i; k++) {
            bool right = x >= of_tile(s, k, "box.0") + of_tile(s, k, "box.2"), below = y >= of_tile(s, k, "box.1") + of_tile(s, k, "box.3");
            assert_true(right || below);
        }
    }
    assert_string_equal(text_of_tile(s, 0, "letter"), "A");
    assert_string_equal(text_of_tile(s, 1, "letter"), "B");
    assert_string_equal(text_of_tile(s, 2, "letter"), "");
    assert_string_equal(text_of_tile(s, 2, "name"), "again");
    assert_sound(s);
}

/* All runs on the axis of the longest: strict's 170 s, though skip has the focus and ends after 150. */
static void test_one_window_and_one_cursor(void **state)
{
    struct session *s = *state;
    session_restart(s, false);
    assert_true(session_number(s, "to_s") == 170);
    session_play(s, "key g\ntext 90s\nkey enter\nkey 3");
    for (unsigned i = 0; i < N; i++) {
        /* at 90 s a runs under all; b waits under both, c under strict */
        assert_true(of_tile(s, i, "curves.0.at_cursor") == (i == 0 || i == 4 ? 1 : 2));
        assert_true(of_tile(s, i, "curves.0.scale_top") == of_tile(s, 0, "curves.0.scale_top")); /* one scale */
    }
    assert_sound(s);
}

static void test_selection_goes_along_by_id(void **state)
{
    struct session *s = *state;
    session_restart(s, false);
    session_play(s, "key /\ntext job:c\nkey enter");
    assert_string_equal(session_text(s, "selection.job"), "c");
    session_play(s, "key ctrl+right");
    assert_string_equal(session_text(s, "runs.0.approach"), "strict");
    assert_string_equal(session_text(s, "selection.job"), "c");
    assert_true(session_number(s, "runs.0.end_s") == 170);
    session_play(s, "key ctrl+z"); /* back over the change of the focus, the job is the same */
    assert_string_equal(session_text(s, "selection.kind"), "nothing");
}

/* The pair is what the letters say, in each view that compares. */
static void test_pair_from_the_grid(void **state)
{
    struct session *s = *state;
    session_restart(s, false);
    session_play(s, "key ctrl+right\nkey A\nkey ctrl+left\nkey B");
    assert_string_equal(text_of_tile(s, 1, "letter"), "A");
    assert_string_equal(text_of_tile(s, 0, "letter"), "B");
    session_play(s, "key ctrl+right\nkey ctrl+right\nkey B");
    assert_string_equal(text_of_tile(s, 2, "letter"), "B");
    assert_string_equal(text_of_tile(s, 0, "letter"), "");
    session_play(s, "key 6");
    assert_string_equal(session_text(s, "runs.0.approach"), "strict");
    assert_string_equal(session_text(s, "runs.1.approach"), "again");
    assert_false(session_has(s, "grid.0"));
    session_play(s, "key 1"); /* and the grid is there again */
    assert_true(session_has(s, "grid.0"));
    session_play(s, "key o\nkey x");
    assert_string_equal(session_text(s, "runs.0.approach"), "again");
    assert_string_equal(session_text(s, "show"), "both");
    session_play(s, "key o");
    assert_string_equal(text_of_tile(s, 2, "letter"), "A");
    assert_sound(s);
}

/* A click chooses the run and what is below the pointer. */
static void test_pointer(void **state)
{
    struct session *s = *state;
    char step[96];
    session_restart(s, false);
    double x = of_tile(s, 3, "box.0") + of_tile(s, 3, "box.2") * 0.6, y = of_tile(s, 3, "box.1") + 40; /* the first row below the lane of failures */
    snprintf(step, sizeof step, "press %g %g\nrelease %g %g", x, y, x, y);
    session_play(s, step);
    assert_true(session_bool(s, "grid.3.focused"));
    assert_string_equal(session_text(s, "selection.kind"), "job");
    assert_true(session_number(s, "cursor_s") > 60 && session_number(s, "cursor_s") < 120);
    snprintf(step, sizeof step, "wheel 3 at %g %g", x, y);
    session_play(s, step);
    assert_true(session_number(s, "window_s") < 170);
    assert_sound(s);
}

/* Every view and theme in small and large windows, narrow tiles too. */
static void test_nothing_is_cut_off(void **state)
{
    struct session *s = *state;
    static const char *const sizes[] = {"resize 1280 800", "resize 900 600", "resize 2560 1440"};
    session_restart(s, false);
    for (unsigned i = 0; i < 3; i++) {
        session_play(s, sizes[i]);
        for (char view = '1'; view <= '5'; view++) {
            char step[32];
            if (view == '4') continue; /* of A and B */
            snprintf(step, sizeof step, "key %c", view);
            session_play(s, step);
            if (*session_text(s, "check")) fail_msg("%s, view %c: %s", sizes[i], view, session_text(s, "check"));
        }
        session_play(s, "key 1\nkey j");
        assert_sound(s);
        session_play(s, "key j\nkey t");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiles_share_the_body), cmocka_unit_test(test_one_window_and_one_cursor), cmocka_unit_test(test_selection_goes_along_by_id),
        cmocka_unit_test(test_pair_from_the_grid),   cmocka_unit_test(test_pointer),                   cmocka_unit_test(test_nothing_is_cut_off),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
