/* tables.c - see tables.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/report/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "run/decimal.h"
#include "study/job_index.h"
#include "study/words.h"
#include "viz/report/html.h"

typedef ARRAY(const char *) heads;

static void number(struct str *out, double value, const char *unit)
{
    struct str s = {0};
    words_amount(&s, unit, value);
    html_number(out, value, str_text(&s));
    str_free(&s);
}

static void name_head(struct str *out, const char *name)
{
    struct str s = {0};
    words_name(&s, name);
    html_head_cell(out, str_text(&s));
    str_free(&s);
}

/* The name of an approach as the head of a column of numbers. */
static const char *number_head(struct arena *a, const char *name)
{
    return arena_printf(a, "#%s", name);
}

/* ---- metrics ---- */

static void metric_value_cells(struct str *out, const struct report_approach *a, size_t m, bool with_interval)
{
    const struct report_metric *v = &a->metrics[m];
    const char *unit = metric_at(m)->unit;
    struct str s = {0};
    if (a->runs.bound[m] && isfinite(v->mean)) str_append(&s, "\xe2\x89\xa5 ");
    words_amount(&s, unit, v->mean);
    html_number(out, v->mean, str_text(&s));
    str_clear(&s);
    if (with_interval) {
        struct scale u = words_scale(unit, fmax(fabs(v->interval.low), fabs(v->interval.high)));
        if (v->interval.known) {
            words_number(&s, v->interval.low * u.factor);
            str_append(&s, " to ");
            words_number(&s, v->interval.high * u.factor);
            str_append(&s, u.unit);
        }
        html_number(out, v->interval.known ? v->interval.low : NAN, str_text(&s));
    }
    str_free(&s);
}

static const char *verdict_class(const struct paired *p, enum metric_better better)
{
    bool shown = p->verdict == VERDICT_LESS || p->verdict == VERDICT_MORE;
    if (!shown || better == BETTER_NEITHER) return "none";
    return (p->verdict == VERDICT_LESS) == (better == BETTER_LESS) ? "better" : "worse";
}

static const char *verdict_words(const struct paired *p, enum metric_better better)
{
    if (p->verdict == VERDICT_NONE) return "no difference shown";
    if (p->verdict == VERDICT_SAME || p->mean == 0) return "same";
    if (p->verdict == VERDICT_UNKNOWN) return "one run, no interval";
    if (better == BETTER_NEITHER) return p->verdict == VERDICT_LESS ? "less" : "more";
    return verdict_class(p, better);
}

static void difference_cells(struct str *out, const struct paired *p, const char *unit, enum metric_better better)
{
    struct str s = {0};
    double size = fabs(p->mean);
    if (p->difference.known) size = fmax(size, fmax(fabs(p->difference.low), fabs(p->difference.high)));
    struct scale u = words_difference_scale(unit, size);
    words_signed_number(&s, p->mean * u.factor);
    if (p->mean != 0 && isfinite(p->mean)) str_append(&s, u.unit);
    html_number(out, p->mean, str_text(&s));
    str_clear(&s);
    if (p->difference.known) {
        words_signed_number(&s, p->difference.low * u.factor);
        str_append(&s, " to ");
        words_signed_number(&s, p->difference.high * u.factor);
        str_append(&s, u.unit);
    }
    html_number(out, p->difference.known ? p->difference.low : NAN, str_text(&s));
    str_printf(out, "<td class=\"%s\">%s</td>", verdict_class(p, better), verdict_words(p, better));
    str_free(&s);
}

static bool is_nothing(const struct report *r, size_t m)
{
    for (size_t i = 0; i < r->n_approaches; i++)
        if (isfinite(r->approaches[i].metrics[m].mean) && r->approaches[i].metrics[m].mean != 0) return false;
    return true;
}

void table_metrics(const struct report *r, const struct compare *c, struct str *out)
{
    struct arena arena = {0};
    bool intervals = r->n_approaches == 1 && r->approaches[0].runs.n > 1; /* of several approaches those of the differences matter */
    heads h = {0};
    array_push(&h, "metric");
    for (size_t i = 0; i < r->n_approaches; i++) {
        array_push(&h, number_head(&arena, r->approaches[i].runs.name));
        if (intervals) array_push(&h, "#95 % interval");
    }
    if (r->n_approaches == 2) {
        array_push(&h, "#difference");
        array_push(&h, "#95 % interval");
        array_push(&h, "verdict");
    }
    array_push(&h, "what it is");
    html_table(out, "table-metrics", "Metrics: means over the replications", h.v, (unsigned)h.n);
    for (size_t m = 0; m < metric_count(); m++) {
        if (is_nothing(r, m)) continue;
        html_row(out);
        name_head(out, metric_at(m)->name);
        for (size_t i = 0; i < r->n_approaches; i++) metric_value_cells(out, &r->approaches[i], m, intervals);
        if (r->n_approaches == 2) difference_cells(out, &c->pairs[0].metrics[m], metric_at(m)->unit, metric_at(m)->better);
        str_append(out, "<td class=\"w\">");
        html_text(out, metric_at(m)->help);
        str_append(out, "</td>");
        html_row_end(out);
    }
    html_table_end(out);
    array_free(&h);
    arena_free(&arena);
}

/* ---- ledgers ---- */

static void begin_by_approach(const struct report *r, const char *id, const char *caption, const char *const *first, unsigned n_first,
                              const char *const *each, unsigned n_each, struct str *out)
{
    struct arena arena = {0};
    heads h = {0};
    for (unsigned i = 0; i < n_first; i++) array_push(&h, first[i]);
    for (size_t i = 0; i < r->n_approaches; i++)
        for (unsigned k = 0; k < n_each; k++) array_push(&h, arena_printf(&arena, "#%s%s%s", r->n_approaches > 1 ? r->approaches[i].runs.name : "", r->n_approaches > 1 ? ": " : "", each[k]));
    html_table(out, id, caption, h.v, (unsigned)h.n);
    array_free(&h);
    arena_free(&arena);
}

static void exact_gpu_s(struct str *out, share_ns sum)
{
    char text[DECIMAL_GPU_S_BYTES + 1];
    text[decimal_put_gpu_s(text, sum)] = '\0';
    html_number(out, decimal_gpu_s(sum), text);
}

static void gpu_cells(struct str *out, const struct account *a, share_ns sum)
{
    double all = decimal_gpu_s(a->all);
    number(out, decimal_gpu_s(sum) / 3600, "GPU-h");
    number(out, all > 0 ? decimal_gpu_s(sum) / all : NAN, "ratio");
    exact_gpu_s(out, sum);
}

void table_gpu(const struct report *r, struct str *out)
{
    static const char *const first[] = {"state", "class"}, *const each[] = {"GPU-hours", "of all", "exact GPU-seconds"};
    begin_by_approach(r, "table-gpu", "Where the GPU time went: sums over all replications", first, 2, each, 3, out);
    for (int class = 0; class < N_GPU_CLASSES; class++)
        for (int cell = 0; cell < 2 * N_ACTIVITIES; cell++) {
            bool any = false;
            if (gpu_class_of((enum activity)(cell / 2), cell % 2) != (enum gpu_class)class) continue;
            for (size_t i = 0; i < r->n_approaches; i++) any |= r->approaches[i].account.cells[cell / 2][cell % 2] != 0;
            if (!any) continue;
            html_row(out);
            name_head(out, activity_table[cell / 2].name);
            html_cell(out, gpu_class_names[class]);
            for (size_t i = 0; i < r->n_approaches; i++) gpu_cells(out, &r->approaches[i].account, r->approaches[i].account.cells[cell / 2][cell % 2]);
            html_row_end(out);
        }
    html_row(out);
    html_head_cell(out, "all");
    html_cell(out, "");
    for (size_t i = 0; i < r->n_approaches; i++) gpu_cells(out, &r->approaches[i].account, r->approaches[i].account.all);
    html_row_end(out);
    html_table_end(out);
}

void table_waits(const struct report *r, struct str *out)
{
    static const char *const first[] = {"reason"}, *const each[] = {"hours of jobs", "of all", "jobs", "longest"};
    begin_by_approach(r, "table-waits", "What jobs waited for: sums over all replications", first, 1, each, 4, out);
    for (int w = 0; w < N_WAIT_REASONS; w++) {
        bool any = false;
        for (size_t i = 0; i < r->n_approaches; i++) any |= r->approaches[i].account.waits.reason[w] != 0;
        if (!any) continue;
        html_row(out);
        struct str s = {0};
        words_name(&s, wait_table[w].name);
        str_printf(&s, ": %s", wait_table[w].help);
        html_head_cell(out, str_text(&s));
        for (size_t i = 0; i < r->n_approaches; i++) {
            const struct wait_sums *sums = &r->approaches[i].account.waits;
            double hours = (double)sums->reason[w] / 3600e9;
            str_clear(&s);
            words_number(&s, hours);
            html_number(out, hours, str_text(&s));
            number(out, sums->all > 0 ? (double)sums->reason[w] / (double)sums->all : NAN, "ratio");
            number(out, (double)sums->hit[w], "jobs");
            number(out, (double)sums->longest[w] / 1e9, "s");
        }
        str_free(&s);
        html_row_end(out);
    }
    html_table_end(out);
}

/* ---- queues and teams ---- */

static const struct wait_sums *waits_named(const struct account *a, int by, const char *name)
{
    const struct wait_groups *g = by == USE_BY_QUEUE ? &a->queues : &a->teams;
    for (size_t i = 0; i < g->sums.n; i++)
        if (!strcmp(g->sums.v[i].name ? g->sums.v[i].name : "", name)) return &g->sums.v[i];
    return NULL;
}

static void use_row(const struct account *a, int by, const struct gpu_use *u, struct str *out)
{
    const struct wait_sums *w = waits_named(a, by, u->name ? u->name : "");
    html_row(out);
    html_head_cell(out, u->name && *u->name ? u->name : "(none)");
    number(out, decimal_gpu_s(gpu_use_busy(u)) / 3600, "GPU-h");
    number(out, decimal_gpu_s(u->class[GPU_WORK]) / 3600, "GPU-h");
    number(out, decimal_gpu_s(u->class[GPU_REDONE]) / 3600, "GPU-h");
    number(out, decimal_gpu_s(u->class[GPU_HELD]) / 3600, "GPU-h");
    number(out, w ? (double)w->jobs : NAN, "jobs");
    number(out, w && w->jobs ? (double)w->all / 1e9 / (double)w->jobs : NAN, "s");
    number(out, w ? (double)w->longest_sum / 1e9 : NAN, "s");
    struct str s = {0};
    if (w && w->all > 0) words_name(&s, wait_table[wait_sums_top(w)].name);
    html_cell(out, str_text(&s));
    str_free(&s);
    html_row_end(out);
}

void table_uses(const struct report *r, size_t approach, struct str *out)
{
    static const char *const h[] = {"name", "#busy", "#work", "#redone", "#held", "#jobs", "#mean wait", "#longest", "most of it"};
    const struct report_approach *a = &r->approaches[approach];
    for (int by = USE_BY_QUEUE; by <= USE_BY_TEAM; by++) {
        struct str id = {0}, caption = {0};
        str_printf(&id, "table-%s-%zu", use_by_names[by], approach);
        str_printf(&caption, "By %s%s%s", use_by_names[by], r->n_approaches > 1 ? " under " : "", r->n_approaches > 1 ? a->runs.name : "");
        html_table(out, str_text(&id), str_text(&caption), h, sizeof h / sizeof *h);
        for (size_t i = 0; i < a->account.uses[by].uses.n; i++) use_row(&a->account, by, &a->account.uses[by].uses.v[i], out);
        html_table_end(out);
        str_free(&id);
        str_free(&caption);
    }
}

void table_teams(const struct compare *c, struct str *out)
{
    static const char *const h[] = {"team", "#jobs", "#wait", "#95 % interval", "verdict", "#to the end", "#95 % interval", "verdict"};
    for (size_t i = 0; i + 1 < c->n_approaches; i++) {
        const struct compare_pair *p = &c->pairs[i];
        struct str id = {0}, caption = {0};
        if (p->n_teams < 2) continue;
        str_printf(&id, "table-teams-%zu", i);
        str_printf(&caption, "Teams: what %s changes against %s, for jobs that ended under both", c->approaches[p->other].name, c->approaches[0].name);
        html_table(out, str_text(&id), str_text(&caption), h, sizeof h / sizeof *h);
        for (size_t t = 0; t < p->n_teams; t++) {
            html_row(out);
            html_head_cell(out, *p->teams[t].team ? p->teams[t].team : "(none)");
            number(out, (double)p->teams[t].jobs, "jobs");
            difference_cells(out, &p->teams[t].wait, "s", BETTER_LESS);
            difference_cells(out, &p->teams[t].jct, "s", BETTER_LESS);
            html_row_end(out);
        }
        html_table_end(out);
        str_free(&id);
        str_free(&caption);
    }
}

/* ---- jobs ---- */

static int64_t wait_of(const struct job_row *j, int64_t end_ns)
{
    return (j->started_ns >= 0 ? j->started_ns : j->finished_ns >= 0 ? j->finished_ns : end_ns) - j->submit_ns;
}

struct waited { int64_t wait_ns; const struct run_job_view *job; };

static int by_wait(const void *left, const void *right)
{
    const struct waited *a = left, *b = right;
    if (a->wait_ns != b->wait_ns) return a->wait_ns < b->wait_ns ? 1 : -1;
    return a->job < b->job ? -1 : 1;
}

static int top_reason(const int64_t *waits)
{
    int top = 0;
    for (int w = 1; w < N_WAIT_REASONS; w++)
        if (waits[w] > waits[top]) top = w;
    return top;
}

static void job_row(const struct waited *w, struct str *out)
{
    const struct job_row *j = &w->job->row;
    char buffer[24];
    struct str s = {0};
    html_row(out);
    html_head_cell(out, job_row_id(j, buffer));
    html_cell(out, job_state_names[j->state]);
    html_cell(out, j->team ? j->team : "");
    html_cell(out, j->queue ? j->queue : "");
    words_gpus(&s, j->gpu_shares);
    html_number(out, (double)j->gpu_shares / 1000, str_text(&s));
    str_clear(&s);
    if (j->started_ns < 0) str_append(&s, "\xe2\x89\xa5 ");
    words_amount(&s, "s", (double)w->wait_ns / 1e9);
    html_number(out, (double)w->wait_ns / 1e9, str_text(&s));
    number(out, j->finished_ns >= 0 ? (double)(j->finished_ns - j->submit_ns) / 1e9 : NAN, "s");
    number(out, j->restarts, "1");
    number(out, j->preemptions, "1");
    str_clear(&s);
    if (w->wait_ns > 0) words_name(&s, wait_table[top_reason(w->job->waits)].name);
    html_cell(out, str_text(&s));
    str_free(&s);
    html_row_end(out);
}

static void not_listed(const struct run *run, size_t listed, struct str *out)
{
    struct str s = {0};
    if (listed == run->n_jobs) return;
    words_number(&s, (double)(run->n_jobs - listed));
    str_append(&s, " jobs that waited less are not listed. All ");
    words_number(&s, (double)run->n_jobs);
    str_printf(&s, " are in %s/jobs.csv, or in one table with trainyard export --to csv.", run->dir);
    html_element(out, "p class=\"note\"", str_text(&s));
    str_free(&s);
}

void table_jobs(const struct run *run, const char *name, size_t approach, size_t listed, struct str *out)
{
    static const char *const h[] = {"job", "state", "team", "queue", "#GPUs", "#wait", "#to the end", "#restarts", "#preemptions", "most of its waits"};
    struct waited *w = xcalloc(run->n_jobs + 1, sizeof *w);
    struct str id = {0}, caption = {0};
    for (size_t i = 0; i < run->n_jobs; i++) w[i] = (struct waited){wait_of(&run->jobs[i].row, run->end_ns), &run->jobs[i]};
    qsort(w, run->n_jobs, sizeof *w, by_wait);
    size_t n = run->n_jobs < listed ? run->n_jobs : listed;
    str_printf(&id, "table-jobs-%zu", approach);
    str_printf(&caption, "The %zu of ", n);
    words_number(&caption, (double)run->n_jobs);
    str_printf(&caption, " jobs that waited longest under %s, replication %u", name, run->replication);
    html_table(out, str_text(&id), str_text(&caption), h, sizeof h / sizeof *h);
    for (size_t i = 0; i < n; i++) job_row(&w[i], out);
    html_table_end(out);
    not_listed(run, n, out);
    str_free(&id);
    str_free(&caption);
    free(w);
}
