/* script.c - see script.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/ui/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lines.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "viz/ui/actions.h"
#include "viz/ui/export.h"
#include "viz/ui/picture.h"

enum { MOST_WORDS = 8 };

/* What a line says: its words, and the text behind the first one. Steps give NULL, or what is wrong (to free). */
struct step {
    struct ui *u;
    char *word[MOST_WORDS];
    size_t n;
    const char *rest;
    bool io; /* it failed to write, and was not wrong */
};

static char *wrong(const char *fmt, const char *what)
{
    struct str s = {0};
    str_printf(&s, "%s: %s", what, fmt);
    return str_take(&s);
}

static bool number(const struct step *s, size_t i, float *x)
{
    double v;
    if (i >= s->n || units_parse_double(s->word[i], &v) || v < -1e6 || v > 1e6) return false;
    *x = (float)v;
    return true;
}

/* The words from i on: buttons and modifiers. */
static char *options(const struct step *s, size_t i, struct ui_event *e)
{
    for (; i < s->n; i++) {
        if (strcmp(s->word[i], "shift") == 0)
            e->mods |= UI_SHIFT;
        else if (strcmp(s->word[i], "ctrl") == 0)
            e->mods |= UI_CTRL;
        else if (strcmp(s->word[i], "left") == 0)
            e->button = UI_BUTTON_LEFT;
        else if (strcmp(s->word[i], "middle") == 0)
            e->button = UI_BUTTON_MIDDLE;
        else if (strcmp(s->word[i], "right") == 0)
            e->button = UI_BUTTON_RIGHT;
        else
            return wrong("left, middle, right, shift or ctrl may stand here", s->word[i]);
    }
    return NULL;
}

static char *do_key(struct step *s)
{
    struct ui_event e = {.kind = UI_KEY};
    if (s->n != 2 || !key_parse(s->word[1], &e.key, &e.mods))
        return wrong("a key is needed: a character, or a name such as enter, esc, tab, page-down, ctrl+z", s->n > 1 ? s->word[1] : "key");
    ui_event(s->u, &e);
    return NULL;
}

static char *do_text(struct step *s)
{
    for (const char *p = s->rest; *p;) {
        struct ui_event e = {.kind = UI_TEXT};
        size_t n = str_utf8_bytes(p, strlen(p));
        if (n == 0) return wrong("this is no UTF-8", "text");
        memcpy(e.text, p, n);
        ui_event(s->u, &e);
        p += n;
    }
    return NULL;
}

static char *do_wheel(struct step *s)
{
    struct ui_event e = {.kind = UI_WHEEL};
    if (s->n < 5 || !number(s, 1, &e.wheel) || strcmp(s->word[2], "at") != 0 || !number(s, 3, &e.x) || !number(s, 4, &e.y))
        return wrong("wheel TURNS at X Y is needed", "wheel");
    char *bad = options(s, 5, &e);
    if (bad) return bad;
    ui_event(s->u, &(struct ui_event){.kind = UI_MOVE, .x = e.x, .y = e.y});
    ui_event(s->u, &e);
    return NULL;
}

static char *do_pointer(struct step *s)
{
    struct ui_event e = {.kind = UI_PRESS, .button = UI_BUTTON_LEFT};
    if (s->word[0][0] == 'r') e.kind = s->word[0][2] == 's' ? UI_RESIZE : UI_RELEASE;
    if (s->word[0][0] == 'm') e.kind = UI_MOVE;
    if (s->n < 3 || !number(s, 1, &e.x) || !number(s, 2, &e.y)) return wrong("two numbers are needed", s->word[0]);
    char *bad = options(s, 3, &e);
    if (bad) return bad;
    ui_event(s->u, &e);
    return NULL;
}

static char *do_tick(struct step *s)
{
    float seconds;
    if (s->n != 2 || !number(s, 1, &seconds) || seconds < 0) return wrong("a number of seconds is needed", "tick");
    ui_tick(s->u, (double)seconds);
    return NULL;
}

static char *do_poll(struct step *s)
{
    bool any = false;
    for (unsigned i = 0; i < ui_n_runs(s->u); i++) any |= scene_poll((struct scene *)(uintptr_t)ui_scene_at(s->u, i));
    if (any) ui_grown(s->u);
    return NULL;
}

static char *do_file(struct step *s)
{
    char *err = NULL;
    if (!*s->rest) return wrong("the name of a file is needed", s->word[0]);
    const char *ending = NULL; /* what is wrong with the name: then the script is wrong, else the file */
    if (strcmp(s->word[0], "screenshot") == 0) {
        ending = picture_ending_wrong(s->rest);
        ui_picture_write(s->u, s->rest, &err);
    } else if (strcmp(s->word[0], "export") == 0) {
        ending = export_ending_wrong(s->rest);
        ui_export_write(s->u, s->rest, &err);
    } else {
        ui_dump_write(s->u, s->rest, &err);
    }
    s->io = err && !ending;
    return err;
}

static const struct {
    const char *name;
    char *(*run)(struct step *);
} steps[] = {
    {"key", do_key},       {"text", do_text},       {"wheel", do_wheel}, {"press", do_pointer}, {"move", do_pointer},       {"release", do_pointer},
    {"resize", do_pointer}, {"tick", do_tick},      {"poll", do_poll},   {"screenshot", do_file}, {"dump", do_file}, {"export", do_file},
};
enum { N_STEPS = sizeof steps / sizeof *steps };

static void unknown(struct diag *d, const struct line_reader *r, const char *word)
{
    const char *names[N_STEPS];
    for (unsigned i = 0; i < N_STEPS; i++) names[i] = steps[i].name;
    diag_error(d, r->file, r->line, NULL, "%s: unknown step", word);
    diag_help_allowed(d, word, names, N_STEPS);
}

static bool do_line(struct ui *u, const struct line_reader *r, char *line, bool *io, struct diag *d)
{
    struct step s = {.u = u};
    char *copy = xstrdup(line);
    s.n = line_split_blanks(copy, s.word, MOST_WORDS);
    bool ok = true;
    if (s.n > 0 && s.word[0][0] != '#') {
        unsigned i = 0;
        while (i < N_STEPS && strcmp(steps[i].name, s.word[0]) != 0) i++;
        s.rest = line + strspn(line, " \t") + strlen(s.word[0]);
        s.rest += strspn(s.rest, " \t");
        char *bad = NULL;
        if (i == N_STEPS)
            unknown(d, r, s.word[0]);
        else if (s.n > MOST_WORDS && steps[i].run != do_text && steps[i].run != do_file)
            bad = wrong("too many words", s.word[0]);
        else
            bad = steps[i].run(&s);
        if (bad) diag_error(d, r->file, r->line, NULL, "%s", bad);
        ok = i < N_STEPS && !bad;
        *io = s.io;
        free(bad);
    }
    free(copy);
    return ok;
}

bool script_run(struct ui *u, const char *file, bool *io, struct diag *d)
{
    struct line_reader r;
    char *line;
    bool ok = true;
    *io = false;
    if (!line_open(&r, file, d)) return false;
    while (ok && !u->quit && line_next(&r, &line)) ok = do_line(u, &r, line, io, d);
    return line_close(&r) && ok;
}
