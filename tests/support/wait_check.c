/* wait_check.c - see wait_check.h. Each change of a class is added to each of its jobs, as slowly as it is plainly right.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/wait_check.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "run/wait.h"

struct waiting { int64_t sum_ns[N_WAIT_REASONS], since_ns, class; unsigned reason; };

struct wait_check {
    struct waiting *jobs;
    size_t n_jobs;
    unsigned *class_reason;
    size_t n_classes;
};

struct wait_check *wait_check_create(size_t n_jobs)
{
    struct wait_check *c = xcalloc(1, sizeof *c);
    c->jobs = xcalloc(n_jobs + 1, sizeof *c->jobs);
    c->n_jobs = n_jobs;
    for (size_t i = 0; i < n_jobs; i++) c->jobs[i] = (struct waiting){.class = -1, .reason = NOT_WAITING};
    return c;
}

void wait_check_destroy(struct wait_check *c)
{
    free(c->jobs);
    free(c->class_reason);
    free(c);
}

static void settle(const struct wait_check *c, struct waiting *w, int64_t now)
{
    unsigned reason = w->class >= 0 ? c->class_reason[w->class] : w->reason;
    if (reason < N_WAIT_REASONS) w->sum_ns[reason] += now - w->since_ns;
    w->since_ns = now;
}

static void class_changes(struct wait_check *c, const struct record *r)
{
    for (size_t i = 0; i < c->n_jobs; i++)
        if (c->jobs[i].class == r->subject) settle(c, &c->jobs[i], r->time_ns);
    while (c->n_classes <= r->subject) {
        c->class_reason = xreallocarray(c->class_reason, c->n_classes + 1, sizeof *c->class_reason);
        c->class_reason[c->n_classes++] = NOT_WAITING;
    }
    c->class_reason[r->subject] = r->code;
}

void wait_check_record(struct wait_check *c, const struct record *r)
{
    bool changes = r->type == REC_JOB_WAIT || r->type == REC_JOB_ADMITTED || r->type == REC_JOB_STARTED || r->type == REC_JOB_FINISHED;
    if (r->type == REC_CLASS_WAIT) class_changes(c, r);
    if (!changes || r->job < 0 || (size_t)r->job >= c->n_jobs) return;
    struct waiting *w = &c->jobs[r->job];
    settle(c, w, r->time_ns);
    w->reason = r->type == REC_JOB_WAIT && r->code < N_WAIT_REASONS ? r->code : NOT_WAITING;
    w->class = r->type == REC_JOB_WAIT && r->code == WAITS_IN_CLASS && (size_t)r->b < c->n_classes ? r->b : -1;
}

const int64_t *wait_check_sums(struct wait_check *c, size_t job, int64_t end_ns)
{
    settle(c, &c->jobs[job], end_ns);
    return c->jobs[job].sum_ns;
}
