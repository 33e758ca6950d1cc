/* str.c - string builder, number writers, edit distance.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/str.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/units.h"

/* Room for n more bytes and the NUL. */
static char *make_room(struct str *s, size_t n)
{
    if (n >= SIZE_MAX / 2 - s->n) mem_exhausted(n);
    size_t want = s->n + n + 1;
    if (want > s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 64;
        if (cap < want) cap = want;
        s->s = xrealloc(s->s, cap);
        s->cap = cap;
    }
    return s->s + s->n;
}

static void appended(struct str *s, size_t n)
{
    s->n += n;
    s->s[s->n] = '\0';
}

const char *str_text(const struct str *s)
{
    return s->s ? s->s : "";
}

void str_append_n(struct str *s, const char *text, size_t n)
{
    char *to = make_room(s, n);
    if (n) memcpy(to, text, n);
    appended(s, n);
}

void str_append(struct str *s, const char *text)
{
    str_append_n(s, text, strlen(text));
}

void str_append_char(struct str *s, char c)
{
    *make_room(s, 1) = c;
    appended(s, 1);
}

void str_append_repeat(struct str *s, char c, size_t n)
{
    memset(make_room(s, n), c, n);
    appended(s, n);
}

/* Two digits a division: most of what a run writes is numbers. */
static const char two_digits[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
                                 "49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
                                 "9899";

/* The last n digits of x, right-aligned before `end`. */
static void put_digits(char *end, uint64_t x, size_t n)
{
    for (; n >= 2; n -= 2, x /= 100) memcpy(end -= 2, two_digits + 2 * (x % 100), 2);
    if (n) *--end = (char)('0' + x % 10);
}

static const uint64_t powers[] = {1,
                                  10,
                                  100,
                                  1000,
                                  10000,
                                  100000,
                                  1000000,
                                  10000000,
                                  100000000,
                                  1000000000,
                                  10000000000,
                                  100000000000,
                                  1000000000000,
                                  10000000000000,
                                  100000000000000,
                                  1000000000000000,
                                  10000000000000000,
                                  100000000000000000,
                                  1000000000000000000,
                                  10000000000000000000u};

size_t str_put_u64(char *out, uint64_t x)
{
    /* log10(2) is about 1233 / 4096: of two candidates for the number of digits the power of ten decides. */
    unsigned about = (unsigned)(64 - __builtin_clzll(x | 1)) * 1233 >> 12;
    size_t n = about + (x >= powers[about]);
    if (n == 0) n = 1;
    put_digits(out + n, x, n);
    return n;
}

static uint64_t magnitude(int64_t x)
{
    return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}

size_t str_put_i64(char *out, int64_t x)
{
    if (x >= 0) return str_put_u64(out, (uint64_t)x);
    *out = '-';
    return 1 + str_put_u64(out + 1, magnitude(x));
}

size_t str_put_seconds(char *out, int64_t ns)
{
    uint64_t all = magnitude(ns);
    uint32_t fraction = (uint32_t)(all % NS_PER_S);
    size_t n = 0;
    if (ns < 0) out[n++] = '-';
    n += str_put_u64(out + n, all / NS_PER_S);
    if (fraction == 0) return n;
    size_t used = 9;
    for (; fraction % 1000 == 0; fraction /= 1000) used -= 3;
    out[n++] = '.';
    put_digits(out + n + used, fraction, used);
    for (n += used; out[n - 1] == '0';) n--;
    return n;
}

void str_append_u64(struct str *s, uint64_t x)
{
    appended(s, str_put_u64(make_room(s, STR_I64_BYTES), x));
}

void str_append_i64(struct str *s, int64_t x)
{
    appended(s, str_put_i64(make_room(s, STR_I64_BYTES), x));
}

void str_append_seconds(struct str *s, int64_t ns)
{
    appended(s, str_put_seconds(make_room(s, STR_SECONDS_BYTES), ns));
}

void str_append_double(struct str *s, double x)
{
    char text[32];
    if (isnan(x)) {
        str_append(s, "nan");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x) break;
    }
    str_append(s, text);
}

void str_vprintf(struct str *s, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    char *to = make_room(s, 64);
    int n = vsnprintf(to, s->cap - s->n, fmt, args);
    assert(n >= 0);
    if ((size_t)n >= s->cap - s->n) vsnprintf(make_room(s, (size_t)n), (size_t)n + 1, fmt, again);
    va_end(again);
    appended(s, (size_t)n);
}

void str_printf(struct str *s, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    str_vprintf(s, fmt, args);
    va_end(args);
}

void str_clear(struct str *s)
{
    s->n = 0;
    if (s->s) s->s[0] = '\0';
}

void str_free(struct str *s)
{
    free(s->s);
    *s = (struct str){0};
}

char *str_take(struct str *s)
{
    char *text = s->s ? s->s : xstrdup("");
    *s = (struct str){0};
    return text;
}

bool str_equal(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

bool str_starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

bool str_ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Unicode 15, table 3-7: no overlong forms, no surrogates, nothing beyond U+10FFFF. */
size_t str_utf8_bytes(const char *text, size_t n)
{
    const unsigned char *p = (const unsigned char *)text;
    unsigned char c = p[0], low = 0x80, high = 0xbf;
    if (c < 0x80) return 1;
    size_t bytes = c >= 0xc2 && c <= 0xdf ? 2 : (c & 0xf0) == 0xe0 ? 3 : c >= 0xf0 && c <= 0xf4 ? 4 : 0;
    if (bytes == 0 || bytes > n) return 0;
    if (c == 0xe0) low = 0xa0;
    if (c == 0xed) high = 0x9f;
    if (c == 0xf0) low = 0x90;
    if (c == 0xf4) high = 0x8f;
    if (p[1] < low || p[1] > high) return 0;
    for (size_t i = 2; i < bytes; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    return bytes;
}

#define DISTANCE_MAX 63

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The textbook table, of which three rows are kept. */
unsigned str_distance(const char *a, const char *b)
{
    size_t n = strnlen(a, DISTANCE_MAX), m = strnlen(b, DISTANCE_MAX);
    unsigned rows[3][DISTANCE_MAX + 1];
    for (size_t j = 0; j <= m; j++) rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned replace = above[j - 1] + !same_letter(a[i - 1], b[j - 1]);
            row[j] = least(replace, 1 + least(above[j], row[j - 1]));
            bool swapped = i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]);
            if (swapped) row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

const char *str_suggest(const char *word, const char *const *allowed, size_t n)
{
    const char *best = NULL;
    unsigned near = 2 + (unsigned)(strnlen(word, DISTANCE_MAX) / 3);
    for (size_t i = 0; i < n; i++) {
        unsigned d = str_distance(word, allowed[i]);
        if (d >= near || d >= strlen(allowed[i])) continue; /* a word is not meant when nothing of it was written */
        near = d;
        best = allowed[i];
    }
    return best;
}
