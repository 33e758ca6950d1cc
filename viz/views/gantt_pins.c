/* gantt_pins.c - rows that stay at the top of the Gantt while the others scroll.
 *
 * A block, rack, node, GPU or job, whatever the rows below are. Each is a sight of its own of one row as high as a line, so that it is painted,
 * named and pointed at as any other. At most half of the pane is theirs; those beyond wait until there is room.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "viz/views/gantt.h"
#include "viz/views/widgets.h"

/* ---- which ---- */

/* The pinned place in this pane's run; none where a job is not in it. */
static struct gantt_item item_of(const struct ui *u, unsigned run, const struct ui_pin *pin)
{
    const struct scene *from = ui_scene_at(u, pin->run), *to = u->runs[run].scene;
    struct gantt_item i = gantt_unfocus(from, pin->place);
    if (i.level != GANTT_JOB || from == to) return i.level == GANTT_JOB ? i : gantt_unfocus(to, pin->place);
    int32_t twin = i.item < from->n_jobs ? scene_find_job(to, from->jobs[i.item].id) : -1;
    return twin >= 0 ? (struct gantt_item){GANTT_JOB, (uint32_t)twin} : (struct gantt_item){GANTT_NONE, 0};
}

static bool can_show(const struct gantt_sight *g, struct gantt_item i)
{
    uint32_t first, n;
    if (i.level == GANTT_NONE) return false;
    gantt_tracks(g->run->scene, i, &first, &n);
    return n > 0 && (i.level == GANTT_JOB ? first < g->run->scene->n_tracks[SCENE_JOBS] : g->run->scene->has_gpus);
}

void gantt_pins_make(struct gantt_sight *g)
{
    const struct ui *u = g->ui;
    float line = ceilf(u->theme.line), most = floorf(g->area.h / 2 / line);
    g->n_pins = 0;
    for (unsigned k = 0; k < u->n_pins && (float)g->n_pins < most; k++) {
        struct gantt_item i = item_of(u, g->pane->run, &u->pins[k]);
        if (can_show(g, i)) g->pins[g->n_pins++] = i;
    }
    float h = g->n_pins ? (float)g->n_pins * line + 3 : 0;
    g->pin_area = (struct box){g->area.x, g->area.y, g->area.w, h};
    g->area.y += h;
    g->area.h -= h;
}

void gantt_pin_sight(const struct gantt_sight *g, unsigned k, struct gantt_sight *pin)
{
    struct gantt_stretch s = {.h = ceilf(g->ui->theme.line), .folded = g->pins[k]};
    *pin = *g;
    pin->n_pins = 0;
    pin->scroll = 0;
    pin->area = (struct box){g->pin_area.x, g->pin_area.y + (float)k * s.h, g->pin_area.w, s.h};
    pin->rows = (struct gantt_rows){.scene = g->run->scene, .set = s.folded.level == GANTT_JOB ? SCENE_JOBS : SCENE_GPUS, .height = s.h, .row = s.h};
    gantt_tracks(g->run->scene, s.folded, &s.first, &s.n);
    array_push(&pin->rows.stretches, s);
}

bool gantt_pin_at(const struct gantt_sight *g, float y, unsigned *k)
{
    if (g->n_pins == 0 || y < g->pin_area.y || y >= g->pin_area.y + g->pin_area.h) return false;
    *k = (unsigned)((y - g->pin_area.y) / ceilf(g->ui->theme.line));
    return *k < g->n_pins;
}

/* ---- pin and let go ---- */

static struct gantt_item meant(const struct gantt_sight *g, bool row)
{
    const struct ui *u = g->ui;
    struct gantt_item i = gantt_unfocus(g->run->scene, u->focus), none = {GANTT_NONE, 0};
    int32_t job = ui_selected_job(u, g->pane->run);
    if (row && i.level != GANTT_NONE && !u->by_job) return i;
    if (job >= 0) return (struct gantt_item){GANTT_JOB, (uint32_t)job};
    if (u->selection.kind == SELECTED_GPU) return (struct gantt_item){GANTT_GPU, u->selection.gpu};
    if (u->selection.kind == SELECTED_NODE) return (struct gantt_item){GANTT_NODE, u->selection.node};
    return none;
}

static void name_of(const struct gantt_sight *g, struct gantt_item i, struct str *name)
{
    if (i.level == GANTT_JOB) str_append(name, "job ");
    gantt_item_name(g->run->scene, i, name);
}

static void say(struct ui *u, const struct gantt_sight *g, struct gantt_item i, const char *what)
{
    struct str name = {0};
    name_of(g, i, &name);
    ui_say(u, "%s %s", str_text(&name), what);
    str_free(&name);
}

void gantt_pin(struct gantt_sight *g, bool row)
{
    struct ui *u = g->ui;
    struct gantt_item i = meant(g, row);
    if (i.level == GANTT_NONE) {
        ui_say(u, "nothing to pin: choose a row with the arrow keys, or click a job");
        return;
    }
    for (unsigned k = 0; k < u->n_pins; k++) {
        struct gantt_item there = item_of(u, g->pane->run, &u->pins[k]);
        if (there.level != i.level || there.item != i.item) continue;
        memmove(&u->pins[k], &u->pins[k + 1], (u->n_pins - k - 1) * sizeof *u->pins);
        u->n_pins--;
        say(u, g, i, "is no longer pinned");
        return;
    }
    if (u->n_pins == UI_MAX_PINS) {
        ui_say(u, "%d rows are pinned, not more", UI_MAX_PINS);
        return;
    }
    u->pins[u->n_pins++] = (struct ui_pin){u->runs[g->pane->run].place, gantt_focus(i)};
    say(u, g, i, "is pinned; P again lets it go");
}

/* ---- drawn ---- */

void gantt_pins_draw(const struct gantt_sight *g, struct draw_list *d)
{
    const struct ui *u = g->ui;
    if (g->n_pins == 0) return;
    draw_rect(d, (struct box){g->gutter.x, g->pin_area.y, g->gutter.w, g->pin_area.h - 2}, ROLE_PANEL);
    for (unsigned k = 0; k < g->n_pins; k++) {
        struct gantt_sight pin;
        struct str name = {0};
        gantt_pin_sight(g, k, &pin);
        struct box b = {g->gutter.x, pin.area.y, g->gutter.w - u->theme.pad, pin.area.h};
        bool focused = u->focus == gantt_focus(g->pins[k]);
        gantt_paint_rows(&pin, d);
        name_of(g, g->pins[k], &name);
        draw_rect(d, (struct box){b.x, b.y + 2, 3, b.h - 4}, ROLE_ACCENT);
        b.x += u->theme.font_size * 1.1f;
        b.w -= u->theme.font_size * 1.1f;
        widget_text(u, d, b, focused ? FACE_BOLD : FACE_SANS, ROLE_TEXT, ALIGN_LEFT, str_text(&name));
        str_free(&name);
        gantt_sight_end(&pin);
    }
    draw_rect(d, (struct box){g->gutter.x, g->pin_area.y + g->pin_area.h - 2, g->gutter.w + g->area.w, 2}, ROLE_BORDER);
}
