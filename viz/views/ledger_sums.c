/* ledger_sums.c - see ledger_sums.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/views/ledger_sums.h"

#include <stdlib.h>
#include <string.h>

#include "run/decimal.h"

const char *const ledger_by_names[N_LEDGER_BY] = {"state", "team", "queue", "kind", "group"};

static const unsigned class_shows[N_GPU_CLASSES] = {
    [GPU_IDLE] = ACT_FREE, [GPU_HELD] = ACT_WAIT_PEERS, [GPU_WORK] = SHOW_WORK,
    [GPU_REDONE] = SHOW_REDONE, [GPU_DOWN] = ACT_FAILED, [GPU_ABSENT] = ACT_ABSENT,
};

/* ---- lines ---- */

static struct ledger_line *line_named(struct ledger_table *t, const char *name)
{
    for (size_t i = 0; i < t->lines.n; i++)
        if (!strcmp(t->lines.v[i].name, name)) return &t->lines.v[i];
    struct ledger_line *line = array_add(&t->lines);
    line->name = name;
    line->show = SHOW_NOTHING;
    return line;
}

static void add(struct ledger_line *line, unsigned run, unsigned part, share_ns sum)
{
    line->sum[run] += sum;
    line->part[run][part] += sum;
}

static bool is_nothing(const struct ledger_line *line)
{
    for (unsigned i = 0; i < UI_MAX_RUNS; i++)
        if (line->sum[i]) return false;
    return true;
}

static int by_size(const void *left, const void *right)
{
    const struct ledger_line *a = left, *b = right;
    share_ns x = 0, y = 0;
    for (unsigned i = 0; i < UI_MAX_RUNS; i++) {
        x += a->sum[i];
        y += b->sum[i];
    }
    return x != y ? (x < y ? 1 : -1) : strcmp(a->name, b->name);
}

static void leave_out_nothing(struct ledger_table *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->lines.n; i++)
        if (!is_nothing(&t->lines.v[i])) t->lines.v[kept++] = t->lines.v[i];
    t->lines.n = kept;
}

/* ---- GPU time ---- */

/* Lines of all states, classes above their activities; [class] and [activity][redone] tell where they are. */
struct state_lines {
    size_t class[N_GPU_CLASSES], cell[N_ACTIVITIES][2];
};

static void add_state_lines(struct ledger_table *t, struct state_lines *at)
{
    for (int class = 0; class < N_GPU_CLASSES; class++) {
        at->class[class] = t->lines.n;
        array_push(&t->lines, (struct ledger_line){.name = gpu_class_names[class], .show = class_shows[class]});
        for (unsigned cell = 0; cell < 2 * N_ACTIVITIES; cell++) {
            unsigned a = cell / 2, redone = cell % 2;
            bool is_work = activity_table[a].class == CLASS_WORK;
            if ((redone && !is_work) || gpu_class_of((enum activity)a, redone) != (enum gpu_class)class) continue;
            at->cell[a][redone] = t->lines.n;
            array_push(&t->lines, (struct ledger_line){.name = activity_table[a].name, .depth = 1, .show = redone ? SHOW_REDONE : a});
        }
    }
}

static void add_cell(struct ledger_table *t, const struct state_lines *at, unsigned run, enum activity a, bool redone, share_ns sum)
{
    enum gpu_class class = gpu_class_of(a, redone);
    add(&t->lines.v[at->class[class]], run, class, sum);
    add(&t->lines.v[at->cell[a][redone]], run, class, sum);
}

/* Work in one piece: records do not split it. */
static void add_class(struct ledger_table *t, const struct state_lines *at, unsigned run, enum gpu_class class, share_ns sum)
{
    add(&t->lines.v[at->class[class]], run, class, sum);
    t->whole[run] += sum;
}

static void add_records(struct ledger_table *t, const struct state_lines *at, unsigned run, const struct ledger_source *s)
{
    int64_t from = s->scene->begin_ns, to = s->scene->end_ns;
    if (!s->curves || !curve_known(s->curves, CURVE_IDLE_SHARES)) return;
    add_class(t, at, run, GPU_IDLE, curve_integral(s->curves, CURVE_IDLE_SHARES, from, to));
    add_class(t, at, run, GPU_WORK, curve_integral(s->curves, CURVE_SHOW + SHOW_WORK, from, to));
    add_class(t, at, run, GPU_REDONE, curve_integral(s->curves, CURVE_SHOW + SHOW_REDONE, from, to));
    for (unsigned a = 0; a < N_ACTIVITIES; a++) {
        share_ns sum = activity_table[a].class == CLASS_IDLE ? 0 : curve_integral(s->curves, CURVE_SHOW + a, from, to);
        t->whole[run] += sum;
        add_cell(t, at, run, (enum activity)a, false, sum);
    }
}

static const char *column_of(const struct run_ledger_row *row, enum ledger_by by)
{
    const char *text = by == LEDGER_BY_TEAM ? row->team : by == LEDGER_BY_QUEUE ? row->queue : by == LEDGER_BY_KIND ? row->kind : row->group;
    return text && *text ? text : by == LEDGER_BY_GROUP ? "(no group)" : "(no job)";
}

void ledger_gpu_table(struct ledger_table *t, const struct ledger_source *s, unsigned n, enum ledger_by by)
{
    struct state_lines at;
    t->n_parts = N_GPU_CLASSES;
    if (by == LEDGER_BY_STATE) add_state_lines(t, &at);
    for (unsigned i = 0; i < n; i++) {
        const struct run *run = s[i].scene->run;
        if (!run->n_ledger && by == LEDGER_BY_STATE) add_records(t, &at, i, &s[i]);
        for (size_t k = 0; k < run->n_ledger; k++) {
            const struct run_ledger_row *row = &run->ledger[k];
            t->whole[i] += row->sum;
            if (by == LEDGER_BY_STATE) add_cell(t, &at, i, row->activity, row->redone, row->sum);
            else add(line_named(t, column_of(row, by)), i, gpu_class_of(row->activity, row->redone), row->sum);
        }
    }
    leave_out_nothing(t);
    if (by != LEDGER_BY_STATE) array_sort(&t->lines, by_size);
}

/* ---- waits ---- */

static const char *job_column(const struct job_row *row, enum ledger_by by)
{
    const char *text = by == LEDGER_BY_TEAM ? row->team : by == LEDGER_BY_QUEUE ? row->queue : row->kind;
    return text && *text ? text : "(none)";
}

void ledger_wait_table(struct ledger_table *t, const struct ledger_source *s, unsigned n, enum ledger_by by)
{
    bool by_reason = by == LEDGER_BY_STATE || by == LEDGER_BY_GROUP; /* a job has no node group */
    t->n_parts = N_WAIT_REASONS;
    t->waits = true;
    for (unsigned r = 0; r < N_WAIT_REASONS && by_reason; r++)
        array_push(&t->lines, (struct ledger_line){.name = wait_table[r].name, .show = SHOW_WAIT + r});
    for (unsigned i = 0; i < n; i++) {
        const struct run *run = s[i].scene->run;
        for (size_t k = 0; k < run->n_jobs; k++) {
            struct ledger_line *line = by_reason ? NULL : line_named(t, job_column(&run->jobs[k].row, by));
            for (unsigned r = 0; r < N_WAIT_REASONS; r++) {
                share_ns wait = (share_ns)run->jobs[k].waits[r];
                t->whole[i] += wait;
                add(line ? line : &t->lines.v[r], i, r, wait);
            }
        }
    }
    leave_out_nothing(t);
    array_sort(&t->lines, by_size);
}

void ledger_table_free(struct ledger_table *t)
{
    array_free(&t->lines);
    *t = (struct ledger_table){0};
}

/* ---- how it is said ---- */

unsigned ledger_part_show(const struct ledger_table *t, unsigned part)
{
    return t->waits ? SHOW_WAIT + part : class_shows[part];
}

double ledger_hours(const struct ledger_table *t, share_ns sum)
{
    return decimal_gpu_s(sum) * (t->waits ? 1000. : 1.) / 3600;
}

void ledger_exact(const struct ledger_table *t, share_ns sum, struct str *s)
{
    char text[DECIMAL_GPU_S_BYTES];
    str_append_n(s, text, decimal_put(text, sum, t->waits ? NS_DIGITS : GPU_S_DIGITS));
}
