/* contrast.h - the contrast of two opaque colours, 1 to 21, as WCAG 2.1 defines it by their relative luminance.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_CONTRAST_H
#define TRAINYARD_TESTS_SUPPORT_CONTRAST_H

#include <math.h>
#include <stdint.h>

static inline float luminance_of(uint32_t argb)
{
    float c[3];
    for (int i = 0; i < 3; i++) {
        float v = (float)(argb >> 8 * i & 0xff) / 255;
        c[i] = v <= 0.04045f ? v / 12.92f : powf((v + 0.055f) / 1.055f, 2.4f);
    }
    return 0.2126f * c[2] + 0.7152f * c[1] + 0.0722f * c[0];
}

static inline float contrast_of(uint32_t a, uint32_t b)
{
    float la = luminance_of(a), lb = luminance_of(b);
    return la > lb ? (la + 0.05f) / (lb + 0.05f) : (lb + 0.05f) / (la + 0.05f);
}

#endif
