/* gantt_paint.c - the rows of the Gantt as pixels and spans.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "study/words.h"
#include "viz/views/gantt.h"
#include "viz/views/widgets.h"

/* What one frame needs. */
struct painter {
    struct gantt_sight *g;
    struct draw_list *d;
    uint32_t *raster; /* of the area */
    unsigned w, h;
    struct lod_cell *cells;
    uint8_t *chosen; /* by pixel of the raster: the selected job's, to be outlined; NULL: no job is selected */
    int32_t job;     /* the selected one */
    struct { unsigned show; int32_t job; uint32_t argb; enum pattern pattern; } last;
    enum pattern patterns[N_SHOWS];
    uint32_t background, failure;
};

static void look_up(struct painter *p, unsigned show, int32_t job)
{
    if (p->last.show == show && p->last.job == job) return;
    p->last.show = show;
    p->last.job = job;
    p->last.argb = ui_colour(p->g->ui, p->g->pane->run, show, job);
    p->last.pattern = p->patterns[show];
}

/* Patterns of single pixels, so that states keep a sign beside their colour in rows of a pixel, too. */
static bool in_pattern(enum pattern pattern, unsigned x, unsigned y)
{
    switch (pattern) {
    case PATTERN_HATCH: return (x + y) % 5 == 0;
    case PATTERN_BACK_HATCH: return (x + 4 * y) % 5 == 0;
    case PATTERN_CROSS: return (x + y) % 5 == 0 || (x + 4 * y) % 5 == 0;
    case PATTERN_DOTS: return x % 3 == 0 && y % 3 == 0;
    case PATTERN_BARS: return x % 4 == 0;
    default: return false;
    }
}

/* A failure that the cell's greater part would hide. */
static bool hidden_failure(const struct lod_cell *c)
{
    return c->failure != SHOW_NOTHING && c->failure != c->show;
}

static uint32_t pixel(struct painter *p, const struct lod_cell *c, unsigned x, unsigned y, bool merged)
{
    if (hidden_failure(c)) return p->failure;
    if (c->show == SHOW_NOTHING) return 0;
    look_up(p, c->show, c->job);
    uint32_t argb = p->last.argb;
    if (merged && c->taken < 255) argb = theme_mix(p->background, argb, 0.4f + 0.6f * (float)c->taken / 255);
    else if (!merged && c->many && (x + 2 * y) % 4 == 0) return theme_mix(argb, p->background, 0.5f);
    return in_pattern(p->last.pattern, x, y) ? theme_mix(argb, p->background, 0.4f) : argb;
}

static void raster_row(struct painter *p, unsigned y, unsigned h, unsigned x0, unsigned x1, bool merged)
{
    for (unsigned j = y; j < y + h && j < p->h; j++)
        for (unsigned x = x0; x < x1; x++) p->raster[(size_t)j * p->w + x] = pixel(p, &p->cells[x], x, j, merged);
}

/* ---- rows with room for spans ---- */

static bool same_cell(const struct lod_cell *a, const struct lod_cell *b)
{
    return a->show == b->show && a->job == b->job && a->many == b->many;
}

static void label(struct painter *p, struct box b, const struct lod_cell *c)
{
    const struct ui *u = p->g->ui;
    const struct scene *s = p->g->run->scene;
    float size = fminf(u->theme.font_size, b.h - 3);
    struct str text = {0};
    if (size < 8 || b.w < 3 * size) return;
    if (p->g->rows.set == SCENE_GPUS && c->job >= 0) str_append(&text, s->jobs[c->job].id);
    else words_name(&text, show_name(c->show));
    float w = text_width(u->text, FACE_SANS, size, str_text(&text));
    struct text_style style = {.size = size, .argb = theme_text_on(p->last.argb)};
    if (w + 8 <= b.w) draw_text(p->d, b.x + 4, widget_baseline(u, b, size), &style, str_text(&text));
    str_free(&text);
}

static void wide_span(struct painter *p, struct box row, unsigned x0, unsigned x1)
{
    const struct lod_cell *c = &p->cells[x0];
    struct box b = {row.x + (float)x0, row.y, (float)(x1 - x0), row.h};
    look_up(p, c->show, c->job);
    draw_fill(p->d, b, p->last.argb, c->many ? PATTERN_HATCH : p->last.pattern);
    label(p, b, c);
}

/* Marks at the foot of a row: failures too short for a pixel of their own. */
static void wide_failures(struct painter *p, struct box row)
{
    float h = fmaxf(3, floorf(row.h / 3));
    for (unsigned x = 0, end; x < p->w; x = end) {
        end = x + 1;
        if (!hidden_failure(&p->cells[x])) continue;
        while (end < p->w && hidden_failure(&p->cells[end])) end++;
        draw_fill(p->d, (struct box){row.x + (float)x - 1, row.y + row.h - h, (float)(end - x) + 1, h}, p->failure, PATTERN_CROSS);
    }
}

enum { NARROW = 3 }; /* px: spans below it are painted as pixels */

static void wide_row(struct painter *p, struct box row)
{
    float gap = row.h >= 9 ? 1 : 0;
    struct box inner = {row.x, row.y + gap, row.w, row.h - 1 - gap};
    for (unsigned x = 0, end; x < p->w; x = end) {
        for (end = x + 1; end < p->w && same_cell(&p->cells[x], &p->cells[end]);) end++;
        if (p->cells[x].show == SHOW_NOTHING) continue;
        if (end - x >= NARROW) wide_span(p, inner, x, end);
        else if (inner.y >= p->g->area.y) raster_row(p, (unsigned)(inner.y - p->g->area.y), (unsigned)inner.h, x, end, false);
    }
    wide_failures(p, inner);
}

/* ---- the selected job ---- */

static void choose(struct painter *p, const struct scene_span *s, struct box row)
{
    const struct ui *u = p->g->ui;
    float x0 = ui_x_of(u, p->g->area, s->from_ns) - row.x, x1 = ui_x_of(u, p->g->area, scene_to(p->g->run->scene, s)) - row.x;
    unsigned a = x0 <= 0 ? 0 : (unsigned)x0, b = x1 >= (float)p->w ? p->w : (unsigned)fmaxf(x1, 0);
    if (x1 < 0 || a >= p->w) return;
    if (b <= a) b = a + 1;
    for (float y = row.y - p->g->area.y; y < row.y - p->g->area.y + row.h; y++)
        if (y >= 0 && y < (float)p->h) memset(p->chosen + (size_t)y * p->w + a, 1, b - a);
}

/* Its spans, one by one: in merged rows others may take the greater part of a pixel. */
static void choose_row(struct painter *p, const struct gantt_row *r, struct box row)
{
    const struct scene *s = p->g->run->scene;
    const struct scene_job *j = &s->jobs[p->job];
    int64_t from = p->g->ui->from_ns, to = p->g->ui->to_ns;
    if (p->g->rows.set == SCENE_GPUS && j->allocated_ns > from) from = j->allocated_ns;
    for (uint32_t k = r->first; k < r->first + r->n; k++) {
        const struct scene_track *t = &s->tracks[p->g->rows.set][k];
        uint32_t i = scene_seek(s, p->g->rows.set, k, from);
        for (i = i > 8 ? i - 8 : 0; i < t->n && t->v[i].from_ns < to; i++)
            if (t->v[i].job == p->job) choose(p, &t->v[i], row);
    }
}

static bool is_chosen(const struct painter *p, unsigned x, unsigned y)
{
    return x < p->w && y < p->h && p->chosen[(size_t)y * p->w + x];
}

static void outline(struct painter *p)
{
    uint32_t *over = draw_raster(p->d, p->g->area), argb = p->g->ui->theme.role[ROLE_CURSOR];
    for (unsigned y = 0; y < p->h; y++)
        for (unsigned x = 0; x < p->w; x++) {
            if (!is_chosen(p, x, y)) continue;
            bool edge = !is_chosen(p, x - 1, y) || !is_chosen(p, x + 1, y) || !is_chosen(p, x, y - 1) || !is_chosen(p, x, y + 1);
            if (edge) over[(size_t)y * p->w + x] = argb;
        }
}

/* ---- the lane of failures ---- */

static void paint_lane(const struct gantt_sight *g, struct draw_list *d)
{
    const struct scene *s = g->run->scene;
    const struct gantt_failures *f = gantt_failures(g->ui, g->pane->run);
    draw_rect(d, g->lane, ROLE_PANEL);
    for (size_t i = 0; i < f->n; i++) {
        const struct record *e = &s->events[f->events[i]];
        if (e->time_ns < g->ui->from_ns || e->time_ns >= g->ui->to_ns) continue;
        float x = floorf(ui_x_of(g->ui, g->lane, e->time_ns));
        size_t last = i; /* those that share the pixel are drawn once */
        while (last + 1 < f->n && floorf(ui_x_of(g->ui, g->lane, s->events[f->events[last + 1]].time_ns)) <= x) last++;
        bool seen = e->job < 0 || ui_job_passes(g->ui, g->pane->run, e->job);
        draw_fill(d, (struct box){x - 1, g->lane.y + 1, 3, g->lane.h - 2}, g->ui->theme.role[seen ? ROLE_FAILURE : ROLE_GREYED], PATTERN_HATCH);
        i = last;
    }
}

/* ---- all of it ---- */

static void paint_row(struct painter *p, const struct gantt_row *r)
{
    const struct gantt_sight *g = p->g;
    struct box row = {g->area.x, g->area.y + r->y - g->scroll, g->area.w, r->h};
    float above = fmaxf(0, g->area.y - row.y), h = row.h - above;
    unsigned y = (unsigned)fmaxf(0, roundf(row.y - g->area.y));
    lod_row(g->run->lod[g->rows.set], r->first, r->n, g->ui->from_ns, g->ui->to_ns, p->w, p->cells);
    if (r->h >= GANTT_WIDE && r->n == 1) wide_row(p, row);
    else if (h > 0) raster_row(p, y, (unsigned)roundf(h - (r->h >= 4 && h > 2 ? 1 : 0)), 0, p->w, r->n > 1);
    if (p->chosen) choose_row(p, r, row);
}

void gantt_paint_rows(struct gantt_sight *g, struct draw_list *d)
{
    struct painter p = {.g = g, .d = d, .w = (unsigned)roundf(g->area.w), .h = (unsigned)roundf(g->area.h), .last = {.show = SHOW_NOTHING}};
    p.background = g->ui->theme.role[ROLE_BACKGROUND];
    p.failure = g->ui->theme.role[ROLE_FAILURE];
    for (unsigned show = 0; show < N_SHOWS; show++) p.patterns[show] = theme_look(&g->ui->theme, show).pattern;
    p.job = ui_selected_job(g->ui, g->pane->run);
    if (p.w == 0 || p.h == 0) return;
    draw_clip(d, g->area);
    p.raster = draw_raster(d, g->area);
    p.cells = xcalloc(p.w, sizeof *p.cells);
    if (p.job >= 0) p.chosen = xcalloc((size_t)p.w * p.h, 1);
    for (struct gantt_row r = {0}; gantt_row_next(&g->rows, g->scroll, g->scroll + g->area.h, &r);) paint_row(&p, &r);
    if (p.chosen) outline(&p);
    draw_unclip(d);
    free(p.cells);
    free(p.chosen);
}

void gantt_paint(struct gantt_sight *g, struct draw_list *d)
{
    if (g->area.w < 1) return;
    paint_lane(g, d);
    gantt_paint_rows(g, d);
}
