/* scene_jobs.c - the tracks of jobs: what each waits for, when it works, when it works again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "run/wait.h"
#include "study/job_index.h"
#include "viz/model/scene_parts.h"

/* ---- jobs ---- */

static void add_job(struct builder *b)
{
    struct scene *s = &b->scene;
    array_push(&b->jobs, (struct scene_job){.id = "", .team = "", .queue = "", .kind = "", .submit_ns = -1, .admitted_ns = -1,
                                            .allocated_ns = -1, .started_ns = -1, .finished_ns = -1});
    array_push(&b->job_now, (struct job_now){.first_hold = NO_HOLD, .show = SHOW_NOTHING, .until_ns = -1});
    if (b->jobs.n > b->cap_job_tracks) {
        b->cap_job_tracks = b->cap_job_tracks * 2 + 16;
        s->tracks[SCENE_JOBS] = xreallocarray(s->tracks[SCENE_JOBS], b->cap_job_tracks, sizeof *s->tracks[SCENE_JOBS]);
    }
    s->tracks[SCENE_JOBS][b->jobs.n - 1] = (struct scene_track){0};
    s->n_tracks[SCENE_JOBS] = (uint32_t)b->jobs.n;
}

/* Numbers are given in order of submission, so a new one cannot be above the number of records. */
static bool know_job(struct builder *b, int32_t job)
{
    if (job < 0 || (uint64_t)job > b->n_records) return false;
    while (b->jobs.n <= (size_t)job) add_job(b);
    return true;
}

static struct scene_track *track_of(struct builder *b, int32_t job) { return &b->scene.tracks[SCENE_JOBS][job]; }

static void push(struct builder *b, int32_t job, int64_t from_ns, int64_t to_ns, unsigned show)
{
    const struct job_now *n = &b->job_now.v[job];
    struct scene_span s = {from_ns, to_ns, job, n->queue, (uint8_t)show, n->cause};
    if (from_ns < to_ns) track_push(b, track_of(b, job), &s);
}

/* What it did up to `to` is over. */
static void flush(struct builder *b, int32_t job, int64_t to_ns, unsigned show)
{
    struct job_now *n = &b->job_now.v[job];
    if (to_ns <= n->since_ns) return;
    if (n->show != SHOW_NOTHING) push(b, job, n->since_ns, to_ns, show);
    n->since_ns = to_ns;
}

static bool waits(unsigned show) { return show >= SHOW_WAIT && show < N_SHOWS; }

/* From a moment on the job shows something else. */
static void change_job(struct builder *b, int32_t job, int64_t ns, unsigned from, unsigned to)
{
    struct job_now *n = &b->job_now.v[job];
    struct job_change c = {ns, (waits(to) ? b->jobs.v[job].gpu_shares : 0) - n->told_shares, (int8_t)(waits(to) - waits(from)),
                           (int8_t)((to < SHOW_WAIT) - (from < SHOW_WAIT))};
    n->told_shares += c.shares;
    if (c.shares || c.waits || c.runs) array_push(&b->job_changes, c);
}

static void enter(struct builder *b, int32_t job, unsigned show, uint16_t queue)
{
    struct job_now *n = &b->job_now.v[job];
    flush(b, job, b->now_ns, n->show);
    change_job(b, job, b->now_ns, n->show, show);
    n->since_ns = b->now_ns;
    n->show = (uint8_t)show;
    n->queue = queue;
}

static void halt(struct builder *b, int32_t job)
{
    struct job_now *n = &b->job_now.v[job];
    if (n->steps) n->until_ns = b->now_ns;
    n->steps = false;
}

/* ---- work that turns out to be something else: done again, or none since a link was down ---- */

/* The parts of a span of work that ended: before, again, behind. */
static void split_closed(struct builder *b, int32_t job, uint32_t i, int64_t from_ns, int64_t to_ns, unsigned show)
{
    struct scene_track *t = track_of(b, job);
    struct scene_span s = t->v[i], behind = s;
    if (s.show != SHOW_WORK || s.to_ns <= from_ns || s.from_ns >= to_ns) return;
    if (from_ns < s.from_ns) from_ns = s.from_ns;
    if (to_ns > s.to_ns) to_ns = s.to_ns;
    memmove(t->v + i, t->v + i + 1, (t->n - i - 1) * sizeof *t->v);
    t->n--;
    b->closed_spans--;
    struct scene_span parts[3] = {s, s, behind};
    parts[0].to_ns = parts[1].from_ns = from_ns;
    parts[1].to_ns = parts[2].from_ns = to_ns;
    parts[1].show = (uint8_t)show;
    for (int k = 0; k < 3; k++)
        if (parts[k].from_ns < parts[k].to_ns) track_push(b, t, &parts[k]);
}

static void turn(struct builder *b, int32_t job, int64_t from_ns, int64_t to_ns, unsigned show)
{
    struct job_now *n = &b->job_now.v[job];
    if (from_ns >= to_ns) return;
    for (uint32_t i = track_of(b, job)->n; i-- > 0 && track_of(b, job)->v[i].to_ns > from_ns;)
        split_closed(b, job, i, from_ns, to_ns, show);
    if (n->show == SHOW_WORK) {
        flush(b, job, from_ns, SHOW_WORK);
        flush(b, job, to_ns, show);
    }
    tracks_turn(b, job, from_ns, to_ns, show);
}

/* It went from one step to another since the segment began, at one pace: up to the farthest one it was at, again. */
static void reach(struct builder *b, int32_t job, int64_t first, int64_t last, unsigned code)
{
    struct job_now *n = &b->job_now.v[job];
    int64_t from = n->segment_ns, to = n->steps ? b->now_ns : n->until_ns;
    __int128 known = (__int128)n->high - first, all = (__int128)last - first;
    if (code == STEPS_NONE) turn(b, job, from, to, ACT_STALLED);
    else if (all > 0 && known > 0) turn(b, job, from, known >= all ? to : from + (int64_t)((to - from) * known / all), SHOW_REDONE);
    else if (code == STEPS_REDONE) turn(b, job, from, to, SHOW_REDONE);
    if (last > n->high) n->high = last;
    n->step = last;
    n->segment_ns = to > from ? to : from;
}

static void on_checkpoint(struct builder *b, const struct record *r)
{
    struct job_now *n = &b->job_now.v[r->job];
    if (r->code == SAVE_BEGINS && r->a > n->step) reach(b, r->job, n->step, r->a, STEPS_NEW);
    if (r->code != SAVE_LEAVES) return;
    b->jobs.v[r->job].checkpoints++;
    if (n->steps && r->a < n->high) turn(b, r->job, n->segment_ns, b->now_ns, SHOW_REDONE);
    n->segment_ns = b->now_ns;
}

static void on_rollback(struct builder *b, const struct record *r)
{
    struct job_now *n = &b->job_now.v[r->job];
    if (r->a > n->step) reach(b, r->job, n->step, r->a, STEPS_NEW);
    b->jobs.v[r->job].rollbacks++;
    n->step = r->b;
}

/* ---- states ---- */

static const char *name(struct builder *b, const char *const *names, uint32_t n, int64_t i)
{
    if (i < 0 || i >= n || !names[i]) return "";
    return intern_text(&b->names, intern_id(&b->names, names[i]));
}

static void on_submitted(struct builder *b, const struct record *r)
{
    struct scene_job *j = &b->jobs.v[r->job];
    const struct scenario *s = b->scenario;
    j->submit_ns = b->now_ns;
    j->gpu_shares = r->subject;
    j->kind = r->code < N_JOB_KINDS ? job_kind_table[r->code].name : "";
    if (s) j->queue = name(b, s->queues, s->n_queues, r->a);
    if (s) j->team = name(b, s->teams, s->n_teams, r->b);
    enter(b, r->job, SHOW_WAIT + WAIT_ORDER, QUEUE_UNTOLD);
}

static void first(int64_t *at, int64_t now)
{
    if (*at < 0) *at = now;
}

static void on_admitted(struct builder *b, const struct record *r)
{
    struct scene_job *j = &b->jobs.v[r->job];
    first(&j->admitted_ns, b->now_ns);
    j->state = JOB_ADMITTED;
    enter(b, r->job, SHOW_WAIT + WAIT_CONTROL_PLANE, 0);
}

static void on_started(struct builder *b, const struct record *r)
{
    struct scene_job *j = &b->jobs.v[r->job];
    struct job_now *n = &b->job_now.v[r->job];
    first(&j->started_ns, b->now_ns);
    j->state = JOB_RUNNING;
    flush(b, r->job, b->now_ns, n->show);
    n->cause = r->code < N_CAUSES ? (uint8_t)r->code : CAUSE_FIRST;
    enter(b, r->job, SHOW_WORK, 0);
    n->steps = true;
    n->segment_ns = b->now_ns;
    tracks_start(b, r->job);
}

static void on_stopped(struct builder *b, const struct record *r)
{
    struct scene_job *j = &b->jobs.v[r->job];
    halt(b, r->job);
    j->restarts += r->code == CAUSE_FAILURE;
    j->state = JOB_ADMITTED;
    if (b->job_now.v[r->job].show == SHOW_WORK) enter(b, r->job, SHOW_WAIT + WAIT_CONTROL_PLANE, 0);
}

static void on_wait(struct builder *b, const struct record *r)
{
    struct scene_job *j = &b->jobs.v[r->job];
    if (r->code == NOT_WAITING) return; /* a start or an admission says more */
    halt(b, r->job);
    if (r->code == WAITS_IN_CLASS) {
        j->state = JOB_PENDING;
        enter(b, r->job, SHOW_WAIT + WAIT_ORDER, r->b >= 0 && r->b < QUEUE_UNTOLD - 1 ? (uint16_t)(r->b + 1) : QUEUE_UNTOLD);
    } else if (r->code < N_WAIT_REASONS) {
        if (r->code == WAIT_SUSPENDED) j->state = JOB_SUSPENDED;
        else if (j->state == JOB_RUNNING || j->state == JOB_SUSPENDED) j->state = JOB_ADMITTED;
        enter(b, r->job, SHOW_WAIT + r->code, 0);
    } else {
        b->n_strange++;
    }
}

static void on_finished(struct builder *b, const struct record *r)
{
    struct scene_job *j = &b->jobs.v[r->job];
    j->finished_ns = b->now_ns;
    j->state = r->code < N_JOB_STATES ? (enum job_state)r->code : JOB_FAILED;
    halt(b, r->job);
    enter(b, r->job, SHOW_NOTHING, 0);
}

void jobs_record(struct builder *b, const struct record *r)
{
    class_waits_take(&b->classes, r);
    if (r->job == NO_JOB) return;
    if (!know_job(b, r->job)) {
        b->n_strange++;
        return;
    }
    struct scene_job *j = &b->jobs.v[r->job];
    switch (r->type) {
    case REC_JOB_SUBMITTED: on_submitted(b, r); return;
    case REC_JOB_ADMITTED: on_admitted(b, r); return;
    case REC_JOB_ALLOCATED: first(&j->allocated_ns, b->now_ns); return;
    case REC_JOB_STARTED: on_started(b, r); return;
    case REC_JOB_STOPPED: on_stopped(b, r); return;
    case REC_JOB_WAIT: on_wait(b, r); return;
    case REC_JOB_EVICTED: j->preemptions++; return;
    case REC_STEPS: reach(b, r->job, r->a, r->b, r->code); return;
    case REC_CHECKPOINT: on_checkpoint(b, r); return;
    case REC_ROLLBACK: on_rollback(b, r); return;
    case REC_FAULT: j->failures++; return;
    case REC_JOB_FINISHED: on_finished(b, r); return;
    default: return;
    }
}

/* ---- the end of a reading ---- */

void jobs_open(struct builder *b)
{
    for (int32_t i = 0; (size_t)i < b->jobs.n; i++) {
        const struct job_now *n = &b->job_now.v[i];
        if (n->show != SHOW_NOTHING && n->since_ns < b->scene.end_ns)
            push(b, i, n->since_ns, b->scene.growing ? OPEN_END : b->scene.end_ns, n->show);
    }
}

void jobs_shut(struct builder *b)
{
    for (int32_t i = 0; (size_t)i < b->jobs.n; i++) {
        struct scene_track *t = track_of(b, i);
        if (t->n && t->v[t->n - 1].to_ns == OPEN_END) t->n--;
    }
}

/* ---- rows of jobs.csv ---- */

static void take_row(struct scene_job *j, const struct job_row *r)
{
    j->row = r;
    j->id = r->id;
    j->team = r->team;
    j->queue = r->queue;
    j->kind = r->kind;
    j->state = r->state;
    j->gpu_shares = r->gpu_shares;
    j->restarts = r->restarts;
    j->preemptions = r->preemptions;
}

/* All of a time in a queue shows the reason that took most of it. */
static unsigned most_of_span(const struct builder *b, const struct scene_span *p)
{
    int64_t sum[N_QUEUE_REASONS] = {0};
    unsigned most = WAIT_ORDER;
    class_wait_sums(&b->classes, p->shares - 1, p->from_ns, scene_to(&b->scene, p), sum);
    for (unsigned w = 0; w < N_QUEUE_REASONS; w++)
        if (sum[w] > sum[most]) most = w;
    return most;
}

/* In a class that is not told of: the reason that has the greatest sum in its row beside what the records tell. */
static unsigned most_of_row(const struct builder *b, const struct scene_job *j, const struct scene_track *t)
{
    int64_t sum[N_QUEUE_REASONS] = {0};
    unsigned most = WAIT_ORDER;
    for (int w = 0; j->row && j->row->wait_ns && w < N_QUEUE_REASONS; w++) sum[w] = j->row->wait_ns[w];
    for (uint32_t k = 0; k < t->n; k++)
        if (t->v[k].shares != QUEUE_UNTOLD && t->v[k].show >= SHOW_WAIT && t->v[k].show < SHOW_WAIT + N_QUEUE_REASONS)
            sum[t->v[k].show - SHOW_WAIT] -= scene_to(&b->scene, &t->v[k]) - t->v[k].from_ns;
    for (unsigned w = 0; w < N_QUEUE_REASONS; w++)
        if (sum[w] > sum[most]) most = w;
    return most;
}

static void tell_queue(struct builder *b, uint32_t i)
{
    struct scene_track *t = track_of(b, (int32_t)i);
    for (uint32_t k = 0; k < t->n; k++) {
        struct scene_span *p = &t->v[k];
        if (!p->shares) continue;
        unsigned show = SHOW_WAIT + (p->shares == QUEUE_UNTOLD ? most_of_row(b, &b->jobs.v[i], t) : most_of_span(b, p));
        if (p->show == show) continue;
        p->show = (uint8_t)show;
        track_mark(t, p->from_ns);
    }
}

unsigned scene_wait_at(const struct scene *s, const struct scene_span *p, int64_t ns, int64_t *until_ns)
{
    const struct builder *b = builder_of(s);
    unsigned reason = N_QUEUE_REASONS;
    *until_ns = INT64_MAX;
    if (p->shares && p->shares != QUEUE_UNTOLD) reason = class_wait_at(&b->classes, p->shares - 1, ns, until_ns);
    return reason < N_QUEUE_REASONS ? reason : p->show - (unsigned)SHOW_WAIT;
}

static const char *number_text(struct builder *b, uint64_t number)
{
    char buf[24];
    buf[str_put_u64(buf, number)] = '\0';
    return intern_text(&b->names, intern_id(&b->names, buf));
}

static const char *id_of(struct builder *b, size_t i)
{
    char buf[24];
    if (i >= b->n_specs) return number_text(b, i + 1);
    return intern_text(&b->names, intern_id(&b->names, job_id(b->scenario, &b->specs[i], buf)));
}

/* Jobs that have not ended are named by the scenario. */
static void draw_workload(struct builder *b)
{
    if (b->scenario && !b->specs && !scenario_workload(b->scenario, b->scene.run->replication, &b->specs, &b->n_specs, &b->specs_owned)) {
        b->specs = NULL;
        b->n_specs = 0;
    }
}

void jobs_match(struct builder *b)
{
    struct job_index x;
    struct job_moments *m = xcalloc(b->jobs.n + 1, sizeof *m);
    for (size_t i = 0; i < b->jobs.n; i++) {
        const struct scene_job *j = &b->jobs.v[i];
        m[i] = (struct job_moments){j->submit_ns, j->gpu_shares, j->admitted_ns, j->allocated_ns, j->started_ns, j->finished_ns};
    }
    job_index_match(b->scene.run, m, b->jobs.n, &x);
    for (size_t i = 0; i < b->jobs.n; i++) {
        struct scene_job *j = &b->jobs.v[i];
        j->row = NULL;
        if (x.rows[i]) {
            take_row(j, x.rows[i]);
        } else {
            draw_workload(b);
            j->id = id_of(b, i);
        }
        tell_queue(b, (uint32_t)i);
    }
    job_index_free(&x);
    free(m);
}

/* ---- without a timeline ---- */

static int by_submission(const void *x, const void *y)
{
    const struct job_row *const *a = x, *const *b = y;
    if ((*a)->submit_ns != (*b)->submit_ns) return (*a)->submit_ns < (*b)->submit_ns ? -1 : 1;
    return *a < *b ? -1 : *a > *b;
}

static unsigned greatest_wait(const struct job_row *r)
{
    unsigned most = WAIT_ORDER;
    for (unsigned w = 0; r->wait_ns && w < N_WAIT_REASONS; w++)
        if (r->wait_ns[w] > r->wait_ns[most]) most = w;
    return most;
}

static void span_of_row(struct builder *b, int32_t job, int64_t from_ns, int64_t to_ns, unsigned show)
{
    if (from_ns >= to_ns) return;
    push(b, job, from_ns, to_ns, show);
    change_job(b, job, from_ns, SHOW_NOTHING, show);
    change_job(b, job, to_ns, show, SHOW_NOTHING);
}

static void job_of_row(struct builder *b, const struct job_row *r)
{
    int32_t i = (int32_t)b->jobs.n;
    int64_t end = r->finished_ns >= 0 ? r->finished_ns : b->scene.end_ns, started = r->started_ns >= 0 ? r->started_ns : end;
    add_job(b);
    struct scene_job *j = &b->jobs.v[i];
    struct job_now *n = &b->job_now.v[i];
    take_row(j, r);
    j->submit_ns = r->submit_ns;
    j->admitted_ns = r->admitted_ns;
    j->allocated_ns = r->allocated_ns;
    j->started_ns = r->started_ns;
    j->finished_ns = r->finished_ns;
    n->queue = QUEUE_UNTOLD;
    span_of_row(b, i, r->submit_ns, started, SHOW_WAIT + greatest_wait(r));
    span_of_row(b, i, started, end, SHOW_WORK);
}

void jobs_of_rows(struct builder *b)
{
    const struct run *run = b->scene.run;
    const struct job_row **rows = xcalloc(run->n_jobs + 1, sizeof *rows);
    for (size_t i = 0; i < run->n_jobs; i++) rows[i] = &run->jobs[i].row;
    if (run->n_jobs) qsort(rows, run->n_jobs, sizeof *rows, by_submission);
    for (size_t i = 0; i < run->n_jobs; i++) job_of_row(b, rows[i]);
    free(rows);
}
