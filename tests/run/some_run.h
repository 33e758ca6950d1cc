/* some_run.h - a small run that tests of run/ write: 5 jobs on two node groups, with all columns in use.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_RUN_SOME_RUN_H
#define TRAINYARD_TESTS_RUN_SOME_RUN_H

#include "run/run.h"

/* group big: 16 GPUs from 0 to 100 s; small: 4 from 10 to 100 s. Job 0 holds 8 of big from 5.000000001 s on and computes
 * from 10 to 60 s, 20 of them redone. */
static inline struct ledger *some_ledger(void)
{
    const int64_t s = 1000000000;
    struct ledger *l = ledger_create(2);
    uint32_t a = ledger_account(l, &(struct ledger_key){.group = 0, .queue = 1, .team = 0, .kind = 0});
    ledger_exist(l, 0, 16000, 0);
    ledger_take(l, 0, a, ACT_IMAGE_PULL, 8000, 5 * s + 1);
    ledger_lift(l, a, ACT_IMAGE_PULL, 8000, 10 * s);
    ledger_exist(l, 1, 4000, 10 * s);
    ledger_down(l, 1, ACT_REPAIR, 1000, 50 * s);
    ledger_book(l, a, ACT_COMPUTE, false, (share_ns)8000 * 30 * 1000000000u);
    ledger_book(l, a, ACT_COMPUTE, true, (share_ns)8000 * 20 * 1000000000u);
    ledger_land(l, a, ACT_TERMINATING, 8000, 60 * s);
    ledger_give(l, 0, a, ACT_TERMINATING, 8000, 61 * s);
    ledger_close(l, 100 * s);
    return l;
}

enum { SOME_JOBS = 5, SOME_RECORDS = 2500 };

static inline struct run_meta some_meta(void)
{
    static const char *const queues[] = {"research", "batch, \"night\""};
    static const char *const teams[] = {"vision", " edge "};
    static const char *const groups[] = {"big", "small"};
    static const char *const kinds[] = {"PyTorchJob"};
    return (struct run_meta){.scenario_name = "some \"run\"",
                             .scenario_hash = "0123abcd",
                             .approach = "operator",
                             .back_end = "sim",
                             .seed = UINT64_MAX,
                             .replication = 3,
                             .record_level = RECORD_FULL,
                             .queues = queues,
                             .n_queues = 2,
                             .teams = teams,
                             .n_teams = 2,
                             .groups = groups,
                             .n_groups = 2,
                             .kinds = kinds,
                             .n_kinds = 1,
                             .warmup_ns = 0,
                             .horizon_ns = -1};
}

static inline struct job_row some_job(int i)
{
    static const struct node_interval nodes[] = {
        {0,           0          },
        {4,           6          },
        {4294967295u, 4294967295u}
    };
    static const int64_t waits[N_WAIT_REASONS] = {[WAIT_QUOTA] = 1, [WAIT_IMAGE] = 4500000000, [WAIT_RESIZE] = 7};
    static const share_ns parts[N_WORK_ACTIVITIES] = {[ACT_COMPUTE - FIRST_WORK] = (share_ns)1 << 90, [ACT_CHECKPOINT - FIRST_WORK] = 3};
    static const char *const ids[] = {"job-0", "a,b", "say \"hi\"", " blank ", NULL};
    struct job_row r = {.id = ids[i],
                        .number = 5,
                        .state = JOB_SUCCEEDED,
                        .gpu_shares = i == 1 ? 500 : 8000,
                        .submit_ns = i,
                        .admitted_ns = i + 1,
                        .allocated_ns = 5000000001,
                        .started_ns = 10000000000,
                        .finished_ns = 60000000000,
                        .nodes = nodes,
                        .n_nodes = (unsigned)i % 4,
                        .restarts = (uint32_t)i,
                        .preemptions = 2,
                        .team = "vision",
                        .queue = "batch, \"night\"",
                        .kind = "PyTorchJob",
                        .priority = -i,
                        .ideal_ns = 50000000000,
                        .work = (share_ns)8000 * 30 * 1000000000u,
                        .redone = (share_ns)1 << 100,
                        .held = 1,
                        .work_by = i == 2 ? NULL : parts,
                        .recovery = (share_ns)i,
                        .together = i == 1 ? 8 : 0,
                        .wait_ns = waits};
    if (i == 3) {
        r.state = JOB_PENDING;
        r.admitted_ns = r.allocated_ns = r.started_ns = r.finished_ns = r.ideal_ns = -1;
        r.team = r.queue = r.kind = "";
        r.wait_ns = NULL;
    }
    return r;
}

static inline void put_some(struct run_writer *w)
{
    for (int i = 0; i < SOME_RECORDS; i++)
        recorder_put(run_recorder(w), &(struct record){.time_ns = i, .type = REC_JOB_WAIT, .job = i % SOME_JOBS});
    for (int i = 0; i < SOME_JOBS; i++) {
        struct job_row r = some_job(i);
        run_job(w, &r);
    }
}

#endif
