/* compare_files.c - a comparison for programs: compare.json (docs/compare-format.md) and CSV.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_write.h"
#include "study/compare.h"
#include "study/compare_jobs.h"
#include "study/compare_words.h"
#include "study/figures.h"

enum { COMPARE_FORMAT = 1 };

/* ---- the parts ---- */

static void write_approach(struct json_writer *w, const struct compare *c, const struct approach_runs *a)
{
    json_write_object(w);
    figure_approach(w, a);
    json_write_key(w, "values");
    json_write_object(w);
    for (size_t m = 0; m < metric_count(); m++) {
        json_write_key(w, metric_at(m)->name);
        json_write_array_inline(w);
        for (size_t k = 0; k < c->n_replications; k++) json_write_double(w, a->values[m * c->n_replications + k]);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_end(w);
}

static void write_metrics(struct json_writer *w, const struct compare *c, const struct compare_pair *p)
{
    static const char *const better[] = {"less", "more", "neither"};
    json_write_key(w, "metrics");
    json_write_array(w);
    for (size_t m = 0; m < metric_count(); m++) {
        const struct metric_info *info = metric_at(m);
        json_write_object_inline(w);
        figure_string(w, "name", info->name);
        figure_string(w, "unit", info->unit);
        figure_string(w, "better", better[info->better]);
        figure_paired(w, &p->metrics[m]);
        figure_bool(w, "base_bound", c->approaches[0].bound[m]);
        figure_bool(w, "other_bound", c->approaches[p->other].bound[m]);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_gpu(struct json_writer *w, const struct gpu_part *g, const char *class, bool cell)
{
    json_write_object_inline(w);
    if (class) figure_string(w, "class", class);
    if (cell) {
        figure_string(w, "activity", activity_table[g->activity].name);
        figure_bool(w, "redone", g->redone);
    }
    figure_gpu_s(w, "base_gpu_s", g->base);
    figure_gpu_s(w, "other_gpu_s", g->other);
    figure_string(w, "unit", "GPU-h");
    figure_paired(w, &g->hours);
    json_write_end(w);
}

static void write_gpu_time(struct json_writer *w, const struct compare_pair *p)
{
    json_write_key(w, "gpu_time");
    json_write_object(w);
    json_write_key(w, "parts");
    json_write_array(w);
    for (size_t i = 0; i < p->n_gpu; i++)
        write_gpu(w, &p->gpu[i], gpu_class_names[gpu_class_of(p->gpu[i].activity, p->gpu[i].redone)], true);
    json_write_end(w);
    json_write_key(w, "classes");
    json_write_array(w);
    for (int class = 0; class < N_GPU_CLASSES; class ++)
        write_gpu(w, &p->class_sum[class], gpu_class_names[class], false);
    json_write_end(w);
    json_write_key(w, "whole");
    write_gpu(w, &p->gpu_sum, NULL, false);
    json_write_end(w);
}

static void write_part(struct json_writer *w, const struct jct_part *j, const char *name)
{
    json_write_object_inline(w);
    if (name) figure_string(w, "part", name);
    figure_exact_s(w, "base_s", j->base_ns);
    figure_exact_s(w, "other_s", j->other_ns);
    figure_string(w, "unit", "s");
    figure_paired(w, &j->seconds);
    json_write_end(w);
}

static void write_completion(struct json_writer *w, const struct compare_pair *p)
{
    json_write_key(w, "completion_time");
    json_write_object(w);
    json_write_key(w, "parts");
    json_write_array(w);
    for (int i = 0; i < N_JCT_PARTS; i++)
        if (p->jct[i].base_ns || p->jct[i].other_ns) write_part(w, &p->jct[i], jct_part_name(i));
    json_write_end(w);
    json_write_key(w, "whole");
    write_part(w, &p->jct_sum, NULL);
    json_write_key(w, "jobs");
    json_write_object(w);
    figure_count(w, "ended_in_both", p->matches.ended_in_both);
    figure_count(w, "ended_in_base_only", p->matches.ended_in_base_only);
    figure_count(w, "ended_in_other_only", p->matches.ended_in_other_only);
    figure_count(w, "ended_in_neither", p->matches.ended_in_neither);
    figure_count(w, "in_one_run_only", p->matches.in_one_run_only);
    figure_count(w, "other_outcome", p->matches.other_outcome);
    json_write_end(w);
    json_write_end(w);
}

static void write_teams(struct json_writer *w, const struct compare_pair *p)
{
    json_write_key(w, "teams");
    json_write_array(w);
    for (size_t i = 0; i < p->n_teams; i++) {
        const struct team_change *t = &p->teams[i];
        json_write_object(w);
        figure_string(w, "team", t->team);
        figure_count(w, "jobs", t->jobs);
        json_write_key(w, "wait");
        json_write_object_inline(w);
        figure_paired(w, &t->wait);
        json_write_end(w);
        json_write_key(w, "jct");
        json_write_object_inline(w);
        figure_paired(w, &t->jct);
        json_write_end(w);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_changes(struct json_writer *w, const char *key, const struct job_change *v, size_t n)
{
    json_write_key(w, key);
    json_write_array(w);
    for (size_t i = 0; i < n; i++) {
        json_write_object_inline(w);
        figure_string(w, "job", v[i].id);
        figure_count(w, "replication", v[i].replication);
        figure_string(w, "team", v[i].team);
        figure_string(w, "queue", v[i].queue);
        figure_double(w, "gpus", (double)v[i].gpu_shares / 1000);
        figure_exact_s(w, "base_s", v[i].base_ns);
        figure_exact_s(w, "other_s", v[i].other_ns);
        figure_string(w, "most_of_it", jct_part_name(v[i].reason));
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_words(struct json_writer *w, const struct compare *c, const struct compare_pair *p)
{
    struct str lines = {0};
    compare_sentences(c, p, &lines);
    json_write_key(w, "words");
    json_write_array(w);
    for (const char *line = str_text(&lines), *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
        json_write_string_n(w, line, (size_t)(end - line));
    json_write_end(w);
    str_free(&lines);
}

static void write_pair(struct json_writer *w, const struct compare *c, const struct compare_pair *p)
{
    json_write_object(w);
    figure_string(w, "base", c->approaches[0].name);
    figure_string(w, "other", c->approaches[p->other].name);
    write_words(w, c, p);
    write_metrics(w, c, p);
    write_gpu_time(w, p);
    write_completion(w, p);
    write_teams(w, p);
    write_changes(w, "sooner", p->sooner, p->n_sooner);
    write_changes(w, "later", p->later, p->n_later);
    json_write_end(w);
}

void compare_json(const struct compare *c, struct str *out)
{
    struct json_writer w;
    json_write_begin(&w, out);
    json_write_object(&w);
    json_write_key(&w, "trainyard_compare");
    json_write_int64(&w, COMPARE_FORMAT);
    figure_count(&w, "replications", c->n_replications);
    figure_count(&w, "left_out", c->left_out);
    figure_bool(&w, "paired", !c->unpaired);
    figure_double(&w, "level", PAIRED_LEVEL);
    json_write_key(&w, "approaches");
    json_write_array(&w);
    for (size_t i = 0; i < c->n_approaches; i++) write_approach(&w, c, &c->approaches[i]);
    json_write_end(&w);
    json_write_key(&w, "pairs");
    json_write_array(&w);
    for (size_t i = 0; i + 1 < c->n_approaches; i++) write_pair(&w, c, &c->pairs[i]);
    json_write_end(&w);
    json_write_end(&w);
    json_write_finish(&w);
}

/* ---- CSV: a row a figure ---- */

struct csv_place { /* where rows of one pair go */
    struct str *out;
    const char *base, *other;
};

static void csv_row(const struct csv_place *at, const char *section, const char *name, const char *unit,
                    const struct paired *p)
{
    figure_csv_text(at->out, section);
    figure_csv_text(at->out, name);
    figure_csv_text(at->out, unit);
    figure_csv_text(at->out, at->base);
    figure_csv_text(at->out, at->other);
    figure_csv_number(at->out, p->mean_a, true);
    figure_csv_number(at->out, p->mean_b, true);
    figure_csv_number(at->out, p->mean, true);
    figure_csv_number(at->out, p->difference.low, p->difference.known);
    figure_csv_number(at->out, p->difference.high, p->difference.known);
    figure_csv_number(at->out, p->ratio_mean, true);
    figure_csv_number(at->out, p->ratio.low, p->ratio.known);
    figure_csv_number(at->out, p->ratio.high, p->ratio.known);
    str_printf(at->out, "%zu,%s,%s\n", p->n, verdict_names[p->verdict], interval_method_names[p->method]);
}

static void csv_pair(const struct csv_place *at, const struct compare_pair *p)
{
    char name[64];
    for (size_t m = 0; m < metric_count(); m++)
        csv_row(at, "metric", metric_at(m)->name, metric_at(m)->unit, &p->metrics[m]);
    for (size_t i = 0; i < p->n_gpu; i++) {
        const struct gpu_part *g = &p->gpu[i];
        snprintf(name, sizeof name, "%s%s", activity_table[g->activity].name, g->redone ? "/redone" : "");
        csv_row(at, "gpu_time", name, "GPU-h", &g->hours);
    }
    csv_row(at, "gpu_time", "all", "GPU-h", &p->gpu_sum.hours);
    for (int i = 0; i < N_JCT_PARTS; i++)
        if (p->jct[i].base_ns || p->jct[i].other_ns)
            csv_row(at, "completion_time", jct_part_name(i), "s", &p->jct[i].seconds);
    csv_row(at, "completion_time", "all", "s", &p->jct_sum.seconds);
    for (size_t i = 0; i < p->n_teams; i++) csv_row(at, "team_wait", p->teams[i].team, "s", &p->teams[i].wait);
    for (size_t i = 0; i < p->n_teams; i++) csv_row(at, "team_jct", p->teams[i].team, "s", &p->teams[i].jct);
}

void compare_csv(const struct compare *c, struct str *out)
{
    str_append(out, "section,name,unit,base_approach,other_approach,base,other,difference,low,high,ratio,ratio_low,"
                    "ratio_high,replications,verdict,method\n");
    for (size_t i = 0; i + 1 < c->n_approaches; i++) {
        struct csv_place at = {out, c->approaches[0].name, c->approaches[c->pairs[i].other].name};
        csv_pair(&at, &c->pairs[i]);
    }
}
