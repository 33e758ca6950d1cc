/* run_check.c - see run_check.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/run_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hmap.h"
#include "base/mem.h"
#include "run/run.h"
#include "tests/support/pod_check.h"
#include "tests/support/wait_check.h"

/* `inside`: it lies on what a group of no job (a pod of the shared Ray cluster) holds, and so is held already. */
struct held { int32_t job; uint32_t group, first, n; uint64_t gpus; unsigned fraction; int64_t shares; bool inside; };

struct job_time { int64_t stepping, since; bool steps; int64_t held_shares, held_since; share_ns held; };

struct check {
    const struct scenario *s;
    struct run *run;
    ARRAY(struct record) records;
    ARRAY(struct held) held;
    uint16_t (*used)[MAX_GPUS_PER_NODE]; /* shares of each device: of jobs ... */
    uint16_t (*pooled)[MAX_GPUS_PER_NODE]; /* ... and of groups of no job */
    bool *down;
    struct job_time *jobs;
    struct wait_check *waits;
    int64_t held_shares, since;
    share_ns integral;
    int32_t open_job;   /* the allocation whose nodes are being told */
    uint32_t open_group;
    char *why;
    bool bad;
};

__attribute__((format(printf, 2, 3))) static void wrong(struct check *c, const char *fmt, ...)
{
    va_list ap;
    if (c->bad) return;
    va_start(ap, fmt);
    vsnprintf(c->why, RUN_WHY, fmt, ap);
    va_end(ap);
    c->bad = true;
}

static bool load(struct check *c, const char *dir)
{
    char *warnings = NULL, *err = NULL;
    struct record r;
    c->run = run_open(dir, &warnings, &err);
    if (!c->run || warnings) wrong(c, "%s: %s", dir, c->run ? warnings : err);
    struct timeline_reader *t = c->run ? timeline_open(dir, &err) : NULL;
    while (t && timeline_next(t, &r)) array_push(&c->records, r);
    if (t) timeline_close(t);
    if (c->run && c->records.n != c->run->n_records)
        wrong(c, "%zu records in the file, %" PRIu64 " hashed", c->records.n, c->run->n_records);
    free(warnings);
    free(err);
    return !c->bad;
}

/* ---- who holds what ---- */

static int64_t shares_of(const struct held *h)
{
    return (int64_t)h->n * (h->fraction ? (int)h->fraction : 1000 * __builtin_popcountll(h->gpus));
}

static void use(struct check *c, const struct record *r, const struct held *h, int sign)
{
    for (uint32_t node = h->first; node < h->first + h->n; node++)
        for (unsigned g = 0; g < MAX_GPUS_PER_NODE; g++) {
            if (!(h->gpus >> g & 1)) continue;
            uint16_t *all = h->job == NO_JOB ? &c->pooled[node][g] : &c->used[node][g];
            int now = *all + sign * (int)(h->fraction ? h->fraction : 1000), most = h->inside ? c->pooled[node][g] : 1000;
            if (h->inside != (h->job != NO_JOB && c->pooled[node][g] > 0) || (h->job == NO_JOB && c->used[node][g] > 0))
                wrong(c, "at %" PRId64 " ns GPU %u of node %u is taken or freed under a job", r->time_ns, g, node);
            if (now < 0 || now > most)
                wrong(c, "at %" PRId64 " ns job %d has %s GPU %u of node %u, of which %d of 1000 shares are held then", r->time_ns, r->job,
                      sign > 0 ? "taken" : "freed", g, node, now);
            *all = (uint16_t)now;
        }
}

static void on_nodes(struct check *c, const struct record *r)
{
    struct held h = {.job = r->job, .group = r->subject, .first = (uint32_t)r->a, .n = (uint32_t)(r->a >> 32), .gpus = (uint64_t)r->b,
                     .fraction = r->code};
    h.shares = shares_of(&h);
    h.inside = h.job != NO_JOB && h.gpus && h.first < c->s->cluster.n_nodes && c->pooled[h.first][__builtin_ctzll(h.gpus)];
    if (h.first + h.n > c->s->cluster.n_nodes) {
        wrong(c, "at %" PRId64 " ns job %d takes node %u; there are %u", r->time_ns, r->job, h.first + h.n - 1, c->s->cluster.n_nodes);
        return;
    }
    for (size_t i = 0; i < c->held.n && !(c->open_job == h.job && c->open_group == h.group); i++)
        if (c->held.v[i].job == h.job && c->held.v[i].group == h.group)
            wrong(c, "at %" PRId64 " ns group %u of job %d is taken again before it was freed", r->time_ns, h.group, h.job);
    for (uint32_t node = h.first; node < h.first + h.n; node++)
        if (c->down[node]) wrong(c, "at %" PRId64 " ns job %d takes node %u, which is down", r->time_ns, r->job, node);
    c->open_job = h.job;
    c->open_group = h.group;
    use(c, r, &h, +1);
    array_push(&c->held, h);
}

/* The shares of a whole hold: its nodes', or (placement none) those of its first state. `outside`: of these, not held by a
 * group of no job already. */
static int64_t held_of(const struct check *c, int32_t job, uint32_t group, size_t *lines, int64_t *outside)
{
    int64_t sum = 0;
    *outside = 0;
    *lines = 0;
    for (size_t i = 0; i < c->held.n; i++)
        if (c->held.v[i].job == job && c->held.v[i].group == group) {
            sum += c->held.v[i].shares;
            *outside += c->held.v[i].inside ? 0 : c->held.v[i].shares;
            ++*lines;
        }
    return sum;
}

static void clock_to(struct check *c, int64_t now)
{
    c->integral += (share_ns)(uint64_t)c->held_shares * (uint64_t)(now - c->since);
    c->since = now;
}

/* What the groups of a job hold, up to its row: what stays behind after its end is nobody's (jobs.csv). */
static void hold_of_job(struct check *c, int32_t job, int64_t now, int64_t more)
{
    if (job == NO_JOB) return;
    struct job_time *j = &c->jobs[job];
    j->held += (share_ns)(uint64_t)j->held_shares * (uint64_t)(now - j->held_since);
    j->held_since = now;
    j->held_shares += more;
}

static void on_state(struct check *c, const struct record *r)
{
    size_t lines;
    int64_t outside, known = held_of(c, r->job, r->subject, &lines, &outside);
    bool first = lines == 0 || (c->open_job == r->job && c->open_group == r->subject);
    if (known == 0 && first) { /* counted, not placed */
        struct held h = {.job = r->job, .group = r->subject, .shares = r->a};
        array_push(&c->held, h);
        outside = r->a;
    } else if (known != r->a) {
        wrong(c, "at %" PRId64 " ns group %u of job %d has %" PRId64 " shares, its nodes %" PRId64, r->time_ns, r->subject, r->job, r->a,
              known);
    }
    if (first) c->held_shares += outside;
    if (first) hold_of_job(c, r->job, r->time_ns, r->a);
    if (c->held_shares > c->s->cluster.total_shares)
        wrong(c, "at %" PRId64 " ns %" PRId64 " shares are held of %" PRId64, r->time_ns, c->held_shares, c->s->cluster.total_shares);
    c->open_job = INT32_MIN;
}

static void on_freed(struct check *c, const struct record *r)
{
    size_t lines, kept = 0;
    int64_t outside, known = held_of(c, r->job, r->subject, &lines, &outside);
    if (lines == 0 || known != r->a)
        wrong(c, "at %" PRId64 " ns group %u of job %d frees %" PRId64 " shares of %" PRId64, r->time_ns, r->subject, r->job, r->a, known);
    for (size_t i = 0; i < c->held.n; i++) {
        struct held h = c->held.v[i];
        if (h.job == r->job && h.group == r->subject) use(c, r, &h, -1);
        else c->held.v[kept++] = h;
    }
    c->held.n = kept;
    c->held_shares -= known ? outside : r->a;
    hold_of_job(c, r->job, r->time_ns, -r->a);
}

/* ---- stepping ---- */

static void steps(struct check *c, const struct record *r, bool on)
{
    struct job_time *j = &c->jobs[r->job];
    if (on && j->steps) wrong(c, "at %" PRId64 " ns job %d starts, but it steps already", r->time_ns, r->job);
    if (j->steps) j->stepping += r->time_ns - j->since;
    j->since = r->time_ns;
    j->steps = on;
}

static void replay(struct check *c)
{
    struct pod_check *pods = pod_check_create();
    const char *why = NULL;
    int64_t last = 0;
    c->open_job = INT32_MIN;
    for (size_t i = 0; i < c->records.n; i++) {
        const struct record *r = &c->records.v[i];
        if (r->time_ns < last) wrong(c, "record %zu is of %" PRId64 " ns, the one before of %" PRId64, i, r->time_ns, last);
        last = r->time_ns;
        clock_to(c, last);
        switch (r->type) {
        case REC_GROUP_NODES: on_nodes(c, r); break;
        case REC_GROUP_STATE: on_state(c, r); break;
        case REC_GROUP_FREED: on_freed(c, r); break;
        case REC_NODE_STATE: c->down[r->subject] = r->code != ACT_FREE; break;
        case REC_JOB_STARTED: steps(c, r, true); break;
        case REC_JOB_STOPPED:
        case REC_JOB_EVICTED:
        case REC_JOB_FINISHED: steps(c, r, false); break;
        case REC_JOB_WAIT: steps(c, r, r->code == N_WAIT_REASONS && c->jobs[r->job].steps); break;
        default: break;
        }
        wait_check_record(c->waits, r);
        if (!why && (why = pod_check_record(pods, r))) wrong(c, "%s", why);
    }
    if (!why && (why = pod_check_end(pods))) wrong(c, "%s", why);
    pod_check_destroy(pods);
    if (last > c->run->end_ns) wrong(c, "a record is of %" PRId64 " ns, after the run's end at %" PRId64, last, c->run->end_ns);
    clock_to(c, c->run->end_ns);
}

/* ---- jobs.csv ---- */

static void check_order(struct check *c, const struct job_row *row, const char *id)
{
    const int64_t t[] = {row->submit_ns, row->admitted_ns, row->allocated_ns, row->started_ns, row->finished_ns};
    static const char *const name[] = {"submitted", "admitted", "allocated", "started", "finished"};
    for (int i = 0, before = 0; i < 5; i++) {
        if (t[i] < 0) continue;
        if (t[i] < t[before]) wrong(c, "job %s is %s at %" PRId64 " ns, before it is %s", id, name[i], t[i], name[before]);
        before = i;
    }
}

static void check_time(struct check *c, const struct job_row *row, const char *id, size_t index)
{
    const struct job_time *j = &c->jobs[index];
    int64_t end = row->finished_ns >= 0 ? row->finished_ns : c->run->end_ns, waits = 0;
    int64_t stepping = j->stepping + (j->steps ? c->run->end_ns - j->since : 0);
    const int64_t *told = wait_check_sums(c->waits, index, end);
    for (int r = 0; r < N_WAIT_REASONS; r++) {
        if (row->wait_ns[r] != told[r])
            wrong(c, "job %s waits %" PRId64 " ns for %s; by the records %" PRId64, id, row->wait_ns[r], wait_table[r].name, told[r]);
        if (row->wait_ns[r] < 0) wrong(c, "job %s waits %" PRId64 " ns for %s", id, row->wait_ns[r], wait_table[r].name);
        waits += row->wait_ns[r];
    }
    hold_of_job(c, (int32_t)index, c->run->end_ns, 0);
    if (j->held != row->work + row->redone + row->held)
        wrong(c, "job %s: its groups hold %.9f GPU-s, its row says %.9f", id, (double)j->held / 1e12, (double)(row->work + row->redone + row->held) / 1e12);
    if (waits + stepping != end - row->submit_ns)
        wrong(c, "job %s (%s) waits %" PRId64 " ns and steps %" PRId64 ", in sum %+" PRId64 " of its %" PRId64 " ns", id,
              job_state_names[row->state], waits, stepping, waits + stepping - (end - row->submit_ns), end - row->submit_ns);
}

static void check_jobs(struct check *c)
{
    char buf[24];
    struct hmap ids = {0};
    size_t submitted = 0;
    for (size_t i = 0; i < c->records.n; i++) submitted += c->records.v[i].type == REC_JOB_SUBMITTED;
    if (c->run->n_jobs != submitted) wrong(c, "%zu jobs submitted, %zu rows", submitted, c->run->n_jobs);
    for (size_t i = 0; i < c->s->n_jobs; i++) hmap_put_str(&ids, job_id(c->s, &c->s->jobs[i], buf), i);
    for (size_t i = 0; i < c->run->n_jobs; i++) {
        const struct job_row *row = &c->run->jobs[i].row;
        uint64_t index;
        char number[24];
        snprintf(number, sizeof number, "%" PRIu64, row->number);
        const char *id = row->id ? row->id : number;
        if (!hmap_get_str(&ids, id, &index)) {
            wrong(c, "a row for job %s, which the scenario has not", id);
            continue;
        }
        check_order(c, row, id);
        check_time(c, row, id, index);
    }
    hmap_free(&ids);
}

/* ---- ledger.csv ---- */

static void equal_sums(struct check *c, const char *what, share_ns one, share_ns two)
{
    if (one == two) return;
    wrong(c, "%s: %.9f GPU-s and %.9f GPU-s, %+.0f share-ns apart", what, (double)one / 1e12, (double)two / 1e12,
          one > two ? (double)(one - two) : -(double)(two - one));
}

static void check_ledger(struct check *c)
{
    share_ns work = 0, redone = 0, held = 0, all_held = 0, job_work = 0, job_redone = 0, job_held = 0;
    for (size_t i = 0; i < c->run->n_ledger; i++) {
        const struct run_ledger_row *row = &c->run->ledger[i];
        enum activity_class class = activity_table[row->activity].class;
        bool of_job = row->kind[0] != '\0';
        if (class == CLASS_HELD || class == CLASS_WORK) all_held += row->sum;
        if (!of_job) continue;
        if (class == CLASS_HELD) held += row->sum;
        if (class == CLASS_WORK && row->redone) redone += row->sum;
        if (class == CLASS_WORK && !row->redone) work += row->sum;
    }
    for (size_t i = 0; i < c->run->n_jobs; i++) {
        job_work += c->run->jobs[i].row.work;
        job_redone += c->run->jobs[i].row.redone;
        job_held += c->run->jobs[i].row.held;
    }
    equal_sums(c, "work of the ledger and of its jobs", work, job_work);
    equal_sums(c, "redone work of the ledger and of its jobs", redone, job_redone);
    equal_sums(c, "held time of the ledger and of its jobs", held, job_held);
    equal_sums(c, "held and working cells, and the integral of what the records hold", all_held, c->integral);
    for (size_t g = 0; g < c->run->n_groups; g++) {
        share_ns sum = 0;
        for (size_t i = 0; i < c->run->n_ledger; i++)
            if (strcmp(c->run->ledger[i].group, c->run->groups[g].name) == 0) sum += c->run->ledger[i].sum;
        equal_sums(c, "cells of a group, and its shares", sum, c->run->groups[g].existing);
    }
}

static void clean(struct check *c)
{
    if (c->run) run_close(c->run);
    array_free(&c->records);
    array_free(&c->held);
    free(c->used);
    free(c->pooled);
    free(c->down);
    free(c->jobs);
    if (c->waits) wait_check_destroy(c->waits);
}

bool run_check(const char *dir, const struct scenario *s, char why[RUN_WHY])
{
    struct check c = {.s = s, .why = why};
    if (load(&c, dir)) {
        c.used = xcalloc(s->cluster.n_nodes + 1, sizeof *c.used);
        c.pooled = xcalloc(s->cluster.n_nodes + 1, sizeof *c.pooled);
        c.down = xcalloc(s->cluster.n_nodes + 1, sizeof *c.down);
        c.jobs = xcalloc(s->n_jobs + 1, sizeof *c.jobs);
        c.waits = wait_check_create(s->n_jobs);
        replay(&c);
        check_jobs(&c);
        check_ledger(&c);
    }
    clean(&c);
    return !c.bad;
}

/* ---- pairs ---- */

static bool is_outside(const struct record *r) { return r->type == REC_JOB_SUBMITTED || r->type == REC_NODE_STATE; }

/* The next record that must not depend on the approach. */
static const struct record *outside(const struct check *c, size_t *i)
{
    while (*i < c->records.n && !is_outside(&c->records.v[*i])) ++*i;
    return *i < c->records.n ? &c->records.v[(*i)++] : NULL;
}

bool run_check_paired(const char *one, const char *two, char why[RUN_WHY])
{
    struct check a = {.why = why}, b = {.why = why};
    if (load(&a, one) && load(&b, two)) {
        int64_t end = a.run->end_ns < b.run->end_ns ? a.run->end_ns : b.run->end_ns;
        size_t i = 0, k = 0;
        for (;;) {
            const struct record *x = outside(&a, &i), *y = outside(&b, &k);
            if ((!x || x->time_ns >= end) && (!y || y->time_ns >= end)) break;
            if (x && y && memcmp(x, y, sizeof *x) == 0) continue;
            wrong(&a, "one has %s of %d at %" PRId64 " ns where the other has %s of %d at %" PRId64, x ? record_table[x->type].name : "nothing",
                  x ? (int)x->subject : 0, x ? x->time_ns : -1, y ? record_table[y->type].name : "nothing", y ? (int)y->subject : 0,
                  y ? y->time_ns : -1);
            break;
        }
    }
    clean(&a);
    clean(&b);
    return !a.bad && !b.bad;
}
