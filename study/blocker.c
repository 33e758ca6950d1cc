/* blocker.c - see blocker.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/blocker.h"

#include <stdbool.h>

#include "run/wait.h"

static const struct blocker NOBODY = {.job = NO_JOB};

static struct blocked *blocked_of(struct blockers *b, int32_t job)
{
    while (b->jobs.n <= (size_t)job) array_push(&b->jobs, (struct blocked){.since_ns = -1});
    return &b->jobs.v[job];
}

/* ---- waits ---- */

/* What a record of a wait does to a wait for what others hold. */
enum effect { BEGINS, KEEPS, ENDS, BREAKS_OFF };

static enum effect effect_of(unsigned reason)
{
    if (reason < N_QUEUE_REASONS || reason == WAITS_IN_CLASS) return BEGINS;
    switch (reason) {
    case WAIT_DEPENDENCY:
    case WAIT_GANG: return BEGINS;
    case WAIT_SCHEDULER_BACKOFF: return KEEPS;
    case WAIT_SUSPENDED:
    case WAIT_DETECTION:
    case WAIT_CONTAINER_BACKOFF:
    case WAIT_PREEMPTED:
    case WAIT_RESIZE: return BREAKS_OFF;
    default: return ENDS;
    }
}

static void begin(const struct blockers *b, struct blocked *j, int64_t now_ns)
{
    if (j->since_ns >= 0) return;
    j->since_ns = now_ns;
    j->since = b->n_records & (UINT64_MAX >> 1);
}

static struct blocker end(const struct blockers *b, struct blocked *j, const struct record *r)
{
    const struct blocker_release *last = b->last.by.job == r->job ? &b->other : &b->last;
    bool waited = j->since_ns >= 0 && j->since_ns < r->time_ns;
    j->since_ns = -1;
    return waited && last->record > j->since ? last->by : NOBODY;
}

static struct blocker on_wait(const struct blockers *b, struct blocked *j, const struct record *r)
{
    switch (effect_of(r->code)) {
    case BEGINS: begin(b, j, r->time_ns); return NOBODY;
    case KEEPS: return NOBODY;
    case ENDS: return end(b, j, r);
    case BREAKS_OFF: break;
    }
    j->since_ns = -1;
    return NOBODY;
}

/* ---- releases ---- */

static void let_go(struct blockers *b, struct blocked *j, const struct record *r)
{
    struct blocker_release now = {{r->time_ns, r->job, r->type}, b->n_records};
    j->since_ns = -1;
    if (!j->had_gpus) return;
    if (b->last.by.job != r->job) b->other = b->last;
    b->last = now;
}

static struct blocker named(const struct blockers *b, const struct record *r)
{
    if (r->type != REC_JOB_EVICTED && r->type != REC_JOB_WAIT) return NOBODY;
    if (r->a < 0 || (uint64_t)r->a >= b->jobs.n || r->a == r->job) return NOBODY;
    return (struct blocker){r->time_ns, (int32_t)r->a, r->type};
}

struct blocker blockers_take(struct blockers *b, const struct record *r)
{
    struct blocker by = NOBODY;
    b->n_records++;
    if (r->job < 0) return by;
    struct blocked *j = blocked_of(b, r->job);
    switch (r->type) {
    case REC_JOB_SUBMITTED: begin(b, j, r->time_ns); break;
    case REC_JOB_WAIT: by = on_wait(b, j, r); break;
    case REC_JOB_ALLOCATED: j->had_gpus = 1; by = end(b, j, r); break;
    case REC_JOB_ADMITTED:
    case REC_JOB_STARTED: by = end(b, j, r); break;
    case REC_JOB_STOPPED:
    case REC_JOB_EVICTED:
    case REC_JOB_FINISHED: let_go(b, j, r); break;
    default: break;
    }
    struct blocker told = named(b, r);
    return told.job != NO_JOB ? told : by;
}

void blockers_free(struct blockers *b)
{
    array_free(&b->jobs);
    *b = (struct blockers){0};
}
