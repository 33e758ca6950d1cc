/* manifests.h - the Kubernetes objects that a scenario stands for under its approach: what objects.h reads, written.
 *
 *     struct manifest_set set;
 *     if (!manifests_make(s, &(struct manifest_options){ 0 }, &set, diag)) ...   // diag says which job cannot be an object
 *     for (size_t i = 0; i < set.n; i++) yaml_write(&out, set.v[i].object);     // in the order of creation
 *     manifests_scenario(s, &set, &json);                                       // the scenario over these files
 *     manifests_free(&set);
 *
 * Order: namespaces, priority classes, flavors, cohorts, cluster queues, local queues (all at time 0), then the jobs by
 * submission, equal times as the simulator takes them. Objects given as manifests are written as they were given; Kueue's are
 * brought to kueue.x-k8s.io/v1beta2 (Kueue 0.17), short forms become the same objects. A job written neutrally becomes what
 * its life cycle makes of it: training-operator-v1 a PyTorchJob (Master and Workers, Workers only when elastic),
 * ray-train-v2 a RayJob, batch-job and none a batch/v1 Job.
 *
 * What an object cannot say (work, steps, checkpoints, submission, id ...) stands in annotations "trainyard/KEY" of a scenario's
 * job, so that reading the objects gives the jobs again: same submission, work, roles, resources, queue, priority. Kinds of
 * neutral jobs excepted, that is an equal scenario. Pods (Ray's own excepted, which end with their cluster) carry the job's work as
 * "trainyard/duration", in Go's syntax ("90s"), times `scale`, for players of pods such as KWOK.
 *
 * Kueue's objects and queue labels are written where the approach admits by Kueue; else queues stay in the scenario and each
 * job's queue is an annotation. Names: an id that is no DNS-1035 label is made one (lower case, '-' for the rest, "job-" before
 * a digit; "-2" ... behind a name that is taken); the id itself stays in an annotation. Pods are steered to their node groups by
 * labels: the group's own, else nvidia.com/gpu.product, else trainyard/group (objects.h reads the last two as given).
 *
 * Refused: fractions of a GPU (Kubernetes counts whole ones), shared Ray clusters, node groups that no label tells apart.
 * Memory: the objects are cJSON trees, a few KB a job. Not copied: scenario, which must outlive the set.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_MANIFESTS_H
#define TRAINYARD_INPUT_MANIFESTS_H

#include <cjson/cJSON.h>

#include "base/diag.h"
#include "base/str.h"
#include "input/scenario.h"

#define MANIFEST_IMAGE     "trainyard-worker:latest"
#define MANIFEST_RAY_IMAGE "rayproject/ray:2.52.0"
#define MANIFEST_DURATION  "trainyard/duration" /* annotation of pods */

enum { ITEM_NO_JOB = -1 };

struct manifest_item {
    const char *api_version, *kind, *name;
    const char *ns;   /* NULL: the object has none */
    cJSON *object;
    int64_t at_ns;    /* when it is created */
    int64_t job;      /* index into set->jobs; ITEM_NO_JOB */
    int64_t shares;   /* GPUs that its pods hold */
};

struct manifest_options {
    const char *image;    /* of all containers that no manifest gives; NULL: the two above */
    uint32_t replication; /* of the workload */
    double scale;         /* of the durations that pods carry; 0: 1 */
};

struct manifest_set {
    struct manifest_item *v;
    size_t n, cap;
    struct job_spec *jobs; /* of the replication */
    size_t n_jobs;
    bool owned, queues;    /* queues: Kueue's objects are among them */
    struct arena arena;
};

/* False after errors, with an empty set. */
bool manifests_make(const struct scenario *, const struct manifest_options *, struct manifest_set *, struct diag *);
void manifests_free(struct manifest_set *);

/* The scenario whose "objects" are the files that match `pattern`: cluster, faults, approach and run as they are. */
void manifests_scenario(const struct scenario *, const struct manifest_set *, const char *pattern, struct str *json);
/* A Node for each of the cluster's, with the labels, taints and capacities that the objects count on: for players such as KWOK. */
void manifests_nodes(const struct scenario *, struct str *yaml);

#endif
