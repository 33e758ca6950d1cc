/* units.c - quantities with units.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/units.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned __int128 u128;

/* What a text says before it is rounded: digits * 10^exponent. */
struct decimal {
    u128 digits;
    int exponent;
    bool has_exponent;
};

/* One unit is factor * 10^power of what is returned. */
struct unit {
    const char *name;
    uint64_t factor;
    int power;
};

struct unit_kind {
    const struct unit *units;
    size_t n;
    bool round_up;
    bool strict_exponent; /* an exponent and a suffix exclude each other */
    const char *malformed, *negative, *too_large, *too_long;
};

#define TOO_LONG "has more digits than can be kept exactly; about 20 are enough"

static const struct unit duration_units[] = {
    {"",          1,    9 }, /* a bare number: seconds */
    {"ns",        1,    0 },
    {"us",        1,    3 },
    {"\xc2\xb5s", 1,    3 }, /* micro sign */
    {"\xce\xbcs", 1,    3 }, /* Greek mu */
    {"ms",        1,    6 },
    {"s",         1,    9 },
    {"m",         6,    10},
    {"min",       6,    10},
    {"h",         36,   11},
    {"d",         864,  11},
    {"w",         6048, 11},
};

static const struct unit byte_units[] = {
    {"",    1,                 0 },
    {"B",   1,                 0 },
    {"k",   1,                 3 },
    {"K",   1,                 3 },
    {"kB",  1,                 3 },
    {"KB",  1,                 3 },
    {"M",   1,                 6 },
    {"MB",  1,                 6 },
    {"G",   1,                 9 },
    {"GB",  1,                 9 },
    {"T",   1,                 12},
    {"TB",  1,                 12},
    {"P",   1,                 15},
    {"PB",  1,                 15},
    {"E",   1,                 18},
    {"EB",  1,                 18},
    {"Ki",  UINT64_C(1) << 10, 0 },
    {"KiB", UINT64_C(1) << 10, 0 },
    {"Mi",  UINT64_C(1) << 20, 0 },
    {"MiB", UINT64_C(1) << 20, 0 },
    {"Gi",  UINT64_C(1) << 30, 0 },
    {"GiB", UINT64_C(1) << 30, 0 },
    {"Ti",  UINT64_C(1) << 40, 0 },
    {"TiB", UINT64_C(1) << 40, 0 },
    {"Pi",  UINT64_C(1) << 50, 0 },
    {"PiB", UINT64_C(1) << 50, 0 },
    {"Ei",  UINT64_C(1) << 60, 0 },
    {"EiB", UINT64_C(1) << 60, 0 },
};

#define BITS(prefix, power)                                                                                            \
    {prefix "bps", 125, power - 3}, {prefix "b/s", 125, power - 3},                                                    \
    {                                                                                                                  \
        prefix "bit/s", 125, power - 3                                                                                 \
    }
#define BYTES(prefix, power)                                                                                           \
    {prefix "B/s", 1, power},                                                                                          \
    {                                                                                                                  \
        prefix "Bps", 1, power                                                                                         \
    }
#define BINARY(prefix, shift)                                                                                          \
    {                                                                                                                  \
        prefix "iB/s", UINT64_C(1) << shift, 0                                                                         \
    }

static const struct unit bandwidth_units[] = {
    {"", 1, 0},
    BITS("", 0),     BITS("k", 3),    BITS("K", 3),    BITS("M", 6),    BITS("G", 9),
    BITS("T", 12),  BYTES("", 0),    BYTES("k", 3),   BYTES("K", 3),   BYTES("M", 6),   BYTES("G", 9),
    BYTES("T", 12), BINARY("K", 10), BINARY("M", 20), BINARY("G", 30), BINARY("T", 40),
};

static const struct unit quantity_units[] = {
    {"",   1,                 3 },
    {"n",  1,                 -6},
    {"u",  1,                 -3},
    {"m",  1,                 0 },
    {"k",  1,                 6 },
    {"M",  1,                 9 },
    {"G",  1,                 12},
    {"T",  1,                 15},
    {"P",  1,                 18},
    {"E",  1,                 21},
    {"Ki", UINT64_C(1) << 10, 3 },
    {"Mi", UINT64_C(1) << 20, 3 },
    {"Gi", UINT64_C(1) << 30, 3 },
    {"Ti", UINT64_C(1) << 40, 3 },
    {"Pi", UINT64_C(1) << 50, 3 },
    {"Ei", UINT64_C(1) << 60, 3 },
};

static const struct unit fraction_units[] = {
    {"",  1, 9},
    {"%", 1, 7}
};

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static const struct unit_kind durations = {
    duration_units,
    COUNT(duration_units),
    false,
    false,
    "is not a duration; write 30m, 1h30m, 7d, 5.3s, 100ms, 250us, 10ns, or a number of seconds",
    "is negative; a duration is not",
    "is too long; the longest duration is 292 years",
    TOO_LONG};
static const struct unit_kind sizes = {
    byte_units,
    COUNT(byte_units),
    false,
    false,
    "is not a size; write 80GB, 1.5TB (decimal), 16Gi or 16GiB (binary), or a number of bytes",
    "is negative; a size is not",
    "is too large; the largest size is 9.2EB",
    TOO_LONG};
static const struct unit_kind bandwidths = {
    bandwidth_units,
    COUNT(bandwidth_units),
    false,
    false,
    "is not a bandwidth; write 400Gbps (bits), 20GB/s or 1GiB/s (bytes), or a number of bytes per second",
    "is negative; a bandwidth is not",
    "is too large; the largest bandwidth is 9.2EB/s",
    TOO_LONG};
static const struct unit_kind quantities = {quantity_units,
                                            COUNT(quantity_units),
                                            true,
                                            true,
                                            "is not a Kubernetes quantity; write 500m, 2, 0.5, 1e3, 16Gi, 4G",
                                            NULL,
                                            "is too large; the largest quantity is 9.2e15",
                                            TOO_LONG};
static const struct unit_kind fractions = {fraction_units,
                                           COUNT(fraction_units),
                                           false,
                                           false,
                                           "is not a fraction; write 12.5% or 0.125",
                                           "is negative; a fraction is not",
                                           "is too large",
                                           TOO_LONG};

static void skip_blanks(const char **p)
{
    while (**p == ' ' || **p == '\t') ++*p;
}

/* One more digit; false when 128 bits are full and the digit counts. */
static bool take_digit(struct decimal *d, char c, bool in_fraction)
{
    u128 more;
    bool full =
        __builtin_mul_overflow(d->digits, (u128)10, &more) || __builtin_add_overflow(more, (u128)(c - '0'), &more);
    if (full && c != '0') return false;
    if (full) { /* a zero that does not fit: in the fraction it says nothing, before it it is a power of ten */
        d->exponent += !in_fraction;
        return true;
    }
    d->digits = more;
    d->exponent -= in_fraction;
    return true;
}

static void take_exponent(const char **p, struct decimal *d)
{
    const char *q = *p;
    if (*q != 'e' && *q != 'E') return;
    bool down = *++q == '-';
    if (*q == '+' || *q == '-') q++;
    if (!isdigit((unsigned char)*q)) return; /* the E of a unit */
    int exponent = 0;
    for (; isdigit((unsigned char)*q); q++)
        if (exponent < 100000) exponent = exponent * 10 + (*q - '0');
    d->exponent += down ? -exponent : exponent;
    d->has_exponent = true;
    *p = q;
}

static const char *take_decimal(const char **p, const struct unit_kind *kind, struct decimal *d)
{
    bool any = false, in_fraction = false;
    *d = (struct decimal){0};
    for (;; ++*p) {
        if (**p == '.' && !in_fraction) {
            in_fraction = true;
            continue;
        }
        if (!isdigit((unsigned char)**p)) break;
        any = true;
        if (!take_digit(d, **p, in_fraction)) return kind->too_long;
    }
    if (!any) return kind->malformed;
    take_exponent(p, d);
    return NULL;
}

static const struct unit *take_unit(const char **p, const struct unit_kind *kind)
{
    size_t n = 0;
    for (; isalpha((unsigned char)(*p)[n]) || (*p)[n] == '/' || (*p)[n] == '%' || (*p)[n] & 0x80; n++) continue;
    for (size_t i = 0; i < kind->n; i++) {
        const char *name = kind->units[i].name;
        if (strncmp(name, *p, n) != 0 || name[n] != '\0') continue;
        *p += n;
        return &kind->units[i];
    }
    return NULL;
}

/* x / 10^places, rounded as the kind says. */
static u128 divide(u128 x, int places, bool round_up)
{
    u128 by = 1;
    if (places > 38) return round_up && x != 0; /* 10^39 exceeds 128 bits: less than a half */
    while (places-- > 0) by *= 10;
    u128 rest = x % by;
    bool up = round_up ? rest != 0 : rest >= by - rest;
    return x / by + up;
}

static const char *scale(const struct decimal *d, const struct unit *u, const struct unit_kind *kind, int64_t *out)
{
    u128 x;
    int power = d->exponent + u->power;
    if (d->digits == 0) return *out = 0, NULL;
    if (__builtin_mul_overflow(d->digits, (u128)u->factor, &x)) return power < 0 ? kind->too_long : kind->too_large;
    for (; power > 0; power--)
        if (__builtin_mul_overflow(x, (u128)10, &x)) return kind->too_large;
    x = divide(x, -power, kind->round_up);
    if (x > (u128)INT64_MAX) return kind->too_large;
    *out = (int64_t)x;
    return NULL;
}

/* Number and unit. *unit tells which it was. */
static const char *take_part(const char **p, const struct unit_kind *kind, int64_t *out, const struct unit **unit)
{
    struct decimal d;
    const char *wrong = take_decimal(p, kind, &d);
    if (wrong) return wrong;
    skip_blanks(p);
    *unit = take_unit(p, kind);
    if (*unit == NULL) return kind->malformed;
    if (kind->strict_exponent && d.has_exponent && (*unit)->name[0] != '\0') return kind->malformed;
    return scale(&d, *unit, kind, out);
}

static const char *parse_one(const char *p, const struct unit_kind *kind, int64_t *out)
{
    const struct unit *unit;
    int64_t x;
    skip_blanks(&p);
    bool negative = *p == '-';
    if (negative && kind->negative) return isdigit((unsigned char)p[1]) ? kind->negative : kind->malformed;
    if (*p == '-' || *p == '+') p++;
    const char *wrong = take_part(&p, kind, &x, &unit);
    if (wrong) return wrong;
    skip_blanks(&p);
    if (*p != '\0') return kind->malformed;
    *out = negative ? -x : x;
    return NULL;
}

const char *units_parse_duration(const char *text, int64_t *ns)
{
    const struct unit_kind *kind = &durations;
    const char *p = text;
    int64_t sum = 0;
    skip_blanks(&p);
    if (*p == '-') return isdigit((unsigned char)p[1]) ? kind->negative : kind->malformed;
    for (int parts = 0; *p != '\0' || parts == 0; parts++) {
        const struct unit *unit;
        int64_t x;
        const char *wrong = take_part(&p, kind, &x, &unit);
        if (wrong) return wrong;
        skip_blanks(&p);
        if (unit->name[0] == '\0' && (parts > 0 || *p != '\0')) return kind->malformed; /* seconds only stand alone */
        if (__builtin_add_overflow(sum, x, &sum)) return kind->too_large;
    }
    *ns = sum;
    return NULL;
}

const char *units_parse_bytes(const char *text, int64_t *bytes)
{
    return parse_one(text, &sizes, bytes);
}

const char *units_parse_bandwidth(const char *text, int64_t *bytes_per_s)
{
    return parse_one(text, &bandwidths, bytes_per_s);
}

const char *units_parse_quantity(const char *text, int64_t *milli)
{
    return parse_one(text, &quantities, milli);
}

const char *units_parse_fraction(const char *text, int64_t *ppb)
{
    return parse_one(text, &fractions, ppb);
}

const char *units_parse_int64(const char *text, int64_t *x)
{
    static const char malformed[] = "is not a whole number; write digits only, such as 12 or -3";
    const char *p = text;
    int64_t sum = 0;
    skip_blanks(&p);
    bool negative = *p == '-';
    if (*p == '-' || *p == '+') p++;
    if (!isdigit((unsigned char)*p)) return malformed;
    for (; isdigit((unsigned char)*p); p++) {
        int digit = negative ? '0' - *p : *p - '0';
        if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, digit, &sum))
            return "is too large; it must lie within 64 bits";
    }
    skip_blanks(&p);
    if (*p != '\0') return malformed;
    *x = sum;
    return NULL;
}

const char *units_parse_double(const char *text, double *x)
{
    static const char malformed[] = "is not a number; write 12, 0.5 or 1e-3";
    const char *p = text;
    char *end;
    skip_blanks(&p);
    if (p[strspn(p, "0123456789+-.eE \t")] != '\0') return malformed; /* strtod also knows hex, inf and nan */
    double value = strtod(p, &end);
    if (end == p) return malformed;
    p = end;
    skip_blanks(&p);
    if (*p != '\0') return malformed;
    if (!isfinite(value)) return "is too large for a double";
    *x = value;
    return NULL;
}

/* Three significant digits of x / unit, trailing zeros of the fraction dropped. */
static void format_three(struct str *s, uint64_t x, uint64_t unit, const char *name)
{
    int places = x < 10 * (u128)unit ? 2 : x < 100 * (u128)unit ? 1 : 0;
    u128 scaled = x;
    for (int i = 0; i < places; i++) scaled *= 10;
    uint64_t shown = (uint64_t)((scaled + unit / 2) / unit);
    for (; places > 0 && shown % 10 == 0; places--) shown /= 10;
    uint64_t whole_unit = places == 2 ? 100 : places == 1 ? 10 : 1;
    str_append_u64(s, shown / whole_unit);
    if (places) str_printf(s, ".%0*u", places, (unsigned)(shown % whole_unit));
    str_printf(s, " %s", name);
}

static uint64_t take_sign(struct str *s, int64_t x)
{
    if (x >= 0) return (uint64_t)x;
    str_append_char(s, '-');
    return 0 - (uint64_t)x;
}

void units_format_duration(struct str *s, int64_t ns)
{
    uint64_t x = take_sign(s, ns);
    if (x < NS_PER_US) return format_three(s, x, 1, "ns");
    if (x < NS_PER_MS - 500) return format_three(s, x, NS_PER_US, "us"); /* 999.6 us is 1 ms with three digits */
    if (x < NS_PER_S - 500000) return format_three(s, x, NS_PER_MS, "ms");
    if (x < 60 * (uint64_t)NS_PER_S - 50000000) return format_three(s, x, NS_PER_S, "s");
    uint64_t all_s = (x + NS_PER_S / 2) / NS_PER_S;
    if (all_s >= 86400) str_printf(s, "%lud ", all_s / 86400);
    unsigned day_s = (unsigned)(all_s % 86400);
    str_printf(s, "%02u:%02u:%02u", day_s / 3600, day_s / 60 % 60, day_s % 60);
}

void units_format_bytes(struct str *s, int64_t bytes)
{
    static const char *const names[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    uint64_t x = take_sign(s, bytes), unit = 1;
    size_t i = 0;
    while (i + 1 < COUNT(names) && x >= 1000 * (u128)unit - unit / 2) {
        unit *= 1000;
        i++;
    }
    format_three(s, x, unit, names[i]);
}

void units_format_count(struct str *s, int64_t count)
{
    char digits[STR_I64_BYTES];
    size_t n = str_put_u64(digits, take_sign(s, count));
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0) str_append_char(s, ',');
        str_append_char(s, digits[i]);
    }
}
