/* test_actions.c - every action of the table of keys, by its keys, asserted on the state dump.
 *
 * One row or more an action; a test fails for an action that has none. Runs of 240 jobs are simulated once.
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
#include "viz/ui/actions.h"
#include "viz/ui/view.h"

enum expect { IS, IS_NOT, NUMBER, LESS, MORE, TRUE_, FALSE_, SAME };

/* After `before` the value at `path` is noted; after `keys` it is compared with that (LESS, MORE, SAME), or with text and number. */
struct row {
    enum action_id action;
    const char *before, *keys, *path;
    enum expect expect;
    const char *text;
    double number;
};

/* A job's id: the first of the run, found by any word; its team is speech, foundation, product or research. */
#define FIRST_JOB "key /\ntext gpus>0\nkey enter\n"
#define FIRST_BIG "key /\ntext gpus>=64\nkey enter\n"

static const struct row rows[] = {
    /* a zoom step is 1.5, a pan 15 % of the window, the run five days */
    {DO_ZOOM_IN, "", "key w", "window_s", NUMBER, NULL, 288000},
    {DO_ZOOM_IN, "key g\ntext 2d\nkey enter", "key w\nkey w", "cursor_s", NUMBER, NULL, 172800},
    {DO_ZOOM_OUT, "key w\nkey w", "key s", "window_s", NUMBER, NULL, 288000},
    {DO_PAN_RIGHT, "key w", "key d", "from_s", NUMBER, NULL, 43200},
    {DO_PAN_LEFT, "key w\nkey d", "key a", "from_s", NUMBER, NULL, 0},
    {DO_FIT, FIRST_BIG, "key f", "window_s", LESS, NULL, 0},
    {DO_FIT, FIRST_BIG "key f", "key f", "window_s", NUMBER, NULL, 432000},
    {DO_FIT, "", "key f", "message", IS, "nothing is selected to fit: click a job, or drag a range of time", 0},
    {DO_ALL, "key w\nkey d", "key 0", "window_s", NUMBER, NULL, 432000},
    {DO_ALL, "key w\nkey d", "key home", "from_s", NUMBER, NULL, 0},
    {DO_GOTO, "", "key g\ntext 1d 06:00\nkey enter", "cursor_s", NUMBER, NULL, 108000},
    {DO_GOTO, "", "key g\ntext soon\nkey enter", "field", IS, "goto", 0},
    {DO_NEXT, FIRST_JOB, "key .", "cursor_s", MORE, NULL, 0},
    {DO_PREVIOUS, FIRST_JOB "key .\nkey .", "key ,", "cursor_s", LESS, NULL, 0},
    {DO_NEXT, FIRST_JOB, "key .", "selection.kind", IS, "job", 0},
    {DO_STEP, "", "key ]", "selection.kind", IS, "event", 0},
    {DO_STEP, "key ]", "key ]", "selection.event", MORE, NULL, 0},
    {DO_STEP_BACK, "key ]\nkey ]", "key [", "selection.event", LESS, NULL, 0},
    {DO_PLAY, "", "key space", "playing", TRUE_, NULL, 0},
    {DO_PLAY, "key space", "tick 0.5", "cursor_s", MORE, NULL, 0},
    {DO_PLAY, "key space", "key space", "playing", FALSE_, NULL, 0},
    {DO_FASTER, "", "key +", "speed", MORE, NULL, 0},
    {DO_SLOWER, "", "key -", "speed", LESS, NULL, 0},
    {DO_UNTIL_FAILURE, "", "key r\nkey f", "cursor_s", MORE, NULL, 0},
    {DO_UNTIL_FAILURE, "", "key r\nkey f", "selection.kind", IS, "event", 0},
    {DO_UNTIL_PREEMPTION, "", "key r\nkey p", "cursor_s", MORE, NULL, 0},
    {DO_UNTIL_QUEUE, "", "key r\nkey q\ntext 5\nkey enter", "cursor_s", MORE, NULL, 0},
    {DO_UNTIL_QUEUE, "", "key r\nkey q\ntext 1e9\nkey enter", "message", IS, "no queue as long after 00:00:00", 0},
    {DO_SEARCH, "", "key /\ntext queue:tuning", "filter", IS, "queue:tuning", 0},
    {DO_SEARCH, "", "key /\ntext queue:tuning", "runs.0.matches", LESS, NULL, 0},
    {DO_SEARCH, "", "key /\ntext colour:red", "field_error", IS_NOT, NULL, 0},
    {DO_SEARCH, "", "key /\ntext was", "window_s", SAME, NULL, 0}, /* letters are no shortcuts while the field is open */
    {DO_SEARCH, "key /\ntext gpus>1\nkey enter", "key /\ntext 6\nkey esc", "filter", IS, "gpus>1", 0},
    {DO_NEXT_MATCH, FIRST_BIG, "key n", "selection.job", IS_NOT, NULL, 0},
    {DO_PREVIOUS_MATCH, FIRST_BIG, "key n\nkey N", "selection.job", IS, NULL, 0},
    {DO_PREVIOUS_MATCH, FIRST_BIG, "key shift+n", "selection.job", IS_NOT, NULL, 0},
    {DO_BOOKMARK, "key right", "key k\ntext here\nkey enter", "bookmarks.0.from_s", NUMBER, NULL, 4320},
    {DO_BOOKMARK, "key right", "key k\ntext here\nkey esc", "field", IS, "", 0},
    {DO_NEXT_BOOKMARK, "key right\nkey k\nkey enter\nkey 0\nkey left", "key }", "cursor_s", NUMBER, NULL, 4320},
    {DO_NEXT_BOOKMARK, "", "key }", "message", IS, "no bookmark yet: K sets one", 0},
    {DO_PREVIOUS_BOOKMARK, "key right\nkey k\nkey enter\nkey right", "key {", "cursor_s", NUMBER, NULL, 4320},
    {DO_BOOKMARKS, "", "key K", "menu.name", IS, "bookmarks", 0},
    {DO_COMMANDS, "", "key :\ntext matches job", "menu.rows.0.1", IS, "N", 0},
    {DO_COMMANDS, "", "key ctrl+p\ntext dark\nkey enter", "theme", IS, "dark", 0},
    {DO_VIEW_1, "key 2", "key 1", "view", IS_NOT, NULL, 0},
    {DO_VIEW_2, "", "key 2", "view", IS_NOT, NULL, 0},
    {DO_VIEW_3, "", "key 3", "view", IS_NOT, NULL, 0},
    {DO_VIEW_4, "", "key 4", "view", IS_NOT, NULL, 0},
    {DO_VIEW_5, "", "key 5", "view", IS_NOT, NULL, 0},
    {DO_VIEW_6, "", "key 6", "view", IS_NOT, NULL, 0},
    {DO_VIEW_7, "", "key 7", "view", IS_NOT, NULL, 0},
    {DO_BY_JOB, "", "key j", "by_job", TRUE_, NULL, 0},
    {DO_COLOUR, "", "key c", "colour_by", IS, "job", 0},
    {DO_COLOUR, "", "key c\nkey c\nkey c\nkey c", "colour_by", IS, "state", 0},
    {DO_LEGEND, "", "key l", "isolated", IS_NOT, NULL, 0},
    {DO_SWAP, "", "key x", "runs.0.approach", IS, "actor", 0},
    {DO_BOTH, "", "key b", "show", IS, "a", 0},
    {DO_BOTH, "", "key b\nkey b", "panes.0.run", NUMBER, NULL, 1},
    {DO_GRID, "", "key o", "grid.1.letter", IS, "B", 0},
    {DO_GRID, "key o", "key o", "show", IS, "both", 0},
    {DO_GRID, "key 4", "key o", "view", IS, "gantt", 0}, /* ledgers are of A and B */
    {DO_MAKE_A, "key o\nkey ctrl+right", "key A", "grid.1.letter", IS, "A", 0},
    {DO_MAKE_A, "key o\nkey ctrl+right\nkey A", "key o", "runs.0.approach", IS, "actor", 0},
    {DO_MAKE_A, "", "key A", "message", IS, "O shows all runs in a grid; there you can choose which are A and B", 0},
    {DO_MAKE_B, "key o", "key B", "grid.0.letter", IS, "B", 0},
    {DO_RUN_RIGHT, "key o", "key ctrl+right", "runs.0.approach", IS, "actor", 0},
    {DO_RUN_LEFT, "key o\nkey ctrl+right", "key ctrl+left", "grid.0.focused", TRUE_, NULL, 0},
    {DO_RUN_DOWN, "key o", "key ctrl+down", "grid.1.focused", TRUE_, NULL, 0}, /* one below the other in 970 x 650 */
    {DO_RUN_UP, "key o\nkey ctrl+down", "key ctrl+up", "grid.0.focused", TRUE_, NULL, 0},
    {DO_DETAILS, "", "key i", "details_shown", FALSE_, NULL, 0},
    {DO_TAB, "", "key shift+tab", "area", IS, "tabs", 0},
    {DO_TAB, FIRST_JOB "key shift+tab", "key tab", "area", IS, "body", 0},
    {DO_TAB_BACK, "", "key shift+tab\nkey shift+tab", "area", IS, "legend", 0},
    {DO_UP, "key shift+tab\nkey down", "key up", "item", NUMBER, NULL, 0},
    {DO_DOWN, "key shift+tab", "key down", "item", NUMBER, NULL, 1},
    {DO_PAGE_DOWN, "key 5", "key page-down", "cursor_s", MORE, NULL, 0},
    {DO_PAGE_UP, "key 5\nkey page-down\nkey page-down", "key page-up", "cursor_s", LESS, NULL, 0},
    {DO_RIGHT, "", "key right", "cursor_s", NUMBER, NULL, 4320}, /* a hundredth of the window */
    {DO_LEFT, "key right\nkey right", "key left", "cursor_s", NUMBER, NULL, 4320},
    {DO_LEFT, "key shift+tab\nkey right", "key left", "item", NUMBER, NULL, 0},
    {DO_ENTER, "key shift+tab\nkey right", "key enter", "view", IS_NOT, NULL, 0},
    {DO_ENTER, "key ]", "key enter", "selection.kind", IS, "job", 0},
    {DO_ANCHOR, "key right", "key v\nkey right", "mark_to_s", NUMBER, NULL, 8640},
    {DO_ANCHOR, "", "key v\nkey right\nkey v\nkey right", "mark_to_s", NUMBER, NULL, 4320},
    {DO_CLEAR, FIRST_JOB, "key esc", "selection.kind", IS, "nothing", 0},
    {DO_CLEAR, FIRST_JOB, "key esc\nkey esc", "filter", IS, "", 0},
    {DO_CLEAR, "key ?", "key esc", "help", FALSE_, NULL, 0},
    {DO_BACK, "", "key w\nkey w\nkey d\nkey ctrl+z\nkey ctrl+z", "window_s", NUMBER, NULL, 432000},
    {DO_BACK, "", "key 3\nkey ctrl+z", "view", IS, NULL, 0},
    {DO_FORWARD, "", "key w\nkey ctrl+z\nkey ctrl+shift+z", "window_s", NUMBER, NULL, 288000},
    {DO_LARGER, "", "key ctrl++", "font_scale", NUMBER, NULL, 1.125},
    {DO_SMALLER, "", "key ctrl+-", "font_scale", NUMBER, NULL, 0.875},
    {DO_THEME, "", "key t", "theme", IS, "dark", 0},
    {DO_THEME, "", "key t\nkey t", "theme", IS, "contrast", 0},
    {DO_HELP, "", "key ?", "help", TRUE_, NULL, 0},
    {DO_HELP, "", "key f1", "help", TRUE_, NULL, 0},
    {DO_EXPORT, "", "key e", "field", IS, "export", 0},
    {DO_EXPORT, "", "key e\ntext a.txt\nkey enter", "field", IS, "export", 0},
    {DO_QUIT, "", "key ctrl+q", "quit", TRUE_, NULL, 0},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

static bool holds(struct session *s, const struct row *r, const char *text, double number)
{
    const char *now = session_text(s, r->path), *with = r->text ? r->text : text;
    double x = session_number(s, r->path);
    switch (r->expect) {
    case IS: return strcmp(now, with) == 0;
    case IS_NOT: return strcmp(now, with) != 0;
    case NUMBER: return x > r->number - 1e-6 && x < r->number + 1e-6;
    case LESS: return x < number;
    case MORE: return x > number;
    case TRUE_: return session_bool(s, r->path);
    case FALSE_: return !session_bool(s, r->path);
    default: return x == number && strcmp(now, text) == 0;
    }
}

static void test_every_key(void **state)
{
    struct session *s = *state;
    unsigned bad = 0;
    for (unsigned i = 0; i < N_ROWS; i++) {
        const struct row *r = &rows[i];
        char text[256];
        if (r->action >= DO_VIEW_1 && r->action <= DO_VIEW_7 && r->action - DO_VIEW_1 >= n_view_kinds) continue;
        session_restart(s, false);
        session_play(s, r->before);
        bool there = session_has(s, r->path); /* selection.job is not, while nothing is selected */
        snprintf(text, sizeof text, "%s", there ? session_text(s, r->path) : "");
        double number = there ? session_number(s, r->path) : -1;
        session_play(s, r->keys);
        if (holds(s, r, text, number)) continue;
        bad++;
        fprintf(stderr, "%s: after \"%s\" and \"%s\" %s is \"%s\" %g, before \"%s\" %g\n", actions[r->action].name, r->before, r->keys, r->path,
                session_text(s, r->path), session_number(s, r->path), text, number);
    }
    assert_int_equal(bad, 0);
}

static void test_each_has_a_row(void **state)
{
    (void)state;
    for (unsigned a = 0; a < N_ACTIONS; a++) {
        bool any = false;
        for (unsigned i = 0; i < N_ROWS; i++) any |= rows[i].action == a;
        if (!any) fail_msg("the action %s has no row in this test", actions[a].name);
    }
}

/* No key means two things, and each is named so that scripts can press it. */
static void test_keys_are_one_to_one(void **state)
{
    (void)state;
    for (unsigned a = 0; a < N_ACTIONS; a++)
        for (unsigned k = 0; k < 2; k++) {
            const struct chord *c = &actions[a].chord[k];
            if (c->key) assert_ptr_equal(action_of_key(c->prefix, c->key, c->mods), &actions[a]);
        }
    int key;
    unsigned mods;
    assert_true(key_parse("Ctrl+Shift+Z", &key, &mods));
    assert_int_equal(key, 'z');
    assert_int_equal(mods, UI_CTRL | UI_SHIFT);
    assert_true(key_parse("ctrl++", &key, &mods));
    assert_int_equal(key, '+');
    assert_false(key_parse("hyper+z", &key, &mods));
    assert_false(key_parse("", &key, &mods));
}

/* Every action stands in the help and in the manual page. */
static void test_help_has_all(void **state)
{
    (void)state;
    struct str manual = {0};
    actions_manual(&manual);
    for (unsigned a = 0; a < N_ACTIONS; a++) {
        char start[24]; /* roff escapes what follows */
        snprintf(start, sizeof start, "%.*s", (int)strcspn(actions[a].help, "-.'\\"), actions[a].help);
        if (!strstr(str_text(&manual), start)) fail_msg("the manual lacks %s", actions[a].name);
    }
    str_free(&manual);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_has_a_row), cmocka_unit_test(test_keys_are_one_to_one), cmocka_unit_test(test_help_has_all),
                                       cmocka_unit_test(test_every_key)};
    return cmocka_run_group_tests(tests, open_runs, close_runs);
}
