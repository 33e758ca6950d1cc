/* field.c - the text field in the status line: search, go to a time, run until the queue is longer, name a bookmark, find a command, export.
 *
 * A search is applied as it is typed; while it is no valid one the last valid stays, and the status line says what is wrong.
 * Enter keeps it and selects the first match; Esc brings the search back that was there before.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "viz/ui/export.h"
#include "viz/ui/private.h"
#include "viz/ui/time_axis.h"

/* ---- the filter ---- */

void filter_apply(struct ui *u)
{
    for (unsigned i = 0; i < ui_n_runs(u); i++) {
        struct ui_run *r = runs_at(u, i);
        r->passes = xreallocarray(r->passes, r->scene->n_jobs + 1, sizeof *r->passes);
        r->matches = 0;
        for (uint32_t j = 0; j < r->scene->n_jobs; j++) {
            r->passes[j] = !u->filter || filter_job(u->filter, r->scene, (int32_t)j);
            r->matches += r->passes[j];
        }
    }
    u->dirty = true;
}

bool ui_filter(struct ui *u, const char *text, char **err)
{
    bool any = text[strspn(text, " ")] != 0;
    struct filter *f = any ? filter_parse(text, err) : NULL;
    if (any && !f) return false;
    filter_free(u->filter);
    u->filter = f;
    snprintf(u->private->filter_words, FIELD_BYTES, "%s", text);
    filter_apply(u);
    return true;
}

static void search_again(struct ui *u)
{
    struct field *f = &u->private->field;
    free(f->error);
    f->error = NULL;
    if (f->kind == FIELD_SEARCH) ui_filter(u, f->text, &f->error);
    u->private->menu.at = 0;
}

/* ---- open and close ---- */

static void begin_with(struct field *f, const char *text)
{
    snprintf(f->text, FIELD_BYTES, "%s", text);
    f->n = f->caret = strlen(f->text);
}

void act_field(struct ui *u, int kind)
{
    struct field *f = &u->private->field;
    free(f->error);
    *f = (struct field){.kind = (enum field_kind)kind};
    if (kind == FIELD_SEARCH) {
        snprintf(f->before, FIELD_BYTES, "%s", u->filter_text);
        begin_with(f, u->filter_text);
    }
    if (kind == FIELD_BOOKMARK && bookmark_here(u)) begin_with(f, bookmark_here(u));
    u->dirty = true;
}

void field_close(struct ui *u)
{
    struct field *f = &u->private->field;
    free(f->error);
    *f = (struct field){0};
    u->dirty = true;
}

static void field_cancel(struct ui *u)
{
    struct field *f = &u->private->field;
    char *err = NULL;
    if (f->kind == FIELD_SEARCH) ui_filter(u, f->before, &err);
    free(err);
    field_close(u);
}

/* The job whose id was typed, else the first that passes. */
static void select_first(struct ui *u)
{
    for (unsigned run = 0; run < u->n_runs; run++) {
        const struct scene *s = u->runs[run].scene;
        int32_t exact = scene_find_job(s, u->filter_text), first = -1;
        if (exact < 0 && strncmp(u->filter_text, "job:", 4) == 0) exact = scene_find_job(s, u->filter_text + 4);
        for (uint32_t j = 0; j < s->n_jobs && first < 0; j++)
            if (u->runs[run].passes[j]) first = (int32_t)j;
        if (exact >= 0 && u->runs[run].passes[exact]) first = exact;
        if (first < 0) continue;
        select_job(u, run, first, -1);
        return;
    }
    ui_say(u, "no job matches %s", u->filter_text);
}

static bool goto_time(struct ui *u, struct field *f)
{
    int64_t ns;
    const char *wrong = time_parse(f->text, &ns);
    if (wrong) {
        free(f->error);
        f->error = xstrdup(wrong);
        return false;
    }
    history_note(u);
    ui_cursor(u, ns);
    return true;
}

static bool until_queue(struct ui *u, struct field *f)
{
    double x;
    const char *wrong = units_parse_double(f->text, &x);
    if (wrong) {
        free(f->error);
        f->error = xstrdup(wrong);
        return false;
    }
    run_until(u, UNTIL_QUEUE, x);
    return true;
}

/* A file that is there is never written over: a slip of the keyboard costs nothing. */
static bool export_range(struct ui *u, struct field *f)
{
    char *wrong = file_exists(f->text) ? xstrdup("there is such a file: give another name") : NULL;
    if (!wrong && ui_export_write(u, f->text, &wrong)) {
        ui_say(u, "%s is written", f->text);
        return true;
    }
    free(f->error);
    f->error = wrong;
    return false;
}

static void field_enter(struct ui *u)
{
    struct field *f = &u->private->field;
    bool done = false;
    switch (f->kind) {
    case FIELD_SEARCH:
        done = !f->error;
        if (done && u->filter) select_first(u);
        break;
    case FIELD_GOTO: done = goto_time(u, f); break;
    case FIELD_QUEUE: done = until_queue(u, f); break;
    case FIELD_BOOKMARK:
        bookmark_put(u, f->text);
        done = true;
        break;
    case FIELD_EXPORT: done = export_range(u, f); break;
    case FIELD_COMMAND: /* menu.c */
    case FIELD_NONE: break;
    }
    if (done) field_close(u);
    u->dirty = true;
}

/* ---- editing ---- */

void field_text(struct ui *u, const char *text)
{
    struct field *f = &u->private->field;
    size_t n = strlen(text);
    for (size_t i = 0; i < n;) { /* whole characters only, no control characters */
        size_t bytes = str_utf8_bytes(text + i, n - i);
        if (bytes == 0 || (unsigned char)text[i] < ' ' || f->n + bytes >= FIELD_BYTES) break;
        memmove(f->text + f->caret + bytes, f->text + f->caret, f->n - f->caret + 1);
        memcpy(f->text + f->caret, text + i, bytes);
        f->n += bytes;
        f->caret += bytes;
        i += bytes;
    }
    search_again(u);
    u->dirty = true;
}

static size_t step_back(const struct field *f)
{
    size_t at = f->caret;
    while (at > 0 && ((unsigned char)f->text[--at] & 0xc0) == 0x80) {}
    return at;
}

static size_t step_on(const struct field *f)
{
    return f->caret < f->n ? f->caret + str_utf8_bytes(f->text + f->caret, f->n - f->caret) : f->n;
}

static void cut(struct ui *u, size_t from, size_t to)
{
    struct field *f = &u->private->field;
    memmove(f->text + from, f->text + to, f->n - to + 1);
    f->n -= to - from;
    f->caret = from;
    search_again(u);
}

void field_key(struct ui *u, int key, unsigned mods)
{
    struct field *f = &u->private->field;
    (void)mods;
    switch (key) {
    case UI_ESC: field_cancel(u); return;
    case UI_ENTER: field_enter(u); return;
    case UI_BACKSPACE: cut(u, step_back(f), f->caret); break;
    case UI_DELETE: cut(u, f->caret, step_on(f)); break;
    case UI_LEFT: f->caret = step_back(f); break;
    case UI_RIGHT: f->caret = step_on(f); break;
    case UI_HOME: f->caret = 0; break;
    case UI_END: f->caret = f->n; break;
    default: return;
    }
    u->dirty = true;
}
