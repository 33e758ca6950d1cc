/* compare_jobs.c - see compare_jobs.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/compare_jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hmap.h"
#include "base/mem.h"

struct team_sums { /* of one replication */
    size_t jobs;
    double wait_base, wait_other, jct_base, jct_other; /* seconds */
};

struct job_matcher {
    struct arena *arena;
    size_t n, used; /* room for replications; those that were added */
    __int128 base[N_JCT_PARTS], other[N_JCT_PARTS];
    double *base_s, *other_s; /* [part * n + k]; the sum is part N_JCT_PARTS */
    struct compare_matches matches;
    struct intern teams;
    ARRAY(struct team_sums *) sums;   /* a team: [k] */
    ARRAY(struct job_change) changes; /* the greatest ones, not yet sorted */
    size_t keep_at;
};

const char *jct_part_name(int part)
{
    if (part == JCT_WORK) return "work";
    return part == JCT_REDONE ? "redone" : wait_table[part].name;
}

struct job_matcher *job_matcher_create(struct arena *arena, size_t n_replications)
{
    struct job_matcher *m = xcalloc(1, sizeof *m);
    m->arena = arena;
    m->n = n_replications;
    m->base_s = xcalloc((N_JCT_PARTS + 1) * n_replications, sizeof *m->base_s);
    m->other_s = xcalloc((N_JCT_PARTS + 1) * n_replications, sizeof *m->other_s);
    return m;
}

void jct_split(const struct job_row *r, int64_t parts[N_JCT_PARTS])
{
    int64_t rest = r->finished_ns - r->submit_ns;
    for (int w = 0; w < N_WAIT_REASONS; w++) {
        parts[w] = r->wait_ns ? r->wait_ns[w] : 0;
        rest -= parts[w];
    }
    share_ns all = r->work + r->redone;
    /* In long double: the product may pass 128 bits; the remainder goes to work, so the sum stays exact. */
    parts[JCT_REDONE] =
        all && rest > 0 ? (int64_t)((long double)rest * ((long double)r->redone / (long double)all)) : 0;
    parts[JCT_WORK] = rest - parts[JCT_REDONE];
}

/* ---- the greatest changes ---- */

static int64_t change_of(const struct job_change *c)
{
    return c->other_ns - c->base_ns;
}

static int by_change(const void *left, const void *right)
{
    const struct job_change *a = left, *b = right;
    int64_t x = change_of(a), y = change_of(b);
    if (x != y) return x < y ? -1 : 1;
    if (a->replication != b->replication) return a->replication < b->replication ? -1 : 1;
    return strcmp(a->id, b->id);
}

/* Keeps the JOB_CHANGES at each end. */
static void prune_changes(struct job_matcher *m)
{
    if (m->changes.n <= 2 * JOB_CHANGES) return;
    array_sort(&m->changes, by_change);
    memmove(m->changes.v + JOB_CHANGES, m->changes.v + m->changes.n - JOB_CHANGES, JOB_CHANGES * sizeof *m->changes.v);
    m->changes.n = 2 * JOB_CHANGES;
}

static int main_reason(const int64_t *base, const int64_t *other, int64_t change)
{
    int best = JCT_WORK;
    int64_t most = -1;
    for (int p = 0; p < N_JCT_PARTS; p++) {
        int64_t d = change < 0 ? base[p] - other[p] : other[p] - base[p];
        if (d > most) {
            most = d;
            best = p;
        }
    }
    return best;
}

static void note_change(struct job_matcher *m, const struct run *run, const struct job_row *a, const struct job_row *b,
                        const char *id, int reason)
{
    struct job_change c = {.id = id,
                           .team = a->team,
                           .queue = a->queue,
                           .replication = run->replication,
                           .gpu_shares = a->gpu_shares,
                           .base_ns = a->finished_ns - a->submit_ns,
                           .other_ns = b->finished_ns - b->submit_ns,
                           .reason = reason};
    if (change_of(&c) == 0) return;
    array_push(&m->changes, c);
    if (m->changes.n >= m->keep_at + 4096) {
        prune_changes(m);
        m->keep_at = m->changes.n;
    }
}

/* What is kept must outlive the run. */
static void own_changes(struct job_matcher *m, uint32_t replication)
{
    prune_changes(m);
    for (size_t i = 0; i < m->changes.n; i++) {
        struct job_change *c = &m->changes.v[i];
        if (c->replication != replication) continue;
        c->id = arena_strdup(m->arena, c->id);
        c->team = arena_strdup(m->arena, c->team ? c->team : "");
        c->queue = arena_strdup(m->arena, c->queue ? c->queue : "");
    }
}

/* ---- one replication ---- */

static struct team_sums *team_at(struct job_matcher *m, size_t k, const char *team)
{
    uint32_t id = intern_id(&m->teams, team ? team : "");
    while (m->sums.n <= id) {
        struct team_sums *s = arena_calloc(m->arena, m->n, sizeof *s);
        array_push(&m->sums, s);
    }
    return &m->sums.v[id][k];
}

static double seconds_of(int64_t ns)
{
    return (double)ns / 1e9;
}

static void add_team(struct job_matcher *m, size_t k, const struct job_row *a, const struct job_row *b)
{
    struct team_sums *t = team_at(m, k, a->team);
    t->jobs++;
    t->jct_base += seconds_of(a->finished_ns - a->submit_ns);
    t->jct_other += seconds_of(b->finished_ns - b->submit_ns);
    /* A job that ended without a first step has waited until its end. */
    t->wait_base += seconds_of((a->started_ns >= 0 ? a->started_ns : a->finished_ns) - a->submit_ns);
    t->wait_other += seconds_of((b->started_ns >= 0 ? b->started_ns : b->finished_ns) - b->submit_ns);
}

static void match_ended(struct job_matcher *m, size_t k, const struct run *run, const struct job_row *a,
                        const struct job_row *b, const char *id, __int128 *base, __int128 *other)
{
    int64_t pa[N_JCT_PARTS], pb[N_JCT_PARTS];
    jct_split(a, pa);
    jct_split(b, pb);
    for (int p = 0; p < N_JCT_PARTS; p++) {
        base[p] += pa[p];
        other[p] += pb[p];
    }
    int64_t change = b->finished_ns - b->submit_ns - (a->finished_ns - a->submit_ns);
    m->matches.other_outcome += a->state != b->state;
    add_team(m, k, a, b);
    note_change(m, run, a, b, id, main_reason(pa, pb, change));
}

static const char *id_of(const struct job_row *r, char buf[24])
{
    if (r->id) return r->id;
    buf[str_put_u64(buf, r->number)] = '\0';
    return buf;
}

static void end_replication(struct job_matcher *m, size_t k, size_t n, const __int128 *base, const __int128 *other)
{
    __int128 whole_base = 0, whole_other = 0;
    for (int p = 0; p < N_JCT_PARTS; p++) {
        m->base[p] += base[p];
        m->other[p] += other[p];
        whole_base += base[p];
        whole_other += other[p];
        m->base_s[(size_t)p * m->n + k] = n ? (double)base[p] / 1e9 / (double)n : NAN;
        m->other_s[(size_t)p * m->n + k] = n ? (double)other[p] / 1e9 / (double)n : NAN;
    }
    m->base_s[N_JCT_PARTS * m->n + k] = n ? (double)whole_base / 1e9 / (double)n : NAN;
    m->other_s[N_JCT_PARTS * m->n + k] = n ? (double)whole_other / 1e9 / (double)n : NAN;
    m->matches.ended_in_both += n;
}

void job_matcher_add(struct job_matcher *m, size_t k, const struct run *base, const struct run *other)
{
    struct hmap by_id = {0};
    __int128 sum_base[N_JCT_PARTS] = {0}, sum_other[N_JCT_PARTS] = {0};
    size_t n = 0, found = 0, in_base = 0;
    char buf[24];
    m->used = k + 1;
    for (size_t i = 0; i < other->n_jobs; i++)
        if (run_counts(other, other->jobs[i].row.submit_ns)) hmap_put_str(&by_id, id_of(&other->jobs[i].row, buf), i);
    for (size_t i = 0; i < base->n_jobs; i++) {
        const struct job_row *a = &base->jobs[i].row;
        uint64_t at;
        if (!run_counts(base, a->submit_ns)) continue;
        in_base++;
        const char *id = id_of(a, buf);
        if (!hmap_get_str(&by_id, id, &at)) continue;
        found++;
        const struct job_row *b = &other->jobs[at].row;
        if (a->finished_ns >= 0 && b->finished_ns >= 0) {
            if (id == buf) id = arena_strdup(m->arena, id);
            match_ended(m, k, base, a, b, id, sum_base, sum_other);
            n++;
        } else if (a->finished_ns >= 0)
            m->matches.ended_in_base_only++;
        else if (b->finished_ns >= 0)
            m->matches.ended_in_other_only++;
        else
            m->matches.ended_in_neither++;
    }
    m->matches.in_one_run_only += in_base - found + (by_id.n - found);
    end_replication(m, k, n, sum_base, sum_other);
    own_changes(m, base->replication);
    m->keep_at = m->changes.n;
    hmap_free(&by_id);
}

/* ---- the end ---- */

static struct paired team_paired(const struct job_matcher *m, const struct team_sums *t, size_t base, size_t other)
{
    double *a = xcalloc(2 * m->used, sizeof *a), *b = a + m->used;
    for (size_t k = 0; k < m->used; k++) {
        const char *bytes = (const char *)&t[k];
        double jobs = (double)t[k].jobs, x, y;
        memcpy(&x, bytes + base, sizeof x);
        memcpy(&y, bytes + other, sizeof y);
        a[k] = t[k].jobs ? x / jobs : NAN;
        b[k] = t[k].jobs ? y / jobs : NAN;
    }
    struct paired p = paired_of(a, b, m->used, PAIRED_LEVEL);
    free(a);
    return p;
}

static int by_team(const void *left, const void *right)
{
    const struct team_change *a = left, *b = right;
    return strcmp(a->team, b->team);
}

static void end_teams(struct job_matcher *m, struct compare_pair *pair)
{
    pair->teams = arena_calloc(m->arena, m->sums.n, sizeof *pair->teams);
    pair->n_teams = m->sums.n;
    for (uint32_t i = 0; i < m->sums.n; i++) {
        const struct team_sums *t = m->sums.v[i];
        struct team_change *c = &pair->teams[i];
        c->team = arena_strdup(m->arena, intern_text(&m->teams, i));
        for (size_t k = 0; k < m->used; k++) c->jobs += t[k].jobs;
        c->wait = team_paired(m, t, offsetof(struct team_sums, wait_base), offsetof(struct team_sums, wait_other));
        c->jct = team_paired(m, t, offsetof(struct team_sums, jct_base), offsetof(struct team_sums, jct_other));
    }
    if (pair->n_teams) qsort(pair->teams, pair->n_teams, sizeof *pair->teams, by_team);
}

static void end_changes(struct job_matcher *m, struct compare_pair *pair)
{
    size_t n = m->changes.n;
    if (n) qsort(m->changes.v, n, sizeof *m->changes.v, by_change);
    for (size_t i = 0; i < n && i < JOB_CHANGES && change_of(&m->changes.v[i]) < 0; i++)
        pair->sooner[pair->n_sooner++] = m->changes.v[i];
    for (size_t i = n; i > 0 && n - i < JOB_CHANGES && change_of(&m->changes.v[i - 1]) > 0; i--)
        pair->later[pair->n_later++] = m->changes.v[i - 1];
}

static struct paired part_paired(const struct job_matcher *m, size_t part)
{
    return paired_of(m->base_s + part * m->n, m->other_s + part * m->n, m->used, PAIRED_LEVEL);
}

void job_matcher_end(struct job_matcher *m, struct compare_pair *pair)
{
    pair->jct_sum = (struct jct_part){.seconds = part_paired(m, N_JCT_PARTS)};
    for (int p = 0; p < N_JCT_PARTS; p++) {
        pair->jct[p] = (struct jct_part){m->base[p], m->other[p], part_paired(m, (size_t)p)};
        pair->jct_sum.base_ns += m->base[p];
        pair->jct_sum.other_ns += m->other[p];
    }
    pair->matches = m->matches;
    end_teams(m, pair);
    end_changes(m, pair);
    intern_free(&m->teams);
    array_free(&m->sums);
    array_free(&m->changes);
    free(m->base_s);
    free(m->other_s);
    free(m);
}
