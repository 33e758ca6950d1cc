/* explain_run.c - where the GPU time of a run went, and why its jobs waited.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hmap.h"
#include "base/mem.h"
#include "base/units.h"
#include "run/decimal.h"
#include "run/metrics.h"
#include "study/compare.h"
#include "study/explain.h"
#include "study/job_index.h"
#include "study/words.h"

enum { WIDTH = 100, LONGEST = 10, CAUSES_NAMED = 3, STUCK_LISTED = 20 };

static int64_t wait_sum(const struct job_row *r)
{
    int64_t sum = 0;
    for (int w = 0; r->wait_ns && w < N_WAIT_REASONS; w++) sum += r->wait_ns[w];
    return sum;
}

static int top_reason(const int64_t *waits)
{
    int best = 0;
    for (int w = 1; waits && w < N_WAIT_REASONS; w++)
        if (waits[w] > waits[best]) best = w;
    return best;
}

static void number_cell(struct str *out, double x, size_t width)
{
    struct str s = {0};
    words_number(&s, x);
    str_append(out, " ");
    words_right(out, str_text(&s), width);
    str_free(&s);
}

static void amount_cell(struct str *out, double seconds, size_t width)
{
    struct str s = {0};
    words_amount(&s, "s", seconds);
    str_append(out, " ");
    words_right(out, str_text(&s), width);
    str_free(&s);
}

static void name_cell(struct str *out, const char *name, size_t width)
{
    struct str s = {0};
    words_name(&s, name);
    words_left(out, str_text(&s), width);
    str_free(&s);
}

/* ---- GPU time ---- */

struct cells {
    share_ns sum[N_ACTIVITIES][2], class[N_GPU_CLASSES], all;
};

static void sum_cells(const struct run *r, struct cells *c)
{
    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < r->n_ledger; i++) {
        const struct run_ledger_row *l = &r->ledger[i];
        c->sum[l->activity][l->redone] += l->sum;
        c->class[gpu_class_of(l->activity, l->redone)] += l->sum;
        c->all += l->sum;
    }
}

static double percent(share_ns part, share_ns all)
{
    return all ? 100 * decimal_gpu_s(part) / decimal_gpu_s(all) : 0;
}

static void gpu_row(struct str *out, const char *name, size_t indent, share_ns sum, share_ns all, const char *help)
{
    str_append_repeat(out, ' ', indent);
    name_cell(out, name, 22 - indent);
    number_cell(out, decimal_gpu_s(sum) / 3600, 10);
    str_printf(out, " %7.2f %%%s", percent(sum, all), *help ? "  " : "");
    words_wrapped(out, help, 45, WIDTH);
    str_append(out, "\n");
}

static void gpu_time(const struct cells *c, struct str *out)
{
    str_append(out, "\nWhere the GPU time went                GPU-h\n");
    for (int class = 0; class < N_GPU_CLASSES; class ++) {
        if (!c->class[class]) continue;
        gpu_row(out, gpu_class_names[class], 0, c->class[class], c -> all, "");
        for (int a = 0; a < N_ACTIVITIES; a++)
            for (int redone = 0; redone < 2; redone++)
                if (c->sum[a][redone] && gpu_class_of((enum activity)a, redone) == (enum gpu_class) class)
                    gpu_row(out, activity_table[a].name, 2, c->sum[a][redone], c->all, activity_table[a].help);
    }
    gpu_row(out, "all", 0, c->all, c->all, "");
}

/* The greatest cells that are not work that is kept. */
static void what_keeps_it_low(const struct cells *c, struct str *out)
{
    bool used[N_ACTIVITIES][2] = {{false}};
    str_append(out, "\nWhat keeps the useful part low\n");
    for (int n = 0; n < CAUSES_NAMED; n++) {
        int best = -1;
        for (int i = 0; i < 2 * N_ACTIVITIES; i++) {
            enum gpu_class class = gpu_class_of((enum activity)(i / 2), i % 2);
            if (class == GPU_WORK || class == GPU_ABSENT || used[i / 2][i % 2] || !c->sum[i / 2][i % 2]) continue;
            if (best < 0 || c->sum[i / 2][i % 2] > c->sum[best / 2][best % 2]) best = i;
        }
        if (best < 0) break;
        used[best / 2][best % 2] = true;
        struct str s = {0};
        str_printf(&s, "%.1f %% of the GPU time is ", percent(c->sum[best / 2][best % 2], c->all));
        words_name(&s, activity_table[best / 2].name);
        str_printf(&s, "%s: %s.", best % 2 ? ", done again" : "", activity_table[best / 2].help);
        str_append(out, "  * ");
        words_wrapped(out, str_text(&s), 4, WIDTH);
        str_append(out, "\n");
        str_free(&s);
    }
}

/* ---- waits ---- */

struct wait_sums { /* of all jobs, of a queue or of a team */
    const char *name;
    size_t jobs;
    __int128 reason[N_WAIT_REASONS], all;
    size_t hit[N_WAIT_REASONS];
    int64_t longest[N_WAIT_REASONS];
    const struct job_row *longest_job[N_WAIT_REASONS];
};

static void add_waits(struct wait_sums *s, const struct job_row *r)
{
    s->jobs++;
    for (int w = 0; r->wait_ns && w < N_WAIT_REASONS; w++) {
        s->reason[w] += r->wait_ns[w];
        s->all += r->wait_ns[w];
        s->hit[w] += r->wait_ns[w] > 0;
        if (r->wait_ns[w] > s->longest[w]) {
            s->longest[w] = r->wait_ns[w];
            s->longest_job[w] = r;
        }
    }
}

static void waits_table(const struct wait_sums *s, struct str *out)
{
    char buf[24];
    if (!s->all) {
        str_append(out, "\nNo job waited.\n");
        return;
    }
    str_append(out, "\nWhy jobs did not step               job-hours       %     jobs    longest  in job\n");
    for (int w = 0; w < N_WAIT_REASONS; w++) {
        if (!s->reason[w]) continue;
        name_cell(out, wait_table[w].name, 34);
        number_cell(out, (double)s->reason[w] / 3.6e12, 10);
        str_printf(out, " %7.2f", 100 * (double)s->reason[w] / (double)s->all);
        number_cell(out, (double)s->hit[w], 8);
        amount_cell(out, (double)s->longest[w] / 1e9, 10);
        str_printf(out, "  %s\n", job_row_id(s->longest_job[w], buf));
        str_append(out, "    ");
        str_append(out, wait_table[w].help);
        str_append(out, "\n");
    }
}

static int top_of(const struct wait_sums *s)
{
    int best = 0;
    for (int w = 1; w < N_WAIT_REASONS; w++)
        if (s->reason[w] > s->reason[best]) best = w;
    return best;
}

struct wait_groups {
    struct intern names;
    ARRAY(struct wait_sums) sums;
};

static void add_to(struct wait_groups *g, const char *name, const struct job_row *r)
{
    uint32_t id = intern_id(&g->names, name ? name : "");
    if (id == g->sums.n) array_push(&g->sums, (struct wait_sums){.name = intern_text(&g->names, id)});
    add_waits(&g->sums.v[id], r);
}

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct wait_sums *)left)->name, ((const struct wait_sums *)right)->name);
}

static void groups_table(struct wait_groups *g, const char *what, struct str *out)
{
    if (g->sums.n > 1) {
        qsort(g->sums.v, g->sums.n, sizeof *g->sums.v, by_name);
        str_append(out, "\n");
        words_left(out, what, 24);
        str_append(out, "     jobs  mean wait  most of it\n");
        for (size_t i = 0; i < g->sums.n; i++) {
            const struct wait_sums *s = &g->sums.v[i];
            words_left(out, *s->name ? s->name : "(none)", 24);
            number_cell(out, (double)s->jobs, 8);
            amount_cell(out, (double)s->all / 1e9 / (double)s->jobs, 10);
            int top = top_of(s);
            str_append(out, "  ");
            if (s->all) {
                words_name(out, wait_table[top].name);
                str_printf(out, " (%.0f %%)", 100 * (double)s->reason[top] / (double)s->all);
            } else
                str_append(out, "-");
            str_append(out, "\n");
        }
    }
    intern_free(&g->names);
    array_free(&g->sums);
}

static int by_wait(const void *left, const void *right)
{
    const struct job_row *a = *(const struct job_row *const *)left, *b = *(const struct job_row *const *)right;
    int64_t x = wait_sum(a), y = wait_sum(b);
    if (x != y) return x > y ? -1 : 1;
    return a < b ? -1 : a > b;
}

static void longest_waits(const struct run *r, struct str *out)
{
    const struct job_row **rows = xcalloc(r->n_jobs + 1, sizeof *rows);
    char buf[24];
    for (size_t i = 0; i < r->n_jobs; i++) rows[i] = &r->jobs[i].row;
    if (r->n_jobs) qsort(rows, r->n_jobs, sizeof *rows, by_wait);
    if (r->n_jobs && wait_sum(rows[0]))
        str_append(out, "\nLongest waits           GPUs       wait  state       most of it\n");
    for (size_t i = 0; i < r->n_jobs && i < LONGEST && wait_sum(rows[i]); i++) {
        int top = top_reason(rows[i]->wait_ns);
        words_left(out, job_row_id(rows[i], buf), 20);
        number_cell(out, (double)rows[i]->gpu_shares / 1000, 7);
        amount_cell(out, (double)wait_sum(rows[i]) / 1e9, 10);
        str_append(out, "  ");
        words_left(out, job_state_names[rows[i]->state], 12);
        words_name(out, wait_table[top].name);
        str_append(out, "\n");
    }
    free(rows);
}

static void waits(const struct run *r, struct str *out)
{
    struct wait_sums all = {0};
    struct wait_groups queues = {0}, teams = {0};
    for (size_t i = 0; i < r->n_jobs; i++) {
        add_waits(&all, &r->jobs[i].row);
        add_to(&queues, r->jobs[i].row.queue, &r->jobs[i].row);
        add_to(&teams, r->jobs[i].row.team, &r->jobs[i].row);
    }
    waits_table(&all, out);
    groups_table(&queues, "Queue", out);
    groups_table(&teams, "Team", out);
    longest_waits(r, out);
}

/* ---- standstill ---- */

struct hold { /* a partial hold that has begun */
    int64_t since_ns, held, wanted;
};

static void hold_line(struct str *out, const struct job_index *x, int32_t job, const struct hold *h, int64_t end_ns)
{
    char buf[24];
    str_printf(out, "  job %s held ", job_row_id(job_index_row(x, job), buf));
    words_gpus(out, h->held);
    str_append(out, " of ");
    words_gpus(out, h->wanted);
    str_append(out, " GPUs from ");
    units_format_duration(out, h->since_ns);
    if (end_ns < 0)
        str_append(out, " on, to the end of the run\n");
    else {
        str_append(out, " for ");
        words_amount(out, "s", (double)(end_ns - h->since_ns) / 1e9);
        str_append(out, "\n");
    }
}

static void partial_holds(const struct run *r, const struct job_index *x, struct str *out)
{
    struct hold *open = xcalloc(x->n + 1, sizeof *open);
    struct record rec;
    size_t listed = 0;
    char *err = NULL;
    struct timeline_reader *t = timeline_open(r->dir, &err);
    while (t && timeline_next(t, &rec)) {
        if (rec.type != REC_PARTIAL_HOLD || rec.job < 0 || (size_t)rec.job >= x->n) continue;
        struct hold *h = &open[rec.job];
        bool begins = rec.code == 1;
        if (!begins && h->wanted && rec.time_ns > h->since_ns && listed++ < STUCK_LISTED) {
            if (listed == 1) str_append(out, "\nGPUs held by gangs that were not complete\n");
            hold_line(out, x, rec.job, h, rec.time_ns);
        }
        *h = begins ? (struct hold){rec.time_ns, rec.a, rec.b} : (struct hold){0};
    }
    for (size_t j = 0; j < x->n; j++) {
        if (!open[j].wanted || listed++ >= STUCK_LISTED) continue;
        if (listed == 1) str_append(out, "\nGPUs held by gangs that were not complete\n");
        hold_line(out, x, (int32_t)j, &open[j], -1);
    }
    if (listed > STUCK_LISTED) str_printf(out, "  and %zu more times\n", listed - STUCK_LISTED);
    if (t) timeline_close(t);
    free(err);
    free(open);
}

static void no_progress(const struct run *r, const struct job_index *x, struct str *out)
{
    struct record rec;
    size_t listed = 0;
    char buf[24], *err = NULL;
    struct timeline_reader *t = timeline_open(r->dir, &err);
    while (t && timeline_next(t, &rec)) {
        if (rec.type != REC_NO_PROGRESS) continue;
        if (listed++ == 0) {
            str_append(out, "\nNothing could progress any more at ");
            units_format_duration(out, rec.time_ns);
            str_append(out, "\n");
        }
        if (listed > STUCK_LISTED) continue;
        str_printf(out, "  job %s: %s", job_row_id(job_index_row(x, rec.job), buf),
                   rec.a >= 0 && rec.a < N_WAIT_REASONS ? wait_table[rec.a].help : "it runs, but no rank steps");
        if (rec.b >= 0) str_printf(out, "; held by job %s", job_row_id(job_index_row(x, (int32_t)rec.b), buf));
        str_append(out, "\n");
    }
    if (listed > STUCK_LISTED) str_printf(out, "  and %zu more jobs\n", listed - STUCK_LISTED);
    if (t) timeline_close(t);
    free(err);
}

static void standstill(const struct run *r, struct str *out)
{
    struct job_index x;
    char *err = NULL;
    if (r->record_level == RECORD_NONE || !job_index_read(r, &x, &err)) {
        free(err);
        return;
    }
    partial_holds(r, &x, out);
    no_progress(r, &x, out);
    job_index_free(&x);
}

/* ---- the whole ---- */

static void head(const struct run *r, struct str *out)
{
    struct str s = {0};
    str_printf(&s, "%s under %s, replication %u, seed %llu: %s", r->scenario_name, r->approach, r->replication,
               (unsigned long long)r->seed, run_state_names[r->state]);
    if (r->end_ns >= 0) {
        str_append(&s, " after ");
        units_format_duration(&s, r->end_ns);
    }
    str_printf(&s, "; %zu jobs; trainyard %s on %s", r->n_jobs, r->version, r->back_end);
    words_wrapped(out, str_text(&s), 2, WIDTH);
    str_append(out, "\n");
    str_free(&s);
}

static void key_figures(const struct run *r, struct str *out)
{
    static const char *const shown[] = {"p50_wait", "p95_wait", "mean_jct", "utilisation", "goodput", "unfinished"};
    str_append(out, " ");
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        size_t m = (size_t)metric_find(shown[i]);
        struct metric_value v = metric_of(r, m);
        str_printf(out, " %s %s", shown[i], v.bound ? ">= " : "");
        words_amount(out, metric_at(m)->unit, v.value);
        str_append(out, i + 1 < sizeof shown / sizeof *shown ? "," : "\n");
    }
}

void explain_run(const struct run *r, struct str *out)
{
    struct cells c;
    sum_cells(r, &c);
    head(r, out);
    key_figures(r, out);
    standstill(r, out);
    gpu_time(&c, out);
    what_keeps_it_low(&c, out);
    waits(r, out);
}
