/* raw.h - a scenario as it was written: one struct an object of the file, filled by the tables of field.h.
 *
 * Private to input/. The order of work: patched tree -> raw structs -> profiles filled in -> struct scenario. The raw
 * structs are kept, since the resolved scenario is written from them. Types and "absent" are those of field.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_RAW_H
#define TRAINYARD_INPUT_RAW_H

#include "base/array.h"
#include "base/hmap.h"
#include "input/field.h"
#include "input/import.h"
#include "input/scenario.h"

/* ---- cluster.c ---- */

struct raw_taint { const struct value *at; const char *key, *value; int64_t effect; };
struct raw_links {
    const struct value *at;
    int64_t library, compute_capability, links, joined, domain, pcie, pcie_peer, amd_cpu;
};
struct raw_node_group {
    const struct value *at;
    const char *group, *profile, *gpu;
    int64_t count, gpus, cpu, memory, spot, age;
    double price_per_hour, peak_tflops, gpu_memory_tbps;
    int64_t gpu_memory;
    struct raw_links *links;
    struct list labels, taints; /* struct text, struct raw_taint */
};
struct raw_topology { const struct value *at; struct list levels; int64_t nodes_per_rack, racks_per_block; };
struct raw_oversubscription { const struct value *at; double rack, block; };
struct raw_network {
    const struct value *at;
    const char *profile;
    const struct value *collectives; /* a measured collective: a name, or the profile itself */
    int64_t nic, nics, sharp;
    int64_t latency, intra, inter, contention;
    struct raw_oversubscription *oversubscription;
};
struct raw_storage { const struct value *at; const char *name; int64_t kind, write, read; };
struct raw_stragglers { const struct value *at; double share, slowness, jitter; };
struct raw_images { const struct value *at; int64_t size, pull; double cached; };
struct raw_kernel_family { const struct value *at; const char *family; int64_t rows; double gemm, attention, fp8; };
struct raw_kernels {
    const struct value *at;
    const char *profile, *name, *source;
    double activation_bytes, forward, exposed;
    int64_t rows, hop, step;
    struct list gpus;
};
struct raw_cluster {
    const struct value *at;
    struct list nodes, storage;
    struct raw_topology *topology;
    struct raw_network *network;
    struct raw_images *images;
    struct raw_stragglers *stragglers;
    struct raw_kernels *kernels;
};

/* ---- queues.c ---- */

struct raw_borrow_within { const struct value *at; int64_t policy, threshold; };
struct raw_preemption { const struct value *at; int64_t within, reclaim; struct raw_borrow_within *borrow; };
struct raw_fungibility { const struct value *at; int64_t can_borrow, can_preempt, preference; };
struct raw_queue {
    const struct value *at;
    const char *name, *cohort;
    struct list quota, borrowing, lending;
    int64_t strategy, stop;
    double weight;
    struct raw_preemption *preemption;
    struct raw_fungibility *fungibility;
};
struct raw_cohort { const struct value *at; const char *name, *parent; struct list quota, borrowing, lending; };
struct raw_priority { const struct value *at; int64_t value; };

/* ---- jobs.c ---- */

struct raw_role { const struct value *at; int64_t replicas, min, max, gpus, cpu, memory, restart; };
struct raw_roles { const struct value *at; struct raw_role *master, *worker, *head, *submitter, *pod; };
struct raw_step { const struct value *at; int64_t compute, communication, data, gradient; };
struct raw_model {
    const struct value *at;
    const char *name;
    int64_t layers, hidden, heads, kv_heads, vocabulary, sequence, top_k, tied, activations, traffic, exchange, launch;
    double parameters, active_parameters, expert_parameters, sample_flops;
};
struct raw_parallelism {
    const struct value *at;
    int64_t data, tensor, pipeline, interleave, context, expert, sequence, zero;
    double overlap;
};
struct raw_batch { const struct value *at; int64_t global, micro, recompute, precision; };
struct raw_checkpoint {
    const struct value *at;
    int64_t interval, save, background, load, size, optimizer, sharded, async, process, copy;
    double parameters;
    const char *storage;
};
struct raw_elastic { const struct value *at; int64_t min, max, max_restarts; };
struct raw_data {
    const struct value *at;
    const char *storage;
    int64_t workers, mode, cpu, cores, size, latency, prefetch, dataset, cache, cache_rule;
    double samples, locked, variation;
};
struct raw_learning { const struct value *at; int64_t warmup, schedule; double rate, final, floor, scale, exponent; };
struct raw_toleration { const struct value *at; const char *key, *value; int64_t op, effect, seconds; };
struct raw_topology_wish { const struct value *at; int64_t level, required; };
struct raw_job {
    const struct value *at;
    const char *id, *object, *queue, *team, *priority_class, *gpu;
    int64_t kind, submit, count, every, replicas, gpus, cpu, memory, duration, steps, limit, priority;
    int64_t restart, clean, backoff_limit, active_deadline, ttl, suspend, crash_mtbf, hang_mtbf, job_crash_mtbf, max_failures,
        shutdown, gcs_ft, completions, completion_mode, min_parallelism, replacement;
    struct raw_roles *roles;
    struct raw_step *step;
    struct raw_model *model;
    struct raw_parallelism *parallelism;
    struct raw_batch *batch;
    struct raw_data *data;
    struct raw_learning *learning;
    struct raw_checkpoint *checkpoint;
    struct raw_elastic *elastic;
    struct raw_topology_wish *topology;
    struct list after, node_selector, tolerations;
};

/* ---- workload.c ---- */

struct raw_map { const struct value *at; const char *column[N_IMPORT_FIELDS]; };
struct raw_trace {
    const struct value *at;
    struct list files; /* strings */
    const char *format;
    int64_t gpus_per_node;
    struct raw_map *map;
    struct raw_job *defaults;
    struct list classes; /* MAP of raw_job */
    uint32_t first_detail; /* of the defaults; the classes follow */
};
struct raw_distribution {
    const struct value *at;
    int64_t kind, value, low, high, mean, median, min, max;
    double sigma;
    const struct value *p, *x; /* arrays of probabilities and durations */
};
struct raw_size { const struct value *at; int64_t replicas, gpus; double weight; struct raw_distribution *work; };
struct raw_team { const struct value *at; double weight; const char *queue; };
struct raw_generate {
    const struct value *at;
    const char *name;
    const struct value *profile; /* a name, or the profile itself */
    double rate_per_hour, load, limit_factor;
    int64_t count, every, start, end;
    struct raw_distribution *work;
    struct list sizes, teams; /* raw_size; MAP of raw_team */
    struct raw_job *job; /* what a job of the class is, times and counts aside */
};
struct raw_workload {
    const struct value *at;
    struct list jobs, generate;
    struct raw_trace *trace;
    int64_t week_offset;
};

/* ---- faults.c ---- */

struct raw_lemons { const struct value *at; double share, times; };
struct raw_component {
    const struct value *at;
    const char *name;
    int64_t scope, mtbf, repair, least_mtbf, nodes, per_node;
    double shape, repair_sigma, after_repair;
    struct raw_lemons *lemons;
    struct list groups; /* strings; none: all */
};
struct raw_job_faults { const struct value *at; int64_t crash_mtbf, hang_mtbf, job_crash_mtbf; };
struct raw_action {
    const struct value *at;
    const char *target;
    int64_t when, action, code, replicas, value;
};
struct raw_faults { const struct value *at; struct list profiles, components, script; struct raw_job_faults *jobs; };

/* ---- approach.c ---- */

struct raw_lifecycle { const struct value *at; int64_t all, cluster, kind[N_JOB_KINDS]; };
struct raw_shared { const struct value *at; int64_t min, max; };
struct raw_ray_head { const struct value *at; int64_t cpu, memory; };
struct raw_approach {
    const struct value *at;
    const char *like;
    const struct value *patch;
    struct raw_lifecycle *lifecycle;
    int64_t admission, scheduler, gang, placement, ray_cluster, elastic, las_first, las_second, patches_cluster;
    struct raw_shared *shared;
    struct raw_ray_head *head;
    struct list stack;
};
struct raw_run { const struct value *at; int64_t horizon, warmup, seed, replications; };

/* ---- live.c ---- */

struct raw_live_hosts { const struct value *at; const char *group; struct list addresses; const char *worker, *directory; };
struct raw_live {
    const struct value *at;
    double time_scale;
    int64_t processes, pace, hidden, features, classes, samples, batch;
    struct list hosts;
};

/* ---- scenario.c ---- */

struct raw_scenario {
    const struct value *at;
    int64_t version;
    const char *name, *description;
    struct raw_cluster *cluster;
    struct list queues, cohorts, priorities; /* priorities: MAP of raw_priority */
    const struct value *objects;             /* expanded: an array of objects */
    struct raw_workload *workload;
    struct raw_faults *faults;
    struct list approaches; /* MAP of raw_approach: only the chosen one */
    struct raw_run *run;
    struct raw_live *live; /* NULL: not given */
};

extern const struct object_type cluster_type, kernels_type, model_type, parallelism_type, batch_type, data_type, learning_type, queue_type,
    cohort_type, priority_type, workload_type, faults_type,
    approach_type, run_type, live_type, job_type, scenario_type, generate_type;
extern const struct object_type checkpoint_type, preemption_type, fungibility_type, toleration_type, taint_type, fault_component_type;

/* Words shared by tables; the enums of quota.h and kinds.h number them. */
extern const char *const queueing_strategy_names[2], *const preempt_within_names[3], *const preempt_reclaim_names[3],
    *const stop_policy_names[3], *const job_kind_names[N_JOB_KINDS], *const taint_effect_names[3],
    *const topology_level_names[4], *const fault_scope_names[N_FAULT_SCOPES];

/* ---- building the scenario ---- */

struct name_table { const char **v; size_t n, cap; };

/* Jobs in the order of the file: explicit ones, those of objects, those of the trace. */
struct job_table {
    struct job_spec *v;
    size_t n, cap;
    struct str id_text;
    struct hmap ids; /* of explicit jobs -> place in v */
};

/* A class whose checkpoint interval is "optimal". */
struct optimal_interval { struct raw_checkpoint *raw; uint32_t detail; };

/* What the builders share while one scenario is made. */
struct build {
    struct scenario *s;
    struct arena *arena; /* the scenario's */
    struct diag *diag;
    const char *dir;     /* of the scenario's file: relative names start here */
    struct raw_scenario *raw;
    struct name_table teams, queues;
    struct reader reader;
    struct { struct job_detail *v; size_t n, cap; } details;
    ARRAY(struct optimal_interval) optimal; /* checkpoint intervals that wait for the failure rates */
    struct job_table jobs;
};

void build_cluster(struct build *b, struct raw_cluster *raw);
struct object_set;
void build_quota(struct build *b, struct object_set *objects);
void build_workload(struct build *b, struct object_set *objects);
void build_faults(struct build *b, struct raw_faults *raw);
void build_approach(struct build *b, const char *name, struct raw_approach *raw);
void build_run(struct build *b, const struct raw_run *raw);
void build_live(struct build *b, struct raw_live *raw);

/* objects.c: "objects". The files are put into the tree before patches; then quota objects go into the quota, jobs into
 * manifests. */
struct quota_builder;
bool objects_expand(struct build *b, struct value *root);
struct object_set *objects_read(struct build *b);
void objects_quota(struct build *b, struct object_set *set, struct quota_builder *qb);

/* A job of an object: what the manifest says, and what its annotations add. */
struct object_job {
    const struct value *at;
    struct manifest *manifest;
    struct job_detail detail;
    struct raw_job *raw;
    const char *id, *queue, *priority_class;
    bool used; /* an entry of workload.jobs has taken it */
};
struct object_jobs { struct object_job *v; size_t n, cap; };
struct object_jobs *objects_jobs(struct object_set *set);
/* Reports keys of an entry that the object says itself. */
void object_keys_check(struct build *b, const struct value *v, enum job_kind kind);

/* object_pods.c */
extern const struct object_type object_meta_type, pod_template_type;
struct raw_meta { const struct value *at; const char *name, *ns; struct list labels, annotations; };
struct raw_pod_spec { const struct value *at; struct list containers, init_containers, node_selector, tolerations;
                      const char *priority_class; };
struct raw_template { const struct value *at; struct raw_meta *meta; struct raw_pod_spec *spec; };
void build_pod_template(struct build *b, const struct raw_template *raw, struct pod_template *out);
struct manifest_text *build_texts(struct build *b, struct list list, size_t *n);
/* Sum of the containers' requests, as the scheduler counts. */
void pod_resources(struct build *b, const struct pod_template *pod, const struct value *at, struct role_spec *role);
uint64_t pod_groups(const struct build *b, const struct raw_template *raw);

/* object_training.c, object_ray.c, object_job.c: readers by kind; the object's job goes to *job. False after an error. */
bool read_pytorchjob(struct build *b, const struct value *v, struct object_job *job);
bool read_raycluster(struct build *b, const struct value *v, struct object_job *job);
bool read_rayjob(struct build *b, const struct value *v, struct object_job *job);
bool read_batch_job(struct build *b, const struct value *v, struct object_job *job);
/* object_kueue.c: readers of quota objects. */
void read_flavor(struct build *b, const struct value *v, struct quota_builder *qb);
void read_cohort(struct build *b, const struct value *v, struct quota_builder *qb);
void read_cluster_queue(struct build *b, const struct value *v, struct quota_builder *qb);
void read_local_queue(struct build *b, const struct value *v, struct quota_builder *qb);
void read_priority_class(struct build *b, const struct value *v, struct quota_builder *qb);

/* training.c: what a job's model says of its steps; nothing without a model. */
void build_model(struct build *b, struct job_detail *d, struct raw_job *raw);
/* What is known of the GPUs of a group: its own keys, else the specification of its GPU type; NULL: nothing. */
struct step_hardware *build_hardware(struct build *b, const struct raw_node_group *g, struct raw_network *n);
/* data.c: what a job's steps read; nothing without "data". After step and model. */
void build_data(struct build *b, struct job_detail *d, const struct raw_job *raw);
/* kernels.c: the profile in its place; what is said of kernels, for a group's GPUs. `k` NULL: nothing. */
void expand_kernels(struct build *b, struct raw_kernels *k);
void apply_kernels(const struct raw_kernels *k, struct step_hardware *h);

/* learning.c */
void build_learning(struct build *b, struct job_detail *d, const struct raw_job *raw);

/* Index of a name, which is added when new. Index 0 is "". */
uint16_t name_index(struct build *b, struct name_table *t, const char *name);

/* Node groups by name or GPU type, as a bit set; 0: none is called so. */
uint64_t groups_named(const struct cluster_spec *c, const char *name);
/* Node groups whose labels have all of these (struct text). */
uint64_t groups_selected(const struct cluster_spec *c, struct list selector);
/* Node groups whose taints are all tolerated (struct raw_toleration). */
uint64_t groups_tolerated(const struct cluster_spec *c, struct list tolerations);
uint64_t groups_all(const struct cluster_spec *c);

/* job_detail from a raw job; `base`: the manifest's detail, or NULL. */
struct object_job;
uint32_t build_detail(struct build *b, struct raw_job *raw, const struct object_job *object);
/* Work and limit of a job; false after an error. */
bool build_work(struct build *b, struct raw_job *raw, const struct job_detail *detail, bool endless_ok,
                struct job_spec *job);
/* Queue, team, priority; `object`: whose labels say what raw does not, or NULL. */
void build_owner(struct build *b, const struct raw_job *raw, const struct object_job *object, struct job_spec *job);

/* job_checkpoint.c: d->checkpoint; `detail`: the place that d will have in b->details. Later, when failures are known, the
 * optimal intervals. */
void build_checkpoint(struct build *b, struct job_detail *d, struct raw_checkpoint *raw, uint32_t detail);
void build_optimal_intervals(struct build *b);

/* A class of jobs whose times and ids something else gives (`what`: "the trace"); keys that it gives are errors. */
uint32_t build_class(struct build *b, struct raw_job *raw, const char *what);
/* The queue of that name; reported at `at` when the scenario has queues and none is called so. */
uint16_t queue_index(struct build *b, const char *name, const struct value *at);

/* trace.c, generated.c */
extern const struct object_type trace_type;
void build_trace(struct build *b, struct raw_trace *raw);
void build_generated(struct build *b, struct raw_workload *raw);
void trace_csv(const struct scenario *s, struct str *out);
#define TRACE_CSV_NAME "scenario.jobs.csv"

/* order.c: sorts b->jobs by submission into the scenario, and resolves `after`. */
struct after_ref { const struct raw_job *raw; uint32_t detail; };
void jobs_into_scenario(struct build *b, const struct after_ref *after, size_t n_after);
/* The id as a number or in id_text; false and an error when an explicit job has it already. */
bool job_set_id(struct build *b, struct job_spec *job, const char *id, const struct value *at);

/* machine_profiles.c: what profiles of hardware and of networks say. */
struct raw_hardware {
    const struct value *at;
    const char *name, *source, *gpu;
    int64_t gpus, cpu, memory, intra, inter;
    double price_per_hour;
    int64_t library, compute_capability, nvlink_links, nvlink_switch, nvlink_domain, pcie, pcie_peer, nic, nics, amd_cpu;
};
struct raw_fabric {
    const struct value *at;
    const char *name, *source;
    int64_t latency, intra, inter, nic, nics, sharp;
};
extern const struct object_type hardware_type, fabric_type, links_type;

/* links.c: what a profile says of links, where the group does not; the fabric of a group's nodes. */
struct collective_fabric;
void fill_links(struct build *b, struct raw_node_group *g, const struct raw_hardware *h);
void apply_fabric(struct build *b, struct collective_fabric *f, const struct raw_node_group *g, struct raw_network *n);
/* collective_fabric.c: a calibration that has been read as a tree; false after an error. */
bool collective_fabric_of_value(struct reader *r, const struct value *v, struct collective_fabric *f);

/* profiles.c: a profile file read as JSON tree, searched as scenario.h says. NULL after an error at `at`. */
const struct value *profile_load(struct build *b, const char *folder, const char *name, const struct value *at);

void scenario_set_hash(struct scenario *s);

/* patch.c: chooses the approach, follows `like`, applies patches and overrides to the tree. False after errors. */
bool patch_apply(struct build *b, struct value *root, const char **approach, const char *const *overrides);

#endif
