/* live_run.c - the states of the jobs of a live run, and its files.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/live_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "real/live_parts.h"

void live_record(struct live_run *l, enum record_type type, int32_t job, uint32_t subject, unsigned code, int64_t a,
                 int64_t b)
{
    recorder_put(l->recorder, &(struct record){.time_ns = l->now_ns,
                                               .type = (uint16_t)type,
                                               .code = (uint16_t)code,
                                               .job = job,
                                               .subject = subject,
                                               .a = a,
                                               .b = b});
}

/* ---- begin ---- */

static bool attach_scenario(struct live_run *l, char **err)
{
    struct str json = {0}, csv = {0};
    scenario_resolved(l->scenario, &json, &csv);
    bool ok = run_attach(l->out, "scenario.json", str_text(&json), json.n, err);
    if (ok && csv.n) ok = run_attach(l->out, "scenario.jobs.csv", str_text(&csv), csv.n, err);
    str_free(&json);
    str_free(&csv);
    return ok;
}

static bool open_run(struct live_run *l, const struct live_options *o, char **err)
{
    const struct scenario *sc = l->scenario;
    const char *groups[64], *kinds[N_JOB_KINDS];
    for (uint32_t g = 0; g < sc->cluster.n_groups; g++) groups[g] = sc->cluster.groups[g].name;
    for (int k = 0; k < N_JOB_KINDS; k++) kinds[k] = job_kind_table[k].name;
    struct run_meta meta = {
        .scenario_name = sc->name, .scenario_hash = sc->hash, .approach = sc->approach.name, .back_end = o->back_end,
        .seed = sc->run.seed, .record_level = o->record_level, .force = o->force,
        .queues = sc->queues, .n_queues = sc->n_queues, .teams = sc->teams, .n_teams = sc->n_teams,
        .groups = groups, .n_groups = sc->cluster.n_groups, .kinds = kinds, .n_kinds = N_JOB_KINDS,
        .warmup_ns = sc->run.warmup_ns,
        .horizon_ns = sc->run.horizon_ns == TIME_NEVER ? -1 : sc->run.horizon_ns,
    };
    while (meta.approach_index < sc->n_approaches && strcmp(sc->approach_names[meta.approach_index], sc->approach.name))
        meta.approach_index++;
    l->out = run_create(o->dir, &meta, err);
    if (!l->out) return false;
    l->recorder = run_recorder(l->out);
    if (!o->dir || attach_scenario(l, err)) return true;
    run_finish(l->out, RUN_FAILED, NULL, 0, &(char *){NULL});
    return false;
}

static void create_jobs(struct live_run *l)
{
    l->jobs = xcalloc(l->n_jobs + 1, sizeof *l->jobs);
    for (size_t i = 0; i < l->n_jobs; i++) {
        struct live_job *j = &l->jobs[i];
        j->spec = &l->specs[i];
        j->submit_ns = j->admitted_ns = j->allocated_ns = j->started_ns = j->finished_ns = -1;
        j->wait.reason = NOT_WAITING;
    }
    l->blocked = xcalloc(l->scenario->cluster.n_groups + 1, sizeof *l->blocked);
    l->fragmented = xcalloc(l->scenario->cluster.n_groups + 1, sizeof *l->fragmented);
}

struct live_run *live_create(const struct scenario *sc, const struct live_options *o, char **err)
{
    struct live_run *l = xcalloc(1, sizeof *l);
    bool owned = false;
    struct job_spec *specs;
    l->scenario = sc;
    if (!scenario_workload(sc, 0, &specs, &l->n_jobs, &owned)) {
        *err = xstrdup("the workload of the scenario cannot be made");
        free(l);
        return NULL;
    }
    l->specs = specs;
    l->owned_specs = owned ? specs : NULL;
    if (!open_run(l, o, err)) {
        free(l->owned_specs);
        free(l);
        return NULL;
    }
    live_groups_create(l);
    create_jobs(l);
    return l;
}

void live_at(struct live_run *l, int64_t ns)
{
    if (ns > l->now_ns) l->now_ns = ns;
}

int64_t live_now(const struct live_run *l) { return l->now_ns; }

bool live_flush(struct live_run *l)
{
    run_flush(l->out);
    return !run_failing(l->out);
}

uint64_t live_refused(const struct live_run *l) { return l->refused; }

/* ---- demand: what keeps GPUs idle ---- */

static void demand(struct live_run *l, const struct live_job *j, int sign)
{
    int64_t *of = wait_is_kept_off(j->wait.reason) ? l->blocked : wait_is_misfit(j->wait.reason) ? l->fragmented : NULL;
    if (j->state != JOB_PENDING || !of) return;
    uint32_t g = scenario_largest_group(l->scenario, l->scenario->details[j->spec->detail].groups);
    of[g] += sign * job_shares(l->scenario, j->spec);
    ledger_demand(l->ledger, g, l->blocked[g], l->fragmented[g], l->now_ns);
}

/* ---- changes of state ---- */

static bool has_ended(const struct live_job *j) { return j->finished_ns >= 0; }

/* The job when it is there, was submitted and has not ended; else the observation is refused. */
static struct live_job *open_job(struct live_run *l, uint32_t job)
{
    if (job < l->n_jobs && l->jobs[job].submitted && !has_ended(&l->jobs[job])) return &l->jobs[job];
    l->refused++;
    return NULL;
}

static bool refuse(struct live_run *l)
{
    l->refused++;
    return false;
}

static void set_wait(struct live_run *l, struct live_job *j, unsigned reason)
{
    if (j->wait.reason == reason) return;
    demand(l, j, -1);
    wait_track_set(&j->wait, reason, l->now_ns);
    demand(l, j, +1);
    live_record(l, REC_JOB_WAIT, live_index(l, j), 0, reason, NO_JOB, 0);
}

static void set_state(struct live_run *l, struct live_job *j, enum job_state state)
{
    demand(l, j, -1);
    j->state = (uint8_t)state;
    demand(l, j, +1);
}

bool live_submitted(struct live_run *l, uint32_t job)
{
    if (job >= l->n_jobs || l->jobs[job].submitted) return refuse(l);
    struct live_job *j = &l->jobs[job];
    j->submitted = true;
    j->submit_ns = j->wait.since_ns = l->now_ns;
    j->state = JOB_PENDING;
    live_record(l, REC_JOB_SUBMITTED, (int32_t)job, (uint32_t)job_shares(l->scenario, j->spec),
                l->scenario->details[j->spec->detail].kind, j->spec->queue, j->spec->team);
    set_wait(l, j, WAIT_ORDER);
    return true;
}

bool live_waits(struct live_run *l, uint32_t job, enum wait_reason reason)
{
    struct live_job *j = open_job(l, job);
    if (!j) return false;
    if (j->steps) return refuse(l);
    set_wait(l, j, reason);
    return true;
}

bool live_admitted(struct live_run *l, uint32_t job)
{
    struct live_job *j = open_job(l, job);
    if (!j) return false;
    if (j->state != JOB_PENDING && j->state != JOB_SUSPENDED) return refuse(l);
    set_state(l, j, JOB_ADMITTED);
    if (j->admitted_ns < 0) j->admitted_ns = l->now_ns;
    j->attempt++;
    j->allocated = j->evicted = false;
    live_record(l, REC_JOB_ADMITTED, (int32_t)job, j->attempt, 0, 0, 0);
    set_wait(l, j, WAIT_CONTROL_PLANE);
    return true;
}

bool live_allocated(struct live_run *l, uint32_t job)
{
    struct live_job *j = open_job(l, job);
    if (!j) return false;
    if (j->state != JOB_ADMITTED && j->state != JOB_RUNNING) return refuse(l);
    if (j->allocated) return true;
    j->allocated = true;
    if (j->allocated_ns < 0) j->allocated_ns = l->now_ns;
    live_nodes(j);
    live_record(l, REC_JOB_ALLOCATED, (int32_t)job, j->attempt, j->cause, 0, 0);
    return true;
}

bool live_started(struct live_run *l, uint32_t job)
{
    struct live_job *j = open_job(l, job);
    if (!j) return false;
    if (j->state != JOB_ADMITTED || j->evicted || !live_allocated(l, job)) return refuse(l);
    if (j->started_ns < 0) j->started_ns = l->now_ns;
    set_wait(l, j, NOT_WAITING);
    set_state(l, j, JOB_RUNNING);
    j->steps = true;
    live_lift(l, j);
    live_record(l, REC_JOB_STARTED, (int32_t)job, j->attempt, j->cause, 0, 0);
    return true;
}

/* ---- steps ---- */

/* The steps below the high-water mark are `redone`; of parts that belong to steps of both sides, by their numbers. */
static int64_t part_of(int64_t ns, int64_t steps, int64_t all)
{
    return (int64_t)((__int128)ns * steps / all);
}

static void book_steps(struct live_run *l, struct live_job *j, const struct live_steps *s, int64_t from, int64_t to,
                       bool redone)
{
    const struct { enum activity activity; int64_t ns; } parts[] = {
        {ACT_DATA_WAIT, s->data_ns},       {ACT_COMPUTE, s->compute_ns},       {ACT_COMMUNICATION, s->communication_ns},
        {ACT_STRAGGLER, s->straggler_ns},  {ACT_CHECKPOINT, s->checkpoint_ns},
    };
    int64_t all = s->next - s->first;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        live_book(l, j, parts[i].activity, redone,
                  part_of(parts[i].ns, to - s->first, all) - part_of(parts[i].ns, from - s->first, all));
    if (from < to)
        live_record(l, REC_STEPS, live_index(l, j), 0, redone ? STEPS_REDONE : STEPS_NEW, from, to);
}

bool live_stepped(struct live_run *l, uint32_t job, const struct live_steps *s)
{
    struct live_job *j = open_job(l, job);
    if (!j) return false;
    bool sane = s->first >= 0 && s->next > s->first && s->compute_ns >= 0 && s->communication_ns >= 0 &&
                s->data_ns >= 0 && s->straggler_ns >= 0 && s->checkpoint_ns >= 0;
    if (!j->steps || !sane) return refuse(l);
    int64_t high = j->high_step < s->first ? s->first : j->high_step > s->next ? s->next : j->high_step;
    j->told_steps = true;
    book_steps(l, j, s, s->first, high, true);
    book_steps(l, j, s, high, s->next, false);
    j->step = s->next;
    if (j->step > j->high_step) j->high_step = j->step;
    return true;
}

bool live_checkpoint(struct live_run *l, uint32_t job, unsigned phase, int64_t step)
{
    struct live_job *j = open_job(l, job);
    if (j) live_record(l, REC_CHECKPOINT, (int32_t)job, 0, phase, step, 0);
    return j != NULL;
}

bool live_rolled_back(struct live_run *l, uint32_t job, int64_t from, int64_t to)
{
    struct live_job *j = open_job(l, job);
    if (!j) return false;
    if (j->steps || to < 0 || to > from) return refuse(l);
    live_record(l, REC_ROLLBACK, (int32_t)job, 0, 0, from, to);
    j->step = to;
    return true;
}

/* ---- stops and ends ---- */

static void stop_steps(struct live_run *l, struct live_job *j, enum activity activity)
{
    if (!j->steps) return;
    live_land(l, j, activity);
    j->steps = false;
    set_state(l, j, JOB_ADMITTED);
}

bool live_stopped(struct live_run *l, uint32_t job, enum activity activity, enum wait_reason reason, enum cause next)
{
    struct live_job *j = open_job(l, job);
    if (!j) return false;
    if ((j->state != JOB_RUNNING && j->state != JOB_ADMITTED) || activity_table[activity].class != CLASS_HELD)
        return refuse(l);
    live_record(l, REC_JOB_STOPPED, (int32_t)job, j->attempt, next, j->step, 0);
    if (next == CAUSE_FAILURE) j->restarts++;
    stop_steps(l, j, activity);
    j->allocated = false;
    j->cause = (uint8_t)next;
    live_recause(l, j);
    set_wait(l, j, reason);
    return true;
}

bool live_paused(struct live_run *l, uint32_t job, enum activity activity, enum wait_reason reason)
{
    struct live_job *j = open_job(l, job);
    if (!j) return false;
    if (j->state != JOB_RUNNING || activity_table[activity].class != CLASS_HELD) return refuse(l);
    stop_steps(l, j, activity);
    set_wait(l, j, reason);
    return true;
}

bool live_evicted(struct live_run *l, uint32_t job, enum stop_reason reason, int32_t by)
{
    struct live_job *j = open_job(l, job);
    if (!j) return false;
    if ((j->state != JOB_RUNNING && j->state != JOB_ADMITTED) || j->evicted) return refuse(l);
    j->evicted = true;
    j->preemptions++;
    live_record(l, REC_JOB_EVICTED, (int32_t)job, j->attempt, reason, by, 0);
    stop_steps(l, j, ACT_TERMINATING);
    set_wait(l, j, reason == STOP_SUSPENDED ? WAIT_SUSPENDED : WAIT_PREEMPTED);
    return true;
}

bool live_requeued(struct live_run *l, uint32_t job, enum wait_reason reason)
{
    struct live_job *j = open_job(l, job);
    if (!j) return false;
    if (j->state != JOB_ADMITTED || !j->evicted) return refuse(l);
    j->cause = CAUSE_PREEMPTION;
    set_wait(l, j, reason);
    set_state(l, j, reason == WAIT_SUSPENDED ? JOB_SUSPENDED : JOB_PENDING);
    return true;
}

bool live_ended(struct live_run *l, uint32_t job, enum job_state state)
{
    struct live_job *j = open_job(l, job);
    if (!j) return false;
    if (state != JOB_SUCCEEDED && state != JOB_FAILED && state != JOB_REJECTED && state != JOB_CANCELLED) return refuse(l);
    stop_steps(l, j, ACT_AFTER_END);
    for (uint32_t g = 0; g < j->groups.n; g++)
        if (j->groups.v[g].held) live_enter(l, job, g, ACT_AFTER_END);
    demand(l, j, -1);
    wait_track_set(&j->wait, NOT_WAITING, l->now_ns);
    j->state = (uint8_t)state;
    j->finished_ns = l->now_ns;
    live_record(l, REC_JOB_FINISHED, (int32_t)job, j->attempt, state, 0, 0);
    return true;
}

enum job_state live_state(const struct live_run *l, uint32_t job) { return l->jobs[job].state; }
bool live_steps_now(const struct live_run *l, uint32_t job) { return l->jobs[job].steps; }

bool live_note(struct live_run *l, const struct record *given)
{
    struct record r = *given;
    if (r.type != REC_POD_STATE && r.type != REC_JOB_CONDITION && r.type != REC_FAULT) return refuse(l);
    if (r.job != NO_JOB && (r.job < 0 || (size_t)r.job >= l->n_jobs)) return refuse(l);
    r.time_ns = l->now_ns;
    recorder_put(l->recorder, &r);
    return true;
}

/* ---- end ---- */

static void write_row(struct live_run *l, struct live_job *j)
{
    const struct scenario *sc = l->scenario;
    char buf[24];
    struct job_row row = {
        .id = j->spec->flags & JOB_ID_TEXT ? job_id(sc, j->spec, buf) : NULL,
        .number = j->spec->id,
        .state = j->state,
        .gpu_shares = job_shares(sc, j->spec),
        .submit_ns = j->submit_ns, .admitted_ns = j->admitted_ns, .allocated_ns = j->allocated_ns,
        .started_ns = j->started_ns, .finished_ns = j->finished_ns,
        .nodes = j->nodes.v, .n_nodes = (unsigned)j->nodes.n,
        .restarts = j->restarts, .preemptions = j->preemptions,
        .team = sc->teams[j->spec->team], .queue = sc->queues[j->spec->queue],
        .kind = job_kind_table[sc->details[j->spec->detail].kind].name,
        .priority = j->spec->priority,
        .ideal_ns = j->spec->work_ns,
        .work = j->work, .redone = j->redone, .held = j->held, .work_by = j->work_by, .recovery = j->recovery,
        .wait_ns = j->wait.sum_ns,
    };
    run_job(l->out, &row);
}

static int by_end(const void *a, const void *b)
{
    const struct live_job *x = *(struct live_job *const *)a, *y = *(struct live_job *const *)b;
    int64_t ex = has_ended(x) ? x->finished_ns : INT64_MAX, ey = has_ended(y) ? y->finished_ns : INT64_MAX;
    if (ex != ey) return ex < ey ? -1 : 1;
    return x < y ? -1 : 1;
}

/* Rows in the order in which the jobs ended, unfinished ones last. */
static void write_rows(struct live_run *l)
{
    ARRAY(struct live_job *) rows = {0};
    for (size_t i = 0; i < l->n_jobs; i++)
        if (l->jobs[i].submitted) array_push(&rows, &l->jobs[i]);
    if (rows.n) qsort(rows.v, rows.n, sizeof *rows.v, by_end);
    for (size_t i = 0; i < rows.n; i++) write_row(l, rows.v[i]);
    array_free(&rows);
}

static void destroy(struct live_run *l)
{
    for (size_t i = 0; i < l->n_jobs; i++) {
        array_free(&l->jobs[i].groups);
        array_free(&l->jobs[i].nodes);
    }
    live_groups_destroy(l);
    free(l->jobs);
    free(l->blocked);
    free(l->fragmented);
    free(l->owned_specs);
    free(l);
}

bool live_finish(struct live_run *l, enum run_state state, char **err)
{
    const char *why = NULL;
    for (size_t i = 0; i < l->n_jobs; i++) {
        struct live_job *j = &l->jobs[i];
        if (!j->submitted) continue;
        live_land(l, j, ACT_TERMINATING);
        live_settle(l, j);
        if (!has_ended(j)) wait_track_set(&j->wait, j->wait.reason, l->now_ns);
    }
    ledger_close(l->ledger, l->now_ns);
    bool exact = ledger_check(l->ledger, &why);
    if (!exact) *err = xstrdup(why);
    write_rows(l);
    bool ok = run_finish(l->out, exact ? state : RUN_FAILED, l->ledger, l->now_ns, exact ? err : &(char *){NULL});
    destroy(l);
    return ok && exact;
}
