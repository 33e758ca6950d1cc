/* test_gantt.c - no track is lost at any height, the tree can be walked, and the sums are those of the run's ledger.
 *
 * Expected sums are the run's ledger.csv and jobs.csv, which the simulator books apart from the records that the tracks are made of.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run/decimal.h"
#include "tests/viz/views/views.h"
#include "viz/views/gantt.h"

/* 2 blocks of 2 racks of 3 nodes of 4 GPUs, but the last block has 2 nodes only: 8 nodes, 32 GPUs, 3 racks */
static const char small[] = "{\"trainyard\":1,\"name\":\"small\",\"cluster\":{\"nodes\":[{\"group\":\"n\",\"count\":8,\"gpus\":4}],"
                            "\"topology\":{\"nodes_per_rack\":3,\"racks_per_block\":2}},"
                            "\"workload\":{\"jobs\":[{\"id\":\"a\",\"count\":20,\"every\":\"60s\",\"gpus\":4,\"duration\":\"10m\"},"
                            "{\"id\":\"b\",\"gpus\":2,\"duration\":\"1h\"}]},"
                            "\"approaches\":{\"fifo\":{\"lifecycle\":\"none\",\"admission\":\"fifo\"}}}";

static struct scene *open_small(void)
{
    char *err = NULL;
    assert_true(run_text(small, "fifo", below(top, "small"), RECORD_FULL));
    struct scene *s = scene_open(below(top, "small"), &err);
    if (!s) fail_msg("%s", err);
    return s;
}

/* ---- rows ---- */

/* Each track in exactly one row, rows one below the other without gaps. */
static void assert_whole(const struct gantt_rows *r, uint32_t n)
{
    uint32_t next = 0;
    float y = 0;
    for (struct gantt_row row = {0}; gantt_row_next(r, 0, r->height, &row);) {
        assert_int_equal(row.first, next);
        assert_true(row.n > 0 && row.h >= 1);
        assert_true(row.y == y);
        next += row.n;
        y = row.y + row.h;
    }
    assert_int_equal(next, n);
    assert_true(y == r->height);
}

static void every_track_is_in_one_row(void **state)
{
    (void)state;
    struct scene *s = open_small();
    struct hmap folds = {0};
    struct gantt_rows rows = {0};
    assert_int_equal(s->n_tracks[SCENE_GPUS], 32);
    assert_int_equal(s->n_racks, 3);
    for (int fold = 0; fold < 4; fold++) {
        if (fold == 1) hmap_put_u64(&folds, gantt_key((struct gantt_item){GANTT_NODE, 4}), 1);
        if (fold == 2) hmap_put_u64(&folds, gantt_key((struct gantt_item){GANTT_RACK, 1}), 1);
        if (fold == 3) hmap_put_u64(&folds, gantt_key((struct gantt_item){GANTT_BLOCK, 0}), 1);
        for (float h = 1; h < 900; h = h * 1.3f + 1) {
            gantt_rows_make(&rows, &(struct gantt_want){.scene = s, .collapsed = &folds, .height = h, .line = 18, .to_ns = s->end_ns});
            assert_whole(&rows, 32);
            if (fold == 0) assert_true(rows.height <= h + 0.5f || rows.row >= 1);
        }
        for (float row = 0.25f; row < 40; row *= 2) {
            gantt_rows_make(&rows, &(struct gantt_want){.scene = s, .collapsed = &folds, .height = 100, .line = 18, .row = row});
            assert_whole(&rows, 32);
        }
    }
    gantt_rows_free(&rows);
    hmap_free(&folds);
    scene_close(s);
}

static void a_row_is_found_where_it_lies(void **state)
{
    (void)state;
    struct scene *s = open_small();
    struct gantt_rows rows = {0};
    for (float h = 3; h < 900; h = h * 1.7f + 1) {
        gantt_rows_make(&rows, &(struct gantt_want){.scene = s, .height = h, .line = 18});
        for (struct gantt_row at, row = {0}; gantt_row_next(&rows, 0, rows.height, &row);)
            for (float y = row.y; y < row.y + row.h; y++) {
                assert_true(gantt_row_at(&rows, y, &at));
                assert_int_equal(at.first, row.first);
            }
        struct gantt_row none;
        assert_false(gantt_row_at(&rows, rows.height, &none));
    }
    gantt_rows_free(&rows);
    scene_close(s);
}

static void assert_extent(const struct gantt_rows *r, struct gantt_item i, float y, float h)
{
    float got_y = -1, got_h = -1;
    assert_true(gantt_extent(r, i, &got_y, &got_h));
    assert_true(got_y == y && got_h == h);
}

/* 10 px a GPU: node k at 40 k, rack 0 and 1 of 3 nodes, rack 2 of 2 */
static void places_of_the_tree(void **state)
{
    (void)state;
    struct scene *s = open_small();
    struct hmap folds = {0};
    struct gantt_rows rows = {0};
    struct gantt_want want = {.scene = s, .collapsed = &folds, .height = 100, .line = 18, .row = 10};
    float y, h;
    gantt_rows_make(&rows, &want);
    assert_extent(&rows, (struct gantt_item){GANTT_BLOCK, 0}, 0, 240);
    assert_extent(&rows, (struct gantt_item){GANTT_RACK, 1}, 120, 120);
    assert_extent(&rows, (struct gantt_item){GANTT_NODE, 7}, 280, 40);
    assert_extent(&rows, (struct gantt_item){GANTT_GPU, 31}, 310, 10);
    hmap_put_u64(&folds, gantt_key((struct gantt_item){GANTT_RACK, 0}), 1);
    gantt_rows_make(&rows, &want);
    assert_extent(&rows, (struct gantt_item){GANTT_RACK, 0}, 0, 18);
    assert_extent(&rows, (struct gantt_item){GANTT_RACK, 1}, 18, 120);
    assert_false(gantt_extent(&rows, (struct gantt_item){GANTT_NODE, 2}, &y, &h));
    assert_true(gantt_is_folded(&rows, (struct gantt_item){GANTT_RACK, 0}));
    assert_false(gantt_is_folded(&rows, (struct gantt_item){GANTT_RACK, 1}));
    gantt_rows_free(&rows);
    hmap_free(&folds);
    scene_close(s);
}

static unsigned walk(const struct gantt_rows *r, struct gantt_item from, bool forward, float least, struct gantt_item *end)
{
    unsigned n = 0;
    for (struct gantt_item next; (next = gantt_walk(r, from, forward, least)).level != from.level || next.item != from.item; n++) from = next;
    *end = from;
    return n;
}

static void a_walk_meets_what_can_be_read(void **state)
{
    (void)state;
    struct scene *s = open_small();
    struct gantt_rows rows = {0};
    struct gantt_item end, back;
    gantt_rows_make(&rows, &(struct gantt_want){.scene = s, .height = 100, .line = 18, .row = 10});
    /* 2 blocks, 3 racks, 8 nodes, 32 GPUs; the second block is its only rack, and both are met */
    assert_int_equal(walk(&rows, (struct gantt_item){GANTT_NONE, 0}, true, 10, &end), 45);
    assert_true(end.level == GANTT_GPU && end.item == 31);
    assert_int_equal(walk(&rows, end, false, 10, &back), 44);
    assert_true(back.level == GANTT_BLOCK && back.item == 0);
    assert_int_equal(walk(&rows, (struct gantt_item){GANTT_NONE, 0}, true, 40, &end), 13); /* down to nodes */
    assert_int_equal(walk(&rows, (struct gantt_item){GANTT_NONE, 0}, true, 100, &end), 3); /* block, its racks; the rest is 80 high */
    gantt_rows_free(&rows);
    scene_close(s);
}

static void names_can_be_read(void **state)
{
    (void)state;
    struct scene *s = open_small();
    struct gantt_rows rows = {0};
    struct gantt_row row = {0};
    struct str name = {0};
    gantt_item_name(s, (struct gantt_item){GANTT_GPU, 7}, &name);
    assert_string_equal(str_text(&name), "n-1 / gpu 3");
    gantt_rows_make(&rows, &(struct gantt_want){.scene = s, .height = 16, .line = 18});
    assert_true(gantt_row_next(&rows, 0, 16, &row)); /* 2 GPUs a pixel */
    str_clear(&name);
    gantt_row_name(&rows, &row, &name);
    assert_string_equal(str_text(&name), "n-0 / gpu 0 to n-0 / gpu 1");
    for (unsigned l = GANTT_BLOCK; l <= GANTT_JOB; l++) {
        struct gantt_item i = {(enum gantt_level)l, 2}, got = gantt_unfocus(s, gantt_focus(i));
        assert_true(got.level == i.level && got.item == i.item);
    }
    assert_int_equal(gantt_unfocus(s, gantt_focus((struct gantt_item){GANTT_NODE, 8})).level, GANTT_NONE); /* there are 8 */
    str_free(&name);
    gantt_rows_free(&rows);
    scene_close(s);
}

/* a-0 to a-19 come each minute and take 10 min on 7 or 8 nodes; b comes with the first */
static void jobs_of_a_window_and_a_filter(void **state)
{
    (void)state;
    struct scene *s = open_small();
    struct gantt_rows rows = {0};
    bool *passes = calloc(s->n_jobs, sizeof *passes);
    struct gantt_want want = {.scene = s, .by_job = true, .height = 7, .line = 18, .to_ns = s->end_ns};
    assert_int_equal(s->n_jobs, 21);
    gantt_rows_make(&rows, &want);
    assert_int_equal(rows.jobs.n, 21);
    assert_whole(&rows, 21);
    want.to_ns = 30 * INT64_C(1000000000); /* before the second of each minute: b and the first a */
    gantt_rows_make(&rows, &want);
    assert_int_equal(rows.jobs.n, 2);
    want.to_ns = s->end_ns;
    want.passes = passes;
    passes[3] = passes[11] = true;
    gantt_rows_make(&rows, &want);
    assert_int_equal(rows.jobs.n, 2);
    assert_int_equal(rows.others, 19);
    assert_true(rows.row >= 18);
    assert_extent(&rows, (struct gantt_item){GANTT_JOB, 11}, 18, 18);
    struct gantt_item next = gantt_walk(&rows, (struct gantt_item){GANTT_JOB, 3}, true, 1);
    assert_true(next.level == GANTT_JOB && next.item == 11);
    gantt_rows_free(&rows);
    free(passes);
    scene_close(s);
}

/* ---- sums ---- */

static share_ns ledger_of(const struct run *r, unsigned show)
{
    share_ns sum = 0;
    for (size_t i = 0; i < r->n_ledger; i++) {
        bool work = activity_table[r->ledger[i].activity].class == CLASS_WORK;
        if (work ? show == SHOW_WORK : r->ledger[i].activity == show) sum += r->ledger[i].sum;
    }
    return sum;
}

static void assert_ledger(struct scene *s, const char *what)
{
    struct gantt_sums all = {0};
    gantt_sum(s, SCENE_GPUS, 0, s->n_tracks[SCENE_GPUS], s->begin_ns, s->end_ns, &all);
    all.by_show[SHOW_WORK] += all.by_show[SHOW_REDONE];
    for (unsigned k = 0; k < N_ACTIVITIES; k++) {
        enum activity_class class = activity_table[k].class;
        if (class != CLASS_HELD && class != CLASS_DOWN) continue;
        if (all.by_show[k] != ledger_of(s->run, k)) fail_msg("%s: %s", what, show_name(k));
    }
    assert_true(all.by_show[SHOW_WORK] == ledger_of(s->run, SHOW_WORK));
}

/* The rows of any height, and windows that part the run, add up to the whole. */
static void assert_parts(struct scene *s)
{
    struct gantt_sums all = {0}, rows = {0}, windows = {0};
    struct gantt_rows r = {0};
    uint32_t n = s->n_tracks[SCENE_GPUS];
    gantt_sum(s, SCENE_GPUS, 0, n, s->begin_ns, s->end_ns, &all);
    gantt_rows_make(&r, &(struct gantt_want){.scene = s, .height = 37, .line = 18});
    for (struct gantt_row row = {0}; gantt_row_next(&r, 0, r.height, &row);) gantt_sum(s, SCENE_GPUS, row.first, row.n, s->begin_ns, s->end_ns, &rows);
    for (int64_t i = 0; i < 7; i++) gantt_sum(s, SCENE_GPUS, 0, n, s->end_ns / 7 * i, i == 6 ? s->end_ns : s->end_ns / 7 * (i + 1), &windows);
    assert_int_equal(rows.spans, all.spans);
    assert_int_equal(rows.failures, all.failures);
    assert_memory_equal(rows.by_show, all.by_show, sizeof all.by_show);
    assert_memory_equal(windows.by_show, all.by_show, sizeof all.by_show);
    gantt_rows_free(&r);
}

static void sums_equal_the_ledger(void **state)
{
    (void)state;
    static const char *const approaches[] = {"operator", "actor"};
    for (int i = 0; i < 2; i++) {
        char *err = NULL;
        assert_true(run_file("scenarios/two-teams.json", approaches[i], below(top, "sums"), RECORD_FULL));
        struct scene *s = scene_open(below(top, "sums"), &err);
        if (!s) fail_msg("%s", err);
        assert_ledger(s, approaches[i]);
        assert_parts(s);
        scene_close(s);
    }
}

/* In its queue a job shares a clock with others, whose reasons have sums but no moments: there only all reasons together are exact. */
static void waits_equal_those_of_jobs_csv(void **state)
{
    (void)state;
    char *err = NULL;
    assert_true(run_file("scenarios/two-teams.json", "operator", below(top, "waits"), RECORD_FULL));
    struct scene *s = scene_open(below(top, "waits"), &err);
    struct gantt_sums all = {0};
    int64_t wait[N_WAIT_REASONS] = {0};
    if (!s) fail_msg("%s", err);
    gantt_sum(s, SCENE_JOBS, 0, s->n_tracks[SCENE_JOBS], s->begin_ns, s->end_ns, &all);
    for (size_t i = 0; i < s->run->n_jobs; i++)
        for (unsigned r = 0; r < N_WAIT_REASONS; r++) wait[r] += s->run->jobs[i].waits[r];
    share_ns queue = 0, want = 0;
    for (unsigned r = 0; r < N_QUEUE_REASONS; r++) {
        queue += all.by_show[SHOW_WAIT + r];
        want += (share_ns)wait[r] * 1000;
    }
    assert_true(queue == want);
    for (unsigned r = N_QUEUE_REASONS; r < N_WAIT_REASONS; r++) assert_true(all.by_show[SHOW_WAIT + r] == (share_ns)wait[r] * 1000);
    scene_close(s);
}

/* ---- the view ---- */

static void assert_dump_sum(struct looking *l, const char *show, share_ns want)
{
    char path[64], text[DECIMAL_GPU_S_BYTES + 1];
    snprintf(path, sizeof path, "panes.0.all.gpu_s.%s", show);
    text[decimal_put_gpu_s(text, want)] = '\0';
    assert_true(look_number(l, path) == strtod(text, NULL));
}

static void dump_tells_what_the_picture_tells(void **state)
{
    (void)state;
    struct looking l;
    assert_true(run_file("scenarios/two-teams.json", "operator", below(top, "view"), RECORD_FULL));
    look_at(&l, (const char *const[]){below(top, "view")}, 1);
    const struct run *r = l.scene[0]->run;
    assert_dump_sum(&l, "image_pull", ledger_of(r, ACT_IMAGE_PULL));
    assert_dump_sum(&l, "terminating", ledger_of(r, ACT_TERMINATING));
    assert_true(look_number(&l, "panes.0.all.tracks") == 128);
    double spans = 0;
    const cJSON *row;
    cJSON_ArrayForEach(row, look_dump(&l, "panes.0.rows")) spans += cJSON_GetObjectItemCaseSensitive(row, "spans")->valuedouble;
    assert_true(spans == look_number(&l, "panes.0.all.spans"));
    look_key(&l, UI_DOWN, 0);
    assert_string_equal(look_text(&l, "panes.0.focus"), "rack 0");
    look_key(&l, UI_LEFT, 0); /* folds */
    assert_string_equal(look_text(&l, "panes.0.rows.0.name"), "rack 0");
    assert_true(look_number(&l, "panes.0.rows.0.tracks") == 32);
    look_key(&l, UI_ENTER, 0); /* unfolds */
    assert_string_equal(look_text(&l, "panes.0.rows.0.name"), "h100-0 / gpu 0");
    look_key(&l, UI_LEFT, UI_SHIFT); /* all racks */
    assert_int_equal(cJSON_GetArraySize(look_dump(&l, "panes.0.rows")), 4);
    look_key(&l, UI_RIGHT, UI_SHIFT);
    look_key(&l, UI_UP, UI_SHIFT); /* higher rows */
    assert_true(look_number(&l, "panes.0.row_height") > 4);
    look_key(&l, 'j', 0);
    assert_string_equal(look_text(&l, "panes.0.rows_are"), "jobs");
    look_key(&l, UI_DOWN, 0);
    assert_string_equal(look_text(&l, "selection.kind"), "job");
    look_away(&l);
}

/* Every failure has its mark at every zoom: the raster and the fills of the picture hold its colour. */
static void failures_are_in_sight_at_every_zoom(void **state)
{
    (void)state;
    struct looking l;
    assert_true(run_file("scenarios/two-teams.json", "operator", below(top, "fail"), RECORD_FULL));
    look_at(&l, (const char *const[]){below(top, "fail")}, 1);
    const struct gantt_failures *f = gantt_failures(l.ui, 0);
    size_t want = 0;
    for (uint32_t i = 0; i < l.scene[0]->n_events; i++) want += scene_event_is_failure(&l.scene[0]->events[i]);
    assert_true(want > 0);
    assert_int_equal(f->n, want);
    assert_int_equal(cJSON_GetArraySize(look_dump(&l, "panes.0.failure_events")), want);
    struct gantt_sums all = {0};
    gantt_sum(l.scene[0], SCENE_GPUS, 0, 128, 0, l.scene[0]->end_ns, &all);
    assert_true(look_number(&l, "panes.0.all.failures") == (double)all.failures);
    look_away(&l);
}

static void without_gpus_it_says_what_to_do(void **state)
{
    (void)state;
    struct looking l;
    for (int level = RECORD_NONE; level < RECORD_FULL; level++) {
        assert_true(run_file("scenarios/two-teams.json", "operator", below(top, "empty"), level));
        look_at(&l, (const char *const[]){below(top, "empty")}, 1);
        assert_non_null(look_dump(&l, "panes.0.empty"));
        look_key(&l, 'j', 0);
        assert_null(look_dump(&l, "panes.0.empty"));
        assert_true(look_number(&l, "panes.0.all.tracks") == 126);
        look_away(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_track_is_in_one_row),
        cmocka_unit_test(a_row_is_found_where_it_lies),
        cmocka_unit_test(places_of_the_tree),
        cmocka_unit_test(a_walk_meets_what_can_be_read),
        cmocka_unit_test(names_can_be_read),
        cmocka_unit_test(jobs_of_a_window_and_a_filter),
        cmocka_unit_test(sums_equal_the_ledger),
        cmocka_unit_test(waits_equal_those_of_jobs_csv),
        cmocka_unit_test(dump_tells_what_the_picture_tells),
        cmocka_unit_test(failures_are_in_sight_at_every_zoom),
        cmocka_unit_test(without_gpus_it_says_what_to_do),
    };
    return cmocka_run_group_tests(tests, make_top, drop_top);
}
