/* time_axis.c - see time_axis.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/ui/time_axis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/units.h"

/* ---- steps ---- */

static const int64_t clock_steps[] = {
    NS_PER_S,        2 * NS_PER_S,      5 * NS_PER_S,      10 * NS_PER_S,      15 * NS_PER_S,      30 * NS_PER_S,
    NS_PER_MINUTE,   2 * NS_PER_MINUTE, 5 * NS_PER_MINUTE, 10 * NS_PER_MINUTE, 15 * NS_PER_MINUTE, 30 * NS_PER_MINUTE,
    NS_PER_HOUR,     2 * NS_PER_HOUR,   3 * NS_PER_HOUR,   6 * NS_PER_HOUR,    12 * NS_PER_HOUR,
};

/* The least of 1, 2, 5 times a power of ten units that is at least x, which is at most 10^18. */
static int64_t decimal_step(int64_t x, int64_t unit)
{
    for (int64_t power = unit;; power *= 10)
        for (int64_t k = 1; k <= 5; k += k == 1 ? 1 : 3)
            if (k * power >= x || power > INT64_MAX / 50) return k * power;
}

int64_t time_step(int64_t span_ns, unsigned most_ticks)
{
    int64_t least = (span_ns + most_ticks - 1) / most_ticks;
    if (least <= NS_PER_S / 2) return decimal_step(least, 1);
    for (size_t i = 0; i < sizeof clock_steps / sizeof *clock_steps; i++)
        if (clock_steps[i] >= least) return clock_steps[i];
    return decimal_step(least, NS_PER_DAY);
}

int64_t time_first(int64_t from_ns, int64_t step_ns)
{
    int64_t whole = from_ns / step_ns * step_ns;
    return whole < from_ns ? whole + step_ns : whole;
}

/* ---- texts ---- */

static void fraction_text(struct str *to, int64_t rest_ns, int64_t step_ns)
{
    char digits[16];
    size_t n = 9;
    for (int64_t unit = 1; n > 0 && unit < NS_PER_S && step_ns % (unit * 10) == 0; unit *= 10) n--;
    if (n == 0) return;
    snprintf(digits, sizeof digits, "%09d", (int)rest_ns);
    str_append_char(to, '.');
    str_append_n(to, digits, n);
}

void time_length(struct str *to, int64_t ns)
{
    if (ns < NS_PER_DAY) {
        units_format_duration(to, ns);
        return;
    }
    time_text(to, ns, NS_PER_MINUTE);
}

void time_text(struct str *to, int64_t ns, int64_t step_ns)
{
    if (ns < 0) {
        str_append_char(to, '-');
        ns = -ns;
    }
    int64_t days = ns / NS_PER_DAY, hours = ns / NS_PER_HOUR % 24, minutes = ns / NS_PER_MINUTE % 60;
    if (days > 0 || (step_ns >= NS_PER_DAY)) str_printf(to, "%dd", (int)days);
    if (step_ns >= NS_PER_DAY && step_ns % NS_PER_DAY == 0) return;
    if (days > 0) str_append_char(to, ' ');
    str_printf(to, "%02d:%02d", (int)hours, (int)minutes);
    if (step_ns % NS_PER_MINUTE == 0) return;
    str_printf(to, ":%02d", (int)(ns / NS_PER_S % 60));
    fraction_text(to, ns % NS_PER_S, step_ns);
}

void time_text_in(struct str *to, int64_t ns, int64_t window_ns)
{
    int64_t step = time_step(window_ns > 0 ? window_ns : 1, 1000);
    if (step > NS_PER_MINUTE) step = NS_PER_MINUTE;
    int64_t rounded = ns - ns % step;
    time_text(to, rounded, step);
}

/* "03:15", "03:15:30", "03:15:30.5" -> ns; NULL when it is one. */
static const char *clock_parse(const char *text, int64_t *ns)
{
    static const char wrong[] = "a moment such as 2d 03:15, 01:30:00 or 90m is needed";
    int hours = 0, minutes = 0, used = 0;
    int64_t rest = 0;
    if (sscanf(text, "%3d:%2d%n", &hours, &minutes, &used) != 2 || used < 3 || hours < 0 || minutes < 0 || minutes > 59) return wrong;
    if (text[used] == ':' && (units_parse_duration(text + used + 1, &rest) || rest >= NS_PER_MINUTE)) return wrong;
    if (text[used] != ':' && text[used]) return wrong;
    *ns = hours * NS_PER_HOUR + minutes * NS_PER_MINUTE + rest;
    return NULL;
}

const char *time_parse(const char *text, int64_t *ns)
{
    const char *colon = strchr(text, ':'), *day = strchr(text, 'd');
    int64_t days = 0, rest = 0;
    if (!colon) return units_parse_duration(text, ns);
    if (day && day < colon) {
        char head[32];
        if ((size_t)(day - text) + 2 > sizeof head) return "too long for a moment";
        snprintf(head, sizeof head, "%.*sd", (int)(day - text), text);
        const char *wrong = units_parse_duration(head, &days);
        if (wrong) return wrong;
        text = day + 1 + strspn(day + 1, " ");
    }
    const char *wrong = clock_parse(text, &rest);
    if (wrong) return wrong;
    if (days > INT64_MAX - rest) return "too late a moment";
    *ns = days + rest;
    return NULL;
}

const char *time_parse_range(const char *text, int64_t *from_ns, int64_t *to_ns)
{
    const char *dots = strstr(text, ".."), *cut = dots;
    unsigned colons = 0;
    for (const char *p = text; *p; p++) colons += *p == ':';
    if (!dots && colons % 2 == 0) return "FROM:TO or FROM..TO is needed, such as 0:6h or 2d 03:15..2d 06:00";
    for (unsigned i = 0; !dots && i <= colons / 2; i++) cut = strchr(cut ? cut + 1 : text, ':');
    char *from = strndup(text, (size_t)(cut - text));
    const char *wrong = time_parse(from, from_ns);
    free(from);
    if (!wrong) wrong = time_parse(cut + (dots ? 2 : 1), to_ns);
    return wrong ? wrong : *from_ns >= *to_ns ? "it must begin before it ends" : NULL;
}

/* ---- the axis ---- */

enum { MAX_TICKS = 200 };

struct tick {
    int64_t ns;
    float x;
};

/* The widest label decides how many ticks have room. */
static int64_t axis_step(const struct ui *u, struct box plot)
{
    int64_t span = u->to_ns - u->from_ns;
    unsigned most = plot.w > 80 ? (unsigned)(plot.w / 60) : 1;
    for (; most > 1; most--) {
        struct str s = {0};
        int64_t step = time_step(span, most);
        time_text(&s, u->to_ns - u->to_ns % step, step);
        float need = text_width(u->text, FACE_SANS, u->theme.font_size, str_text(&s)) + 3 * u->theme.pad;
        str_free(&s);
        if (need * (float)((double)span / (double)step) <= plot.w) return step;
    }
    return time_step(span, 1);
}

static unsigned axis_ticks(const struct ui *u, struct box plot, int64_t step, struct tick *out)
{
    unsigned n = 0;
    for (int64_t t = time_first(u->from_ns, step); t <= u->to_ns && n < MAX_TICKS; t += step)
        out[n++] = (struct tick){t, roundf(ui_x_of(u, plot, t))};
    return n;
}

void time_axis_grid(const struct ui *u, struct draw_list *d, struct box plot)
{
    struct tick tick[MAX_TICKS];
    unsigned n = axis_ticks(u, plot, axis_step(u, plot), tick);
    for (unsigned i = 0; i < n; i++) draw_rect(d, (struct box){tick[i].x, plot.y, 1, plot.h}, ROLE_GRID);
}

/* Labels stand centred below their ticks, kept within the window; those that the one before or a named moment would cover are left out. */
void time_axis_draw(const struct ui *u, struct draw_list *d, struct box axis, struct box plot)
{
    struct tick tick[MAX_TICKS];
    int64_t step = axis_step(u, plot);
    unsigned n = axis_ticks(u, plot, step, tick);
    float size = u->theme.font_size, pad = u->theme.pad, free_from = plot.x;
    float base = axis.y + (axis.h + text_ascent(u->text, FACE_SANS, size) - text_descent(u->text, FACE_SANS, size)) / 2;
    struct axis_labels named;
    axis_labels(u, axis, plot, &named);
    draw_rect(d, (struct box){plot.x, axis.y, plot.w, 1}, ROLE_BORDER);
    for (unsigned i = 0; i < n; i++) {
        struct str s = {0};
        time_text(&s, tick[i].ns, step);
        float half = text_width(u->text, FACE_SANS, u->theme.font_size, str_text(&s)) / 2;
        float x = fminf(fmaxf(tick[i].x, plot.x + half), axis.x + axis.w - half - pad / 2);
        bool hidden = axis_labels_cover(&named, x - half, x + half, pad / 2);
        draw_rect(d, (struct box){tick[i].x, axis.y, 1, pad / 2}, ROLE_BORDER);
        if (!hidden && x - half >= free_from) {
            draw_text(d, x, roundf(base), &(struct text_style){.role = ROLE_TEXT_DIM, .align = ALIGN_CENTRE}, str_text(&s));
            free_from = x + half + pad;
        }
        str_free(&s);
    }
    axis_flags_draw(u, d, axis, plot);
    axis_labels_draw(&named, d, base);
}

void time_axis_dump(const struct ui *u, struct box plot, struct json_writer *w)
{
    struct tick tick[MAX_TICKS];
    int64_t step = axis_step(u, plot);
    unsigned n = axis_ticks(u, plot, step, tick);
    json_write_array_inline(w);
    for (unsigned i = 0; i < n; i++) {
        struct str s = {0};
        time_text(&s, tick[i].ns, step);
        json_write_string(w, str_text(&s));
        str_free(&s);
    }
    json_write_end(w);
}
