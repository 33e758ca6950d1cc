/* figures.c - see figures.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/figures.h"

#include <math.h>

#include "run/decimal.h"

void figure_string(struct json_writer *w, const char *key, const char *text)
{
    json_write_key(w, key);
    json_write_string(w, text);
}

void figure_double(struct json_writer *w, const char *key, double x)
{
    json_write_key(w, key);
    json_write_double(w, x);
}

void figure_count(struct json_writer *w, const char *key, size_t n)
{
    json_write_key(w, key);
    json_write_uint64(w, n);
}

void figure_bool(struct json_writer *w, const char *key, bool x)
{
    json_write_key(w, key);
    json_write_bool(w, x);
}

void figure_interval(struct json_writer *w, const char *key, const struct interval *i)
{
    json_write_key(w, key);
    if (!i->known) {
        json_write_null(w);
        return;
    }
    json_write_array_inline(w);
    json_write_double(w, i->low);
    json_write_double(w, i->high);
    json_write_end(w);
}

/* The members of a paired figure, into the object that is open. */
void figure_paired(struct json_writer *w, const struct paired *p)
{
    figure_double(w, "base", p->mean_a);
    figure_double(w, "other", p->mean_b);
    figure_double(w, "difference", p->mean);
    figure_interval(w, "interval", &p->difference);
    figure_double(w, "ratio", p->ratio_mean);
    figure_interval(w, "ratio_interval", &p->ratio);
    figure_count(w, "replications", p->n);
    figure_string(w, "verdict", verdict_names[p->verdict]);
    figure_string(w, "method", interval_method_names[p->method]);
}

void figure_gpu_s(struct json_writer *w, const char *key, share_ns sum)
{
    char text[DECIMAL_GPU_S_BYTES + 1];
    text[decimal_put_gpu_s(text, sum)] = '\0';
    json_write_key(w, key);
    json_write_raw(w, text);
}

/* ns as exact seconds; sums over jobs may pass 64 bits. */
void figure_exact_s(struct json_writer *w, const char *key, __int128 ns)
{
    char text[DECIMAL_GPU_S_BYTES + 2] = "-";
    size_t sign = ns < 0;
    text[sign + decimal_put(text + sign, (share_ns)(ns < 0 ? -ns : ns), NS_DIGITS)] = '\0';
    json_write_key(w, key);
    json_write_raw(w, text);
}

void figure_approach(struct json_writer *w, const struct approach_runs *a)
{
    figure_string(w, "name", a->name);
    figure_string(w, "approach", a->approach);
    figure_string(w, "scenario", a->scenario);
    figure_string(w, "scenario_hash", a->hash);
    figure_string(w, "version", a->version);
    figure_string(w, "back_end", a->back_end);
    json_write_key(w, "seed");
    json_write_uint64(w, a->seed);
    figure_double(w, "gpus", a->gpus);
    figure_double(w, "jobs", a->jobs);
    figure_bool(w, "patches_cluster", a->patches_cluster);
    figure_count(w, "not_complete", a->not_complete);
}

/* ---- CSV ---- */

void figure_csv_text(struct str *out, const char *text)
{
    str_append_char(out, '"');
    for (; *text; text++) {
        if (*text == '"') str_append_char(out, '"');
        str_append_char(out, *text);
    }
    str_append(out, "\",");
}

void figure_csv_number(struct str *out, double x, bool known)
{
    if (known && isfinite(x)) str_append_double(out, x);
    str_append_char(out, ',');
}
