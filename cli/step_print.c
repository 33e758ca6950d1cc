/* step_print.c - see cli/step.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "cli/step.h"

#include <math.h>

#include "base/json_write.h"
#include "base/svg_plot.h"
#include "base/units.h"
#include "study/step_split.h"
#include "study/words.h"

static double samples_per_s(const struct step_row *r) { return r->in.batch.global / step_total(&r->time); }

static double exposed_share(const struct step_row *r) { return r->time.part[STEP_COMMUNICATION] / step_total(&r->time); }

/* ---- text ---- */

static void name_cell(struct str *out, const char *name)
{
    str_append(out, "  ");
    words_left(out, name, 26);
}

static void share_cell(struct str *out, double share)
{
    struct str cell = {0};
    str_printf(&cell, "%.1f %%", 100 * share);
    words_cell(out, &cell, 9);
    str_free(&cell);
}

static void part_line(struct str *out, const char *name, double s, double all)
{
    name_cell(out, name);
    words_amount_cell(out, "s", s, 10);
    share_cell(out, s / all);
    str_append_char(out, '\n');
}

static void division_text(const struct step_row *r, struct str *out)
{
    const struct parallelism *p = &r->in.split;
    str_printf(out, "  data %u", p->data);
    if (p->tensor > 1) str_printf(out, " x tensor %u%s", p->tensor, p->sequence ? " with sequence" : "");
    if (p->pipeline > 1) str_printf(out, " x pipeline %u", p->pipeline);
    if (p->interleave > 1) str_printf(out, " interleaved %u times", p->interleave);
    if (p->context > 1) str_printf(out, " x context %u", p->context);
    if (p->expert > 1) str_printf(out, ", experts over %u", p->expert);
    str_printf(out, ", ZeRO %u, micro-batch %u (%.0f of them), recompute %s, %s", p->zero, r->in.batch.micro,
               r->time.micro_batches, recompute_names[r->in.batch.recompute], precision_names[r->in.batch.precision]);
    if (r->searched && r->fit) str_printf(out, "\n  the fastest of %zu divisions that fit", r->fit);
    if (r->searched && !r->fit) str_append(out, "\n  no division that was tried fits; this one needs least memory");
    str_append_char(out, '\n');
}

static void head_text(const struct step_answer *a, const struct step_row *r, struct str *out)
{
    double tokens = r->in.batch.global * r->in.model.sequence;
    str_printf(out, "%s on ", a->model);
    units_format_count(out, r->gpus);
    str_printf(out, " GPU%s of %s\n  ", r->gpus == 1 ? "" : "s", a->hardware);
    units_format_count(out, (int64_t)r->in.model.parameters);
    str_append(out, " parameters, batch ");
    units_format_count(out, (int64_t)r->in.batch.global);
    if (r->in.model.layers) {
        str_append(out, " sequences of ");
        units_format_count(out, r->in.model.sequence);
        str_append(out, " tokens (");
        units_format_count(out, (int64_t)tokens);
        str_append(out, ")");
    }
    str_append_char(out, '\n');
    division_text(r, out);
}

static void parts_text(const struct step_row *r, struct str *out)
{
    const struct step_time *t = &r->time;
    double all = step_total(t);
    str_append(out, "Step                             time     share\n");
    part_line(out, "compute", t->part[STEP_COMPUTE], all);
    part_line(out, "  of it the optimizer", t->optimizer_s, all);
    part_line(out, "communication, exposed", t->part[STEP_COMMUNICATION], all);
    for (int k = 0; k < N_STEP_TRAFFICS; k++) {
        struct str name = {0};
        str_printf(&name, "  %s", step_traffic_names[k]);
        if (t->exposed[k] > 0) part_line(out, str_text(&name), t->exposed[k], all);
        str_free(&name);
    }
    part_line(out, "pipeline bubble", t->part[STEP_BUBBLE], all);
    part_line(out, "straggler wait", t->part[STEP_STRAGGLER], all);
    part_line(out, "data wait", t->part[STEP_DATA], all);
    part_line(out, "all", all, all);
}

static void rates_text(const struct step_row *r, struct str *out)
{
    str_append(out, "Rates\n");
    name_cell(out, r->in.model.layers ? "sequences/s" : "samples/s");
    words_number(out, samples_per_s(r));
    str_append_char(out, '\n');
    if (r->in.model.layers) {
        name_cell(out, "tokens/s, a GPU");
        words_number(out, samples_per_s(r) * r->in.model.sequence);
        str_append(out, ", ");
        words_number(out, samples_per_s(r) * r->in.model.sequence / r->gpus);
        str_append_char(out, '\n');
    }
    name_cell(out, "MFU, with recompute");
    str_printf(out, "%.1f %%, %.1f %%\n", 100 * r->time.mfu, 100 * r->time.hfu);
    name_cell(out, "over the fabric, a GPU");
    units_format_bytes(out, (int64_t)r->time.fabric_bytes);
    str_append(out, " a step\n");
    if (r->time.hidden_s > 0) {
        name_cell(out, "hidden communication");
        words_amount(out, "s", r->time.hidden_s);
        str_append_char(out, '\n');
    }
}

static void memory_text(const struct step_row *r, struct str *out)
{
    const struct memory_fit *f = &r->memory;
    str_append(out, "Memory of the fullest GPU          GB\n");
    for (int k = 0; k < N_MEMORY_TERMS; k++) {
        name_cell(out, memory_term_names[k]);
        str_printf(out, "%11.2f%s\n", f->bytes[k] / 1e9, !memory_fits(f) && f->overflows == (enum memory_term)k ? "  overflows" : "");
    }
    name_cell(out, "all");
    str_printf(out, "%11.2f  of %.0f: ", f->total / 1e9, f->capacity / 1e9);
    if (memory_fits(f)) str_append(out, "fits\n");
    else str_printf(out, "%.2f too much\n", (f->total - f->capacity) / 1e9);
}

static void table_text(const struct step_answer *a, struct str *out)
{
    str_append(out, "\n    GPUs       step  communication    bubble       MFU   samples/s   memory GB\n");
    for (size_t i = 0; i < a->n; i++) {
        const struct step_row *r = &a->row[i];
        struct str gpus = {0};
        units_format_count(&gpus, r->gpus);
        words_right(out, str_text(&gpus), 8);
        str_free(&gpus);
        words_amount_cell(out, "s", step_total(&r->time), 10);
        str_append(out, "      ");
        share_cell(out, exposed_share(r));
        share_cell(out, r->time.part[STEP_BUBBLE] / step_total(&r->time));
        share_cell(out, r->time.mfu);
        words_number_cell(out, samples_per_s(r), 11);
        str_printf(out, "%12.1f%s\n", r->memory.total / 1e9, memory_fits(&r->memory) ? "" : "  too much");
    }
}

void step_text(const struct step_answer *a, struct str *out)
{
    head_text(a, &a->row[0], out);
    parts_text(&a->row[0], out);
    rates_text(&a->row[0], out);
    memory_text(&a->row[0], out);
    if (a->n > 1) table_text(a, out);
}

void step_models_text(struct str *out)
{
    str_append(out, "model             parameters  TFLOPs a sample  source\n");
    for (size_t i = 0; model_at(i); i++) {
        const struct model_shape *m = model_at(i);
        words_left(out, m->name, 16);
        str_printf(out, " %9.4g B ", m->parameters / 1e9);
        words_number_cell(out, model_flops(m) / 1e12, 15);
        str_append(out, "  ");
        words_wrapped(out, m->source, 47, 110);
        str_append_char(out, '\n');
    }
}

/* ---- JSON and CSV: the same numbers in the same order ---- */

struct number { const char *name; double x; };
enum { NUMBERS_MAX = 64 };

static size_t numbers_of(const struct step_row *r, struct number *out)
{
    const struct parallelism *p = &r->in.split;
    const struct step_time *t = &r->time;
    const struct number all[] = {
        {"gpus", r->gpus}, {"data", p->data}, {"tensor", p->tensor}, {"pipeline", p->pipeline}, {"interleave", p->interleave},
        {"context", p->context}, {"expert", p->expert}, {"zero", p->zero}, {"batch", r->in.batch.global},
        {"micro_batch", r->in.batch.micro}, {"micro_batches", t->micro_batches}, {"step_s", step_total(t)},
        {"compute_s", t->part[STEP_COMPUTE]}, {"communication_s", t->part[STEP_COMMUNICATION]}, {"bubble_s", t->part[STEP_BUBBLE]},
        {"straggler_s", t->part[STEP_STRAGGLER]}, {"data_s", t->part[STEP_DATA]}, {"optimizer_s", t->optimizer_s},
        {"tensor_s", t->exposed[TRAFFIC_TENSOR]}, {"context_s", t->exposed[TRAFFIC_CONTEXT]}, {"expert_s", t->exposed[TRAFFIC_EXPERT]},
        {"pipeline_s", t->exposed[TRAFFIC_PIPELINE]}, {"data_parallel_s", t->exposed[TRAFFIC_DATA]}, {"hidden_s", t->hidden_s},
        {"fabric_bytes", t->fabric_bytes}, {"exposed_share", exposed_share(r)}, {"mfu", t->mfu}, {"hfu", t->hfu},
        {"samples_per_s", samples_per_s(r)}, {"weights_bytes", r->memory.bytes[MEM_WEIGHTS]},
        {"gradients_bytes", r->memory.bytes[MEM_GRADIENTS]}, {"optimizer_bytes", r->memory.bytes[MEM_OPTIMIZER]},
        {"activations_bytes", r->memory.bytes[MEM_ACTIVATIONS]}, {"workspace_bytes", r->memory.bytes[MEM_WORKSPACE]},
        {"memory_bytes", r->memory.total}, {"memory_of_bytes", r->memory.capacity}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) out[i] = all[i];
    return sizeof all / sizeof *all;
}

void step_json(const struct step_answer *a, struct str *out)
{
    struct number v[NUMBERS_MAX];
    struct json_writer w;
    json_write_begin(&w, out);
    json_write_object(&w);
    json_write_key(&w, "model");
    json_write_string(&w, a->model);
    json_write_key(&w, "hardware");
    json_write_string(&w, a->hardware);
    json_write_key(&w, "steps");
    json_write_array(&w);
    for (size_t i = 0; i < a->n; i++) {
        const struct step_row *r = &a->row[i];
        json_write_object(&w);
        for (size_t k = 0, n = numbers_of(r, v); k < n; k++) {
            json_write_key(&w, v[k].name);
            json_write_double(&w, v[k].x);
        }
        json_write_key(&w, "recompute");
        json_write_string(&w, recompute_names[r->in.batch.recompute]);
        json_write_key(&w, "precision");
        json_write_string(&w, precision_names[r->in.batch.precision]);
        json_write_key(&w, "overflows");
        json_write_string(&w, memory_fits(&r->memory) ? NULL : memory_term_names[r->memory.overflows]);
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_end(&w);
    json_write_finish(&w);
}

void step_csv(const struct step_answer *a, struct str *out)
{
    struct number v[NUMBERS_MAX];
    for (size_t i = 0; i < a->n; i++) {
        size_t n = numbers_of(&a->row[i], v);
        for (size_t k = 0; i == 0 && k < n; k++) str_printf(out, "%s,", v[k].name);
        if (i == 0) str_append(out, "recompute,precision,overflows\n");
        for (size_t k = 0; k < n; k++) str_printf(out, "%.9g,", v[k].x);
        str_printf(out, "%s,%s,%s\n", recompute_names[a->row[i].in.batch.recompute], precision_names[a->row[i].in.batch.precision],
                   memory_fits(&a->row[i].memory) ? "" : memory_term_names[a->row[i].memory.overflows]);
    }
}

/* ---- picture ---- */

enum { POINTS_MAX = STEP_SIZES_MAX > 8 ? STEP_SIZES_MAX : 8 };

struct curve { double gpus[POINTS_MAX], step_s[POINTS_MAX], compute_s[POINTS_MAX], ideal_s[POINTS_MAX]; size_t n; };

/* In the order of GPUs; ideal: samples a second of a GPU as on the first row. */
static void curve_add(struct curve *c, const struct step_answer *a, double gpus, double batch, const struct step_time *t)
{
    const struct step_row *first = &a->row[0];
    size_t at = c->n++;
    for (; at > 0 && c->gpus[at - 1] > gpus; at--) {
        c->gpus[at] = c->gpus[at - 1];
        c->step_s[at] = c->step_s[at - 1];
        c->compute_s[at] = c->compute_s[at - 1];
        c->ideal_s[at] = c->ideal_s[at - 1];
    }
    c->gpus[at] = gpus;
    c->step_s[at] = step_total(t);
    c->compute_s[at] = t->part[STEP_COMPUTE];
    c->ideal_s[at] = batch / gpus * first->gpus / first->in.batch.global * step_total(&first->time);
}

/* One size asked for: the same batch on half as many GPUs, and on up to 16 times as many. */
static void curve_around(struct curve *c, const struct step_answer *a)
{
    for (int k = -1; k < 5; k++) {
        struct step_input in;
        double gpus = a->row[0].gpus * exp2(k);
        if (gpus < 1 || gpus != floor(gpus) || gpus > 4e6 || !step_scaled(&a->row[0].in, (uint32_t)gpus, &in)) continue;
        struct step_time t = step_time(&in);
        curve_add(c, a, gpus, in.batch.global, &t);
    }
}

static void plot_title(const struct step_answer *a, struct str *out)
{
    bool one_batch = true;
    for (size_t i = 1; i < a->n; i++) one_batch &= a->row[i].in.batch.global == a->row[0].in.batch.global;
    str_printf(out, "%s: a step", a->model);
    if (one_batch) str_printf(out, " of %.0f samples", a->row[0].in.batch.global);
    str_printf(out, " on %s", a->hardware);
}

bool step_plot(const struct step_answer *a, const char *path, struct diag *d)
{
    struct curve c = {.n = 0};
    struct str title = {0};
    if (a->n == 1) curve_around(&c, a);
    for (size_t i = 0; i < a->n && a->n > 1; i++) curve_add(&c, a, a->row[i].gpus, a->row[i].in.batch.global, &a->row[i].time);
    plot_title(a, &title);
    struct plot_series series[] = {{"step", c.gpus, c.step_s, c.n, PLOT_LINE_AND_MARKS},
                                   {"of it compute", c.gpus, c.compute_s, c.n, PLOT_LINE_AND_MARKS},
                                   {"each GPU as fast as the first", c.gpus, c.ideal_s, c.n, PLOT_LINE}};
    struct svg_plot p = {.title = str_text(&title), .x = {.title = "GPUs", .log = true},
                         .y = {.title = "time", .log = true, .unit = PLOT_SECONDS}, .series = series, .n_series = 3};
    bool ok = svg_plot_write(&p, path, d);
    str_free(&title);
    return ok;
}
