/* test_blocker.c - who let a job go on: schedules that can be worked out by hand, and random runs against the rule read backwards.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "run/timeline.h"
#include "run/wait.h"
#include "study/blocker.h"
#include "study/explain.h"
#include "tests/viz/model/runs.h"

static char top[] = "/tmp/trainyard-blocker-XXXXXX";

/* ---- by hand ---- */

enum { MOST = 16 };
struct told { /* a record, and to whom it is due */
    int64_t ns;
    int32_t job;
    uint16_t type, code;
    int64_t a;
    int32_t by;
    int64_t at; /* of the release */
};

#define RUNS(j, t) {t, j, REC_JOB_SUBMITTED, 0, 0, NO_JOB, 0}, {t, j, REC_JOB_ADMITTED, 0, 0, NO_JOB, 0}, {t, j, REC_JOB_ALLOCATED, 0, 0, NO_JOB, 0}

static const struct {
    const char *what;
    struct told v[MOST];
} plays[] = {
    {"the end of another lets it in", {RUNS(0, 0), {1, 1, REC_JOB_SUBMITTED, 0, 0, NO_JOB, 0}, {9, 0, REC_JOB_FINISHED, 0, 0, NO_JOB, 0},
                                       {9, 1, REC_JOB_ADMITTED, 0, 0, 0, 9}, {9, 1, REC_JOB_ALLOCATED, 0, 0, NO_JOB, 0}}},
    {"the last of two, and its moment", {RUNS(0, 0), RUNS(1, 0), {1, 2, REC_JOB_SUBMITTED, 0, 0, NO_JOB, 0}, {5, 1, REC_JOB_FINISHED, 0, 0, NO_JOB, 0},
                                         {7, 0, REC_JOB_STOPPED, 0, 0, NO_JOB, 0}, {9, 2, REC_JOB_ADMITTED, 0, 0, 0, 7}}},
    {"what is let go before the wait is none", {RUNS(0, 0), {4, 0, REC_JOB_FINISHED, 0, 0, NO_JOB, 0}, {4, 1, REC_JOB_SUBMITTED, 0, 0, NO_JOB, 0},
                                                {5, 1, REC_JOB_ADMITTED, 0, 0, NO_JOB, 0}}},
    {"nor what is let go behind it, at one instant", {RUNS(0, 0), {1, 1, REC_JOB_SUBMITTED, 0, 0, NO_JOB, 0}, {9, 1, REC_JOB_ADMITTED, 0, 0, NO_JOB, 0},
                                                      {9, 0, REC_JOB_FINISHED, 0, 0, NO_JOB, 0}}},
    {"who never had GPUs lets none go", {{0, 0, REC_JOB_SUBMITTED, 0, 0, NO_JOB, 0}, {1, 1, REC_JOB_SUBMITTED, 0, 0, NO_JOB, 0},
                                         {5, 0, REC_JOB_FINISHED, 0, 0, NO_JOB, 0}, {9, 1, REC_JOB_ADMITTED, 0, 0, NO_JOB, 0}}},
    {"a gang waits across a retry of the scheduler", {RUNS(0, 0), {1, 1, REC_JOB_SUBMITTED, 0, 0, NO_JOB, 0}, {1, 1, REC_JOB_ADMITTED, 0, 0, NO_JOB, 0},
                                                      {2, 1, REC_JOB_WAIT, WAIT_GANG, NO_JOB, NO_JOB, 0}, {3, 0, REC_JOB_FINISHED, 0, 0, NO_JOB, 0},
                                                      {4, 1, REC_JOB_WAIT, WAIT_SCHEDULER_BACKOFF, NO_JOB, NO_JOB, 0},
                                                      {6, 1, REC_JOB_ALLOCATED, 0, 0, 0, 3}, {6, 1, REC_JOB_WAIT, WAIT_IMAGE, NO_JOB, NO_JOB, 0}}},
    {"an end ends a wait by nobody", {RUNS(0, 0), {1, 1, REC_JOB_SUBMITTED, 0, 0, NO_JOB, 0}, {5, 0, REC_JOB_FINISHED, 0, 0, NO_JOB, 0},
                                      {6, 1, REC_JOB_FINISHED, JOB_CANCELLED, 0, NO_JOB, 0}}},
    {"who is taken off is told by whom; back in its queue it waits for that one", {RUNS(0, 0), {5, 1, REC_JOB_SUBMITTED, 0, 0, NO_JOB, 0},
                                      {5, 0, REC_JOB_EVICTED, STOP_PREEMPTED, 1, 1, 5}, {5, 0, REC_JOB_WAIT, WAIT_PREEMPTED, NO_JOB, NO_JOB, 0},
                                      {6, 1, REC_JOB_ADMITTED, 0, 0, 0, 5}, {6, 1, REC_JOB_ALLOCATED, 0, 0, NO_JOB, 0},
                                      {7, 0, REC_JOB_WAIT, WAITS_IN_CLASS, NO_JOB, NO_JOB, 0}, {20, 1, REC_JOB_FINISHED, 0, 0, NO_JOB, 0},
                                      {20, 0, REC_JOB_ADMITTED, 0, 0, 1, 20}}},
};

static void test_by_hand(void **state)
{
    (void)state;
    for (size_t p = 0; p < sizeof plays / sizeof *plays; p++) {
        struct blockers b = {0};
        for (int i = 0; i < MOST && (plays[p].v[i].type || plays[p].v[i].ns || i == 0); i++) {
            const struct told *x = &plays[p].v[i];
            struct blocker by = blockers_take(&b, &(struct record){.time_ns = x->ns, .type = x->type, .code = x->code, .job = x->job, .a = x->a});
            if (by.job != x->by || (by.job != NO_JOB && by.time_ns != x->at))
                fail_msg("%s: record %d is due to %d at %lld", plays[p].what, i, by.job, (long long)by.time_ns);
        }
        blockers_free(&b);
    }
}

/* ---- backwards: from each record that ends a wait, over the records before it ---- */

struct records { ARRAY(struct record) v; };

static struct records read_all(const char *dir)
{
    struct records r = {0};
    struct record x;
    struct timeline_reader *t = timeline_open(dir, NULL);
    assert_non_null(t);
    while (timeline_next(t, &x)) array_push(&r.v, x);
    timeline_close(t);
    return r;
}

static bool is_for_what_others_hold(const struct record *r)
{
    return r->type == REC_JOB_SUBMITTED ||
           (r->type == REC_JOB_WAIT && (r->code < N_QUEUE_REASONS || r->code == WAITS_IN_CLASS || r->code == WAIT_GANG || r->code == WAIT_DEPENDENCY));
}

/* The record with which the wait began that record k ends; -1: none. */
static int64_t begin_of_wait(const struct records *r, size_t k)
{
    int64_t begin = -1;
    for (size_t i = k; i-- > 0;) {
        const struct record *x = &r->v.v[i];
        if (x->job != r->v.v[k].job) continue;
        bool matters = x->type <= REC_JOB_FINISHED || x->type == REC_JOB_WAIT || x->type == REC_JOB_EVICTED;
        if (!matters || (x->type == REC_JOB_WAIT && x->code == WAIT_SCHEDULER_BACKOFF)) continue;
        if (!is_for_what_others_hold(x)) break;
        begin = (int64_t)i;
    }
    return begin;
}

static bool held_before(const struct records *r, size_t k)
{
    for (size_t i = 0; i < k; i++)
        if (r->v.v[i].job == r->v.v[k].job && r->v.v[i].type == REC_JOB_ALLOCATED) return true;
    return false;
}

static int32_t last_release(const struct records *r, size_t k)
{
    int64_t begin = begin_of_wait(r, k);
    if (begin < 0 || r->v.v[begin].time_ns == r->v.v[k].time_ns) return NO_JOB;
    for (size_t i = k; i-- > (size_t)begin + 1;) {
        const struct record *x = &r->v.v[i];
        bool lets_go = x->type == REC_JOB_FINISHED || x->type == REC_JOB_STOPPED || x->type == REC_JOB_EVICTED;
        if (lets_go && x->job != r->v.v[k].job && held_before(r, i)) return x->job;
    }
    return NO_JOB;
}

static unsigned count_of(const char *text, const char *what)
{
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++) n++;
    return n;
}

/* explain tells as many releases as there are records due to one. */
static void check_words(const char *dir, const struct records *r, const int32_t *due)
{
    char buf[24], *err = NULL, *notes = NULL;
    struct run *run = run_open(dir, &notes, &err);
    assert_non_null(run);
    unsigned told = 0, there = 0;
    for (size_t i = 0; i < run->n_jobs; i++) {
        struct str s = {0};
        assert_true(explain_job(run, run->jobs[i].row.id ? run->jobs[i].row.id : (buf[str_put_u64(buf, run->jobs[i].row.number)] = '\0', buf), &s, &err));
        if (strstr(str_text(&s), "more lines")) told = UINT32_MAX; /* not all are told of a long life */
        if (told != UINT32_MAX) told += count_of(str_text(&s), "came free when job") + count_of(str_text(&s), "the last release before: job");
        str_free(&s);
    }
    for (size_t k = 0; k < r->v.n; k++) there += due[k] != NO_JOB && r->v.v[k].type != REC_JOB_EVICTED;
    if (told != UINT32_MAX) assert_int_equal(told, there);
    free(notes);
    run_close(run);
}

static uint64_t check_run(const char *dir)
{
    struct records r = read_all(dir);
    struct blockers b = {0};
    int32_t *due = calloc(r.v.n + 1, sizeof *due);
    uint64_t found = 0;
    for (size_t k = 0; k < r.v.n; k++) {
        const struct record *x = &r.v.v[k];
        struct blocker by = blockers_take(&b, x);
        due[k] = by.job;
        found += by.job != NO_JOB;
        if (x->type == REC_JOB_EVICTED) assert_int_equal(by.job, x->a < 0 ? NO_JOB : x->a);
        if (x->type == REC_JOB_ADMITTED || x->type == REC_JOB_ALLOCATED || x->type == REC_JOB_STARTED) assert_int_equal(by.job, last_release(&r, k));
    }
    check_words(dir, &r, due);
    free(due);
    blockers_free(&b);
    array_free(&r.v);
    return found;
}

static void test_random(void **state)
{
    enum { SEEDS = 120 };
    uint64_t found = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        if (run_any(seed, ANY_ALL, seed % 2 ? "one" : "two", below(top, "any"), RECORD_JOBS)) found += check_run(below(top, "any"));
        remove_top(below(top, "any"));
    }
    assert_true(found > SEEDS); /* queues are frequent: else nothing was tried */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_by_hand), cmocka_unit_test(test_random)};
    if (!mkdtemp(top)) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_top(top);
    return failed;
}
