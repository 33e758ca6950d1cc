/* series_text.c - the series of one job as a table; see series.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/units.h"
#include "study/explain.h"
#include "study/job_index.h"
#include "study/series.h"
#include "study/words.h"

enum { PARTS = 10, WIDTH = 10 };

struct shown { struct series_point at; int64_t step; bool redone; };
typedef ARRAY(struct shown) shown_list;

/* A column is there when any row knows it. */
static const struct column { const char *title, *unit; size_t at; bool bytes; } columns[] = {
    {"loss", "", offsetof(struct series_point, loss), false},
    {"rate", "", offsetof(struct series_point, learning_rate), false},
    {"grad norm", "", offsetof(struct series_point, gradient_norm), false},
    {"samples", "/s", offsetof(struct series_point, samples_per_s), false},
    {"tokens", "/s", offsetof(struct series_point, tokens_per_s), false},
    {"memory", "", offsetof(struct series_point, memory_bytes), true},
    {"network", "/s", offsetof(struct series_point, network_bytes_per_s), true},
    {"read", "/s", offsetof(struct series_point, read_bytes_per_s), true},
};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

static double value(const struct shown *x, const struct column *c)
{
    return *(const double *)(const void *)((const char *)&x->at + c->at);
}

static bool known(const shown_list *l, const struct column *c)
{
    for (size_t i = 0; i < l->n; i++)
        if (isfinite(value(&l->v[i], c))) return true;
    return false;
}

static void right(struct str *out, const char *text, int width) { str_printf(out, "%*s", width, text); }

static void cell(struct str *out, const struct column *c, double x)
{
    struct str text = {0};
    if (!isfinite(x)) str_append(&text, "-");
    else if (c->bytes) units_format_bytes(&text, (int64_t)fmin(x, 9e18));
    else words_number(&text, x);
    if (isfinite(x) && c->bytes) str_append(&text, c->unit);
    right(out, str_text(&text), WIDTH);
    str_free(&text);
}

static void header(struct str *out, const shown_list *l)
{
    str_printf(out, "%11s %8s", "time", "step");
    for (int k = 0; k < N_COLUMNS; k++) {
        char title[32];
        snprintf(title, sizeof title, "%s%s", columns[k].title, columns[k].bytes ? "" : columns[k].unit);
        if (known(l, &columns[k])) right(out, title, WIDTH);
    }
    str_append(out, "\n");
}

static void row(struct str *out, const shown_list *l, const struct shown *x)
{
    struct str time = {0};
    units_format_duration(&time, x->at.time_ns);
    str_printf(out, "%11s %8lld", str_text(&time), (long long)x->step);
    for (int k = 0; k < N_COLUMNS; k++)
        if (known(l, &columns[k])) cell(out, &columns[k], value(x, &columns[k]));
    str_append(out, x->redone ? "  again\n" : "\n");
    str_free(&time);
}

/* Tenths of the job's steps, each time that it comes by them, and where it begins and ends. */
static shown_list points_of(const struct series *s, int32_t job)
{
    shown_list l = {0};
    for (size_t i = 0; i < s->progress.spans.n; i++) {
        const struct progress_span *p = &s->progress.spans.v[i];
        int64_t every = s->jobs[job].total_steps / PARTS > 0 ? s->jobs[job].total_steps / PARTS : 1;
        if (p->job != job) continue;
        for (int64_t step = p->first; step >= 0; step = series_next(s, p, step, PARTS))
            if (step % every == 0 || step == s->jobs[job].total_steps) {
                if (l.n && l.v[l.n - 1].step == step && !p->redone) continue; /* the end of the span before */
                array_push(&l, (struct shown){series_at(s, p, step), step, p->redone});
            }
    }
    return l;
}

bool series_text(const struct run *run, const char *job, struct str *out, char **err)
{
    struct job_index index;
    struct series s;
    if (!explain_row(run, job)) {
        *err = explain_no_such_job(run, job);
        return false;
    }
    if (!job_index_read(run, &index, err)) return false;
    int32_t number = job_index_find(&index, job);
    job_index_free(&index);
    if (!series_read(run, &s, err)) return false;
    shown_list l = number >= 0 && (size_t)number < s.n_jobs && s.jobs[number].total_steps ? points_of(&s, number) : (shown_list){0};
    if (l.n == 0) str_printf(out, "%s has no steps to show: it did none, or was given as a duration\n", job);
    else header(out, &l);
    for (size_t i = 0; i < l.n; i++) row(out, &l, &l.v[i]);
    array_free(&l);
    series_free(&s);
    return true;
}
