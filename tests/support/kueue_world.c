/* kueue_world.c - small Kueue configurations written as text, for tables of test rows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/kueue_world.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define SECOND_NS 1000000000ll
#define WORDS     24

struct line {
    char *word[WORDS];
    uint32_t n;
};

static const char *after(const struct line *l, const char *key)
{
    for (uint32_t i = 2; i + 1 < l->n; i++)
        if (strcmp(l->word[i], key) == 0) return l->word[i + 1];
    return NULL;
}

static bool has(const struct line *l, const char *key)
{
    for (uint32_t i = 2; i < l->n; i++)
        if (strcmp(l->word[i], key) == 0) return true;
    return false;
}

static uint32_t find(char *const *names, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0) return i;
    fprintf(stderr, "kueue_world: no \"%s\"\n", name);
    abort();
}

static int64_t limit(char **at)
{
    if (**at != '/') return KUEUE_UNLIMITED;
    (*at)++;
    if (**at != '-') return strtoll(*at, at, 10);
    (*at)++;
    return KUEUE_UNLIMITED;
}

/* "4/2,3/-/0" */
static uint16_t quotas(const char *text, struct kueue_flavor_quotas *out)
{
    uint16_t n = 0;
    char *at = (char *)text;
    for (;; at++) {
        out[n].flavor = n;
        out[n].quotas[0].nominal = strtoll(at, &at, 10);
        out[n].quotas[0].borrowing_limit = limit(&at);
        out[n].quotas[0].lending_limit = limit(&at);
        n++;
        if (*at != ',') return n;
    }
}

static const char *quota_word(const struct line *l)
{
    const char *in = after(l, "in");
    for (uint32_t i = 2; i < l->n; i++)
        if (l->word[i] != in && l->word[i][0] >= '0' && l->word[i][0] <= '9') return l->word[i];
    return NULL;
}

static void add_cohort(struct kueue_world *w, const struct line *l)
{
    const char *in = after(l, "in"), *quota = quota_word(l);
    struct kueue_flavor_quotas q[4];
    uint32_t id = kueue_add_cohort(w->k, in ? find(w->cohorts, w->n_cohorts, in) : KUEUE_NONE);
    w->cohorts[w->n_cohorts++] = xstrdup(l->word[1]);
    uint16_t n = quota ? quotas(quota, q) : 0;
    for (uint16_t f = 0; f < n; f++) kueue_set_cohort_quota(w->k, id, f, 0, q[f].quotas[0], w->now_ns);
}

static enum kueue_preemption policy(const char *word)
{
    if (!word) return KUEUE_PREEMPT_NEVER;
    if (strcmp(word, "any") == 0) return KUEUE_PREEMPT_ANY;
    return strcmp(word, "newer") == 0 ? KUEUE_PREEMPT_LOWER_OR_NEWER_EQUAL : KUEUE_PREEMPT_LOWER_PRIORITY;
}

static void add_queue(struct kueue_world *w, const struct line *l)
{
    const char *in = after(l, "in"), *max = after(l, "max");
    struct kueue_flavor_quotas q[4];
    struct kueue_group g = {.n_resources = 1, .n_flavors = quotas(quota_word(l), q), .flavors = q};
    struct kueue_queue_config c = {.cohort = in ? find(w->cohorts, w->n_cohorts, in) : KUEUE_NONE};
    c.groups = &g;
    c.n_groups = 1;
    c.strategy = has(l, "strict") ? KUEUE_STRICT_FIFO : KUEUE_BEST_EFFORT_FIFO;
    c.within_queue = policy(after(l, "within"));
    c.reclaim_within_cohort = policy(after(l, "reclaim"));
    c.borrow_within_cohort = has(l, "borrow");
    c.has_priority_threshold = max != NULL;
    c.max_priority_threshold = max ? atoi(max) : 0;
    c.when_can_borrow = has(l, "next-borrow") ? KUEUE_TRY_NEXT_FLAVOR : KUEUE_MAY_STOP_SEARCH;
    c.when_can_preempt = has(l, "stop-preempt") ? KUEUE_MAY_STOP_SEARCH : KUEUE_TRY_NEXT_FLAVOR;
    c.preference = has(l, "prefer-preempt") ? KUEUE_PREEMPTION_OVER_BORROWING : KUEUE_BORROWING_OVER_PREEMPTION;
    kueue_add_queue(w->k, &c);
    w->queues[w->n_queues++] = xstrdup(l->word[1]);
}

static uint64_t flavor_mask(const char *digits)
{
    uint64_t mask = 0;
    for (; *digits; digits++) mask |= 1ull << (*digits - '0');
    return mask;
}

static void add_workload(struct kueue_world *w, const struct line *l)
{
    const char *prio = after(l, "prio"), *min = after(l, "min"), *flavors = after(l, "flavors");
    struct kueue_pod_set ps = {.count = (uint32_t)atoi(l->word[3]), .requests = {1}};
    ps.min_count = min ? (uint32_t)atoi(min) : 0;
    ps.flavors = flavors ? flavor_mask(flavors) : ~0ull;
    uint32_t queue = find(w->queues, w->n_queues, l->word[2]), id = w->n_workloads++;
    uint32_t shape = kueue_shape(w->k, queue, prio ? atoi(prio) : 0, 1, &ps);
    assert(id < WORLD_NAMES);
    w->workloads[id] = xstrdup(l->word[1]);
    w->ids[id] = kueue_submit(w->k, shape, id, w->now_ns, id);
}

static void add_line(struct kueue_world *w, const struct line *l)
{
    w->now_ns += SECOND_NS;
    if (strcmp(l->word[0], "cohort") == 0)
        add_cohort(w, l);
    else if (strcmp(l->word[0], "queue") == 0)
        add_queue(w, l);
    else
        add_workload(w, l);
    if (strcmp(l->word[0], "run") != 0) return;
    for (int i = 0; i < 100 && !kueue_world_admitted(w, l->word[1]); i++) kueue_world_cycle(w);
    assert(kueue_world_admitted(w, l->word[1]));
}

void kueue_world_add(struct kueue_world *w, const char *text)
{
    char *copy = xstrdup(text), *rest = copy, *piece;
    while ((piece = strsep(&rest, ";\n")) != NULL) {
        struct line l = {0};
        char *word;
        while ((word = strsep(&piece, " ")) != NULL)
            if (*word && l.n < WORDS) l.word[l.n++] = word;
        if (l.n > 0) add_line(w, &l);
    }
    free(copy);
}

struct kueue_world *kueue_world(const char *text, const struct kueue_options *options)
{
    struct kueue_world *w = xcalloc(1, sizeof *w);
    struct kueue_options o = {.priority_sorting = true, .partial_admission = true};
    if (options) o = *options;
    o.n_flavors = 4;
    o.n_resources = 1;
    w->k = kueue_create(&o);
    kueue_world_add(w, text);
    return w;
}

void kueue_world_free(struct kueue_world *w)
{
    kueue_destroy(w->k);
    for (uint32_t i = 0; i < w->n_cohorts; i++) free(w->cohorts[i]);
    for (uint32_t i = 0; i < w->n_queues; i++) free(w->queues[i]);
    for (uint32_t i = 0; i < w->n_workloads; i++) free(w->workloads[i]);
    free(w);
}

static int say_outcome(const struct kueue_world *w, const struct kueue_outcome *o, char *out, size_t size)
{
    const char *name = w->workloads[o->owner];
    if (o->kind == KUEUE_BLOCK) return snprintf(out, size, "block %s ", name);
    if (o->kind == KUEUE_EVICT) {
        const char *by = o->by == KUEUE_NONE ? "" : "?";
        for (uint32_t i = 0; i < w->n_workloads; i++)
            if (w->ids[i] == o->by && kueue_wait_reason(w->k, o->by) != KUEUE_OK) by = w->workloads[i];
        return snprintf(out, size, "evict %s:%s<%s ", name, kueue_reason_name(o->reason), by);
    }
    return snprintf(out, size, "admit %s(f%u x%u) ", name, kueue_flavor(w->k, o->workload, 0, 0),
                    kueue_pods(w->k, o->workload, 0));
}

const char *kueue_world_cycle(struct kueue_world *w)
{
    size_t n = 0;
    w->now_ns += SECOND_NS / 1000;
    w->said[0] = '\0';
    const struct kueue_cycle *c = kueue_run_cycle(w->k, w->now_ns);
    for (size_t i = 0; i < c->n; i++) n += (size_t)say_outcome(w, &c->outcomes[i], w->said + n, sizeof w->said - n);
    if (n > 0) w->said[n - 1] = '\0';
    return w->said;
}

void kueue_world_settle(struct kueue_world *w, int *n, int *evictions)
{
    for (*n = *evictions = 0; kueue_ready(w->k) && *n < 10000; (*n)++) {
        const struct kueue_cycle *c = kueue_run_cycle(w->k, w->now_ns += SECOND_NS / 1000);
        uint32_t gone[64], n_gone = 0;
        for (size_t i = 0; i < c->n; i++)
            if (c->outcomes[i].kind == KUEUE_EVICT) gone[n_gone++] = c->outcomes[i].workload;
        *evictions += (int)n_gone;
        for (uint32_t i = 0; i < n_gone; i++) kueue_release(w->k, gone[i], w->now_ns);
    }
}

uint32_t kueue_world_id(const struct kueue_world *w, const char *workload)
{
    return w->ids[find(w->workloads, w->n_workloads, workload)];
}

bool kueue_world_admitted(const struct kueue_world *w, const char *workload)
{
    return kueue_is_admitted(w->k, kueue_world_id(w, workload));
}

void kueue_world_finish(struct kueue_world *w, const char *workload)
{
    kueue_finish(w->k, kueue_world_id(w, workload), w->now_ns);
}

void kueue_world_release(struct kueue_world *w, const char *workload)
{
    kueue_release(w->k, kueue_world_id(w, workload), w->now_ns);
}

void kueue_world_wait(struct kueue_world *w, double s)
{
    w->now_ns += (int64_t)(s * 1e9);
    kueue_retry(w->k, w->now_ns);
}
