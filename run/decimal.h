/* decimal.h - exact decimals: ns as seconds, share-ns as GPU-seconds, both ways, never through a double.
 *
 * 1 s = 10^9 ns; 1 GPU-s = 1,000 shares x 10^9 ns = 10^12 share-ns. Trailing zeros are cut, and with them the point:
 * 9516326000 ns is "9.516326", 8000 * 10^9 share-ns is "8".
 *
 *     n = decimal_put_gpu_s(text, sum);                 // at most DECIMAL_GPU_S_BYTES, no NUL
 *     if (!decimal_get("9.516326", 9, &ns128)) ...      // false: not a plain decimal, more digits than 9, or too large
 *
 * Cost: 10 to 40 ns a number.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_RUN_DECIMAL_H
#define TRAINYARD_RUN_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/ledger.h"

enum { NS_DIGITS = 9, SHARE_DIGITS = 3, GPU_S_DIGITS = NS_DIGITS + SHARE_DIGITS, DECIMAL_GPU_S_BYTES = 41 };

/* value / 10^digits; gives the length. */
size_t decimal_put(char *out, share_ns value, unsigned digits);

static inline size_t decimal_put_gpu_s(char *out, share_ns value)
{
    return decimal_put(out, value, GPU_S_DIGITS);
}

/* Digits, at most one point, nothing else, no sign; *value = text * 10^digits. */
bool decimal_get(const char *text, unsigned digits, share_ns *value);

/* As a double in GPU-hours or so: value / 10^12, correctly rounded to a few units in the last place. */
double decimal_gpu_s(share_ns value);

#endif
