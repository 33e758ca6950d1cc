/* none.c - no life cycle: GPUs for a training. A process that fails ends its job; so does the job's time limit.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/host/parts.h"

static void on_limit(void *arg)
{
    struct host_job *j = arg;
    live_at(j->host->run, host_now(j->host));
    job_over(j, JOB_FAILED, false);
}

static void begin(struct host_job *j)
{
    job_new_port(j);
    for (uint32_t i = 0; i < j->wanted; i++) seat_start(&j->pods[i], i, j->plan.n);
}

static void started(struct host_job *j)
{
    if (j->spec->limit_ns != TIME_NEVER) host_after(j->host, &j->limit, j->spec->limit_ns, on_limit, j);
}

static void ended(struct host_job *j, struct host_pod *p, int code)
{
    if (code != 0) {
        job_over(j, JOB_FAILED, false);
        return;
    }
    p->state = SEAT_ENDED;
    for (uint32_t i = 0; i < j->wanted; i++)
        if (j->pods[i].state != SEAT_ENDED) return;
    job_over(j, JOB_SUCCEEDED, false);
}

/* Its peers give up after their time-out, and end the job. */
static void hang(struct host_job *j, struct host_pod *p) { (void)j, (void)p; }

const struct host_life host_none = {true, begin, NULL, NULL, started, ended, NULL, hang};
