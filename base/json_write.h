/* json_write.h - JSON written onto a string, indented for people.
 *
 *     struct str out = {0};
 *     struct json_writer w;
 *     json_write_begin(&w, &out);
 *     json_write_object(&w);
 *     json_write_key(&w, "finished_s");
 *     json_write_seconds(&w, 9516326000);               // 9.516326
 *     json_write_key(&w, "nodes");
 *     json_write_array_inline(&w);                      // this one, and all in it, on one line
 *     json_write_int64(&w, 0); json_write_int64(&w, 4);
 *     json_write_end(&w);
 *     json_write_end(&w);                               // closes the innermost object or array
 *     json_write_finish(&w);                            // asserts that all are closed, adds the newline
 *
 * Numbers read back as they were: int64 in full, doubles with the fewest digits that give the same double, times as
 * exact decimals; NaN and infinity, which JSON lacks, become null. Strings are escaped as RFC 8259 demands; bytes that
 * are no UTF-8 become U+FFFD. Two spaces a level.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_BASE_JSON_WRITE_H
#define TRAINYARD_BASE_JSON_WRITE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define JSON_WRITE_MAX_DEPTH 128

struct json_writer {
    struct str *out;
    int depth;
    int inline_from; /* depth from which all stands on one line; 0: none */
    bool after_key;
    char closer[JSON_WRITE_MAX_DEPTH]; /* '}' or ']' a level */
    bool empty[JSON_WRITE_MAX_DEPTH];  /* nothing written in it yet */
};

void json_write_begin(struct json_writer *w, struct str *out);

void json_write_object(struct json_writer *w);
void json_write_array(struct json_writer *w);
void json_write_object_inline(struct json_writer *w);
void json_write_array_inline(struct json_writer *w);
void json_write_end(struct json_writer *w);

void json_write_key(struct json_writer *w, const char *key);
void json_write_string(struct json_writer *w, const char *text); /* NULL writes null */
void json_write_string_n(struct json_writer *w, const char *text, size_t n);
void json_write_int64(struct json_writer *w, int64_t x);
void json_write_uint64(struct json_writer *w, uint64_t x);
void json_write_double(struct json_writer *w, double x);
void json_write_seconds(struct json_writer *w, int64_t ns);
void json_write_bool(struct json_writer *w, bool x);
void json_write_null(struct json_writer *w);

/* A text that is JSON already, such as a number's source. */
void json_write_raw(struct json_writer *w, const char *json);

/* A cJSON tree, its numbers as doubles. */
void json_write_cjson(struct json_writer *w, const cJSON *node);

void json_write_finish(struct json_writer *w);

/* Only the escaped text in its quotes, appended to out. */
void json_escape(struct str *out, const char *text, size_t n);

#endif
