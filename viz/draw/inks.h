/* inks.h - colours that follow the page: a picture drawn in a light and in a dark theme, as one.
 *
 *     struct inks inks = {0};                            // of the whole page
 *     if (inks_take(&inks, light, dark)) vector_svg(light, &inks, "p1-", &html);   // `light` holds inks in place of colours
 *     inks_css(&inks, &style);                           // --k1, --k2 ...: once, in the page's style
 *     inks_free(&inks);
 *
 * An ink is a pair of colours. A view that is drawn twice, in two themes of one size, gives lists that differ in colours only; what is
 * painted by an ink says "var(--k7)", which the browser looks up by what its user prefers. Prints are light.
 *
 * In a list an ink stands where a colour would: its number, below an alpha of 255 where both colours are opaque, else 254, so that back ends go on
 * telling translucent from opaque, and equal from unequal. An ink of 0 is no paint at all.
 *
 * Cost: O(items and pixels of rasters); memory: 28 bytes an ink, of which a page has some 500.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_DRAW_INKS_H
#define TRAINYARD_VIZ_DRAW_INKS_H

#include "base/array.h"
#include "base/hmap.h"
#include "base/str.h"
#include "viz/draw/draw.h"

struct ink {
    uint32_t light, dark; /* argb */
    bool named;           /* by inks_name: the style has it */
};

struct inks {
    ARRAY(struct ink) v; /* by number - 1 */
    struct hmap known;   /* light << 32 | dark -> number */
};

uint32_t inks_code(struct inks *, uint32_t light, uint32_t dark);
struct ink inks_of(const struct inks *, uint32_t code);
unsigned inks_name(struct inks *, uint32_t code); /* 7: it is called --k7 */
/* The tone of a pattern's lines in this ink (theme_pattern_tone of both). */
uint32_t inks_tone(struct inks *, uint32_t code);
/* False where the lists differ in more than colours; nothing was changed then. */
bool inks_take(struct inks *, struct draw_list *light, const struct draw_list *dark);
void inks_css(const struct inks *, struct str *);
void inks_free(struct inks *);

#endif
