/* events.c - view 5: what happened, event by event, around the cursor.
 *
 * The list has no place of its own: the cursor's row stands a third down the sight, the others around it, and the wheel shifts them until the cursor moves.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "base/units.h"
#include "run/decimal.h"
#include "study/words.h"
#include "viz/ui/view.h"
#include "viz/views/event_cost.h"
#include "viz/views/event_list.h"
#include "viz/views/slots.h"
#include "viz/views/widgets.h"

extern const struct view_kind view_events;

enum { N_COLUMNS = 5 };
struct column { const char *title; float x, w; };

struct log {
    struct ui *ui;
    const struct pane *pane;
    const struct scene *scene;
    struct event_pick pick;
    struct box chips, head, body, foot; /* foot: what the cursor's event cost; no height when it is no failure of a node */
    struct event_cost cost;
    struct column columns[N_COLUMNS];
    float row;      /* px a row */
    uint32_t at;    /* the cursor's event; n_events: none is shown */
    uint32_t first; /* the event of the uppermost row */
    unsigned rows;  /* that fit */
};

/* ---- where things are ---- */

/* In a narrow pane what happened keeps its room: node, then job, then kind are left out, with no width. */
static void lay_columns(struct log *l)
{
    static const char *const titles[N_COLUMNS] = {"time", "kind", "job", "node", "what happened"};
    static const float parts[N_COLUMNS] = {10, 10, 14, 9, 0}; /* in font sizes; the last takes the rest */
    static const float least[N_COLUMNS] = {12, 26, 40, 52, 0}; /* width of the pane from which there is the column */
    float x = l->body.x + l->ui->theme.pad, gap = l->ui->theme.pad * 1.5f, f = l->ui->theme.font_size;
    for (int i = 0; i < N_COLUMNS; i++) {
        bool shown = l->body.w >= least[i] * f;
        float w = i + 1 < N_COLUMNS ? parts[i] * f : l->body.x + l->body.w - x - l->ui->theme.pad;
        l->columns[i] = (struct column){titles[i], x, shown ? fmaxf(w, 0) : 0};
        x += shown ? w + gap : 0;
    }
}

/* The event a number of rows away; as far as there are any. */
static uint32_t away(const struct log *l, uint32_t i, int rows)
{
    for (uint32_t next; rows != 0 && (next = event_pick_next(&l->pick, i, rows > 0)) < l->scene->n_events; rows += rows > 0 ? -1 : 1) i = next;
    return i;
}

static bool begin(struct log *l, struct ui *u, const struct pane *pane)
{
    const struct ui_run *run = &u->runs[pane->run];
    float pad = u->theme.pad, line = u->theme.line + 2;
    struct box b = pane->box;
    float kind = u->scroll[SLOT_EVENTS_KIND];
    *l = (struct log){.ui = u, .pane = pane, .scene = run->scene, .row = line};
    l->pick = (struct event_pick){run->scene, kind >= 0 && kind < N_EVENT_KINDS ? (enum event_kinds)kind : EVENTS_ALL, u->filter ? run->passes : NULL};
    l->chips = (struct box){b.x + pad, b.y + pad / 2, b.w - 2 * pad, line + 2};
    l->head = (struct box){b.x, l->chips.y + l->chips.h + pad / 2, b.w, line};
    l->body = (struct box){b.x, l->head.y + l->head.h, b.w, fmaxf(line, b.y + b.h - l->head.y - l->head.h)};
    bool chosen = u->selection.kind == SELECTED_EVENT && u->selection.run == pane->run;
    l->at = event_pick_at(&l->pick, u->cursor_ns, chosen ? u->selection.event : run->scene->n_events);
    if (event_cost(run->scene, l->at, &l->cost)) {
        l->body.h = fmaxf(line, l->body.h - line);
        l->foot = (struct box){b.x, l->body.y + l->body.h, b.w, line};
    }
    l->rows = (unsigned)(l->body.h / line);
    lay_columns(l);
    l->first = l->at;
    if (l->at < run->scene->n_events) l->first = away(l, l->at, (int)u->scroll[SLOT_EVENTS] - (int)l->rows / 3);
    return l->scene->n_events > 0;
}

/* ---- texts ---- */

static void job_text(const struct scene *s, const struct record *r, struct str *out)
{
    if (r->job >= 0 && (uint32_t)r->job < s->n_jobs) str_append(out, s->jobs[r->job].id);
}

static void node_text(const struct scene *s, const struct record *r, struct str *out)
{
    uint32_t node = event_pick_node(s, r);
    if (node < s->n_nodes) str_append(out, s->nodes[node].name);
}

static void kind_text(const struct record *r, struct str *out)
{
    if (r->type < N_RECORD_TYPES) words_name(out, record_table[r->type].name);
    else str_append(out, "?");
}

static void cell_text(const struct scene *s, const struct record *r, int column, struct str *out)
{
    switch (column) {
    case 0: widget_moment(out, r->time_ns); break;
    case 1: kind_text(r, out); break;
    case 2: job_text(s, r, out); break;
    case 3: node_text(s, r, out); break;
    default: scene_event_text(s, r, out); break;
    }
}

/* ---- drawing ---- */

struct chip { struct box box; enum event_kinds kinds; };

/* Where they are too many for the width, all are narrower by the same part and their names are cut. */
static void lay_chips(const struct log *l, struct chip chips[N_EVENT_KINDS])
{
    const struct theme *t = &l->ui->theme;
    float x = l->chips.x, all = 0, width[N_EVENT_KINDS];
    for (int k = 0; k < N_EVENT_KINDS; k++) {
        width[k] = text_width(l->ui->text, FACE_SANS, t->font_size, event_kind_names[k]) + 1.4f * t->font_size;
        all += width[k] + t->pad / 2;
    }
    for (int k = 0; k < N_EVENT_KINDS; k++) {
        float w = roundf(width[k] * fminf(1, l->chips.w / all));
        chips[k] = (struct chip){{x, l->chips.y, w, l->chips.h}, (enum event_kinds)k};
        x += w + t->pad / 2 * fminf(1, l->chips.w / all);
    }
}

static void draw_chips(const struct log *l, struct draw_list *d)
{
    struct chip chips[N_EVENT_KINDS];
    lay_chips(l, chips);
    for (int k = 0; k < N_EVENT_KINDS; k++) {
        bool on = chips[k].kinds == l->pick.kinds;
        draw_rect(d, chips[k].box, on ? ROLE_ACCENT : ROLE_BAR);
        widget_text(l->ui, d, chips[k].box, FACE_SANS, on ? ROLE_TEXT_ON_ACCENT : ROLE_TEXT, ALIGN_CENTRE, event_kind_names[k]);
    }
    float x = chips[N_EVENT_KINDS - 1].box.x + chips[N_EVENT_KINDS - 1].box.w + 2 * l->ui->theme.pad;
    struct str text = {0};
    uint32_t before, all = event_pick_count(&l->pick, l->at, &before);
    if (l->at < l->scene->n_events) {
        str_append(&text, "event ");
        units_format_count(&text, (int64_t)before + 1);
        str_append(&text, " of ");
    }
    units_format_count(&text, all);
    if (l->pick.passes) str_append(&text, " that pass the filter");
    struct box rest = {x, l->chips.y, l->chips.x + l->chips.w - x, l->chips.h};
    if (rest.w > 100) widget_text(l->ui, d, rest, FACE_SANS, ROLE_TEXT_DIM, ALIGN_RIGHT, str_text(&text));
    str_free(&text);
}

static void draw_head(const struct log *l, struct draw_list *d)
{
    draw_rect(d, l->head, ROLE_BAR);
    for (int i = 0; i < N_COLUMNS; i++)
        widget_text(l->ui, d, (struct box){l->columns[i].x, l->head.y, l->columns[i].w, l->head.h}, FACE_BOLD, ROLE_TEXT_DIM,
                    i ? ALIGN_LEFT : ALIGN_RIGHT, l->columns[i].title);
}

static void draw_row(const struct log *l, struct draw_list *d, uint32_t i, float y)
{
    const struct record *r = &l->scene->events[i];
    const struct theme *t = &l->ui->theme;
    struct box row = {l->body.x, y, l->body.w, l->row};
    bool bad = scene_event_is_failure(r), mine = r->job >= 0 && r->job == ui_selected_job(l->ui, l->pane->run);
    struct str text = {0};
    if (i == l->at) draw_rect(d, row, ROLE_HOVER);
    if (bad) draw_fill(d, (struct box){row.x, row.y + 1, 4, row.h - 2}, t->role[ROLE_FAILURE], PATTERN_HATCH);
    if (i == l->at) draw_frame(d, row, t->role[ROLE_ACCENT], 1);
    for (int k = 0; k < N_COLUMNS; k++) {
        struct box cell = {l->columns[k].x, y, l->columns[k].w, l->row};
        str_clear(&text);
        cell_text(l->scene, r, k, &text);
        widget_text(l->ui, d, cell, k == 2 && mine ? FACE_BOLD : FACE_SANS, bad && k == 1 ? ROLE_FAILURE : k < 2 ? ROLE_TEXT_DIM : ROLE_TEXT,
                    k ? ALIGN_LEFT : ALIGN_RIGHT, str_text(&text));
    }
    str_free(&text);
}

/* The cursor between two events: a line where it stands. */
static void draw_cursor(const struct log *l, struct draw_list *d, float y)
{
    draw_line(d, (struct point){l->body.x, y}, (struct point){l->body.x + l->body.w, y}, l->ui->theme.role[ROLE_CURSOR], 2);
}

static void draw_rows(const struct log *l, struct draw_list *d)
{
    uint32_t i = l->first;
    draw_clip(d, l->body);
    for (unsigned k = 0; k <= l->rows && i < l->scene->n_events; k++) {
        float y = l->body.y + (float)k * l->row;
        int64_t at = l->scene->events[i].time_ns, cursor = l->ui->cursor_ns;
        if (y + l->row > l->body.y + l->body.h) break;
        draw_row(l, d, i, y);
        uint32_t next = event_pick_next(&l->pick, i, true);
        if (at < cursor && (next >= l->scene->n_events || l->scene->events[next].time_ns > cursor)) draw_cursor(l, d, y + l->row);
        i = next;
    }
    draw_unclip(d);
}

static void draw_foot(const struct log *l, struct draw_list *d)
{
    struct str text = {0};
    float pad = l->ui->theme.pad;
    if (l->foot.h <= 0) return;
    event_cost_text(l->scene, &l->cost, &text);
    draw_rect(d, l->foot, ROLE_BAR);
    widget_text(l->ui, d, (struct box){l->foot.x + pad, l->foot.y, l->foot.w - 2 * pad, l->foot.h}, FACE_SANS, ROLE_FAILURE, ALIGN_LEFT, str_text(&text));
    str_free(&text);
}

static void no_events(const struct log *l, struct draw_list *d, struct box b)
{
    if (!l->scene->has_timeline)
        view_empty(l->ui, d, b, "This run keeps no events.", "Run again with: trainyard run SCENARIO --record jobs (or full).");
    else if (l->scene->n_events == 0)
        view_empty(l->ui, d, b, "Nothing has happened yet.", "Events appear here as the run grows.");
    else
        view_empty(l->ui, d, b, l->pick.passes ? "No event is of this kind and passes the filter." : "No event is of this kind.",
                   l->pick.passes ? "K shows the next kind of events, Esc takes the filter away." : "K shows the next kind of events.");
}

static void draw(struct ui *u, const struct pane *pane, struct draw_list *d)
{
    struct log l;
    if (!begin(&l, u, pane)) {
        no_events(&l, d, pane->box);
        return;
    }
    draw_chips(&l, d);
    if (l.at >= l.scene->n_events) {
        no_events(&l, d, l.body);
        return;
    }
    draw_head(&l, d);
    draw_rows(&l, d);
    draw_foot(&l, d);
}

/* ---- pointer and keys ---- */

static uint32_t row_at(const struct log *l, float x, float y)
{
    if (!widget_in(l->body, x, y) || l->first >= l->scene->n_events) return l->scene->n_events;
    uint32_t i = l->first;
    for (unsigned k = (unsigned)((y - l->body.y) / l->row); k > 0 && i < l->scene->n_events; k--) i = event_pick_next(&l->pick, i, true);
    return i;
}

static struct ui_selection selection_of(const struct log *l, uint32_t i)
{
    const struct record *r = &l->scene->events[i];
    uint32_t node = event_pick_node(l->scene, r);
    return (struct ui_selection){.kind = SELECTED_EVENT,
                                 .run = l->pane->run,
                                 .job = r->job,
                                 .node = node < l->scene->n_nodes ? node : 0,
                                 .event = i,
                                 .at_ns = r->time_ns};
}

static bool hover(struct ui *u, const struct pane *pane, float x, float y, struct hover *out)
{
    struct log l;
    if (!begin(&l, u, pane)) return false;
    uint32_t i = row_at(&l, x, y);
    if (i >= l.scene->n_events) return false;
    widget_moment(out->text, l.scene->events[i].time_ns);
    str_append(out->text, "  ");
    scene_event_text(l.scene, &l.scene->events[i], out->text);
    out->selection = selection_of(&l, i);
    return true;
}

static void go(struct log *l, uint32_t i)
{
    struct ui_selection sel;
    if (i >= l->scene->n_events) return;
    sel = selection_of(l, i);
    l->ui->scroll[SLOT_EVENTS] = 0;
    ui_select(l->ui, &sel);
    ui_cursor(l->ui, l->scene->events[i].time_ns);
}

static bool click(struct ui *u, const struct pane *pane, float x, float y, unsigned mods)
{
    struct log l;
    struct chip chips[N_EVENT_KINDS];
    (void)mods;
    if (!begin(&l, u, pane)) return false;
    lay_chips(&l, chips);
    for (int k = 0; k < N_EVENT_KINDS; k++) {
        if (!widget_in(chips[k].box, x, y)) continue;
        u->scroll[SLOT_EVENTS_KIND] = (float)k;
        u->dirty = true;
        return true;
    }
    uint32_t i = row_at(&l, x, y);
    if (i >= l.scene->n_events) return false;
    go(&l, i);
    u->dirty = true;
    return true;
}

/* The job that took the GPUs or ended the wait; where none is known, the event's own. */
static bool follow(struct log *l)
{
    if (l->at >= l->scene->n_events) return false;
    const struct record *r = &l->scene->events[l->at];
    int32_t by = l->scene->blockers[l->at];
    if (by < 0) by = scene_blocker(l->scene, r->job, r->time_ns);
    if (by < 0) by = r->job;
    if (by < 0) return false;
    struct ui_selection sel = {.kind = SELECTED_JOB, .run = l->pane->run, .job = by, .at_ns = r->time_ns};
    ui_select(l->ui, &sel);
    if (by != r->job) ui_say(l->ui, "%s: the job that job %s waited for or gave way to", l->scene->jobs[by].id, l->scene->jobs[r->job].id);
    return true;
}

static void next_kind(struct ui *u, bool forward)
{
    int k = (int)u->scroll[SLOT_EVENTS_KIND] + (forward ? 1 : N_EVENT_KINDS - 1);
    u->scroll[SLOT_EVENTS_KIND] = (float)(k % N_EVENT_KINDS);
    u->scroll[SLOT_EVENTS] = 0;
    ui_say(u, "events: %s", event_kind_names[k % N_EVENT_KINDS]);
}

static bool on_key(struct log *l, int k, unsigned mods)
{
    uint32_t n = l->scene->n_events;
    int page = l->rows > 2 ? (int)l->rows - 2 : 1;
    if (mods & (UI_CTRL | UI_ALT)) return false;
    switch (k) {
    case UI_UP: go(l, event_pick_next(&l->pick, l->at, false)); return true;
    case UI_DOWN: go(l, l->at < n && l->scene->events[l->at].time_ns > l->ui->cursor_ns ? l->at : event_pick_next(&l->pick, l->at, true)); return true;
    case UI_PAGE_UP: go(l, l->at < n ? away(l, l->at, -page) : n); return true;
    case UI_PAGE_DOWN: go(l, l->at < n ? away(l, l->at, page) : n); return true;
    case UI_ENTER: return follow(l);
    case 'k': next_kind(l->ui, !(mods & UI_SHIFT)); return true;
    default: return false;
    }
}

static bool key(struct ui *u, const struct pane *pane, int k, unsigned mods)
{
    struct log l;
    if (!begin(&l, u, pane)) return false;
    bool taken = on_key(&l, k, mods);
    if (taken) u->dirty = true;
    return taken;
}

static void wheel(struct ui *u, const struct pane *pane, float rows)
{
    struct log l;
    if (!begin(&l, u, pane) || l.at >= l.scene->n_events) return;
    float to = roundf(u->scroll[SLOT_EVENTS] + rows);
    u->scroll[SLOT_EVENTS] = to;
    struct log moved;
    begin(&moved, u, pane);
    if (moved.first == l.first) u->scroll[SLOT_EVENTS] = to - roundf(rows); /* at an end */
    u->dirty = true;
}

/* ---- dump ---- */

static void dump_event(const struct log *l, uint32_t i, struct json_writer *w)
{
    static const char *const names[N_COLUMNS] = {"time", "kind", "job", "node", "text"};
    const struct record *r = &l->scene->events[i];
    struct str text = {0};
    json_write_object_inline(w);
    json_write_key(w, "s");
    json_write_seconds(w, r->time_ns);
    for (int k = 0; k < N_COLUMNS; k++) {
        str_clear(&text);
        cell_text(l->scene, r, k, &text);
        json_write_key(w, names[k]);
        json_write_string(w, str_text(&text));
    }
    json_write_key(w, "failure");
    json_write_bool(w, scene_event_is_failure(r));
    json_write_key(w, "at_cursor");
    json_write_bool(w, i == l->at);
    json_write_end(w);
    str_free(&text);
}

static void dump_gpu_s(struct json_writer *w, const char *key, share_ns sum)
{
    char text[DECIMAL_GPU_S_BYTES + 1];
    text[decimal_put_gpu_s(text, sum)] = '\0';
    json_write_key(w, key);
    json_write_raw(w, text);
}

static void dump_cost(const struct log *l, struct json_writer *w)
{
    json_write_key(w, "cost");
    if (l->foot.h <= 0) {
        json_write_null(w);
        return;
    }
    json_write_object_inline(w);
    json_write_key(w, "node");
    json_write_string(w, l->scene->nodes[l->cost.node].name);
    json_write_key(w, "from_s");
    json_write_seconds(w, l->cost.from_ns);
    json_write_key(w, "to_s");
    json_write_seconds(w, l->cost.to_ns);
    dump_gpu_s(w, "down_gpu_s", l->cost.down);
    dump_gpu_s(w, "held_gpu_s", l->cost.held);
    json_write_key(w, "jobs");
    json_write_uint64(w, l->cost.jobs);
    dump_gpu_s(w, "redone_gpu_s", l->cost.redone);
    json_write_end(w);
}

static void dump(struct ui *u, const struct pane *pane, struct json_writer *w)
{
    struct log l;
    begin(&l, u, pane);
    uint32_t before = 0, all = event_pick_count(&l.pick, l.at, &before), i = l.first;
    json_write_key(w, "kinds");
    json_write_string(w, event_kind_names[l.pick.kinds]);
    json_write_key(w, "shown");
    json_write_uint64(w, all);
    json_write_key(w, "before_cursor");
    json_write_uint64(w, before);
    dump_cost(&l, w);
    json_write_key(w, "rows");
    json_write_array(w);
    for (unsigned k = 0; k < l.rows && i < l.scene->n_events; k++) {
        dump_event(&l, i, w);
        i = event_pick_next(&l.pick, i, true);
    }
    json_write_end(w);
}

const struct view_kind view_events = {.name = "events",
                                      .title = "Events",
                                      .axis = AXIS_NONE,
                                      .draw = draw,
                                      .key = key,
                                      .hover = hover,
                                      .click = click,
                                      .wheel = wheel,
                                      .dump = dump};
