/* theme.c - the tables of the themes, and how colours mix.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/draw/theme.h"

#include <math.h>
#include <string.h>

#include "viz/draw/looks.h"

const char *const theme_names[N_THEMES] = {"light", "dark", "contrast"};

/* clang-format off */
static const struct theme themes[N_THEMES] = {
    {.name = "light", .role = {
        [ROLE_TEXT] = 0xff1c2430, [ROLE_TEXT_DIM] = 0xff535d6c, [ROLE_TEXT_ON_ACCENT] = 0xffffffff,
        [ROLE_BACKGROUND] = 0xffffffff, [ROLE_PANEL] = 0xfff6f7f9, [ROLE_BAR] = 0xffeceff3,
        [ROLE_GRID] = 0xffe4e7ec, [ROLE_BORDER] = 0xffc5cbd4,
        [ROLE_ACCENT] = 0xff0a5fb0, [ROLE_SELECTION] = 0x240a63b8, [ROLE_CURSOR] = 0xff1c2430, [ROLE_HOVER] = 0x120a2440,
        [ROLE_EARLIER] = 0xff00629c, [ROLE_LATER] = 0xff914e00, [ROLE_FAILURE] = 0xffaa3900, [ROLE_WARNING] = 0xff7d5200,
        [ROLE_GREYED] = 0xffdde1e6},
     .hue = {0xff2b3038, 0xffe69f00, 0xff56b4e9, 0xff009e73, 0xfff0e442, 0xff0072b2, 0xffd55e00, 0xffcc79a7}},
    {.name = "dark", .role = {
        [ROLE_TEXT] = 0xffe4e8ee, [ROLE_TEXT_DIM] = 0xffa9b2be, [ROLE_TEXT_ON_ACCENT] = 0xff0b1118,
        [ROLE_BACKGROUND] = 0xff15181d, [ROLE_PANEL] = 0xff1b1f26, [ROLE_BAR] = 0xff232830,
        [ROLE_GRID] = 0xff272d36, [ROLE_BORDER] = 0xff3d4551,
        [ROLE_ACCENT] = 0xff5aaeee, [ROLE_SELECTION] = 0x2a4aa3e8, [ROLE_CURSOR] = 0xffe4e8ee, [ROLE_HOVER] = 0x18c8dcff,
        [ROLE_EARLIER] = 0xff63bbee, [ROLE_LATER] = 0xffeaa61a, [ROLE_FAILURE] = 0xffff9158, [ROLE_WARNING] = 0xfff0c850,
        [ROLE_GREYED] = 0xff333a44},
     .hue = {0xff8d97a5, 0xffdf9c0a, 0xff56b4e9, 0xff0aa57a, 0xffe3d84a, 0xff2380c0, 0xffd9661a, 0xffcc79a7}},
    {.name = "contrast", .role = {
        [ROLE_TEXT] = 0xffffffff, [ROLE_TEXT_DIM] = 0xffe8ecf0, [ROLE_TEXT_ON_ACCENT] = 0xff000000,
        [ROLE_BACKGROUND] = 0xff000000, [ROLE_PANEL] = 0xff000000, [ROLE_BAR] = 0xff090c10,
        [ROLE_GRID] = 0xff3c434c, [ROLE_BORDER] = 0xffb8c0ca,
        [ROLE_ACCENT] = 0xffffd500, [ROLE_SELECTION] = 0x30ffd500, [ROLE_CURSOR] = 0xffffffff, [ROLE_HOVER] = 0x24ffffff,
        [ROLE_EARLIER] = 0xff8fd0ff, [ROLE_LATER] = 0xffffc04d, [ROLE_FAILURE] = 0xffffb48a, [ROLE_WARNING] = 0xfff5ec6a,
        [ROLE_GREYED] = 0xff2a2f36},
     .hue = {0xffc8ced6, 0xffe69f00, 0xff56b4e9, 0xff00b584, 0xfff0e442, 0xff2b8fd4, 0xfff06a00, 0xffe08cbb}},
};
/* clang-format on */

struct theme theme_make(unsigned index, float scale)
{
    struct theme t = themes[index];
    t.font_size = roundf(12 * scale * 2) / 2;
    t.line = roundf(t.font_size * 1.5f);
    t.pad = roundf(8 * scale);
    return t;
}

struct look theme_look(const struct theme *t, unsigned show)
{
    const struct look_row *row = look_row(show);
    uint32_t argb = t->hue[row->hue & 7];
    if (row->hue == LOOK_PALE) argb = theme_mix(t->role[ROLE_BACKGROUND], t->role[ROLE_GREYED], 0.9f);
    if (row->hue == LOOK_GREY) argb = theme_mix(t->role[ROLE_BORDER], t->role[ROLE_TEXT_DIM], 0.35f);
    return (struct look){argb, row->pattern, row->letter};
}

uint32_t theme_colour_of(const struct theme *t, uint32_t n)
{
    static const uint8_t order[] = {HUE_BLUE, HUE_ORANGE, HUE_GREEN, HUE_PURPLE, HUE_SKY, HUE_VERMILLION, HUE_YELLOW};
    static const struct {
        uint32_t with;
        float part;
    } tones[] = {
        {0xff000000, 0    },
        {0xffffffff, 0.42f},
        {0xff000000, 0.32f},
        {0xffffffff, 0.22f}
    };
    uint32_t tone = n / sizeof order % 4;
    return theme_mix(t->hue[order[n % sizeof order]], tones[tone].with, tones[tone].part);
}

static uint32_t channel(uint32_t argb, int shift)
{
    return argb >> shift & 255;
}

uint32_t theme_mix(uint32_t a, uint32_t b, float part_of_b)
{
    uint32_t mixed = 0;
    for (int shift = 0; shift < 32; shift += 8) {
        float from = (float)channel(a, shift), to = (float)channel(b, shift);
        mixed |= (uint32_t)(from + (to - from) * part_of_b + 0.5f) << shift;
    }
    return mixed;
}

/* Relative luminance, WCAG 2.1. */
static float luminance(uint32_t argb)
{
    static const float weight[3] = {0.0722f, 0.7152f, 0.2126f}; /* blue, green, red */
    float sum = 0;
    for (int i = 0; i < 3; i++) {
        float c = (float)channel(argb, 8 * i) / 255;
        sum += weight[i] * (c <= 0.04045f ? c / 12.92f : powf((c + 0.055f) / 1.055f, 2.4f));
    }
    return sum;
}

uint32_t theme_text_on(uint32_t ground)
{
    return luminance(ground) > 0.1791f ? 0xff000000 : 0xffffffff; /* there both have contrast 4.58 */
}

/* How much of the tone a pixel of the tile has, in quarters. */
static unsigned tone_at(enum pattern pattern, unsigned x, unsigned y)
{
    static const uint8_t stroke[8] = {4, 2, 0, 0, 0, 0, 0, 2}, thin[8] = {4, 1, 0, 0, 0, 0, 0, 1};
    unsigned down = (x + y) & 7, up = (x - y) & 7;
    switch (pattern) {
    case PATTERN_HATCH: return stroke[down];
    case PATTERN_BACK_HATCH: return stroke[up];
    case PATTERN_CROSS: return thin[down] > thin[up] ? thin[down] : thin[up];
    case PATTERN_DOTS: return (x & 3) < 2 && (y & 3) < 2 && ((x ^ y) & 4) == 0 ? 4 : 0;
    case PATTERN_BARS: return (x & 3) == 0 ? 4 : 0;
    default: return 0;
    }
}

uint32_t theme_pattern_tone(uint32_t argb)
{
    uint32_t alpha = argb & 0xff000000;
    bool bright = luminance(argb) > 0.06f;
    return (theme_mix(argb, bright ? 0xff000000 : 0xffffffff, bright ? 0.36f : 0.45f) & 0xffffff) | alpha;
}

void theme_pattern(uint32_t argb, enum pattern pattern, uint32_t tile[PATTERN_TILE * PATTERN_TILE])
{
    uint32_t tone = theme_pattern_tone(argb);
    for (unsigned i = 0; i < PATTERN_TILE * PATTERN_TILE; i++)
        tile[i] = theme_mix(argb, tone, (float)tone_at(pattern, i % 8, i / 8) / 4);
}
