/* report_files.c - a report for programs: docs/report-format.md, and CSV.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>

#include "run/decimal.h"
#include "study/figures.h"
#include "study/report.h"

enum { REPORT_FORMAT = 1 };

/* ---- JSON ---- */

static void write_metrics(struct json_writer *w, const struct report_approach *a)
{
    json_write_key(w, "metrics");
    json_write_array(w);
    for (size_t m = 0; m < metric_count(); m++) {
        const struct report_metric *s = &a->metrics[m];
        json_write_object_inline(w);
        figure_string(w, "name", metric_at(m)->name);
        figure_string(w, "unit", metric_at(m)->unit);
        figure_double(w, "mean", s->mean);
        figure_interval(w, "interval", &s->interval);
        figure_string(w, "method", interval_method_names[s->method]);
        figure_count(w, "replications", s->n);
        figure_bool(w, "bound", a->runs.bound[m]);
        json_write_key(w, "values");
        json_write_array_inline(w);
        for (size_t k = 0; k < a->runs.n; k++) json_write_double(w, a->runs.values[m * a->runs.n + k]);
        json_write_end(w);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_gpu_time(struct json_writer *w, const struct account *a)
{
    json_write_key(w, "gpu_time");
    json_write_object(w);
    json_write_key(w, "parts");
    json_write_array(w);
    for (int i = 0; i < 2 * N_ACTIVITIES; i++) {
        share_ns sum = a->cells[i / 2][i % 2];
        if (!sum) continue;
        json_write_object_inline(w);
        figure_string(w, "class", gpu_class_names[gpu_class_of((enum activity)(i / 2), i % 2)]);
        figure_string(w, "activity", activity_table[i / 2].name);
        figure_bool(w, "redone", i % 2);
        figure_gpu_s(w, "gpu_s", sum);
        json_write_end(w);
    }
    json_write_end(w);
    figure_gpu_s(w, "whole_gpu_s", a->all);
    json_write_end(w);
}

static void write_uses(struct json_writer *w, const struct account *a)
{
    json_write_key(w, "uses");
    json_write_object(w);
    for (int by = 0; by < N_USES; by++) {
        json_write_key(w, use_by_names[by]);
        json_write_array(w);
        for (size_t i = 0; i < a->uses[by].uses.n; i++) {
            const struct gpu_use *u = &a->uses[by].uses.v[i];
            json_write_object_inline(w);
            figure_string(w, "name", u->name);
            for (int class = 0; class < N_GPU_CLASSES; class ++) {
                char key[32];
                snprintf(key, sizeof key, "%s_gpu_s", gpu_class_names[class]);
                if (u->class[class]) figure_gpu_s(w, key, u->class[class]);
            }
            json_write_end(w);
        }
        json_write_end(w);
    }
    json_write_end(w);
}

static void wait_members(struct json_writer *w, const struct wait_sums *s)
{
    if (s->name) figure_string(w, "name", s->name);
    figure_count(w, "jobs", s->jobs);
    figure_exact_s(w, "wait_s", s->all);
    figure_exact_s(w, "longest_s", s->longest_sum);
    json_write_key(w, "reasons");
    json_write_array(w);
    for (int i = 0; i < N_WAIT_REASONS; i++) {
        if (!s->reason[i]) continue;
        json_write_object_inline(w);
        figure_string(w, "reason", wait_table[i].name);
        figure_exact_s(w, "wait_s", s->reason[i]);
        figure_count(w, "jobs", s->hit[i]);
        figure_exact_s(w, "longest_s", s->longest[i]);
        if (s->longest_job[i]) figure_string(w, "longest_job", s->longest_job[i]);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_groups(struct json_writer *w, const char *key, const struct wait_groups *g)
{
    json_write_key(w, key);
    json_write_array(w);
    for (size_t i = 0; i < g->sums.n; i++) {
        json_write_object(w);
        wait_members(w, &g->sums.v[i]);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_records(struct json_writer *w, const struct account *a)
{
    static const char *const units[N_RECORDS] = {"GPU-s", "s", "1", "1"};
    json_write_key(w, "most");
    json_write_array(w);
    for (int i = 0; i < N_RECORDS; i++) {
        const struct record_holder *h = &a->records[i];
        if (!h->job) continue;
        json_write_object_inline(w);
        figure_string(w, "of", record_names[i]);
        figure_double(w, "amount", h->amount);
        figure_string(w, "unit", units[i]);
        figure_string(w, "job", h->job);
        figure_count(w, "replication", h->replication);
        figure_string(w, "team", h->team);
        figure_string(w, "queue", h->queue);
        figure_double(w, "gpus", (double)h->gpu_shares / 1000);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_approach(struct json_writer *w, const struct report_approach *a)
{
    json_write_object(w);
    figure_approach(w, &a->runs);
    figure_count(w, "replications", a->runs.n);
    write_metrics(w, a);
    write_gpu_time(w, &a->account);
    write_uses(w, &a->account);
    json_write_key(w, "health");
    diagnosis_json(&a->health, w);
    json_write_key(w, "waits");
    json_write_object(w);
    wait_members(w, &a->account.waits);
    json_write_end(w);
    write_groups(w, "queues", &a->account.queues);
    write_groups(w, "teams", &a->account.teams);
    write_records(w, &a->account);
    json_write_end(w);
}

void report_json(const struct report *r, struct str *out)
{
    struct json_writer w;
    json_write_begin(&w, out);
    json_write_object(&w);
    json_write_key(&w, "trainyard_report");
    json_write_int64(&w, REPORT_FORMAT);
    figure_double(&w, "level", PAIRED_LEVEL);
    json_write_key(&w, "approaches");
    json_write_array(&w);
    for (size_t i = 0; i < r->n_approaches; i++) write_approach(&w, &r->approaches[i]);
    json_write_end(&w);
    json_write_end(&w);
    json_write_finish(&w);
}

/* ---- CSV ---- */

struct csv_place { /* where the rows of an approach go */
    struct str *out;
    const struct report_approach *a;
};

static void csv_row(const struct csv_place *at, const char *section, const char *name, const char *part,
                    const char *unit, double value, const struct report_metric *m)
{
    const struct interval none = {0}, *i = m ? &m->interval : &none;
    figure_csv_text(at->out, at->a->runs.name);
    figure_csv_text(at->out, section);
    figure_csv_text(at->out, name);
    figure_csv_text(at->out, part);
    figure_csv_text(at->out, unit);
    figure_csv_number(at->out, value, true);
    figure_csv_number(at->out, i->low, i->known);
    figure_csv_number(at->out, i->high, i->known);
    str_printf(at->out, "%zu\n", m ? m->n : at->a->runs.n);
}

static void csv_waits(const struct csv_place *at, const char *section, const struct wait_sums *s)
{
    double runs = (double)at->a->runs.n;
    for (int i = 0; i < N_WAIT_REASONS; i++)
        if (s->reason[i])
            csv_row(at, section, s->name ? s->name : "", wait_table[i].name, "job-h",
                    (double)s->reason[i] / 3.6e12 / runs, NULL);
}

static void csv_uses(const struct csv_place *at, enum use_by by)
{
    const struct gpu_uses *u = &at->a->account.uses[by];
    char section[32];
    snprintf(section, sizeof section, "use_by_%s", use_by_names[by]);
    for (size_t i = 0; i < u->uses.n; i++)
        for (int class = 0; class < N_GPU_CLASSES; class ++)
            if (u->uses.v[i].class[class])
                csv_row(at, section, u->uses.v[i].name, gpu_class_names[class], "GPU-h",
                        decimal_gpu_s(u->uses.v[i].class[class]) / 3600 / (double)at->a->runs.n, NULL);
}

static void csv_approach(const struct csv_place *at)
{
    const struct account *c = &at->a->account;
    for (size_t m = 0; m < metric_count(); m++)
        csv_row(at, "metric", metric_at(m)->name, "", metric_at(m)->unit, at->a->metrics[m].mean, &at->a->metrics[m]);
    for (int i = 0; i < 2 * N_ACTIVITIES; i++)
        if (c->cells[i / 2][i % 2])
            csv_row(at, "gpu_time", activity_table[i / 2].name, i % 2 ? "redone" : "", "GPU-h",
                    decimal_gpu_s(c->cells[i / 2][i % 2]) / 3600 / (double)at->a->runs.n, NULL);
    csv_waits(at, "wait", &c->waits);
    for (size_t i = 0; i < c->queues.sums.n; i++) csv_waits(at, "wait_by_queue", &c->queues.sums.v[i]);
    for (size_t i = 0; i < c->teams.sums.n; i++) csv_waits(at, "wait_by_team", &c->teams.sums.v[i]);
    for (int by = 0; by < N_USES; by++) csv_uses(at, (enum use_by)by);
}

void report_csv(const struct report *r, struct str *out)
{
    str_append(out, "approach,section,name,part,unit,value,low,high,replications\n");
    for (size_t i = 0; i < r->n_approaches; i++) csv_approach(&(struct csv_place){out, &r->approaches[i]});
}
