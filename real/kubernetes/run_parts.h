/* run_parts.h - what the parts of a run on Kubernetes share. Private to real/kubernetes/.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_KUBERNETES_RUN_PARTS_H
#define TRAINYARD_REAL_KUBERNETES_RUN_PARTS_H

#include "base/hmap.h"
#include "input/manifests.h"
#include "real/kubernetes/run.h"
#include "real/kubernetes/watch.h"
#include "real/live_run.h"

#define RUN_LABEL "trainyard/run"
#define JOB_LABEL "trainyard/job"

/* ---- mark.c: which run this is ---- */

enum { MAX_NAMESPACES = 64 };
struct k8s_mark {
    char id[49];                  /* value of the label */
    const char *server;
    const char *ns[MAX_NAMESPACES]; /* of the run, */
    const char *of[MAX_NAMESPACES]; /* in place of these of the scenario */
    size_t n_ns;
    uint32_t kinds;               /* that are among the run's objects: bit i for k8s_resource_at(i) */
    struct arena arena;
};
/* A new ID, from the scenario's name and the system's random numbers. False: the objects are in more than MAX_NAMESPACES. */
bool k8s_mark_begin(struct k8s_mark *, const struct scenario *, const struct manifest_set *, const char *server);
bool k8s_mark_write(const struct k8s_mark *, const char *dir, struct diag *);
bool k8s_mark_read(struct k8s_mark *, const char *dir, struct diag *);
const char *k8s_mark_ns(const struct k8s_mark *, const char *of);
void k8s_mark_free(struct k8s_mark *);

/* ---- plan.c: the run's objects ---- */

/* Labels, namespaces; the set is the run's from now on. */
void k8s_plan_label(const struct k8s_mark *, struct manifest_set *);
/* The run's namespaces as objects. */
cJSON *k8s_plan_namespace(const struct k8s_mark *, size_t i);
void k8s_plan_own(cJSON *object, const char *ns, const char *uid);
/* The member, made when it is not there. */
cJSON *k8s_object_at(cJSON *, const char *key);
/* Whether what the server holds by a name is this run's. */
bool k8s_plan_is_ours(const struct k8s_mark *, const cJSON *object);

/* ---- run.c ---- */

struct seen_pod {
    const char *name, *ns, *uid;
    uint32_t job, number, index;
    uint32_t node, group; /* LIVE_NONE: on none, holds nothing */
    enum pod_role role;
    int64_t shares, restarts;
    enum pod_state state;
    bool counts;       /* one of the job's ranks: no submitter, no launcher */
    bool gone, pulled, told, unfit; /* unfit: the scheduler finds no node for it */
    bool stray, wants; /* counted in the run's strays, wanting */
};

struct seen_job {
    const struct manifest_item *item;
    const char *uid;   /* of the object that was made */
    uint32_t index;    /* in the set */
    struct seen_pod **pods; size_t n_pods, cap_pods;
    bool submitted, creating, created, gone, quota, admitted, evicted, suspended, ray, ray_running; /* gone: its object is deleted */
    enum wait_reason then; /* once its pods are gone */
};

struct k8s_run {
    const struct scenario *s;
    const struct k8s_options *o;
    struct manifest_set set;
    struct k8s_mark mark;
    struct k8s_client *client;
    struct k8s_watches *watches;
    struct live_run *live;
    struct diag *d;
    struct arena arena;
    struct seen_job *jobs; size_t n_jobs;
    struct hmap by_name;  /* "ns/kind/name" of jobs' objects -> job */
    struct hmap by_uid;   /* of jobs' objects -> job */
    struct hmap pods;     /* "ns/name" -> the newest struct seen_pod */
    struct hmap conditions; /* "job/condition" -> status that was recorded last */
    struct hmap nodes;    /* name -> number of the scenario, or LIVE_NONE */
    bool *node_taken;
    uint32_t *next_node;  /* by group */
    uint64_t strays;      /* pods on nodes that the scenario has not */
    uint64_t wanting;     /* pods on nodes whose GPUs, as far as has been seen, others still hold */
    uint32_t n_pods;
    size_t next_item, next_action;
    int64_t begun_ns, over_ms; /* over: when all jobs had ended; 0: they have not */
    FILE *phases;
    bool kueue;
};

/* run.c: the jobs of the set, which has been labelled; all but the recorder and phases.csv, which are closed before. */
void k8s_find_jobs(struct k8s_run *);
void k8s_free_run(struct k8s_run *);

/* observe.c: what the watches tell. */
void k8s_observe_job(enum k8s_change, const cJSON *, void *run);
void k8s_observe_workload(enum k8s_change, const cJSON *, void *run);
void k8s_observe_pod(enum k8s_change, const cJSON *, void *run);
void k8s_observe_event(enum k8s_change, const cJSON *, void *run);
void k8s_observe_node(enum k8s_change, const cJSON *, void *run);
void k8s_observe_created(struct k8s_run *, struct seen_job *);
/* Its time has come, but not that of the jobs it comes after: it is submitted, and not created yet; or, as one of them has ended
 * without success, never: it is cancelled. */
void k8s_observe_dependent(struct k8s_run *, struct seen_job *, bool never);
/* A line of phases.csv. */
void k8s_phase(struct k8s_run *, const struct seen_job *, const char *phase, const char *kind, const char *object, const char *reason);
bool k8s_state_is_over(enum job_state);
bool k8s_job_is_over(const struct k8s_run *, const struct seen_job *);

/* nodes.c: the scenario's number of a live node; LIVE_NONE: none of its. */
uint32_t k8s_node_number(struct k8s_run *, const char *name);
void k8s_node_seen(struct k8s_run *, const cJSON *node);

/* actions.c: the scenario's script, by API calls. */
bool k8s_actions_check(const struct scenario *, struct diag *);
/* Plays what is due; false after an error that ends the run. */
bool k8s_actions_play(struct k8s_run *, int64_t now_ns);

/* clean.c */
bool k8s_clean_run(struct k8s_client *, const struct k8s_mark *, FILE *tell, struct diag *);

#endif
