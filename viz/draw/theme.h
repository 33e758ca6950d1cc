/* theme.h - colours, patterns and sizes: one table a theme, one row a show.
 *
 * Okabe and Ito's eight colours (jfly.uni-koeln.de/color), which people with colour-blindness tell apart, and a pattern and a letter with
 * each state, so that colour is never the only sign. Nothing flashes.
 *
 * Grounds are ROLE_BACKGROUND, _PANEL (beside the plots), _BAR (title, tabs, status), and ROLE_SELECTION and ROLE_HOVER, which are
 * translucent and lie over any of them. Roles for text on all of these: ROLE_TEXT, _TEXT_DIM, _ACCENT, _EARLIER, _LATER, _FAILURE, _WARNING:
 * contrast at least 4.5 in light and dark, 7 in contrast (WCAG 2.1, criteria 1.4.3 and 1.4.6; a test computes it). ROLE_TEXT_ON_ACCENT
 * stands on ROLE_ACCENT. ROLE_GRID, _BORDER, _CURSOR are lines (_CURSOR also around what is selected among coloured areas, where an accent
 * would drown); ROLE_GREYED fills what a filter keeps back.
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
    uint32_t hue[8];  /* Okabe and Ito's, as this theme shows them: enum hue of looks.h */
    float font_size, line, pad; /* px, already scaled: text, height of a line, space around things */
};

enum { N_THEMES = 3 };
extern const char *const theme_names[N_THEMES];
/* A theme at a font scale, 1 being 12 px. `index` < N_THEMES. */
struct theme theme_make(unsigned index, float scale);
struct look theme_look(const struct theme *, unsigned show);
/* A colour for the n-th of many (jobs, teams): neighbours differ. 28 of them, then they come again. */
uint32_t theme_colour_of(const struct theme *, uint32_t n);
/* Between two colours; the alpha too. */
uint32_t theme_mix(uint32_t a, uint32_t b, float part_of_b);
/* Black or white, whichever is read better on this ground. */
uint32_t theme_text_on(uint32_t ground);

/* The darker or lighter tone of a pattern in this colour. */
uint32_t theme_pattern_tone(uint32_t argb);
/* A pattern in a colour and a darker or lighter tone of it, as a tile: the pixel at (x, y) of the picture has tile[(y & 7) * 8 + (x & 7)],
 * so that neighbouring areas of one look join. For rasters that a view fills; draw_fill does the same by itself. */
enum { PATTERN_TILE = 8 };
void theme_pattern(uint32_t argb, enum pattern, uint32_t tile[PATTERN_TILE * PATTERN_TILE]);

#endif
