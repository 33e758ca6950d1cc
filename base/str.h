/* str.h - string builder, and "did you mean".
 *
 *     struct str s = {0};                               // all zero is the empty string
 *     str_printf(&s, "%d of %d", 3, 5);
 *     str_append_seconds(&s, 9516326000);               // "9.516326"
 *     puts(str_text(&s));
 *     str_free(&s);                                     // or: char *p = str_take(&s); ... free(p);
 *
 * Invariants: s[0 .. n) is the text and s[n] is NUL once anything was appended; s is NULL before (str_text gives "").
 * Cost: amortised O(1) a byte; the number writers use no printf and run at about 10 ns a number.
 * Aborts when memory is out.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_BASE_STR_H
#define TRAINYARD_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
    char *s;
    size_t n, cap;
};

/* The text, never NULL; good until the next change. */
const char *str_text(const struct str *s);

void str_append(struct str *s, const char *text);
void str_append_n(struct str *s, const char *text, size_t n);
void str_append_char(struct str *s, char c);
void str_append_repeat(struct str *s, char c, size_t n);
void str_append_u64(struct str *s, uint64_t x);
void str_append_i64(struct str *s, int64_t x);

/* Nanoseconds as seconds in exact decimal without trailing zeros: 9516326000 -> "9.516326", 12000000000 -> "12". */
void str_append_seconds(struct str *s, int64_t ns);

/* The fewest digits (15 to 17) that read back as the same double; "nan", "inf", "-inf". */
void str_append_double(struct str *s, double x);

void str_printf(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void str_vprintf(struct str *s, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));

void str_clear(struct str *s);
void str_free(struct str *s);

/* Gives the text away (freed by the caller with free) and leaves s empty. */
char *str_take(struct str *s);

/* The number writers into a caller's buffer; they give the length and write no NUL. */
#define STR_I64_BYTES     20
#define STR_SECONDS_BYTES 21
size_t str_put_u64(char *out, uint64_t x);
size_t str_put_i64(char *out, int64_t x);
size_t str_put_seconds(char *out, int64_t ns);

bool str_equal(const char *a, const char *b);
bool str_starts_with(const char *text, const char *start);
bool str_ends_with(const char *text, const char *end);

/* Bytes of the valid UTF-8 sequence at p, of which n >= 1 bytes can be read; 0 when there is none. */
size_t str_utf8_bytes(const char *p, size_t n);

/* Edits (insert, delete, replace, swap of neighbours: optimal string alignment) from a to b, letter case ignored.
 * Texts beyond 63 characters compare by their first 63. */
unsigned str_distance(const char *a, const char *b);

/* The allowed word that is meant by `word`, or NULL when none is near (distance above 1 + a third of its length).
 * Ties go to the earlier one. */
const char *str_suggest(const char *word, const char *const *allowed, size_t n);

#endif
