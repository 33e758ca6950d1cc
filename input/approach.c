/* approach.c - one approach: a choice a layer, the constants of its stack, and which choices make sense together.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <string.h>

#include "input/raw.h"

#define X_KIND(e, key, ...)                                                                                            \
    { .name = key, .type = TYPE_WORD, .offset = offsetof(struct raw_lifecycle, kind) + sizeof(int64_t) * e,            \
      WORDS(lifecycle_names), .help = "for jobs written as " key },
static const struct field lifecycle_fields[] = {
    FIELD(raw_lifecycle, all, "all", TYPE_WORD, WORDS(lifecycle_names), .help = "for all jobs; default: that of train, else none"),
    FIELD(raw_lifecycle, cluster, "cluster", TYPE_WORD, WORDS(lifecycle_names), .help = "for Ray clusters"),
    JOB_KINDS(X_KIND)
};
#undef X_KIND
static const struct object_type lifecycle_type =
    OBJECT(raw_lifecycle, lifecycle_fields, "lifecycle",
           "What an admitted job does; the most specific entry wins: kind, load, all.", .shorthand = "all");

static const struct field shared_fields[] = {
    FIELD(raw_shared, min, "min", TYPE_INT, .required = true, .min = 0, .max = 1000000, .help = "workers it always has"),
    FIELD(raw_shared, max, "max", TYPE_INT, .required = true, .min = 1, .max = 1000000,
          .help = "workers to which it may be scaled"),
};
static const struct object_type shared_type =
    OBJECT(raw_shared, shared_fields, "shared_cluster", "Size of the one long-lived Ray cluster.");

static const struct field head_fields[] = {
    FIELD(raw_ray_head, cpu, "cpu", TYPE_QUANTITY, .fallback = "1", .help = "CPUs"),
    FIELD(raw_ray_head, memory, "memory", TYPE_BYTES, .fallback = "2Gi", .help = "memory"),
};
static const struct object_type head_type =
    OBJECT(raw_ray_head, head_fields, "ray_head", "The head pod of Ray clusters that no manifest describes.");

static const struct field approach_fields[] = {
    FIELD(raw_approach, like, "like", TYPE_STRING, .hidden = true, .help = "another approach, whose keys are taken over"),
    FIELD(raw_approach, patch, "patch", TYPE_ANY, .hidden = true,
          .help = "changes of the scenario for this approach: \"/queues/[research]/strategy\": \"StrictFIFO\"; null removes"),
    FIELD(raw_approach, lifecycle, "lifecycle", TYPE_OBJECT, .sub = &lifecycle_type, .always = true,
          .help = "what an admitted job does: one value, or a map by load and kind"),
    FIELD(raw_approach, admission, "admission", TYPE_WORD, WORDS(admission_names),
          .help = "who may start; default fifo without pods, else none"),
    FIELD(raw_approach, scheduler, "scheduler", TYPE_WORD, WORDS(scheduler_names),
          .help = "who places; default batch (whole jobs) without pods, else kube (pod by pod)"),
    FIELD(raw_approach, gang, "gang", TYPE_WORD, WORDS(gang_names), .fallback = "none",
          .help = "whether the pods of a job are placed all or none"),
    FIELD(raw_approach, placement, "placement", TYPE_WORD, WORDS(placement_names),
          .help = "which nodes; default first for easy, conservative and where nodes fail, none for other batch, else spread"),
    FIELD(raw_approach, ray_cluster, "ray_cluster", TYPE_WORD, WORDS(ray_cluster_names), .fallback = "per-job",
          .help = "a Ray cluster for each job, or one for all"),
    FIELD(raw_approach, shared, "shared_cluster", TYPE_OBJECT, .sub = &shared_type, .help = "with ray_cluster shared"),
    FIELD(raw_approach, head, "ray_head", TYPE_OBJECT, .sub = &head_type, .always = true, .help = "of Ray clusters"),
    FIELD(raw_approach, elastic, "elastic", TYPE_WORD, WORDS(elastic_names), .fallback = "none",
          .help = "who resizes elastic jobs"),
    FIELD(raw_approach, las_first, "las_first_limit", TYPE_GPU_TIME, .fallback = "3250s",
          .help = "GPU-time up to which a job is in the first queue of las"),
    FIELD(raw_approach, las_second, "las_second_limit", TYPE_GPU_TIME, .fallback = "7200s",
          .help = "GPU-time up to which a job is in the second queue of las"),
    FIELD(raw_approach, stack, "stack", TYPE_STACK,
          .help = "a stack profile, several, or constants by name: { \"name\": \"kueue-0.18\", \"kueue.cycle\": \"25ms\" }"),
    FIELD(raw_approach, patches_cluster, "patches_cluster", TYPE_BOOL, .fallback = "false",
          .help = "written into resolved scenarios: a patch had changed the cluster"),
};
const struct object_type approach_type =
    OBJECT(raw_approach, approach_fields, "approach", "A choice for each layer.");

/* ---- what makes sense together ---- */

enum layer { LAYER_PODS, LAYER_RAY, LAYER_OPERATOR, LAYER_BATCH, LAYER_COUNT, LAYER_NAMED, LAYER_TOPOLOGY, LAYER_COSCHED,
             LAYER_SHARED, LAYER_TORCHRUN, LAYER_ELASTIC_RAY, LAYER_NO_ADMISSION, LAYER_KUEUE, LAYER_LEVELS, LAYER_QUEUES,
             LAYER_WORKERS, LAYER_NODES_FAIL, LAYER_TAKES_BACK, N_LAYERS };
_Static_assert(N_LAYERS <= 32, "layers are bits");
#define BIT(x) (UINT32_C(1) << (x))

/* With all of `when`, all of `need` must hold and none of `not`. */
struct rule { uint32_t when, need, never; const char *key, *why; };
static const struct rule rules[] = {
    { BIT(LAYER_PODS), 0, BIT(LAYER_BATCH), "scheduler",
      "this lifecycle starts pods, which kube places one by one; batch places whole jobs (lifecycle none)" },
    { 0, BIT(LAYER_PODS) | BIT(LAYER_BATCH), 0, "scheduler",
      "lifecycle none starts no pods, so kube has nothing to place; use batch, or a lifecycle with pods" },
    { BIT(LAYER_COSCHED), BIT(LAYER_PODS), BIT(LAYER_BATCH), "gang",
      "coscheduling is a plug-in of kube-scheduler: it needs a lifecycle with pods and scheduler kube; "
      "batch places whole jobs anyway" },
    { BIT(LAYER_NAMED), BIT(LAYER_BATCH), BIT(LAYER_COUNT), "placement",
      "easy and conservative reserve named machines ahead: they need scheduler batch and a placement of "
      "first, pack, spread or topology" },
    { BIT(LAYER_TAKES_BACK), 0, BIT(LAYER_PODS), "admission",
      "fewest-gpus, srpt and las take jobs off their GPUs and put them back without cost, as their simulator does; with pods, "
      "which take time to end, they would never settle: use lifecycle none, or kueue for preemption of pods" },
    { BIT(LAYER_COUNT), 0, BIT(LAYER_PODS), "placement",
      "pods are bound to nodes, so placement none (count only) needs lifecycle none; use first, pack, spread or topology" },
    { BIT(LAYER_COUNT), 0, BIT(LAYER_NODES_FAIL), "placement",
      "nodes fail in this scenario, and with placement none (count only) no job lies on any; use first, pack, spread or topology" },
    { BIT(LAYER_TOPOLOGY), BIT(LAYER_LEVELS), 0, "placement",
      "placement topology needs a topology: give \"nodes_per_rack\" in the cluster's \"topology\"" },
    { BIT(LAYER_NO_ADMISSION), BIT(LAYER_PODS), 0, "admission",
      "without pods there is no scheduler behind: admission none would let jobs start on GPUs that are taken; use fifo or another" },
    { BIT(LAYER_KUEUE), BIT(LAYER_PODS), 0, "admission",
      "kueue admits quotas and leaves the nodes to the pod scheduler: it needs a lifecycle with pods" },
    { BIT(LAYER_KUEUE), BIT(LAYER_QUEUES), 0, "admission",
      "kueue needs quotas: give \"queues\", or ClusterQueue objects in \"objects\"" },
    { BIT(LAYER_SHARED), BIT(LAYER_RAY) | BIT(LAYER_WORKERS), 0, "ray_cluster",
      "a shared Ray cluster needs lifecycle ray-train-v2 and \"shared_cluster\": { \"min\": ..., \"max\": ... }" },
    { BIT(LAYER_WORKERS), BIT(LAYER_SHARED), 0, "shared_cluster",
      "the size of a shared cluster needs \"ray_cluster\": \"shared\"" },
    { BIT(LAYER_TORCHRUN), BIT(LAYER_OPERATOR), 0, "elastic", "torchrun resizes jobs of lifecycle training-operator-v1" },
    { BIT(LAYER_ELASTIC_RAY), BIT(LAYER_RAY), 0, "elastic", "ray resizes jobs of lifecycle ray-train-v2" },
};

static bool uses(const struct approach *a, enum lifecycle_name life)
{
    for (int k = 0; k < N_JOB_KINDS; k++)
        if (a->lifecycle[k] == life) return true;
    return false;
}

static bool uses_pods(const struct approach *a)
{
    return uses(a, LIFE_TRAINING_OPERATOR_V1) || uses(a, LIFE_RAY_TRAIN_V2) || uses(a, LIFE_BATCH_JOB);
}

/* Whether the scenario's faults take nodes away. */
static bool nodes_fail(const struct raw_faults *f)
{
    if (f->profiles.n || f->components.n) return true;
    for (size_t i = 0; i < f->script.n; i++) {
        int64_t action = LIST_AT(f->script, struct raw_action, i).action;
        if (action == DO_NODE_LOST || action == DO_NODE_DRAIN) return true;
    }
    return false;
}

static uint32_t layers_of(const struct scenario *s, const struct raw_faults *faults)
{
    const struct approach *a = &s->approach;
    bool named = a->admission == ADMIT_EASY || a->admission == ADMIT_CONSERVATIVE;
    bool on[N_LAYERS] = {
        [LAYER_PODS] = uses_pods(a),
        [LAYER_RAY] = uses(a, LIFE_RAY_TRAIN_V2),
        [LAYER_OPERATOR] = uses(a, LIFE_TRAINING_OPERATOR_V1),
        [LAYER_BATCH] = a->scheduler == SCHED_BATCH,
        [LAYER_COUNT] = a->placement == PLACE_COUNT,
        [LAYER_NAMED] = named,
        [LAYER_TOPOLOGY] = a->placement == PLACE_TOPOLOGY,
        [LAYER_COSCHED] = a->gang == GANG_COSCHEDULING,
        [LAYER_SHARED] = a->ray_cluster == RAY_SHARED,
        [LAYER_TORCHRUN] = a->elastic == ELASTIC_TORCHRUN,
        [LAYER_ELASTIC_RAY] = a->elastic == ELASTIC_RAY,
        [LAYER_NO_ADMISSION] = a->admission == ADMIT_NONE,
        [LAYER_KUEUE] = a->admission == ADMIT_KUEUE,
        [LAYER_LEVELS] = s->cluster.topology.nodes_per_rack > 0,
        [LAYER_QUEUES] = s->quota.n_queues > 0,
        [LAYER_WORKERS] = a->shared_workers_max > 0,
        [LAYER_NODES_FAIL] = nodes_fail(faults),
        [LAYER_TAKES_BACK] = a->admission == ADMIT_FEWEST_GPUS || a->admission == ADMIT_SRPT || a->admission == ADMIT_LAS,
    };
    uint32_t bits = 0;
    for (int i = 0; i < N_LAYERS; i++) bits |= on[i] ? BIT(i) : 0;
    return bits;
}

/* The second rule is the reverse of the first: without pods it must be batch. */
static bool broken(const struct rule *r, uint32_t on)
{
    if ((on & r->when) != r->when) return false;
    if (r->when == 0) return (on & r->need) == 0;
    return (on & r->need) != r->need || (on & r->never) != 0;
}

static void check_rules(struct build *b, const struct raw_approach *raw)
{
    uint32_t on = layers_of(b->s, b->raw->faults);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (broken(&rules[i], on)) value_error(b->diag, place_of(raw->at, rules[i].key), "%s", rules[i].why);
    if (uses(&b->s->approach, LIFE_NONE) && (on & BIT(LAYER_PODS)))
        value_error(b->diag, place_of(raw->at, "lifecycle"),
                    "some jobs have pods and others (lifecycle none) have not: give every kind a lifecycle with pods, or none");
}

/* ---- stack ---- */

static void set_constant(struct build *b, const struct text *t)
{
    int i = stack_constant_find(t->key);
    if (i < 0) {
        const char *names[128];
        size_t n = stack_constant_count() < 128 ? stack_constant_count() : 128;
        for (size_t k = 0; k < n; k++) names[k] = stack_constant_at(k)->name;
        const char *near = str_suggest(t->key, names, n);
        value_error(b->diag, t->at, "unknown constant");
        diag_help(b->diag, "%s%s%s`trainyard profiles` lists the constants", near ? "did you mean \"" : "",
                  near ? near : "", near ? "\"?  " : "");
        return;
    }
    const char *wrong = stack_set(&b->s->approach.stack, (size_t)i, t->text);
    if (wrong) value_error(b->diag, t->at, "%s: %s", t->text, wrong);
}

struct raw_stack_profile { const struct value *at; const char *name, *source; struct list constants; };
static const struct field stack_profile_fields[] = {
    FIELD(raw_stack_profile, name, "name", TYPE_STRING, .required = true, .help = "as approaches name it"),
    FIELD(raw_stack_profile, source, "source", TYPE_STRING, .required = true, .help = "where the values are from"),
    FIELD(raw_stack_profile, constants, "constants", TYPE_STACK, .required = true, .help = "by name"),
};
static const struct object_type stack_profile_type =
    OBJECT(raw_stack_profile, stack_profile_fields, "stack profile", "Constants of a version of a stack.");

static void load_stack(struct build *b, const struct text *t, struct str *names)
{
    const struct value *v = profile_load(b, "stacks", t->text, t->at);
    if (!v) return;
    struct raw_stack_profile *p = object_read(&b->reader, &stack_profile_type, v);
    for (size_t i = 0; i < p->constants.n; i++) set_constant(b, &LIST_AT(p->constants, struct text, i));
    if (names->n) str_append_char(names, '+');
    str_append(names, t->text);
}

/* Afterwards the list holds the name and every constant: that is what the resolved scenario says. */
static void fix_stack(struct build *b, struct raw_approach *raw)
{
    size_t n = stack_constant_count();
    struct text *all = arena_array(b->arena, n + 1, struct text);
    all[0] = (struct text){ NULL, "label", b->s->approach.stack_name };
    for (size_t i = 0; i < n; i++) {
        const struct stack_constant *c = stack_constant_at(i);
        all[i + 1].key = c->name;
        all[i + 1].text = stack_text(b->arena, &b->s->approach.stack, i);
    }
    raw->stack = (struct list){ all, n + 1 };
}

static void build_stack(struct build *b, struct raw_approach *raw)
{
    struct approach *a = &b->s->approach;
    struct str names = { 0 };
    const char *label = NULL;
    stack_defaults(&a->stack);
    for (size_t i = 0; i < raw->stack.n; i++)
        if (strcmp(LIST_AT(raw->stack, struct text, i).key, "name") == 0)
            load_stack(b, &LIST_AT(raw->stack, struct text, i), &names);
    for (size_t i = 0; i < raw->stack.n; i++) {
        const struct text *t = &LIST_AT(raw->stack, struct text, i);
        if (strcmp(t->key, "label") == 0)
            label = t->text;
        else if (strcmp(t->key, "name") != 0)
            set_constant(b, t);
    }
    a->stack_name = label ? label : names.n ? arena_strdup(b->arena, str_text(&names)) : "default";
    str_free(&names);
    fix_stack(b, raw);
}

/* ---- building ---- */

static void build_lifecycle(struct approach *a, struct raw_lifecycle *raw)
{
    for (int k = 0; k < N_JOB_KINDS && raw->all == ABSENT; k++) raw->all = raw->kind[k];
    if (raw->all == ABSENT) raw->all = raw->cluster == ABSENT ? LIFE_NONE : raw->cluster;
    for (int k = 0; k < N_JOB_KINDS; k++) {
        int64_t by_load = strcmp(job_kind_table[k].load, "cluster") == 0 ? raw->cluster : raw->kind[KIND_TRAIN];
        int64_t pick = raw->kind[k] != ABSENT ? raw->kind[k] : by_load != ABSENT ? by_load : raw->all;
        bool own = k == KIND_JOB && raw->kind[k] == ABSENT && pick != LIFE_NONE; /* a Job is its controller's, whoever runs the rest */
        if (own) pick = raw->kind[k] = LIFE_BATCH_JOB;
        a->lifecycle[k] = (enum lifecycle_name)pick;
    }
}

static void pick_defaults(const struct approach *a, struct raw_approach *raw, bool on_nodes)
{
    bool pods = uses_pods(a);
    if (raw->admission == ABSENT) raw->admission = pods ? ADMIT_NONE : ADMIT_FIFO;
    if (raw->scheduler == ABSENT) raw->scheduler = pods ? SCHED_KUBE : SCHED_BATCH;
    bool named = raw->admission == ADMIT_EASY || raw->admission == ADMIT_CONSERVATIVE || on_nodes;
    if (raw->placement == ABSENT) raw->placement = pods ? PLACE_SPREAD : named ? PLACE_FIRST : PLACE_COUNT;
}

void build_approach(struct build *b, const char *name, struct raw_approach *raw)
{
    struct approach *a = &b->s->approach;
    a->name = name;
    build_lifecycle(a, raw->lifecycle);
    pick_defaults(a, raw, nodes_fail(b->raw->faults));
    a->admission = (enum admission_name)raw->admission;
    a->scheduler = (enum scheduler_name)raw->scheduler;
    a->gang = (enum gang_name)raw->gang;
    a->placement = (enum placement_name)raw->placement;
    a->ray_cluster = (enum ray_cluster_name)raw->ray_cluster;
    a->elastic = (enum elastic_name)raw->elastic;
    a->las_limits_gpu_ns[0] = raw->las_first;
    a->las_limits_gpu_ns[1] = raw->las_second;
    if (raw->las_first > raw->las_second)
        value_error(b->diag, place_of(raw->at, "las_first_limit"), "the first limit is above the second");
    if (raw->shared && raw->shared->min != ABSENT && raw->shared->max != ABSENT) {
        a->shared_workers_min = (uint32_t)raw->shared->min;
        a->shared_workers_max = (uint32_t)raw->shared->max;
        if (raw->shared->min > raw->shared->max)
            value_error(b->diag, raw->shared->at, "min is above max");
    }
    a->head_cpu_milli = raw->head->cpu;
    a->head_mem_bytes = raw->head->memory;
    a->patches_cluster |= raw->patches_cluster != 0;
    raw->patches_cluster = a->patches_cluster;
    build_stack(b, raw);
    check_rules(b, raw);
}
