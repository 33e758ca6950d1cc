/* check.c - offered load, jobs that never fit, quotas that nothing serves, keys that do nothing.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "input/data.h"
#include "input/raw.h"

const char *const finding_severity_names[N_FINDING_SEVERITIES] = { "info", "warning", "problem" };

struct checker {
    const struct scenario *s;
    struct findings *f;
    struct job_spec *jobs; /* replication 0 */
    size_t n;
};

static void add(struct checker *c, enum finding_severity severity, const char *topic, const char *help, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
static void add(struct checker *c, enum finding_severity severity, const char *topic, const char *help, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const char *text = arena_vprintf(&c->f->arena, fmt, args);
    va_end(args);
    array_push(&c->f->list, (struct finding){ severity, topic, text, help });
}

static int64_t shares_of(const struct cluster_spec *cl, uint64_t groups)
{
    int64_t sum = 0;
    for (uint32_t g = 0; g < cl->n_groups; g++)
        if (groups >> g & 1) sum += (int64_t)cl->groups[g].count * cl->groups[g].gpus * SHARES_PER_GPU;
    return sum;
}

/* ---- load ---- */

/* Time over which the work is offered: to the horizon, else from first to last submission. */
static double span_s(const struct checker *c)
{
    int64_t first = c->n ? c->jobs[0].submit_ns : 0, last = c->n ? c->jobs[c->n - 1].submit_ns : 0;
    int64_t end = c->s->run.horizon_ns == TIME_NEVER ? last : c->s->run.horizon_ns;
    return (double)(end - (c->s->run.horizon_ns == TIME_NEVER ? first : 0)) / 1e9;
}

static void check_load(struct checker *c, uint64_t only, const char *what)
{
    double demand = 0, span = span_s(c), capacity = (double)shares_of(&c->s->cluster, only);
    uint64_t all = groups_all(&c->s->cluster);
    for (size_t i = 0; i < c->n; i++) {
        const struct job_spec *job = &c->jobs[i];
        uint64_t groups = c->s->details[job->detail].groups;
        if (job->work_ns == TIME_NEVER || job->submit_ns >= c->s->run.horizon_ns || (only != all && groups != only)) continue;
        demand += (double)job_shares(c->s, job) * (double)job->work_ns / 1e9;
    }
    if (demand == 0 || capacity == 0 || span <= 0) return;
    double load = demand / (capacity * span) * 100;
    enum finding_severity severity = load > 100 ? FINDING_WARNING : FINDING_INFO;
    add(c, severity, "load", load > 100 ? "the queue grows to the end of the run; waits then say how long it was" : NULL,
        "offered load on %s: %.0f %% of %" PRId64 " GPUs over %.1f days", what, load,
        shares_of(&c->s->cluster, only) / SHARES_PER_GPU, span / 86400);
}

static void check_loads(struct checker *c)
{
    const struct cluster_spec *cl = &c->s->cluster;
    check_load(c, groups_all(cl), "the cluster");
    for (uint32_t g = 0; cl->n_groups > 1 && g < cl->n_groups; g++)
        check_load(c, UINT64_C(1) << g, arena_printf(&c->f->arena, "group %s by jobs that need it", cl->groups[g].name));
}

/* ---- fit ---- */

/* Replicas of the role that the allowed nodes hold, and 0 when no node holds one. */
static int64_t room_for(const struct cluster_spec *cl, uint64_t groups, const struct role_spec *r, uint32_t shares)
{
    int64_t room = 0;
    for (uint32_t g = 0; g < cl->n_groups; g++) {
        const struct node_group *n = &cl->groups[g];
        if (!(groups >> g & 1) || n->count == 0) continue;
        int64_t per_node = INT64_MAX;
        if (shares > 0) {
            int64_t by_gpu = shares <= SHARES_PER_GPU ? (int64_t)(SHARES_PER_GPU / shares) * n->gpus
                                                      : n->gpus / (int64_t)(shares / SHARES_PER_GPU);
            per_node = by_gpu;
        }
        if (r->cpu_milli > 0 && n->cpu_milli / r->cpu_milli < per_node) per_node = n->cpu_milli / r->cpu_milli;
        if (r->mem_bytes > 0 && n->mem_bytes / r->mem_bytes < per_node) per_node = n->mem_bytes / r->mem_bytes;
        if (per_node == INT64_MAX) return INT64_MAX;
        room += per_node * n->count;
    }
    return room;
}

static const char *why_unfit(struct checker *c, const struct job_spec *job)
{
    const struct job_detail *d = &c->s->details[job->detail];
    const struct cluster_spec *cl = &c->s->cluster;
    bool counts = c->s->approach.placement == PLACE_COUNT; /* GPUs are only counted */
    if (d->groups == 0) return "no node group has its labels and tolerated taints";
    if (job_shares(c->s, job) > shares_of(cl, d->groups)) return "it needs more GPUs than its node groups have";
    for (uint32_t r = 0; !counts && r < d->n_roles; r++) {
        int64_t room = room_for(cl, d->groups, &d->roles[r], job_role_shares(c->s, job, r));
        if (room == 0) return "one replica is larger than any node";
        if (room < job_role_replicas(c->s, job, r)) return "the nodes do not hold all its replicas at once";
    }
    return NULL;
}

static void check_fit(struct checker *c)
{
    enum { N_WHY = 8 };
    struct { const char *why; size_t n; const char *first; } why[N_WHY] = { { 0 } };
    for (size_t i = 0; i < c->n; i++) {
        const char *text = why_unfit(c, &c->jobs[i]);
        char buf[24];
        for (int k = 0; text && k < N_WHY; k++) {
            if (why[k].why && why[k].why != text) continue;
            if (!why[k].n++) why[k].first = arena_strdup(&c->f->arena, job_id(c->s, &c->jobs[i], buf));
            why[k].why = text;
            break;
        }
    }
    for (int k = 0; k < N_WHY && why[k].why; k++)
        add(c, FINDING_PROBLEM, "fit", "they wait for ever; make the nodes larger, or the jobs smaller",
            "%zu job%s can never run, first %s: %s", why[k].n, why[k].n == 1 ? "" : "s", why[k].first, why[k].why);
}

/* ---- batch and memory of the GPUs ---- */

/* The terms of what one GPU would have to hold. */
static const char *terms_of(struct checker *c, const struct memory_fit *f)
{
    struct str s = { 0 };
    for (int k = 0; k < N_MEMORY_TERMS; k++)
        str_printf(&s, "%s%s %.1f", k ? ", " : "", memory_term_names[k], f->bytes[k] / 1e9);
    const char *text = arena_strdup(&c->f->arena, str_text(&s));
    str_free(&s);
    return text;
}

static void check_memory_of(struct checker *c, const struct job_spec *job)
{
    const struct step_input *in = c->s->details[job->detail].step.model;
    struct memory_fit f = memory_fit(&in->model, &in->split, &in->batch, in->hardware.gpu.memory_bytes, in->hardware.workspace_bytes);
    char buf[24];
    if (memory_fits(&f)) return;
    add(c, FINDING_PROBLEM, "memory",
        "it dies in its first step; divide it further (tensor, pipeline, zero), recompute more, or make the micro-batch smaller",
        "job %s needs %.1f GB on a GPU that has %.1f: the %s overflow%s by %.1f GB (%s)", job_id(c->s, job, buf), f.total / 1e9,
        f.capacity / 1e9, memory_term_names[f.overflows], f.overflows == MEM_OPTIMIZER || f.overflows == MEM_WORKSPACE ? "s" : "",
        (f.total - f.capacity) / 1e9, terms_of(c, &f));
}

/* Frameworks refuse it; the model would give the ranks fractions of a sample. */
static void check_batch_of(struct checker *c, const struct job_spec *job)
{
    const struct step_input *in = c->s->details[job->detail].step.model;
    char buf[24];
    double round = (double)in->split.data * in->batch.micro, rounds = ceil(in->batch.global / round);
    if (in->batch.global >= round) {
        if (rounds * round <= in->batch.global) return;
        add(c, FINDING_WARNING, "batch", "Megatron-LM refuses this, others leave samples out or ranks waiting; make the batch a multiple",
            "job %s has %.0f samples a step, no multiple of %.0f (%u data-parallel ranks x micro-batches of %u): its step is as long as with %.0f",
            job_id(c->s, job, buf), in->batch.global, round, in->split.data, in->batch.micro, rounds * round);
        return;
    }
    add(c, FINDING_PROBLEM, "batch", "frameworks refuse this; enlarge the batch, or divide the model further (tensor, pipeline, context)",
        "job %s has %.0f samples a step for %u data-parallel ranks with micro-batches of %u", job_id(c->s, job, buf),
        in->batch.global, in->split.data, in->batch.micro);
}

/* The first job of each class. */
static void check_models(struct checker *c)
{
    bool *seen = arena_array(&c->f->arena, c->s->n_details + 1, bool);
    for (size_t i = 0; i < c->n; i++) {
        uint32_t detail = c->jobs[i].detail;
        if (seen[detail] || !c->s->details[detail].step.model) continue;
        seen[detail] = true;
        check_batch_of(c, &c->jobs[i]);
        check_memory_of(c, &c->jobs[i]);
    }
}

/* ---- quota ---- */

static bool is_gpu(const char *resource)
{
    return str_ends_with(resource, "/gpu");
}

static void check_flavor(struct checker *c, uint16_t f)
{
    const struct quota_spec *q = &c->s->quota;
    int64_t nominal = 0, have = shares_of(&c->s->cluster, q->flavors[f].groups);
    for (uint32_t i = 0; i < q->n_queues; i++)
        for (uint32_t k = 0; k < q->queues[i].n_lines; k++)
            if (q->queues[i].lines[k].flavor == f && is_gpu(q->resources[q->queues[i].lines[k].resource]))
                nominal += q->queues[i].lines[k].nominal;
    if (nominal > 0 && have == 0)
        add(c, FINDING_PROBLEM, "quota", "give the node groups its labels, or name a group", "flavor %s has quota for %"
            PRId64 " GPUs, but no node serves it", q->flavors[f].name, nominal / 1000);
    else if (nominal > have)
        add(c, FINDING_WARNING, "quota", "admitted jobs will wait for nodes", "quotas of flavor %s sum to %" PRId64
            " GPUs, its nodes have %" PRId64, q->flavors[f].name, nominal / 1000, have / 1000);
}

/* The most GPUs of one flavor that a queue may ever use; the cohort's size bounds borrowing. */
static int64_t reach(const struct cluster_queue_spec *queue, uint16_t resource)
{
    int64_t best = 0;
    for (uint32_t k = 0; k < queue->n_lines; k++) {
        const struct quota_line *line = &queue->lines[k];
        if (line->resource != resource) continue;
        bool alone = queue->cohort == NO_INDEX;
        if (!alone && line->borrowing_limit == QUOTA_UNLIMITED) return INT64_MAX;
        int64_t most = line->nominal + (alone ? 0 : line->borrowing_limit);
        if (most > best) best = most;
    }
    return best;
}

static const struct cluster_queue_spec *queue_of(const struct scenario *s, const struct job_spec *job)
{
    const struct quota_spec *q = &s->quota;
    if (job->queue == 0 || job->queue > q->n_local) return NULL;
    uint16_t i = q->local[job->queue - 1].cluster_queue;
    return i == NO_INDEX ? NULL : &q->queues[i];
}

static void check_admission(struct checker *c)
{
    const struct quota_spec *q = &c->s->quota;
    size_t n = 0, unmanaged = 0, stopped = 0;
    char buf[24];
    const char *first = "";
    for (uint16_t r = 0; r < q->n_resources; r++) {
        if (!is_gpu(q->resources[r])) continue;
        for (size_t i = 0; i < c->n; i++) {
            const struct cluster_queue_spec *queue = queue_of(c->s, &c->jobs[i]);
            int64_t need = job_shares(c->s, &c->jobs[i]);
            if (!queue || need == 0 || reach(queue, r) >= need) continue;
            if (!n++) first = arena_strdup(&c->f->arena, job_id(c->s, &c->jobs[i], buf));
        }
    }
    for (size_t i = 0; i < c->n; i++) {
        const struct cluster_queue_spec *queue = queue_of(c->s, &c->jobs[i]);
        unmanaged += c->jobs[i].queue == 0;
        stopped += queue && queue->stop != STOP_NONE;
    }
    if (n)
        add(c, FINDING_PROBLEM, "quota", "raise the quota or the borrowing limit",
            "%zu job%s can never be admitted, first %s: more GPUs than the queue may ever use", n, n == 1 ? "" : "s", first);
    if (unmanaged)
        add(c, FINDING_WARNING, "quota", "give the jobs a \"queue\"",
            "%zu job%s name no queue: Kueue does not manage them, they start at once", unmanaged, unmanaged == 1 ? "" : "s");
    if (stopped)
        add(c, FINDING_WARNING, "quota", NULL, "%zu job%s wait in queues whose stopPolicy holds them", stopped,
            stopped == 1 ? "" : "s");
}

static void check_quota(struct checker *c)
{
    if (c->s->approach.admission != ADMIT_KUEUE) return;
    for (uint32_t f = 0; f < c->s->quota.n_flavors; f++) check_flavor(c, (uint16_t)f);
    check_admission(c);
}

/* ---- what does nothing ---- */

static bool no_pods(const struct approach *a)
{
    return a->lifecycle[KIND_TRAIN] == LIFE_NONE;
}

static void ignored(struct checker *c, bool is, const char *what, const char *why)
{
    if (is) add(c, FINDING_INFO, "ignored", NULL, "%s: no effect, since %s", what, why);
}

struct used { bool data, elastic, crash, wish, limit, priority, suspend; size_t no_limit; };

static struct used used_by_jobs(const struct checker *c)
{
    struct used u = { 0 };
    for (size_t i = 0; i < c->n; i++) {
        u.limit |= c->jobs[i].limit_ns != TIME_NEVER;
        u.no_limit += c->jobs[i].limit_ns == TIME_NEVER;
        u.priority |= c->jobs[i].priority != 0;
    }
    for (size_t i = 0; i < c->s->n_details; i++) {
        const struct job_detail *d = &c->s->details[i];
        u.data |= d->data != NULL;
        u.elastic |= d->elastic.max > 0;
        u.crash |= d->crash_mtbf_ns > 0 || d->hang_mtbf_ns > 0 || d->job_crash_mtbf_ns > 0;
        u.wish |= d->topology_level > 0;
        u.suspend |= d->suspend;
    }
    return u;
}

static void check_stack(struct checker *c)
{
    enum { OPERATOR = 1 << LIFE_TRAINING_OPERATOR_V1, ACTORS = 1 << LIFE_RAY_TRAIN_V2, ALL = -1 };
    static const struct { const char *start; int lives; } parts[] = { /* the first that a name begins with */
        { "training-operator.", OPERATOR }, { "torchrun.rendezvous", ALL }, { "torchrun.", OPERATOR }, { "kuberay.", ACTORS }, { "ray", ACTORS } };
    const struct approach *a = &c->s->approach;
    struct stack plain;
    int lives = 0;
    for (int j = 0; j < N_JOB_KINDS; j++) lives |= 1 << a->lifecycle[j];
    stack_defaults(&plain);
    for (size_t i = 0; i < stack_constant_count(); i++) {
        const struct stack_constant *k = stack_constant_at(i);
        if (stack_get(&plain, i) == stack_get(&a->stack, i)) continue;
        bool dead = str_starts_with(k->name, "kueue.") ? a->admission != ADMIT_KUEUE : no_pods(a);
        size_t p = 0;
        while (p < sizeof parts / sizeof *parts && !str_starts_with(k->name, parts[p].start)) p++;
        if (p < sizeof parts / sizeof *parts) dead |= !(lives & parts[p].lives);
        ignored(c, dead, k->name, "the approach has no such part");
    }
}

static void check_network(struct checker *c)
{
    const struct cluster_spec *cluster = &c->s->cluster;
    const struct network_model *net = &cluster->network;
    bool rack = net->rack_oversubscription > 1, block = net->block_oversubscription > 1;
    ignored(c, (rack || block) && no_pods(&c->s->approach), "oversubscription", "lifecycle none has no steps that communicate");
    ignored(c, (rack || block) && !net->contention, "oversubscription", "the network's \"contention\" is off");
    ignored(c, rack && !cluster->topology.nodes_per_rack, "oversubscription of racks", "the topology has no racks");
    ignored(c, block && !cluster->topology.racks_per_block, "oversubscription of blocks", "the topology has no blocks");
}

static void check_faults(struct checker *c)
{
    const struct fault_spec *f = &c->s->faults;
    bool ages = false, links = false, aged = false;
    for (uint32_t i = 0; i < f->n_components; i++) {
        ages |= f->components[i].shape != 1;
        links |= f->components[i].scope == FAULT_LINK;
    }
    for (uint32_t g = 0; g < c->s->cluster.n_groups; g++) aged |= c->s->cluster.groups[g].age_ns > 0;
    ignored(c, aged && !ages, "age of nodes", "no fault component has a shape other than 1");
    ignored(c, links && no_pods(&c->s->approach), "short outages of links", "lifecycle none has no ranks that wait for them");
}

static void check_ignored(struct checker *c)
{
    const struct approach *a = &c->s->approach;
    struct used u = used_by_jobs(c);
    bool backfill = a->admission == ADMIT_EASY || a->admission == ADMIT_CONSERVATIVE;
    const struct value *at = LIST_AT(c->s->raw->approaches, struct map_entry, 0).at;
    ignored(c, c->s->quota.n_queues && a->admission != ADMIT_KUEUE, "queues and their quotas", "admission is not kueue");
    ignored(c, u.priority && a->admission != ADMIT_KUEUE && no_pods(a), "priorities", "only kueue and pod schedulers look at them");
    ignored(c, u.data && no_pods(a), "data", "lifecycle none holds GPUs for a duration and loads nothing");
    ignored(c, u.crash && no_pods(a), "crash_mtbf, hang_mtbf and job_crash_mtbf", "lifecycle none has no processes");
    ignored(c, u.elastic && a->elastic == ELASTIC_NONE, "elastic", "the approach says \"elastic\": \"none\"");
    ignored(c, u.wish && a->placement != PLACE_TOPOLOGY, "topology wishes", "placement is not topology");
    ignored(c, a->gang == GANG_COSCHEDULING && a->lifecycle[KIND_TRAIN] == LIFE_BATCH_JOB, "coscheduling",
            "a Job of batch/v1 has no PodGroup; its pods are placed one by one");
    ignored(c, u.limit && !no_pods(a), "limit", "only batch schedulers have time limits; use activeDeadlineSeconds");
    ignored(c, c->s->cluster.image.size_bytes && no_pods(a), "images", "lifecycle none starts no containers");
    check_network(c);
    ignored(c, (value_member(at, "las_first_limit") || value_member(at, "las_second_limit")) && a->admission != ADMIT_LAS,
            "las_first_limit and las_second_limit", "admission is not las");
    check_faults(c);
    check_stack(c);
    if (backfill && u.no_limit)
        add(c, FINDING_PROBLEM, "fit", "give the jobs a \"limit\"",
            "%zu job%s have no time limit: %s cannot plan with them", u.no_limit, u.no_limit == 1 ? "" : "s",
            admission_names[a->admission]);
}

/* ---- data ---- */

static const char *const data_remedies[N_DATA_LIMITS] = {
    [DATA_WORKERS] = "give it more \"workers\"", [DATA_CORES] = "give its pods more \"cpu\"",
    [DATA_LOCK] = "let processes load (\"mode\")", [DATA_STORAGE] = "a faster store or a \"cache\"",
};

/* The first job of each class whose steps wait, alone and on nodes of its own, for a tenth of their time and more. */
static void check_data(struct checker *c)
{
    bool *seen = xcalloc(c->s->n_details + 1, sizeof *seen);
    char buf[24];
    for (size_t i = 0; i < c->n && !no_pods(&c->s->approach); i++) {
        const struct job_detail *d = &c->s->details[c->jobs[i].detail];
        if (!d->data || seen[c->jobs[i].detail]) continue;
        seen[c->jobs[i].detail] = true;
        struct data_place at = data_place_nominal(c->s, &c->jobs[i]);
        struct data_loading l = data_loading_at(c->s, d, &at);
        double step_s = (double)step_nominal_ns(&d->step) / 1e9, wait_s = data_loading_wait_s(&l, step_s);
        struct data_rate rate = data_loading_rate(&l);
        if (wait_s < 0.1 * (step_s + wait_s)) continue;
        add(c, FINDING_WARNING, "data", data_loads_ahead(&l) ? data_remedies[rate.limit] : "let \"workers\" load while steps run",
            "a step of %s takes %.3g s and waits %.3g s for data, loaded %s: a loader gives %.4g samples a second, held back by "
            "its %s",
            job_id(c->s, &c->jobs[i], buf), step_s, wait_s, data_loads_ahead(&l) ? "ahead" : "on demand", rate.samples_per_s,
            data_limit_names[rate.limit]);
    }
    free(seen);
}

/* ---- trace ---- */

static void check_trace(struct checker *c)
{
    bool faults = c->s->faults.n_components > 0 || used_by_jobs(c).crash;
    for (uint32_t i = 0; i < c->s->n_notes; i++) {
        const char *note = c->s->notes[i];
        bool twice = faults && strstr(note, "failures");
        add(c, twice ? FINDING_WARNING : FINDING_INFO, twice ? "failures" : "trace",
            twice ? "leave the faults out, or take a trace of ideal durations" : NULL, "%s", note);
    }
}

static void check_endless(struct checker *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) n += c->jobs[i].work_ns == TIME_NEVER;
    if (n && c->s->run.horizon_ns == TIME_NEVER)
        add(c, FINDING_WARNING, "load", "give the run a \"horizon\", or the objects the annotation trainyard/duration",
            "%zu job%s do not end by themselves, and the run has no horizon", n, n == 1 ? "" : "s");
    if (c->n == 0) add(c, FINDING_WARNING, "load", "give \"jobs\", a \"trace\" or \"generate\"", "the workload is empty");
}

void scenario_check(const struct scenario *s, struct findings *f)
{
    struct checker c = { .s = s, .f = f };
    bool owned;
    if (!scenario_workload(s, 0, &c.jobs, &c.n, &owned)) {
        add(&c, FINDING_PROBLEM, "load", "lower the rate or the horizon", "the generated classes give too many jobs");
        return;
    }
    f->n_jobs = c.n;
    check_endless(&c);
    check_loads(&c);
    check_models(&c);
    check_fit(&c);
    check_quota(&c);
    check_ignored(&c);
    check_data(&c);
    check_trace(&c);
    if (owned) free(c.jobs);
}

void findings_free(struct findings *f)
{
    array_free(&f->list);
    arena_free(&f->arena);
}
