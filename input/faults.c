/* faults.c - "faults": components that fail by themselves, from profiles or explicit, and the script of incidents.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "input/raw.h"

static const struct field lemon_fields[] = {
    FIELD(raw_lemons, share, "share", TYPE_FRACTION, .required = true,
          .help = "of the nodes; the same nodes for all components, and some of them stay so when nodes are added"),
    FIELD(raw_lemons, times, "times", TYPE_NUMBER, .required = true, .help = "how many times as often they fail"),
};
static const struct object_type lemons_type =
    OBJECT(raw_lemons, lemon_fields, "lemons", "Nodes that fail again and again.");

static const struct field component_fields[] = {
    FIELD(raw_component, name, "name", TYPE_STRING, .required = true, .help = "what fails"),
    FIELD(raw_component, scope, "scope", TYPE_WORD, WORDS(fault_scope_names), .required = true,
          .help = "what goes down with it: the node (gpu, node), the rack (rack, switch), all nodes (storage); link: training on the node "
                  "stalls, and after nccl.ib-timeout the node counts as lost"),
    FIELD(raw_component, mtbf, "mtbf", TYPE_DURATION, .required = true, .min = 1, .max = INT64_MAX - 1,
          .help = "mean time to failure of one such component when it is new"),
    FIELD(raw_component, shape, "shape", TYPE_NUMBER, .fallback = "1",
          .help = "of the Weibull distribution; 1: exponential, below: the hazard falls with age, failures come in groups"),
    FIELD(raw_component, repair, "repair", TYPE_DURATION, .required = true, .help = "mean time to repair"),
    FIELD(raw_component, repair_sigma, "repair_sigma", TYPE_NUMBER, .fallback = "0",
          .help = "of the lognormal repair time; 0: always the mean"),
    FIELD(raw_component, after_repair, "after_repair", TYPE_NUMBER,
          .help = "each repair multiplies the mean time to failure by it (a geometric process); absent: 1, as new"),
    FIELD(raw_component, least_mtbf, "least_mtbf", TYPE_DURATION, .min = 1, .max = INT64_MAX - 1,
          .help = "... but not below this; needed where after_repair is less than 1"),
    FIELD(raw_component, lemons, "lemons", TYPE_OBJECT, .sub = &lemons_type, .help = "nodes that fail more often"),
    FIELD(raw_component, nodes, "nodes", TYPE_INT, .min = 1, .max = 4000000,
          .help = "nodes that one of them takes down; default: 1 (gpu, node, link), a rack (rack, switch), all (storage)"),
    FIELD(raw_component, per_node, "per_node", TYPE_INT, .min = 1, .max = MAX_GPUS_PER_NODE,
          .help = "gpu, node, link: how many a node has; default: as many as GPUs (gpu), 1 (node, link)"),
    FIELD(raw_component, groups, "groups", TYPE_STRINGS, .help = "node groups or GPU types; absent: all"),
};
const struct object_type fault_component_type =
    OBJECT(raw_component, component_fields, "component", "Something that fails by itself.");

static const struct field action_fields[] = {
    FIELD(raw_action, when, "at", TYPE_DURATION, .required = true, .help = "when"),
    FIELD(raw_action, target, "target", TYPE_STRING, .required = true,
          .help = "pod/NAME, node/GROUP-NUMBER, job/ID or queue/NAME; pods of a shared Ray cluster are pod/ray-shared-worker-NUMBER, pod/ray-shared-head-0"),
    FIELD(raw_action, action, "action", TYPE_WORD, WORDS(fault_action_names), .required = true, .help = "what happens"),
    FIELD(raw_action, code, "code", TYPE_INT, .min = 0, .max = 255, .help = "exit code of container-exit; default 1"),
    FIELD(raw_action, replicas, "replicas", TYPE_INT, .min = 0, .max = 1000000, .help = "of scale"),
    FIELD(raw_action, value, "value", TYPE_QUANTITY,
          .help = "of set-quota: GPUs; of hold: 1 holds the queue, 2 drains it too, 0 lets it go; of set-link: share of the node's "
                  "network cards that carries on, 0.875 with one of eight lost, 1 when it is back"),
};
static const struct object_type action_type = OBJECT(raw_action, action_fields, "action", "One incident.");

static const struct field job_fault_fields[] = {
    FIELD(raw_job_faults, crash_mtbf, "crash_mtbf", TYPE_DURATION, .help = "of process crashes a rank, of training time; 0: none"),
    FIELD(raw_job_faults, hang_mtbf, "hang_mtbf", TYPE_DURATION, .help = "of hangs a rank; 0: none"),
    FIELD(raw_job_faults, job_crash_mtbf, "job_crash_mtbf", TYPE_DURATION,
          .help = "of crashes of the job as a whole, whatever its size; 0: none"),
};
static const struct object_type job_faults_type =
    OBJECT(raw_job_faults, job_fault_fields, "faults of jobs", "Process faults of the jobs that do not say their own.");

static const struct field faults_fields[] = {
    FIELD(raw_faults, profiles, "profile", TYPE_STRINGS, .hidden = true, .help = "failure profiles, by name"),
    FIELD(raw_faults, components, "components", TYPE_LIST, .sub = &fault_component_type,
          .help = "beside those of the profiles"),
    FIELD(raw_faults, jobs, "jobs", TYPE_OBJECT, .sub = &job_faults_type, .help = "process faults of jobs; else those of the profiles"),
    FIELD(raw_faults, script, "script", TYPE_LIST, .sub = &action_type, .help = "incidents at given moments"),
};
const struct object_type faults_type = OBJECT(raw_faults, faults_fields, "faults", "What goes wrong.", .shorthand = "profile");

struct raw_fault_profile {
    const struct value *at;
    const char *name, *source;
    struct list components;
    struct raw_job_faults *jobs;
};
static const struct field profile_fields[] = {
    FIELD(raw_fault_profile, name, "name", TYPE_STRING, .required = true, .help = "as scenarios name it"),
    FIELD(raw_fault_profile, source, "source", TYPE_STRING, .required = true, .help = "where the figures are from"),
    FIELD(raw_fault_profile, components, "components", TYPE_LIST, .sub = &fault_component_type, .required = true,
          .help = "what fails"),
    FIELD(raw_fault_profile, jobs, "jobs", TYPE_OBJECT, .sub = &job_faults_type, .help = "process faults of jobs"),
};
static const struct object_type fault_profile_type =
    OBJECT(raw_fault_profile, profile_fields, "failure profile", "Components that fail.");

/* ---- components ---- */

static void append(struct build *b, struct list *to, const struct list *from)
{
    struct raw_component *v = arena_array(b->arena, to->n + from->n, struct raw_component);
    if (to->n) memcpy(v, to->v, to->n * sizeof *v);
    if (from->n) memcpy(v + to->n, from->v, from->n * sizeof *v);
    to->v = v;
    to->n += from->n;
}

/* What the scenario says goes before the profiles, an earlier profile before a later one. */
static void fill_job_faults(struct raw_faults *raw, struct raw_job_faults *from)
{
    if (!from) return;
    if (!raw->jobs) raw->jobs = from;
    if (raw->jobs->crash_mtbf == ABSENT) raw->jobs->crash_mtbf = from->crash_mtbf;
    if (raw->jobs->hang_mtbf == ABSENT) raw->jobs->hang_mtbf = from->hang_mtbf;
    if (raw->jobs->job_crash_mtbf == ABSENT) raw->jobs->job_crash_mtbf = from->job_crash_mtbf;
}

static void expand_profiles(struct build *b, struct raw_faults *raw)
{
    struct list all = { 0 };
    for (size_t i = 0; i < raw->profiles.n; i++) {
        const struct value *v =
            profile_load(b, "failures", LIST_AT(raw->profiles, const char *, i), place_of(raw->at, "profile"));
        if (!v) continue;
        struct raw_fault_profile *p = object_read(&b->reader, &fault_profile_type, v);
        append(b, &all, &p->components);
        fill_job_faults(raw, p->jobs);
    }
    append(b, &all, &raw->components);
    if (all.n) raw->components = all;
}

static uint64_t component_groups(struct build *b, const struct raw_component *raw)
{
    const struct cluster_spec *c = &b->s->cluster;
    if (!raw->groups.v) return groups_all(c);
    uint64_t set = 0;
    for (size_t i = 0; i < raw->groups.n; i++) {
        const char *name = LIST_AT(raw->groups, const char *, i), *names[64];
        uint64_t named = groups_named(c, name);
        size_t n = 0;
        while (n < c->n_groups) names[n] = c->groups[n].name, n++;
        if (!named) name_error(b->diag, place_of(raw->at, "groups"), "node group", name, names, n);
        set |= named;
    }
    return set;
}

enum { MOST_COMPONENTS = 1000 };

/* One node (or part of one), one rack, or all nodes: what a scope takes down when "nodes" does not say it. */
static bool is_of_node(int64_t scope) { return scope == FAULT_GPU || scope == FAULT_NODE || scope == FAULT_LINK; }

static void check_numbers(struct build *b, const struct raw_component *c)
{
    const struct raw_lemons *l = c->lemons;
    if (!(c->shape >= 0.1 && c->shape <= 20))
        value_error(b->diag, place_of(c->at, "shape"), "a shape between 0.1 and 20 is allowed");
    if (!(c->repair_sigma <= 10)) value_error(b->diag, place_of(c->at, "repair_sigma"), "at most 10 is allowed");
    if (!isnan(c->after_repair) && !(c->after_repair >= 0.1 && c->after_repair <= 10))
        value_error(b->diag, place_of(c->at, "after_repair"), "a factor between 0.1 and 10 is allowed");
    if (c->after_repair < 1 && c->least_mtbf == ABSENT)
        value_error(b->diag, c->at, "after_repair below 1 needs \"least_mtbf\": where it ends");
    if (l && !isnan(l->times) && !(l->times >= 1 && l->times <= 1e6))
        value_error(b->diag, place_of(l->at, "times"), "between 1 and 1,000,000 is allowed");
}

static void check_reach(struct build *b, const struct raw_component *c)
{
    bool by_rack = c->scope == FAULT_RACK || c->scope == FAULT_SWITCH;
    if (by_rack && c->nodes == ABSENT && b->s->cluster.topology.nodes_per_rack == 0) {
        value_error(b->diag, place_of(c->at, "scope"), "the cluster's topology has no racks");
        diag_help(b->diag, "give it \"nodes_per_rack\", or the component \"nodes\": how many one takes down");
    }
    if (c->per_node != ABSENT && !is_of_node(c->scope))
        value_error(b->diag, place_of(c->at, "per_node"), "a %s is no part of a node", fault_scope_names[c->scope]);
    if (c->nodes != ABSENT && c->nodes > 1 && c->per_node != ABSENT && c->per_node > 1)
        value_error(b->diag, place_of(c->at, "nodes"), "either several a node, or one for several nodes");
}

static uint32_t component_reach(const struct build *b, const struct raw_component *c)
{
    if (c->nodes != ABSENT) return (uint32_t)c->nodes;
    if (is_of_node(c->scope)) return 1;
    return c->scope == FAULT_STORAGE ? 0 : b->s->cluster.topology.nodes_per_rack;
}

static uint32_t component_copies(const struct raw_component *c)
{
    if (c->per_node != ABSENT) return (uint32_t)c->per_node;
    return c->scope == FAULT_GPU && (c->nodes == ABSENT || c->nodes == 1) ? 0 : 1;
}

static struct fault_component component_of(struct build *b, const struct raw_component *c)
{
    return (struct fault_component){
        .name = c->name,
        .scope = (enum fault_scope)c->scope,
        .mtbf_ns = c->mtbf,
        .shape = c->shape,
        .repair_ns = c->repair,
        .repair_sigma = c->repair_sigma,
        .after_repair = isnan(c->after_repair) ? 1 : c->after_repair,
        .least_mtbf_ns = c->least_mtbf == ABSENT ? 1 : c->least_mtbf,
        .lemon_share = c->lemons && !isnan(c->lemons->share) ? c->lemons->share : 0,
        .lemon_times = c->lemons && !isnan(c->lemons->times) ? c->lemons->times : 1,
        .nodes = component_reach(b, c),
        .per_node = component_copies(c),
        .groups = component_groups(b, c),
    };
}

static void build_components(struct build *b, struct raw_faults *raw)
{
    struct fault_spec *f = &b->s->faults;
    f->components = arena_array(b->arena, raw->components.n, struct fault_component);
    if (raw->components.n > MOST_COMPONENTS)
        value_error(b->diag, place_of(raw->at, "components"), "%zu components; at most %d are possible", raw->components.n,
                    MOST_COMPONENTS);
    for (size_t i = 0; i < raw->components.n && i < MOST_COMPONENTS; i++) {
        const struct raw_component *c = &LIST_AT(raw->components, struct raw_component, i);
        if (!c->name || c->scope == ABSENT || c->mtbf == ABSENT || c->repair == ABSENT) continue; /* reported */
        check_numbers(b, c);
        check_reach(b, c);
        f->components[f->n_components++] = component_of(b, c);
    }
}

/* ---- process faults ---- */

static void fill_process_fault(int64_t *mtbf_ns, int64_t profile)
{
    if (*mtbf_ns == ABSENT) *mtbf_ns = profile == ABSENT ? 0 : profile;
}

/* Jobs that do not say how often their processes crash follow the profile. */
static void build_process_faults(struct build *b, const struct raw_faults *raw)
{
    const struct raw_job_faults none = { .crash_mtbf = ABSENT, .hang_mtbf = ABSENT, .job_crash_mtbf = ABSENT };
    const struct raw_job_faults *from = raw->jobs ? raw->jobs : &none;
    for (size_t i = 0; i < b->s->n_details; i++) {
        fill_process_fault(&b->s->details[i].crash_mtbf_ns, from->crash_mtbf);
        fill_process_fault(&b->s->details[i].hang_mtbf_ns, from->hang_mtbf);
        fill_process_fault(&b->s->details[i].job_crash_mtbf_ns, from->job_crash_mtbf);
    }
}

/* ---- the script ---- */

enum target_kind { TARGET_POD, TARGET_NODE, TARGET_JOB, TARGET_QUEUE, N_TARGETS };
static const char *const target_names[N_TARGETS] = { "pod/", "node/", "job/", "queue/" };
enum { WITH_NOTHING, WITH_CODE, WITH_REPLICAS, WITH_VALUE };

static const struct { uint8_t targets; uint8_t with; } action_rules[N_FAULT_ACTIONS] = {
    [DO_CONTAINER_EXIT] = { 1 << TARGET_POD, WITH_CODE },
    [DO_POD_FAILED] = { 1 << TARGET_POD, WITH_NOTHING },
    [DO_POD_SUCCEEDED] = { 1 << TARGET_POD, WITH_NOTHING },
    [DO_POD_EVICTED] = { 1 << TARGET_POD, WITH_NOTHING },
    [DO_POD_DELETED] = { 1 << TARGET_POD, WITH_NOTHING },
    [DO_NODE_LOST] = { 1 << TARGET_NODE, WITH_NOTHING },
    [DO_NODE_BACK] = { 1 << TARGET_NODE, WITH_NOTHING },
    [DO_NODE_DRAIN] = { 1 << TARGET_NODE, WITH_NOTHING },
    [DO_HEAD_CRASH] = { 1 << TARGET_JOB, WITH_NOTHING },
    [DO_HANG] = { 1 << TARGET_POD | 1 << TARGET_JOB, WITH_NOTHING },
    [DO_CRASH] = { 1 << TARGET_POD | 1 << TARGET_JOB, WITH_NOTHING },
    [DO_SUSPEND] = { 1 << TARGET_JOB, WITH_NOTHING },
    [DO_RESUME] = { 1 << TARGET_JOB, WITH_NOTHING },
    [DO_SCALE] = { 1 << TARGET_JOB, WITH_REPLICAS },
    [DO_FORCE_DELETE] = { 1 << TARGET_POD, WITH_NOTHING },
    [DO_TOUCH] = { 1 << TARGET_JOB | 1 << TARGET_POD, WITH_NOTHING },
    [DO_DELETE_JOB] = { 1 << TARGET_JOB, WITH_NOTHING },
    [DO_SET_QUOTA] = { 1 << TARGET_QUEUE, WITH_VALUE },
    [DO_HOLD] = { 1 << TARGET_QUEUE, WITH_VALUE },
    [DO_SET_LINK] = { 1 << TARGET_NODE, WITH_VALUE },
};

static int target_kind(const char *target)
{
    for (int i = 0; i < N_TARGETS; i++)
        if (str_starts_with(target, target_names[i])) return target[strlen(target_names[i])] ? i : -1;
    return -1;
}

static bool node_exists(const struct cluster_spec *c, const char *name)
{
    const char *dash = strrchr(name, '-');
    if (!dash || !dash[1] || strspn(dash + 1, "0123456789") != strlen(dash + 1) || strlen(dash) > 9) return false;
    unsigned long index = strtoul(dash + 1, NULL, 10);
    for (uint32_t i = 0; i < c->n_groups; i++)
        if (strlen(c->groups[i].name) == (size_t)(dash - name) &&
            strncmp(c->groups[i].name, name, (size_t)(dash - name)) == 0)
            return index < c->groups[i].count;
    return false;
}

static bool queue_exists(const struct quota_spec *q, const char *name)
{
    for (uint32_t i = 0; i < q->n_queues; i++)
        if (strcmp(q->queues[i].name, name) == 0) return true;
    return false;
}

/* Generated jobs have no names that a script could know. */
static bool job_exists(const struct scenario *s, const char *id)
{
    char buf[24];
    for (size_t i = 0; i < s->n_jobs; i++)
        if (strcmp(job_id(s, &s->jobs[i], buf), id) == 0) return true;
    return s->n_generated > 0;
}

/* Names of pods are made while the simulation runs; all else is known now. */
static void check_target(struct build *b, const struct raw_action *raw)
{
    const struct value *at = place_of(raw->at, "target");
    int kind = target_kind(raw->target);
    if (kind < 0) {
        value_error(b->diag, at, "\"%s\" is no target; write pod/NAME, node/GROUP-NUMBER, job/ID or queue/NAME", raw->target);
        return;
    }
    const char *name = raw->target + strlen(target_names[kind]);
    if (!(action_rules[raw->action].targets & 1 << kind)) {
        struct str allowed = { 0 };
        for (int i = 0; i < N_TARGETS; i++)
            if (action_rules[raw->action].targets & 1 << i)
                str_printf(&allowed, "%s%s...", allowed.n ? " or " : "", target_names[i]);
        value_error(b->diag, at, "%s acts on %s", fault_action_names[raw->action], str_text(&allowed));
        str_free(&allowed);
    } else if (kind == TARGET_NODE && !node_exists(&b->s->cluster, name)) {
        value_error(b->diag, at, "there is no node \"%s\"; write the group's name and a number from 0: \"%s-0\"", name,
                    b->s->cluster.n_groups ? b->s->cluster.groups[0].name : "group");
    } else if (kind == TARGET_JOB && !job_exists(b->s, name)) {
        value_error(b->diag, at, "there is no job \"%s\"", name);
    } else if (kind == TARGET_QUEUE && !queue_exists(&b->s->quota, name)) {
        value_error(b->diag, at, "there is no queue \"%s\"", name);
    }
}

static void check_with(struct build *b, const struct raw_action *raw, int with, int64_t given, int kind, const char *key)
{
    if (given != ABSENT && with != kind)
        value_error(b->diag, place_of(raw->at, key), "%s takes no \"%s\"", fault_action_names[raw->action], key);
    if (given == ABSENT && with == kind && kind != WITH_CODE && !value_member(raw->at, key)) /* one that is there is reported */
        value_error(b->diag, raw->at, "%s needs \"%s\"", fault_action_names[raw->action], key);
}

/* 0 run, 1 hold, 2 hold and drain; quantities are read in thousandths. */
static int64_t hold_value(int64_t milli) { return milli == 0 ? 0 : milli >= 2000 ? 2 : 1; }

/* Thousandths to millionths. A node without any card is lost: node-lost says that. */
static int64_t link_value(struct build *b, const struct raw_action *raw)
{
    if (!b->s->cluster.network.contention)
        value_error(b->diag, raw->at, "set-link changes nothing: the network's \"contention\" is off");
    if (raw->value < 1 || raw->value > 1000)
        value_error(b->diag, place_of(raw->at, "value"), "a share above 0 and up to 1 is allowed; with nothing left: node-lost");
    return raw->value * 1000;
}

static int64_t action_value(struct build *b, const struct raw_action *raw)
{
    int with = action_rules[raw->action].with;
    check_with(b, raw, with, raw->code, WITH_CODE, "code");
    check_with(b, raw, with, raw->replicas, WITH_REPLICAS, "replicas");
    check_with(b, raw, with, raw->value, WITH_VALUE, "value");
    if (with == WITH_CODE) return raw->code == ABSENT ? 1 : raw->code;
    if (with == WITH_REPLICAS) return raw->replicas == ABSENT ? 0 : raw->replicas;
    if (with != WITH_VALUE || raw->value == ABSENT) return 0;
    if (raw->action == DO_HOLD) return hold_value(raw->value);
    return raw->action == DO_SET_LINK ? link_value(b, raw) : raw->value;
}

static int by_time(const void *a, const void *b)
{
    const struct script_action *x = a, *y = b;
    if (x->at_ns != y->at_ns) return x->at_ns < y->at_ns ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

static void build_script(struct build *b, const struct raw_faults *raw)
{
    struct fault_spec *f = &b->s->faults;
    f->script = arena_array(b->arena, raw->script.n, struct script_action);
    for (size_t i = 0; i < raw->script.n; i++) {
        const struct raw_action *a = &LIST_AT(raw->script, struct raw_action, i);
        if (a->when == ABSENT || !a->target || a->action == ABSENT) continue; /* reported */
        check_target(b, a);
        f->script[f->n_script] = (struct script_action){ .at_ns = a->when,
                                                         .action = (enum fault_action)a->action,
                                                         .target = a->target,
                                                         .value = action_value(b, a),
                                                         .line = a->at ? (uint32_t)a->at->line : 0,
                                                         .order = f->n_script };
        f->n_script++;
    }
    if (f->n_script) qsort(f->script, f->n_script, sizeof *f->script, by_time);
}

void build_faults(struct build *b, struct raw_faults *raw)
{
    expand_profiles(b, raw);
    build_components(b, raw);
    build_process_faults(b, raw);
    build_script(b, raw);
}
