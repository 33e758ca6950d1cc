/* yaml_write.c - see yaml_write.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/yaml_write.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

static int append(void *to, unsigned char *text, size_t n)
{
    str_append_n(to, (const char *)text, n);
    return 1;
}

/* The emitter fails only when memory is out: nothing it is given is invalid. */
static void emit(yaml_emitter_t *e, yaml_event_t *event, int made)
{
    if (!made || !yaml_emitter_emit(e, event)) abort();
}

/* A word that no reader of YAML 1.1 or 1.2 takes for anything but a string. */
static bool is_plain(const char *text)
{
    static const char *const words[] = { "y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf" };
    if (!isalpha((unsigned char)text[0])) return false;
    for (const char *c = text; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("-_./", *c)) return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(words[i], text) == 0) return false;
    return true;
}

static yaml_scalar_style_t style_of(const char *text)
{
    if (is_plain(text)) return YAML_PLAIN_SCALAR_STYLE;
    for (const char *c = text; *c; c++)
        if (iscntrl((unsigned char)*c)) return YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    return YAML_SINGLE_QUOTED_SCALAR_STYLE;
}

static void scalar(yaml_emitter_t *e, const char *text, yaml_scalar_style_t style)
{
    yaml_event_t event;
    emit(e, &event, yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text, (int)strlen(text), 1, 1, style));
}

static void number(yaml_emitter_t *e, double x)
{
    struct str text = { 0 };
    if (x == trunc(x) && fabs(x) < 9e15)
        str_append_i64(&text, (int64_t)x);
    else
        str_append_double(&text, x);
    scalar(e, str_text(&text), YAML_PLAIN_SCALAR_STYLE);
    str_free(&text);
}

static void write_node(yaml_emitter_t *e, const cJSON *node);

/* Empty ones are written as {} and []. */
static void write_children(yaml_emitter_t *e, const cJSON *node, bool object)
{
    yaml_event_t event;
    if (object)
        emit(e, &event, yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, node->child ? YAML_BLOCK_MAPPING_STYLE : YAML_FLOW_MAPPING_STYLE));
    else
        emit(e, &event, yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, node->child ? YAML_BLOCK_SEQUENCE_STYLE : YAML_FLOW_SEQUENCE_STYLE));
    for (const cJSON *c = node->child; c; c = c->next) {
        if (object) scalar(e, c->string, style_of(c->string));
        write_node(e, c);
    }
    emit(e, &event, object ? yaml_mapping_end_event_initialize(&event) : yaml_sequence_end_event_initialize(&event));
}

static void write_node(yaml_emitter_t *e, const cJSON *node)
{
    if (cJSON_IsString(node)) scalar(e, node->valuestring, style_of(node->valuestring));
    else if (cJSON_IsNumber(node)) number(e, node->valuedouble);
    else if (cJSON_IsBool(node)) scalar(e, cJSON_IsTrue(node) ? "true" : "false", YAML_PLAIN_SCALAR_STYLE);
    else if (cJSON_IsObject(node) || cJSON_IsArray(node)) write_children(e, node, cJSON_IsObject(node));
    else scalar(e, "null", YAML_PLAIN_SCALAR_STYLE);
}

void yaml_write(struct str *out, const cJSON *node)
{
    yaml_emitter_t e;
    yaml_event_t event;
    if (!yaml_emitter_initialize(&e)) abort();
    yaml_emitter_set_output(&e, append, out);
    yaml_emitter_set_unicode(&e, 1);
    yaml_emitter_set_width(&e, -1);
    emit(&e, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
    emit(&e, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 0));
    write_node(&e, node);
    emit(&e, &event, yaml_document_end_event_initialize(&event, 1));
    emit(&e, &event, yaml_stream_end_event_initialize(&event));
    yaml_emitter_delete(&e);
}
