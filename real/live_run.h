/* live_run.h - a run as a live back end sees it: written in the format of every run, with both ledgers exact.
 *
 * A back end (host, gpu, kubernetes, ray) observes processes or objects and says here what changed; this part keeps the
 * job's states, the GPUs of each node, the GPU ledger and the wait ledger, and writes the same records and rows as the
 * simulator, so that every reader of runs takes both.
 *
 *     struct live_run *l = live_create(scenario, &(struct live_options){.dir = "out", .back_end = "host"}, &err);
 *     live_at(l, ns);                                          // what follows was seen at this moment
 *     live_submitted(l, j); live_waits(l, j, WAIT_CAPACITY); live_admitted(l, j);
 *     uint32_t g = live_take(l, j, node, 4000, ACT_CONTAINER_START);   // a pod: its GPUs of that node
 *     live_allocated(l, j); live_enter(l, j, g, ACT_RENDEZVOUS); live_started(l, j);
 *     live_stepped(l, j, &(struct live_steps){.first = 0, .next = 10, .compute_ns = ...});
 *     live_stopped(l, j, ACT_STALLED, WAIT_DETECTION, CAUSE_FAILURE);
 *     live_free(l, j, g); live_ended(l, j, JOB_SUCCEEDED);
 *     ok = live_finish(l, RUN_COMPLETE, &err);
 *
 * Time: ns since the run began, on one monotonic clock of the back end. It never goes back: an earlier moment than the
 * last one counts as the last one (a watch may tell things late).
 * Jobs: indices into the scenario's jobs of replication 0. Nodes: numbers of the scenario's nodes. Shares: 1 GPU = 1,000.
 * Observations may be odd, and none is trusted: what does not fit the state of a job (started twice, freed twice, of an
 * ended job, a node that is full) changes nothing, returns false (or LIVE_NONE) and is counted (live_refused).
 *
 * While a job steps its shares have no clock. live_stepped books the parts of its steps, never more than the time that
 * has passed; what is left when it stops is booked as compute (a step that did not end, the supervisor's delay), or, when
 * no step was ever told of, as other load. Steps below the high-water mark of the job are booked as redone.
 * The GPUs of a group are the lowest free ones of its node: a back end does not always know which.
 *
 * Cost: O(groups of the job) a call, O(GPUs of the node) for live_take. Memory: about 700 bytes a job. One thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_LIVE_RUN_H
#define TRAINYARD_REAL_LIVE_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "input/scenario.h"
#include "run/record.h"
#include "run/run.h"
#include "run/states.h"
#include "run/wait.h"

struct live_run;
enum { LIVE_NONE = UINT32_MAX };

struct live_options {
    const char *dir;      /* the run's directory; NULL: nothing is written */
    const char *back_end; /* "host", "gpu", "kubernetes", "ray" */
    int record_level;     /* enum record_level */
    bool force;           /* replaces a run that is there */
};

/* The scenario stays the caller's and outlives the run; it is attached to the run as scenario.json. NULL and *err (to
 * free) on an I/O error: exit code 4. */
struct live_run *live_create(const struct scenario *, const struct live_options *, char **err);

void live_at(struct live_run *, int64_t ns);
int64_t live_now(const struct live_run *);
/* Brings what there is so far into the files; once a second, for those who watch. False when a write has failed. */
bool live_flush(struct live_run *);
/* Observations that did not fit and changed nothing. */
uint64_t live_refused(const struct live_run *);

/* ---- jobs ---- */

bool live_submitted(struct live_run *, uint32_t job);
/* Why its ranks do not step from now on: enum wait_reason. Not while it steps. */
bool live_waits(struct live_run *, uint32_t job, enum wait_reason);
/* A new attempt begins. */
bool live_admitted(struct live_run *, uint32_t job);
/* All that this attempt needs is bound; later calls of the same attempt say nothing new and are true. */
bool live_allocated(struct live_run *, uint32_t job);
/* Its ranks step from now on. */
bool live_started(struct live_run *, uint32_t job);

struct live_steps { /* steps first .. next - 1, finished since the last call; their parts, in sum over the steps */
    int64_t first, next;
    int64_t compute_ns, communication_ns, data_ns, straggler_ns, checkpoint_ns;
};
bool live_stepped(struct live_run *, uint32_t job, const struct live_steps *);
/* Phase: SAVE_BEGINS, SAVE_LEAVES when it is durable, SAVE_FAILED. */
bool live_checkpoint(struct live_run *, uint32_t job, unsigned phase, int64_t step);
/* The job's state is that of an older step; while it does not step. */
bool live_rolled_back(struct live_run *, uint32_t job, int64_t from, int64_t to);
/* Its ranks step no longer; its groups are in `activity` until the back end says otherwise. `next`: cause of what comes;
 * CAUSE_FAILURE counts a restart. Also before it stepped, when an attempt fails while it starts. */
bool live_stopped(struct live_run *, uint32_t job, enum activity, enum wait_reason, enum cause next);
/* The same, but nothing has failed and no other attempt comes: all its steps are done, and its controller has not seen that. */
bool live_paused(struct live_run *, uint32_t job, enum activity, enum wait_reason);
/* Evicted by the queue: counts a preemption, and the next attempt is one after a preemption. `by`: job or NO_JOB. It
 * holds its groups until each is freed; live_requeued says that it waits for admission again. */
bool live_evicted(struct live_run *, uint32_t job, enum stop_reason, int32_t by);
bool live_requeued(struct live_run *, uint32_t job, enum wait_reason);
bool live_ended(struct live_run *, uint32_t job, enum job_state);
enum job_state live_state(const struct live_run *, uint32_t job);
bool live_steps_now(const struct live_run *, uint32_t job);

/* ---- what it holds ---- */

/* `shares` of the node: a multiple of 1,000, or a part of one GPU. Returns the group's number within the job. */
uint32_t live_take(struct live_run *, uint32_t job, uint32_t node, int64_t shares, enum activity);
/* Not while it steps. */
bool live_enter(struct live_run *, uint32_t job, uint32_t group, enum activity);
bool live_free(struct live_run *, uint32_t job, uint32_t group);
/* Whether the group takes part when the job steps; at first it does. One that does not is in `activity` from now on, keeps its
 * own clock and may be entered while the others step. One that does again steps with the next live_started. */
bool live_takes_part(struct live_run *, uint32_t job, uint32_t group, bool part, enum activity);

/* ---- the rest ---- */

/* ACT_FREE: it is back; else a state of class down. What jobs hold there stays theirs until it is freed. */
bool live_node(struct live_run *, uint32_t node, enum activity);
/* A record as it is, of a type that changes no ledger: pod_state, job_condition, fault. Its time is now. */
bool live_note(struct live_run *, const struct record *);

/* Ends the run: jobs that have not ended get their rows as they stand. Frees all. False and *err (to free): I/O error or
 * a ledger that does not add up. */
bool live_finish(struct live_run *, enum run_state, char **err);

#endif
