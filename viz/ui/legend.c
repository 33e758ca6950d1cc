/* legend.c - the strip that says what the colours are; an entry can be clicked to show only it.
 *
 * It lists the states that the runs have, in the rows that the view shows, or the queues or teams.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>

#include "base/str.h"
#include "viz/ui/private.h"

enum { MOST_NAMES = 24 };

/* Whether the shows of GPU rows, of job rows or none belong to the view's picture. */
static bool wants_set(const struct ui *u, enum scene_set set)
{
    const struct view_kind *k = ui_kind(u);
    if (!k) return false;
    if (k->legend & LEGEND_ROWS) return (set == SCENE_JOBS) == u->by_job;
    return k->legend & (set == SCENE_JOBS ? LEGEND_JOBS : LEGEND_GPUS);
}

static void add_names(const struct ui *u, legend_list *l)
{
    const struct intern *names = &u->private->colours.names;
    for (uint32_t i = 0; i < intern_count(names) && i < MOST_NAMES; i++)
        array_push(l, (struct legend_entry){i, intern_text(names, i), "", {theme_colour_of(&u->theme, i), PATTERN_SOLID, 0}});
}

void legend_entries(const struct ui *u, legend_list *l)
{
    bool gpus = wants_set(u, SCENE_GPUS), jobs = wants_set(u, SCENE_JOBS);
    if ((!gpus && !jobs) || u->colour_by == COLOUR_JOB) return;
    if (u->colour_by != COLOUR_STATE) {
        add_names(u, l);
        return;
    }
    for (unsigned i = 0; i < N_SHOWS; i++) {
        unsigned show = i < 2 ? SHOW_WORK + i : i < SHOW_WAIT ? i - 2 : i; /* work first */
        const bool(*has)[N_SHOWS] = u->private->colours.has;
        if (!(gpus && has[SCENE_GPUS][show]) && !(jobs && has[SCENE_JOBS][show])) continue;
        array_push(l, (struct legend_entry){show, show_name(show), show_help(show), theme_look(&u->theme, show)});
    }
}

unsigned legend_count(const struct ui *u)
{
    legend_list l = {0};
    legend_entries(u, &l);
    unsigned n = (unsigned)l.n;
    array_free(&l);
    return n;
}

void legend_isolate(struct ui *u, unsigned entry)
{
    legend_list l = {0};
    legend_entries(u, &l);
    if (entry < l.n) u->isolated = u->isolated == l.v[entry].key + 1 ? 0 : l.v[entry].key + 1;
    array_free(&l);
    u->dirty = true;
}

static void entry_text(const struct legend_entry *e, struct str *to)
{
    for (const char *p = e->name; *p; p++) str_append_char(to, *p == '_' ? ' ' : *p);
}

/* Between the swatch and the name stands the letter that wide spans carry. */
static float letter_width(const struct ui *u, const struct legend_entry *e)
{
    char letter[2] = {e->look.letter, 0};
    return e->look.letter ? text_width(u->text, FACE_BOLD, u->theme.font_size, letter) + u->theme.pad / 2 : 0;
}

static float entry_width(const struct ui *u, const struct legend_entry *e)
{
    struct str s = {0};
    entry_text(e, &s);
    float w = u->theme.font_size + letter_width(u, e) + u->theme.pad / 2 + text_width(u->text, FACE_SANS, u->theme.font_size, str_text(&s)) + 2 * u->theme.pad;
    str_free(&s);
    return ceilf(w);
}

static void entry_draw(struct ui *u, struct draw_list *d, struct box b, const struct legend_entry *e, bool focused)
{
    struct str s = {0};
    float size = u->theme.font_size;
    char letter[2] = {e->look.letter, 0};
    bool off = u->isolated && u->isolated != e->key + 1;
    enum role role = off ? ROLE_TEXT_DIM : ROLE_TEXT;
    struct box swatch = {b.x + u->theme.pad / 2, roundf(b.y + (b.h - size) / 2), size, size};
    entry_text(e, &s);
    draw_fill(d, swatch, off ? theme_mix(e->look.argb, u->theme.role[ROLE_GREYED], 0.8f) : e->look.argb, e->look.pattern);
    struct box text = {swatch.x + size + u->theme.pad / 2, b.y, b.w, b.h};
    if (e->look.letter) ui_label(u, d, text, (struct text_style){.face = FACE_BOLD, .role = role}, letter);
    text.x += letter_width(u, e);
    ui_label(u, d, text, (struct text_style){.role = role, .max_width = u->layout.legend.x + u->layout.legend.w - text.x}, str_text(&s));
    if (u->isolated == e->key + 1 || focused) draw_frame(d, b, u->theme.role[focused ? ROLE_ACCENT : ROLE_BORDER], focused ? 2 : 1);
    str_free(&s);
}

/* Walks the entries in rows; draws them when d is there; gives the height. */
static float legend_walk(struct ui *u, struct draw_list *d, struct box b)
{
    legend_list l = {0};
    float x = b.x + u->theme.pad / 2, y = b.y, row = u->theme.line + u->theme.pad / 2, right = b.x + b.w - u->theme.pad / 2;
    legend_entries(u, &l);
    for (unsigned i = 0; i < l.n; i++) {
        float w = entry_width(u, &l.v[i]);
        if (x + w > right && x > b.x + u->theme.pad) {
            x = b.x + u->theme.pad / 2;
            y += row;
        }
        struct box at = {x, y, w, row};
        if (d) {
            entry_draw(u, d, at, &l.v[i], u->private->area == AREA_LEGEND && u->private->item == i);
            ui_hit(u, at, AREA_LEGEND, i);
        }
        x += w;
    }
    float h = l.n ? y + row - b.y : 0;
    array_free(&l);
    return h;
}

float legend_height(const struct ui *u, float width)
{
    return legend_walk((struct ui *)u, NULL, (struct box){0, 0, width, 0});
}

void legend_draw(struct ui *u, struct draw_list *d, struct box b)
{
    draw_rect(d, b, ROLE_PANEL);
    legend_walk(u, d, b);
}
