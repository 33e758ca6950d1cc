/* scenario.h - one checked scenario under one approach: what the simulator and the live back ends are given.
 *
 *     struct diag *d = diag_create();
 *     struct scenario *s = scenario_load("two-teams.json", "operator", NULL, d);   // NULL approach: the first one
 *     if (!s) { diag_print(d, stderr); exit(3); }
 *     ... scenario_resolved(s, &text) ...      // defaults and profiles expanded; loading it again gives an equal one
 *     scenario_free(s);
 *
 * A scenario is immutable once loaded; simulations may share it. `like` and `patch` of an approach are applied to the JSON
 * before it is read, so this struct knows nothing of other approaches but their names.
 * Times are ns (int64_t), GPUs shares (1 GPU = 1,000), CPU milli-CPU, memory bytes. Indices, not pointers, join tables.
 * All memory lies in the scenario's arena. Memory: 64 bytes a job and its id; details are shared by the jobs of a class.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_SCENARIO_H
#define TRAINYARD_INPUT_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "input/kinds.h"
#include "input/live.h"
#include "input/objects.h"
#include "input/quota.h"
#include "input/stack.h"
#include "models/checkpoint.h"
#include "models/step.h"

#define TIME_NEVER INT64_MAX
enum { SHARES_PER_GPU = 1000, NO_INDEX = 0xffff, MAX_GPUS_PER_NODE = 64 };

/* ---- cluster ---- */

/* A taint's value is "value:Effect" behind its key. */
struct label { const char *key, *value; };
struct labels { struct label *v; size_t n; };

struct node_group {
    const char *name;
    const char *gpu;            /* GPU type such as "h100"; "": not said */
    uint32_t first_node, count;
    uint32_t gpus;              /* a node; 0 allowed (CPU nodes) */
    int64_t cpu_milli, mem_bytes; /* INT64_MAX: not limited */
    double price_per_hour;      /* a node */
    struct labels labels, taints;
    bool spot;
    const struct step_hardware *hardware; /* of its GPUs; NULL: nothing is known of them */
    int64_t age_ns;             /* in service before the run begins; matters to lives whose hazard changes with age */
};

/* Spread of speed: a hardware property, the same under all approaches. */
struct straggler_spec {
    double share;    /* of nodes that are slow */
    double slowness; /* of these: their GPUs take 1 + slowness times as long */
    double jitter;   /* of each rank and step: deviation of its compute time over the mean */
};

/* Levels from the widest to "host". Nodes are numbered along racks, racks along blocks. */
struct topology { uint32_t nodes_per_rack, racks_per_block; /* 0: no such level */ };

struct image_model { int64_t size_bytes; double cached; int64_t pull_bytes_per_s; };

struct network_model { /* first alpha-beta model; the models issue replaces it */
    int64_t latency_ns;            /* alpha a hop */
    double intra_bytes_per_s;      /* a GPU within its node */
    double inter_bytes_per_s;      /* a node to the fabric */
    double rack_oversubscription, block_oversubscription; /* what lies below over what leaves; >= 1 (sim/cluster/network.h) */
    bool contention, spare[7];     /* links are shared */
};

/* Bandwidth of all writers and readers together; of a local store, that of one node's disks. */
struct storage { const char *name; double write_bytes_per_s, read_bytes_per_s; bool local; /* lost with its node */ };

struct cluster_spec {
    struct node_group *groups;
    uint32_t n_groups, n_nodes;
    int64_t total_shares;
    struct topology topology;
    struct straggler_spec stragglers;
    struct network_model network;
    struct image_model image;
    struct storage *storage;
    uint32_t n_storage;
};

/* ---- workload ---- */

struct role_spec {
    enum pod_role role;
    const char *name;              /* as the object has it: "Worker", a worker group's name */
    uint32_t replicas;
    uint32_t min_replicas, max_replicas; /* worker groups that an autoscaler may resize; else both = replicas */
    uint32_t gpu_shares;           /* a replica: n x 1000, or a fraction of one GPU */
    int64_t cpu_milli, mem_bytes;  /* a replica */
    enum restart_policy restart;
    const struct pod_template *pod; /* objects.h; NULL: the job came without a manifest */
};
enum { MAX_ROLES = 8 };

enum { NO_STORAGE = UINT32_MAX, FROM_SIZE = -1 };
struct checkpoint_spec {
    int64_t interval_ns;   /* between saves, of training time; 0: none */
    int64_t save_ns;       /* blocking part; FROM_SIZE: checkpoint_times_of says it, as for the next two */
    int64_t background_ns; /* async: durable so much later; 0: sync */
    int64_t load_ns;
    int64_t size_bytes;    /* of all of it; 0: not said */
    uint32_t storage;      /* of the cluster's, or NO_STORAGE */
    bool sharded;          /* every rank writes its share; else rank 0 writes all */
    bool async;            /* training stops for the copy to host memory only */
    bool node_limits;      /* sharded or process was given: the nodes' links and processes count, not the store alone */
    double process_bytes_per_s, copy_bytes_per_s; /* of one process to the store (0: no limit); of a GPU to host memory */
};

struct elastic_spec { uint32_t min, max, max_restarts; /* max 0: not elastic */ };

/* How a step's time divides; parts in ns of a step on the nominal number of GPUs. All 0: the job was given as a
 * duration. With communication -1 a job's work counts compute and data only, and communication comes on top.
 * With `model` the parts follow from it and from where the ranks lie (sim/train/step_parts.h); here are its nominal ones, on
 * full nodes of the first group that may serve the job. */
struct step_spec {
    int64_t compute_ns, communication_ns, data_ns; /* communication -1: from the network model */
    int64_t gradient_bytes;                        /* all-reduced a step, for the network model */
    const struct step_input *model;                /* NULL: the parts are declared */
    int64_t modelled_ns;                           /* length of such a step */
};
/* Length of a step as a job's work counts it; 0: given as a duration. */
static inline int64_t step_nominal_ns(const struct step_spec *p)
{
    if (p->model) return p->modelled_ns;
    return p->compute_ns + p->data_ns + (p->communication_ns > 0 ? p->communication_ns : 0);
}

/* What jobs of a class have in common. */
struct raw_job;
struct job_detail {
    enum job_kind kind;
    struct role_spec roles[MAX_ROLES];
    uint32_t n_roles;
    struct step_spec step;
    const struct learning_spec *learning; /* learning.h; NULL: not said */
    const struct data_spec *data;   /* data.h; NULL: a step does not wait for data but as `step` says */
    struct checkpoint_spec checkpoint;
    struct elastic_spec elastic;
    enum clean_pod_policy clean;
    int64_t backoff_limit;          /* -1: not set */
    int64_t active_deadline_ns, ttl_ns; /* TIME_NEVER: not set */
    int64_t crash_mtbf_ns;          /* process crashes a rank, of training time; 0: none */
    int64_t hang_mtbf_ns;
    int64_t job_crash_mtbf_ns;      /* crashes of the job as a whole, of training time, whatever its size; 0: none */
    uint32_t max_failures;          /* Ray Train; UINT32_MAX: unlimited */
    uint32_t ray_backoff_limit;     /* RayJob: new clusters */
    bool suspend, shutdown_after, gcs_ft;
    uint32_t completions;           /* Job; 0: as many as replicas */
    uint32_t min_parallelism;       /* Job: Kueue may admit so few pods; 0: all or none */
    bool indexed;                   /* Job's completionMode */
    bool replace_failed_only;       /* Job's podReplacementPolicy Failed */
    bool autoscaling;               /* RayCluster's enableInTreeAutoscaling */
    uint64_t groups;                /* bit g: node group g may serve it (selector, GPU type, taints) */
    uint8_t topology_level;         /* 0 none, 1 host, 2 rack, 3 block */
    bool topology_required;
    uint32_t *after; uint32_t n_after; /* job indices */
    const struct manifest *manifest; /* the object that it came from, or NULL */
    const struct raw_job *raw;       /* what was written (raw.h) */
};

/* One job, in order of submission. 64 bytes. */
struct job_spec {
    int64_t submit_ns;
    int64_t work_ns;    /* duration at full speed on its GPUs; steps x step time for training; TIME_NEVER: it does not
                           end by itself (a RayCluster, a manifest of which nothing says how long it runs) */
    int64_t limit_ns;   /* time limit, TIME_NEVER: none */
    uint64_t id;        /* number, or offset in id_text when has_id_text */
    uint32_t replicas;  /* of the detail's last role; 0: as the detail says */
    uint32_t gpu_shares; /* a replica of the last role; UINT32_MAX: as the detail says */
    uint32_t detail;
    int32_t priority;
    uint16_t queue, team;
    uint8_t flags;      /* JOB_ID_TEXT */
    uint8_t spare[11];
};
_Static_assert(sizeof(struct job_spec) == 64, "jobs are the bulk of a scenario");
enum { JOB_ID_TEXT = 1 };

/* ---- faults ---- */

enum fault_scope { FAULT_GPU, FAULT_NODE, FAULT_RACK, FAULT_SWITCH, FAULT_STORAGE, FAULT_LINK, N_FAULT_SCOPES };
struct fault_component { /* one row of a failure profile */
    const char *name;
    enum fault_scope scope;
    int64_t mtbf_ns;      /* mean life of a new one */
    double shape;         /* Weibull; 1: exponential */
    int64_t repair_ns;    /* mean (lognormal) or fixed when sigma 0 */
    double repair_sigma;
    double after_repair;  /* each repair multiplies the mean life by it (geometric process); 1: as new */
    int64_t least_mtbf_ns; /* ... down to this */
    double lemon_share, lemon_times; /* nodes that fail so many times as often; 0, 1: none */
    uint32_t nodes;       /* that one of them takes down; 0: all of its groups */
    uint32_t per_node;    /* how many a node has (gpu, node, link); 0: as many as GPUs */
    uint64_t groups;      /* node groups it applies to */
};

#define FAULT_ACTIONS(X)                                                                                               \
    X(DO_CONTAINER_EXIT, "container-exit") X(DO_POD_FAILED, "pod-failed") X(DO_POD_SUCCEEDED, "pod-succeeded")         \
    X(DO_POD_EVICTED, "pod-evicted") X(DO_POD_DELETED, "pod-deleted") X(DO_NODE_LOST, "node-lost")                     \
    X(DO_NODE_BACK, "node-back") X(DO_NODE_DRAIN, "node-drain") X(DO_HEAD_CRASH, "head-crash") X(DO_HANG, "hang")      \
    X(DO_CRASH, "crash") X(DO_SUSPEND, "suspend") X(DO_RESUME, "resume") X(DO_SCALE, "scale")                          \
    X(DO_FORCE_DELETE, "force-delete") X(DO_TOUCH, "touch") X(DO_DELETE_JOB, "delete-job") X(DO_SET_QUOTA, "set-quota") \
    X(DO_HOLD, "hold") X(DO_SET_LINK, "set-link")
#define X_ENUM(e, ...) e,
enum fault_action { FAULT_ACTIONS(X_ENUM) N_FAULT_ACTIONS };
#undef X_ENUM
extern const char *const fault_action_names[N_FAULT_ACTIONS];

struct script_action { /* "at", "target", "action", "code"/"replicas"/"value" */
    int64_t at_ns;
    enum fault_action action;
    const char *target; /* "pod/NAME", "node/GROUP-3", "job/ID", "queue/NAME" */
    int64_t value;      /* exit code, replicas, quota of the first flavor (milli-GPU), hold 1, and drain 2, or 0, ppm of a link */
    uint32_t line;
    uint32_t order;     /* in the file */
};

struct fault_spec {
    struct fault_component *components;
    uint32_t n_components;
    struct script_action *script; /* by time, then file order */
    uint32_t n_script;
};

/* ---- approach ---- */

#define LIFECYCLES(X)                                                                                                  \
    X(LIFE_NONE, "none") X(LIFE_TRAINING_OPERATOR_V1, "training-operator-v1") X(LIFE_RAY_TRAIN_V2, "ray-train-v2") \
    X(LIFE_BATCH_JOB, "batch-job")
#define ADMISSIONS(X)                                                                                                  \
    X(ADMIT_NONE, "none") X(ADMIT_FIFO, "fifo") X(ADMIT_FIFO_SKIP, "fifo-skip") X(ADMIT_FEWEST_GPUS, "fewest-gpus")    \
    X(ADMIT_SRPT, "srpt") X(ADMIT_LAS, "las") X(ADMIT_EASY, "easy") X(ADMIT_CONSERVATIVE, "conservative")              \
    X(ADMIT_KUEUE, "kueue")
#define SCHEDULERS(X) X(SCHED_KUBE, "kube") X(SCHED_BATCH, "batch")
#define GANGS(X) X(GANG_NONE, "none") X(GANG_COSCHEDULING, "coscheduling")
#define PLACEMENTS(X)                                                                                                  \
    X(PLACE_COUNT, "none") X(PLACE_FIRST, "first") X(PLACE_PACK, "pack") X(PLACE_SPREAD, "spread")                     \
    X(PLACE_TOPOLOGY, "topology")
#define RAY_CLUSTERS(X) X(RAY_PER_JOB, "per-job") X(RAY_SHARED, "shared")
#define ELASTICS(X) X(ELASTIC_NONE, "none") X(ELASTIC_TORCHRUN, "torchrun") X(ELASTIC_RAY, "ray")

#define X_ENUM(e, ...) e,
enum lifecycle_name { LIFECYCLES(X_ENUM) N_LIFECYCLES };
enum admission_name { ADMISSIONS(X_ENUM) N_ADMISSIONS };
enum scheduler_name { SCHEDULERS(X_ENUM) N_SCHEDULERS };
enum gang_name { GANGS(X_ENUM) N_GANGS };
enum placement_name { PLACEMENTS(X_ENUM) N_PLACEMENTS };
enum ray_cluster_name { RAY_CLUSTERS(X_ENUM) N_RAY_CLUSTERS };
enum elastic_name { ELASTICS(X_ENUM) N_ELASTICS };
#undef X_ENUM
extern const char *const lifecycle_names[N_LIFECYCLES], *const admission_names[N_ADMISSIONS],
    *const scheduler_names[N_SCHEDULERS], *const gang_names[N_GANGS], *const placement_names[N_PLACEMENTS],
    *const ray_cluster_names[N_RAY_CLUSTERS], *const elastic_names[N_ELASTICS];

struct approach {
    const char *name;
    enum lifecycle_name lifecycle[N_JOB_KINDS]; /* by kind, the most specific of the scenario's map */
    enum admission_name admission;
    enum scheduler_name scheduler;
    enum gang_name gang;
    enum placement_name placement;
    enum ray_cluster_name ray_cluster;
    enum elastic_name elastic;
    int64_t las_limits_gpu_ns[2]; /* Tiresias: queue limits in GPU-time; default 3250 and 7200 GPU-s */
    struct stack stack;
    const char *stack_name;
    bool patches_cluster; /* flagged in every comparison */
    /* shared Ray cluster; both 0 with per-job clusters */
    uint32_t shared_workers_min, shared_workers_max;
    /* head pod of the Ray clusters made for neutral loads */
    int64_t head_cpu_milli, head_mem_bytes;
};

struct run_spec { int64_t horizon_ns /* TIME_NEVER: open */, warmup_ns; uint64_t seed; uint32_t replications; };

struct raw_scenario;   /* raw.h: what was read, for scenario_resolved */
struct generate_class;   /* generate.h */
struct workload_profile; /* generate.h */

struct scenario {
    struct arena arena;
    const char *name, *file;
    char hash[33]; /* of the resolved text and the job table */
    struct cluster_spec cluster;
    struct quota_spec quota; /* Kueue's objects, from "queues" or "objects" */
    struct job_spec *jobs;
    size_t n_jobs;
    struct job_detail *details;
    size_t n_details;
    char *id_text;
    const char **teams;  uint32_t n_teams;  /* index 0: "" */
    const char **queues; uint32_t n_queues; /* index 0: "" (no queue); index i: quota.local[i - 1] while i <= n_local */
    struct fault_spec faults;
    struct approach approach;
    const char **approach_names; uint32_t n_approaches;
    struct run_spec run;
    const struct live_spec *live; /* live.h; never NULL */
    struct manifest **manifests; uint32_t n_manifests;
    struct generate_class *generated; uint32_t n_generated; /* drawn anew by scenario_workload; not in `jobs` */
    int64_t generate_horizon_ns;
    struct workload_profile **profiles; uint32_t n_profiles; /* of `generated` */
    int64_t week_offset_ns;  /* time of the week at time 0, from Monday 00:00 */
    const char **notes; uint32_t n_notes; /* what a trace lacks or contradicts; for people */
    size_t n_table_jobs;     /* jobs of traces, which scenario_resolved writes as CSV */
    struct raw_scenario *raw;
};

/* `approach` NULL: the first. `overrides`: "pointer=value" texts applied as patches (NULL-terminated), or NULL. */
struct scenario *scenario_load(const char *file, const char *approach, const char *const *overrides, struct diag *);
/* The same of a text that was read from `file` before: a file, or stdin, is read once for all its approaches. */
struct scenario *scenario_read(const char *file, const char *text, size_t n, const char *approach,
                               const char *const *overrides, struct diag *);
struct scenario *scenario_parse(const char *name, const char *text, size_t n, const char *approach, struct diag *);
/* The workload of one replication: generated classes drawn anew by (seed, replication); others as they are. Job
 * tables of a trace are shared, not copied. */
bool scenario_workload(const struct scenario *, uint32_t replication, struct job_spec **jobs, size_t *n, bool *owned);
void scenario_free(struct scenario *);

/* Id of a job as text; buf of >= 24 bytes is used for numbers. */
const char *job_id(const struct scenario *, const struct job_spec *, char buf[24]);
/* An error at the place where the job, or the class that it is of, is written: in the scenario, or the object that it came from. */
void job_error(struct diag *, const struct scenario *, const struct job_spec *, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Save, stall, background and load of a job's checkpoint on so many GPUs and nodes, undisturbed by others. */
struct checkpoint_times checkpoint_times_of(const struct scenario *, const struct checkpoint_spec *, uint32_t gpus, uint32_t nodes);
/* Of the node groups in the mask (bit g) the one with most GPUs; 0 when there is none. */
uint16_t scenario_largest_group(const struct scenario *, uint64_t groups);
/* Total shares of a job, over all roles that hold GPUs. */
int64_t job_shares(const struct scenario *, const struct job_spec *);
uint32_t job_role_replicas(const struct scenario *, const struct job_spec *, uint32_t role_index);
uint32_t job_role_shares(const struct scenario *, const struct job_spec *, uint32_t role_index);

struct str;
/* The resolved scenario as JSON; its job table (if the workload is one) as CSV. */
void scenario_resolved(const struct scenario *, struct str *json, struct str *jobs_csv);

#endif
