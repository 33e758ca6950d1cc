/* conditions.h - status.conditions of a Kubeflow job, as the training operator keeps them.
 *
 * A list in the order in which conditions were last set, with the operator's own rules (TO pkg/util/status.go): setting
 * what is set already, with the same reason, changes nothing; Running and Restarting replace each other; Succeeded and
 * Failed turn Running to False; once Failed is set nothing changes any more.
 *
 *     conditions_set(&c, COND_RUNNING, true, (struct cond_note){REASON_RUNNING});
 *     conditions_text(sim, job, &c.v[i], buf, sizeof buf);      // the message, made on demand
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_OPERATOR_CONDITIONS_H
#define TRAINYARD_SIM_OPERATOR_CONDITIONS_H

#include "run/conditions.h"
#include "sim/cluster/sim.h"

/* X(enum, reason behind the kind's name, message; %1 the job, %2 a count, %3 a replica type, %4 namespace/job) */
#define CONDITION_NOTES(X)                                                                                             \
    X(NOTE_CREATED, "Created", "PyTorchJob %1 is created.")                                                            \
    X(NOTE_RUNNING, "Running", "PyTorchJob %1 is running.")                                                            \
    X(NOTE_WORKERS_RUNNING, "Running", "PyTorchJob %4 is running.")                                                    \
    X(NOTE_REPLICAS_RESTART, "Restarting", "job %1 is restarting because %3 replica(s) failed.")                       \
    X(NOTE_RESTARTING, "Restarting", "PyTorchJob %1 is restarting because %2 %3 replica(s) failed.")                   \
    X(NOTE_SUCCEEDED, "Succeeded", "PyTorchJob %1 is successfully completed.")                                         \
    X(NOTE_WORKERS_SUCCEEDED, "Succeeded", "PyTorchJob %4 successfully completed.")                                    \
    X(NOTE_FAILED, "Failed", "PyTorchJob %1 is failed because %2 %3 replica(s) failed.")                               \
    X(NOTE_EXIT_CODE, "Failed", "job \"%1\" is failing because \"%3\" replica(s) failed.")                             \
    X(NOTE_BACKOFF, "Failed", "Job %1 has failed because it has reached the specified backoff limit")                  \
    X(NOTE_DEADLINE, "Failed", "Job %1 has failed because it was active longer than specified deadline")               \
    X(NOTE_SUSPENDED, "Suspended", "PyTorchJob %1 is suspended.")                                                      \
    X(NOTE_RESUMED, "Resumed", "PyTorchJob %1 is resumed.")

#define X_ENUM(e, ...) e,
enum condition_note { CONDITION_NOTES(X_ENUM) N_CONDITION_NOTES };
#undef X_ENUM

struct condition {
    uint8_t type, note; /* enum */
    bool status;
    uint8_t role;       /* enum pod_role, where the message names one */
    uint32_t count;
};

struct conditions {
    struct condition v[N_CONDITION_TYPES];
    uint32_t n;
};

void conditions_set(struct conditions *, struct condition);
bool conditions_has(const struct conditions *, enum condition_type); /* set and True */
/* "PyTorchJobRunning" */
void condition_reason(const struct condition *, char *buf, size_t n);
void condition_message(const struct sim *, const struct job *, const struct condition *, char *buf, size_t n);
/* Writes what differs between two lists as records (REC_JOB_CONDITION) and tells the observer: changed and new ones in the
 * order of the list, then removed ones. */
void conditions_publish(struct sim *, const struct job *, const struct conditions *before, const struct conditions *now);

#endif
