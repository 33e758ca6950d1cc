/* gantt_names.c - the names of the tree to the left of the Gantt's rows.
 *
 * Two columns: racks (blocks where racks are too low to be read), and nodes or GPUs, as far as they can be read. A name stands in the middle of what
 * is in sight of its place; a triangle says whether it is open. In a narrow tile of the grid there is the first column only.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "base/units.h"
#include "study/words.h"
#include "viz/views/gantt.h"
#include "viz/views/widgets.h"

extern const struct view_kind view_gantt;

struct namer {
    struct gantt_sight *g;
    struct draw_list *d;
    struct box outer, inner; /* the two columns */
    float line;
};

/* The part of a place that is in sight; false: nothing of it. */
static bool in_sight(const struct gantt_sight *g, struct gantt_item i, struct box column, struct box *b)
{
    float y, h;
    if (!gantt_extent(&g->rows, i, &y, &h)) return false;
    float top = fmaxf(g->area.y, g->area.y + y - g->scroll), bottom = fminf(g->area.y + g->area.h, g->area.y + y + h - g->scroll);
    *b = (struct box){column.x, top, column.w, bottom - top};
    return bottom > top;
}

static void focus_mark(struct namer *n, struct gantt_item i, struct box b)
{
    if (n->g->ui->focus != gantt_focus(i)) return;
    draw_rect(n->d, (struct box){n->g->gutter.x, b.y, 3, b.h}, ROLE_ACCENT);
    draw_frame(n->d, (struct box){n->g->area.x, b.y, n->g->area.w, b.h}, n->g->ui->theme.role[ROLE_ACCENT], 1);
}

static void name_in(struct namer *n, struct gantt_item i, struct box b, const char *text, bool triangle)
{
    const struct ui *u = n->g->ui;
    float pad = i.level == GANTT_GPU ? u->theme.pad / 2 : u->theme.font_size * 1.1f;
    struct box t = {b.x + pad, b.y, b.w - pad - 4, b.h};
    bool focused = u->focus == gantt_focus(i);
    if (triangle) widget_triangle(u, n->d, b.x + pad * 0.5f, b.y + b.h / 2, !gantt_is_folded(&n->g->rows, i), ROLE_TEXT_DIM);
    widget_text(u, n->d, t, focused ? FACE_BOLD : FACE_SANS, ROLE_TEXT, ALIGN_LEFT, text);
}

/* True when it was high enough to be named. */
static bool name_item(struct namer *n, struct gantt_item i, struct box column, bool triangle)
{
    struct str text = {0};
    struct box b;
    if (!in_sight(n->g, i, column, &b)) return false;
    focus_mark(n, i, b);
    if (b.h < n->line || b.w < n->line) return false;
    gantt_item_name(n->g->run->scene, i, &text);
    name_in(n, i, b, str_text(&text), triangle);
    str_free(&text);
    return true;
}

static void name_gpus(struct namer *n, const struct scene_node *node)
{
    for (uint32_t k = node->first_gpu; k < node->first_gpu + node->n_gpus; k++) name_item(n, (struct gantt_item){GANTT_GPU, k}, n->inner, false);
}

static void separator(struct namer *n, struct gantt_item i, float to, enum role role)
{
    struct box b;
    if (in_sight(n->g, i, n->outer, &b))
        draw_line(n->d, (struct point){n->outer.x, b.y + 0.5f}, (struct point){to, b.y + 0.5f}, n->g->ui->theme.role[role], 1);
}

static void name_node(struct namer *n, uint32_t i)
{
    const struct scene *s = n->g->run->scene;
    struct gantt_item item = {GANTT_NODE, i};
    bool gpus = n->g->rows.row >= n->line && !gantt_is_folded(&n->g->rows, item);
    if (!gpus) name_item(n, item, n->inner, true);
    else name_gpus(n, &s->nodes[i]);
}

static void what_is_folded(struct namer *n, struct gantt_item i)
{
    struct str text = {0};
    struct box b;
    uint32_t first, gpus;
    if (!in_sight(n->g, i, n->inner, &b) || b.h < n->line || b.w < n->line) return;
    gantt_tracks(n->g->run->scene, i, &first, &gpus);
    str_printf(&text, "%u GPUs", gpus);
    b.x += n->g->ui->theme.font_size * 1.1f;
    widget_text(n->g->ui, n->d, b, FACE_SANS, ROLE_TEXT_DIM, ALIGN_LEFT, str_text(&text));
    str_free(&text);
}

static void name_rack(struct namer *n, uint32_t k)
{
    const struct scene *s = n->g->run->scene;
    struct gantt_item item = {GANTT_RACK, k};
    struct box b;
    if (!in_sight(n->g, item, n->outer, &b)) return;
    separator(n, item, n->inner.x, ROLE_GRID);
    name_item(n, item, n->outer, true);
    if (gantt_is_folded(&n->g->rows, item)) what_is_folded(n, item);
    else for (uint32_t i = s->racks[k].first_node; i < s->racks[k].first_node + s->racks[k].n_nodes; i++) name_node(n, i);
}

static bool new_block(const struct scene *s, uint32_t rack)
{
    return rack == 0 || strcmp(s->racks[rack].block, s->racks[rack - 1].block) != 0;
}

static bool has_folds(const struct gantt_sight *g, uint32_t rack)
{
    const struct scene *s = g->run->scene;
    for (uint32_t k = rack; k < s->n_racks && (k == rack || !new_block(s, k)); k++)
        if (gantt_is_folded(&g->rows, (struct gantt_item){GANTT_RACK, k})) return true;
    return false;
}

/* Where nodes are too low to be named, their column has room for the block. */
static void name_block(struct namer *n, struct gantt_item block)
{
    struct box b;
    float y, h;
    struct gantt_item node = {GANTT_NODE, n->g->run->scene->racks[block.item].first_node};
    struct str text = {0};
    if ((gantt_extent(&n->g->rows, node, &y, &h) && h >= n->line) || has_folds(n->g, block.item)) return;
    if (!in_sight(n->g, block, n->inner, &b) || b.h < n->line || b.w < n->line) return;
    gantt_item_name(n->g->run->scene, block, &text);
    b.x += n->g->ui->theme.pad;
    widget_text(n->g->ui, n->d, b, FACE_SANS, ROLE_TEXT_DIM, ALIGN_LEFT, str_text(&text));
    str_free(&text);
}

/* Blocks too low to be named each: one every few lines, where it begins. True: it was one of those that are too low. */
static bool name_low_block(struct namer *n, struct gantt_item block, float *free_from)
{
    struct str text = {0};
    struct box b;
    float y, h;
    if (!gantt_extent(&n->g->rows, block, &y, &h) || h >= n->line) return false;
    if (!in_sight(n->g, block, n->outer, &b)) return true;
    if (b.y < *free_from || b.y + n->line > n->g->area.y + n->g->area.h) return true;
    gantt_item_name(n->g->run->scene, block, &text);
    separator(n, block, n->g->area.x, ROLE_BORDER);
    name_in(n, block, (struct box){b.x, b.y, n->g->gutter.w, n->line}, str_text(&text), false);
    *free_from = b.y + 3 * n->line;
    str_free(&text);
    return true;
}

static void name_tree(struct namer *n)
{
    const struct scene *s = n->g->run->scene;
    float free_from = n->g->area.y;
    for (uint32_t k = 0; k < s->n_racks; k++) {
        struct gantt_item block = {GANTT_BLOCK, k}, rack = {GANTT_RACK, k};
        float y, h;
        bool begins = new_block(s, k), folded = gantt_is_folded(&n->g->rows, block);
        if (begins && name_low_block(n, block, &free_from)) continue;
        bool racks_read = !folded && gantt_extent(&n->g->rows, rack, &y, &h) && h >= n->line;
        if (begins && !racks_read) name_item(n, block, n->outer, true);
        else if (begins) name_block(n, block);
        if (begins && folded) what_is_folded(n, block);
        if (begins) separator(n, block, n->g->area.x, ROLE_BORDER);
        if (!folded && racks_read) name_rack(n, k);
    }
}

/* ---- by job ---- */

static void name_job(struct namer *n, const struct gantt_row *r)
{
    const struct scene *s = n->g->run->scene;
    const struct ui *u = n->g->ui;
    struct box b = {n->outer.x, n->g->area.y + r->y - n->g->scroll, n->outer.w + n->inner.w, fmaxf(r->h, n->line)};
    struct gantt_item item = {GANTT_JOB, r->first};
    struct str gpus = {0};
    words_gpus(&gpus, s->jobs[r->first].gpu_shares);
    float w = n->inner.w < n->line ? 0 : widget_text(u, n->d, (struct box){b.x, b.y, b.w - u->theme.pad, b.h}, FACE_SANS, ROLE_TEXT_DIM, ALIGN_RIGHT, str_text(&gpus));
    str_free(&gpus);
    b.w -= w + 2 * u->theme.pad;
    name_in(n, item, b, s->jobs[r->first].id, false);
}

/* Rows that can be read all get their names, lower ones every so often. */
static void name_jobs(struct namer *n)
{
    const struct gantt_sight *g = n->g;
    float free_from = g->area.y;
    for (struct gantt_row r = {0}; gantt_row_next(&g->rows, g->scroll, g->scroll + g->area.h, &r);) {
        float y = g->area.y + r.y - g->scroll;
        if (r.item.level == GANTT_JOB) focus_mark(n, r.item, (struct box){g->area.x, y, g->area.w, r.h});
        if (y < free_from || y + n->line > g->area.y + g->area.h + 1) continue;
        name_job(n, &r);
        free_from = y + (r.h >= n->line ? r.h : 2 * n->line);
    }
}

/* ---- beside the lane ---- */

static void name_lane(struct namer *n)
{
    const struct gantt_sight *g = n->g;
    struct str text = {0};
    if (view_narrow(g->ui, &view_gantt, g->pane->box.w)) return;
    if (g->rows.row < 1) {
        words_number(&text, 1 / (double)g->rows.row);
        str_append(&text, g->rows.set == SCENE_JOBS ? " jobs a px" : " GPUs a px");
    } else if (g->rows.others) {
        units_format_count(&text, g->rows.others);
        str_append(&text, " left out");
    }
    struct box right = {g->gutter.x + g->gutter.w * GANTT_OUTER, g->lane.y, g->gutter.w * (1 - GANTT_OUTER) - g->ui->theme.pad, g->lane.h};
    struct box left = {g->gutter.x + g->ui->theme.font_size * 1.1f, g->lane.y, g->gutter.w * GANTT_OUTER - g->ui->theme.font_size * 1.1f, g->lane.h};
    widget_text(g->ui, n->d, left, FACE_SANS, ROLE_TEXT_DIM, ALIGN_LEFT, "failures");
    if (text.n) widget_text(g->ui, n->d, right, FACE_SANS, ROLE_TEXT_DIM, ALIGN_RIGHT, str_text(&text));
    str_free(&text);
}

void gantt_names(struct gantt_sight *g, struct draw_list *d)
{
    struct namer n = {.g = g, .d = d, .line = g->ui->theme.font_size + 2};
    bool narrow = view_narrow(g->ui, &view_gantt, g->pane->box.w); /* one column then */
    n.outer = (struct box){g->gutter.x, g->area.y, narrow ? g->gutter.w : floorf(g->gutter.w * GANTT_OUTER), g->area.h};
    n.inner = (struct box){n.outer.x + n.outer.w, g->area.y, g->gutter.w - n.outer.w, g->area.h};
    name_lane(&n);
    draw_clip(d, (struct box){g->gutter.x, g->area.y, g->gutter.w + g->area.w, g->area.h});
    if (g->rows.set == SCENE_JOBS) name_jobs(&n);
    else name_tree(&n);
    draw_unclip(d);
}
