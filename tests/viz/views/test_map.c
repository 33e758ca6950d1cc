/* test_map.c - cells fill any box, apart from one another, and are found at their points; counts at a moment equal the curves' and the cluster's.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/viz/views/views.h"
#include "viz/model/curves.h"
#include "viz/views/map_count.h"
#include "viz/views/map_layout.h"

static struct scene *cluster(unsigned nodes, unsigned gpus, const char *topology)
{
    char json[512], *err = NULL;
    snprintf(json, sizeof json,
             "{\"trainyard\":1,\"name\":\"c\",\"cluster\":{\"nodes\":[{\"group\":\"n\",\"count\":%u,\"gpus\":%u}]%s},"
             "\"workload\":{\"jobs\":[{\"id\":\"a\",\"gpus\":1,\"duration\":\"1m\"}]},"
             "\"approaches\":{\"fifo\":{\"lifecycle\":\"none\",\"admission\":\"fifo\",\"placement\":\"first\"}}}",
             nodes, gpus, topology);
    assert_true(run_text(json, "fifo", below(top, "cluster"), RECORD_FULL));
    struct scene *s = scene_open(below(top, "cluster"), &err);
    if (!s) fail_msg("%s", err);
    return s;
}

/* ---- layout ---- */

static bool within(struct box a, struct box b)
{
    const float e = 0.01f;
    return a.x >= b.x - e && a.y >= b.y - e && a.x + a.w <= b.x + b.w + e && a.y + a.h <= b.y + b.h + e;
}

static void assert_cells(const struct scene *s, struct box box)
{
    struct map_layout m;
    map_layout_make(&m, s, box, 18);
    for (uint32_t k = 0; k < s->n_tracks[SCENE_GPUS]; k++) {
        struct box cell = map_gpu(&m, k), node = map_node(&m, scene_node_of(s, k));
        assert_true(cell.w > 0 && cell.h > 0);
        assert_true(within(cell, node) && within(node, map_rack(&m, s->nodes[scene_node_of(s, k)].rack)) && within(node, box));
        if (cell.w < 1 || cell.h < 1) continue;
        assert_int_equal(map_gpu_at(&m, cell.x + cell.w / 2, cell.y + cell.h / 2), k); /* so none lies over another */
    }
    assert_int_equal(map_gpu_at(&m, box.x - 1, box.y), -1);
    map_layout_free(&m);
}

static void cells_fill_any_box(void **state)
{
    (void)state;
    static const struct { unsigned nodes, gpus; const char *topology; } shapes[] = {
        {1, 1, ""}, {2, 4, ""}, {16, 8, ",\"topology\":{\"nodes_per_rack\":4}"}, {50, 8, ",\"topology\":{\"nodes_per_rack\":7,\"racks_per_block\":3}"},
        {300, 8, ",\"topology\":{\"nodes_per_rack\":8,\"racks_per_block\":4}"}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct scene *s = cluster(shapes[i].nodes, shapes[i].gpus, shapes[i].topology);
        assert_cells(s, (struct box){10, 20, 900, 300});
        assert_cells(s, (struct box){0, 0, 300, 700});
        assert_cells(s, (struct box){0, 0, 2400, 1300});
        scene_close(s);
    }
}

/* One GPU takes all of the box but its names and margins; 64 equal GPUs of 8 nodes in a square are about square. */
static void cells_are_as_large_as_can_be(void **state)
{
    (void)state;
    struct map_layout m;
    struct scene *s = cluster(1, 1, "");
    map_layout_make(&m, s, (struct box){0, 0, 400, 400}, 18);
    assert_true(map_gpu(&m, 0).w > 350 && map_gpu(&m, 0).h > 320);
    map_layout_free(&m);
    scene_close(s);
    s = cluster(8, 8, "");
    map_layout_make(&m, s, (struct box){0, 0, 800, 800}, 18);
    struct box cell = map_gpu(&m, 0);
    assert_true(cell.w > 60 && cell.h > 60 && cell.w / cell.h < 1.6f && cell.h / cell.w < 1.6f);
    map_layout_free(&m);
    scene_close(s);
}

static void steps_go_to_neighbours(void **state)
{
    (void)state;
    struct map_layout m;
    struct scene *s = cluster(16, 8, ",\"topology\":{\"nodes_per_rack\":4}");
    map_layout_make(&m, s, (struct box){0, 0, 800, 600}, 18);
    for (uint32_t k = 0; k < s->n_tracks[SCENE_GPUS]; k++) {
        uint32_t right = map_step(&m, k, 1, 0), down = map_step(&m, k, 0, 1);
        if (right != k) assert_int_equal(map_step(&m, right, -1, 0), k);
        if (down != k) assert_int_equal(map_step(&m, down, 0, -1), k);
    }
    map_layout_free(&m);
    scene_close(s);
}

/* ---- counts ---- */

static void counts_equal_the_curves(void **state)
{
    (void)state;
    char *err = NULL;
    assert_true(run_file("scenarios/two-teams.json", "actor", below(top, "counts"), RECORD_FULL));
    struct scene *s = scene_open(below(top, "counts"), &err);
    if (!s) fail_msg("%s", err);
    struct curves *c = curves_create(s);
    for (int64_t i = 0; i < 200; i++) {
        int64_t at = s->end_ns / 200 * i + 12345;
        struct map_counts m;
        map_count(&m, s, at);
        assert_true(m.held + m.down + m.idle == (int64_t)curve_at(c, CURVE_EXISTING_SHARES, at));
        assert_true(m.idle == (int64_t)curve_at(c, CURVE_IDLE_SHARES, at));
        assert_true(m.waiting_jobs == (int64_t)curve_at(c, CURVE_QUEUED_JOBS, at));
        assert_true(m.waiting_shares == (int64_t)curve_at(c, CURVE_QUEUED_SHARES, at));
        for (unsigned k = 0; k < SHOW_WAIT; k++) assert_true(m.by_show[k] == (int64_t)curve_at(c, CURVE_SHOW + k, at));
        assert_true(m.fragments <= m.idle && m.idle_whole + m.fragments <= m.idle);
        map_counts_free(&m);
    }
    curves_destroy(c);
    scene_close(s);
}

/* One job of 1 GPU on the first of 2 nodes of 4: 3 fragments, 4 idle in a free node. */
static void fragments_are_idle_gpus_of_used_nodes(void **state)
{
    (void)state;
    struct scene *s = cluster(2, 4, "");
    struct map_counts m;
    map_count(&m, s, 30 * INT64_C(1000000000));
    assert_int_equal(m.held, 1000);
    assert_int_equal(m.fragments, 3000);
    assert_int_equal(m.idle_whole, 4000);
    assert_int_equal(m.nodes_free, 1);
    assert_int_equal(m.nodes_partly, 1);
    map_counts_free(&m);
    scene_close(s);
}

/* ---- the view ---- */

static void dump_counts_nodes_and_holders(void **state)
{
    (void)state;
    struct looking l;
    assert_true(run_file("scenarios/two-teams.json", "operator", below(top, "view"), RECORD_FULL));
    look_at(&l, (const char *const[]){below(top, "view")}, 1);
    look_key(&l, '2', 0);
    look_type(&l, 'g', "3h");
    double held = look_number(&l, "panes.0.held"), teams = 0, nodes = 0;
    const cJSON *i;
    cJSON_ArrayForEach(i, look_dump(&l, "panes.0.gpus_by_team")) teams += i->valuedouble;
    cJSON_ArrayForEach(i, look_dump(&l, "panes.0.nodes")) nodes += cJSON_GetObjectItemCaseSensitive(i, "held")->valuedouble;
    assert_true(held > 0 && teams == held && nodes == held);
    assert_true(held + look_number(&l, "panes.0.idle") + look_number(&l, "panes.0.down") == 128);
    look_key(&l, UI_RIGHT, 0); /* the first GPU */
    look_key(&l, UI_RIGHT, 0);
    look_key(&l, UI_ENTER, 0);
    assert_string_equal(look_text(&l, "selection.kind"), "job");
    look_away(&l);
}

static void without_gpus_it_says_what_to_do(void **state)
{
    (void)state;
    struct looking l;
    assert_true(run_file("scenarios/two-teams.json", "operator", below(top, "empty"), RECORD_JOBS));
    look_at(&l, (const char *const[]){below(top, "empty")}, 1);
    look_key(&l, '2', 0);
    assert_non_null(look_dump(&l, "panes.0.empty"));
    look_away(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_fill_any_box),
        cmocka_unit_test(cells_are_as_large_as_can_be),
        cmocka_unit_test(steps_go_to_neighbours),
        cmocka_unit_test(counts_equal_the_curves),
        cmocka_unit_test(fragments_are_idle_gpus_of_used_nodes),
        cmocka_unit_test(dump_counts_nodes_and_holders),
        cmocka_unit_test(without_gpus_it_says_what_to_do),
    };
    return cmocka_run_group_tests(tests, make_top, drop_top);
}
