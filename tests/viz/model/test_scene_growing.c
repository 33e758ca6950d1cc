/* test_scene_growing.c - a scene that follows a run equals one that is opened later, wherever it was looked at in between, and so do its levels of
 * detail and its curves, which were only extended; and no file, however broken, is worse than a note.
 *
 * A run that grows is played by copying prefixes of a finished one, cut at any byte, as a process that is killed or still writing leaves them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/mem.h"
#include "run/timeline.h"
#include "tests/viz/model/runs.h"
#include "viz/model/curves.h"
#include "viz/model/lod.h"
#include "viz/model/scene.h"

static char top[] = "/tmp/trainyard-growing-XXXXXX";

static uint64_t draw(uint64_t *x, uint64_t n)
{
    *x = *x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*x >> 20) % n;
}

/* ---- files ---- */

struct bytes { char *v; size_t n; };

static struct bytes read_bytes(const char *dir, const char *name)
{
    struct diag d = {0};
    struct bytes b = {0};
    b.v = file_read(below(dir, name), FILE_READ_MAX, &b.n, &d);
    diag_free(&d);
    return b;
}

static void write_bytes(const char *dir, const char *name, const char *v, size_t n)
{
    FILE *f = fopen(below(dir, name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(v, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* Replaced as a whole, as run.json is. */
static void replace(const char *dir, const char *name, const char *v, size_t n)
{
    struct diag d = {0};
    assert_true(file_write_atomic(below(dir, name), v, n, &d));
    diag_free(&d);
}

static void make_dir(const char *dir)
{
    struct diag d = {0};
    assert_true(file_make_dirs(dir, &d));
    diag_free(&d);
}

/* run.json of the same run before it ended. */
static void write_running(const char *dir, const struct bytes *manifest)
{
    struct str s = {0};
    const char *state = strstr(manifest->v, "\"complete\""), *files = strstr(manifest->v, "\"files\""), *end = strstr(manifest->v, "\"end_s\"");
    assert_true(state && files && end && state < end && end < files);
    str_append_n(&s, manifest->v, (size_t)(state - manifest->v));
    str_append(&s, "\"running\"");
    state += strlen("\"complete\"");
    str_append_n(&s, state, (size_t)(end - state));
    str_append(&s, "\"end_s\": null,\n  \"groups\": [],\n  \"files\": {}\n}\n");
    replace(dir, "run.json", s.s, s.n);
    str_free(&s);
}

/* ---- equal scenes ---- */

static void assert_equal_tracks(const struct scene *a, const struct scene *b, enum scene_set set)
{
    assert_int_equal(a->n_tracks[set], b->n_tracks[set]);
    for (uint32_t t = 0; t < a->n_tracks[set]; t++) {
        const struct scene_track *x = &a->tracks[set][t], *y = &b->tracks[set][t];
        assert_int_equal(x->n, y->n);
        if (x->n) assert_memory_equal(x->v, y->v, x->n * sizeof *x->v);
    }
}

static void assert_equal_jobs(const struct scene *a, const struct scene *b)
{
    assert_int_equal(a->n_jobs, b->n_jobs);
    for (uint32_t i = 0; i < a->n_jobs; i++) {
        const struct scene_job *x = &a->jobs[i], *y = &b->jobs[i];
        assert_string_equal(x->id, y->id);
        assert_string_equal(x->team, y->team);
        assert_string_equal(x->queue, y->queue);
        assert_string_equal(x->kind, y->kind);
        assert_int_equal(x->state, y->state);
        assert_int_equal(x->submit_ns, y->submit_ns);
        assert_int_equal(x->started_ns, y->started_ns);
        assert_int_equal(x->finished_ns, y->finished_ns);
        assert_int_equal(x->restarts, y->restarts);
        assert_int_equal(x->preemptions, y->preemptions);
        assert_int_equal(x->n_events, y->n_events);
        assert_true(!x->row == !y->row);
    }
}

static void assert_equal_scenes(const struct scene *a, const struct scene *b)
{
    assert_int_equal(a->end_ns, b->end_ns);
    assert_int_equal(a->growing, b->growing);
    assert_int_equal(a->n_events, b->n_events);
    assert_int_equal(a->n_spans, b->n_spans);
    if (a->n_events) assert_memory_equal(a->events, b->events, a->n_events * sizeof *a->events);
    if (a->n_events) assert_memory_equal(a->blockers, b->blockers, a->n_events * sizeof *a->blockers);
    assert_equal_jobs(a, b);
    for (enum scene_set set = 0; set < N_SCENE_SETS; set++) assert_equal_tracks(a, b, set);
    assert_string_equal(a->notes ? a->notes : "", b->notes ? b->notes : "");
}

/* ---- equal levels of detail and curves, looked at anywhere ---- */

struct views {
    struct lod *lod[N_SCENE_SETS];
    struct curves *curves;
};

static struct views views_of(const struct scene *s)
{
    struct views v = {.curves = curves_create(s)};
    for (enum scene_set set = 0; set < N_SCENE_SETS; set++) v.lod[set] = lod_create(s, set);
    return v;
}

static void views_update(const struct views *v)
{
    for (enum scene_set set = 0; set < N_SCENE_SETS; set++) lod_update(v->lod[set]);
    curves_update(v->curves);
}

static void views_free(struct views *v)
{
    for (enum scene_set set = 0; set < N_SCENE_SETS; set++) lod_destroy(v->lod[set]);
    curves_destroy(v->curves);
}

static void assert_equal_rows(const struct scene *s, enum scene_set set, const struct lod *a, const struct lod *b, uint64_t *x)
{
    enum { WIDTH = 1000 };
    struct lod_cell p[WIDTH], q[WIDTH];
    if (!s->n_tracks[set]) return;
    uint32_t first = (uint32_t)draw(x, s->n_tracks[set]), n = 1 + (uint32_t)draw(x, 1 + draw(x, s->n_tracks[set]));
    unsigned width = 1 + (unsigned)draw(x, WIDTH);
    int64_t length = (s->end_ns >> draw(x, 12)) + 1, from = draw(x, 2) ? s->end_ns - length : (int64_t)draw(x, (uint64_t)s->end_ns);
    lod_row(a, first, n, from, from + length, width, p);
    lod_row(b, first, n, from, from + length, width, q);
    for (unsigned i = 0; i < width; i++)
        if (memcmp(&p[i], &q[i], sizeof p[i]))
            fail_msg("set %d, tracks %u + %u, from %lld for %lld: cell %u of %u differs: show %u/%u, taken %u/%u, job %d/%d", (int)set, first, n,
                     (long long)from, (long long)length, i, width, p[i].show, q[i].show, p[i].taken, q[i].taken, p[i].job, q[i].job);
}

static void assert_equal_curves(const struct scene *s, const struct curves *a, const struct curves *b, uint64_t *x)
{
    enum { COLUMNS = 40 };
    struct curve_column p[COLUMNS], q[COLUMNS];
    int64_t length = (s->end_ns >> draw(x, 8)) + 1, from = draw(x, 2) ? s->end_ns - length / 2 : (int64_t)draw(x, (uint64_t)s->end_ns);
    for (unsigned id = 0; id < N_CURVES; id++) {
        assert_int_equal(curve_known(a, id), curve_known(b, id));
        curve_columns(a, id, from, from + length, COLUMNS, p);
        curve_columns(b, id, from, from + length, COLUMNS, q);
        assert_memory_equal(p, q, sizeof p);
        assert_true(curve_most(a, id) == curve_most(b, id));
        assert_int_equal(curve_above(a, id, curve_most(a, id) / 2, from), curve_above(b, id, curve_most(a, id) / 2, from));
        assert_true(curve_integral(a, id, from, from + length) == curve_integral(b, id, from, from + length));
    }
}

/* Those that were extended, and those made now of the same scene. */
static void assert_equal_views(const struct scene *s, const struct views *v, uint64_t *x)
{
    enum { QUESTIONS = 60 };
    struct views made = views_of(s);
    for (int i = 0; i < QUESTIONS; i++)
        for (enum scene_set set = 0; set < N_SCENE_SETS; set++) assert_equal_rows(s, set, v->lod[set], made.lod[set], x);
    for (int i = 0; i < 5; i++) assert_equal_curves(s, v->curves, made.curves, x);
    views_free(&made);
}

/* ---- growing ---- */

struct play {
    const char *from, *to;
    struct bytes manifest, scenario, timeline, jobs, ledger;
};

static struct play play_begin(const char *from, const char *to)
{
    struct play p = {from, to, read_bytes(from, "run.json"), read_bytes(from, "scenario.json"), read_bytes(from, "timeline.bin"),
                     read_bytes(from, "jobs.csv"), read_bytes(from, "ledger.csv")};
    make_dir(to);
    write_running(to, &p.manifest);
    return p;
}

static void play_free(struct play *p)
{
    free(p->manifest.v);
    free(p->scenario.v);
    free(p->timeline.v);
    free(p->jobs.v);
    free(p->ledger.v);
}

static void play_end(const struct play *p)
{
    write_bytes(p->to, "timeline.bin", p->timeline.v, p->timeline.n);
    write_bytes(p->to, "jobs.csv", p->jobs.v, p->jobs.n);
    write_bytes(p->to, "ledger.csv", p->ledger.v, p->ledger.n);
    replace(p->to, "run.json", p->manifest.v, p->manifest.n);
}

/* Whole rows, since a row that is being written may be read as a shorter one. */
static size_t whole_rows(const struct bytes *b, size_t n)
{
    while (n > 0 && b->v[n - 1] != '\n') n--;
    return n;
}

static void follow(const char *from, const char *to, uint64_t seed, bool with_scenario)
{
    struct play p = play_begin(from, to);
    size_t timeline = 0, jobs = 0, cuts = 1 + draw(&seed, 12);
    if (with_scenario) write_bytes(to, "scenario.json", p.scenario.v, p.scenario.n);
    if (draw(&seed, 2)) write_bytes(to, "jobs.csv", p.jobs.v, whole_rows(&p.jobs, p.jobs.n / 50 + 600));
    struct scene *s = scene_open(to, NULL);
    assert_non_null(s);
    struct views v = views_of(s);
    for (size_t i = 0; i < cuts; i++) {
        timeline += draw(&seed, p.timeline.n - timeline + 1);
        jobs += draw(&seed, p.jobs.n - jobs + 1);
        write_bytes(to, "timeline.bin", p.timeline.v, timeline);
        write_bytes(to, "jobs.csv", p.jobs.v, whole_rows(&p.jobs, jobs));
        uint64_t version = s->version;
        bool news = scene_poll(s);
        assert_true(news == (s->version != version));
        assert_true(s->growing);
        struct scene *fresh = scene_open(to, NULL);
        assert_equal_scenes(s, fresh);
        if (draw(&seed, 6)) { /* else a version is missed, and they are made anew at the next */
            views_update(&v);
            assert_equal_views(s, &v, &seed);
            struct curves *c = curves_create(fresh);
            assert_equal_curves(s, v.curves, c, &seed);
            curves_destroy(c);
        }
        scene_close(fresh);
        assert_false(scene_poll(s));
    }
    play_end(&p);
    assert_true(scene_poll(s));
    assert_false(s->growing);
    assert_false(scene_poll(s));
    struct scene *fresh = scene_open(to, NULL);
    assert_equal_scenes(s, fresh);
    views_update(&v);
    assert_equal_views(s, &v, &seed);
    struct str out = {0};
    if (with_scenario && !scene_check(s, &out)) fail_msg("%s", str_text(&out));
    str_free(&out);
    views_free(&v);
    scene_close(fresh);
    scene_close(s);
    play_free(&p);
}

static void test_growing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        if (run_any(seed, ANY_ALL, seed % 2 ? "one" : "two", below(top, "whole"), RECORD_FULL)) {
            follow(below(top, "whole"), below(top, "part"), seed, true);
            remove_top(below(top, "part"));
            follow(below(top, "whole"), below(top, "part"), seed, false);
        }
        remove_top(below(top, "whole"));
        remove_top(below(top, "part"));
    }
}

/* With so many spans a GPU that there are buckets, of every width. */
static void test_growing_long(void **state)
{
    static const char *const approaches[] = {"operator", "actor"};
    (void)state;
    for (uint64_t i = 0; i < 2; i++) {
        assert_true(run_file("scenarios/demo.json", approaches[i], below(top, "whole"), RECORD_FULL));
        follow(below(top, "whole"), below(top, "part"), i + 5, true);
        remove_top(below(top, "whole"));
        remove_top(below(top, "part"));
    }
}

/* ---- broken ---- */

static void copy_run(const struct play *p)
{
    write_bytes(p->to, "scenario.json", p->scenario.v, p->scenario.n);
    play_end(p);
}

static char *notes_of(const char *dir)
{
    char *err = NULL;
    struct scene *s = scene_open(dir, &err);
    if (!s) return err;
    struct lod *l = lod_create(s, SCENE_GPUS);
    struct curves *c = curves_create(s);
    struct lod_cell cells[10];
    struct str out = {0};
    lod_row(l, 0, 3, 0, s->end_ns, 10, cells);
    scene_check(s, &out);
    str_clear(&out);
    for (uint32_t i = 0; i < s->n_events; i++) {
        scene_event_text(s, &s->events[i], &out);
        scene_blocker(s, s->events[i].job, s->events[i].time_ns);
    }
    char *notes = xstrdup(s->notes ? s->notes : "");
    str_free(&out);
    curves_destroy(c);
    lod_destroy(l);
    scene_close(s);
    return notes;
}

static void assert_says(const char *dir, const char *word)
{
    char *notes = notes_of(dir);
    if (!notes || !strstr(notes, word)) fail_msg("\"%s\" is not in: %s", word, notes ? notes : "nothing");
    free(notes);
}

static void test_broken(void **state)
{
    static const char foreign[] = "{ \"name\": \"x\", \"cluster\": 7 }";
    const char *dir = below(top, "broken"), *good = below(top, "good");
    (void)state;
    assert_true(run_file("scenarios/quotas.json", NULL, good, RECORD_FULL));
    struct play p = play_begin(good, dir);
    assert_says(below(top, "nowhere"), "no run");
    assert_says(dir, "has not ended");
    copy_run(&p);
    assert_says(dir, "");

    write_bytes(dir, "timeline.bin", p.timeline.v, p.timeline.n / 2);
    assert_says(dir, "cut off");
    write_bytes(dir, "timeline.bin", p.timeline.v, 10);
    assert_says(dir, "header");
    write_bytes(dir, "timeline.bin", "", 0);
    assert_says(dir, "timeline.bin");
    p.timeline.v[p.timeline.n / 2] ^= 1;
    write_bytes(dir, "timeline.bin", p.timeline.v, p.timeline.n);
    p.timeline.v[p.timeline.n / 2] ^= 1;
    assert_says(dir, "is shown");
    remove(below(dir, "timeline.bin"));
    assert_says(dir, "timeline.bin");
    copy_run(&p);

    write_bytes(dir, "scenario.json", foreign, sizeof foreign - 1);
    assert_says(dir, "one rack");
    remove(below(dir, "scenario.json"));
    assert_says(dir, "one rack");
    copy_run(&p);

    write_bytes(dir, "jobs.csv", p.jobs.v, p.jobs.n / 2);
    assert_says(dir, "jobs.csv");
    remove(below(dir, "jobs.csv"));
    assert_says(dir, "jobs.csv");
    copy_run(&p);
    remove(below(dir, "ledger.csv"));
    assert_says(dir, "ledger.csv");
    copy_run(&p);

    write_bytes(dir, "run.json", foreign, sizeof foreign - 1);
    assert_says(dir, "run.json");
    write_bytes(dir, "run.json", "", 0);
    assert_says(dir, "run.json");
    play_free(&p);
}

/* Without a scenario the same GPUs are held for as long: only names and racks are lost. */
static void test_guessed_cluster(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        if (run_any(seed, ANY_ALL, "one", below(top, "guess"), RECORD_FULL)) {
            struct scene *known = scene_open(below(top, "guess"), NULL);
            remove(below(below(top, "guess"), "scenario.json"));
            struct scene *s = scene_open(below(top, "guess"), NULL);
            struct curves *a = curves_create(known), *b = curves_create(s);
            assert_int_equal(s->n_racks, 1);
            assert_true(curve_integral(a, CURVE_SHOW + SHOW_WORK, 0, s->end_ns) >= curve_integral(b, CURVE_SHOW + SHOW_WORK, 0, s->end_ns));
            assert_true(s->n_jobs == known->n_jobs);
            curves_destroy(a);
            curves_destroy(b);
            scene_close(s);
            scene_close(known);
        }
        remove_top(below(top, "guess"));
    }
}

/* ---- hostile records ---- */

static void test_hostile(void **state)
{
    const char *dir = below(top, "hostile");
    (void)state;
    assert_true(run_file("scenarios/fifo-or-skip.json", NULL, dir, RECORD_FULL));
    for (uint64_t seed = 1; seed <= 120; seed++) {
        uint64_t x = seed;
        if (seed == 90) remove(below(dir, "scenario.json"));
        remove(below(dir, "timeline.bin"));
        struct timeline_written written;
        struct timeline_writer *t = timeline_begin(below(dir, "timeline.bin"), RECORD_FULL, NULL);
        static const int64_t numbers[] = {0, 1, -1, 2, 3, 7, 1000, INT32_MAX, INT64_MAX, INT64_MIN, UINT32_MAX, INT64_C(5) << 32, INT64_C(1) << 32 | 1};
        enum { N = sizeof numbers / sizeof *numbers };
        for (int i = 0; i < 300; i++)
            timeline_put(t, &(struct record){.time_ns = draw(&x, 3) ? (int64_t)draw(&x, 1000000) : numbers[draw(&x, N)],
                                             .type = (uint16_t)draw(&x, N_RECORD_TYPES), .code = (uint16_t)(draw(&x, 2) ? draw(&x, 30) : draw(&x, 65536)),
                                             .job = draw(&x, 3) ? (int32_t)draw(&x, 5) : (int32_t)numbers[draw(&x, N)],
                                             .subject = draw(&x, 3) ? (uint32_t)draw(&x, 5) : (uint32_t)numbers[draw(&x, N)],
                                             .a = numbers[draw(&x, N)], .b = numbers[draw(&x, N)]});
        assert_true(timeline_end(t, &written, NULL));
        free(notes_of(dir));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_growing), cmocka_unit_test(test_growing_long), cmocka_unit_test(test_broken), cmocka_unit_test(test_guessed_cluster),
                                       cmocka_unit_test(test_hostile)};
    if (!mkdtemp(top)) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_top(top);
    return failed;
}
