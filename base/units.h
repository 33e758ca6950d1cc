/* units.h - quantities with units, read exactly and written for people.
 *
 * Reading works on decimal digits in 128-bit integers, never on doubles: "5.3s" is 5300000000 ns on every machine.
 * What falls between two results is rounded to the nearest, halves away from zero (Kubernetes quantities: up, as
 * Kubernetes does). Each parser gives NULL and sets the result, or gives a static text that says what is wrong and
 * which forms are allowed, and leaves the result alone. Spaces around a text and before a unit are accepted.
 *
 *     int64_t ns;
 *     const char *wrong = units_parse_duration("1h30m", &ns);
 *     if (wrong) diag_error(d, file, line, pointer, "%s: %s", text, wrong);
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_BASE_UNITS_H
#define TRAINYARD_BASE_UNITS_H

#include <stdint.h>

#include "base/str.h"

#define NS_PER_US      INT64_C(1000)
#define NS_PER_MS      INT64_C(1000000)
#define NS_PER_S       INT64_C(1000000000)
#define NS_PER_MINUTE  (60 * NS_PER_S)
#define NS_PER_HOUR    (3600 * NS_PER_S)
#define NS_PER_DAY     (86400 * NS_PER_S)
#define MILLI_PER_UNIT INT64_C(1000)
#define PPB_PER_UNIT   INT64_C(1000000000)

/* Whole seconds and milliseconds as ns: seconds(30). */
static inline int64_t seconds(int64_t s)
{
    return s * NS_PER_S;
}

static inline int64_t milliseconds(int64_t ms)
{
    return ms * NS_PER_MS;
}

/* "30m", "7d", "1h30m", "5.3s", "100ms", "250us", "10ns", "2w"; a bare number is seconds ("90", "1.5", "1e3").
 * Parts may be joined or spaced; not negative. Result in ns. */
const char *units_parse_duration(const char *text, int64_t *ns);

/* "80GB" (10^9), "16Gi" or "16GiB" (2^30), "512MB", "1.5TB", "4096"; K to E. Result in bytes. Not negative. */
const char *units_parse_bytes(const char *text, int64_t *bytes);

/* "400Gbps", "400Gb/s", "400Gbit/s" are bits; "20GB/s", "20GBps", "1GiB/s" bytes; a bare number is bytes/s. */
const char *units_parse_bandwidth(const char *text, int64_t *bytes_per_s);

/* A Kubernetes quantity in 1/1000: "500m" -> 500, "2" -> 2000, "0.5" -> 500, "16Gi", "1e3", "100u".
 * Source: apimachinery resource.Quantity, MilliValue(): suffixes n u m k M G T P E, Ki to Ei, exponents; rounded up,
 * away from zero; "E" followed by a digit is an exponent. May be negative. */
const char *units_parse_quantity(const char *text, int64_t *milli);

/* "12.5%" or the fraction "0.125" -> 125000000, in 1/10^9. Not negative; may be above 1. */
const char *units_parse_fraction(const char *text, int64_t *ppb);

/* A whole number, in full: "12", "-3". No unit, no point, no exponent. */
const char *units_parse_int64(const char *text, int64_t *x);

/* A finite number as a double, in full. */
const char *units_parse_double(const char *text, double *x);

/* For people, appended to s: "2d 03:15:00", "00:15:00" (from 1 min), "12.5 s", "850 ms", "1.25 us", "10 ns";
 * three significant digits below a minute. */
void units_format_duration(struct str *s, int64_t ns);

/* "80 GB", "1.5 TB", "512 B": decimal, three significant digits. */
void units_format_bytes(struct str *s, int64_t bytes);

/* "82,247". */
void units_format_count(struct str *s, int64_t count);

#endif
