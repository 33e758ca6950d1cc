/* json_write.c - JSON written onto a string.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/json_write.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void json_write_begin(struct json_writer *w, struct str *out)
{
    *w = (struct json_writer){.out = out};
}

static bool is_inline(const struct json_writer *w)
{
    return w->inline_from && w->depth >= w->inline_from;
}

static void new_line(struct json_writer *w)
{
    str_append_char(w->out, '\n');
    str_append_repeat(w->out, ' ', 2 * (size_t)w->depth);
}

/* What stands before a value or a key: nothing after a key, else comma and place. */
static void before_item(struct json_writer *w)
{
    if (w->after_key) {
        w->after_key = false;
        return;
    }
    if (w->depth == 0) return;
    bool first = w->empty[w->depth - 1];
    w->empty[w->depth - 1] = false;
    if (!first) str_append_char(w->out, ',');
    if (!is_inline(w))
        new_line(w);
    else if (!first)
        str_append_char(w->out, ' ');
}

static void before_value(struct json_writer *w)
{
    assert(w->after_key || w->depth == 0 || w->closer[w->depth - 1] == ']');
    before_item(w);
}

static void open(struct json_writer *w, char opener, char closer, bool on_one_line)
{
    before_value(w);
    assert(w->depth < JSON_WRITE_MAX_DEPTH);
    str_append_char(w->out, opener);
    w->closer[w->depth] = closer;
    w->empty[w->depth] = true;
    w->depth++;
    if (on_one_line && !w->inline_from) w->inline_from = w->depth;
}

void json_write_object(struct json_writer *w)
{
    open(w, '{', '}', false);
}

void json_write_array(struct json_writer *w)
{
    open(w, '[', ']', false);
}

void json_write_object_inline(struct json_writer *w)
{
    open(w, '{', '}', true);
}

void json_write_array_inline(struct json_writer *w)
{
    open(w, '[', ']', true);
}

void json_write_end(struct json_writer *w)
{
    assert(w->depth > 0 && !w->after_key);
    bool on_one_line = is_inline(w);
    if (w->inline_from == w->depth) w->inline_from = 0;
    w->depth--;
    if (!w->empty[w->depth] && !on_one_line) new_line(w);
    str_append_char(w->out, w->closer[w->depth]);
}

static void escape_char(struct str *out, char c)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    const char *known = strchr(plain, c);
    if (c != '\0' && known != NULL)
        str_append_n(out, (char[]){'\\', letter[known - plain]}, 2);
    else if ((unsigned char)c < ' ' || c == 0x7f)
        str_printf(out, "\\u%04x", (unsigned char)c);
    else
        str_append_char(out, c);
}

void json_escape(struct str *out, const char *text, size_t n)
{
    str_append_char(out, '"');
    for (size_t i = 0; i < n;) {
        size_t bytes = str_utf8_bytes(text + i, n - i);
        if (bytes == 1)
            escape_char(out, text[i]);
        else if (bytes > 1)
            str_append_n(out, text + i, bytes);
        else
            str_append(out, "\xef\xbf\xbd"); /* U+FFFD for a byte that is no UTF-8 */
        i += bytes ? bytes : 1;
    }
    str_append_char(out, '"');
}

void json_write_key(struct json_writer *w, const char *key)
{
    assert(w->depth > 0 && w->closer[w->depth - 1] == '}' && !w->after_key);
    before_item(w);
    json_escape(w->out, key, strlen(key));
    str_append(w->out, ": ");
    w->after_key = true;
}

void json_write_string_n(struct json_writer *w, const char *text, size_t n)
{
    before_value(w);
    json_escape(w->out, text, n);
}

void json_write_string(struct json_writer *w, const char *text)
{
    if (text == NULL)
        json_write_null(w);
    else
        json_write_string_n(w, text, strlen(text));
}

void json_write_raw(struct json_writer *w, const char *json)
{
    before_value(w);
    str_append(w->out, json);
}

void json_write_int64(struct json_writer *w, int64_t x)
{
    before_value(w);
    str_append_i64(w->out, x);
}

void json_write_uint64(struct json_writer *w, uint64_t x)
{
    before_value(w);
    str_append_u64(w->out, x);
}

void json_write_double(struct json_writer *w, double x)
{
    before_value(w);
    if (isfinite(x))
        str_append_double(w->out, x);
    else
        str_append(w->out, "null");
}

void json_write_seconds(struct json_writer *w, int64_t ns)
{
    before_value(w);
    str_append_seconds(w->out, ns);
}

void json_write_bool(struct json_writer *w, bool x)
{
    json_write_raw(w, x ? "true" : "false");
}

void json_write_null(struct json_writer *w)
{
    json_write_raw(w, "null");
}

void json_write_cjson(struct json_writer *w, const cJSON *node)
{
    const cJSON *child;
    if (cJSON_IsString(node)) {
        json_write_string(w, node->valuestring);
    } else if (cJSON_IsNumber(node)) {
        json_write_double(w, node->valuedouble);
    } else if (cJSON_IsBool(node)) {
        json_write_bool(w, cJSON_IsTrue(node));
    } else if (!cJSON_IsObject(node) && !cJSON_IsArray(node)) {
        json_write_null(w);
    } else {
        open(w, cJSON_IsObject(node) ? '{' : '[', cJSON_IsObject(node) ? '}' : ']', false);
        cJSON_ArrayForEach(child, node)
        {
            if (cJSON_IsObject(node)) json_write_key(w, child->string);
            json_write_cjson(w, child);
        }
        json_write_end(w);
    }
}

void json_write_finish(struct json_writer *w)
{
    assert(w->depth == 0 && !w->after_key);
    str_append_char(w->out, '\n');
}
