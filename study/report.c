/* report.c - reads the runs of each approach, and tells them to people.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/measures.h"
#include "study/words.h"

enum { WIDTH = 100, NAME = 18, VALUE = 13, RANGE = 23 };

/* ---- reading ---- */

static struct report_metric summary_of(const struct approach_runs *a, size_t m)
{
    const double *x = a->values + m * a->n;
    struct report_metric s = {.interval = interval_of_metric(m, x, a->n, PAIRED_LEVEL)};
    for (size_t k = 0; k < a->n; k++)
        if (isfinite(x[k])) s.mean += (x[k] - s.mean) / (double)++s.n;
    if (!s.n) s.mean = NAN;
    s.method = interval_method_of(m, s.n);
    return s;
}

void report_begin(struct report *r, const struct approach_source *sources, size_t n)
{
    memset(r, 0, sizeof *r);
    r->n_approaches = n;
    r->approaches = arena_calloc(&r->arena, n, sizeof *r->approaches);
    for (size_t i = 0; i < n; i++) {
        r->approaches[i].healing = diagnosing_begin();
        approach_runs_begin(&r->approaches[i].runs, &r->arena, &sources[i]);
    }
}

void report_add(struct report *r, size_t approach, const struct run *run)
{
    struct report_approach *a = &r->approaches[approach];
    approach_runs_add(&a->runs, &r->arena, run);
    account_add(&a->account, run);
    diagnosing_add(a->healing, run);
}

void report_end(struct report *r)
{
    for (size_t i = 0; i < r->n_approaches; i++) {
        struct report_approach *a = &r->approaches[i];
        diagnosing_end(a->healing, &a->health);
        a->healing = NULL;
        approach_runs_end(&a->runs);
        account_sort(&a->account);
        a->metrics = arena_calloc(&r->arena, metric_count(), sizeof *a->metrics);
        for (size_t m = 0; m < metric_count(); m++) a->metrics[m] = summary_of(&a->runs, m);
    }
}

static bool read_approach(struct report *r, size_t approach, const struct approach_source *source, struct str *warnings, char **err)
{
    for (size_t i = 0; i < source->n; i++) {
        char *said;
        struct run *run = source_open(source, i, &said, err);
        if (said) str_append(warnings, said);
        free(said);
        if (!run) return false;
        timeline_warning(run, warnings);
        report_add(r, approach, run);
        source_close(source, run);
    }
    return true;
}

bool report_runs(const struct approach_source *sources, size_t n, struct report *r, char **err)
{
    struct str warnings = {0};
    bool ok = true;
    *err = NULL;
    report_begin(r, sources, n);
    for (size_t i = 0; i < n && ok; i++) ok = read_approach(r, i, &sources[i], &warnings, err);
    report_end(r);
    r->warnings = warnings.n ? str_take(&warnings) : NULL;
    if (!ok) report_free(r);
    return ok;
}

void report_free(struct report *r)
{
    for (size_t i = 0; i < r->n_approaches; i++) {
        account_free(&r->approaches[i].account);
        diagnosis_free(&r->approaches[i].health);
    }
    free(r->warnings);
    arena_free(&r->arena);
    memset(r, 0, sizeof *r);
}

/* ---- text ---- */

static void head(const struct report_approach *a, struct str *out)
{
    const struct approach_runs *runs = &a->runs;
    struct str s = {0};
    str_printf(&s, "%s under %s: %zu replication%s with seed %llu; ", runs->scenario, runs->name, runs->n,
               runs->n == 1 ? "" : "s", (unsigned long long)runs->seed);
    words_number(&s, round(runs->gpus * 1000) / 1000);
    str_append(&s, " GPUs, ");
    words_number(&s, round(runs->jobs));
    str_printf(&s, " jobs%s; trainyard %s on %s; scenario hash %s", runs->n > 1 ? " on average" : "", runs->version,
               runs->back_end, runs->hash);
    words_wrapped(out, str_text(&s), 2, WIDTH);
    str_append(out, "\n");
    str_free(&s);
    if (runs->not_complete)
        str_printf(out, "  note: %zu of the runs did not come to their end\n", runs->not_complete);
}

static void metric_row(const struct report_approach *a, size_t m, struct str *out)
{
    const struct report_metric *s = &a->metrics[m];
    const struct metric_info *info = metric_at(m);
    struct str cell = {0};
    words_left(out, info->name, NAME);
    if (a->runs.bound[m]) str_append(&cell, ">= ");
    words_amount(&cell, info->unit, s->mean);
    words_cell(out, &cell, VALUE);
    if (a->runs.n > 1 && s->interval.known) {
        struct scale u = words_scale(info->unit, fmax(fabs(s->interval.low), fabs(s->interval.high)));
        words_number(&cell, s->interval.low * u.factor);
        str_append(&cell, " to ");
        words_number(&cell, s->interval.high * u.factor);
        str_append(&cell, u.unit);
    }
    if (a->runs.n > 1) words_cell(out, &cell, RANGE);
    str_append(out, "  ");
    words_wrapped(out, info->help, NAME + VALUE + 3 + (a->runs.n > 1 ? RANGE + 1 : 0), WIDTH);
    str_append(out, "\n");
    str_free(&cell);
}

static void metrics_table(const struct report_approach *a, struct str *out)
{
    bool bound = false;
    str_append(out, "\n");
    words_left(out, "Metric", NAME);
    str_printf(out, " %*s", VALUE, a->runs.n > 1 ? "mean" : "value");
    if (a->runs.n > 1) str_printf(out, " %*s", RANGE, "95 % interval");
    str_append(out, "\n");
    for (size_t m = 0; m < metric_count(); m++) {
        if (!a->metrics[m].n) continue;
        metric_row(a, m, out);
        bound |= a->runs.bound[m];
    }
    if (bound) str_append(out, "  >= lower bound, since some jobs had not ended\n");
    if (a->runs.n > 1)
        str_printf(out, "  intervals: Student's t over the replications; of quantiles %s\n",
                   interval_method_of((size_t)metric_find("p50_wait"), a->runs.n) == METHOD_BOOTSTRAP
                       ? "a bootstrap over them"
                       : "too: a bootstrap needs 8 at least");
}

void report_text(const struct report *r, struct str *out)
{
    for (size_t i = 0; i < r->n_approaches; i++) {
        struct report_approach *a = &r->approaches[i];
        if (i) str_append(out, "\n----------------\n\n");
        head(a, out);
        metrics_table(a, out);
        account_gpu_text(&a->account, out);
        diagnosis_text(&a->health, out);
        account_waits_text(&a->account, out);
        account_busiest_text(&a->account, out);
    }
}
