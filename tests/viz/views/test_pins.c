/* test_pins.c - rows that stay at the top of the Gantt: which they are, that they stay, and what they add up to.
 *
 * Expected sums follow from the scenario: 20 jobs of 4 GPUs for 10 minutes and one of 2 GPUs for an hour, on more GPUs than they need.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/viz/views/views.h"

/* blocks of 6, 6 and 4 nodes; b comes at a moment of its own */
static const char small[] = "{\"trainyard\":1,\"name\":\"small\",\"cluster\":{\"nodes\":[{\"group\":\"n\",\"count\":16,\"gpus\":4}],"
                            "\"topology\":{\"nodes_per_rack\":3,\"racks_per_block\":2}},"
                            "\"workload\":{\"jobs\":[{\"id\":\"a\",\"count\":20,\"every\":\"60s\",\"gpus\":4,\"duration\":\"10m\"},"
                            "{\"id\":\"b\",\"gpus\":2,\"duration\":\"1h\",\"submit\":\"%s\"}]},"
                            "\"approaches\":{\"fifo\":{\"lifecycle\":\"none\",\"admission\":\"fifo\"}}}";

static void open_two(struct looking *l, unsigned n)
{
    static const char *const when[] = {"0s", "5m"}, *const names[] = {"pins-a", "pins-b"};
    const char *dirs[2];
    for (unsigned i = 0; i < n; i++) {
        struct str text = {0};
        str_printf(&text, small, when[i]);
        dirs[i] = below(top, names[i]);
        assert_true(run_text(str_text(&text), "fifo", dirs[i], RECORD_FULL));
        str_free(&text);
    }
    look_at(l, dirs, n);
}

static const cJSON *pin(struct looking *l, unsigned pane, unsigned k)
{
    struct str path = {0};
    str_printf(&path, "panes.%u.pinned.%u", pane, k);
    const cJSON *at = look_dump(l, str_text(&path));
    str_free(&path);
    return at;
}

static const char *name(const cJSON *pinned)
{
    assert_non_null(pinned);
    return cJSON_GetObjectItem(pinned, "name")->valuestring;
}

static double sum(const cJSON *pinned, const char *of, const char *show)
{
    const cJSON *x = pinned ? cJSON_GetObjectItem(cJSON_GetObjectItem(pinned, of), show) : NULL;
    return x ? x->valuedouble : 0;
}

static void assert_near(double x, double y)
{
    if (x < y - 1e-6 || x > y + 1e-6) fail_msg("%.9g is not %.9g", x, y);
}

/* Of all rows that can be walked to, the three blocks are pinned: together they are the cluster. */
static void blocks_add_up(void **state)
{
    (void)state;
    struct looking l;
    double work = 0, tracks = 0;
    open_two(&l, 1);
    for (unsigned step = 0; step < 200; step++) {
        unsigned before = l.ui->focus;
        look_key(&l, UI_DOWN, 0);
        if (l.ui->focus == before) break;
        if (strncmp(look_text(&l, "panes.0.focus"), "block", 5) == 0) look_key(&l, 'p', 0);
    }
    for (unsigned k = 0; k < 3; k++) {
        work += sum(pin(&l, 0, k), "gpu_s", "work");
        tracks += cJSON_GetObjectItem(pin(&l, 0, k), "tracks")->valuedouble;
    }
    assert_null(pin(&l, 0, 3));
    assert_near(tracks, 64);
    assert_near(work, 20 * 4 * 600 + 2 * 3600);
    look_away(&l);
}

static void a_job_stays_in_both_runs(void **state)
{
    (void)state;
    struct looking l;
    open_two(&l, 2);
    look_type(&l, '/', "job:b");
    look_key(&l, 'p', UI_SHIFT);
    look_key(&l, UI_ESC, 0);
    look_key(&l, UI_ESC, 0);
    assert_string_equal(name(pin(&l, 0, 0)), "b");
    assert_string_equal(name(pin(&l, 1, 0)), "b"); /* another number there */
    for (unsigned i = 0; i < 2; i++) assert_near(sum(pin(&l, i, 0), "s", "work"), 3600);
    for (unsigned i = 0; i < 4; i++) look_key(&l, UI_PAGE_DOWN, 0);
    look_key(&l, 'j', 0);
    assert_string_equal(name(pin(&l, 0, 0)), "b");
    look_key(&l, 'x', 0); /* A and B change places, the row stays */
    assert_string_equal(name(pin(&l, 0, 0)), "b");
    assert_string_equal(name(pin(&l, 1, 0)), "b");
    look_type(&l, '/', "job:b");
    look_key(&l, 'p', UI_SHIFT);
    assert_null(pin(&l, 0, 0));
    look_away(&l);
}

/* The rest of the pane keeps all its tracks; a click on a pinned row selects as any other. */
static void rows_below_stay_whole(void **state)
{
    (void)state;
    struct looking l;
    open_two(&l, 1);
    double area = look_dump(&l, "panes.0.all.tracks")->valuedouble;
    look_type(&l, '/', "job:b");
    look_key(&l, 'p', UI_SHIFT);
    look_key(&l, UI_ESC, 0);
    look_key(&l, UI_ESC, 0);
    assert_near(look_dump(&l, "panes.0.all.tracks")->valuedouble, area);
    double tracks = 0;
    const cJSON *row, *rows = look_dump(&l, "panes.0.rows");
    cJSON_ArrayForEach(row, rows) tracks += cJSON_GetObjectItem(row, "tracks")->valuedouble;
    assert_near(tracks, 64);
    struct box plot = view_plot(l.ui, view_kinds[0], l.ui->layout.body);
    float x = ui_x_of(l.ui, plot, 1800 * INT64_C(1000000000)), y = plot.y + l.ui->theme.line + 8; /* below the lane */
    ui_event(l.ui, &(struct ui_event){.kind = UI_PRESS, .button = UI_BUTTON_LEFT, .x = x, .y = y});
    ui_event(l.ui, &(struct ui_event){.kind = UI_RELEASE, .button = UI_BUTTON_LEFT, .x = x, .y = y});
    assert_int_equal(l.ui->selection.kind, SELECTED_JOB);
    assert_string_equal(l.scene[0]->jobs[l.ui->selection.job].id, "b");
    look_away(&l);
}

static void nothing_to_pin(void **state)
{
    (void)state;
    struct looking l;
    open_two(&l, 1);
    look_key(&l, 'p', 0);
    assert_non_null(strstr(l.ui->message, "nothing to pin"));
    look_away(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_add_up), cmocka_unit_test(a_job_stays_in_both_runs), cmocka_unit_test(rows_below_stay_whole),
                                       cmocka_unit_test(nothing_to_pin)};
    return cmocka_run_group_tests(tests, make_top, drop_top);
}
