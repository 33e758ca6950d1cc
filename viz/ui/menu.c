/* menu.c - lists to choose from, over the picture: the bookmarks, and all commands by name.
 *
 * Up and down choose, Enter does, Esc closes; a click does both. The list of commands has those whose name or help holds all words that were
 * typed; the text field in the status line takes them. Of bookmarks, Delete removes the chosen one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "base/units.h"
#include "viz/ui/private.h"

enum { MOST_LINES = 20 };

struct menu_row {
    unsigned index; /* of the action, of the bookmark */
    struct str left, right;
};
struct menu_rows {
    ARRAY(struct menu_row) v;
};

/* ---- rows ---- */

static bool has_word(const char *text, const char *word, size_t n)
{
    for (; *text; text++)
        if (strncasecmp(text, word, n) == 0) return true;
    return false;
}

static bool has_all(const struct action *a, const char *words)
{
    while (*(words += strspn(words, " "))) {
        size_t n = strcspn(words, " ");
        if (!has_word(a->name, words, n) && !has_word(a->help, words, n)) return false;
        words += n;
    }
    return true;
}

static bool is_view_that_lacks(unsigned action)
{
    return action >= DO_VIEW_1 && action <= DO_VIEW_7 && action - DO_VIEW_1 >= n_view_kinds;
}

static void command_rows(const struct ui *u, struct menu_rows *to)
{
    for (unsigned i = 0; i < N_ACTIONS; i++) {
        if (i == DO_COMMANDS || is_view_that_lacks(i) || !has_all(&actions[i], u->private->field.text)) continue;
        struct menu_row *r = array_add(&to->v);
        *r = (struct menu_row){.index = i};
        str_append(&r->left, i >= DO_VIEW_1 && i <= DO_VIEW_7 ? view_kinds[i - DO_VIEW_1]->title : actions[i].help);
        action_keys(&actions[i], &r->right);
    }
}

static void bookmark_rows(const struct ui *u, struct menu_rows *to)
{
    for (size_t i = 0; i < u->private->bookmarks.n; i++) {
        struct menu_row *r = array_add(&to->v);
        *r = (struct menu_row){.index = (unsigned)i};
        str_printf(&r->left, "%zu   %s", i + 1, u->private->bookmarks.v[i].name);
        bookmark_when(u, &u->private->bookmarks.v[i], &r->right);
    }
}

static const struct {
    const char *name, *title, *empty;
    void (*rows)(const struct ui *, struct menu_rows *);
} kinds[] = {
    [MENU_COMMANDS] = {"commands", "Commands", "no command has these words", command_rows},
    [MENU_BOOKMARKS] = {"bookmarks", "Bookmarks   ·   Enter goes there, Delete removes", "no bookmark yet: K sets one at the cursor, or of the range", bookmark_rows},
};

static void rows_make(const struct ui *u, struct menu_rows *to)
{
    *to = (struct menu_rows){0};
    kinds[u->private->menu.kind].rows(u, to);
}

static void rows_free(struct menu_rows *r)
{
    for (size_t i = 0; i < r->v.n; i++) {
        str_free(&r->v.v[i].left);
        str_free(&r->v.v[i].right);
    }
    array_free(&r->v);
}

/* ---- open, choose, do ---- */

void act_menu(struct ui *u, int kind)
{
    u->private->menu = (struct menu){.kind = (enum menu_kind)kind};
    if (kind == MENU_COMMANDS) act_field(u, FIELD_COMMAND);
    u->dirty = true;
}

void menu_close(struct ui *u)
{
    u->private->menu = (struct menu){0};
    u->dirty = true;
}

static void menu_do(struct ui *u, const struct menu_row *r)
{
    enum menu_kind kind = u->private->menu.kind;
    unsigned index = r->index;
    menu_close(u);
    field_close(u);
    if (kind == MENU_BOOKMARKS) {
        bookmark_show(u, index);
        return;
    }
    u->private->doing = (int)index;
    actions[index].run(u, actions[index].arg);
}

void menu_click(struct ui *u, unsigned index)
{
    struct menu_rows rows;
    rows_make(u, &rows);
    for (size_t i = 0; i < rows.v.n; i++)
        if (rows.v.v[i].index == index) {
            menu_do(u, &rows.v.v[i]);
            break;
        }
    rows_free(&rows);
}

bool menu_key(struct ui *u, int key, unsigned mods)
{
    struct menu *m = &u->private->menu;
    struct menu_rows rows;
    if (m->kind == MENU_NONE) return false;
    rows_make(u, &rows);
    size_t n = rows.v.n, at = m->at < n ? m->at : n ? n - 1 : 0;
    bool taken = key == UI_UP || key == UI_DOWN || key == UI_ENTER || (m->kind == MENU_BOOKMARKS && !(mods & UI_CTRL));
    if (n && key == UI_UP) at = (at + n - 1) % n;
    if (n && key == UI_DOWN) at = (at + 1) % n;
    m->at = (unsigned)at;
    if (n && key == UI_ENTER) menu_do(u, &rows.v.v[at]);
    if (n && key == UI_DELETE && m->kind == MENU_BOOKMARKS) bookmark_remove(u, rows.v.v[at].index);
    if (key == UI_ESC) menu_close(u);
    rows_free(&rows);
    u->dirty = true;
    return taken;
}

/* ---- drawn ---- */

static void row_draw(struct ui *u, struct draw_list *d, struct box b, const struct menu_row *r, bool chosen)
{
    const struct theme *t = &u->theme;
    struct box text = {b.x + t->pad, b.y, b.w - 2 * t->pad, b.h};
    if (chosen) draw_rect(d, b, ROLE_SELECTION);
    if (chosen) draw_rect(d, (struct box){b.x, b.y, 3, b.h}, ROLE_ACCENT);
    float right = ui_label(u, d, (struct box){text.x + text.w, b.y, 0, b.h}, (struct text_style){.role = ROLE_ACCENT, .align = ALIGN_RIGHT, .max_width = text.w / 2}, str_text(&r->right));
    struct text_style left = {.face = chosen ? FACE_BOLD : FACE_SANS, .max_width = text.w - right - t->pad};
    if (left.max_width > 0) ui_label(u, d, text, left, str_text(&r->left));
    ui_hit(u, b, AREA_MENU, r->index);
}

void menu_draw(struct ui *u, struct draw_list *d)
{
    const struct theme *t = &u->theme;
    struct menu *m = &u->private->menu;
    struct menu_rows rows;
    if (m->kind == MENU_NONE) return;
    rows_make(u, &rows);
    unsigned n = (unsigned)rows.v.n, fit = (unsigned)fmaxf(1, floorf((u->h - 6 * t->line) / t->line)), lines = n < fit ? n : fit;
    if (lines > MOST_LINES) lines = MOST_LINES;
    if (m->at >= n) m->at = n ? n - 1 : 0;
    unsigned first = m->at >= lines && lines ? m->at - lines + 1 : 0;
    float w = fminf(48 * t->font_size, u->w - 4 * t->pad), h = (float)(lines ? lines : 1) * t->line + t->line + 2 * t->pad;
    struct box b = {roundf((u->w - w) / 2), roundf(fmaxf(t->pad, (u->h - h) / 3)), w, h};
    draw_rect(d, b, ROLE_PANEL);
    draw_frame(d, b, t->role[ROLE_ACCENT], 2);
    struct box at = {b.x + 2, b.y + t->pad, b.w - 4, t->line};
    ui_label(u, d, (struct box){at.x + t->pad, at.y, at.w, at.h}, (struct text_style){.face = FACE_BOLD, .max_width = at.w - 2 * t->pad}, kinds[m->kind].title);
    at.y += t->line;
    if (n == 0) ui_label(u, d, (struct box){at.x + t->pad, at.y, at.w, at.h}, (struct text_style){.role = ROLE_TEXT_DIM, .max_width = at.w - 2 * t->pad}, kinds[m->kind].empty);
    for (unsigned i = first; i < first + lines; i++, at.y += t->line) row_draw(u, d, at, &rows.v.v[i], i == m->at);
    rows_free(&rows);
}

void menu_dump(const struct ui *u, struct json_writer *w)
{
    const struct menu *m = &u->private->menu;
    struct menu_rows rows;
    json_write_key(w, "menu");
    if (m->kind == MENU_NONE) {
        json_write_null(w);
        return;
    }
    rows_make(u, &rows);
    json_write_object(w);
    json_write_key(w, "name");
    json_write_string(w, kinds[m->kind].name);
    json_write_key(w, "chosen");
    json_write_uint64(w, m->at);
    json_write_key(w, "rows");
    json_write_array(w);
    for (size_t i = 0; i < rows.v.n; i++) {
        json_write_array_inline(w);
        json_write_string(w, str_text(&rows.v.v[i].left));
        json_write_string(w, str_text(&rows.v.v[i].right));
        json_write_end(w);
    }
    json_write_end(w);
    json_write_end(w);
    rows_free(&rows);
}
