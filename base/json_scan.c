/* json_scan.c - the scan behind json.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/json_scan.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 60 /* cJSON 1.7 reads numbers through a buffer of 64 bytes */

struct scan {
    struct json_doc *doc;
    char *p, *end; /* *end is NUL */
    int line, depth;
    bool failed;
};

/* Only the first error of the grammar is reported: what follows would be guesses. */
__attribute__((format(printf, 2, 3))) static bool fail(struct scan *s, const char *fmt, ...)
{
    va_list args;
    if (s->failed) return false;
    va_start(args, fmt);
    diag_add(s->doc->diag, DIAG_ERROR, s->doc->file, s->line, NULL, fmt, args);
    va_end(args);
    s->failed = true;
    return false;
}

/* "'x'", or what else stands there, for messages. */
static const char *seen(const struct scan *s, char text[8])
{
    if (s->p >= s->end) return "the end of the file";
    if (isprint((unsigned char)*s->p)) {
        memcpy(text, (char[]){'\'', *s->p, '\'', '\0'}, 4);
        return text;
    }
    return (unsigned char)*s->p >= 0x80 ? "a character outside ASCII" : "a control character";
}

static void blank_line_comment(struct scan *s)
{
    while (s->p < s->end && *s->p != '\n') *s->p++ = ' ';
}

static bool blank_block_comment(struct scan *s)
{
    int begin = s->line;
    s->p[0] = s->p[1] = ' ';
    for (s->p += 2; s->p < s->end; s->p++) {
        if (s->p[0] == '*' && s->p[1] == '/') {
            s->p[0] = s->p[1] = ' ';
            s->p += 2;
            return true;
        }
        if (*s->p == '\n')
            s->line++;
        else
            *s->p = ' ';
    }
    s->line = begin;
    return fail(s, "the comment that begins here has no end");
}

static bool skip_space(struct scan *s)
{
    for (; s->p < s->end; s->p++) {
        while (s->p[0] == '/' && (s->p[1] == '/' || s->p[1] == '*')) {
            if (s->p[1] == '/')
                blank_line_comment(s);
            else if (!blank_block_comment(s))
                return false;
        }
        if (s->p >= s->end || strchr(" \t\r\n", *s->p) == NULL) return true;
        if (*s->p == '\n') s->line++;
    }
    return true;
}

/* Four hex digits at p, or -1. */
static int hex4(const char *p)
{
    int x = 0;
    for (int i = 0; i < 4; i++) {
        char c = (char)tolower((unsigned char)p[i]);
        if (!isxdigit((unsigned char)c)) return -1;
        x = x * 16 + (isdigit((unsigned char)c) ? c - '0' : c - 'a' + 10);
    }
    return x;
}

static bool scan_unicode_escape(struct scan *s)
{
    int x = hex4(s->p + 2);
    if (x < 0) return fail(s, "\\u needs four hexadecimal digits");
    if (x == 0) return fail(s, "\\u0000 is not allowed");
    s->p += 6;
    if (x >= 0xdc00 && x <= 0xdfff)
        return fail(s, "\\u%04x is the second half of a pair without its first", (unsigned)x);
    if (x < 0xd800 || x > 0xdbff) return true;
    int low = s->p[0] == '\\' && s->p[1] == 'u' ? hex4(s->p + 2) : -1;
    if (low < 0xdc00 || low > 0xdfff)
        return fail(s, "\\u%04x is the first half of a pair without its second", (unsigned)x);
    s->p += 6;
    return true;
}

/* A NUL stops the look-ahead of an escape before the end of the text could. */
static bool scan_string(struct scan *s)
{
    for (s->p++; *s->p != '"';) {
        if (s->p >= s->end || *s->p == '\n') return fail(s, "the string has no closing quote on its line");
        if ((unsigned char)*s->p < ' ') return fail(s, "a control character in a string; write \\t, \\n or \\u00xx");
        if (*s->p != '\\') {
            s->p++;
        } else if (s->p[1] == 'u') {
            if (!scan_unicode_escape(s)) return false;
        } else if (s->p[1] != '\0' && strchr("\"\\/bfnrt", s->p[1]) != NULL) {
            s->p += 2;
        } else {
            return fail(s, "an unknown escape in a string; known are \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
        }
    }
    s->p++;
    return true;
}

static bool skip_digits(struct scan *s)
{
    const char *begin = s->p;
    while (isdigit((unsigned char)*s->p)) s->p++;
    return s->p > begin;
}

static bool scan_number(struct scan *s)
{
    const char *begin = s->p;
    if (*s->p == '-') s->p++;
    bool leading_zero = s->p[0] == '0' && isdigit((unsigned char)s->p[1]);
    bool good = !leading_zero && skip_digits(s);
    if (good && *s->p == '.') {
        s->p++;
        good = skip_digits(s);
    }
    if (good && (*s->p == 'e' || *s->p == 'E')) {
        s->p++;
        if (*s->p == '+' || *s->p == '-') s->p++;
        good = skip_digits(s);
    }
    if (!good) return fail(s, "not a number; a number looks like 12, -0.5 or 1e9, units go into a string like \"30m\"");
    if (s->p - begin > NUMBER_MAX) return fail(s, "a number with more than %d characters", NUMBER_MAX);
    if (!isfinite(strtod(begin, NULL))) return fail(s, "a number beyond what a double holds");
    return true;
}

static bool scan_literal(struct scan *s)
{
    static const char *const literals[] = {"true", "false", "null"};
    char text[8];
    size_t n = 0;
    while (isalnum((unsigned char)s->p[n]) || s->p[n] == '_') n++;
    for (size_t i = 0; i < 3; i++) {
        if (strlen(literals[i]) != n || memcmp(literals[i], s->p, n) != 0) continue;
        s->p += n;
        return true;
    }
    if (n > 0) return fail(s, "\"%.*s\" is no JSON value; strings need quotes", n > 40 ? 40 : (int)n, s->p);
    return fail(s, "a value is missing before %s", seen(s, text));
}

static bool scan_value(struct scan *s, uint32_t parent, uint32_t index, int key_line);

static bool scan_key(struct scan *s)
{
    char text[8];
    if (*s->p != '"') return fail(s, "a key in double quotes is missing before %s", seen(s, text));
    if (!scan_string(s) || !skip_space(s)) return false;
    if (*s->p != ':') return fail(s, "a colon is missing after the key, before %s", seen(s, text));
    s->p++;
    return true;
}

/* Members or elements, up to the closer. */
static bool scan_children(struct scan *s, uint32_t place, char closer)
{
    char text[8];
    int begin = s->line;
    s->p++;
    if (!skip_space(s)) return false;
    if (*s->p == closer) return s->p++, true;
    for (uint32_t i = 0;; i++) {
        int key_line = closer == '}' ? s->line : 0;
        if (closer == '}' && !scan_key(s)) return false;
        if (!scan_value(s, place, i, key_line) || !skip_space(s)) return false;
        if (*s->p == closer) return s->p++, true;
        if (*s->p != ',')
            return fail(s, "a comma or '%c' (it closes line %d) is missing before %s", closer, begin, seen(s, text));
        s->p++;
        if (!skip_space(s)) return false;
        if (*s->p == closer) return fail(s, "a comma before '%c'; JSON allows none", closer);
    }
}

static bool scan_nested(struct scan *s, uint32_t place, char closer)
{
    if (s->depth == JSON_MAX_DEPTH) return fail(s, "nested deeper than %d levels", JSON_MAX_DEPTH);
    s->depth++;
    bool good = scan_children(s, place, closer);
    s->depth--;
    return good;
}

/* key_line is 0 where there is no key. */
static bool scan_value(struct scan *s, uint32_t parent, uint32_t index, int key_line)
{
    if (!skip_space(s)) return false;
    uint32_t place = (uint32_t)s->doc->places.n;
    size_t start = (size_t)(s->p - s->doc->text);
    struct json_place new = {.line = key_line ? key_line : s->line, .parent = parent, .index = index, .start = start};
    array_push(&s->doc->places, new);
    bool good;
    if (*s->p == '{')
        good = scan_nested(s, place, '}');
    else if (*s->p == '[')
        good = scan_nested(s, place, ']');
    else if (*s->p == '"')
        good = scan_string(s);
    else if (*s->p == '-' || isdigit((unsigned char)*s->p))
        good = scan_number(s);
    else
        good = scan_literal(s);
    s->doc->places.v[place].end = (size_t)(s->p - s->doc->text);
    return good;
}

/* One pass for what holds everywhere, comments included. */
static bool check_bytes(struct scan *s)
{
    for (const char *p = s->p; p < s->end;) {
        size_t n = str_utf8_bytes(p, (size_t)(s->end - p));
        if (*p == '\0') return fail(s, "a NUL byte; is this a text file?");
        if (n == 0) return fail(s, "byte 0x%02x is not valid UTF-8", (unsigned char)*p);
        if (*p == '\n') s->line++;
        p += n;
    }
    s->line = 1;
    return true;
}

bool json_scan(struct json_doc *doc)
{
    struct scan s = {.doc = doc, .p = doc->text, .end = doc->text + doc->n, .line = 1};
    char text[8];
    if (doc->n >= 3 && memcmp(doc->text, "\xef\xbb\xbf", 3) == 0) memset(doc->text, ' ', 3);
    if (!check_bytes(&s) || !skip_space(&s)) return false;
    if (s.p == s.end) return fail(&s, "holds no JSON value");
    if (!scan_value(&s, JSON_NO_PLACE, 0, 0) || !skip_space(&s)) return false;
    return s.p == s.end || fail(&s, "text after the end of the value, beginning with %s", seen(&s, text));
}
