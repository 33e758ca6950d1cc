/* strokes.c - see strokes.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/draw/strokes.h"

/* clang-format off */
#define DOWN {-1, 2, 2, -1}, {-1, 10, 10, -1}, {6, 11, 11, 6}   /* x + y = 1, 9, 17 */
#define UP   {-1, -1, 9, 9}, {-1, 7, 1, 9}, {7, -1, 9, 1}       /* x - y = 0, -8, 8 */

static const struct strokes table[N_PATTERNS] = {
    [PATTERN_SOLID] = {0, 0, {{0}}},
    [PATTERN_HATCH] = {1.41f, 3, {DOWN}},
    [PATTERN_BACK_HATCH] = {1.41f, 3, {UP}},
    [PATTERN_CROSS] = {1.06f, 6, {DOWN, UP}},
    [PATTERN_DOTS] = {2, 2, {{0, 1, 2, 1}, {4, 5, 6, 5}}},
    [PATTERN_BARS] = {1, 2, {{0.5f, -1, 0.5f, 9}, {4.5f, -1, 4.5f, 9}}},
};
/* clang-format on */

const struct strokes *pattern_strokes(enum pattern pattern)
{
    return &table[pattern];
}
