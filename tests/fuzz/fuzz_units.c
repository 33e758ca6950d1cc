/* fuzz_units.c - any text as a quantity: no crash, no negative result where none can be, and exact ways back.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/units.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void require(bool holds)
{
    if (!holds) abort();
}

/* A result, written in the base unit, is read as the same result. */
static void check_way_back(const char *(*parse)(const char *, int64_t *), int64_t x, bool is_seconds)
{
    struct str s = {0};
    int64_t again = -1;
    if (is_seconds)
        str_append_seconds(&s, x);
    else
        str_append_i64(&s, x);
    require(parse(s.s, &again) == NULL && again == x);
    str_clear(&s);
    units_format_duration(&s, x);
    units_format_bytes(&s, x);
    units_format_count(&s, x);
    str_free(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const words[] = {"count", "group", "profile"};
    char *text = malloc(n + 1);
    int64_t x = -7;
    double f;
    memcpy(text, data, n);
    text[n] = '\0';
    if (units_parse_duration(text, &x) == NULL) {
        require(x >= 0);
        check_way_back(units_parse_duration, x, true);
    }
    if (units_parse_bytes(text, &x) == NULL) {
        require(x >= 0);
        check_way_back(units_parse_bytes, x, false);
    }
    if (units_parse_bandwidth(text, &x) == NULL) check_way_back(units_parse_bandwidth, x, false);
    if (units_parse_int64(text, &x) == NULL) check_way_back(units_parse_int64, x, false);
    if (units_parse_fraction(text, &x) == NULL) require(x >= 0);
    units_parse_quantity(text, &x);
    units_parse_double(text, &f);
    str_suggest(text, words, 3);
    free(text);
    return 0;
}
