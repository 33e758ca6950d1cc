/* ledger_csv.c - ledger.csv, written and read.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/mem.h"
#include "run/decimal.h"
#include "run/parts.h"

#define COLUMNS(X)                                                                                                     \
    X(CLASS, "class", "class of the activity: idle, held, work, down, absent")                                         \
    X(ACTIVITY, "activity", "see below")                                                                               \
    X(REDONE, "redone", "1: work that had been done before a roll-back")                                               \
    X(CAUSE, "cause", "which attempt: see below")                                                                      \
    X(QUEUE, "queue", "empty when no job's")                                                                           \
    X(TEAM, "team", "empty when no job's")                                                                             \
    X(GROUP, "group", "node group")                                                                                    \
    X(KIND, "kind", "empty when no job's")                                                                             \
    X(GPU_S, "gpu_s", "GPU-seconds, exact: 1 GPU-s = 10^12 share-ns")

#define COLUMN(e, n, h) COL_##e,
enum column { COLUMNS(COLUMN) N_COLUMNS };
#define COLUMN_ROW(e, n, h) {n, h},
const struct csv_column ledger_csv_columns[] = {COLUMNS(COLUMN_ROW)};
const size_t n_ledger_csv_columns = N_COLUMNS;

/* ---- writing ---- */

static int compare_u16(uint16_t a, uint16_t b)
{
    return (a > b) - (a < b);
}

struct sorted_account {
    struct ledger_key key;
    uint32_t account;
};

/* A total order, so that the file does not depend on which account was used first. */
static int by_key(const void *left, const void *right)
{
    const struct ledger_key *a = &((const struct sorted_account *)left)->key;
    const struct ledger_key *b = &((const struct sorted_account *)right)->key;
    int order = compare_u16(a->group, b->group);
    if (!order) order = compare_u16(a->queue, b->queue);
    if (!order) order = compare_u16(a->team, b->team);
    if (!order) order = compare_u16(a->kind, b->kind);
    return order ? order : compare_u16(a->cause, b->cause);
}

static const char *name_of(struct run_inside *in, const char *const *names, unsigned n, uint16_t index)
{
    if (index == LEDGER_NONE) return "";
    assert(index < n && "the manifest names all ledger columns");
    return inside_name(in, names[index]);
}

static void account_rows(struct run_inside *in, const struct ledger *l, uint32_t account, const struct run_meta *m)
{
    const struct ledger_key *k = ledger_account_key(l, account);
    struct run_ledger_row row = {.cause = (enum cause)k->cause,
                                 .queue = name_of(in, m->queues, m->n_queues, k->queue),
                                 .team = name_of(in, m->teams, m->n_teams, k->team),
                                 .group = name_of(in, m->groups, m->n_groups, k->group),
                                 .kind = name_of(in, m->kinds, m->n_kinds, k->kind)};
    for (int a = 0; a < N_ACTIVITIES; a++)
        for (int redone = 0; redone < 2; redone++) {
            row.activity = (enum activity)a;
            row.redone = redone;
            row.sum = ledger_sum(l, account, row.activity, redone);
            if (row.sum) array_push(&in->ledger, row);
        }
}

void ledger_rows(struct run_inside *in, const struct ledger *l, const struct run_meta *meta)
{
    uint32_t n = ledger_accounts(l);
    struct sorted_account *order = xcalloc(n, sizeof *order);
    for (uint32_t a = 0; a < n; a++) order[a] = (struct sorted_account){*ledger_account_key(l, a), a};
    qsort(order, n, sizeof *order, by_key);
    for (uint32_t i = 0; i < n; i++) account_rows(in, l, order[i].account, meta);
    free(order);
}

void ledger_csv_write(struct out *o, const struct run_inside *in)
{
    for (int c = 0; c < N_COLUMNS; c++) {
        if (c) out_text(o, ",", 1);
        out_text(o, ledger_csv_columns[c].name, strlen(ledger_csv_columns[c].name));
    }
    out_text(o, "\n", 1);
    for (size_t i = 0; i < in->ledger.n; i++) {
        const struct run_ledger_row *r = &in->ledger.v[i];
        const struct activity_info *a = &activity_table[r->activity];
        const char *field[] = {activity_class_names[a->class],
                               a->name,
                               r->redone ? "1" : "0",
                               cause_table[r->cause].name,
                               r->queue,
                               r->team,
                               r->group,
                               r->kind};
        for (size_t f = 0; f < sizeof field / sizeof *field; f++) {
            out_csv_text(o, field[f]);
            out_text(o, ",", 1);
        }
        char *p = out_reserve(o, DECIMAL_GPU_S_BYTES);
        out_used(o, decimal_put_gpu_s(p, r->sum));
        out_text(o, "\n", 1);
    }
}

/* ---- reading ---- */

struct reading {
    struct run_inside *in;
    struct diag *diag;
};

static bool bad(struct reading *r, const struct csv_row *row, enum column c, const char *allowed)
{
    diag_error(r->diag, row->file, row->line, NULL, "%s: \"%.60s\" is not %s", ledger_csv_columns[c].name,
               csv_field(row, c), allowed);
    return false;
}

static bool get_activity(struct reading *r, const struct csv_row *row, enum activity *activity)
{
    for (int a = 0; a < N_ACTIVITIES; a++) {
        *activity = (enum activity)a;
        if (str_equal(csv_field(row, COL_ACTIVITY), activity_table[a].name)) return true;
    }
    return bad(r, row, COL_ACTIVITY, "an activity");
}

static bool get_cause(struct reading *r, const struct csv_row *row, enum cause *cause)
{
    for (int c = 0; c < N_CAUSES; c++) {
        *cause = (enum cause)c;
        if (str_equal(csv_field(row, COL_CAUSE), cause_table[c].name)) return true;
    }
    return bad(r, row, COL_CAUSE, "a cause");
}

static bool on_row(void *arg, const struct csv_row *row)
{
    struct reading *r = arg;
    struct run_ledger_row l = {.redone = str_equal(csv_field(row, COL_REDONE), "1")};
    bool ok = get_activity(r, row, &l.activity);
    ok &= get_cause(r, row, &l.cause);
    if (!l.redone && !str_equal(csv_field(row, COL_REDONE), "0")) ok = bad(r, row, COL_REDONE, "0 or 1");
    if (!decimal_get(csv_field(row, COL_GPU_S), GPU_S_DIGITS, &l.sum))
        ok = bad(r, row, COL_GPU_S, "GPU-seconds with at most 12 decimals");
    if (!ok) return true;
    l.queue = inside_name(r->in, csv_field(row, COL_QUEUE));
    l.team = inside_name(r->in, csv_field(row, COL_TEAM));
    l.group = inside_name(r->in, csv_field(row, COL_GROUP));
    l.kind = inside_name(r->in, csv_field(row, COL_KIND));
    array_push(&r->in->ledger, l);
    return true;
}

bool ledger_csv_read(struct run_inside *in, const char *path, struct diag *d)
{
    struct reading r = {in, d};
    const char *need[N_COLUMNS];
    size_t before = diag_errors(d);
    for (int c = 0; c < N_COLUMNS; c++) need[c] = ledger_csv_columns[c].name;
    bool ok = csv_read(path, &(struct csv_spec){need, N_COLUMNS, NULL, 0, on_row, &r}, d);
    return ok && diag_errors(d) == before;
}
