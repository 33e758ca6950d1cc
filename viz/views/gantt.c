/* gantt.c - view 1: who held which GPU when, or what each job went through.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/views/gantt.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "study/words.h"
#include "viz/ui/memo.h"
#include "viz/views/slots.h"
#include "viz/views/widgets.h"

static float labels(const struct ui *u)
{
    return roundf(u->theme.font_size * 16.5f);
}

/* ---- where things are ---- */

static bool nothing(const struct ui *u, const struct scene *s, const char **why, const char **what)
{
    if (u->by_job && s->n_tracks[SCENE_JOBS] == 0) {
        *why = "No job has been submitted yet.";
        *what = s->growing ? "It will appear here when it is." : "The scenario's workload is empty: see \"trainyard check\".";
        return true;
    }
    if (u->by_job || s->has_gpus) return false;
    *why = s->has_timeline ? "This run keeps records of jobs only, not of single GPUs." : "This run keeps no records.";
    *what = s->has_timeline ? "J shows a row a job. For GPUs run again with: trainyard run SCENARIO --record full"
                            : "Run again with: trainyard run SCENARIO --record full. The event log and J (by job) show what jobs.csv tells.";
    return true;
}

static struct gantt_want want_of(const struct gantt_sight *g)
{
    const struct ui *u = g->ui;
    return (struct gantt_want){.scene = g->run->scene,
                               .collapsed = u->collapsed,
                               .by_job = u->by_job,
                               .passes = u->filter ? g->run->passes : NULL,
                               .from_ns = u->from_ns,
                               .to_ns = u->to_ns,
                               .height = g->area.h,
                               .line = u->theme.line,
                               .row = u->scroll[SLOT_GANTT_ROW]};
}

static float most_scroll(const struct gantt_sight *g)
{
    return fmaxf(0, g->rows.height - g->area.h);
}

static void show_place(struct gantt_sight *g, struct gantt_item i)
{
    float y, h;
    if (!gantt_extent(&g->rows, i, &y, &h)) return;
    float *scroll = &g->ui->scroll[SLOT_GANTT];
    if (y + h > *scroll + g->area.h) *scroll = y + h - g->area.h;
    if (y < *scroll) *scroll = y;
    g->scroll = *scroll = fmaxf(0, fminf(*scroll, most_scroll(g)));
}

/* A job that was selected elsewhere comes into sight, once. */
static void follow_selection(struct gantt_sight *g)
{
    int32_t job = ui_selected_job(g->ui, g->pane->run);
    if (!g->ui->by_job || job < 0) return;
    bool *shown = memo_get(&g->ui->memos, g->pane->run ? "gantt job of B" : "gantt job of A", (uint64_t)job, sizeof *shown, NULL);
    if (!*shown) show_place(g, (struct gantt_item){GANTT_JOB, (uint32_t)job});
    *shown = true;
}

bool gantt_sight_begin(struct gantt_sight *g, struct ui *u, const struct pane *pane, const char **why, const char **what)
{
    struct box plot = view_plot(u, &view_gantt, pane->box);
    float lane = u->theme.line - 2;
    *g = (struct gantt_sight){.ui = u, .run = &u->runs[pane->run], .pane = pane};
    g->gutter = (struct box){pane->box.x, plot.y, plot.x - pane->box.x, plot.h};
    g->lane = (struct box){plot.x, plot.y, plot.w, lane};
    g->area = (struct box){plot.x, plot.y + lane + 2, plot.w, fmaxf(1, plot.h - lane - 2)};
    if (nothing(u, g->run->scene, why, what)) return false;
    gantt_pins_make(g);
    struct gantt_want want = want_of(g);
    gantt_rows_make(&g->rows, &want);
    g->scroll = fmaxf(0, fminf(u->scroll[SLOT_GANTT], most_scroll(g)));
    follow_selection(g);
    g->scroll = floorf(g->scroll);
    return true;
}

void gantt_sight_end(struct gantt_sight *g)
{
    gantt_rows_free(&g->rows);
}

static void no_rows(struct gantt_sight *g, struct draw_list *d)
{
    bool filtered = g->rows.others > 0;
    view_empty(g->ui, d, g->area, filtered ? "No job of this time passes the filter." : "No job lived in this time.",
               filtered ? "/ changes the filter, Esc takes it away." : "S zooms out, 0 shows the whole run.");
}

static void draw(struct ui *u, const struct pane *pane, struct draw_list *d)
{
    struct gantt_sight g;
    const char *why, *what;
    if (!gantt_sight_begin(&g, u, pane, &why, &what)) {
        view_empty(u, d, pane->box, why, what);
        return;
    }
    if (g.rows.stretches.n == 0) no_rows(&g, d);
    else {
        gantt_paint(&g, d);
        gantt_names(&g, d);
    }
    gantt_pins_draw(&g, d);
    gantt_sight_end(&g);
}

/* ---- what is below the pointer ---- */

struct hit {
    struct gantt_row row;
    uint32_t track;
    struct lod_cell cell;
    const struct scene_span *span; /* NULL: nobody held it then */
    int64_t at_ns;
};

/* In merged rows: the first track on which the cell's job does what the cell shows. */
static void find_span(const struct gantt_sight *g, struct hit *h)
{
    const struct scene *s = g->run->scene;
    h->track = h->row.first;
    for (uint32_t k = h->row.first; k < h->row.first + h->row.n; k++) {
        const struct scene_span *p = scene_at(s, g->rows.set, k, h->at_ns);
        if (!p || (h->row.n > 1 && (p->job != h->cell.job || p->show != h->cell.show))) continue;
        h->track = k;
        h->span = p;
        return;
    }
}

static bool find(const struct gantt_sight *g, float x, float y, struct hit *h)
{
    *h = (struct hit){0};
    if (!widget_in(g->area, x, y) || !gantt_row_at(&g->rows, y - g->area.y + g->scroll, &h->row)) return false;
    h->at_ns = ui_time_of(g->ui, g->area, x);
    int64_t next = ui_time_of(g->ui, g->area, x + 1);
    lod_row(g->run->lod[g->rows.set], h->row.first, h->row.n, h->at_ns, next > h->at_ns ? next : h->at_ns + 1, 1, &h->cell);
    find_span(g, h);
    return true;
}

static void tell_span(const struct gantt_sight *g, const struct hit *h, struct str *out)
{
    const struct scene *s = g->run->scene;
    const struct scene_span *p = h->span;
    str_append(out, "\n");
    words_name(out, show_name(p->show));
    if (p->cause != CAUSE_FIRST && p->cause < N_CAUSES) {
        str_append(out, ", ");
        words_name(out, cause_table[p->cause].name);
    }
    str_append(out, ": ");
    widget_length(out, scene_to(s, p) - p->from_ns);
    str_append(out, " from ");
    widget_moment(out, p->from_ns);
    if (p->job < 0) return;
    const struct scene_job *j = &s->jobs[p->job];
    str_printf(out, "\njob %s", j->id);
    if (*j->team) str_printf(out, ", team %s", j->team);
    str_append(out, ", ");
    widget_gpus(out, j->gpu_shares);
}

static void tell(const struct gantt_sight *g, const struct hit *h, struct str *out)
{
    gantt_row_name(&g->rows, &h->row, out);
    if (h->span) tell_span(g, h, out);
    else str_append(out, "\nnobody holds it");
    if (h->cell.failure != SHOW_NOTHING && (!h->span || h->cell.failure != h->span->show)) {
        str_append(out, "\nalso: ");
        words_name(out, show_name(h->cell.failure));
    }
}

static struct ui_selection selection_of(const struct gantt_sight *g, const struct hit *h)
{
    struct ui_selection sel = {.kind = SELECTED_NOTHING, .run = g->pane->run, .job = h->span ? h->span->job : NO_JOB, .at_ns = h->at_ns};
    if (g->rows.set == SCENE_JOBS) {
        sel.job = (int32_t)h->track;
    } else {
        sel.gpu = h->track;
        sel.node = scene_node_of(g->run->scene, h->track);
    }
    sel.kind = sel.job >= 0 ? SELECTED_JOB : h->row.n == 1 ? SELECTED_GPU : SELECTED_NODE;
    return sel;
}

static bool hover_lane(struct gantt_sight *g, float x, struct hover *out)
{
    const struct scene *s = g->run->scene;
    const struct gantt_failures *f = gantt_failures(g->ui, g->pane->run);
    float best = 4;
    size_t found = f->n;
    for (size_t i = 0; i < f->n; i++) {
        float away = fabsf(ui_x_of(g->ui, g->lane, s->events[f->events[i]].time_ns) - x);
        if (away < best) best = away, found = i;
    }
    if (found == f->n) return false;
    const struct record *e = &s->events[f->events[found]];
    widget_moment(out->text, e->time_ns);
    str_append(out->text, "  ");
    scene_event_text(s, e, out->text);
    out->selection = (struct ui_selection){SELECTED_EVENT, g->pane->run, e->job, 0, 0, f->events[found], e->time_ns};
    return true;
}

static bool hover_row(struct gantt_sight *g, float x, float y, struct hover *out)
{
    struct hit h;
    if (!find(g, x, y, &h)) return false;
    tell(g, &h, out->text);
    out->selection = selection_of(g, &h);
    return true;
}

static bool hover(struct ui *u, const struct pane *pane, float x, float y, struct hover *out)
{
    struct gantt_sight g;
    const char *why, *what;
    unsigned pin;
    if (!gantt_sight_begin(&g, u, pane, &why, &what)) return false;
    bool found = false;
    if (widget_in(g.lane, x, y)) {
        found = hover_lane(&g, x, out);
    } else if (gantt_pin_at(&g, y, &pin)) {
        struct gantt_sight one;
        gantt_pin_sight(&g, pin, &one);
        found = hover_row(&one, x, y, out);
        gantt_sight_end(&one);
    } else {
        found = hover_row(&g, x, y, out);
    }
    gantt_sight_end(&g);
    return found;
}

/* ---- folding ---- */

static void set_fold(struct ui *u, struct gantt_item i, bool fold)
{
    if (!u->collapsed || i.level < GANTT_BLOCK || i.level > GANTT_NODE) return;
    if (fold) hmap_put_u64(u->collapsed, gantt_key(i), 1);
    else hmap_del_u64(u->collapsed, gantt_key(i));
    u->dirty = true;
}

static bool is_folded(const struct ui *u, struct gantt_item i)
{
    return u->collapsed && hmap_get_u64(u->collapsed, gantt_key(i), NULL);
}

/* The place whose name is at a point of the gutter. */
static struct gantt_item name_at(const struct gantt_sight *g, float x, float y)
{
    struct gantt_row r;
    bool outer = x < g->gutter.x + g->gutter.w * GANTT_OUTER;
    if (!gantt_row_at(&g->rows, y - g->area.y + g->scroll, &r)) return (struct gantt_item){GANTT_NONE, 0};
    struct gantt_item i = r.item;
    if (i.level == GANTT_NONE && g->rows.set == SCENE_GPUS) i = (struct gantt_item){GANTT_GPU, r.first};
    while (i.level > (outer ? GANTT_RACK : GANTT_NODE) && i.level < GANTT_JOB && !(i.level == GANTT_GPU && !outer && r.h >= g->ui->theme.font_size + 2))
        i = gantt_parent(g->run->scene, i);
    return i;
}

/* The name of a pinned row leads to its place among the others. */
static bool click_pin(struct gantt_sight *g, float x, float y)
{
    unsigned k;
    if (!widget_in(g->gutter, x, y) || !gantt_pin_at(g, y, &k)) return false;
    g->ui->focus = gantt_focus(g->pins[k]);
    show_place(g, g->pins[k]);
    return true;
}

static bool click(struct ui *u, const struct pane *pane, float x, float y, unsigned mods)
{
    struct gantt_sight g;
    const char *why, *what;
    (void)mods;
    if (!gantt_sight_begin(&g, u, pane, &why, &what)) return false;
    if (click_pin(&g, x, y)) {
        gantt_sight_end(&g);
        return true;
    }
    bool taken = widget_in(g.gutter, x, y) && y >= g.area.y && g.rows.set == SCENE_GPUS;
    struct gantt_item i = taken ? name_at(&g, x, y) : (struct gantt_item){GANTT_NONE, 0};
    gantt_sight_end(&g);
    if (i.level == GANTT_NONE) return false;
    u->focus = gantt_focus(i);
    if (i.level < GANTT_GPU) set_fold(u, i, !is_folded(u, i));
    u->dirty = true;
    return true;
}

/* ---- keys ---- */

static float readable(const struct ui *u)
{
    return u->theme.font_size + 2;
}

static void select_job(struct gantt_sight *g, int32_t job, int64_t at_ns)
{
    struct ui_selection sel = {.kind = SELECTED_JOB, .run = g->pane->run, .job = job, .at_ns = at_ns};
    ui_select(g->ui, &sel);
}

static void move(struct gantt_sight *g, bool forward)
{
    struct gantt_item at = gantt_unfocus(g->run->scene, g->ui->focus);
    int32_t job = ui_selected_job(g->ui, g->pane->run);
    if (g->rows.set == SCENE_JOBS && job >= 0) at = (struct gantt_item){GANTT_JOB, (uint32_t)job};
    at = gantt_walk(&g->rows, at, forward, readable(g->ui));
    g->ui->focus = gantt_focus(at);
    if (at.level == GANTT_JOB) select_job(g, (int32_t)at.item, -1);
    show_place(g, at);
}

/* Rows one notch higher or lower. */
static void stretch_rows(struct gantt_sight *g, bool higher)
{
    static const float steps[] = {1, 2, 4, 6, 9, 12, 18, 24, 36};
    enum { N = sizeof steps / sizeof *steps };
    float old = g->rows.row, *row = &g->ui->scroll[SLOT_GANTT_ROW], middle = g->scroll + g->area.h / 2;
    unsigned i = 0;
    while (i < N && steps[i] <= old) i++;
    if (!higher) {
        i = 0;
        while (i < N && steps[i] < old) i++;
        *row = i > 0 ? steps[i - 1] : 0;
    } else
        *row = i < N ? steps[i] : old;
    if (*row * (float)g->run->scene->n_tracks[g->rows.set] < g->area.h) *row = 0; /* they fit again */
    if (*row > 0 && g->scroll > 0) g->ui->scroll[SLOT_GANTT] = fmaxf(0, middle * *row / old - g->area.h / 2);
}

/* Right: open a fold, else make what is below it readable and go there. */
static void go_in(struct gantt_sight *g, struct gantt_item at)
{
    struct gantt_want want;
    uint32_t first, n;
    if (is_folded(g->ui, at)) {
        set_fold(g->ui, at, false);
        return;
    }
    struct gantt_item child = gantt_walk(&g->rows, at, true, 0);
    gantt_tracks(g->run->scene, child, &first, &n);
    float row = ceilf(readable(g->ui) / (float)(n ? n : 1)), y, h;
    if (gantt_extent(&g->rows, child, &y, &h) && h < readable(g->ui)) g->ui->scroll[SLOT_GANTT_ROW] = row;
    g->ui->focus = gantt_focus(child);
    want = want_of(g);
    gantt_rows_make(&g->rows, &want);
    show_place(g, at);
    show_place(g, child);
}

static void go_out(struct gantt_sight *g, struct gantt_item at)
{
    struct gantt_item up = gantt_parent(g->run->scene, at);
    if (at.level <= GANTT_NODE && !is_folded(g->ui, at)) set_fold(g->ui, at, true);
    else if (up.level != GANTT_NONE) {
        g->ui->focus = gantt_focus(up);
        show_place(g, up);
    }
}

/* Fold all racks, or nothing. */
static void fold_all(struct gantt_sight *g, bool fold)
{
    const struct scene *s = g->run->scene;
    for (uint32_t k = 0; k < s->n_racks; k++) {
        set_fold(g->ui, (struct gantt_item){GANTT_BLOCK, k}, false);
        set_fold(g->ui, (struct gantt_item){GANTT_RACK, k}, fold);
    }
    for (uint32_t k = 0; k < s->n_nodes && !fold; k++) set_fold(g->ui, (struct gantt_item){GANTT_NODE, k}, false);
}

static bool enter(struct gantt_sight *g, struct gantt_item at)
{
    if (at.level >= GANTT_BLOCK && at.level <= GANTT_NODE) {
        set_fold(g->ui, at, !is_folded(g->ui, at));
        return true;
    }
    if (at.level != GANTT_GPU) return false;
    const struct scene_span *p = scene_at(g->run->scene, SCENE_GPUS, at.item, g->ui->cursor_ns);
    struct ui_selection sel = {.kind = SELECTED_GPU, .run = g->pane->run, .job = NO_JOB, .gpu = at.item,
                               .node = scene_node_of(g->run->scene, at.item), .at_ns = g->ui->cursor_ns};
    if (p && p->job >= 0) select_job(g, p->job, g->ui->cursor_ns);
    else ui_select(g->ui, &sel);
    return true;
}

static void page(struct gantt_sight *g, float by)
{
    g->ui->scroll[SLOT_GANTT] = fmaxf(0, fminf(g->scroll + by, most_scroll(g)));
}

static bool on_key(struct gantt_sight *g, int k, unsigned mods)
{
    struct gantt_item at = gantt_unfocus(g->run->scene, g->ui->focus);
    bool tree = g->rows.set == SCENE_GPUS && at.level >= GANTT_BLOCK && at.level <= GANTT_GPU;
    bool shift = mods & UI_SHIFT;
    if (mods & (UI_CTRL | UI_ALT)) return false;
    switch (k) {
    case UI_UP:
    case UI_DOWN:
        if (shift) stretch_rows(g, k == UI_UP);
        else move(g, k == UI_DOWN);
        return true;
    case UI_LEFT:
    case UI_RIGHT:
        if (shift && g->rows.set == SCENE_GPUS) fold_all(g, k == UI_LEFT);
        else if (!tree || (k == UI_RIGHT && at.level == GANTT_GPU)) return false;
        else if (k == UI_LEFT) go_out(g, at);
        else go_in(g, at);
        return true;
    case UI_PAGE_UP: page(g, -g->area.h * 0.9f); return true;
    case UI_PAGE_DOWN: page(g, g->area.h * 0.9f); return true;
    case UI_ENTER: return tree && enter(g, at);
    case 'p':
        gantt_pin(g, !shift);
        return true;
    default: return false;
    }
}

static bool key(struct ui *u, const struct pane *pane, int k, unsigned mods)
{
    struct gantt_sight g;
    const char *why, *what;
    if (!gantt_sight_begin(&g, u, pane, &why, &what)) return false;
    bool taken = on_key(&g, k, mods);
    gantt_sight_end(&g);
    if (taken) u->dirty = true;
    return taken;
}

static void wheel(struct ui *u, const struct pane *pane, float rows)
{
    struct gantt_sight g;
    const char *why, *what;
    if (!gantt_sight_begin(&g, u, pane, &why, &what)) return;
    page(&g, rows * u->theme.line);
    gantt_sight_end(&g);
}

static void dump(struct ui *u, const struct pane *pane, struct json_writer *w)
{
    struct gantt_sight g;
    const char *why, *what;
    if (!gantt_sight_begin(&g, u, pane, &why, &what)) {
        json_write_key(w, "empty");
        json_write_string(w, why);
        return;
    }
    gantt_dump(&g, w);
    gantt_sight_end(&g);
}

static const struct view_key keys[] = {
    {"Up, Down", "choose a row"},
    {"Left, Right", "fold, unfold; further out or in"},
    {"Shift+Left, Right", "fold all racks, or none"},
    {"Shift+Up, Down", "higher or lower rows"},
    {"P", "pin the chosen row on top; again: let it go"},
    {"Shift+P", "pin the selected job, GPU or node"},
    {NULL, NULL},
};

const struct view_kind view_gantt = {.name = "gantt",
                                     .title = "Gantt",
                                     .axis = AXIS_TIME,
                                     .labels = labels,
                                     .draw = draw,
                                     .key = key,
                                     .hover = hover,
                                     .click = click,
                                     .wheel = wheel,
                                     .dump = dump,
                                     .legend = LEGEND_ROWS,
                                     .keys = keys};
