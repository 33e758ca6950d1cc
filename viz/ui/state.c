/* state.c - the state of the viewer: made, asked and freed. See ui.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "viz/ui/memo.h"
#include "viz/ui/private.h"
#include "viz/ui/time_axis.h"

enum { FIRST_WIDTH = 1280, FIRST_HEIGHT = 800, PLAY_SECONDS = 60 };

/* ---- made and freed ---- */

/* A speed that plays the whole run in about a minute, as a step of clocks. */
static double first_speed(const struct ui *u)
{
    return (double)time_step((ui_end(u) - ui_begin(u)) / PLAY_SECONDS, 1) / NS_PER_S;
}

static void scenes_changed(struct ui *u)
{
    pairs_update(u);
    filter_apply(u);
    colours_count(u);
    colours_update(u);
}

struct ui *ui_create(struct scene *const *scenes, unsigned n, const struct text_engine *text, const struct ui_options *o)
{
    struct ui *u = xcalloc(1, sizeof *u);
    struct ui_private *p = u->private = xcalloc(1, sizeof *p);
    u->text = text;
    runs_make(u, scenes, n);
    u->collapsed = xcalloc(1, sizeof *u->collapsed);
    u->w = FIRST_WIDTH;
    u->h = FIRST_HEIGHT;
    u->filter_text = p->filter_words;
    u->follow = o->follow;
    u->animate = o->animate;
    u->details = true;
    u->mark_from_ns = u->mark_to_ns = u->anchor_ns = -1;
    p->error = o->error;
    p->left_out = o->left_out;
    u->grid = o->grid && n > 1;
    p->until_ns = -1;
    p->pointer.x = p->pointer.y = -1;
    p->did = p->doing = -1;
    ui_theme_set(u, o->theme, o->font_scale > 0 ? o->font_scale : 1);
    runs_sync(u);
    ui_window_quietly(u, ui_begin(u), ui_end(u));
    u->cursor_ns = ui_begin(u);
    u->speed = first_speed(u);
    scenes_changed(u);
    return u;
}

void ui_destroy(struct ui *u)
{
    if (!u) return;
    struct ui_private *p = u->private;
    runs_drop(u);
    colours_free(&p->colours);
    array_free(&p->back);
    array_free(&p->forward);
    array_free(&p->hits);
    array_free(&p->deltas);
    array_free(&p->bookmarks);
    free(p->field.error);
    draw_destroy(p->list);
    filter_free(u->filter);
    hmap_free(u->collapsed);
    free(u->collapsed);
    free(p);
    free(u);
}

/* ---- growing runs ---- */

void ui_grown(struct ui *u)
{
    bool at_end = u->n_runs && u->to_ns > 0;
    int64_t width = u->to_ns - u->from_ns, old_end = u->to_ns, begin = ui_begin(u);
    for (unsigned i = 0; i < u->private->n_all; i++) {
        for (unsigned k = 0; k < N_SCENE_SETS; k++) lod_update(u->private->all[i].lod[k]);
        curves_update(u->private->all[i].curves);
    }
    scenes_changed(u);
    int64_t end = ui_end(u);
    if (at_end && u->follow && old_end < end) {
        bool all = u->from_ns == begin, cursor_at_end = u->cursor_ns >= old_end - width / 100;
        ui_window_quietly(u, all ? begin : end - width, end);
        if (cursor_at_end) u->cursor_ns = end;
        range_follow(u);
    }
    u->dirty = true;
}

/* ---- for views ---- */

struct ui_run *ui_run(struct ui *u, unsigned i)
{
    return &u->runs[i];
}

const struct view_kind *ui_kind(const struct ui *u)
{
    return u->view < n_view_kinds && u->n_runs ? view_kinds[u->view] : NULL;
}

int64_t ui_begin(const struct ui *u)
{
    int64_t begin = u->n_runs ? u->runs[0].scene->begin_ns : 0;
    for (unsigned i = 0; i < ui_n_scaled(u); i++)
        if (ui_scaled(u, i)->scene->begin_ns < begin) begin = ui_scaled(u, i)->scene->begin_ns;
    return begin;
}

/* At least a second after the begin, so that an empty run has an axis too. */
int64_t ui_end(const struct ui *u)
{
    int64_t end = ui_begin(u) + NS_PER_S;
    for (unsigned i = 0; i < ui_n_scaled(u); i++)
        if (ui_scaled(u, i)->scene->end_ns > end) end = ui_scaled(u, i)->scene->end_ns;
    return end;
}

float ui_x_of(const struct ui *u, struct box plot, int64_t ns)
{
    double part = ((double)ns - (double)u->from_ns) / (double)(u->to_ns - u->from_ns);
    return (float)((double)plot.x + part * (double)plot.w);
}

int64_t ui_time_of(const struct ui *u, struct box plot, float x)
{
    double part = plot.w > 0 ? ((double)x - (double)plot.x) / (double)plot.w : 0;
    return u->from_ns + (int64_t)(part * (double)(u->to_ns - u->from_ns));
}

void ui_select(struct ui *u, const struct ui_selection *s)
{
    struct ui_selection was = u->selection;
    if (memcmp(&was, s, sizeof was) != 0) history_note(u);
    u->selection = *s;
    u->private->details_scroll = 0;
    u->dirty = true;
}

int32_t ui_selected_job(const struct ui *u, unsigned run)
{
    const struct ui_selection *s = &u->selection;
    int32_t job = -1;
    if (s->run >= u->n_runs || run >= u->n_runs) return -1;
    if (s->kind == SELECTED_JOB) job = s->job;
    if (s->kind == SELECTED_EVENT) job = u->runs[s->run].scene->events[s->event].job;
    if (job < 0 || s->run == run) return job;
    return u->runs[s->run].twin ? u->runs[s->run].twin[job] : -1;
}

bool ui_job_passes(const struct ui *u, unsigned run, int32_t job)
{
    return job < 0 || u->runs[run].passes[job];
}

void ui_say(struct ui *u, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(u->message, sizeof u->message, fmt, args);
    va_end(args);
    u->dirty = true;
}

void ui_view(struct ui *u, const char *name)
{
    for (unsigned i = 0; i < n_view_kinds; i++)
        if (strcmp(view_kinds[i]->name, name) == 0 && u->view != i) {
            history_note(u);
            u->view = i;
            u->focus = 0;
            u->dirty = true;
        }
}

void ui_theme_set(struct ui *u, unsigned index, float scale)
{
    u->theme_index = index;
    u->font_scale = scale;
    u->theme = theme_make(index, scale);
    if (u->n_runs) colours_update(u);
    u->dirty = true;
}

void ui_font_scale(struct ui *u, float scale)
{
    ui_theme_set(u, u->theme_index, scale);
}

bool box_has(struct box b, float x, float y)
{
    return x >= b.x && x < b.x + b.w && y >= b.y && y < b.y + b.h;
}
