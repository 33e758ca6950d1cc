/* import_value.c - the values of traces: seconds, GPUs, whole numbers, dates.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/units.h"
#include "input/import_reader.h"

#define SHOWN 40 /* characters of a wrong value that are repeated in its error */

void import_error(struct import_reader *r, int line, const char *column, const char *help, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    diag_add(r->diag, DIAG_ERROR, r->file, line, column, fmt, args);
    va_end(args);
    diag_help(r->diag, "%s", help);
}

static bool is_word(const char *text, const char *word)
{
    if (*text == '-' || *text == '+') text++;
    return strcasecmp(text, word) == 0;
}

/* What a text that is no usable number is, for its error. */
static const char *what_is_wrong(const char *text)
{
    if (*text == '\0') return "is empty";
    if (is_word(text, "nan") || is_word(text, "inf") || is_word(text, "infinity")) return "is no finite number";
    bool digits = strspn(text, "0123456789.eE+-") == strlen(text);
    if (digits && text[0] == '-') return "is negative";
    return digits ? "is too large" : "is no number";
}

static void bad_value(struct import_reader *r, int line, const char *column, const char *text, const char *wrong,
                      const char *help)
{
    bool cut = strlen(text) > SHOWN;
    import_error(r, line, column, help, "\"%.*s%s\" %s", SHOWN, text, cut ? "..." : "", wrong);
}

/* Digits with up to nine decimals and a value that surely fits: nearly every figure of a trace. */
static bool plain_decimal(const char *text, int64_t *nano)
{
    int64_t x = 0;
    int n = 0, decimals = 0;
    const char *p = text;
    for (; *p >= '0' && *p <= '9' && n < 9; p++, n++) x = x * 10 + (*p - '0');
    if (n == 0) return false;
    if (*p == '.') {
        for (p++; *p >= '0' && *p <= '9' && decimals < 9; p++, decimals++) x = x * 10 + (*p - '0');
        if (decimals == 0) return false;
    }
    if (*p != '\0') return false;
    static const int64_t scale[] = {1000000000, 100000000, 10000000, 1000000, 100000, 10000, 1000, 100, 10, 1};
    *nano = x * scale[decimals];
    return true;
}

/* The exact value times 10^9, by base/units where it is not plain. */
static bool decimal_nano(const char *text, int64_t *nano)
{
    if (plain_decimal(text, nano)) return true;
    if (strspn(text, "0123456789.eE+-") != strlen(text)) return false;
    return units_parse_duration(text, nano) == NULL;
}

bool import_seconds(struct import_reader *r, int line, const char *column, const char *text, int64_t *ns)
{
    static const char *const help = "give seconds as a decimal number such as 3600 or 12.5, not negative, at most 100 "
                                    "years; correct the row, or map another column to this field";
    if (decimal_nano(text, ns) && *ns <= IMPORT_MAX_NS) return true;
    bad_value(r, line, column, text, what_is_wrong(text), help);
    return false;
}

bool import_gpus(struct import_reader *r, int line, const char *column, const char *text, int64_t *shares)
{
    static const char *const help = "give a number of GPUs such as 8, or a fraction in thousandths such as 0.125, at "
                                    "most ten million; correct the row, or map another column to \"gpus\"";
    int64_t nano;
    if (!decimal_nano(text, &nano)) {
        bad_value(r, line, column, text, what_is_wrong(text), help);
        return false;
    }
    const int64_t nano_per_share = 1000000000 / SHARES_PER_GPU;
    if (nano % nano_per_share != 0) {
        bad_value(r, line, column, text, "is finer than 1/1000 of a GPU", help);
        return false;
    }
    *shares = nano / nano_per_share;
    if (*shares <= IMPORT_MAX_GPUS * SHARES_PER_GPU) return true;
    bad_value(r, line, column, text, "is too large", help);
    return false;
}

bool import_int(struct import_reader *r, int line, const char *column, const char *text, int64_t min, int64_t max,
                int64_t *x)
{
    if (units_parse_int64(text, x) == NULL && *x >= min && *x <= max) return true;
    char help[120];
    snprintf(help, sizeof help, "give a whole number from %lld to %lld", (long long)min, (long long)max);
    const char *wrong = "is no whole number";
    if (*text == '\0')
        wrong = "is empty";
    else if (strspn(text, "0123456789+-") == strlen(text))
        wrong = "is out of range";
    bad_value(r, line, column, text, wrong, help);
    return false;
}

/* Days from 1970-01-01 in the Gregorian calendar: whole 400-year eras of 146,097 days, years beginning in March so that
 * the leap day is the last. */
static int64_t days_since_1970(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era = year / 400, in_era = year - era * 400;
    int64_t in_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = in_era * 365 + in_era / 4 - in_era / 100 + in_year;
    return era * 146097 + day_of_era - 719468;
}

static bool two_digits(const char **p, int digits, int64_t *x)
{
    *x = 0;
    for (int i = 0; i < digits; i++) {
        char c = *(*p)++;
        if (c < '0' || c > '9') return false;
        *x = *x * 10 + (c - '0');
    }
    return true;
}

static bool one_of(const char **p, const char *allowed)
{
    return **p != '\0' && strchr(allowed, *(*p)++) != NULL;
}

static bool parse_date(const char *p, int64_t *ns)
{
    int64_t year, month, day, hour, minute, second, fraction = 0;
    if (!two_digits(&p, 4, &year) || !one_of(&p, "-") || !two_digits(&p, 2, &month) || !one_of(&p, "-") ||
        !two_digits(&p, 2, &day) || !one_of(&p, " T") || !two_digits(&p, 2, &hour) || !one_of(&p, ":") ||
        !two_digits(&p, 2, &minute) || !one_of(&p, ":") || !two_digits(&p, 2, &second))
        return false;
    if (*p == '.') {
        char digits[16];
        if (snprintf(digits, sizeof digits, "0%s", p) >= (int)sizeof digits || !plain_decimal(digits, &fraction))
            return false;
    } else if (*p != '\0')
        return false;
    static const int month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (year < 1970 || year > 2200 || month < 1 || month > 12 || day < 1 ||
        day > month_days[month - 1] + (leap && month == 2) || hour > 23 || minute > 59 || second > 60)
        return false;
    int64_t s = days_since_1970(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    *ns = s * NS_PER_S + fraction;
    return true;
}

bool import_date(struct import_reader *r, int line, const char *column, const char *text, int64_t *ns)
{
    if (parse_date(text, ns)) return true;
    bad_value(r, line, column, text, *text ? "is no date" : "is empty",
              "give date and time as 2017-10-09 07:01:55 or 2017-10-09T07:01:55, years 1970 to 2200, without a zone");
    return false;
}
