/* overlay.c - the status line, the tooltip and the help.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "base/units.h"
#include "viz/ui/private.h"
#include "viz/ui/time_axis.h"

/* ---- status line ---- */

static void speed_text(const struct ui *u, struct str *to)
{
    static const struct {
        double s;
        const char *name;
    } unit[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    unsigned i = 0;
    while (i < 3 && u->speed < unit[i].s) i++;
    str_printf(to, "%s %g %s/s", u->playing ? "▶" : "❚❚", u->speed / unit[i].s, unit[i].name);
}

static void matches_text(const struct ui *u, struct str *to)
{
    for (unsigned i = 0; i < u->n_runs && u->filter; i++) {
        str_append(to, i ? ", B " : u->n_runs > 1 ? "A " : "");
        units_format_count(to, u->runs[i].matches);
        str_append(to, " of ");
        units_format_count(to, u->runs[i].scene->n_jobs);
    }
    if (u->filter) str_append(to, " jobs match   ·   ");
}

static void status_right(const struct ui *u, struct str *to)
{
    if (!u->n_runs) return;
    int64_t width = u->to_ns - u->from_ns;
    matches_text(u, to);
    str_append(to, "cursor ");
    time_text_in(to, u->cursor_ns, width);
    str_append(to, "   ·   ");
    time_length(to, width);
    str_append(to, " in sight   ·   ");
    speed_text(u, to);
    for (unsigned i = 0; i < u->n_runs; i++)
        if (u->runs[i].scene->growing && u->follow) {
            str_append(to, "   ·   following");
            break;
        }
}

static void field_draw(struct ui *u, struct draw_list *d, struct box b)
{
    static const char *const names[] = {[FIELD_SEARCH] = "Search", [FIELD_GOTO] = "Go to", [FIELD_QUEUE] = "Run until more jobs wait than",
                                        [FIELD_BOOKMARK] = "Name of the bookmark", [FIELD_COMMAND] = "Command", [FIELD_EXPORT] = "Export to .json or .csv"};
    const struct field *f = &u->private->field;
    const struct theme *t = &u->theme;
    struct str head = {0};
    float x = b.x + t->pad;
    x += ui_label(u, d, (struct box){x, b.y, b.w, b.h}, (struct text_style){.face = FACE_BOLD, .role = ROLE_ACCENT}, names[f->kind]) + t->pad;
    str_append_n(&head, f->text, f->caret);
    ui_label(u, d, (struct box){x, b.y, b.w, b.h}, (struct text_style){.max_width = b.x + b.w - x}, f->text);
    float caret = x + text_width(u->text, FACE_SANS, t->font_size, str_text(&head));
    draw_rect(d, (struct box){roundf(caret), b.y + t->pad / 2, 1, b.h - t->pad}, ROLE_TEXT);
    x += text_width(u->text, FACE_SANS, t->font_size, f->text) + 3 * t->pad;
    struct text_style error = {.role = ROLE_WARNING, .max_width = b.x + b.w - x};
    if (f->error && error.max_width > 0) ui_label(u, d, (struct box){x, b.y, b.w, b.h}, error, f->error);
    str_free(&head);
}

static const char *status_left(const struct ui *u)
{
    if (u->message[0]) return u->message;
    if (u->private->prefix == 'r') return "run until: F next failure   P next preemption   Q queue longer than ...";
    if (u->filter) return u->filter_text;
    return "";
}

void status_draw(struct ui *u, struct draw_list *d, struct box b)
{
    struct str right = {0};
    const struct theme *t = &u->theme;
    status_right(u, &right);
    draw_rect(d, b, ROLE_BAR);
    draw_rect(d, (struct box){b.x, b.y, b.w, 1}, ROLE_BORDER);
    struct text_style style = {.role = ROLE_TEXT_DIM, .align = ALIGN_RIGHT, .max_width = b.w * 0.7f};
    float taken = ui_label(u, d, (struct box){b.x + b.w - t->pad, b.y, 0, b.h}, style, str_text(&right));
    struct box left = {b.x, b.y, b.w - taken - 3 * t->pad, b.h};
    if (u->private->field.kind != FIELD_NONE)
        field_draw(u, d, left);
    else if (left.w > 2 * t->pad)
        ui_label(u, d, (struct box){left.x + t->pad, b.y, left.w, b.h}, (struct text_style){.max_width = left.w - t->pad}, status_left(u));
    str_free(&right);
}

/* ---- tooltip ---- */

enum { TIP_LINES = 12 };

static void tip_draw(struct ui *u, struct draw_list *d, const char *text)
{
    const struct theme *t = &u->theme;
    char part[TIP_LINES][160];
    unsigned n = 0;
    float w = 0, x = u->private->pointer.x + 14, y = u->private->pointer.y + 18;
    for (; *text && n < TIP_LINES; n++) {
        size_t bytes = strcspn(text, "\n"), kept = bytes < sizeof part[0] - 1 ? bytes : sizeof part[0] - 1;
        memcpy(part[n], text, kept);
        part[n][kept] = 0;
        w = fmaxf(w, text_width(u->text, FACE_SANS, t->font_size, part[n]));
        text += bytes + (text[bytes] == '\n');
    }
    if (n == 0) return;
    struct box b = {x, y, ceilf(w + 2 * t->pad), ceilf((float)n * t->line + t->pad)};
    b.x = fmaxf(0, fminf(b.x, u->w - b.w));
    if (b.y + b.h > u->h) b.y = fmaxf(0, u->private->pointer.y - b.h - 6);
    draw_rect(d, b, ROLE_PANEL);
    draw_frame(d, b, t->role[ROLE_TEXT_DIM], 1);
    for (unsigned i = 0; i < n; i++)
        ui_label(u, d, (struct box){b.x + t->pad, b.y + t->pad / 2 + (float)i * t->line, w, t->line}, (struct text_style){.max_width = b.w - 2 * t->pad + 1}, part[i]);
}

void overlay_tooltip(struct ui *u, struct draw_list *d)
{
    const struct ui_private *p = u->private;
    const struct view_kind *k = ui_kind(u);
    struct str text = {0};
    struct hover h = {.text = &text, .selection = {.job = -1, .at_ns = -1}};
    if (!k || !k->hover || p->pointer.drag != DRAG_NONE || p->pointer.x < 0) return;
    if (grid_shown(u)) {
        if (grid_hover(u, p->pointer.x, p->pointer.y, &h)) tip_draw(u, d, str_text(&text));
        str_free(&text);
        return;
    }
    for (unsigned i = 0; i < p->n_panes; i++)
        if (box_has(p->pane[i].box, p->pointer.x, p->pointer.y) && k->hover(u, &p->pane[i], p->pointer.x, p->pointer.y, &h)) tip_draw(u, d, str_text(&text));
    str_free(&text);
}

/* ---- help ---- */

#define SCRIM_ALPHA 0xb0u /* of the background's colour, over what lies behind the help */

struct sheet {
    struct ui *u;
    struct draw_list *d; /* NULL: only measured */
    struct box box;
    float x, y, column, keys;
};

/* A new column where the next `lines` would run out of the sheet. */
static void sheet_room(struct sheet *s, float lines)
{
    if (s->y + lines * s->u->theme.line <= s->box.y + s->box.h || s->y <= s->box.y) return;
    s->x += s->column;
    s->y = s->box.y;
}

static void sheet_line(struct sheet *s, const char *keys, const char *help)
{
    const struct theme *t = &s->u->theme;
    sheet_room(s, 1);
    if (s->d) {
        ui_label(s->u, s->d, (struct box){s->x, s->y, s->keys, t->line}, (struct text_style){.role = ROLE_ACCENT, .max_width = s->keys - t->pad}, keys);
        struct text_style style = {.max_width = s->column - s->keys - 2 * t->pad};
        ui_label(s->u, s->d, (struct box){s->x + s->keys, s->y, s->column, t->line}, style, help);
    }
    s->y += t->line;
}

static void sheet_head(struct sheet *s, const char *text)
{
    if (s->y > s->box.y) s->y += s->u->theme.pad;
    sheet_room(s, 3);
    if (s->d) ui_label(s->u, s->d, (struct box){s->x, s->y, s->column, s->u->theme.line}, (struct text_style){.face = FACE_BOLD}, text);
    s->y += s->u->theme.line;
}

/* All of them in a line. */
static void sheet_views(struct sheet *s)
{
    struct str keys = {0}, titles = {0};
    str_printf(&keys, "1 to %u", n_view_kinds);
    for (unsigned i = 0; i < n_view_kinds; i++) str_printf(&titles, "%s%s", i ? ", " : "", view_kinds[i]->title);
    sheet_line(s, str_text(&keys), str_text(&titles));
    str_free(&keys);
    str_free(&titles);
}

static void sheet_walk(struct sheet *s)
{
    s->x = s->box.x;
    s->y = s->box.y;
    for (unsigned g = 0; g < N_ACTION_GROUPS; g++) {
        sheet_head(s, action_group_names[g]);
        for (unsigned i = 0; i < N_ACTIONS; i++) {
            struct str keys = {0};
            if (actions[i].group != g || (i > DO_VIEW_1 && i <= DO_VIEW_7)) continue;
            action_keys(&actions[i], &keys);
            if (i == DO_VIEW_1) sheet_views(s);
            else sheet_line(s, str_text(&keys), actions[i].help);
            str_free(&keys);
        }
    }
    const struct view_kind *kind = ui_kind(s->u);
    if (kind && kind->keys) sheet_head(s, kind->title);
    for (const struct view_key *k = kind ? kind->keys : NULL; k && k->key; k++) sheet_line(s, k->key, k->help);
    sheet_head(s, "Mouse");
    for (unsigned i = 0; i < n_gestures; i++) sheet_line(s, gestures[i].what, gestures[i].help);
}

static void widest(const struct ui *u, float *keys, float *help)
{
    for (unsigned i = 0; i < N_ACTIONS; i++) {
        struct str s = {0};
        action_keys(&actions[i], &s);
        *keys = fmaxf(*keys, text_width(u->text, FACE_SANS, u->theme.font_size, str_text(&s)));
        *help = fmaxf(*help, text_width(u->text, FACE_SANS, u->theme.font_size, actions[i].help));
        str_free(&s);
    }
    for (const struct view_key *k = ui_kind(u) ? ui_kind(u)->keys : NULL; k && k->key; k++)
        *help = fmaxf(*help, text_width(u->text, FACE_SANS, u->theme.font_size, k->help));
    for (unsigned i = 0; i < n_gestures; i++) {
        *keys = fmaxf(*keys, text_width(u->text, FACE_SANS, u->theme.font_size, gestures[i].what));
        *help = fmaxf(*help, text_width(u->text, FACE_SANS, u->theme.font_size, gestures[i].help));
    }
}

/* What does not fit stands on further pages. */
static unsigned help_pages(const struct sheet *s, float columns)
{
    return (unsigned)fmaxf(1, ceilf((s->x - s->box.x + s->column / 2) / s->column / columns));
}

void overlay_help(struct ui *u, struct draw_list *d)
{
    const struct theme *t = &u->theme;
    float keys = 0, help = 0, edge = 2 * t->pad;
    widest(u, &keys, &help);
    struct sheet s = {.u = u, .keys = keys + 2 * t->pad, .column = keys + help + 6 * t->pad};
    s.box = (struct box){2 * edge, 2 * edge, u->w - 4 * edge, u->h - 4 * edge};
    /* as many columns as there is room, then as low as they allow */
    float columns = fmaxf(1, floorf(s.box.w / s.column)), lines = N_ACTIONS + 8;
    if (columns * s.column > s.box.w) s.column = s.box.w;
    float most = s.box.h;
    for (float h = ceilf(lines / columns) * t->line;; h += t->line) {
        s.box.h = fminf(h, most);
        sheet_walk(&s);
        if (h >= most || s.x < s.box.x + (columns - 0.5f) * s.column) break;
    }
    unsigned pages = help_pages(&s, columns), *page = &u->private->help_page;
    if (*page >= pages) *page = pages - 1;
    s.box.w = columns * s.column;
    s.box.x = roundf((u->w - s.box.w) / 2);
    s.box.y = roundf((u->h - s.box.h) / 2);
    struct box b = {s.box.x - edge, s.box.y - edge, s.box.w + 2 * edge - 4 * t->pad, s.box.h + 2 * edge};
    draw_fill(d, u->layout.window, (t->role[ROLE_BACKGROUND] & 0xffffff) | SCRIM_ALPHA << 24, PATTERN_SOLID);
    draw_rect(d, b, ROLE_PANEL);
    draw_frame(d, b, t->role[ROLE_ACCENT], 2);
    s.d = d;
    draw_clip(d, b);
    s.box.x -= (float)*page * s.box.w;
    sheet_walk(&s);
    draw_unclip(d);
    if (pages == 1) return;
    struct str more = {0};
    str_printf(&more, "page %u of %u: PgUp, PgDn", *page + 1, pages);
    struct text_style style = {.role = ROLE_TEXT_DIM, .align = ALIGN_RIGHT, .max_width = b.w - 2 * t->pad};
    ui_label(u, d, (struct box){b.x + b.w - t->pad, b.y + b.h - edge, 0, edge}, style, str_text(&more));
    str_free(&more);
}
