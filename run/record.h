/* record.h - the logical records of a run: what happened, in order.
 *
 * One record is 40 bytes, little-endian, and says one thing. Every record goes through `recorder_put`: it is hashed
 * into the fingerprint first, then filtered by --record (none: nothing is kept, jobs: the records whose third column is
 * 1, full: all) and appended to timeline.bin. So the fingerprint does not depend on what is kept.
 *
 *     recorder_put(r, &(struct record){.time_ns = now, .type = REC_JOB_FINISHED, .job = j, .code = JOB_SUCCEEDED});
 *
 * Meaning of job, subject, code, a, b by type: the table below; docs/run-format.md is made from it.
 * Job: index of the job in the run (order of submission), NO_JOB if none. Subject: index of the allocation group, pod
 * or node within its job (pods, groups) or of the cluster (nodes).
 *
 * A job in a queue waits for what its class waits for (wait.h: 10,000 jobs of one queue and shape share a clock): job_wait 25 says
 * that it stands in a class now, class_wait what all of a class wait for from now on. The first class_wait of a class comes
 * before its first job; while nobody stands in it none is written.
 * A record of a range (pod_state, actor_state) tells of `a` neighbours at once, subject and those behind it: what a thousand
 * pods do in one instant is one record. The pods of a job are numbered as they are created; the allocation group in which a
 * pod holds its shares has the pod's number. What b is of a pod by state: of `pending`, what to add to a pod's number for its
 * index in its role; of `scheduled`, `pulling` and `starting`, its node; of `running`, `ready` and `terminating`, restarts of its
 * container so far; of `backoff` and `failed`, the exit code; else 0.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_RUN_RECORD_H
#define TRAINYARD_RUN_RECORD_H

#include <stdint.h>

enum { NO_JOB = -1 };

/* X(enum, name, kept at level "jobs", subject, code, a, b) */
#define RECORD_TYPES(X)                                                                                                \
    X(REC_JOB_SUBMITTED, "job_submitted", 1, "gpus (shares)", "kind", "queue", "team")                                 \
    X(REC_JOB_ADMITTED, "job_admitted", 1, "attempt", "-", "flavors, a byte a resource: number + 1", "pods")           \
    X(REC_JOB_ALLOCATED, "job_allocated", 1, "attempt", "cause", "-", "-")                                             \
    X(REC_JOB_STARTED, "job_started", 1, "attempt", "cause", "step", "-")                                              \
    X(REC_JOB_STOPPED, "job_stopped", 1, "attempt", "stop reason", "step reached", "step kept")                        \
    X(REC_JOB_FINISHED, "job_finished", 1, "attempt", "job state", "-", "-")                                           \
    X(REC_JOB_WAIT, "job_wait", 1, "-", "wait reason (24: runs, 25: its class's)", "blocking job", "of 25: class")     \
    X(REC_JOB_EVICTED, "job_evicted", 1, "attempt", "reason", "preempting job", "rule that allowed it (kueue_reason)") \
    X(REC_JOB_CONDITION, "job_condition", 1, "condition", "status", "reason", "-")                                     \
    X(REC_GROUP_NODES, "group_nodes", 0, "group", "-", "first node | nodes << 32", "GPU mask or shares of one GPU")    \
    X(REC_GROUP_STATE, "group_state", 0, "group", "activity | cause << 8", "shares", "-")                              \
    X(REC_GROUP_FREED, "group_freed", 0, "group", "-", "shares", "-")                                                  \
    X(REC_POD_STATE, "pod_state", 0, "first pod", "pod state | role << 8", "pods", "by state: below")                   \
    X(REC_STEPS, "steps", 0, "group", "0 new, 1 redone, 2 none: stalled", "first step", "last step")                   \
    X(REC_CHECKPOINT, "checkpoint", 1, "-", "0 begins, 1 ranks go on, 2 failed, 3 written", "step", "bytes written (1, 3)") \
    X(REC_ROLLBACK, "rollback", 1, "-", "-", "from step", "to step")                                                   \
    X(REC_FAULT, "fault", 1, "node, pod or rank", "fault kind", "code", "-")                                           \
    X(REC_NODE_STATE, "node_state", 1, "node", "node state", "shares", "-")                                            \
    X(REC_NO_PROGRESS, "no_progress", 1, "-", "kind", "waits for", "holder")                                           \
    X(REC_PARTIAL_HOLD, "partial_hold", 1, "-", "begins or ends", "shares held", "shares still wanted") \
    X(REC_ACTOR_STATE, "actor_state", 0, "first rank", "actor state", "ranks", "node, -1: as before")                  \
    X(REC_CLASS_WAIT, "class_wait", 1, "class of waiting jobs", "wait reason", "-", "-")

#define X_ENUM(e, ...) e,
enum record_type { RECORD_TYPES(X_ENUM) N_RECORD_TYPES };
#undef X_ENUM

struct record {
    int64_t time_ns;
    uint16_t type; /* enum record_type */
    uint16_t code;
    int32_t job;
    uint32_t subject;
    uint32_t spare; /* 0 */
    int64_t a, b;
};
_Static_assert(sizeof(struct record) == 40, "the record is part of the file format");

struct record_info {
    const char *name;
    int at_jobs_level;
    const char *subject, *code, *a, *b;
};
extern const struct record_info record_table[N_RECORD_TYPES];

/* The code of REC_STEPS: what the ranks did since they began or since the last record of steps. */
enum { STEPS_NEW, STEPS_REDONE, STEPS_NONE /* they waited for a link that was down */ };

/* The code of REC_CHECKPOINT. SAVE_LEAVES: the ranks go on; its bytes are those written until then (0: not said). What is then written
 * in the background is told by SAVE_WRITTEN, unless it is lost before. */
enum { SAVE_BEGINS, SAVE_LEAVES, SAVE_FAILED, SAVE_WRITTEN };

/* Final and passing states of a job, in jobs.csv and REC_JOB_FINISHED. */
#define JOB_STATES(X)                                                                                                  \
    X(JOB_PENDING, "pending")                                                                                          \
    X(JOB_ADMITTED, "admitted")                                                                                        \
    X(JOB_RUNNING, "running")                                                                                          \
    X(JOB_SUSPENDED, "suspended")                                                                                      \
    X(JOB_SUCCEEDED, "succeeded")                                                                                      \
    X(JOB_FAILED, "failed")                                                                                            \
    X(JOB_REJECTED, "rejected")                                                                                        \
    X(JOB_CANCELLED, "cancelled")
#define X_ENUM(e, ...) e,
enum job_state { JOB_STATES(X_ENUM) N_JOB_STATES };
#undef X_ENUM
extern const char *const job_state_names[N_JOB_STATES];

/* Why an admitted job is stopped; the code of REC_JOB_EVICTED. */
#define STOP_REASONS(X)                                                                                                \
    X(STOP_PREEMPTED, "preempted") X(STOP_EVICTED, "evicted") X(STOP_SUSPENDED, "suspended")                           \
    X(STOP_DEADLINE, "over its deadline") X(STOP_DELETED, "deleted") X(STOP_HORIZON, "end of the run")
#define X_ENUM(e, ...) e,
enum stop_reason { STOP_REASONS(X_ENUM) N_STOP_REASONS };
#undef X_ENUM
extern const char *const stop_reason_names[N_STOP_REASONS];

/* Writer side. `sink` NULL: only the fingerprint. The sink stays its owner's. Cost: about 20 ns a record, hashed and
 * filtered; a kept one 20 more. */
enum record_level { RECORD_NONE, RECORD_JOBS, RECORD_FULL };
struct recorder;
struct timeline_writer;
struct recorder *recorder_create(int level, struct timeline_writer *sink);
void recorder_put(struct recorder *, const struct record *);
/* The same without a copy: the place of the next record, to be filled (all of it) before the next call. */
static inline struct record *recorder_next(struct recorder *, int64_t time_ns);
/* A record of a range. It joins the last one, when that is of this instant, says the same and ends where this begins; so it
 * may stand behind others of its instant, never behind a later one. */
void recorder_range(struct recorder *, const struct record *);
/* Brings what is kept so far into the file, as a short block; a range that may still grow is left for later. For a watched
 * run: call it about once a second. */
void recorder_flush(struct recorder *);
/* No record will follow: all that is kept is in the file. */
void recorder_end(struct recorder *);
/* 128-bit fingerprint (base/hash.h) of the bytes of all records so far, as 32 hex digits and a final NUL. */
void recorder_fingerprint(const struct recorder *, char out[33]);
uint64_t recorder_count(const struct recorder *);
void recorder_destroy(struct recorder *); /* without a flush */

/* The head of a recorder, for recorder_next: where the next records go, and the instant of the range that may still grow. */
enum { NO_RANGE = -1 };
struct recorder_room { struct record *at, *end; int64_t range_ns; };
struct record *recorder_make_room(struct recorder *, int64_t time_ns);
static inline struct record *recorder_next(struct recorder *r, int64_t time_ns)
{
    struct recorder_room *room = (struct recorder_room *)(void *)r;
    if (room->at == room->end || (room->range_ns != time_ns && room->range_ns != NO_RANGE)) return recorder_make_room(r, time_ns);
    return room->at++;
}

#endif
