/* compare_text.c - a comparison for people: plain words first, then the tables that they come from.
 *
 * At most 100 columns; units by size; signs of differences are other minus base.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "study/compare.h"
#include "study/compare_words.h"
#include "study/words.h"

enum { WIDTH = 100, NAME = 24, VALUE = 13, RANGE = 21, CHANGE = 9, TEAMS_SHOWN = 10 };

static const char *base_name(const struct compare *c)
{
    return c->approaches[0].name;
}

static const char *other_name(const struct compare *c, const struct compare_pair *p)
{
    return c->approaches[p->other].name;
}

/* ---- header ---- */

static void header_line(const struct compare *c, struct str *out)
{
    const struct approach_runs *a = &c->approaches[0];
    struct str s = {0};
    str_printf(&s, "%zu replication%s", c->n_replications, c->n_replications == 1 ? "" : "s");
    if (!c->unpaired) str_printf(&s, " with seed %llu, paired", (unsigned long long)a->seed);
    str_append(&s, "; ");
    words_number(&s, round(a->gpus * 1000) / 1000);
    str_append(&s, " GPUs, ");
    words_number(&s, round(a->jobs));
    str_printf(&s, " jobs%s; trainyard %s on %s", c->n_replications > 1 ? " on average" : "", a->version, a->back_end);
    str_append(out, "  ");
    words_wrapped(out, str_text(&s), 2, WIDTH);
    str_append(out, "\n");
    str_free(&s);
}

static void note(struct str *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void note(struct str *out, const char *fmt, ...)
{
    struct str s = {0};
    va_list args;
    va_start(args, fmt);
    str_vprintf(&s, fmt, args);
    va_end(args);
    str_append(out, "  note: ");
    words_wrapped(out, str_text(&s), 8, WIDTH);
    str_append(out, "\n");
    str_free(&s);
}

static bool replications_are_equal(const struct approach_runs *a)
{
    for (size_t m = 0; m < metric_count(); m++)
        for (size_t k = 1; k < a->n; k++) {
            double first = a->values[m * a->n], x = a->values[m * a->n + k];
            if (x != first && !(isnan(x) && isnan(first))) return false;
        }
    return true;
}

static bool nothing_is_random(const struct compare *c)
{
    for (size_t i = 0; i < c->n_approaches; i++)
        if (!replications_are_equal(&c->approaches[i])) return false;
    return c->n_replications > 1;
}

static void notes(const struct compare *c, struct str *out)
{
    const struct approach_runs *base = &c->approaches[0];
    if (c->n_replications == 1)
        note(out, "one replication: no interval can be given. The figures are what happened in this one; whether they "
                  "would again, only more replications can tell.");
    if (nothing_is_random(c))
        note(out, "all replications are equal, since nothing in this scenario is drawn at random: the intervals have no "
                  "width and say nothing of how other jobs would fare.");
    if (c->unpaired)
        note(out, "the runs have different seeds or replications, so their differences hold chance that pairing would "
                  "have cancelled.");
    if (c->left_out) note(out, "%zu runs left out, since not all approaches have their replication.", c->left_out);
    for (size_t i = 0; i < c->n_approaches; i++) {
        const struct approach_runs *a = &c->approaches[i];
        if (a->not_complete) note(out, "%zu runs of %s did not come to their end.", a->not_complete, a->name);
        if (a->patches_cluster)
            note(out, "%s changes the cluster itself, not only how it is used.", a->name);
        else if (fabs(a->gpus - base->gpus) > 1e-6 * base->gpus)
            note(out, "%s has %.6g GPUs, %s %.6g: not the same cluster.", a->name, a->gpus, base->name, base->gpus);
        if (strcmp(a->scenario, base->scenario)) note(out, "%s is of another scenario: %s.", a->name, a->scenario);
    }
}

static void header(const struct compare *c, struct str *out)
{
    str_printf(out, "%s: %s", c->approaches[0].scenario, base_name(c));
    for (size_t i = 1; i < c->n_approaches; i++)
        str_printf(out, "%s %s", i == 1 ? " (base) and" : ",", c->approaches[i].name);
    str_append(out, "\n");
    header_line(c, out);
    for (size_t i = 0; i < c->n_approaches; i++)
        str_printf(out, "  %s: scenario hash %s\n", c->approaches[i].name, c->approaches[i].hash);
    notes(c, out);
}

/* ---- tables ---- */

static void rule(struct str *out, const char *title)
{
    str_printf(out, "\n%s\n", title);
}

static void head(struct str *out, const char *first, const char *const *names, const size_t *widths, size_t n)
{
    words_left(out, first, NAME);
    for (size_t i = 0; i < n; i++) {
        char cut[64];
        snprintf(cut, sizeof cut, "%.*s", (int)widths[i], names[i]);
        str_append(out, " ");
        words_right(out, cut, widths[i]);
    }
    str_append(out, "\n");
}

/* The unit in which a difference and both ends of its interval are said. */
static struct scale scale_of(const char *unit, const struct paired *d)
{
    double size = fabs(d->mean);
    if (d->difference.known) size = fmax(size, fmax(fabs(d->difference.low), fabs(d->difference.high)));
    return words_difference_scale(unit, size);
}

/* Difference, interval and change in percent of one figure. */
static void difference_cells(struct str *out, const struct paired *d, const struct scale *u, const char *unit_shown)
{
    struct str s = {0};
    words_signed_number(&s, d->mean * u->factor);
    if (d->mean != 0 && isfinite(d->mean)) str_append(&s, unit_shown);
    words_cell(out, &s, VALUE);
    if (d->difference.known) {
        words_signed_number(&s, d->difference.low * u->factor);
        str_append(&s, " to ");
        words_signed_number(&s, d->difference.high * u->factor);
    } else
        str_append(&s, "-");
    words_cell(out, &s, RANGE);
    str_free(&s);
}

static void change_cell(struct str *out, const struct paired *d)
{
    struct str s = {0};
    double percent = (d->ratio_mean - 1) * 100;
    if (d->verdict == VERDICT_NONE) str_append(&s, "~ ");
    if (d->n == 0 || !isfinite(percent))
        str_append(&s, "-");
    else if (d->verdict == VERDICT_SAME || d->mean == 0)
        str_append(&s, "same");
    else if (percent >= 1000)
        str_printf(&s, "x%.3g", d->ratio_mean);
    else if (fabs(percent) < 0.05)
        str_append(&s, "0.0 %");
    else
        str_printf(&s, "%+.1f %%", percent);
    words_cell(out, &s, CHANGE);
    str_free(&s);
}

static void value_cell(struct str *out, const struct approach_runs *a, size_t m, double mean)
{
    struct str s = {0};
    if (a->bound[m] && isfinite(mean)) str_append(&s, ">= ");
    words_amount(&s, metric_at(m)->unit, mean);
    words_cell(out, &s, VALUE);
    str_free(&s);
}

static const char *const shown_metrics[] = {
    "mean_wait", "p50_wait",     "p95_wait",    "p99_wait", "mean_jct", "p50_jct",
    "p95_jct",   "p95_slowdown", "makespan",    "finished", "failed",   "unfinished",
    "restarts",  "preemptions",  "utilisation", "goodput",  "waste",
};

/* How the intervals of this table came about. */
static void method_line(struct str *out, const struct compare_pair *p)
{
    bool bootstrap = false, few = false;
    for (size_t m = 0; m < metric_count(); m++) {
        bootstrap |= p->metrics[m].method == METHOD_BOOTSTRAP;
        few |= metric_is_quantile(m) && p->metrics[m].difference.known && p->metrics[m].method == METHOD_STUDENT;
    }
    if (!bootstrap && !few) return;
    str_append(out, "  ");
    if (bootstrap)
        words_wrapped(out, "intervals: Student's t over the replications; of quantiles (p50, p95, p99) a paired bootstrap "
                           "over them, since they are skewed", 2, WIDTH);
    else
        words_wrapped(out, "intervals: Student's t over the replications, of quantiles too: a bootstrap needs 8 replications "
                           "at least", 2, WIDTH);
    str_append(out, "\n");
}

static void metrics_table(struct str *out, const struct compare *c, const struct compare_pair *p)
{
    const char *names[] = {base_name(c), other_name(c, p), "difference", "95 % interval", "change"};
    const size_t widths[] = {VALUE, VALUE, VALUE, RANGE, CHANGE};
    str_append(out, "\n");
    head(out, "Metric", names, widths, 5);
    for (size_t i = 0; i < sizeof shown_metrics / sizeof *shown_metrics; i++) {
        size_t m = (size_t)metric_find(shown_metrics[i]);
        const struct paired *d = &p->metrics[m];
        struct scale u = scale_of(metric_at(m)->unit, d);
        if (d->n == 0 || (d->mean_a == 0 && d->mean_b == 0)) continue;
        words_left(out, shown_metrics[i], NAME);
        value_cell(out, &c->approaches[0], m, d->mean_a);
        value_cell(out, &c->approaches[p->other], m, d->mean_b);
        difference_cells(out, d, &u, !strcmp(u.unit, " points") ? " pt" : u.unit);
        change_cell(out, d);
        str_append(out, "\n");
    }
    str_append(out, "  ");
    words_wrapped(
        out,
        "wait: submission to first step; jct: submission to end; slowdown: jct over the time that its work needs "
        "alone; p95: 95 of 100 jobs have less; goodput: GPU time of work that is kept; waste: held, done twice "
        "or of failed jobs; ~ no difference shown; >= lower bound, since some jobs had not ended",
        2, WIDTH);
    str_append(out, "\n");
    method_line(out, p);
}

/* One row of the GPU ledger. */
static void gpu_row(struct str *out, const char *name, size_t indent, const struct gpu_part *g,
                    const struct gpu_part *all)
{
    struct str s = {0};
    const struct scale hours = {"", 1};
    double base_all = all->hours.mean_a, other_all = all->hours.mean_b;
    str_append_repeat(&s, ' ', indent);
    words_name(&s, name);
    words_left(out, str_text(&s), NAME);
    str_clear(&s);
    words_number_cell(out, g->hours.mean_a, 10);
    str_printf(&s, "%.2f", base_all > 0 ? 100 * g->hours.mean_a / base_all : 0);
    words_cell(out, &s, 7);
    words_number_cell(out, g->hours.mean_b, 10);
    str_printf(&s, "%.2f", other_all > 0 ? 100 * g->hours.mean_b / other_all : 0);
    words_cell(out, &s, 7);
    difference_cells(out, &g->hours, &hours, "");
    str_append(out, "\n");
    str_free(&s);
}

static void gpu_table(struct str *out, const struct compare *c, const struct compare_pair *p)
{
    const char *names[] = {base_name(c), "%", other_name(c, p), "%", "difference", "95 % interval"};
    const size_t widths[] = {10, 7, 10, 7, VALUE, RANGE};
    static const char *const class_words[N_GPU_CLASSES] = {
        "idle", "held, not working", "work", "work done again", "down", "absent"};
    rule(out, "Where the GPU time goes (GPU-hours a replication; the parts add up to the whole, exactly)");
    head(out, "", names, widths, 6);
    for (int class = 0; class < N_GPU_CLASSES; class ++) {
        if (!p->class_sum[class].base && !p->class_sum[class].other) continue;
        gpu_row(out, class_words[class], 0, &p->class_sum[class], &p->gpu_sum);
        for (size_t i = 0; i < p->n_gpu; i++)
            if (gpu_class_of(p->gpu[i].activity, p->gpu[i].redone) == (enum gpu_class) class)
                gpu_row(out, activity_table[p->gpu[i].activity].name, 2, &p->gpu[i], &p->gpu_sum);
    }
    gpu_row(out, "all", 0, &p->gpu_sum, &p->gpu_sum);
}

static void jct_row(struct str *out, const char *name, const struct paired *d)
{
    struct scale u = scale_of("s", d);
    words_name_cell(out, name, NAME);
    words_amount_cell(out, "s", d->mean_a, VALUE);
    words_amount_cell(out, "s", d->mean_b, VALUE);
    difference_cells(out, d, &u, u.unit);
    str_append(out, "\n");
}

static void matches_lines(struct str *out, const struct compare *c, const struct compare_pair *p)
{
    const struct compare_matches *m = &p->matches;
    const char *a = base_name(c), *b = other_name(c, p);
    if (m->ended_in_base_only || m->ended_in_other_only || m->ended_in_neither)
        str_printf(out, "  not in it: %zu jobs that ended only under %s, %zu only under %s, %zu under neither\n",
                   m->ended_in_base_only, a, m->ended_in_other_only, b, m->ended_in_neither);
    if (m->in_one_run_only)
        str_printf(out, "  not in it: %zu jobs that only one of the two runs has\n", m->in_one_run_only);
    if (m->other_outcome)
        str_printf(out, "  %zu of the jobs ended otherwise: succeeded under one, failed under the other\n",
                   m->other_outcome);
}

static void jct_table(struct str *out, const struct compare *c, const struct compare_pair *p)
{
    const char *names[] = {base_name(c), other_name(c, p), "difference", "95 % interval"};
    const size_t widths[] = {VALUE, VALUE, VALUE, RANGE};
    struct str title = {0};
    str_append(&title, "Where a job's time goes, from submission to end (mean of ");
    words_number(&title, (double)p->matches.ended_in_both / (double)c->n_replications);
    str_append(&title, " jobs a replication that ended under both)");
    if (p->matches.ended_in_both) {
        rule(out, str_text(&title));
        head(out, "", names, widths, 4);
        for (int i = 0; i < N_JCT_PARTS; i++)
            if (p->jct[i].base_ns || p->jct[i].other_ns) jct_row(out, jct_part_name(i), &p->jct[i].seconds);
        jct_row(out, "all", &p->jct_sum.seconds);
    } else
        rule(out, "No job ended under both approaches.");
    matches_lines(out, c, p);
    str_free(&title);
}

/* ---- winners and losers ---- */

static int by_size(const void *left, const void *right)
{
    const struct team_change *a = *(const struct team_change *const *)left,
                             *b = *(const struct team_change *const *)right;
    double x = isfinite(a->jct.mean) ? fabs(a->jct.mean) : -1, y = isfinite(b->jct.mean) ? fabs(b->jct.mean) : -1;
    if (x != y) return x > y ? -1 : 1;
    return strcmp(a->team, b->team);
}

static void team_row(struct str *out, const struct team_change *t)
{
    struct scale w = scale_of("s", &t->wait), j = scale_of("s", &t->jct);
    words_left(out, *t->team ? t->team : "(no team)", 16);
    words_number_cell(out, (double)t->jobs, 7);
    difference_cells(out, &t->wait, &w, w.unit);
    difference_cells(out, &t->jct, &j, j.unit);
    str_append(out, t->jct.verdict == VERDICT_NONE ? " ~\n" : "\n");
}

static void teams_table(struct str *out, const struct compare *c, const struct compare_pair *p)
{
    const struct team_change **order = xcalloc(p->n_teams + 1, sizeof *order);
    for (size_t i = 0; i < p->n_teams; i++) order[i] = &p->teams[i];
    if (p->n_teams) qsort(order, p->n_teams, sizeof *order, by_size);
    if (p->n_teams > 1) {
        str_printf(out, "\nTeams: what %s changes for the jobs that ended under both, on average\n", other_name(c, p));
        words_left(out, "", 16);
        str_printf(out, " %7s %*s %*s %*s %*s\n", "jobs", VALUE, "wait", RANGE, "95 % interval", VALUE, "to the end",
                   RANGE, "95 % interval");
        for (size_t i = 0; i < p->n_teams && i < TEAMS_SHOWN; i++) team_row(out, order[i]);
        if (p->n_teams > TEAMS_SHOWN) str_printf(out, "  and %zu more teams\n", p->n_teams - TEAMS_SHOWN);
    }
    free(order);
}

static void job_line(struct str *out, const struct job_change *j)
{
    struct str s = {0};
    str_printf(&s, "job %s (replication %u", j->id, j->replication);
    if (*j->team) str_printf(&s, ", team %s", j->team);
    str_append(&s, ", ");
    words_gpus(&s, j->gpu_shares);
    str_append(&s, j->gpu_shares == 1000 ? " GPU): " : " GPUs): ");
    words_amount(&s, "s", (double)j->base_ns / 1e9);
    str_append(&s, " -> ");
    words_amount(&s, "s", (double)j->other_ns / 1e9);
    str_append(&s, ", ");
    words_amount(&s, "s", fabs((double)(j->other_ns - j->base_ns) / 1e9));
    str_append(&s, j->other_ns < j->base_ns ? " sooner, most of it: " : " later, most of it: ");
    words_name(&s, jct_part_name(j->reason));
    str_append(out, "  ");
    words_wrapped(out, str_text(&s), 4, WIDTH);
    str_append(out, "\n");
    str_free(&s);
}

static void jobs_lists(struct str *out, const struct compare *c, const struct compare_pair *p)
{
    if (p->n_sooner) str_printf(out, "\nJobs that gain most under %s (from submission to end)\n", other_name(c, p));
    for (size_t i = 0; i < p->n_sooner; i++) job_line(out, &p->sooner[i]);
    if (p->n_later) str_printf(out, "\nJobs that lose most under %s (from submission to end)\n", other_name(c, p));
    for (size_t i = 0; i < p->n_later; i++) job_line(out, &p->later[i]);
}

void compare_text(const struct compare *c, struct str *out)
{
    header(c, out);
    for (size_t i = 0; i + 1 < c->n_approaches; i++) compare_plain_words(c, &c->pairs[i], out);
    for (size_t i = 0; i + 1 < c->n_approaches; i++) {
        const struct compare_pair *p = &c->pairs[i];
        if (c->n_approaches > 2) str_printf(out, "\n---- %s against %s ----\n", other_name(c, p), base_name(c));
        metrics_table(out, c, p);
        gpu_table(out, c, p);
        jct_table(out, c, p);
        teams_table(out, c, p);
        jobs_lists(out, c, p);
    }
}
