/* bench_philly.c - Philly's 82,247 jobs under batch policies: jobs per CPU-second, import left out, jobs.csv written.
 *
 *     bench_philly philly.csv.gz POLICY PLACEMENT SPEEDUP [ROUNDS]     one line: JOBS_PER_S STANDING
 *
 * 52 nodes of 8 GPUs. SPEEDUP divides the times of submission, so that a line stands: STANDING is the least number of
 * waiting jobs that the middle half of the arrivals (by time) find before them. What is timed: timed_run.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "run/run.h"
#include "sim/simulate.h"
#include "tests/support/temp_run.h"
#include "tests/support/timed_run.h"

static struct scenario *load(const char *trace, const char *policy, const char *placement, int64_t speedup)
{
    struct diag d = {0};
    struct str text = {0};
    str_printf(&text,
               "{ \"trainyard\": 1, \"name\": \"philly\","
               " \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": 52, \"gpus\": 8 } ] },"
               " \"workload\": { \"trace\": { \"file\": \"%s\", \"format\": \"philly\", \"gpus_per_node\": 8,"
               " \"defaults\": { \"kind\": \"train\" } } },"
               " \"approaches\": { \"x\": { \"lifecycle\": \"none\", \"admission\": \"%s\", \"scheduler\": \"batch\","
               " \"placement\": \"%s\" } } }",
               trace, policy, placement);
    struct scenario *s = scenario_parse("philly.json", text.s, text.n, NULL, &d);
    diag_print(&d, stderr);
    diag_free(&d);
    str_free(&text);
    if (!s) exit(3);
    for (size_t i = 0; i < s->n_jobs; i++) s->jobs[i].submit_ns /= speedup;
    return s;
}

/* ---- the line that stands ---- */

static int by_time(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

static size_t standing(const char *dir)
{
    char *warnings = NULL, *error = NULL;
    struct run *r = run_open(dir, &warnings, &error);
    if (!r) exit(1);
    int64_t *in = malloc(r->n_jobs * sizeof *in), *out = malloc(r->n_jobs * sizeof *out);
    size_t started = 0, least = SIZE_MAX;
    for (size_t i = 0; i < r->n_jobs; i++) {
        in[i] = r->jobs[i].row.submit_ns;
        out[i] = r->jobs[i].row.started_ns < 0 ? INT64_MAX : r->jobs[i].row.started_ns;
    }
    qsort(in, r->n_jobs, sizeof *in, by_time);
    qsort(out, r->n_jobs, sizeof *out, by_time);
    for (size_t i = 0; i < r->n_jobs; i++) {
        while (started < r->n_jobs && out[started] <= in[i]) started++;
        if (i >= r->n_jobs / 4 && i < r->n_jobs * 3 / 4 && i - started < least) least = i - started;
    }
    free(in);
    free(out);
    run_close(r);
    return least;
}

int main(int argc, char **argv)
{
    char dir[TIMED_DIR];
    if (argc < 5) return 2;
    struct scenario *s = load(argv[1], argv[2], argv[3], atoll(argv[4]));
    double least = timed_least(s, argc > 5 ? atoi(argv[5]) : 5, dir);
    printf("%.0f %zu\n", (double)s->n_jobs / least, standing(dir));
    temp_run_remove(dir);
    scenario_free(s);
    return 0;
}
