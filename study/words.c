/* words.c - see words.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/words.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/units.h"

/* From this many seconds on a time is said in this unit. */
static const struct {
    double from;
    struct scale scale;
} time_scales[] = {
    {2 * 86400., {" d", 1 / 86400.}},
    {5400,       {" h", 1 / 3600.} },
    {90,         {" min", 1 / 60.} },
    {1,          {" s", 1}         },
    {0,          {" ms", 1000}     },
};

struct scale words_scale(const char *unit, double magnitude)
{
    double x = fabs(magnitude);
    if (!strcmp(unit, "ratio")) return (struct scale){" %", 100};
    if (!strcmp(unit, "GPU-h")) return (struct scale){" GPU-h", 1};
    if (strcmp(unit, "s") != 0) return (struct scale){"", 1};
    if (x == 0 || !isfinite(x)) return (struct scale){" s", 1};
    for (size_t i = 0;; i++)
        if (x >= time_scales[i].from) return time_scales[i].scale;
}

struct scale words_difference_scale(const char *unit, double magnitude)
{
    if (!strcmp(unit, "ratio")) return (struct scale){" points", 100};
    return words_scale(unit, magnitude);
}

void words_number(struct str *s, double x)
{
    double size = fabs(x);
    if (!isfinite(x))
        str_append(s, "-");
    else if (size < 1e-9)
        str_append(s, "0");
    else if (size >= 999.5 && size < 1e15)
        units_format_count(s, (int64_t)llround(x));
    else if (size >= 99.95 || x == round(x))
        str_printf(s, "%.0f", x);
    else if (size >= 9.995)
        str_printf(s, "%.1f", x);
    else if (size >= 0.0995)
        str_printf(s, "%.2f", x);
    else
        str_printf(s, "%.2g", x);
}

void words_signed_number(struct str *s, double x)
{
    if (x >= 1e-9) str_append(s, "+");
    words_number(s, x);
}

void words_amount(struct str *s, const char *unit, double x)
{
    struct scale u = words_scale(unit, x);
    words_number(s, x * u.factor);
    if (isfinite(x)) str_append(s, u.unit);
}

void words_gpus(struct str *s, int64_t shares)
{
    if (shares % 1000 == 0)
        units_format_count(s, shares / 1000);
    else
        str_printf(s, "%.12g", (double)shares / 1000); /* three decimals at most */
}

void words_gpu_hours(struct str *s, double hours)
{
    bool small = hours != 0 && fabs(hours) < 0.01;
    words_number(s, small ? hours * 3600 : hours);
    str_append(s, small ? " GPU-s" : " GPU-h");
}

static size_t columns(const char *text, size_t n)
{
    size_t c = 0;
    for (size_t i = 0; i < n; i++) c += ((unsigned char)text[i] & 0xC0) != 0x80;
    return c;
}

void words_wrapped(struct str *s, const char *text, size_t indent, size_t width)
{
    size_t at = 0;
    for (size_t i = s->n; i > 0 && s->s[i - 1] != '\n'; i--) at++;
    for (bool first = true; *text; first = false) {
        size_t n = strcspn(text, " "), w = columns(text, n);
        if (!first && at + 1 + w > width) {
            str_append(s, "\n");
            str_append_repeat(s, ' ', indent);
            at = indent;
        } else if (!first) {
            str_append(s, " ");
            at++;
        }
        str_append_n(s, text, n);
        at += w;
        text += n;
        while (*text == ' ') text++;
    }
}

void words_left(struct str *s, const char *text, size_t width)
{
    size_t n = columns(text, strlen(text));
    str_append(s, text);
    if (n < width) str_append_repeat(s, ' ', width - n);
}

void words_right(struct str *s, const char *text, size_t width)
{
    size_t n = columns(text, strlen(text));
    if (n < width) str_append_repeat(s, ' ', width - n);
    str_append(s, text);
}

void words_name(struct str *s, const char *name)
{
    for (; *name; name++) str_append_char(s, *name == '_' ? ' ' : *name);
}

void words_cell(struct str *s, struct str *text, size_t width)
{
    str_append(s, " ");
    words_right(s, str_text(text), width);
    str_clear(text);
}

void words_number_cell(struct str *s, double x, size_t width)
{
    struct str text = {0};
    words_number(&text, x);
    words_cell(s, &text, width);
    str_free(&text);
}

void words_amount_cell(struct str *s, const char *unit, double x, size_t width)
{
    struct str text = {0};
    words_amount(&text, unit, x);
    words_cell(s, &text, width);
    str_free(&text);
}

void words_name_cell(struct str *s, const char *name, size_t width)
{
    struct str text = {0};
    words_name(&text, name);
    words_left(s, str_text(&text), width);
    str_free(&text);
}
