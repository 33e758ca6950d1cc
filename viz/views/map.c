/* map.c - view 2: the cluster at the cursor, every GPU a cell.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "run/decimal.h"
#include "study/words.h"
#include "viz/ui/view.h"
#include "viz/views/gantt_rows.h"
#include "viz/views/map_count.h"
#include "viz/views/map_layout.h"
#include "viz/views/widgets.h"

extern const struct view_kind view_map;

struct map {
    struct ui *ui;
    const struct pane *pane;
    const struct ui_run *run;
    struct box head, body;
    struct map_layout layout;
    struct map_counts counts;
    int32_t job; /* selected */
};

static bool begin(struct map *m, struct ui *u, const struct pane *pane)
{
    struct box b = pane->box;
    float pad = u->theme.pad, head = 2 * u->theme.line + pad;
    *m = (struct map){.ui = u, .pane = pane, .run = &u->runs[pane->run], .job = ui_selected_job(u, pane->run)};
    if (!m->run->scene->has_gpus || m->run->scene->n_tracks[SCENE_GPUS] == 0) return false;
    m->head = (struct box){b.x + 2 * pad, b.y + pad, b.w - 4 * pad, head};
    m->body = (struct box){b.x + 2 * pad, b.y + head + 2 * pad, b.w - 4 * pad, fmaxf(10, b.h - head - 4 * pad)};
    map_layout_make(&m->layout, m->run->scene, m->body, u->theme.line);
    map_count(&m->counts, m->run->scene, u->cursor_ns);
    return true;
}

static void end(struct map *m)
{
    map_counts_free(&m->counts);
    map_layout_free(&m->layout);
}

/* ---- the line of figures ---- */

struct figures {
    const struct map *m;
    struct draw_list *d;
    float x, y;
};

static void figure(struct figures *f, const char *value, const char *what, enum role role)
{
    const struct ui *u = f->m->ui;
    float size = u->theme.font_size, gap = size * 0.4f;
    float w = text_width(u->text, FACE_BOLD, size, value) + gap + text_width(u->text, FACE_SANS, size, what);
    if (f->x > f->m->head.x && f->x + w > f->m->head.x + f->m->head.w) {
        f->x = f->m->head.x;
        f->y += u->theme.line;
    }
    if (f->y + u->theme.line > f->m->head.y + f->m->head.h + 1) return;
    struct box b = {f->x, f->y, f->m->head.x + f->m->head.w - f->x, u->theme.line};
    float n = widget_text(u, f->d, b, FACE_BOLD, role, ALIGN_LEFT, value);
    widget_text(u, f->d, (struct box){b.x + n + gap, b.y, b.w - n - gap, b.h}, FACE_SANS, ROLE_TEXT_DIM, ALIGN_LEFT, what);
    f->x += w + 2 * size;
}

static void count_figure(struct figures *f, int64_t shares, const char *what, enum role role)
{
    struct str s = {0};
    words_gpus(&s, shares);
    figure(f, str_text(&s), what, role);
    str_free(&s);
}

static void draw_figures(const struct map *m, struct draw_list *d)
{
    const struct map_counts *c = &m->counts;
    struct figures f = {m, d, m->head.x, m->head.y};
    struct str s = {0};
    count_figure(&f, c->held, "GPUs in use", ROLE_TEXT);
    count_figure(&f, c->idle, "idle", ROLE_TEXT);
    str_printf(&s, "in %u wholly free node%s", c->nodes_free, c->nodes_free == 1 ? "" : "s");
    count_figure(&f, c->idle_whole, str_text(&s), ROLE_TEXT);
    str_clear(&s);
    str_printf(&s, "in %u partly used node%s (fragments)", c->nodes_partly, c->nodes_partly == 1 ? "" : "s");
    count_figure(&f, c->fragments, str_text(&s), c->fragments ? ROLE_WARNING : ROLE_TEXT);
    if (c->down) {
        str_clear(&s);
        str_printf(&s, "down, %u node%s", c->nodes_down, c->nodes_down == 1 ? "" : "s");
        count_figure(&f, c->down, str_text(&s), ROLE_FAILURE);
    }
    str_clear(&s);
    units_format_count(&s, c->waiting_jobs);
    struct str what = {0};
    str_append(&what, c->waiting_jobs == 1 ? "job waits for " : "jobs wait for ");
    widget_gpus(&what, c->waiting_shares);
    figure(&f, str_text(&s), str_text(&what), ROLE_TEXT);
    str_free(&what);
    str_free(&s);
}

/* ---- the cells ---- */

static uint32_t colour(const struct map *m, const struct map_gpu_state *g)
{
    if (g->show != SHOW_NOTHING) return ui_colour(m->ui, m->pane->run, g->show, g->job);
    return m->ui->theme.role[ROLE_PANEL];
}

static void cell_text(const struct map *m, struct draw_list *d, struct box b, const struct map_gpu_state *g, uint32_t argb)
{
    const struct ui *u = m->ui;
    float size = u->theme.font_size;
    const char *id = g->job >= 0 ? m->run->scene->jobs[g->job].id : "";
    struct text_style style = {.argb = theme_text_on(argb), .align = ALIGN_CENTRE};
    if (b.h < size + 4 || text_width(u->text, FACE_SANS, size, id) + 4 > b.w) return;
    draw_text(d, b.x + b.w / 2, widget_baseline(u, b, size), &style, id);
}

static bool selected(const struct map *m, enum ui_selected kind, uint32_t number)
{
    const struct ui_selection *s = &m->ui->selection;
    return s->kind == kind && s->run == m->pane->run && (kind == SELECTED_GPU ? s->gpu : s->node) == number;
}

static void draw_cell(const struct map *m, struct draw_list *d, uint32_t gpu)
{
    const struct map_gpu_state *g = &m->counts.gpus[gpu];
    const struct theme *t = &m->ui->theme;
    struct box b = map_gpu(&m->layout, gpu);
    uint32_t argb = colour(m, g);
    bool large = b.w >= 4 && b.h >= 4;
    draw_fill(d, b, argb, large && g->show != SHOW_NOTHING ? theme_look(t, g->show).pattern : PATTERN_SOLID);
    if (g->show == SHOW_NOTHING && large) draw_frame(d, b, t->role[g->fragment ? ROLE_WARNING : ROLE_GRID], g->fragment && b.w >= 8 ? 2 : 1);
    if (large) cell_text(m, d, b, g, argb);
    if ((m->job >= 0 && g->job == m->job) || selected(m, SELECTED_GPU, gpu)) draw_frame(d, b, t->role[ROLE_CURSOR], large ? 2 : 1);
}

/* Cells of less than two pixels: painted as what takes the most of each pixel would not tell more than the last one of it. */
static void draw_dense(const struct map *m, struct draw_list *d)
{
    uint32_t *px = draw_raster(d, m->body);
    unsigned w = (unsigned)roundf(m->body.w), h = (unsigned)roundf(m->body.h);
    for (int pass = 0; pass < 2; pass++) /* what is down comes last: it must not be hidden */
        for (uint32_t k = 0; k < m->counts.n; k++) {
            const struct map_gpu_state *g = &m->counts.gpus[k];
            bool down = g->show < N_ACTIVITIES && show_class(g->show) == CLASS_DOWN;
            if (down != (pass == 1)) continue;
            struct box b = map_gpu(&m->layout, k);
            uint32_t argb = m->job >= 0 && g->job == m->job ? m->ui->theme.role[ROLE_CURSOR] : colour(m, g);
            unsigned x0 = (unsigned)fmaxf(0, b.x - m->body.x), y0 = (unsigned)fmaxf(0, b.y - m->body.y);
            unsigned x1 = (unsigned)fmaxf((float)x0 + 1, b.x + b.w - m->body.x), y1 = (unsigned)fmaxf((float)y0 + 1, b.y + b.h - m->body.y);
            for (unsigned y = y0; y < y1 && y < h; y++)
                for (unsigned x = x0; x < x1 && x < w; x++) px[(size_t)y * w + x] = argb;
        }
}

static void head_text(const struct map *m, struct draw_list *d, struct box around, const struct map_grid *inner, enum role role, const char *text)
{
    if (inner->head < m->ui->theme.line) return;
    struct box b = {around.x + inner->pad, around.y, around.w - 2 * inner->pad, inner->head};
    struct str name = {0};
    widget_end_of_name(m->ui->text, m->ui->theme.font_size, text, b.w, &name);
    widget_text(m->ui, d, b, FACE_SANS, role, ALIGN_LEFT, str_text(&name));
    str_free(&name);
}

static void draw_node(const struct map *m, struct draw_list *d, uint32_t i)
{
    const struct scene_node *n = &m->run->scene->nodes[i];
    const struct map_node_state *st = &m->counts.nodes[i];
    const struct theme *t = &m->ui->theme;
    struct box b = map_node(&m->layout, i);
    if (b.w >= 4 && b.h >= 4) {
        bool down = st->down > 0 && st->down == st->total;
        struct look look = theme_look(t, st->down_show);
        if (down) draw_fill(d, b, look.argb, look.pattern);
        else draw_rect(d, b, ROLE_BAR);
    }
    head_text(m, d, b, &m->layout.grid[MAP_GPU], ROLE_TEXT, n->name);
    for (uint32_t k = n->first_gpu; k < n->first_gpu + n->n_gpus; k++) draw_cell(m, d, k);
    if (selected(m, SELECTED_NODE, i)) draw_frame(d, b, t->role[ROLE_CURSOR], 2);
}

static void draw_rack(const struct map *m, struct draw_list *d, uint32_t k)
{
    const struct scene_rack *r = &m->run->scene->racks[k];
    struct box b = map_rack(&m->layout, k);
    head_text(m, d, b, &m->layout.grid[MAP_NODE], ROLE_TEXT_DIM, r->name);
    if (m->layout.grid[MAP_NODE].pad > 0) draw_frame(d, b, m->ui->theme.role[ROLE_GRID], 1);
    for (uint32_t i = r->first_node; i < r->first_node + r->n_nodes; i++) draw_node(m, d, i);
}

static void draw_blocks(const struct map *m, struct draw_list *d)
{
    const struct scene *s = m->run->scene;
    for (uint32_t k = 0; k < s->n_racks; k++) {
        if (k && strcmp(s->racks[k].block, s->racks[k - 1].block) == 0) continue;
        struct box b = map_block(&m->layout, k);
        if (m->layout.grid[MAP_RACK].pad > 0 && m->layout.grid[MAP_BLOCK].n > 1) draw_frame(d, b, m->ui->theme.role[ROLE_BORDER], 1);
        head_text(m, d, b, &m->layout.grid[MAP_RACK], ROLE_TEXT, s->racks[k].block);
    }
}

static void draw_focus(const struct map *m, struct draw_list *d)
{
    struct gantt_item at = gantt_unfocus(m->run->scene, m->ui->focus);
    if (at.level != GANTT_GPU) return;
    struct box b = map_gpu(&m->layout, at.item);
    draw_frame(d, (struct box){b.x - 2, b.y - 2, b.w + 4, b.h + 4}, m->ui->theme.role[ROLE_ACCENT], 2);
}

static void draw(struct ui *u, const struct pane *pane, struct draw_list *d)
{
    struct map m;
    if (!begin(&m, u, pane)) {
        view_empty(u, d, pane->box, "This run does not tell which GPUs were held.",
                   "Run again with: trainyard run SCENARIO --record full. Curves and ledgers need less.");
        return;
    }
    draw_figures(&m, d);
    draw_clip(d, pane->box);
    const struct map_grid *gpus = &m.layout.grid[MAP_GPU];
    if (fminf(gpus->w, gpus->h) < 2) draw_dense(&m, d);
    else {
        draw_blocks(&m, d);
        for (uint32_t k = 0; k < m.run->scene->n_racks; k++) draw_rack(&m, d, k);
    }
    draw_focus(&m, d);
    draw_unclip(d);
    end(&m);
}

/* ---- pointer and keys ---- */

static void tell(const struct map *m, uint32_t gpu, struct str *out)
{
    const struct scene *s = m->run->scene;
    const struct map_gpu_state *g = &m->counts.gpus[gpu];
    const struct map_node_state *n = &m->counts.nodes[scene_node_of(s, gpu)];
    gantt_item_name(s, (struct gantt_item){GANTT_GPU, gpu}, out);
    str_printf(out, ", %s\n", s->racks[s->nodes[scene_node_of(s, gpu)].rack].name);
    if (g->show == SHOW_NOTHING) str_append(out, g->fragment ? "idle, in a node that is partly used" : "idle");
    else words_name(out, show_name(g->show));
    if (g->job >= 0) str_printf(out, "\njob %s%s%s", s->jobs[g->job].id, *s->jobs[g->job].team ? ", team " : "", s->jobs[g->job].team);
    str_append(out, "\nnode: ");
    words_gpus(out, n->held);
    str_append(out, " of ");
    widget_gpus(out, n->total);
    str_append(out, " in use");
}

static struct ui_selection selection_of(const struct map *m, uint32_t gpu)
{
    const struct map_gpu_state *g = &m->counts.gpus[gpu];
    return (struct ui_selection){.kind = g->job >= 0 ? SELECTED_JOB : SELECTED_NODE,
                                 .run = m->pane->run,
                                 .job = g->job,
                                 .node = scene_node_of(m->run->scene, gpu),
                                 .gpu = gpu,
                                 .at_ns = m->ui->cursor_ns};
}

static bool hover(struct ui *u, const struct pane *pane, float x, float y, struct hover *out)
{
    struct map m;
    if (!begin(&m, u, pane)) return false;
    int64_t gpu = map_gpu_at(&m.layout, x, y);
    if (gpu >= 0) {
        tell(&m, (uint32_t)gpu, out->text);
        out->selection = selection_of(&m, (uint32_t)gpu);
    }
    end(&m);
    return gpu >= 0;
}

static bool move(struct map *m, int dx, int dy)
{
    struct gantt_item at = gantt_unfocus(m->run->scene, m->ui->focus);
    if (at.level == GANTT_GPU) at.item = map_step(&m->layout, at.item, dx, dy);
    else at = (struct gantt_item){GANTT_GPU, 0};
    m->ui->focus = gantt_focus(at);
    return true;
}

static bool choose(struct map *m)
{
    struct gantt_item at = gantt_unfocus(m->run->scene, m->ui->focus);
    if (at.level != GANTT_GPU) return false;
    struct ui_selection sel = selection_of(m, at.item);
    ui_select(m->ui, &sel);
    return true;
}

static bool on_key(struct map *m, int k)
{
    switch (k) {
    case UI_LEFT: return move(m, -1, 0);
    case UI_RIGHT: return move(m, 1, 0);
    case UI_UP: return move(m, 0, -1);
    case UI_DOWN: return move(m, 0, 1);
    case UI_ENTER: return choose(m);
    default: return false;
    }
}

static bool key(struct ui *u, const struct pane *pane, int k, unsigned mods)
{
    struct map m;
    if (mods || !begin(&m, u, pane)) return false;
    bool taken = on_key(&m, k);
    end(&m);
    if (taken) u->dirty = true;
    return taken;
}

/* ---- dump ---- */

static void dump_gpus(struct json_writer *w, const char *name, int64_t shares)
{
    char text[DECIMAL_GPU_S_BYTES + 1];
    text[decimal_put(text, (share_ns)shares, SHARE_DIGITS)] = '\0';
    json_write_key(w, name);
    json_write_raw(w, text);
}

static void dump_node(const struct map *m, uint32_t i, struct json_writer *w)
{
    const struct map_node_state *n = &m->counts.nodes[i];
    json_write_object_inline(w);
    json_write_key(w, "name");
    json_write_string(w, m->run->scene->nodes[i].name);
    dump_gpus(w, "gpus", n->total);
    dump_gpus(w, "held", n->held);
    dump_gpus(w, "down", n->down);
    dump_gpus(w, "idle", n->total - n->held - n->down);
    json_write_end(w);
}

static void dump_counts(const struct map *m, struct json_writer *w)
{
    const struct map_counts *c = &m->counts;
    dump_gpus(w, "held", c->held);
    dump_gpus(w, "idle", c->idle);
    dump_gpus(w, "idle_in_free_nodes", c->idle_whole);
    dump_gpus(w, "fragmented", c->fragments);
    dump_gpus(w, "down", c->down);
    json_write_key(w, "nodes_free");
    json_write_uint64(w, c->nodes_free);
    json_write_key(w, "nodes_partly_used");
    json_write_uint64(w, c->nodes_partly);
    json_write_key(w, "nodes_down");
    json_write_uint64(w, c->nodes_down);
    json_write_key(w, "waiting_jobs");
    json_write_int64(w, c->waiting_jobs);
    dump_gpus(w, "waiting_gpus", c->waiting_shares);
}

static void dump_shows(const struct map *m, struct json_writer *w)
{
    json_write_key(w, "gpus_by_show");
    json_write_object(w);
    for (unsigned k = 0; k < N_SHOWS; k++)
        if (m->counts.by_show[k]) dump_gpus(w, show_name(k), m->counts.by_show[k]);
    json_write_end(w);
}

static void dump_holders(const struct map *m, const char *key_name, bool team, struct json_writer *w)
{
    struct intern names = {0};
    ARRAY(int64_t) shares = {0};
    for (uint32_t k = 0; k < m->counts.n; k++) {
        const struct map_gpu_state *g = &m->counts.gpus[k];
        if (g->job < 0) continue;
        const struct scene_job *j = &m->run->scene->jobs[g->job];
        uint32_t id = intern_id(&names, team ? j->team : j->queue);
        if (id == shares.n) array_push(&shares, 0);
        shares.v[id] += g->shares;
    }
    json_write_key(w, key_name);
    json_write_object(w);
    for (uint32_t i = 0; i < shares.n; i++) dump_gpus(w, *intern_text(&names, i) ? intern_text(&names, i) : "(none)", shares.v[i]);
    json_write_end(w);
    array_free(&shares);
    intern_free(&names);
}

static void dump(struct ui *u, const struct pane *pane, struct json_writer *w)
{
    struct map m;
    if (!begin(&m, u, pane)) {
        json_write_key(w, "empty");
        json_write_string(w, "This run does not tell which GPUs were held.");
        return;
    }
    json_write_key(w, "at_s");
    json_write_seconds(w, u->cursor_ns);
    dump_counts(&m, w);
    dump_shows(&m, w);
    dump_holders(&m, "gpus_by_team", true, w);
    dump_holders(&m, "gpus_by_queue", false, w);
    json_write_key(w, "cell_px");
    json_write_double(w, (double)fminf(m.layout.grid[MAP_GPU].w, m.layout.grid[MAP_GPU].h));
    json_write_key(w, "nodes");
    json_write_array(w);
    for (uint32_t i = 0; i < m.run->scene->n_nodes; i++) dump_node(&m, i, w);
    json_write_end(w);
    end(&m);
}

const struct view_kind view_map = {
    .name = "map", .title = "Map", .axis = AXIS_NONE, .draw = draw, .key = key, .hover = hover, .dump = dump,
    .legend = LEGEND_GPUS};
