/* strokes.h - the patterns of theme.h as lines within a tile of 8 x 8, for vectors. Inside of the vector back end.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_DRAW_STROKES_H
#define TRAINYARD_VIZ_DRAW_STROKES_H

#include "viz/draw/theme.h"

struct stroke { float x0, y0, x1, y1; };

enum { STROKES_MAX = 6 };
struct strokes {
    float width; /* 0: no strokes */
    unsigned n;
    struct stroke v[STROKES_MAX];
};

/* Lines run beyond the tile, so that neighbouring tiles join. */
const struct strokes *pattern_strokes(enum pattern);

#endif
