/* theme.h - colours, patterns and sizes: one table a theme, one row a show.
 *
 * Okabe and Ito's eight colours (jfly.uni-koeln.de/color), which people with colour-blindness tell apart, and a pattern and a letter with
 * each state, so that colour is never the only sign. Nothing flashes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_DRAW_THEME_H
#define TRAINYARD_VIZ_DRAW_THEME_H

#include <stdbool.h>
#include <stdint.h>

enum role {
    ROLE_TEXT, ROLE_TEXT_DIM, ROLE_TEXT_ON_ACCENT, ROLE_BACKGROUND, ROLE_PANEL, ROLE_BAR, ROLE_GRID, ROLE_BORDER, ROLE_ACCENT, ROLE_SELECTION,
    ROLE_CURSOR, ROLE_HOVER, ROLE_EARLIER, ROLE_LATER, ROLE_FAILURE, ROLE_WARNING, ROLE_GREYED, N_ROLES
};

enum pattern { PATTERN_SOLID, PATTERN_HATCH, PATTERN_BACK_HATCH, PATTERN_CROSS, PATTERN_DOTS, PATTERN_BARS, N_PATTERNS };

/* How a show (viz/model/scene.h) looks. */
struct look {
    uint32_t argb;
    enum pattern pattern;
    char letter; /* drawn in wide spans and in the legend */
};

struct theme {
    const char *name; /* "light", "dark", "contrast" */
    uint32_t role[N_ROLES];
    float font_size, line, pad; /* px, already scaled: text, height of a line, space around things */
};

enum { N_THEMES = 3 };
extern const char *const theme_names[N_THEMES];
/* A theme at a font scale, 1 being 12 px. `index` < N_THEMES. */
struct theme theme_make(unsigned index, float scale);
struct look theme_look(const struct theme *, unsigned show);
/* A colour for the n-th of many (jobs, teams): neighbours differ. */
uint32_t theme_colour_of(const struct theme *, uint32_t n);
uint32_t theme_mix(uint32_t a, uint32_t b, float part_of_b);

#endif
