/* explain_run.c - where the GPU time of a run went, and why its jobs waited.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "run/metrics.h"
#include "study/account.h"
#include "study/diagnose.h"
#include "study/explain.h"
#include "study/job_index.h"
#include "study/words.h"

enum { WIDTH = 100, LONGEST = 10, STUCK_LISTED = 20 };

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

/* ---- waits ---- */

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
        words_number_cell(out, (double)rows[i]->gpu_shares / 1000, 7);
        words_amount_cell(out, "s", (double)wait_sum(rows[i]) / 1e9, 10);
        str_append(out, "  ");
        words_left(out, job_state_names[rows[i]->state], 12);
        words_name(out, wait_table[top].name);
        str_append(out, "\n");
    }
    free(rows);
}

/* ---- standstill ---- */

struct hold { /* a partial hold that has begun */
    int64_t since_ns, held, wanted; /* wanted: still, beside what it holds */
};

static void hold_line(struct str *out, const struct job_index *x, int32_t job, const struct hold *h, int64_t end_ns)
{
    char buf[24];
    str_printf(out, "  job %s held ", job_row_id(job_index_row(x, job), buf));
    words_gpus(out, h->held);
    str_append(out, " of ");
    words_gpus(out, h->held + h->wanted);
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
                   rec.code == 1 ? "it restarts again and again and comes to no step that is new"
                   : rec.a >= 0 && rec.a < N_WAIT_REASONS ? wait_table[rec.a].help : "it runs, but no rank steps");
        if (rec.b >= 0) str_printf(out, "; GPUs are held by job %s", job_row_id(job_index_row(x, (int32_t)rec.b), buf));
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
    str_printf(&s, "; %zu job%s; trainyard %s on %s", r->n_jobs, r->n_jobs == 1 ? "" : "s", r->version, r->back_end);
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
    struct account a = {0};
    struct diagnosis d;
    account_add(&a, r);
    diagnose_run(r, &d);
    head(r, out);
    key_figures(r, out);
    standstill(r, out);
    account_gpu_text(&a, out);
    diagnosis_text(&d, out);
    account_waits_text(&a, out);
    longest_waits(r, out);
    account_free(&a);
    diagnosis_free(&d);
}
