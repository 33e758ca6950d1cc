/* bench_run.c - what a record, a row of jobs.csv and a change of the ledger cost.
 *
 * One line a figure: NAME VALUE UNIT goal GOAL. Files go to /dev/null or nowhere: the disk is not measured.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "run/metrics.h"
#include "run/parts.h"
#include "run/timeline.h"

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void line(const char *name, double ns, int n, int goal)
{
    printf("%s %.1f ns goal %d\n", name, ns / n, goal);
}

static void records(const char *name, int level, int goal)
{
    enum { N = 5000000 };
    struct timeline_written written;
    struct timeline_writer *t = timeline_begin("/dev/null", level, NULL);
    struct recorder *r = recorder_create(level, t);
    double from = cpu_ns();
    for (int i = 0; i < N; i++)
        recorder_put(r, &(struct record){.time_ns = i, .type = REC_GROUP_STATE, .job = i, .a = 8000});
    recorder_flush(r);
    line(name, cpu_ns() - from, N, goal);
    recorder_destroy(r);
    timeline_end(t, &written, NULL);
}

static struct job_row row_of(int i, const int64_t *waits, const struct node_interval *nodes)
{
    int64_t at = (int64_t)i * 7000000000;
    return (struct job_row){.number = (uint64_t)i,
                            .state = JOB_SUCCEEDED,
                            .gpu_shares = 8000,
                            .submit_ns = at,
                            .admitted_ns = at,
                            .allocated_ns = at + 250000001,
                            .started_ns = at + 17123456789,
                            .finished_ns = at + 3600123456789,
                            .nodes = nodes,
                            .n_nodes = 1,
                            .team = "vc-17",
                            .queue = "research",
                            .kind = "PyTorchJob",
                            .ideal_ns = 3600000000000,
                            .work = (share_ns)8000 * 3600000000000u,
                            .held = (share_ns)8000 * 17123456789u,
                            .wait_ns = waits};
}

static void rows(void)
{
    enum { N = 1000000 };
    static const int64_t waits[N_WAIT_REASONS] = {
        [WAIT_CAPACITY] = 5123456789, [WAIT_IMAGE] = 9000000000, [WAIT_RENDEZVOUS] = 3000000000};
    static const struct node_interval nodes[] = {
        {17, 17}
    };
    struct metrics *m = metrics_create(0, -1);
    struct out o;
    out_open(&o, "/dev/null", NULL);
    double from = cpu_ns();
    for (int i = 0; i < N; i++) {
        struct job_row r = row_of(i, waits, nodes);
        jobs_csv_row(&o, &r);
    }
    line("run_jobs_row", cpu_ns() - from, N, 300);
    from = cpu_ns();
    for (int i = 0; i < N; i++) {
        struct job_row r = row_of(i, waits, nodes);
        metrics_job(m, &r);
    }
    metrics_end(m, 0);
    line("run_summary_job", cpu_ns() - from, N, 150);
    metrics_destroy(m);
    out_close(&o);
    out_free(&o);
}

static void ledger(void)
{
    enum { N = 5000000 };
    struct ledger *l = ledger_create(1);
    uint32_t a = ledger_account(l, &(struct ledger_key){.queue = 1});
    ledger_exist(l, 0, 800000, 0);
    ledger_demand(l, 0, 64000, 8000, 0);
    double from = cpu_ns();
    for (int i = 0; i < N; i += 2) {
        ledger_take(l, 0, a, ACT_IMAGE_PULL, 8000, i);
        ledger_give(l, 0, a, ACT_IMAGE_PULL, 8000, i + 1);
    }
    line("run_ledger_call", cpu_ns() - from, N, 30);
    ledger_destroy(l);
}

int main(void)
{
    records("run_record_none", RECORD_NONE, 40);
    records("run_record_full", RECORD_FULL, 60);
    rows();
    ledger();
    return 0;
}
