/* looks.h - one row a show: hue, pattern, letter.
 *
 * Waits that name what a held GPU does (an image is pulled, peers are waited for) look like it. Work is green and blue, what
 * holds GPUs without work yellow and orange, what is lost purple, what is down vermillion, what is idle grey. A queue's wait may look like a part
 * of a step, which stand only in sums over GPUs, never beside it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_DRAW_LOOKS_H
#define TRAINYARD_VIZ_DRAW_LOOKS_H

#include "viz/draw/theme.h"

enum hue {
    HUE_BLACK, HUE_ORANGE, HUE_SKY, HUE_GREEN, HUE_YELLOW, HUE_BLUE, HUE_VERMILLION, HUE_PURPLE,
    LOOK_PALE, LOOK_GREY /* near the background; between border and text */
};

struct look_row {
    uint8_t hue, pattern;
    char letter;
};

const struct look_row *look_row(unsigned show); /* show < N_SHOWS; others look like what is free */

#endif
