/* test_naive.c - batch policies against a second, plain writing of them (naive_batch.h), on random traces.
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

#include "base/units.h"
#include "tests/support/naive_batch.h"
#include "tests/support/random_scenario.h"
#include "tests/support/temp_run.h"

enum { MAX_JOBS = 200 };

static void fill(struct naive_job *jobs, const struct scenario *s)
{
    assert_true(s->n_jobs <= MAX_JOBS);
    for (size_t i = 0; i < s->n_jobs; i++) {
        const struct job_spec *spec = &s->jobs[i];
        jobs[i] = (struct naive_job){.submit = spec->submit_ns / NS_PER_S,
                                     .work = spec->work_ns / NS_PER_S,
                                     .limit = spec->limit_ns / NS_PER_S,
                                     .gpus = (int)(job_shares(s, spec) / SHARES_PER_GPU)};
    }
}

static uint64_t machines_of(const struct job_row *row)
{
    uint64_t set = 0;
    for (unsigned i = 0; i < row->n_nodes; i++)
        for (uint32_t m = row->nodes[i].first; m <= row->nodes[i].last; m++) set |= UINT64_C(1) << m;
    return set;
}

static int64_t in_s(int64_t ns) { return ns < 0 ? -1 : ns / NS_PER_S; }

/* Where run and naive result differ first, as text; false when they are equal. */
static bool differ(const struct run *r, const struct scenario *s, const struct naive_job *jobs, bool named, char *text)
{
    char buf[24];
    for (size_t i = 0; i < s->n_jobs; i++) {
        const char *id = job_id(s, &s->jobs[i], buf);
        for (size_t k = 0; k < r->n_jobs; k++) {
            const struct job_row *row = &r->jobs[k].row;
            if (strcmp(row->id, id) != 0) continue;
            if (in_s(row->started_ns) == jobs[i].start && in_s(row->finished_ns) == jobs[i].end &&
                (!named || machines_of(row) == jobs[i].machines))
                continue;
            sprintf(text, "%s: %lld to %lld on %llx, naive %lld to %lld on %llx", id, (long long)in_s(row->started_ns),
                    (long long)in_s(row->finished_ns), (unsigned long long)machines_of(row), (long long)jobs[i].start,
                    (long long)jobs[i].end, (unsigned long long)jobs[i].machines);
            return true;
        }
    }
    return false;
}

static void one(const struct random_spec *spec, bool named)
{
    struct naive_job jobs[MAX_JOBS];
    struct str json = {0};
    char text[256];
    random_scenario(spec, &json);
    struct scenario *s = random_scenario_load(&json);
    struct run *r = temp_run(s, RECORD_NONE);
    assert_non_null(r);
    fill(jobs, s);
    const int64_t limits[2] = {s->approach.las_limits_gpu_ns[0] / NS_PER_S, s->approach.las_limits_gpu_ns[1] / NS_PER_S};
    int gpus = (int)(s->cluster.total_shares / SHARES_PER_GPU);
    if (named) naive_backfill(strcmp(spec->admission, "conservative") == 0, jobs, s->n_jobs, gpus);
    else naive_tiresias(spec->admission, jobs, s->n_jobs, gpus, limits);
    if (differ(r, s, jobs, named, text))
        fail_msg("seed %llu, %s: %s\n%s", (unsigned long long)spec->seed, spec->admission, text, json.s);
    temp_run_close(r);
    scenario_free(s);
    str_free(&json);
}

static void counted(void **state)
{
    static const char *const policies[] = {"fifo", "fifo-skip", "fewest-gpus", "srpt", "las"};
    (void)state;
    for (uint64_t seed = 0; seed < 1000; seed++)
        one(&(struct random_spec){.seed = seed,
                                  .admission = policies[seed % 5],
                                  .placement = "none",
                                  .jobs = seed % 10 == 9 ? MAX_JOBS : 0},
            false);
}

static void named_machines(void **state)
{
    static const char *const policies[] = {"easy", "conservative"};
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++)
        one(&(struct random_spec){.seed = seed,
                                  .admission = policies[seed % 2],
                                  .placement = "first",
                                  .nodes = 2 + (unsigned)seed % 23,
                                  .gpus = 1,
                                  .limits = true},
            true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counted),
        cmocka_unit_test(named_machines),
    };
    return cmocka_run_group_tests_name("naive", tests, NULL, NULL);
}
