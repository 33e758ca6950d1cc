/* kueue_play.c - reads a recorded Kueue scenario and plays it through the decision library; see kueue_play.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/kueue_play_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/queue/kueue/timing.h"

#define WALL_S    0.10 /* the recordings' t0 lies so far after a whole second of the wall clock */
#define READY_S   0.12 /* QuotaReserved -> all pods ready */
#define NOTICED_S 0.10 /* the player noticed the end of duration_s so much later */

/* Thousandths: "100m" is 100, 2 is 2000. */
static int64_t quantity(const cJSON *v)
{
    if (cJSON_IsNumber(v)) return llround(v->valuedouble * 1000);
    char *end;
    double x = strtod(v->valuestring, &end);
    return llround(*end == 'm' ? x : x * 1000);
}

static uint32_t name_id(char **names, uint32_t *n, const char *name)
{
    for (uint32_t i = 0; i < *n; i++)
        if (strcmp(names[i], name) == 0) return i;
    names[*n] = xstrdup(name);
    return (*n)++;
}

static int64_t ns(double s)
{
    return llround(s * 1e9);
}

/* ---- scenario ---- */

static const char *unsupported(const cJSON *s)
{
    const cJSON *c;
    if (!cJSON_IsArray(get(s, "clusterQueues"))) return "it has no jobs of its own (upstream's generator)";
    if (get(get(s, "kueue"), "fairSharing")) return "fair sharing";
    if (get(get(s, "kueue"), "waitForPodsReady")) return "waitForPodsReady";
    cJSON_ArrayForEach(c, get(s, "flavors")) if (get(c, "topology") || get(c, "topologyName")) return "topology";
    cJSON_ArrayForEach(c, get(s, "jobs")) if (get(c, "topology") || get(c, "requiredTopology")) return "topology";
    cJSON_ArrayForEach(c, get(s, "events")) if (!get(c, "stop")) return "an event that is not a stop policy";
    return NULL;
}

static struct kueue_quota quota_of(const cJSON *q)
{
    const cJSON *b = get(q, "borrowingLimit"), *l = get(q, "lendingLimit");
    struct kueue_quota quota = {quantity(get(q, "nominal")), KUEUE_UNLIMITED, KUEUE_UNLIMITED};
    if (b && !cJSON_IsNull(b)) quota.borrowing_limit = quantity(b);
    if (l && !cJSON_IsNull(l)) quota.lending_limit = quantity(l);
    return quota;
}

static uint32_t index_of(const cJSON *list, const char *name)
{
    uint32_t i = 0;
    const cJSON *c;
    cJSON_ArrayForEach(c, list)
    {
        if (name && strcmp(text(c, "name"), name) == 0) return i;
        i++;
    }
    return KUEUE_NONE;
}

static void number_names(struct kueue_play *p)
{
    const cJSON *f, *q, *g, *r;
    cJSON_ArrayForEach(f, get(p->scenario, "flavors")) name_id(p->flavors, &p->n_flavors, text(f, "name"));
    cJSON_ArrayForEach(q, get(p->scenario, "clusterQueues")) cJSON_ArrayForEach(g, get(q, "groups"))
        cJSON_ArrayForEach(r, get(g, "resources")) name_id(p->resources, &p->n_resources, r->valuestring);
}

/* Cohorts named only by queues exist too, as roots. */
static void add_cohorts(struct kueue_play *p, const cJSON *cohorts, uint32_t *ids)
{
    uint32_t n = (uint32_t)cJSON_GetArraySize(cohorts);
    for (uint32_t round = 0; round < n; round++)
        for (uint32_t i = 0; i < n; i++) {
            const cJSON *c = cJSON_GetArrayItem(cohorts, (int)i);
            uint32_t parent = index_of(cohorts, text(c, "parent"));
            if (ids[i] != KUEUE_NONE || (parent != KUEUE_NONE && ids[parent] == KUEUE_NONE)) continue;
            ids[i] = kueue_add_cohort(p->k, parent == KUEUE_NONE ? KUEUE_NONE : ids[parent]);
        }
    for (uint32_t i = 0; i < n; i++) {
        const cJSON *g, *f, *q;
        cJSON_ArrayForEach(g, get(cJSON_GetArrayItem(cohorts, (int)i), "groups"))
            cJSON_ArrayForEach(f, get(g, "flavors")) cJSON_ArrayForEach(q, get(f, "quotas"))
                kueue_set_cohort_quota(p->k, ids[i], (uint16_t)name_id(p->flavors, &p->n_flavors, text(f, "name")),
                                       (uint16_t)name_id(p->resources, &p->n_resources, q->string), quota_of(q), 0);
    }
}

static enum kueue_preemption policy_of(const char *name)
{
    if (!name || strcmp(name, "Never") == 0) return KUEUE_PREEMPT_NEVER;
    if (strcmp(name, "LowerPriority") == 0) return KUEUE_PREEMPT_LOWER_PRIORITY;
    return strcmp(name, "Any") == 0 ? KUEUE_PREEMPT_ANY : KUEUE_PREEMPT_LOWER_OR_NEWER_EQUAL;
}

static bool try_next(const cJSON *q, const char *key, bool otherwise)
{
    const char *v = text(get(q, "flavorFungibility"), key);
    return v ? strcmp(v, "TryNextFlavor") == 0 : otherwise;
}

static struct kueue_queue_config queue_config(const cJSON *q)
{
    const cJSON *pre = get(q, "preemption"), *borrow = get(pre, "borrowWithinCohort");
    const char *strategy = text(q, "queueingStrategy"), *preference = text(get(q, "flavorFungibility"), "preference");
    struct kueue_queue_config c = {.cohort = KUEUE_NONE};
    c.strategy = strategy && strcmp(strategy, "StrictFIFO") == 0 ? KUEUE_STRICT_FIFO : KUEUE_BEST_EFFORT_FIFO;
    c.within_queue = policy_of(text(pre, "withinClusterQueue"));
    c.reclaim_within_cohort = policy_of(text(pre, "reclaimWithinCohort"));
    c.borrow_within_cohort = policy_of(text(borrow, "policy")) != KUEUE_PREEMPT_NEVER;
    c.has_priority_threshold = cJSON_IsNumber(get(borrow, "maxPriorityThreshold"));
    c.max_priority_threshold = (int32_t)number(borrow, "maxPriorityThreshold", 0);
    c.when_can_borrow = try_next(q, "whenCanBorrow", false) ? KUEUE_TRY_NEXT_FLAVOR : KUEUE_MAY_STOP_SEARCH;
    c.when_can_preempt = try_next(q, "whenCanPreempt", true) ? KUEUE_TRY_NEXT_FLAVOR : KUEUE_MAY_STOP_SEARCH;
    if (preference && strcmp(preference, "PreemptionOverBorrowing") == 0)
        c.preference = KUEUE_PREEMPTION_OVER_BORROWING;
    return c;
}

static void read_group(struct kueue_play *p, const cJSON *g, struct kueue_group *group, struct kueue_flavor_quotas *fq)
{
    const cJSON *r, *f;
    *group = (struct kueue_group){.flavors = fq};
    cJSON_ArrayForEach(r, get(g, "resources")) group->resources[group->n_resources++] =
        (uint16_t)name_id(p->resources, &p->n_resources, r->valuestring);
    cJSON_ArrayForEach(f, get(g, "flavors"))
    {
        struct kueue_flavor_quotas *to = &fq[group->n_flavors++];
        to->flavor = (uint16_t)name_id(p->flavors, &p->n_flavors, text(f, "name"));
        for (uint32_t i = 0; i < group->n_resources; i++)
            to->quotas[i] = quota_of(get(get(f, "quotas"), p->resources[group->resources[i]]));
    }
}

static void add_queues(struct kueue_play *p)
{
    const cJSON *cohorts = get(p->scenario, "cohorts"), *q, *g;
    uint32_t ids[64];
    for (uint32_t i = 0; i < 64; i++) ids[i] = KUEUE_NONE;
    add_cohorts(p, cohorts, ids);
    cJSON_ArrayForEach(q, get(p->scenario, "clusterQueues"))
    {
        struct kueue_queue_config c = queue_config(q);
        struct kueue_group groups[8];
        struct kueue_flavor_quotas fq[8][16];
        uint32_t at = index_of(cohorts, text(q, "cohort"));
        if (at != KUEUE_NONE) c.cohort = ids[at];
        cJSON_ArrayForEach(g, get(q, "groups"))
        {
            read_group(p, g, &groups[c.n_groups], fq[c.n_groups]);
            c.n_groups++;
        }
        c.groups = groups;
        kueue_add_queue(p->k, &c);
    }
}

static uint64_t flavors_of(const struct kueue_play *p, const cJSON *job)
{
    const char *only = text(get(job, "nodeSelector"), "sim/flavor");
    uint64_t mask = 0;
    for (uint32_t i = 0; i < p->n_flavors; i++)
        if (!only || strcmp(only, p->flavors[i]) == 0) mask |= 1ull << i;
    return mask;
}

static uint32_t shape_of(struct kueue_play *p, const cJSON *job)
{
    const cJSON *lqs = get(p->scenario, "localQueues"), *classes = get(p->scenario, "priorityClasses"), *r;
    const cJSON *lq = cJSON_GetArrayItem(lqs, (int)index_of(lqs, text(job, "queue")));
    uint32_t queue = index_of(get(p->scenario, "clusterQueues"), text(lq, "clusterQueue"));
    uint32_t class = index_of(classes, text(job, "priority"));
    int32_t priority = 0;
    if (class != KUEUE_NONE) priority = (int32_t)number(cJSON_GetArrayItem(classes, (int)class), "value", 0);
    struct kueue_pod_set ps = {.count = (uint32_t)number(job, "parallelism", 1), .flavors = flavors_of(p, job)};
    ps.min_count = (uint32_t)number(job, "minParallelism", 0);
    cJSON_ArrayForEach(r, get(job, "request")) ps.requests[name_id(p->resources, &p->n_resources, r->string)] =
        quantity(r);
    return kueue_shape(p->k, queue, priority, 1, &ps);
}

static void push_event(struct kueue_play *p, int64_t at_ns, enum event_kind kind, uint32_t job, uint32_t attempt,
                       enum kueue_stop stop)
{
    struct event e = {at_ns, p->n_events++, kind, job, attempt, stop};
    array_push(&p->events, e);
}

static void add_jobs_and_events(struct kueue_play *p)
{
    const cJSON *j, *e;
    cJSON_ArrayForEach(j, get(p->scenario, "jobs"))
    {
        struct job job = {.name = text(j, "name"), .shape = shape_of(p, j)};
        job.submit_s = number(j, "submit_s", 0);
        job.duration_s = number(j, "duration_s", 0);
        push_event(p, ns(job.submit_s) + kueue_timing_recorded.create_ns, SUBMIT, (uint32_t)p->jobs.n, 0, KUEUE_RUN);
        array_push(&p->jobs, job);
    }
    cJSON_ArrayForEach(e, get(p->scenario, "events"))
    {
        const char *policy = text(e, "policy");
        enum kueue_stop stop = strcmp(policy, "None") == 0   ? KUEUE_RUN
                               : strcmp(policy, "Hold") == 0 ? KUEUE_HOLD
                                                             : KUEUE_HOLD_AND_DRAIN;
        uint32_t queue = index_of(get(p->scenario, "clusterQueues"), text(e, "stop"));
        push_event(p, ns(number(e, "at_s", 0)), STOP, queue, 0, stop);
    }
}

static bool gate(const cJSON *scenario, const char *name, bool otherwise)
{
    const cJSON *g = get(get(get(scenario, "kueue"), "featureGates"), name);
    return g ? cJSON_IsTrue(g) : otherwise;
}

static cJSON *read_json(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    size_t n = (size_t)ftell(f);
    rewind(f);
    char *bytes = xmalloc(n + 1);
    n = fread(bytes, 1, n, f);
    bytes[n] = '\0';
    fclose(f);
    cJSON *json = cJSON_Parse(bytes);
    free(bytes);
    return json;
}

struct kueue_play *kueue_play_read(const char *path, char why[256], bool *left_out)
{
    struct kueue_play *p = xcalloc(1, sizeof *p);
    p->file = read_json(path);
    p->scenario = get(p->file, "scenario");
    const char *no = !p->file ? "it is not JSON" : !p->scenario ? "it has no scenario" : unsupported(p->scenario);
    *left_out = p->scenario && no;
    if (no) {
        snprintf(why, 256, "%s", no);
        kueue_play_free(p);
        return NULL;
    }
    number_names(p);
    struct kueue_options o = {.n_flavors = p->n_flavors, .n_resources = p->n_resources, .partial_admission = true};
    o.priority_sorting = gate(p->scenario, "PrioritySortingWithinCohort", true);
    o.equivalence_hashing = gate(p->scenario, "SchedulingEquivalenceHashing", false);
    p->k = kueue_create(&o);
    add_queues(p);
    add_jobs_and_events(p);
    const cJSON *play = cJSON_GetArrayItem(get(p->file, "plays"), 0);
    p->end_ns = ns(number(play, "observed_s", number(p->scenario, "run_s", 0)));
    p->retry_planned_ns = KUEUE_NEVER;
    return p;
}

void kueue_play_free(struct kueue_play *p)
{
    kueue_destroy(p->k);
    cJSON_Delete(p->file);
    for (uint32_t i = 0; i < p->n_flavors; i++) free(p->flavors[i]);
    for (uint32_t i = 0; i < p->n_resources; i++) free(p->resources[i]);
    array_free(&p->jobs);
    array_free(&p->events);
    array_free(&p->mine);
    free(p);
}

/* ---- playing ---- */

static void describe_assignment(const struct kueue_play *p, uint32_t workload, char *out, size_t size)
{
    int n = snprintf(out, size, "%u", kueue_pods(p->k, workload, 0));
    for (uint32_t r = 0; r < p->n_resources; r++) {
        uint16_t flavor = kueue_flavor(p->k, workload, 0, (uint16_t)r);
        if (flavor != UINT16_MAX)
            n += snprintf(out + n, size - (size_t)n, " %s:%s", p->resources[r], p->flavors[flavor]);
    }
}

static void apply(struct kueue_play *p, const struct kueue_cycle *c, int64_t at_ns)
{
    const struct kueue_timing *t = &kueue_timing_recorded;
    for (size_t i = 0; i < c->n; i++) {
        const struct kueue_outcome *o = &c->outcomes[i];
        uint32_t id = (uint32_t)o->owner;
        struct job *job = &p->jobs.v[id];
        if (o->kind == KUEUE_ADMIT) {
            double ready_s = seconds(at_ns + t->reserve_ns) + READY_S + job->duration_s + NOTICED_S;
            struct decision *d = decisions_note(&p->mine, seconds(at_ns + t->reserve_ns), id, RESERVED);
            describe_assignment(p, o->workload, d->detail, sizeof d->detail);
            push_event(p, ns(ready_s) + t->complete_ns + t->finish_ns, FINISH, id, ++job->attempt, KUEUE_RUN);
        } else if (o->kind == KUEUE_EVICT) {
            struct decision *d = decisions_note(&p->mine, seconds(at_ns), id, EVICTED);
            snprintf(d->detail, sizeof d->detail, "%s", kueue_reason_name(o->reason));
            job->attempt++;
            push_event(p, at_ns + t->release_ns, RELEASE, id, job->attempt, KUEUE_RUN);
        }
    }
}

static void schedule(struct kueue_play *p)
{
    const struct kueue_cycle *c = kueue_run_cycle(p->k, p->now_ns + ns(WALL_S));
    p->busy_until_ns = p->now_ns + kueue_cycle_ns(&kueue_timing_recorded, c);
    apply(p, c, p->busy_until_ns);
}

static void handle(struct kueue_play *p, const struct event *e)
{
    struct job *job = e->kind == SUBMIT || e->kind == FINISH || e->kind == RELEASE ? &p->jobs.v[e->job] : NULL;
    int64_t wall_ns = p->now_ns + ns(WALL_S);
    switch (e->kind) {
    case SUBMIT:
        job->workload = kueue_submit(p->k, job->shape, e->order, wall_ns, e->job);
        job->live = true;
        break;
    case FINISH:
        if (!job->live || job->attempt != e->attempt) return;
        kueue_finish(p->k, job->workload, wall_ns);
        job->live = false;
        break;
    case RELEASE:
        if (job->live && job->attempt == e->attempt) kueue_release(p->k, job->workload, wall_ns);
        break;
    case STOP:
        kueue_set_stop(p->k, e->job, e->stop, wall_ns);
        apply(p, kueue_drained(p->k), p->now_ns);
        break;
    case RETRY: kueue_retry(p->k, wall_ns); break;
    case SCHEDULE:
        p->schedule_planned = false;
        if (kueue_ready(p->k)) schedule(p);
        break;
    }
}

/* After each event: the next batch and the next cycle. */
static void plan(struct kueue_play *p)
{
    int64_t retry = kueue_next_retry(p->k);
    if (retry != KUEUE_NEVER && retry != p->retry_planned_ns) push_event(p, retry - ns(WALL_S), RETRY, 0, 0, KUEUE_RUN);
    p->retry_planned_ns = retry;
    if (p->schedule_planned || !kueue_ready(p->k)) return;
    push_event(p, p->now_ns > p->busy_until_ns ? p->now_ns : p->busy_until_ns, SCHEDULE, 0, 0, KUEUE_RUN);
    p->schedule_planned = true;
}

static bool pop_event(struct kueue_play *p, struct event *e)
{
    size_t best = 0;
    if (p->events.n == 0) return false;
    for (size_t i = 1; i < p->events.n; i++) {
        const struct event *a = &p->events.v[i], *b = &p->events.v[best];
        if (a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->order < b->order)) best = i;
    }
    *e = p->events.v[best];
    p->events.v[best] = array_last(&p->events);
    p->events.n--;
    return true;
}

void kueue_play_run(struct kueue_play *p)
{
    struct event e;
    while (pop_event(p, &e) && e.at_ns <= p->end_ns) {
        p->now_ns = e.at_ns;
        handle(p, &e);
        plan(p);
    }
}

/* ---- decisions of others ---- */

const struct cJSON *kueue_play_scenario(const struct kueue_play *p)
{
    return p->scenario;
}

double kueue_play_end(const struct kueue_play *p)
{
    return seconds(p->end_ns);
}

void kueue_play_admitted(struct kueue_play *p, double at_s, uint32_t job, uint32_t pods, uint64_t flavors,
                         const char *const *flavor_names, const char *const *resource_names)
{
    struct decision *d = decisions_note(&p->mine, at_s, job, RESERVED);
    int n = snprintf(d->detail, sizeof d->detail, "%u", pods);
    for (uint32_t r = 0; r < p->n_resources; r++)
        for (uint32_t x = 0; x < 8; x++)
            if ((flavors >> 8 * x & 0xff) && strcmp(resource_names[x], p->resources[r]) == 0)
                n += snprintf(d->detail + n, sizeof d->detail - (size_t)n, " %s:%s", p->resources[r],
                              flavor_names[(flavors >> 8 * x & 0xff) - 1]);
}

void kueue_play_evicted(struct kueue_play *p, double at_s, uint32_t job, unsigned reason)
{
    struct decision *d = decisions_note(&p->mine, at_s, job, EVICTED);
    snprintf(d->detail, sizeof d->detail, "%s", kueue_reason_name((enum kueue_reason)reason));
}
