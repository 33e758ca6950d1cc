/* account.c - sums the ledgers of runs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/account.h"

#include <stdlib.h>
#include <string.h>

#include "run/decimal.h"
#include "study/job_index.h"

const char *const use_by_names[N_USES] = {"queue", "team", "group", "kind", "cause"};
const char *const record_names[N_RECORDS] = {"gpu_time", "wait", "restarts", "preemptions"};

/* ---- GPU time ---- */

static void add_use(struct gpu_uses *u, const char *name, const struct run_ledger_row *l)
{
    uint32_t id = intern_id(&u->names, name ? name : "");
    if (id == u->uses.n) array_push(&u->uses, (struct gpu_use){.name = intern_text(&u->names, id)});
    u->uses.v[id].class[gpu_class_of(l->activity, l->redone)] += l->sum;
    u->uses.v[id].all += l->sum;
}

static void add_ledger_row(struct account *a, const struct run_ledger_row *l)
{
    enum gpu_class class = gpu_class_of(l->activity, l->redone);
    a->cells[l->activity][l->redone] += l->sum;
    a->class[class] += l->sum;
    a->all += l->sum;
    add_use(&a->uses[USE_BY_GROUP], l->group, l);
    if (class != GPU_HELD && class != GPU_WORK && class != GPU_REDONE) return;
    add_use(&a->uses[USE_BY_QUEUE], l->queue, l);
    add_use(&a->uses[USE_BY_TEAM], l->team, l);
    add_use(&a->uses[USE_BY_KIND], l->kind, l);
    add_use(&a->uses[USE_BY_CAUSE], cause_table[l->cause].name, l);
}

/* ---- waits ---- */

int wait_sums_top(const struct wait_sums *s)
{
    int best = 0;
    for (int w = 1; w < N_WAIT_REASONS; w++)
        if (s->reason[w] > s->reason[best]) best = w;
    return best;
}

static void add_waits(struct account *a, struct wait_sums *s, const struct job_row *r)
{
    int64_t sum = 0;
    char buf[24];
    s->jobs++;
    for (int w = 0; r->wait_ns && w < N_WAIT_REASONS; w++) {
        s->reason[w] += r->wait_ns[w];
        s->all += r->wait_ns[w];
        s->hit[w] += r->wait_ns[w] > 0;
        sum += r->wait_ns[w];
        if (r->wait_ns[w] <= s->longest[w]) continue;
        s->longest[w] = r->wait_ns[w];
        if (s == &a->waits) s->longest_job[w] = arena_strdup(&a->arena, job_row_id(r, buf));
    }
    if (sum > s->longest_sum) s->longest_sum = sum;
}

static void add_to(struct account *a, struct wait_groups *g, const char *name, const struct job_row *r)
{
    uint32_t id = intern_id(&g->names, name ? name : "");
    if (id == g->sums.n) array_push(&g->sums, (struct wait_sums){.name = intern_text(&g->names, id)});
    add_waits(a, &g->sums.v[id], r);
}

/* ---- records ---- */

static double amount_of(const struct job_row *r, enum record_of what)
{
    int64_t wait = 0;
    switch (what) {
    case MOST_GPU_TIME: return decimal_gpu_s(r->work + r->redone + r->held);
    case MOST_RESTARTS: return r->restarts;
    case MOST_PREEMPTIONS: return r->preemptions;
    default:
        for (int w = 0; r->wait_ns && w < N_WAIT_REASONS; w++) wait += r->wait_ns[w];
        return (double)wait / 1e9;
    }
}

static void add_records(struct account *a, const struct job_row *r, uint32_t replication)
{
    char buf[24];
    for (int i = 0; i < N_RECORDS; i++) {
        double x = amount_of(r, (enum record_of)i);
        if (x <= a->records[i].amount) continue;
        a->records[i] = (struct record_holder){.job = arena_strdup(&a->arena, job_row_id(r, buf)),
                                               .team = arena_strdup(&a->arena, r->team ? r->team : ""),
                                               .queue = arena_strdup(&a->arena, r->queue ? r->queue : ""),
                                               .replication = replication,
                                               .gpu_shares = r->gpu_shares,
                                               .amount = x};
    }
}

void account_add(struct account *a, const struct run *r)
{
    a->runs++;
    a->jobs += r->n_jobs;
    for (size_t i = 0; i < r->n_ledger; i++) add_ledger_row(a, &r->ledger[i]);
    for (size_t i = 0; i < r->n_jobs; i++) {
        const struct job_row *row = &r->jobs[i].row;
        add_waits(a, &a->waits, row);
        add_to(a, &a->queues, row->queue, row);
        add_to(a, &a->teams, row->team, row);
        add_records(a, row, r->replication);
    }
}

static int waits_by_name(const void *left, const void *right)
{
    return strcmp(((const struct wait_sums *)left)->name, ((const struct wait_sums *)right)->name);
}

share_ns gpu_use_busy(const struct gpu_use *u)
{
    return u->class[GPU_WORK] + u->class[GPU_HELD] + u->class[GPU_REDONE];
}

static int busiest_first(const void *left, const void *right)
{
    const struct gpu_use *a = left, *b = right;
    share_ns x = gpu_use_busy(a), y = gpu_use_busy(b);
    if (x != y) return x > y ? -1 : 1;
    return strcmp(a->name, b->name);
}

void account_sort(struct account *a)
{
    if (a->queues.sums.n) qsort(a->queues.sums.v, a->queues.sums.n, sizeof *a->queues.sums.v, waits_by_name);
    if (a->teams.sums.n) qsort(a->teams.sums.v, a->teams.sums.n, sizeof *a->teams.sums.v, waits_by_name);
    for (int i = 0; i < N_USES; i++)
        if (a->uses[i].uses.n) qsort(a->uses[i].uses.v, a->uses[i].uses.n, sizeof *a->uses[i].uses.v, busiest_first);
}

void account_free(struct account *a)
{
    intern_free(&a->queues.names);
    intern_free(&a->teams.names);
    array_free(&a->queues.sums);
    array_free(&a->teams.sums);
    for (int i = 0; i < N_USES; i++) {
        intern_free(&a->uses[i].names);
        array_free(&a->uses[i].uses);
    }
    arena_free(&a->arena);
    memset(a, 0, sizeof *a);
}
