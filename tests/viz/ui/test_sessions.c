/* test_sessions.c - the wheel, drags, search, history, sizes and two runs, as sessions asserted on the state dump; pictures that are the same twice.
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
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "tests/support/viewer_session.h"
#include "viz/ui/picture.h"
#include "viz/ui/script.h"
#include "viz/ui/view.h"

static const double run_s = 432000; /* five days */

static void near(double x, double y, double within)
{
    if (fabs(x - y) > within) fail_msg("%.9g is not %.9g", x, y);
}

/* The plot of the first pane: what the frame gives views. */
static struct box plot_of(struct session *s)
{
    struct ui *u = s->ui;
    session_find(s, "view"); /* lays it out */
    return view_plot(u, view_kinds[u->view], u->layout.body);
}

static void play(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void play(struct session *s, const char *fmt, ...)
{
    struct str script = {0};
    va_list args;
    va_start(args, fmt);
    str_vprintf(&script, fmt, args);
    va_end(args);
    session_play(s, str_text(&script));
    str_free(&script);
}

/* A turn of the wheel is 1.25, and what is below the pointer stays there. */
static void test_wheel(void **state)
{
    struct session *s = *state;
    session_restart(s, false);
    struct box p = plot_of(s);
    double x = (double)p.x + 0.75 * (double)p.w, y = (double)p.y + 100;
    play(s, "wheel 1 at %.3f %.1f", x, y);
    near(session_number(s, "window_s"), run_s / 1.25, 1e-3);
    near(session_number(s, "from_s") + 0.75 * session_number(s, "window_s"), 0.75 * run_s, 1);
    play(s, "wheel -1 at %.3f %.1f", x, y);
    near(session_number(s, "window_s"), run_s, 1e-3);
    play(s, "wheel 1 at %.3f %.1f ctrl", x, y);
    near(session_number(s, "window_s"), run_s / 1.05, 1e-3);
    play(s, "key 0\nwheel 1 at %.3f %.1f shift", x, y); /* rows, not time */
    near(session_number(s, "window_s"), run_s, 1e-3);
    play(s, "wheel 1 at 20 %.1f", y);                   /* over the labels too */
    near(session_number(s, "window_s"), run_s, 1e-3);
}

static void test_drag(void **state)
{
    struct session *s = *state;
    session_restart(s, false);
    struct box p = plot_of(s);
    double x1 = (double)p.x + 0.25 * (double)p.w, x2 = (double)p.x + 0.5 * (double)p.w, y = (double)p.y + 100;
    play(s, "press %.3f %.1f\nmove %.3f %.1f\nrelease %.3f %.1f", x2, y, x1, y, x1, y); /* backwards */
    near(session_number(s, "mark_from_s"), 0.25 * run_s, 1);
    near(session_number(s, "mark_to_s"), 0.5 * run_s, 1);
    session_play(s, "key f");
    near(session_number(s, "from_s"), 0.25 * run_s, 1);
    near(session_number(s, "to_s"), 0.5 * run_s, 1);
    const char *const how[] = {"middle", "right", "left shift"};
    for (unsigned i = 0; i < 3; i++) { /* a quarter of the window to earlier times, and back by Ctrl+Z */
        play(s, "press %.3f %.1f %s\nmove %.3f %.1f\nrelease %.3f %.1f", x1, y, how[i], x2, y, x2, y);
        near(session_number(s, "from_s"), 0.1875 * run_s, 1);
        session_play(s, "key ctrl+z");
        near(session_number(s, "from_s"), 0.25 * run_s, 1);
    }
    session_play(s, "key esc");
    near(session_number(s, "mark_from_s"), -1, 0);
    play(s, "key 0\npress %.3f %.1f\nrelease %.3f %.1f", x1, (double)(s->ui->layout.axis.y + 5), x1, (double)(s->ui->layout.axis.y + 5));
    near(session_number(s, "cursor_s"), 0.25 * run_s, 1);
}

/* What is drawn can be clicked: a tab, an entry of the legend, a job of the Gantt. */
static void test_click(void **state)
{
    struct session *s = *state;
    session_restart(s, false);
    struct box p = plot_of(s), tabs = s->ui->layout.tabs, legend = s->ui->layout.legend;
    play(s, "press %.1f %.1f\nrelease %.1f %.1f", (double)tabs.x + 20, (double)tabs.y + 10, (double)tabs.x + 20, (double)tabs.y + 10);
    assert_string_equal(session_text(s, "view"), view_kinds[0]->name);
    play(s, "press %.1f %.1f\nrelease 0 0", (double)legend.x + 20, (double)legend.y + 5);
    assert_string_equal(session_text(s, "isolated"), "work");
    play(s, "press %.1f %.1f\nrelease 0 0", (double)legend.x + 20, (double)legend.y + 5);
    assert_string_equal(session_text(s, "isolated"), "");
    bool any = false; /* somewhere in the first half of the run a GPU is held */
    for (double y = 20; y < 200 && !any; y += 7) {
        play(s, "press %.1f %.1f\nrelease %.1f %.1f", (double)p.x + 60, (double)p.y + y, (double)p.x + 60, (double)p.y + y);
        any = strcmp(session_text(s, "selection.kind"), "nothing") != 0;
    }
    assert_true(any);
}

static void test_search(void **state)
{
    struct session *s = *state;
    session_restart(s, false);
    session_play(s, "key /\ntext team:speech gpus>=64");
    assert_string_equal(session_text(s, "field"), "search");
    double matches = session_number(s, "runs.0.matches"), jobs = session_number(s, "runs.0.jobs");
    double truth = 0;
    for (uint32_t j = 0; j < s->scenes[0]->n_jobs; j++)
        truth += strcmp(s->scenes[0]->jobs[j].team, "speech") == 0 && s->scenes[0]->jobs[j].gpu_shares >= 64000;
    near(matches, truth, 0);
    assert_true(matches > 0 && matches < jobs);
    session_play(s, "key enter");
    assert_string_equal(session_text(s, "field"), "");
    assert_string_equal(session_detail(s, "team", false), "speech");
    char first[64];
    snprintf(first, sizeof first, "%s", session_text(s, "selection.job"));
    for (int i = 0; i < (int)matches; i++) { /* n goes round */
        session_play(s, "key n");
        assert_string_equal(session_detail(s, "team", false), "speech");
    }
    assert_string_equal(session_text(s, "selection.job"), first);
    session_play(s, "key /\nkey backspace\nkey backspace"); /* gpus>= is none: the last one stays */
    assert_string_equal(session_text(s, "filter"), "team:speech gpus>=6");
    assert_non_null(strstr(session_text(s, "field_error"), "a value is to follow"));
    session_play(s, "key enter");
    assert_string_equal(session_text(s, "field"), "search"); /* not closed while it is wrong */
    session_play(s, "key esc");
    near(session_number(s, "runs.0.matches"), matches, 0);
    assert_string_equal(session_text(s, "filter"), "team:speech gpus>=64");
}

/* Editing within the field: the caret by characters, not bytes. */
static void test_field(void **state)
{
    struct session *s = *state;
    session_restart(s, false);
    session_play(s, "key /\ntext aüb\nkey left\nkey left\ntext x\nkey delete\nkey end\ntext c\nkey home\ntext y");
    assert_string_equal(session_text(s, "field_text"), "yaxbc");
    session_play(s, "key esc");
    assert_string_equal(session_text(s, "filter"), "");
}

static void test_history(void **state)
{
    struct session *s = *state;
    session_restart(s, false);
    session_play(s, "key w\nkey w\nkey w\nkey 5\nkey ]\nkey 1\nkey ctrl+z");
    assert_string_equal(session_text(s, "view"), view_kinds[4]->name);
    assert_string_equal(session_text(s, "selection.kind"), "event");
    session_play(s, "key ctrl+z");
    assert_string_equal(session_text(s, "selection.kind"), "nothing");
    session_play(s, "key ctrl+z\nkey ctrl+z");
    near(session_number(s, "window_s"), run_s, 1e-3); /* the three zooms are one */
    session_play(s, "key ctrl+z");
    assert_string_equal(session_text(s, "message"), "nothing was shown before");
    session_play(s, "key ctrl+shift+z\nkey ctrl+shift+z\nkey ctrl+shift+z\nkey ctrl+shift+z");
    assert_string_equal(session_text(s, "view"), view_kinds[0]->name);
    assert_string_equal(session_text(s, "selection.kind"), "event");
    near(session_number(s, "window_s"), run_s / 3.375, 1e-3);
}

/* A page that scrolls ends within a line: that is no fault. */
static bool only_scrolled(const char *check)
{
    for (; *check; check += strcspn(check, "\n"), check += *check == '\n') {
        const char *end = check + strcspn(check, "\n"), *bottom = strstr(check, "at the bottom"), *top = strstr(check, "at the top");
        if (!(bottom && bottom < end) && !(top && top < end)) return false;
    }
    return true;
}

/* Nothing runs out of its place or over another text, in all views, themes and sizes. */
static void test_sizes(void **state)
{
    struct session *s = *state;
    static const char *const sizes[] = {"1280 800", "2560 1440", "1920 1080"};
    session_restart(s, false);
    for (unsigned z = 0; z < 3; z++)
        for (unsigned v = 0; v < n_view_kinds; v++) {
            play(s, "resize %s\nkey %u\nkey t", sizes[z], v + 1);
            near(session_number(s, "width"), atof(sizes[z]), 0);
            if (!only_scrolled(session_text(s, "check"))) fail_msg("%s at %s: %s", session_text(s, "view"), sizes[z], session_text(s, "check"));
        }
    session_play(s, "key 1\nresize 20 20\nkey ?\nkey esc\nkey ctrl++"); /* small windows are kept usable */
    near(session_number(s, "width"), 320, 0);
}

static int64_t job_difference(struct session *s)
{
    struct ui *u = s->ui;
    const struct scene_job *a = &s->scenes[0]->jobs[ui_selected_job(u, 0)], *b = &s->scenes[1]->jobs[ui_selected_job(u, 1)];
    assert_string_equal(a->id, b->id);
    return b->finished_ns - a->finished_ns;
}

/* Jobs are the same when their ids are; the ribbon counts who ends earlier; X turns it round. */
static void test_compare(void **state)
{
    struct session *s = *state;
    double earlier = 0, later = 0;
    session_restart(s, false);
    for (uint32_t j = 0; j < s->scenes[0]->n_jobs; j++) {
        const struct scene_job *a = &s->scenes[0]->jobs[j];
        int32_t twin = scene_find_job(s->scenes[1], a->id);
        assert_true(twin >= 0);
        const struct scene_job *b = &s->scenes[1]->jobs[twin];
        bool both = a->finished_ns >= 0 && b->finished_ns >= 0;
        int64_t difference = both && a->finished_ns != b->finished_ns ? b->finished_ns - a->finished_ns : b->started_ns - a->started_ns;
        earlier += difference < 0;
        later += difference > 0;
    }
    near(session_number(s, "earlier"), earlier, 0);
    near(session_number(s, "later"), later, 0);
    session_play(s, "key /\ntext gpus>=64\nkey enter");
    int64_t difference = job_difference(s);
    session_play(s, "key x");
    assert_string_equal(session_text(s, "runs.0.approach"), "actor");
    near(session_number(s, "earlier"), later, 0);
    near(session_number(s, "selection.run"), 1, 0);
    assert_true(difference != 0);
    session_play(s, "key b\nkey b");
    near(session_number(s, "panes.0.run"), 1, 0);
}

/* Play and "run until" as they run in a window. */
static void test_play(void **state)
{
    struct session *s = *state;
    session_restart(s, true);
    double speed = session_number(s, "speed");
    session_play(s, "key space\ntick 1.5");
    near(session_number(s, "cursor_s"), 1.5 * speed, 1e-3);
    session_play(s, "key +\ntick 1");
    assert_true(session_number(s, "cursor_s") > 2.5 * speed);
    session_play(s, "tick 1000000");
    near(session_number(s, "cursor_s"), run_s, 1e-3);
    assert_false(session_bool(s, "playing"));
    session_restart(s, true);
    session_play(s, "key r\nkey p");
    assert_true(session_bool(s, "playing"));
    session_play(s, "tick 60");
    assert_false(session_bool(s, "playing"));
    assert_string_equal(session_text(s, "selection.kind"), "event");
    assert_non_null(strstr(session_text(s, "selection.text"), "preempt"));
}

static void test_png_is_the_same_twice(void **state)
{
    struct session *s = *state;
    char *bytes[2];
    size_t n[2];
    struct diag d = {0};
    for (unsigned i = 0; i < 2; i++) {
        char file[] = "/tmp/trainyard-picture-XXXXXX.png", *err = NULL;
        close(mkstemps(file, 4));
        session_restart(s, false);
        session_play(s, "key /\ntext gpus>=64\nkey enter");
        assert_true(ui_picture_write(s->ui, file, &err));
        bytes[i] = file_read(file, FILE_READ_MAX, &n[i], &d);
        unlink(file);
        assert_non_null(bytes[i]);
    }
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(bytes[0], bytes[1], n[0]);
    free(bytes[0]);
    free(bytes[1]);
}

static void test_script_errors(void **state)
{
    struct session *s = *state;
    static const struct {
        const char *script, *says;
        int line;
    } rows[] = {
        {"key w\nkey hyper", "a key is needed", 2}, {"zoom 3", "unknown step", 1},    {"\n# note\nwheel at 3", "wheel TURNS at X Y", 3}, {"press 1", "two numbers", 1},
        {"press 1 2 up", "may stand here", 1},      {"tick -1", "number of seconds", 1}, {"screenshot out.bmp", ".png, .svg or .pdf", 1}, {"dump", "name of a file", 1},
        {"resize a b", "two numbers", 1},           {"dump /nowhere/at/all.json", "cannot write", 1},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        char file[] = "/tmp/trainyard-script-XXXXXX";
        struct diag d = {0};
        int fd = mkstemp(file);
        assert_int_equal(write(fd, rows[i].script, strlen(rows[i].script)), strlen(rows[i].script));
        close(fd);
        session_restart(s, false);
        bool io;
        assert_false(script_run(s->ui, file, &io, &d));
        assert_int_equal(io, strcmp(rows[i].says, "cannot write") == 0);
        unlink(file);
        assert_int_equal(diag_errors(&d), 1);
        assert_int_equal(d.entries.v[0].line, rows[i].line);
        if (!strstr(d.entries.v[0].text, rows[i].says)) fail_msg("\"%s\": %s", rows[i].script, d.entries.v[0].text);
        diag_free(&d);
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wheel),   cmocka_unit_test(test_drag),    cmocka_unit_test(test_click), cmocka_unit_test(test_search),
        cmocka_unit_test(test_field),   cmocka_unit_test(test_history), cmocka_unit_test(test_sizes), cmocka_unit_test(test_compare),
        cmocka_unit_test(test_play),    cmocka_unit_test(test_png_is_the_same_twice), cmocka_unit_test(test_script_errors),
    };
    return cmocka_run_group_tests(tests, open_runs, close_runs);
}
