/* test_growing.c - runs that grow while they are followed, that are damaged, cut off or empty, and two of different scenarios.
 *
 * A growing run is a finished one of which the viewer is given a part at a time: half of the timeline under a manifest that says
 * "running", then all of it, then the other files and the final manifest.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/run_dir.h"
#include "tests/support/viewer_session.h"

static char whole[64]; /* a finished run */

struct piece {
    char *bytes;
    size_t n;
};

static struct piece piece_read(const char *dir, const char *name)
{
    char path[160];
    struct diag d = {0};
    struct piece p;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    p.bytes = file_read(path, FILE_READ_MAX, &p.n, &d);
    assert_non_null(p.bytes);
    return p;
}

static void piece_write(const char *dir, const char *name, const void *bytes, size_t n)
{
    char path[160];
    struct diag d = {0};
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_true(file_write_atomic(path, bytes, n, &d));
}

static void copy(const char *dir, const char *name)
{
    struct piece p = piece_read(whole, name);
    piece_write(dir, name, p.bytes, p.n);
    free(p.bytes);
}

/* Appended in place, as a run does: the viewer has the file open. */
static void append_rest(const char *dir, size_t from)
{
    char path[160];
    struct piece p = piece_read(whole, "timeline.bin");
    snprintf(path, sizeof path, "%s/timeline.bin", dir);
    FILE *f = fopen(path, "ab");
    assert_non_null(f);
    assert_int_equal(fwrite(p.bytes + from, 1, p.n - from, f), p.n - from);
    fclose(f);
    free(p.bytes);
}

/* The manifest as it is while the run goes on: no end, no fingerprint, no files yet. */
static void write_running(const char *dir)
{
    struct piece p = piece_read(whole, "run.json");
    cJSON *root = cJSON_Parse(p.bytes);
    cJSON_ReplaceItemInObjectCaseSensitive(root, "state", cJSON_CreateString("running"));
    cJSON_ReplaceItemInObjectCaseSensitive(root, "records", cJSON_CreateNumber(0));
    static const char *const later[] = {"fingerprint", "end_s", "files", "summary"};
    for (unsigned i = 0; i < 4; i++) cJSON_DeleteItemFromObjectCaseSensitive(root, later[i]);
    char *text = cJSON_Print(root);
    piece_write(dir, "run.json", text, strlen(text));
    free(text);
    cJSON_Delete(root);
    free(p.bytes);
}

static struct session *open_dir(const char *dir)
{
    static struct session s;
    char *err = NULL;
    s = (struct session){.n = 1};
    s.text = text_create(&err);
    s.scenes[0] = scene_open(dir, &err);
    if (!s.scenes[0]) fail_msg("%s", err);
    s.ui = ui_create(s.scenes, 1, s.text, &(struct ui_options){.font_scale = 1, .follow = true});
    return &s;
}

static void close_dir(struct session *s)
{
    ui_destroy(s->ui);
    scene_close(s->scenes[0]);
    text_destroy(s->text);
    cJSON_Delete(s->dump);
}

static void new_dir(char dir[64])
{
    strcpy(dir, "/tmp/trainyard-grows-XXXXXX");
    assert_non_null(mkdtemp(dir));
}

static void test_follow(void **state)
{
    (void)state;
    char dir[64];
    new_dir(dir);
    struct piece t = piece_read(whole, "timeline.bin");
    size_t half = t.n / 2;
    copy(dir, "scenario.json");
    write_running(dir);
    piece_write(dir, "timeline.bin", t.bytes, half);
    free(t.bytes);
    struct session *s = open_dir(dir);
    assert_true(session_bool(s, "runs.0.growing"));
    double end = session_number(s, "runs.0.end_s"), events = session_number(s, "runs.0.events");
    assert_true(end > 0 && events > 0);
    session_play(s, "poll"); /* nothing new */
    assert_true(session_number(s, "runs.0.events") == events);
    append_rest(dir, half);
    session_play(s, "poll");
    assert_true(session_number(s, "runs.0.events") > events);
    assert_true(session_number(s, "runs.0.end_s") > end);
    assert_true(session_number(s, "to_s") == session_number(s, "runs.0.end_s")); /* the window stood at the end and stays there */
    copy(dir, "jobs.csv");
    copy(dir, "ledger.csv");
    copy(dir, "run.json");
    session_play(s, "poll");
    assert_false(session_bool(s, "runs.0.growing"));
    assert_string_equal(session_text(s, "runs.0.notes"), "");
    close_dir(s);
    run_dir_remove(dir);
}

/* Each damage: the viewer opens it, says what is wrong in the window, and every view draws. */
static void test_damaged(void **state)
{
    (void)state;
    static const char *const names[] = {"timeline.bin", "jobs.csv", "ledger.csv", "scenario.json"};
    for (unsigned n = 0; n < 4; n++)
        for (unsigned how = 0; how < 3; how++) { /* cut in the middle, empty, gone */
            char dir[64];
            new_dir(dir);
            for (unsigned k = 0; k < 4; k++) copy(dir, names[k]);
            copy(dir, "run.json");
            struct piece p = piece_read(dir, names[n]);
            piece_write(dir, names[n], p.bytes, how == 0 ? p.n / 2 + 3 : 0);
            free(p.bytes);
            if (how == 2) {
                char path[160];
                snprintf(path, sizeof path, "%s/%s", dir, names[n]);
                unlink(path);
            }
            struct session *s = open_dir(dir);
            session_play(s, "key 1\nkey j\nkey 2\nkey 3\nkey 4\nkey 5\nkey 6\nkey 7\nkey ]\nkey .\nkey r\nkey f\nkey enter\nkey f\nkey /\ntext a\nkey enter");
            if (!*session_text(s, "runs.0.notes")) fail_msg("nothing is said of a damaged %s (%u)", names[n], how);
            session_play(s, "key 1\nkey 2\nkey 3\nkey 4\nkey 5\nkey 6\nkey 7");
            assert_true(session_number(s, "drawn") > 10);
            close_dir(s);
            run_dir_remove(dir);
        }
}

static void test_no_run(void **state)
{
    (void)state;
    char *err = NULL;
    struct text_engine *text = text_create(&err);
    struct session s = {.text = text};
    s.ui = ui_create(NULL, 0, text, &(struct ui_options){.font_scale = 1, .error = "out: there is no run here"});
    session_play(&s, "key 1\nkey w\nkey ]\nkey .\nkey f\nkey enter\nkey x\nkey b\nkey n\nkey space\ntick 1\nkey l\nkey tab\nkey ?\nkey esc\nwheel 1 at 300 300\n"
                     "press 300 300\nmove 400 400\nrelease 400 400\nkey r\nkey f\nkey /\ntext a\nkey enter");
    assert_string_equal(session_text(&s, "error"), "out: there is no run here");
    assert_string_equal(session_text(&s, "check"), "");
    ui_destroy(s.ui);
    cJSON_Delete(s.dump);
    text_destroy(text);
}

static void test_different_scenarios(void **state)
{
    (void)state;
    struct session *s = session_open(
        &(struct session_plan){.scenario = {"scenarios/demo.json", "scenarios/fifo-or-skip.json"}, .approach = {"operator", NULL}, .n = 2});
    assert_non_null(strstr(session_text(s, "differ"), "different scenarios"));
    session_play(s, "key 1\nkey 2\nkey 3\nkey 4\nkey 5\nkey 6\nkey 7\nkey x\nkey 1\nkey /\ntext gpus>0\nkey enter\nkey b\nkey b\nkey n");
    assert_string_equal(session_text(s, "selection.kind"), "job");
    session_close(s);
}

static int make_run(void **state)
{
    (void)state;
    run_dir_simulate("scenarios/demo.json", "operator", whole, sizeof whole);
    return 0;
}

static int remove_run(void **state)
{
    (void)state;
    run_dir_remove(whole);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_follow), cmocka_unit_test(test_damaged), cmocka_unit_test(test_no_run),
                                       cmocka_unit_test(test_different_scenarios)};
    return cmocka_run_group_tests(tests, make_run, remove_run);
}
