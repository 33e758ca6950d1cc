/* simulate.c - puts a simulation together from its scenario, runs it, and closes its run.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/simulate.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/progress.h"
#include "base/str.h"
#include "base/units.h"
#include "sim/cluster/calendar.h"
#include "sim/cluster/hold.h"
#include "sim/cluster/network.h"
#include "sim/kube/kube.h"
#include "sim/lifecycle.h"
#include "sim/pace.h"
#include "sim/queue/policy.h"
#include "sim/script.h"
#include "sim/train/train.h"
#include "sim/watch.h"

/* ---- outside events ---- */

static void on_arrival(void *ctx, void *arg)
{
    struct sim *s = ctx;
    int64_t now = sim_now(s);
    (void)arg;
    while (s->next_arrival < s->n_specs && s->specs[s->next_arrival].submit_ns <= now) job_submit(s, s->next_arrival);
    if (s->next_arrival < s->n_specs)
        event_at(s->events, s->specs[s->next_arrival].submit_ns, EVENT_REQUEST, on_arrival, NULL);
}

static bool more_from_outside(struct sim *s)
{
    return s->next_arrival < s->n_specs || script_more(s->script) || calendar_more(s->calendar);
}

/* Life cycles without pods hear of it by their holds; kube tells the owners of its pods itself. */
static void tell_holders(struct sim *s, uint32_t node, bool up)
{
    for (struct hold *h = s->holds, *next; h; h = next) {
        next = h->next;
        const struct lifecycle_ops *life = h->job && h->job->live ? h->job->live->life : NULL;
        if (life && !life->needs_pods && life->node && hold_is_on(h, node)) life->node(s, h->job, node, up);
    }
}

/* A node went down or came back: its free shares change sides, then its holders and the policy hear of it. */
static void on_node(struct sim *s, uint32_t node, bool up)
{
    uint32_t group = pool_node_group(s->pool, node);
    int64_t all = (int64_t)s->scenario->cluster.groups[group].gpus * SHARES_PER_GPU;
    if (up) {
        int64_t shares = pool_node_up(s->pool, node);
        s->last_repair_ns = sim_now(s);
        ledger_up(s->ledger, group, s->node_state[node], shares, sim_now(s));
        s->node_state[node] = ACT_FREE;
    } else {
        if (s->node_state[node] == ACT_FREE) s->node_state[node] = ACT_FAILED; /* the script marks a drain before */
        ledger_down(s->ledger, group, s->node_state[node], pool_node_down(s->pool, node), sim_now(s));
    }
    s->up_shares += up ? all : -all;
    if (!up && s->node_lost_ns && s->node_state[node] != ACT_DRAINED) s->node_lost_ns[node] = sim_now(s);
    sim_record(s, REC_NODE_STATE, NULL, node, s->node_state[node], all, 0);
    tell_holders(s, node, up);
    if (s->kube && up) kube_node_back(s->kube, node);
    else if (s->kube && s->node_state[node] == ACT_DRAINED) kube_node_drain(s->kube, node);
    else if (s->kube) kube_node_lost(s->kube, node);
    s->policy->capacity(s);
}

/* Ranks in pods on the node wait for the link: lifted shares are those that train. */
static void tell_train(struct kube *k, struct pod *p, void *arg)
{
    const struct job *j = p->spec.job;
    (void)arg;
    if (p->hold.lifted && j && j->live && j->live->train) train_links(kube_sim(k), j->live->train);
}

static void on_link(struct sim *s, uint32_t node, bool up)
{
    (void)up;
    if (s->kube) kube_each_pod_on(s->kube, node, tell_train, NULL);
}

static const struct calendar_hooks calendar_hooks = {.node = on_node, .link = on_link};

/* ---- assembly ---- */

static void add_nodes(struct sim *s)
{
    const struct cluster_spec *c = &s->scenario->cluster;
    s->node_state = xcalloc(c->n_nodes + 1, sizeof *s->node_state);
    for (uint32_t i = 0; i < c->n_storage && !s->node_lost_ns; i++)
        if (c->storage[i].local) s->node_lost_ns = xmalloc((c->n_nodes + 1) * sizeof *s->node_lost_ns);
    for (uint32_t i = 0; s->node_lost_ns && i < c->n_nodes; i++) s->node_lost_ns[i] = -1;
    for (uint32_t g = 0; g < c->n_groups; g++) {
        int64_t shares = (int64_t)c->groups[g].count * c->groups[g].gpus * SHARES_PER_GPU;
        ledger_exist(s->ledger, g, shares, 0);
        s->up_shares += shares;
    }
}

/* The resolved scenario goes with the run: running that file again gives the same fingerprint. */
static bool attach_scenario(struct sim *s, char **error)
{
    struct str json = {0}, csv = {0};
    scenario_resolved(s->scenario, &json, &csv);
    bool ok = run_attach(s->out, "scenario.json", str_text(&json), json.n, error);
    if (ok && csv.n) ok = run_attach(s->out, "scenario.jobs.csv", str_text(&csv), csv.n, error);
    str_free(&json);
    str_free(&csv);
    return ok;
}

static bool open_run(struct sim *s, const struct sim_options *o, char **error)
{
    const struct scenario *sc = s->scenario;
    const char *groups[64], *kinds[N_JOB_KINDS];
    for (uint32_t g = 0; g < sc->cluster.n_groups; g++) groups[g] = sc->cluster.groups[g].name;
    for (int k = 0; k < N_JOB_KINDS; k++) kinds[k] = job_kind_table[k].name;
    struct run_meta meta = {
        .scenario_name = sc->name, .scenario_hash = sc->hash, .approach = sc->approach.name, .back_end = "sim",
        .seed = sc->run.seed, .replication = o->replication, .record_level = o->record_level, .force = o->force, .scratch = o->scratch,
        .queues = sc->queues, .n_queues = sc->n_queues, .teams = sc->teams, .n_teams = sc->n_teams,
        .groups = groups, .n_groups = sc->cluster.n_groups, .kinds = kinds, .n_kinds = N_JOB_KINDS,
        .warmup_ns = sc->run.warmup_ns,
        .horizon_ns = sc->run.horizon_ns == TIME_NEVER ? -1 : sc->run.horizon_ns,
    };
    while (meta.approach_index < sc->n_approaches && strcmp(sc->approach_names[meta.approach_index], sc->approach.name))
        meta.approach_index++;
    s->out = run_create(o->dir, &meta, error);
    if (!s->out) return false;
    s->recorder = run_recorder(s->out);
    if (!o->dir || attach_scenario(s, error)) return true;
    run_finish(s->out, RUN_FAILED, NULL, 0, &(char *){NULL});
    return false;
}

static void add_life_cycles(struct sim *s)
{
    for (int k = 0; k < N_JOB_KINDS; k++) {
        s->lifecycle[k] = lifecycle_find(s->scenario->approach.lifecycle[k]);
        if (s->lifecycle[k]->needs_pods && !s->kube) s->kube = kube_create(s);
    }
    for (int k = 0; k < N_JOB_KINDS; k++) {
        int first = 0;
        while (s->lifecycle[first] != s->lifecycle[k]) first++;
        if (first < k) s->lifecycle_state[k] = s->lifecycle_state[first];
        else if (s->lifecycle[k]->create) s->lifecycle_state[k] = s->lifecycle[k]->create(s);
    }
}

struct sim *sim_create(const struct scenario *sc, const struct sim_options *o, char **error)
{
    struct sim *s = xcalloc(1, sizeof *s);
    bool owned;
    struct job_spec *jobs;
    s->scenario = sc;
    s->replication = o->replication;
    arena_init(&s->arena);
    if (!scenario_workload(sc, o->replication, &jobs, &s->n_specs, &owned)) {
        *error = xstrdup("the workload of this replication cannot be made");
        free(s);
        return NULL;
    }
    s->specs = jobs;
    s->owned_specs = owned ? jobs : NULL;
    if (!open_run(s, o, error)) {
        free(s->owned_specs);
        free(s);
        return NULL;
    }
    s->events = event_queue_create();
    s->ledger = ledger_create(sc->cluster.n_groups);
    s->pool = pool_create(&sc->cluster);
    s->by_index = xcalloc(s->n_specs + 1, sizeof *s->by_index);
    s->blocked_shares = xcalloc(2 * (sc->cluster.n_groups + 1), sizeof *s->blocked_shares);
    s->fragmented_shares = s->blocked_shares + sc->cluster.n_groups + 1;
    s->warmup_ns = sc->run.warmup_ns;
    s->horizon_ns = sc->run.horizon_ns;
    add_nodes(s);
    network_create(s);
    add_life_cycles(s);
    s->policy = policy_find(sc->approach.admission);
    s->policy_state = s->policy->create(s);
    s->script = script_create(s);
    if (sc->faults.n_components || sc->faults.n_script) calendar_create(s, &calendar_hooks);
    if (s->n_specs) event_at(s->events, s->specs[0].submit_ns, EVENT_REQUEST, on_arrival, NULL);
    watch_start(s, more_from_outside);
    return s;
}

/* ---- running ---- */

bool sim_step(struct sim *s)
{
    if (watch_found(s)) return false;
    bool idle = !s->n_live && s->next_arrival == s->n_specs;
    if (idle && s->horizon_ns == TIME_NEVER) return false;
    return event_step_until(s->events, s, s->horizon_ns);
}

/* The end: the horizon when one is given and nothing stopped it before, else the last thing that happened. */
static int64_t end_time(const struct sim *s)
{
    bool cut = watch_found(s) || s->interrupted || s->horizon_ns == TIME_NEVER;
    return cut ? sim_now(s) : s->horizon_ns;
}

/* Also of a job that has ended some ranks may go on, until its object is deleted. */
static bool may_step(const struct job *j)
{
    if (!j || !j->live || !j->live->life) return false;
    return j->state == JOB_ADMITTED || j->state == JOB_RUNNING || ((j->flags & JOB_ENDED) && j->live->state);
}

static void close_jobs(struct sim *s)
{
    for (size_t i = 0; i < s->next_arrival; i++)
        if (may_step(s->by_index[i])) s->by_index[i]->live->life->stop(s, s->by_index[i], STOP_HORIZON);
    holds_settle(s);
    for (size_t i = 0; i < s->next_arrival; i++) {
        struct job *j = s->by_index[i];
        if (!j) continue;
        job_settle(s, j);
        job_write_row(s, j);
    }
}

static void free_jobs(struct sim *s)
{
    for (size_t i = 0; i < s->n_specs; i++) {
        struct job *j = s->by_index[i];
        if (!j) continue;
        if (j->live) free(j->live->nodes);
        free(j->live);
        free(j);
    }
    while (s->free_jobs) {
        struct job *next = s->free_jobs->policy;
        free(s->free_jobs);
        s->free_jobs = next;
    }
    while (s->free_live) {
        struct job_live *next = s->free_live->state;
        free(s->free_live);
        s->free_live = next;
    }
}

static void destroy(struct sim *s)
{
    for (int k = 0; k < N_JOB_KINDS; k++) {
        int first = 0;
        while (s->lifecycle[first] != s->lifecycle[k]) first++;
        if (first == k && s->lifecycle[k]->destroy) s->lifecycle[k]->destroy(s, s->lifecycle_state[k]);
    }
    kube_destroy(s->kube);
    s->policy->destroy(s, s->policy_state);
    calendar_destroy(s->calendar);
    script_destroy(s->script);
    watch_destroy(s);
    free_jobs(s);
    network_destroy(s->network);
    event_queue_destroy(s->events);
    pool_destroy(s->pool);
    ledger_destroy(s->ledger);
    array_free(&s->dependents);
    free(s->unsuccessful);
    free(s->owned_specs);
    free(s->by_index);
    free(s->blocked_shares);
    free(s->node_state);
    free(s->node_lost_ns);
    arena_free(&s->arena);
    free(s);
}

/* Live jobs that have not ended; an ended one lives on while pods on a lost node cannot go. */
static size_t open_jobs(const struct sim *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->next_arrival; i++) n += s->by_index[i] && !(s->by_index[i]->flags & JOB_ENDED);
    return n;
}

static void report_no_progress(struct sim *s, struct sim_result *r)
{
    struct str text = {0};
    if (!open_jobs(s)) return;
    if (!watch_found(s) && s->horizon_ns != TIME_NEVER) return;
    watch_report(s, &text);
    r->no_progress = true;
    r->no_progress_text = str_take(&text);
}

static bool close_run(struct sim *s, bool keep_run, struct sim_result *r)
{
    const char *why = NULL;
    char *error = NULL;
    r->interrupted = s->interrupted;
    if (!s->interrupted) report_no_progress(s, r);
    r->events = event_called(s->events);
    r->end_ns = end_time(s);
    if (r->end_ns > sim_now(s)) event_run_until(s->events, s, r->end_ns); /* only the clock moves */
    size_t unfinished = open_jobs(s) + (s->n_specs - s->next_arrival);
    close_jobs(s);
    ledger_close(s->ledger, r->end_ns);
    bool exact = ledger_check(s->ledger, &why);
    r->jobs = s->n_specs;
    r->unfinished = unfinished;
    r->succeeded = s->n_succeeded;
    r->failed = s->n_failed;
    recorder_fingerprint(s->recorder, r->fingerprint);
    if (!exact) error = xstrdup(why);
    struct run *run = run_finish_open(s->out, s->interrupted ? RUN_INTERRUPTED : exact ? RUN_COMPLETE : RUN_FAILED,
                                      s->ledger, r->end_ns, exact ? &error : &(char *){NULL});
    bool ok = run != NULL;
    if (keep_run) r->run = run;
    else run_close(run);
    s->recorder = NULL;
    r->error = error;
    destroy(s);
    return ok && exact;
}

bool sim_close(struct sim *s, struct sim_result *r)
{
    return close_run(s, false, r);
}

bool sim_run(const struct scenario *sc, const struct sim_options *o, struct sim_result *r)
{
    memset(r, 0, sizeof *r);
    struct sim *s = sim_create(sc, o, &r->error);
    if (!s) return false;
    struct progress progress;
    struct pace pace;
    if (o->watch.begun) o->watch.begun(o->watch.arg);
    pace_begin(&pace, &o->watch, s->out);
    progress_begin(&progress, o->progress, "jobs", s->n_specs);
    bool watched = o->watch.watched; /* not asked at each event when nobody watches */
    for (uint64_t n = 1; !s->interrupted && sim_step(s); n++) {
        if (watched) s->interrupted = pace_keep(&pace, sim_now(s), o->interrupt);
        if (n & 4095) continue;
        progress_update(&progress, s->n_ended);
        s->interrupted |= o->interrupt && *o->interrupt;
    }
    progress_end(&progress);
    return close_run(s, o->keep_run, r);
}

void sim_result_free(struct sim_result *r)
{
    run_close(r->run);
    free(r->error);
    free(r->no_progress_text);
}
