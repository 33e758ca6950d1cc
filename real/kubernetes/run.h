/* run.h - plays a scenario on a Kubernetes cluster, and watches what becomes of it.
 *
 *     if (!k8s_run_check(scenario, &d)) ...                       // what this back end cannot play, by name: exit code 3
 *     if (!k8s_run(scenario, access, &options, &result, &d)) ...  // I/O, refused by the server ...: 4, d says what
 *     k8s_cleanup(access, "out", tell, &stop, &d);               // after a kill: what the run in "out" has left behind
 *
 * Created are exactly the objects of manifests.h, each at its time divided by live.time_scale (and `after` its jobs), in
 * namespaces of the run's own (trainyard-ID for "default", trainyard-ID-1 ... for others). Each object, and each pod by its
 * template, carries the label trainyard/run=ID, and all are owned by the namespace: who deletes that has deleted the run. What is there
 * already by a name that the run needs, with another label or none, ends the run before anything is changed.
 * The ID, the server, the namespaces and the kinds are in DIR/kubernetes.json before the first object is made, so that nothing is left
 * that cannot be found again. A job is made when those that it comes after have succeeded; when one has ended otherwise it is cancelled. It ends when all jobs have ended and have let go of their GPUs (or have kept them for 10 s), or
 * at the horizon. Also when it ends (finished, failed, interrupted) the run deletes what carries its label, and waits
 * until it is gone; a kind that it cannot list or delete keeps none of the others, and the run fails. Nothing else is ever written to, but
 * pods, jobs and queues of the run by its script, each looked at before for its label. Secrets are never read.
 * An interruption is no error, at whatever moment it comes: the outcome says it, and the diag nothing.
 *
 * Seen are jobs, Kueue's workloads, pods, events and nodes. Each job's phases become a run (real/live_run.h) and, line by
 * line with the object and its reason, DIR/phases.csv: created, quota-reserved, admitted, evicted, requeued, scheduled, pulled,
 * started, ready, restarted, deleted, succeeded, failed, cancelled, condition. A job counts as started when all its pods are ready (a RayJob: when its
 * status says RUNNING), as Kubernetes sees no steps. Moments are those of arrival here, times time_scale.
 *
 * Nodes: a live node is one of the scenario's group whose labels it has, by number where it is called GROUP-NUMBER, else in the
 * order in which they are seen. Pods on other nodes hold nothing in the ledger and are counted.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_KUBERNETES_RUN_H
#define TRAINYARD_REAL_KUBERNETES_RUN_H

#include <stdio.h>

#include "input/scenario.h"
#include "real/kubernetes/client.h"

struct k8s_options {
    const char *dir, *image;    /* image: of containers that no manifest gives; NULL: manifests.h */
    int record_level;
    bool force;
    FILE *tell;                 /* what happens; NULL: silent */
    const volatile int *stop;
};

struct k8s_outcome { size_t jobs, succeeded, failed, unfinished; int64_t end_ns; bool interrupted; };

bool k8s_run_check(const struct scenario *, struct diag *);
bool k8s_run(const struct scenario *, const struct k8s_access *, const struct k8s_options *, struct k8s_outcome *, struct diag *);
/* Has the server check each object and keep none; prints them, with the GPUs that they will hold. */
bool k8s_dry_run(const struct scenario *, const struct k8s_access *, const struct k8s_options *, FILE *to, struct diag *);
/* Deletes what carries the label of the run in `dir`, and nothing else. *input: the error is of the file there, not of the cluster. */
bool k8s_cleanup(const struct k8s_access *, const char *dir, FILE *tell, const volatile int *stop, bool *input, struct diag *);

#endif
