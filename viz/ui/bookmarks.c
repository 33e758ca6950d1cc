/* bookmarks.c - moments and ranges that a person wants to find again, with a name each; kept as long as the viewer runs.
 *
 * In order of their begin; a range begins at the same place only once. They are flags on the time axis, numbered in this order.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/units.h"
#include "viz/ui/private.h"
#include "viz/ui/time_axis.h"

/* ---- the list ---- */

/* What a new one would be: the range, else the cursor. */
static struct bookmark here(const struct ui *u)
{
    bool range = u->mark_from_ns >= 0;
    return (struct bookmark){.from_ns = range ? u->mark_from_ns : u->cursor_ns, .to_ns = range ? u->mark_to_ns : u->cursor_ns};
}

static bool before(const struct bookmark *a, const struct bookmark *b)
{
    return a->from_ns != b->from_ns ? a->from_ns < b->from_ns : a->to_ns < b->to_ns;
}

/* Its place among the others, and whether one of these moments is there. */
static size_t place_of(const struct ui *u, const struct bookmark *b, bool *there)
{
    const bookmark_list *l = &u->private->bookmarks;
    size_t i = 0;
    while (i < l->n && before(&l->v[i], b)) i++;
    *there = i < l->n && l->v[i].from_ns == b->from_ns && l->v[i].to_ns == b->to_ns;
    return i;
}

const char *bookmark_here(const struct ui *u)
{
    struct bookmark b = here(u);
    bool there;
    size_t i = place_of(u, &b, &there);
    return there ? u->private->bookmarks.v[i].name : NULL;
}

void bookmark_put(struct ui *u, const char *name)
{
    bookmark_list *l = &u->private->bookmarks;
    struct bookmark b = here(u);
    bool there;
    size_t at = place_of(u, &b, &there);
    snprintf(b.name, sizeof b.name, "%s", name);
    if (!there) {
        array_push(l, b);
        memmove(&l->v[at + 1], &l->v[at], (l->n - 1 - at) * sizeof *l->v);
    }
    l->v[at] = b;
    ui_say(u, "bookmark %zu of %zu: { and } go to the next ones, Shift+K lists them", at + 1, l->n);
}

void bookmark_remove(struct ui *u, size_t i)
{
    bookmark_list *l = &u->private->bookmarks;
    if (i >= l->n) return;
    memmove(&l->v[i], &l->v[i + 1], (l->n - 1 - i) * sizeof *l->v);
    l->n--;
    u->dirty = true;
}

/* "2d 06:30", "1d 00:00 to 2d 06:30". */
void bookmark_when(const struct ui *u, const struct bookmark *b, struct str *to)
{
    int64_t width = b->to_ns > b->from_ns ? b->to_ns - b->from_ns : ui_end(u) - ui_begin(u);
    time_text_in(to, b->from_ns, width);
    if (b->to_ns == b->from_ns) return;
    str_append(to, " to ");
    time_text_in(to, b->to_ns, width);
}

/* ---- going there ---- */

/* A range is brought into sight whole, with a tenth around it where the window must change. */
void bookmark_show(struct ui *u, size_t i)
{
    if (i >= u->private->bookmarks.n) return;
    const struct bookmark b = u->private->bookmarks.v[i];
    struct str when = {0};
    history_note(u);
    u->anchor_ns = -1;
    if (b.to_ns > b.from_ns) {
        int64_t edge = (b.to_ns - b.from_ns) / 10;
        range_set(u, b.from_ns, b.to_ns);
        if (b.from_ns < u->from_ns || b.to_ns > u->to_ns) ui_window_quietly(u, b.from_ns - edge, b.to_ns + edge);
    }
    ui_cursor(u, b.from_ns);
    bookmark_when(u, &b, &when);
    ui_say(u, "%zu  %s  %s", i + 1, str_text(&when), b.name);
    str_free(&when);
}

void act_bookmark(struct ui *u, int direction)
{
    const bookmark_list *l = &u->private->bookmarks;
    size_t found = l->n;
    for (size_t i = 0; i < l->n; i++) {
        bool beyond = direction > 0 ? l->v[i].from_ns > u->cursor_ns : l->v[i].from_ns < u->cursor_ns;
        if (beyond && (direction < 0 || found == l->n)) found = i;
    }
    if (found < l->n) bookmark_show(u, found);
    else ui_say(u, l->n ? "no bookmark %s" : "no bookmark yet: K sets one", direction > 0 ? "later" : "earlier");
}

/* ---- dump ---- */

void bookmarks_dump(const struct ui *u, struct json_writer *w)
{
    const bookmark_list *l = &u->private->bookmarks;
    json_write_key(w, "bookmarks");
    json_write_array(w);
    for (size_t i = 0; i < l->n; i++) {
        json_write_object_inline(w);
        json_write_key(w, "name");
        json_write_string(w, l->v[i].name);
        json_write_key(w, "from_s");
        json_write_seconds(w, l->v[i].from_ns);
        json_write_key(w, "to_s");
        json_write_seconds(w, l->v[i].to_ns);
        json_write_end(w);
    }
    json_write_end(w);
}
