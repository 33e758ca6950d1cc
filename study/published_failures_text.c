/* published_failures_text.c - the list of published_failures.h as text, Markdown, CSV and JSON.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/published_failures.h"

#include <math.h>
#include <string.h>

#include "base/json_write.h"
#include "study/figures.h"
#include "study/words.h"

static const char preface[] = "Restarts take 10 min, in brackets 20 to 5 min (RSC's range), where nothing else is said.\n";

enum cell { WHAT, FROM, PREDICTED, PUBLISHED, OFF, VERDICT, N_CELLS };
static const char *const heads[N_CELLS] = {"what", "predicted from", "predicted", "published", "off by", ""};

static void predicted_text(const struct published_row *r, struct str *s)
{
    words_number(s, r->predicted);
    if (*r->unit) str_printf(s, " %s", r->unit);
    if (!isnan(r->least)) str_printf(s, " (%.2f to %.2f)", r->least, r->most);
}

static void range_text(const struct published_row *r, struct str *s)
{
    if (r->low < r->high) str_append(s, "at least ");
    words_number(s, r->low);
    if (*r->unit) str_printf(s, " %s", r->unit);
    if (!r->measured) str_append(s, " (projected)");
}

static void off_text(const struct published_row *r, struct str *s)
{
    if (r->low != r->high && !isinf(r->high)) return;
    words_signed_number(s, round(1000 * (r->predicted / r->low - 1)) / 10);
    str_append(s, " %");
}

static void cells_of(const struct published_row *r, struct str cell[N_CELLS])
{
    for (int i = 0; i < N_CELLS; i++) cell[i] = (struct str){0};
    str_append(&cell[WHAT], r->what);
    str_append(&cell[FROM], r->from);
    predicted_text(r, &cell[PREDICTED]);
    range_text(r, &cell[PUBLISHED]);
    off_text(r, &cell[OFF]);
    str_append(&cell[VERDICT], r->met ? "met" : "missed");
}

static void cells_free(struct str cell[N_CELLS])
{
    for (int i = 0; i < N_CELLS; i++) str_free(&cell[i]);
}

static bool told_before(const struct published_list *p, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (str_equal(p->rows.v[k].why, p->rows.v[i].why)) return true;
    return false;
}

static void misses(const struct published_list *p, size_t width, struct str *s)
{
    size_t met = 0, measured = 0, both = 0;
    for (size_t i = 0; i < p->rows.n; i++) {
        met += p->rows.v[i].met;
        measured += p->rows.v[i].measured;
        both += p->rows.v[i].met && p->rows.v[i].measured;
    }
    str_printf(s, "\n%zu of %zu met (within 15 %%, or the bound); of the %zu that were measured, not projected, %zu. Misses:\n\n", met,
               p->rows.n, measured, both);
    for (size_t i = 0; i < p->rows.n; i++) {
        if (p->rows.v[i].met || told_before(p, i)) continue;
        struct str line = {0};
        str_printf(&line, "%s from %s: %s.", p->rows.v[i].what, p->rows.v[i].from, p->rows.v[i].why);
        str_append(s, "* ");
        words_wrapped(s, str_text(&line), 2, width);
        str_append(s, "\n");
        str_free(&line);
    }
}

/* ---- for people ---- */

static void measure(const struct published_list *p, size_t width[N_CELLS])
{
    for (int k = 0; k < N_CELLS; k++) width[k] = strlen(heads[k]);
    for (size_t i = 0; i < p->rows.n; i++) {
        struct str cell[N_CELLS];
        cells_of(&p->rows.v[i], cell);
        for (int k = 0; k < N_CELLS; k++) width[k] = cell[k].n > width[k] ? cell[k].n : width[k];
        cells_free(cell);
    }
}

static void text_line(const char *const cell[N_CELLS], const size_t width[N_CELLS], struct str *s)
{
    str_append(s, "  ");
    for (int k = 0; k < N_CELLS; k++) {
        if (k == OFF) words_right(s, cell[k], width[k]);
        else if (k == VERDICT) str_append(s, cell[k]);
        else words_left(s, cell[k], width[k]);
        str_append(s, k < OFF ? "  " : k < VERDICT && *cell[VERDICT] ? " " : "");
    }
    str_append(s, "\n");
}

void published_text(const struct published_list *p, struct str *s)
{
    size_t width[N_CELLS];
    measure(p, width);
    str_append(s, preface);
    str_append(s, "\n");
    text_line(heads, width, s);
    for (size_t i = 0; i < p->rows.n; i++) {
        const struct published_row *r = &p->rows.v[i];
        struct str cell[N_CELLS];
        const char *text[N_CELLS];
        if (i == 0 || !str_equal(r->source, r[-1].source)) str_printf(s, "%s\n", r->source);
        cells_of(r, cell);
        for (int k = 0; k < N_CELLS; k++) text[k] = str_text(&cell[k]);
        text_line(text, width, s);
        cells_free(cell);
    }
    misses(p, 110, s);
}

/* ---- for docs/models.md ---- */

void published_markdown(const struct published_list *p, struct str *s)
{
    str_append(s, preface);
    str_append(s, "\n| what | predicted from | predicted | published | within 15 %, or the bound | source |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < p->rows.n; i++) {
        struct str cell[N_CELLS];
        cells_of(&p->rows.v[i], cell);
        for (int k = 0; k < OFF; k++) str_printf(s, "| %s ", str_text(&cell[k]));
        str_printf(s, "| %s%s%s | %s |\n", str_text(&cell[OFF]), cell[OFF].n ? " " : "", str_text(&cell[VERDICT]),
                   p->rows.v[i].source);
        cells_free(cell);
    }
    misses(p, 126, s);
}

/* ---- for programs ---- */

void published_csv(const struct published_list *p, struct str *s)
{
    str_append(s, "what,from,predicted,published_low,published_high,unit,measured,met,source\n");
    for (size_t i = 0; i < p->rows.n; i++) {
        const struct published_row *r = &p->rows.v[i];
        figure_csv_text(s, r->what);
        figure_csv_text(s, r->from);
        figure_csv_number(s, r->predicted, true);
        figure_csv_number(s, r->low, true);
        figure_csv_number(s, r->high, isfinite(r->high));
        figure_csv_text(s, r->unit);
        str_printf(s, "%d,%d,\"%s\"\n", r->measured, r->met, r->source);
    }
}

void published_json(const struct published_list *p, struct str *s)
{
    struct json_writer w;
    json_write_begin(&w, s);
    json_write_array(&w);
    for (size_t i = 0; i < p->rows.n; i++) {
        const struct published_row *r = &p->rows.v[i];
        json_write_object(&w);
        figure_string(&w, "what", r->what);
        figure_string(&w, "from", r->from);
        figure_double(&w, "predicted", r->predicted);
        if (!isnan(r->least)) figure_double(&w, "predicted_least", r->least);
        if (!isnan(r->most)) figure_double(&w, "predicted_most", r->most);
        figure_double(&w, "published_low", r->low);
        figure_double(&w, "published_high", r->high);
        figure_string(&w, "unit", r->unit);
        figure_bool(&w, "measured", r->measured);
        figure_bool(&w, "met", r->met);
        figure_string(&w, "why", r->why);
        figure_string(&w, "source", r->source);
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_finish(&w);
}
