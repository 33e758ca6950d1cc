/* widgets.c - see widgets.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/views/widgets.h"

#include <math.h>

#include "base/str.h"
#include "base/units.h"
#include "run/decimal.h"
#include "study/words.h"
#include "viz/ui/time_axis.h"

bool widget_in(struct box b, float x, float y)
{
    return x >= b.x && x < b.x + b.w && y >= b.y && y < b.y + b.h;
}

float widget_baseline(const struct ui *u, struct box b, float size)
{
    float up = text_ascent(u->text, FACE_SANS, size), down = text_descent(u->text, FACE_SANS, size);
    return roundf(b.y + (b.h + up - down) / 2);
}

float widget_text(const struct ui *u, struct draw_list *d, struct box b, enum face face, enum role role, enum align align, const char *text)
{
    struct text_style style = {.face = face, .role = role, .align = align, .max_width = b.w};
    float x = align == ALIGN_LEFT ? b.x : align == ALIGN_RIGHT ? b.x + b.w : b.x + b.w / 2;
    return b.w > 4 ? draw_text(d, x, widget_baseline(u, b, u->theme.font_size), &style, text) : 0;
}

void widget_triangle(const struct ui *u, struct draw_list *d, float x, float y, bool open, enum role role)
{
    float s = u->theme.font_size * 0.3f;
    struct point down[] = {{x - s, y - s * 0.6f}, {x + s, y - s * 0.6f}, {x, y + s * 0.8f}};
    struct point right[] = {{x - s * 0.6f, y - s}, {x + s * 0.8f, y}, {x - s * 0.6f, y + s}};
    draw_polygon(d, open ? down : right, 3, u->theme.role[role], PATTERN_SOLID);
}

void widget_moment(struct str *s, int64_t ns)
{
    if (ns < 0) str_append(s, "-");
    else time_text(s, ns - ns % NS_PER_S, NS_PER_S);
}

void widget_length(struct str *s, int64_t ns)
{
    if (ns < 0) str_append(s, "-");
    else words_amount(s, "s", (double)ns / 1e9);
}

void widget_gpus(struct str *s, int64_t shares)
{
    words_gpus(s, shares);
    str_append(s, shares == 1000 ? " GPU" : " GPUs");
}

void widget_gpu_time(struct str *s, share_ns sum)
{
    words_gpu_hours(s, decimal_gpu_s(sum) / 3600);
}

void widget_part(struct str *s, double part)
{
    if (part > 0 && part < 0.0001) str_append(s, "\xe2\x89\x88 0 %");
    else words_amount(s, "ratio", part);
}

void widget_end_of_name(const struct text_engine *e, float size, const char *name, float width, struct str *to)
{
    const char *from = name;
    str_append(to, name);
    while (*from && text_width(e, FACE_SANS, size, str_text(to)) > width) {
        text_next(&from);
        str_clear(to);
        str_printf(to, "\xe2\x80\xa6%s", from);
    }
    if (!*from) str_clear(to);
}
