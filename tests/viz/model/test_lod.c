/* test_lod.c - no zoom hides a failure, and what is painted covers what is taken.
 *
 * Expected: each span looked at by itself. The runs are random ones, so that GPUs are shared, fail, and are down; and a long one, so that
 * buckets are read.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "tests/viz/model/runs.h"
#include "viz/model/lod_parts.h"

enum { MOST_WIDTH = 2000 };

static char top[] = "/tmp/trainyard-lod-XXXXXX";

static uint64_t draw(uint64_t *x, uint64_t n)
{
    *x = *x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*x >> 20) % n;
}

struct query { uint32_t first, n; int64_t from, to; unsigned width; };

/* GPU time of the tracks in the window, in cells of one track; failures must be near where they are. */
static double look_at_spans(const struct scene *s, enum scene_set set, const struct query *q, const struct lod_cell *cells)
{
    double sum = 0, scale = q->width / (double)(q->to - q->from);
    for (uint32_t t = q->first; t < q->first + q->n && t < s->n_tracks[set]; t++)
        for (uint32_t i = 0; i < s->tracks[set][t].n; i++) {
            const struct scene_span *v = &s->tracks[set][t].v[i];
            int64_t from = v->from_ns > q->from ? v->from_ns : q->from, to = scene_to(s, v) < q->to ? scene_to(s, v) : q->to;
            if (from >= to) continue;
            sum += (double)(to - from) * scale * (set == SCENE_JOBS ? 1 : v->shares / 1000.0);
            if (failure_of(v->show) == SHOW_NOTHING) continue;
            int64_t a = (int64_t)((double)(from - q->from) * scale) - 1, b = (int64_t)((double)(to - q->from) * scale) + 1, seen = 0;
            for (int64_t c = a < 0 ? 0 : a; c <= b && c < q->width; c++) seen += cells[c].failure != SHOW_NOTHING;
            if (!seen) fail_msg("track %u, span %u (%s) is not seen from %lld to %lld, width %u", t, i, show_name(v->show),
                                (long long)q->from, (long long)q->to, q->width);
        }
    return sum;
}

static void assert_cells(const struct scene *s, enum scene_set set, const struct query *q, const struct lod_cell *cells)
{
    double shown = 0, spans = look_at_spans(s, set, q, cells);
    uint32_t tracks = q->n < s->n_tracks[set] - q->first ? q->n : s->n_tracks[set] - q->first;
    for (unsigned c = 0; c < q->width; c++) {
        shown += cells[c].taken / 255.0;
        assert_true((cells[c].taken == 0) == (cells[c].show == SHOW_NOTHING));
        assert_true(cells[c].show == SHOW_NOTHING || cells[c].show < N_SHOWS);
        assert_true(cells[c].job == NO_JOB || (uint32_t)cells[c].job < s->n_jobs);
    }
    /* rounding to 1/255, at least 1, a cell; a bucket at either end */
    if (fabs(shown - spans / tracks) > q->width / 255.0 + 2)
        fail_msg("tracks %u + %u from %lld to %lld, width %u: cells show %g, spans take %g", q->first, q->n, (long long)q->from,
                 (long long)q->to, q->width, shown, spans / tracks);
}

static void ask(const struct scene *s, struct lod *l, enum scene_set set, uint64_t *x)
{
    struct lod_cell cells[MOST_WIDTH];
    int64_t length = s->end_ns >> draw(x, 24);
    struct query q = {.first = (uint32_t)draw(x, s->n_tracks[set]), .n = 1 + (uint32_t)draw(x, 1 + draw(x, 70)), .width = 1 + (unsigned)draw(x, MOST_WIDTH)};
    if (length < 1) length = 1;
    if (draw(x, 2)) q.first &= ~3u;
    q.from = (int64_t)draw(x, (uint64_t)s->end_ns);
    q.to = q.from + length;
    if (draw(x, 8) == 0) q.from -= length / 3;
    lod_row(l, q.first, q.n, q.from, q.to, q.width, cells);
    assert_cells(s, set, &q, cells);
}

static void check_dir(const char *dir, uint64_t seed, int questions)
{
    struct scene *s = scene_open(dir, NULL);
    assert_non_null(s);
    for (enum scene_set set = 0; set < N_SCENE_SETS; set++) {
        struct lod *l = lod_create(s, set);
        for (int i = 0; i < questions && s->n_tracks[set]; i++) ask(s, l, set, &seed);
        lod_destroy(l);
    }
    scene_close(s);
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        if (run_any(seed, ANY_ALL, "two", below(top, "any"), RECORD_FULL)) check_dir(below(top, "any"), seed, 200);
        remove_top(below(top, "any"));
    }
}

static void test_long(void **state)
{
    (void)state;
    assert_true(run_file("scenarios/demo.json", "actor", below(top, "demo"), RECORD_FULL));
    check_dir(below(top, "demo"), 1, 600);
    remove_top(below(top, "demo"));
}

/* One job on 2 GPUs of 4 from 0 to 100 s, of which 25 s to bring up: cells of 10 s are known by hand. */
static void test_by_hand(void **state)
{
    static const char text[] =
        "{ \"trainyard\": 1, \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": 1, \"gpus\": 4 } ] },"
        "  \"workload\": { \"jobs\": [ { \"id\": \"j\", \"kind\": \"train\", \"replicas\": 1, \"gpus\": 2, \"submit\": 20, \"duration\": 55 } ] },"
        "  \"approaches\": { \"a\": { \"lifecycle\": \"none\", \"admission\": \"fifo\", \"placement\": \"first\" } }, \"run\": { \"horizon\": 100 } }";
    struct diag d = {0};
    struct lod_cell c[10];
    (void)state;
    struct scenario *sc = scenario_parse("hand.json", text, sizeof text - 1, NULL, &d);
    if (!sc) diag_print(&d, stderr);
    assert_non_null(sc);
    assert_true(run_scenario(sc, below(top, "hand"), RECORD_FULL));
    struct scene *s = scene_open(below(top, "hand"), NULL);
    struct lod *l = lod_create(s, SCENE_GPUS);
    lod_row(l, 0, 1, 0, 100 * INT64_C(1000000000), 10, c);
    assert_int_equal(c[1].show, SHOW_NOTHING);
    assert_int_equal(c[2].show, SHOW_WORK);
    assert_int_equal(c[2].taken, 255);
    assert_int_equal(c[7].taken, 128); /* to 75 s */
    assert_int_equal(c[8].taken, 0);
    lod_row(l, 0, 4, 0, 100 * INT64_C(1000000000), 10, c);
    assert_int_equal(c[2].taken, 128); /* 2 of 4 GPUs */
    assert_int_equal(c[2].job, 0);
    assert_int_equal(c[2].many, 0);
    assert_int_equal(c[2].failure, SHOW_NOTHING);
    lod_row(l, 2, 2, 0, 100 * INT64_C(1000000000), 10, c);
    assert_int_equal(c[2].show, SHOW_NOTHING);
    lod_row(l, 7, 2, 0, 100 * INT64_C(1000000000), 10, c);
    assert_int_equal(c[2].show, SHOW_NOTHING);
    lod_destroy(l);
    scene_close(s);
    scenario_free(sc);
    diag_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_by_hand), cmocka_unit_test(test_random), cmocka_unit_test(test_long)};
    if (!mkdtemp(top)) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_top(top);
    return failed;
}
