/* blend.h - one colour over another, both ARGB32; the ground is opaque. Inside of the pixel back end.
 *
 * Channels are mixed as they stand (sRGB), as browsers and toolkits do; rounding to the nearest: x * a / 255 with an error below 1/2.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_DRAW_BLEND_H
#define TRAINYARD_VIZ_DRAW_BLEND_H

#include <stdint.h>

/* `alpha` 0 to 255: how much of `over`. */
static inline uint32_t blend(uint32_t ground, uint32_t over, uint32_t alpha)
{
    uint32_t rest = 255 - alpha;
    uint32_t rb = (over & 0xff00ff) * alpha + (ground & 0xff00ff) * rest + 0x800080;
    uint32_t g = (over >> 8 & 0xff) * alpha + (ground >> 8 & 0xff) * rest + 0x80;
    rb = (rb + (rb >> 8 & 0xff00ff)) >> 8 & 0xff00ff;
    g = (g + (g >> 8)) & 0xff00;
    return 0xff000000 | rb | g;
}

#endif
