/* dump.c - the state of the viewer as one JSON object: what the picture tells, for tests and for people who cannot see it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "base/str.h"
#include "viz/ui/private.h"
#include "viz/ui/time_axis.h"

static void text_member(struct json_writer *w, const char *key, const char *text)
{
    json_write_key(w, key);
    json_write_string(w, text);
}

static void seconds_member(struct json_writer *w, const char *key, int64_t ns)
{
    json_write_key(w, key);
    if (ns < 0)
        json_write_null(w);
    else
        json_write_seconds(w, ns);
}

static void bool_member(struct json_writer *w, const char *key, bool x)
{
    json_write_key(w, key);
    json_write_bool(w, x);
}

static void int_member(struct json_writer *w, const char *key, int64_t x)
{
    json_write_key(w, key);
    json_write_int64(w, x);
}

static void double_member(struct json_writer *w, const char *key, double x)
{
    json_write_key(w, key);
    json_write_double(w, x);
}

/* ---- parts ---- */

static void dump_runs(const struct ui *u, struct json_writer *w)
{
    json_write_key(w, "runs");
    json_write_array(w);
    for (unsigned i = 0; i < u->n_runs; i++) { /* that the views have before them */
        const struct scene *s = u->runs[i].scene;
        json_write_object(w);
        text_member(w, "title", s->title);
        text_member(w, "approach", s->run->approach);
        int_member(w, "jobs", s->n_jobs);
        int_member(w, "events", s->n_events);
        int_member(w, "spans", (int64_t)s->n_spans);
        seconds_member(w, "end_s", s->end_ns);
        bool_member(w, "growing", s->growing);
        int_member(w, "matches", u->runs[i].matches);
        text_member(w, "notes", s->notes);
        json_write_end(w);
    }
    json_write_end(w);
}

static void dump_selection(const struct ui *u, struct json_writer *w)
{
    static const char *const kinds[] = {"nothing", "job", "node", "gpu", "event"};
    const struct ui_selection *sel = &u->selection;
    const struct scene *s = sel->run < u->n_runs ? u->runs[sel->run].scene : NULL;
    json_write_key(w, "selection");
    json_write_object(w);
    text_member(w, "kind", kinds[sel->kind]);
    if (sel->kind != SELECTED_NOTHING && s) {
        int32_t job = ui_selected_job(u, sel->run);
        int_member(w, "run", sel->run);
        if (job >= 0) text_member(w, "job", s->jobs[job].id);
        if (sel->kind == SELECTED_NODE) text_member(w, "node", s->nodes[sel->node].name);
        if (sel->kind == SELECTED_GPU) {
            text_member(w, "node", s->nodes[sel->node].name);
            int_member(w, "gpu", sel->gpu);
            int_member(w, "gpu_of_node", (int64_t)sel->gpu - s->nodes[sel->node].first_gpu);
        }
        if (sel->kind == SELECTED_EVENT) {
            struct str text = {0};
            scene_event_text(s, &s->events[sel->event], &text);
            int_member(w, "event", sel->event);
            text_member(w, "text", str_text(&text));
            str_free(&text);
        }
        seconds_member(w, "at_s", sel->at_ns);
    }
    json_write_end(w);
}

static void dump_legend(const struct ui *u, struct json_writer *w)
{
    legend_list l = {0};
    legend_entries(u, &l);
    json_write_key(w, "legend");
    json_write_array_inline(w);
    for (size_t i = 0; i < l.n; i++) json_write_string(w, l.v[i].name);
    json_write_end(w);
    const char *isolated = NULL;
    for (size_t i = 0; i < l.n; i++)
        if (u->isolated == l.v[i].key + 1) isolated = l.v[i].name;
    text_member(w, "isolated", isolated);
    array_free(&l);
}

static void dump_details(struct ui *u, struct json_writer *w)
{
    struct details d = {0};
    details_build(u, &d);
    json_write_key(w, "details");
    json_write_array(w);
    for (size_t i = 0; i < d.lines.n; i++) {
        const struct detail *l = &d.lines.v[i];
        json_write_array_inline(w);
        json_write_string(w, l->label);
        if (l->kind == DETAIL_ROW) json_write_string(w, l->value);
        if (l->other) json_write_string(w, l->other);
        json_write_end(w);
    }
    json_write_end(w);
    details_free(&d);
}

static void dump_field(const struct ui *u, struct json_writer *w)
{
    static const char *const kinds[] = {NULL, "search", "goto", "queue", "bookmark", "command", "export"};
    const struct field *f = &u->private->field;
    text_member(w, "field", kinds[f->kind]);
    text_member(w, "field_text", f->text);
    text_member(w, "field_error", f->error);
}

static void dump_panes(struct ui *u, struct json_writer *w)
{
    const struct view_kind *k = ui_kind(u);
    json_write_key(w, "panes");
    json_write_array(w);
    for (unsigned i = 0; i < u->private->n_panes && k; i++) {
        const struct pane *p = &u->private->pane[i];
        json_write_object(w);
        int_member(w, "run", p->run);
        json_write_key(w, "box");
        json_write_array_inline(w);
        const float v[] = {p->box.x, p->box.y, p->box.w, p->box.h};
        for (unsigned n = 0; n < 4; n++) json_write_double(w, (double)v[n]);
        json_write_end(w);
        if (k->dump) k->dump(u, p, w);
        json_write_end(w);
    }
    json_write_end(w);
}

static void dump_picture(struct ui *u, struct json_writer *w)
{
    struct str found = {0};
    if (!u->private->list) u->private->list = draw_create(u->text);
    bool dirty = u->dirty;
    ui_draw(u, u->private->list);
    u->dirty = dirty;
    draw_check(u->private->list, &found);
    int_member(w, "drawn", (int64_t)draw_count(u->private->list));
    text_member(w, "check", str_text(&found));
    str_free(&found);
}

static void dump_comparison(const struct ui *u, struct json_writer *w)
{
    static const char *const shows[N_UI_SHOW] = {"both", "a", "b"};
    unsigned earlier, later;
    if (u->n_runs < 2) return;
    ribbon_count(u, &earlier, &later);
    text_member(w, "show", shows[u->show]);
    int_member(w, "earlier", earlier);
    int_member(w, "later", later);
    text_member(w, "differ", u->private->differ);
}

/* ---- all ---- */

static void dump_state(const struct ui *u, struct json_writer *w)
{
    static const char *const by[N_COLOUR_BY] = {"state", "job", "queue", "team"};
    static const char *const areas[N_AREAS] = {"body", "details", "legend", "tabs"};
    const struct view_kind *k = ui_kind(u);
    text_member(w, "view", k ? k->name : NULL);
    double_member(w, "width", (double)u->w);
    double_member(w, "height", (double)u->h);
    text_member(w, "theme", u->theme.name);
    double_member(w, "font_scale", (double)u->font_scale);
    seconds_member(w, "from_s", u->from_ns);
    seconds_member(w, "to_s", u->to_ns);
    seconds_member(w, "window_s", u->to_ns - u->from_ns);
    seconds_member(w, "cursor_s", u->cursor_ns);
    seconds_member(w, "mark_from_s", u->mark_from_ns);
    seconds_member(w, "mark_to_s", u->mark_to_ns);
    seconds_member(w, "anchor_s", u->anchor_ns);
    text_member(w, "filter", u->filter_text);
    text_member(w, "colour_by", by[u->colour_by]);
    bool_member(w, "by_job", u->by_job);
    int_member(w, "all_runs", ui_n_runs(u));
    text_member(w, "left_out", u->private->left_out);
    text_member(w, "area", areas[u->private->area]);
    int_member(w, "item", u->private->item);
    int_member(w, "focus", u->focus);
    json_write_key(w, "scroll"); /* of each view, in its own rows or pixels */
    json_write_array_inline(w);
    for (unsigned i = 0; i < sizeof u->scroll / sizeof *u->scroll; i++) json_write_double(w, (double)u->scroll[i]);
    json_write_end(w);
    bool_member(w, "playing", u->playing);
    double_member(w, "speed", u->speed);
    bool_member(w, "follow", u->follow);
    bool_member(w, "help", u->help);
    bool_member(w, "details_shown", u->details);
    bool_member(w, "quit", u->quit);
    text_member(w, "message", u->message);
    text_member(w, "error", u->private->error);
}

void ui_dump(struct ui *u, struct json_writer *w)
{
    json_write_object(w);
    dump_state(u, w);
    dump_field(u, w);
    dump_comparison(u, w);
    dump_selection(u, w);
    dump_runs(u, w);
    dump_picture(u, w);
    dump_legend(u, w);
    range_dump(u, w);
    bookmarks_dump(u, w);
    menu_dump(u, w);
    dump_details(u, w);
    if (u->layout.axis.h > 0) {
        json_write_key(w, "axis");
        time_axis_dump(u, ui_plot(u), w);
    }
    dump_panes(u, w);
    grid_dump(u, w);
    json_write_end(w);
}
