/* test_run.c - a run written and read back, refused, replaced, damaged, and found in a tree.
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

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/str.h"
#include "run/metrics.h"
#include "tests/run/some_run.h"

static char top[] = "/tmp/trainyard-run-XXXXXX";
static struct arena arena;

static int make_top(void **state)
{
    (void)state;
    return mkdtemp(top) ? 0 : -1;
}

static int remove_top(void **state)
{
    struct diag d = {0};
    (void)state;
    bool ok = file_remove_tree(top, &d);
    diag_free(&d);
    arena_free(&arena);
    return ok ? 0 : -1;
}

static const char *below(const char *name)
{
    return path_join(&arena, top, name);
}

static void write_some(const char *dir, const struct run_meta *meta)
{
    char *err = NULL;
    struct ledger *l = some_ledger();
    struct run_writer *w = run_create(dir, meta, &err);
    if (!w) fail_msg("%s", err);
    put_some(w);
    assert_false(run_failing(w));
    if (!run_finish(w, RUN_COMPLETE, l, 100000000000, &err)) fail_msg("%s", err);
    ledger_destroy(l);
}

static struct run *open_good(const char *dir)
{
    char *err = NULL, *warnings = NULL;
    struct run *r = run_open(dir, &warnings, &err);
    if (!r) fail_msg("%s", err);
    if (warnings) fail_msg("%s", warnings);
    return r;
}

/* Opens a run that has something to warn of; gives the warnings, to free. */
static char *warnings_of(const char *dir)
{
    char *err = NULL, *warnings = NULL;
    struct run *r = run_open(dir, &warnings, &err);
    if (!r) fail_msg("%s", err);
    run_close(r);
    assert_non_null(warnings);
    return warnings;
}

static void must_warn(const char *dir, const char *of)
{
    char *warnings = warnings_of(dir);
    if (!strstr(warnings, of)) fail_msg("no \"%s\" in: %s", of, warnings);
    free(warnings);
}

static void must_fail(const char *dir, const char *with)
{
    char *err = NULL;
    assert_null(run_open(dir, NULL, &err));
    assert_non_null(err);
    if (!strstr(err, with)) fail_msg("no \"%s\" in: %s", with, err);
    free(err);
}

static char *text_of(const char *path)
{
    size_t n;
    struct diag d = {0};
    char *text = file_read(path, FILE_READ_MAX, &n, &d);
    if (!text) fail_msg("cannot read %s", path);
    diag_free(&d);
    return text;
}

static void put_text(const char *path, const char *text, size_t n)
{
    struct diag d = {0};
    assert_true(file_write_atomic(path, text, n, &d));
    diag_free(&d);
}

/* ---- rows ---- */

static void same_job(const struct run_job_view *v, const struct job_row *b)
{
    const struct job_row *a = &v->row;
    assert_string_equal(a->id, b->id ? b->id : "5");
    assert_int_equal(a->state, b->state);
    assert_true(a->gpu_shares == b->gpu_shares && a->submit_ns == b->submit_ns && a->admitted_ns == b->admitted_ns);
    assert_true(a->allocated_ns == b->allocated_ns && a->started_ns == b->started_ns);
    assert_true(a->finished_ns == b->finished_ns && a->ideal_ns == b->ideal_ns && a->priority == b->priority);
    assert_true(a->restarts == b->restarts && a->preemptions == b->preemptions);
    assert_true(a->work == b->work && a->redone == b->redone && a->held == b->held && a->recovery == b->recovery);
    assert_true(!a->work_by == !b->work_by && a->together == b->together);
    if (a->work_by) assert_memory_equal(a->work_by, b->work_by, N_WORK_ACTIVITIES * sizeof *a->work_by);
    assert_string_equal(a->team, b->team);
    assert_string_equal(a->queue, b->queue);
    assert_string_equal(a->kind, b->kind);
    assert_int_equal(a->n_nodes, b->n_nodes);
    if (a->n_nodes) assert_memory_equal(a->nodes, b->nodes, a->n_nodes * sizeof *a->nodes);
    for (int w = 0; w < N_WAIT_REASONS; w++) assert_true(v->waits[w] == (b->wait_ns ? b->wait_ns[w] : 0));
}

static void same_run(const struct run *a, const struct run *b)
{
    assert_int_equal(a->n_jobs, b->n_jobs);
    for (size_t i = 0; i < a->n_jobs; i++) same_job(&a->jobs[i], &b->jobs[i].row);
    assert_int_equal(a->n_ledger, b->n_ledger);
    for (size_t i = 0; i < a->n_ledger; i++) {
        const struct run_ledger_row *x = &a->ledger[i], *y = &b->ledger[i];
        assert_true(x->activity == y->activity && x->redone == y->redone && x->cause == y->cause && x->sum == y->sum);
        assert_string_equal(x->queue, y->queue);
        assert_string_equal(x->team, y->team);
        assert_string_equal(x->group, y->group);
        assert_string_equal(x->kind, y->kind);
    }
    for (size_t i = 0; i < metric_count(); i++) {
        struct metric_value x = metric_of(a, i), y = metric_of(b, i);
        assert_memory_equal(&x.value, &y.value, sizeof x.value);
        assert_int_equal(x.bound, y.bound);
    }
    assert_string_equal(a->fingerprint, b->fingerprint);
    assert_true(a->end_ns == b->end_ns && a->seed == b->seed && a->n_records == b->n_records);
}

static share_ns cell(const struct run *r, const char *group, enum activity a, bool redone)
{
    share_ns sum = 0;
    for (size_t i = 0; i < r->n_ledger; i++)
        if (str_equal(r->ledger[i].group, group) && r->ledger[i].activity == a && r->ledger[i].redone == redone)
            sum += r->ledger[i].sum;
    return sum;
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    struct run_meta meta = some_meta();
    const char *dir = below("plain");
    write_some(dir, &meta);
    struct run *r = open_good(dir);
    assert_int_equal(r->n_jobs, SOME_JOBS);
    for (int i = 0; i < SOME_JOBS; i++) {
        struct job_row expected = some_job(i);
        same_job(&r->jobs[i], &expected);
    }
    assert_int_equal(r->state, RUN_COMPLETE);
    assert_true(r->seed == UINT64_MAX);
    assert_int_equal(r->replication, 3);
    assert_string_equal(r->scenario_name, "some \"run\"");
    assert_int_equal(strlen(r->fingerprint), 32);
    assert_int_equal(r->n_records, SOME_RECORDS);
    assert_true(r->horizon_ns == -1 && r->end_ns == 100000000000);
    /* by hand from some_ledger: 16 x 100 and 4 x 90 GPU-s; share-ns are 10^12 times that */
    assert_true(r->groups[0].existing == (share_ns)1600 * 1000000000000u);
    assert_true(r->groups[1].existing == (share_ns)360 * 1000000000000u);
    assert_true(cell(r, "big", ACT_COMPUTE, false) == (share_ns)240 * 1000000000000u);
    assert_true(cell(r, "big", ACT_COMPUTE, true) == (share_ns)160 * 1000000000000u);
    assert_true(cell(r, "big", ACT_IMAGE_PULL, false) == (share_ns)8000 * 4999999999u);
    assert_true(cell(r, "small", ACT_REPAIR, false) == (share_ns)50 * 1000000000000u);
    assert_true(cell(r, "small", ACT_FREE, false) == (share_ns)310 * 1000000000000u);
    run_close(r);
    struct timeline_reader *t = timeline_open(dir, NULL);
    struct record record;
    int n = 0;
    while (timeline_next(t, &record)) assert_int_equal(record.time_ns, n++);
    assert_int_equal(n, SOME_RECORDS);
    assert_false(timeline_damaged(t, NULL));
    timeline_close(t);
}

static void text_is_as_documented(void **state)
{
    (void)state;
    struct run_meta meta = some_meta();
    const char *dir = below("text");
    write_some(dir, &meta);
    char *jobs = text_of(path_join(&arena, dir, "jobs.csv"));
    static const char head[] = "job,state,gpus,submit_s,admitted_s,allocated_s,started_s,finished_s,nodes,restarts,";
    assert_memory_equal(jobs, head, sizeof head - 1);
    assert_non_null(strstr(jobs, "\n\"a,b\",succeeded,0.5,0.000000001,0.000000002,5.000000001,10,60,0,1,2,vision,"
                                 "\"batch, \"\"night\"\"\",PyTorchJob,-1,50,240,1267650600228229401.496703205376,"
                                 "0.000000000001,0,0.000000001,0,"));
    assert_non_null(strstr(jobs, "\n\"say \"\"hi\"\"\",succeeded,8,"));
    assert_non_null(strstr(jobs, ",10,60,0 4-6,2,2,"));
    assert_non_null(strstr(jobs, "\n\" blank \",pending,8,0.000000003,,,,,0 4-6 4294967295,3,2,,,,-3,,"));
    free(jobs);
    char *ledger = text_of(path_join(&arena, dir, "ledger.csv"));
    static const char ledger_head[] = "class,activity,redone,cause,queue,team,group,kind,gpu_s\n";
    assert_memory_equal(ledger, ledger_head, sizeof ledger_head - 1);
    assert_non_null(strstr(ledger, "\nwork,compute,1,first,\"batch, \"\"night\"\"\",vision,big,PyTorchJob,160\n"));
    assert_non_null(strstr(ledger, "\nheld,image_pull,0,first,\"batch, \"\"night\"\"\",vision,big,PyTorchJob,"
                                   "39.999999992\n"));
    assert_non_null(strstr(ledger, "\ndown,repair,0,first,,,small,,50\n"));
    free(ledger);
    char *manifest = text_of(path_join(&arena, dir, "run.json"));
    assert_non_null(strstr(manifest, "\"seed\": 18446744073709551615,"));
    assert_non_null(strstr(manifest, "\"existing_gpu_s\": 1600"));
    assert_non_null(strstr(manifest, "\"horizon_s\": null,"));
    /* the pending job waits from 3 ns on, the others have waited for less */
    assert_non_null(strstr(manifest, "\"max_wait\": {\"value\": 99.999999997, \"unit\": \"s\", \"bound\": true}"));
    free(manifest);
}

/* ---- without a disk ---- */

static void no_directory_gives_the_same_run(void **state)
{
    (void)state;
    struct run_meta meta = some_meta();
    char *err = NULL;
    meta.keep_rows = true;
    struct ledger *l = some_ledger();
    struct run_writer *w = run_create(NULL, &meta, &err);
    put_some(w);
    run_flush(w);
    assert_true(run_attach(w, "scenario.json", "{}", 2, &err));
    struct run *memory = run_finish_open(w, RUN_COMPLETE, l, 100000000000, &err);
    write_some(below("disk"), &meta);
    struct run *disk = open_good(below("disk"));
    same_run(memory, disk);
    run_close(memory);
    run_close(disk);
    ledger_destroy(l);
}

static void metrics_need_no_kept_rows(void **state)
{
    (void)state;
    struct run_meta meta = some_meta();
    meta.record_level = RECORD_NONE;
    struct ledger *l = some_ledger();
    struct run_writer *w = run_create(NULL, &meta, NULL);
    put_some(w);
    struct run *r = run_finish_open(w, RUN_COMPLETE, l, 100000000000, NULL);
    assert_int_equal(r->n_jobs, 0);
    assert_true(metric_of(r, (size_t)metric_find("finished")).value == 4);
    assert_true(metric_of(r, (size_t)metric_find("jobs")).value == 5);
    run_close(r);
    ledger_destroy(l);
}

/* ---- refusals ---- */

static void an_existing_run_is_kept(void **state)
{
    (void)state;
    struct run_meta meta = some_meta();
    const char *dir = below("kept");
    char *err = NULL;
    write_some(dir, &meta);
    assert_null(run_create(dir, &meta, &err));
    assert_non_null(strstr(err, "holds a run already; give another directory, or --force"));
    free(err);
    run_close(open_good(dir));
    meta.force = true;
    meta.record_level = RECORD_NONE;
    write_some(dir, &meta);
    run_close(open_good(dir));
    assert_false(file_exists(path_join(&arena, dir, "timeline.bin")));
}

/* What a run would replace but did not write is never touched, with --force or without. */
static void files_of_others_are_kept(void **state)
{
    (void)state;
    static const char *const names[] = {"scenario.json", "jobs.csv", "run.json"};
    for (size_t i = 0; i < 3; i++)
        for (int force = 0; force < 2; force++) {
            struct run_meta meta = some_meta();
            struct diag d = {0};
            const char *dir = below(arena_printf(&arena, "others-%zu-%d", i, force));
            const char *file = path_join(&arena, dir, names[i]);
            char *err = NULL;
            size_t n;
            assert_true(file_make_dirs(dir, &d));
            put_text(file, "{\"mine\": 1}", 11);
            meta.force = force;
            assert_null(run_create(dir, &meta, &err));
            assert_non_null(strstr(err, "that is no run's"));
            free(err);
            char *text = file_read(file, 100, &n, &d);
            assert_string_equal(text, "{\"mine\": 1}");
            free(text);
            if (strcmp(names[i], "run.json") == 0) assert_false(run_prepare(dir, force, &err)), free(err);
            assert_true(file_exists(file));
            diag_free(&d);
        }
}

static void a_live_run_has_no_fingerprint(void **state)
{
    (void)state;
    struct run_meta meta = some_meta();
    meta.back_end = "host";
    write_some(below("live"), &meta);
    struct run *r = open_good(below("live"));
    assert_string_equal(r->fingerprint, "");
    run_close(r);
}

static void a_wrong_ledger_fails_the_run(void **state)
{
    (void)state;
    struct run_meta meta = some_meta();
    char *err = NULL;
    struct ledger *l = some_ledger();
    ledger_book(l, 0, ACT_COMPUTE, false, 1);
    struct run_writer *w = run_create(below("wrong"), &meta, &err);
    put_some(w);
    assert_false(run_finish(w, RUN_COMPLETE, l, 100000000000, &err));
    assert_non_null(strstr(err, "does not add up"));
    free(err);
    must_warn(below("wrong"), "the run has failed");
    ledger_destroy(l);
}

/* ---- damage ---- */

static void a_killed_run_is_read_so_far(void **state)
{
    (void)state;
    struct run_meta meta = some_meta();
    const char *dir = below("killed");
    struct run_writer *w = run_create(dir, &meta, NULL);
    put_some(w);
    run_flush(w);
    char *err = NULL, *warnings = NULL;
    struct run *r = run_open(dir, &warnings, &err);
    assert_int_equal(r->state, RUN_RUNNING);
    assert_int_equal(r->n_jobs, SOME_JOBS);
    assert_true(r->end_ns == 60000000000); /* the latest end among its rows */
    assert_non_null(strstr(warnings, "has not ended, or was killed"));
    free(warnings);
    run_close(r);
    struct timeline_reader *t = timeline_open(dir, NULL);
    struct record record;
    int n = 0;
    while (timeline_next(t, &record)) n++;
    assert_int_equal(n, SOME_RECORDS);
    timeline_close(t);
    run_finish(w, RUN_INTERRUPTED, NULL, 70000000000, NULL);
    must_warn(dir, "was interrupted");
}

static void damage_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *file, *from, *to, *warning;
    } rows[] = {
        {"jobs.csv",   "succeeded",    "succeedeD",    "was changed after the run"                      },
        {"jobs.csv",   "succeeded",    "succeedeD",    "state: \"succeedeD\" is not a state of a job"   },
        {"jobs.csv",   "10,60,0,",     "10,6x,0,",     "finished_s: \"6x\" is not a time in seconds"    },
        {"jobs.csv",   "0 4-6",        "0 6-4",        "nodes: \"0 6-4\" is not an interval set"        },
        {"jobs.csv",   "-1,50,240,",   "-1,50,24-,",   "work_gpu_s: \"24-\" is not GPU-seconds"         },
        {"jobs.csv",   ",finished_s",  ",finished_x",  "column \"finished_s\" is missing"               },
        {"jobs.csv",   "0.5,",         "0,5,",         "the row has"                                    },
        {"ledger.csv", ",160\n",       ",161\n",       "does not add up to the GPU-seconds that existed"},
        {"ledger.csv", "work,compute", "work,kompute", "activity: \"kompute\" is not an activity"       },
        {"ledger.csv", ",first,",      ",worst,",      "cause: \"worst\" is not a cause"                },
    };
    struct run_meta meta = some_meta();
    meta.force = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *dir = below("damaged"), *path = path_join(&arena, dir, rows[i].file);
        write_some(dir, &meta);
        char *text = text_of(path), *at = strstr(text, rows[i].from);
        assert_non_null(at);
        memcpy(at, rows[i].to, strlen(rows[i].to));
        put_text(path, text, strlen(text));
        free(text);
        must_warn(dir, rows[i].warning);
    }
}

static void cut_and_missing_files_are_named(void **state)
{
    (void)state;
    static const char *const files[] = {"jobs.csv", "ledger.csv", "timeline.bin"};
    struct run_meta meta = some_meta();
    meta.force = true;
    for (int i = 0; i < 3; i++) {
        const char *dir = below("cut"), *path = path_join(&arena, dir, files[i]);
        write_some(dir, &meta);
        assert_int_equal(truncate(path, 100), 0);
        must_warn(dir, "is shorter than run.json says: cut off");
        assert_int_equal(unlink(path), 0);
        must_warn(dir, "No such file or directory");
    }
}

static void manifests_that_are_none(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"",                                            "run.json"                                              },
        {"[]",                                          "run.json:1: "                                          },
        {"{\"name\": 1}",                               "it has no \"trainyard_run\""                           },
        {"{\"trainyard_run\": 2}",                      "format 2 of a run; this version (0.1.0) reads format 1"},
        {"{\"trainyard_run\": -1}",                     "must be a whole number"                                },
        {"{\"trainyard_run\": 1}",                      "state"                                                 },
        {"{\"trainyard_run\": 1, \"state\": \"done\"}", "interrupted"                                           },
    };
    struct run_meta meta = some_meta();
    write_some(below("manifest"), &meta);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_text(below("manifest/run.json"), rows[i].text, strlen(rows[i].text));
        must_fail(below("manifest"), rows[i].error);
    }
    must_fail(top, "there is no run here: no run.json");
    must_fail(below("manifest/run.json"), "is a file; give the directory of the run");
}

/* ---- trees ---- */

static void trees_are_listed_in_order(void **state)
{
    (void)state;
    static const struct {
        const char *dir, *approach;
        uint32_t index, replication;
    } leaves[] = {
        {"tree/strict/10",  "strict",   1, 10},
        {"tree/strict/9",   "strict",   1, 9 },
        {"tree/operator/2", "operator", 0, 2 },
        {"tree/operator/1", "operator", 0, 1 },
        {"tree/actor",      "actor",    2, 1 }
    };
    static const int order[] = {3, 2, 1, 0, 4};
    struct run_list list;
    char *err = NULL;
    for (size_t i = 0; i < 5; i++) {
        struct run_meta meta = some_meta();
        meta.approach = leaves[i].approach;
        meta.approach_index = leaves[i].index;
        meta.replication = leaves[i].replication;
        write_some(below(leaves[i].dir), &meta);
    }
    assert_true(run_tree(below("tree"), &list, &err));
    assert_int_equal(list.n, 5);
    for (size_t i = 0; i < 5; i++) assert_string_equal(list.dirs[i], below(leaves[order[i]].dir));
    run_list_free(&list);
    assert_true(run_tree(below("tree/operator"), &list, &err));
    assert_int_equal(list.n, 2);
    run_list_free(&list);
    assert_true(run_tree(below("tree/operator/1"), &list, &err));
    assert_int_equal(list.n, 1);
    run_list_free(&list);

    assert_false(run_prepare(below("tree"), false, &err));
    assert_non_null(strstr(err, "holds 5 runs already"));
    free(err);
    put_text(below("tree/operator/notes.txt"), "mine", 4);
    assert_true(run_prepare(below("tree"), true, &err));
    assert_true(file_exists(below("tree/operator/notes.txt")));
    assert_false(file_exists(below("tree/operator/1")));
    assert_false(file_exists(below("tree/strict")));
    assert_true(run_prepare(below("tree"), false, &err));
    assert_true(run_prepare(below("new/deep"), false, &err));
    assert_true(file_is_dir(below("new/deep")));
}

static void trees_without_a_run(void **state)
{
    (void)state;
    struct diag d = {0};
    assert_true(file_make_dirs(below("foreign/a/b"), &d));
    diag_free(&d);
    put_text(below("foreign/a/b/c.txt"), "x", 1);
    static const struct {
        const char *dir, *error;
    } rows[] = {
        {"foreign",           "there is no run here: no run.json, nor one or two levels below"},
        {"foreign/a/b/c.txt", "is a file"                                                     },
        {"nowhere",           "No such file or directory"                                     }
    };
    for (int i = 0; i < 3; i++) {
        struct run_list list;
        char *err = NULL;
        assert_false(run_tree(below(rows[i].dir), &list, &err));
        if (!strstr(err, rows[i].error)) fail_msg("%s", err);
        assert_null(list.dirs);
        free(err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(text_is_as_documented),
        cmocka_unit_test(no_directory_gives_the_same_run),
        cmocka_unit_test(metrics_need_no_kept_rows),
        cmocka_unit_test(an_existing_run_is_kept),
        cmocka_unit_test(files_of_others_are_kept),
        cmocka_unit_test(a_live_run_has_no_fingerprint),
        cmocka_unit_test(a_wrong_ledger_fails_the_run),
        cmocka_unit_test(a_killed_run_is_read_so_far),
        cmocka_unit_test(damage_is_named),
        cmocka_unit_test(cut_and_missing_files_are_named),
        cmocka_unit_test(manifests_that_are_none),
        cmocka_unit_test(trees_are_listed_in_order),
        cmocka_unit_test(trees_without_a_run),
    };
    return cmocka_run_group_tests(tests, make_top, remove_top);
}
