/* decimal.c - exact decimals of 128-bit sums.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "run/decimal.h"

#include <assert.h>
#include <string.h>

#include "base/str.h"

enum { MAX_DIGITS = 39 }; /* of 2^128 */

static const uint64_t powers[] = {1,      10,      100,      1000,      10000,      100000,     1000000,
                                 10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000};

/* The digits of value, at least `least` of them, right-aligned at `end`; gives their number. */
static size_t digits_of(char *end, share_ns value, unsigned least)
{
    char *p = end;
    while (value >> 64) {
        *--p = (char)('0' + (int)(value % 10));
        value /= 10;
    }
    uint64_t low = (uint64_t)value;
    for (; low; low /= 10) *--p = (char)('0' + (int)(low % 10));
    while (end - p < (ptrdiff_t)least) *--p = '0';
    return (size_t)(end - p);
}

size_t decimal_put(char *out, share_ns value, unsigned digits)
{
    char text[MAX_DIGITS + 1];
    assert(digits < MAX_DIGITS);
    if (value == 0) {
        *out = '0';
        return 1;
    }
    if (!(value >> 64) && digits < sizeof powers / sizeof *powers && (uint64_t)value % powers[digits] == 0)
        return str_put_u64(out, (uint64_t)value / powers[digits]); /* a whole number, as most are */
    size_t n = digits_of(text + sizeof text, value, digits + 1), whole = n - digits;
    const char *from = text + sizeof text - n;
    while (n > whole && from[n - 1] == '0') n--;
    memcpy(out, from, whole);
    if (n == whole) return whole;
    out[whole] = '.';
    memcpy(out + whole + 1, from + whole, n - whole);
    return n + 1;
}

/* value * 10 + digit, false when it overflows. */
static bool add_digit(share_ns *value, unsigned digit)
{
    const share_ns most = ~(share_ns)0;
    if (*value >> 124 && *value > (most - digit) / 10) return false; /* 2^124 x 10 < 2^128: division is slow */
    *value = *value * 10 + digit;
    return true;
}

bool decimal_get(const char *text, unsigned digits, share_ns *value)
{
    share_ns sum = 0;
    unsigned after = 0;
    bool any = false, point = false;
    for (; *text; text++) {
        if (*text == '.' && !point && any) {
            point = true;
            continue;
        }
        if (*text < '0' || *text > '9' || (point && after++ == digits)) return false;
        if (!add_digit(&sum, (unsigned)(*text - '0'))) return false;
        any = true;
    }
    if (!any || (point && after == 0)) return false;
    for (; after < digits; after++)
        if (!add_digit(&sum, 0)) return false;
    *value = sum;
    return true;
}

double decimal_gpu_s(share_ns value)
{
    return (double)value / 1e12;
}
