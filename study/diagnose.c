/* diagnose.c - see diagnose.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/diagnose.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hmap.h"
#include "base/mem.h"
#include "input/scenario.h"
#include "run/decimal.h"
#include "study/diagnose_save.h"
#include "study/diagnose_step.h"
#include "study/job_index.h"
#include "study/words.h"

#define X_INFO(e, name, title, what, advice) {name, title, what, advice},
const struct health_cause_info health_causes[N_HEALTH_CAUSES] = {HEALTH_CAUSES(X_INFO)};
#undef X_INFO

/* ---- what an activity speaks for ---- */

enum { NO_CAUSE = N_HEALTH_CAUSES, USEFUL, REST_FREE, REST_DOWN, REST_OTHER };

/* In steps that are kept, and in attempts that follow no failure. */
static const int speaks_for[N_ACTIVITIES] = {
    [ACT_FREE] = REST_FREE,
    [ACT_BLOCKED] = WHY_WAITING,
    [ACT_FRAGMENTED] = WHY_WAITING,
    [ACT_IMAGE_PULL] = WHY_START,
    [ACT_CONTAINER_START] = WHY_START,
    [ACT_WAIT_HEAD] = WHY_START,
    [ACT_WAIT_PEERS] = WHY_WAITING,
    [ACT_RENDEZVOUS] = WHY_START,
    [ACT_CHECKPOINT_LOAD] = WHY_START,
    [ACT_STALLED] = WHY_RESTARTS,
    [ACT_HUNG] = WHY_RESTARTS,
    [ACT_BACKOFF] = WHY_RESTARTS,
    [ACT_TERMINATING] = WHY_LEFT,
    [ACT_IDLE_POD] = WHY_LEFT,
    [ACT_AFTER_END] = WHY_LEFT,
    [ACT_COMPUTE] = USEFUL,
    [ACT_COMMUNICATION] = WHY_COMMUNICATION,
    [ACT_DATA_WAIT] = WHY_DATA,
    [ACT_BUBBLE] = WHY_BUBBLE,
    [ACT_STRAGGLER] = WHY_STRAGGLER,
    [ACT_CHECKPOINT] = WHY_CHECKPOINT,
    [ACT_OTHER_LOAD] = REST_OTHER,
    [ACT_FAILED] = REST_DOWN,
    [ACT_REPAIR] = REST_DOWN,
    [ACT_DRAINED] = REST_DOWN,
    [ACT_ABSENT] = NO_CAUSE,
    [ACT_UNOBSERVED] = NO_CAUSE,
};

static const struct health_rest rests[N_HEALTH_RESTS] = {
    {"free",       "nobody asks for them",                               0},
    {"down",       "failed, under repair or drained",                    0},
    {"other_load", "other loads: a run does not know how they use GPUs", 0},
};

static int blamed(enum activity a, bool redone, enum cause attempt)
{
    bool again = attempt == CAUSE_FAILURE || attempt == CAUSE_PREEMPTION;
    return redone || (again && activity_table[a].class == CLASS_HELD) ? WHY_RESTARTS : speaks_for[a];
}

/* ---- sums ---- */

struct blame {
    double gpu_s[REST_OTHER + 1], saved[N_HEALTH_CAUSES];
    char remedy[N_HEALTH_CAUSES][REMEDY_TEXT]; /* of the job that suffers most from it */
    double most[N_HEALTH_CAUSES];              /* GPU-seconds, of that job */
    double in_gangs;                           /* GPU-seconds of waiting that incomplete gangs hold */
    double saves_bound; /* GPU-seconds of saves of which only the most that can be spared is known */
    double declared;    /* GPU-seconds of communication and data wait that nothing tells apart */
};

/* GPU-seconds of steps and saves that are kept, by activity from FIRST_WORK on, and what failures cost besides. */
struct kept {
    double by[N_WORK_ACTIVITIES], restarts;
};

static bool in_step(int activity)
{
    return activity != ACT_CHECKPOINT && activity != ACT_OTHER_LOAD;
}

static double steps_of(const struct kept *k)
{
    double sum = 0;
    for (int a = 0; a < N_WORK_ACTIVITIES; a++) sum += in_step(FIRST_WORK + a) ? k->by[a] : 0;
    return sum;
}

/* Failures come with time, and saves with what a step nominally takes (sim/train/train.h): slow nodes, places of ranks and late
 * data move no save. So a gain in steps is so many times as much of all. */
static double with_steps(const struct kept *k, enum health_cause cause)
{
    static const bool nominal[N_HEALTH_CAUSES] = {
        [WHY_DATA] = true, [WHY_COMMUNICATION] = true, [WHY_MICRO_BATCH] = true, [WHY_BUBBLE] = true};
    double steps = steps_of(k), saves = nominal[cause] ? k->by[ACT_CHECKPOINT - FIRST_WORK] : 0;
    return steps > 0 ? 1 + (saves + k->restarts) / steps : 1;
}

/* Of all jobs, the remedy of the one that suffers most is told. */
static void add_cure(struct blame *b, enum health_cause cause, double gpu_s, const char *remedy)
{
    if (gpu_s <= b->most[cause]) return;
    b->most[cause] = gpu_s;
    snprintf(b->remedy[cause], sizeof b->remedy[cause], "%s", remedy);
}

static void add_steps(struct diagnosis *d, const struct kept *k)
{
    d->step_gpu_s += steps_of(k);
    d->communication_gpu_s += k->by[ACT_COMMUNICATION - FIRST_WORK];
}

/* Each activity is one cause. */
static void add_whole(struct diagnosis *d, struct blame *b, const struct kept *k)
{
    for (int a = 0; a < N_WORK_ACTIVITIES; a++) {
        int cause = speaks_for[FIRST_WORK + a];
        if (FIRST_WORK + a == ACT_CHECKPOINT) continue;
        b->gpu_s[cause] += k->by[a];
        if (cause < N_HEALTH_CAUSES) b->saved[cause] += k->by[a] * with_steps(k, (enum health_cause)cause);
    }
    b->declared += k->by[ACT_COMMUNICATION - FIRST_WORK] + k->by[ACT_DATA_WAIT - FIRST_WORK];
    add_steps(d, k);
}

/* Activities of steps are divided; a save is a cause of its own. */
static void add_split(struct diagnosis *d, struct blame *b, const struct kept *k, const struct step_split *s)
{
    for (int c = 0; c < N_HEALTH_CAUSES; c++) {
        b->gpu_s[c] += s->share[c];
        b->saved[c] += s->gain[c] * with_steps(k, (enum health_cause)c);
        add_cure(b, (enum health_cause)c, s->share[c], s->remedy[c]);
    }
    b->declared += s->untold;
    b->gpu_s[USEFUL] += s->useful;
    b->gpu_s[REST_OTHER] += k->by[ACT_OTHER_LOAD - FIRST_WORK];
    add_steps(d, k);
}

static void add_saves(struct blame *b, const struct kept *k, const struct save_remedy *r)
{
    double gpu_s = k->by[ACT_CHECKPOINT - FIRST_WORK];
    b->gpu_s[WHY_CHECKPOINT] += gpu_s;
    b->saved[WHY_CHECKPOINT] += gpu_s * r->spared;
    if (r->bound) b->saves_bound += gpu_s;
}

static bool kept_of(const struct job_row *r, struct kept *k)
{
    if (!r->work_by) return false;
    for (int a = 0; a < N_WORK_ACTIVITIES; a++) k->by[a] = decimal_gpu_s(r->work_by[a]);
    k->restarts = decimal_gpu_s(r->redone + r->recovery);
    return true;
}

static void add_blame(struct blame *b, int cause, double gpu_s)
{
    b->gpu_s[cause] += gpu_s;
    if (cause < N_HEALTH_CAUSES) b->saved[cause] += gpu_s;
}

/* ---- details ---- */

struct told {
    __int128 waits[N_WAIT_REASONS];
    uint64_t restarts, preemptions;
    size_t jobs;
};

static bool holds_or_queues(int reason)
{
    return reason < N_QUEUE_REASONS || reason == WAIT_GANG || reason == WAIT_PEERS;
}

static void tell(struct told *t, const struct job_row *row)
{
    for (int w = 0; row->wait_ns && w < N_WAIT_REASONS; w++) t->waits[w] += holds_or_queues(w) ? row->wait_ns[w] : 0;
    t->restarts += row->restarts;
    t->preemptions += row->preemptions;
    t->jobs++;
}

/* "84 % of it held by incomplete gangs; jobs wait: 61 % quota, 39 % order". */
static const char *wait_detail(struct diagnosis *d, const struct blame *b, const struct told *t)
{
    double all = 0, best[2] = {0, 0}, gangs = b->gpu_s[WHY_WAITING] > 0 ? 100 * b->in_gangs / b->gpu_s[WHY_WAITING] : 0;
    int which[2] = {0, 0};
    struct str s = {0};
    for (int w = 0; w < N_WAIT_REASONS; w++) {
        double x = (double)t->waits[w];
        int place = x > best[0] ? 0 : 1;
        all += x;
        if (x <= best[place]) continue;
        if (place == 0) best[1] = best[0], which[1] = which[0];
        best[place] = x;
        which[place] = w;
    }
    if (gangs >= 1) str_printf(&s, "%.0f %% of it held by incomplete gangs", gangs);
    for (int i = 0; i < 2 && best[i] >= 0.01 * all && best[i] > 0; i++) {
        str_printf(&s, "%s%.0f %% ", i ? ", " : s.n ? "; jobs wait: " : "jobs wait: ", 100 * best[i] / all);
        words_name(&s, wait_table[which[i]].name);
    }
    const char *text = arena_strdup(&d->arena, str_text(&s));
    str_free(&s);
    return text;
}

/* By what most of it is. */
static const char *wait_remedy(const struct blame *b, const struct told *t)
{
    static const char *const by_reason[N_WAIT_REASONS] = {
        [WAIT_ORDER] = "let jobs pass those that do not fit (backfill), or are not first in their queue",
        [WAIT_QUOTA] = "quota that follows demand, or may be borrowed",
        [WAIT_CAPACITY] = "smaller jobs pass while large ones wait (backfill)",
        [WAIT_FRAGMENTATION] = "pack jobs, so that whole nodes stay free",
        [WAIT_TOPOLOGY] = "prefer a topology instead of requiring it",
    };
    int top = 0;
    for (int w = 1; w < N_WAIT_REASONS; w++)
        if (t->waits[w] > t->waits[top]) top = w;
    if (b->in_gangs > 0.5 * b->gpu_s[WHY_WAITING]) return "place gangs as a whole, or not at all";
    return t->waits[top] && by_reason[top] ? by_reason[top] : "";
}

static const char *restart_detail(struct diagnosis *d, const struct told *t)
{
    if (!t->restarts && !t->preemptions) return "";
    return arena_printf(&d->arena, "%llu restart%s after a failure, %llu preemption%s%s", (unsigned long long)t->restarts,
                        t->restarts == 1 ? "" : "s", (unsigned long long)t->preemptions,
                        t->preemptions == 1 ? "" : "s", d->runs > 1 ? " in all replications" : "");
}

static void fill_words(struct diagnosis *d, struct finding *f, const struct blame *b, const struct told *t)
{
    const char *said = b->remedy[f->cause];
    f->remedy =
        *said ? arena_printf(&d->arena, "%s%s", said, t->jobs > 1 ? " (of the job that suffers most)" : "") : "";
    if (f->cause == WHY_WAITING) {
        f->detail = wait_detail(d, b, t);
        f->remedy = wait_remedy(b, t);
    } else if (f->cause == WHY_RESTARTS)
        f->detail = restart_detail(d, t);
    else if (f->saved_gpu_s < 0.01 * f->gpu_s)
        f->detail = "removed alone it gives nothing, for steps wait as long for the next";
}

static void note_declared(struct diagnosis *d, const struct blame *b)
{
    if (!d->n_found || b->declared < HEALTH_NAMED * d->gpu_s) return;
    array_push(
        &d->notes,
        "Why ranks wait for collectives or data is not known of jobs that only declare how long: with "
        "\"model\" and \"data\" a scenario tells which of network, topology, micro-batch, storage, CPU or lock it is.");
}

/* ---- findings ---- */

static int greatest_first(const void *left, const void *right)
{
    const struct finding *a = left, *b = right;
    if (a->gpu_s != b->gpu_s) return a->gpu_s > b->gpu_s ? -1 : 1;
    return (int)a->cause - (int)b->cause;
}

static void conclude(struct diagnosis *d, const struct blame *b, const struct told *t)
{
    d->useful_gpu_s = b->gpu_s[USEFUL];
    for (int i = 0; i < N_HEALTH_RESTS; i++) {
        d->rest[i] = rests[i];
        d->rest[i].gpu_s = b->gpu_s[REST_FREE + i];
    }
    for (int c = 0; c < N_HEALTH_CAUSES; c++)
        d->found[c] = (struct finding){(enum health_cause)c, b->gpu_s[c], b->saved[c], false, "", ""};
    qsort(d->found, N_HEALTH_CAUSES, sizeof *d->found, greatest_first);
    while (d->n_found < N_HEALTH_CAUSES && d->found[d->n_found].gpu_s >= HEALTH_NAMED * d->gpu_s &&
           d->found[d->n_found].gpu_s > 0)
        d->n_found++;
    if (diagnosis_healthy(d)) d->n_found = 0;
    if (d->n_found < N_HEALTH_CAUSES) d->next = d->found[d->n_found];
    for (size_t i = 0; i < d->n_found; i++) {
        struct finding *f = &d->found[i];
        fill_words(d, f, b, t);
        f->at_most = f->cause == WHY_COMMUNICATION || (f->cause == WHY_CHECKPOINT && b->saves_bound > 0);
    }
    note_declared(d, b);
}

/* ---- jobs and what the scenario says of them ---- */

struct
    jobs { /* of the run's scenario.json; scenario NULL: it cannot be read, or has nothing that a model tells more of */
    struct scenario *scenario;
    struct job_spec *specs;
    bool owned;
    struct hmap by_id; /* index in specs */
    struct hmap
        by_shape; /* the first that was submitted at this time and asked for as much: names may have been taken out */
};

static uint64_t shape_of(int64_t submit_ns, int64_t gpu_shares)
{
    return (uint64_t)submit_ns * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)gpu_shares;
}

static bool has_models(const struct scenario *s)
{
    for (size_t i = 0; i < s->n_details; i++)
        if (s->details[i].step.model || s->details[i].data || s->details[i].crash_mtbf_ns ||
            s->details[i].checkpoint.interval_ns)
            return true;
    return false;
}

static void jobs_close(struct jobs *j)
{
    if (j->owned) free(j->specs);
    if (j->scenario) scenario_free(j->scenario);
    hmap_free(&j->by_id);
    hmap_free(&j->by_shape);
}

static void index_jobs(struct jobs *j, uint32_t replication)
{
    size_t n;
    char buf[24];
    if (!has_models(j->scenario) || !scenario_workload(j->scenario, replication, &j->specs, &n, &j->owned)) {
        scenario_free(j->scenario);
        j->scenario = NULL;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t shape = shape_of(j->specs[i].submit_ns, job_shares(j->scenario, &j->specs[i]));
        hmap_put_str(&j->by_id, job_id(j->scenario, &j->specs[i], buf), i);
        if (!hmap_get_u64(&j->by_shape, shape, NULL)) hmap_put_u64(&j->by_shape, shape, i);
    }
}

static void note_once(struct diagnosis *d, const char *note)
{
    for (size_t i = 0; i < d->notes.n; i++)
        if (!strcmp(d->notes.v[i], note)) return;
    array_push(&d->notes, note);
}

static void jobs_open(struct jobs *j, const struct run *r, struct diagnosis *d)
{
    struct diag problems = {0};
    struct str file = {0};
    *j = (struct jobs){.scenario = NULL};
    str_printf(&file, "%s/scenario.json", r->dir);
    if (r->dir && *r->dir && access(str_text(&file), R_OK) == 0) {
        j->scenario = scenario_load(str_text(&file), NULL, NULL, &problems);
        if (j->scenario)
            index_jobs(j, r->replication);
        else
            note_once(d, "The run's scenario.json cannot be read: causes within steps are not told apart.");
    }
    diag_free(&problems);
    str_free(&file);
}

/* The job of a row; NULL: not known. */
static const struct job_spec *spec_of(const struct jobs *j, const struct job_row *row)
{
    uint64_t i;
    char buf[24];
    if (!j->scenario) return NULL;
    if (hmap_get_str(&j->by_id, job_row_id(row, buf), &i)) return &j->specs[i];
    return hmap_get_u64(&j->by_shape, shape_of(row->submit_ns, row->gpu_shares), &i) ? &j->specs[i] : NULL;
}

/* Saves, and what restarts could be spared by them. */
static void add_saves_of(struct blame *b, const struct jobs *j, const struct job_spec *spec, const struct job_row *row,
                         const struct kept *k)
{
    struct save_remedy saves = {.spared = 1, .bound = true};
    char restarts[REMEDY_TEXT] = "";
    if (spec) {
        const struct job_detail *detail = &j->scenario->details[spec->detail];
        saves = save_remedy(j->scenario, detail, row_gpus(row), row_nodes(row));
        restart_remedy(j->scenario, detail, row, restarts);
    }
    add_saves(b, k, &saves);
    add_cure(b, WHY_CHECKPOINT, k->by[ACT_CHECKPOINT - FIRST_WORK], saves.remedy);
    add_cure(b, WHY_RESTARTS, k->restarts, restarts);
}

static void add_job(struct diagnosis *d, struct blame *b, const struct jobs *j, const struct job_row *row,
                    const struct kept *k)
{
    struct step_case c;
    const struct job_spec *spec = spec_of(j, row);
    if (spec && step_case_of(j->scenario, spec, row, k->by, &c)) {
        struct step_split s = step_split(&c, k->by);
        add_split(d, b, k, &s);
    } else
        add_whole(d, b, k);
    add_saves_of(b, j, spec, row, k);
}

/* What the jobs' rows do not divide stands as it is in the ledger. */
static void add_jobs(const struct run *r, struct diagnosis *d, struct blame *b, struct kept *left, struct told *t)
{
    struct jobs j;
    jobs_open(&j, r, d);
    for (size_t i = 0; i < r->n_jobs; i++) {
        struct kept k;
        const struct job_row *row = &r->jobs[i].row;
        tell(t, row);
        if (!kept_of(row, &k)) continue;
        for (int a = 0; a < N_WORK_ACTIVITIES; a++) left->by[a] -= k.by[a];
        add_job(d, b, &j, row, &k);
    }
    for (int a = 0; a < N_WORK_ACTIVITIES; a++)
        if (left->by[a] < 0) left->by[a] = 0; /* rounding */
    add_whole(d, b, left);
    add_saves(b, left, &(struct save_remedy){.spared = 1, .bound = true});
    jobs_close(&j);
}

/* ---- runs ---- */

struct diagnosing {
    struct diagnosis d;
    struct blame b;
    struct told t;
};

struct diagnosing *diagnosing_begin(void) { return xcalloc(1, sizeof(struct diagnosing)); }

void diagnosing_add(struct diagnosing *g, const struct run *r)
{
    struct diagnosis *d = &g->d;
    struct kept left = {{0}, 0};
    if (!d->runs++) {
        d->approach = arena_strdup(&d->arena, r->approach);
        d->replication = r->replication;
    }
    for (size_t i = 0; i < r->n_ledger; i++) {
        const struct run_ledger_row *l = &r->ledger[i];
        int cause = blamed(l->activity, l->redone, l->cause);
        double gpu_s = decimal_gpu_s(l->sum);
        if (cause == NO_CAUSE) continue;
        d->gpu_s += gpu_s;
        if (activity_table[l->activity].class == CLASS_WORK && !l->redone)
            left.by[l->activity - FIRST_WORK] += gpu_s;
        else
            add_blame(&g->b, cause, gpu_s);
        if (cause == WHY_WAITING && activity_table[l->activity].class == CLASS_HELD) g->b.in_gangs += gpu_s;
    }
    add_jobs(r, d, &g->b, &left, &g->t);
}

/* Sums over the runs become means. */
static void divide(struct diagnosis *d, struct blame *b)
{
    double n = d->runs ? (double)d->runs : 1;
    d->gpu_s /= n;
    d->step_gpu_s /= n;
    d->communication_gpu_s /= n;
    b->in_gangs /= n;
    b->saves_bound /= n;
    b->declared /= n;
    for (size_t i = 0; i < sizeof b->gpu_s / sizeof *b->gpu_s; i++) b->gpu_s[i] /= n;
    for (size_t i = 0; i < N_HEALTH_CAUSES; i++) b->saved[i] /= n;
}

void diagnosing_end(struct diagnosing *g, struct diagnosis *d)
{
    divide(&g->d, &g->b);
    conclude(&g->d, &g->b, &g->t);
    *d = g->d;
    free(g);
}

void diagnose_run(const struct run *r, struct diagnosis *d)
{
    struct diagnosing *g = diagnosing_begin();
    diagnosing_add(g, r);
    diagnosing_end(g, d);
}

/* ---- one job ---- */

/* What a job held without working in attempts that followed no failure. Its row has but the sum; its waits say how long its
 * pods were starting, all of them at most; the rest it held waiting for GPUs or for its own peers. */
static void add_held(struct blame *b, const struct job_row *r)
{
    static const enum wait_reason starts[] = {WAIT_IMAGE, WAIT_START, WAIT_HEAD, WAIT_RENDEZVOUS, WAIT_CHECKPOINT_LOAD};
    double held = decimal_gpu_s(r->held - (r->recovery < r->held ? r->recovery : r->held)), start = 0, other = 0;
    for (int w = 0; r->wait_ns && w < N_WAIT_REASONS; w++) other += holds_or_queues(w) ? (double)r->wait_ns[w] : 0;
    for (size_t i = 0; r->wait_ns && i < sizeof starts / sizeof *starts; i++) start += (double)r->wait_ns[starts[i]];
    start = fmin(held, start / 1e9 * (double)r->gpu_shares / 1000);
    add_blame(b, WHY_START, start);
    add_blame(b, other > 0 ? WHY_WAITING : WHY_LEFT, held - start);
    b->in_gangs = held - start;
}

void diagnose_job(const struct run *r, const struct job_row *row, struct diagnosis *d)
{
    struct blame b = {.declared = 0};
    struct kept k = {{0}, 0};
    *d = (struct diagnosis){.approach = r->approach,
                            .replication = r->replication,
                            .runs = 1,
                            .gpu_s = decimal_gpu_s(row->work + row->redone + row->held)};
    char buf[24];
    d->job = arena_strdup(&d->arena, job_row_id(row, buf));
    if (!kept_of(row, &k) && row->work) {
        array_push(&d->notes,
                   "the run was made before jobs.csv had the work of a job by activity: all of it counts as computing");
        k.by[ACT_COMPUTE - FIRST_WORK] = decimal_gpu_s(row->work);
    }
    struct jobs j;
    jobs_open(&j, r, d);
    add_job(d, &b, &j, row, &k);
    jobs_close(&j);
    add_blame(&b, WHY_RESTARTS, decimal_gpu_s(row->redone + row->recovery));
    add_held(&b, row);
    struct told t = {.jobs = 0};
    tell(&t, row);
    conclude(d, &b, &t);
}

/* ---- figures ---- */

double diagnosis_utilisation(const struct diagnosis *d)
{
    return d->gpu_s > 0 ? d->useful_gpu_s / d->gpu_s : NAN;
}

double diagnosis_communication(const struct diagnosis *d)
{
    return d->step_gpu_s > 0 ? d->communication_gpu_s / d->step_gpu_s : NAN;
}

bool diagnosis_healthy(const struct diagnosis *d)
{
    return !(diagnosis_utilisation(d) < HEALTHY_UTILISATION) && !(diagnosis_communication(d) > HEALTHY_COMMUNICATION);
}

double diagnosis_utilisation_after(const struct diagnosis *d, const struct finding *f)
{
    double left = d->gpu_s - f->saved_gpu_s;
    return left > 0 ? fmin(1, d->useful_gpu_s / left) : NAN;
}

void diagnosis_free(struct diagnosis *d)
{
    array_free(&d->notes);
    arena_free(&d->arena);
}
