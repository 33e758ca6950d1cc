/* schema.c - walks the tables of the scenario and writes the JSON Schema.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "input/raw.h"
#include "input/schema_types.h"

/* ---- schema ---- */

static void pair(struct json_writer *w, const char *key, const char *text)
{
    json_write_key(w, key);
    json_write_string(w, text);
}

static void one_of_types(struct json_writer *w, const char *const *types, size_t n)
{
    json_write_key(w, "type");
    json_write_array_inline(w);
    for (size_t i = 0; i < n; i++) json_write_string(w, types[i]);
    json_write_end(w);
}

static void reference(struct json_writer *w, const struct object_type *type)
{
    char text[128], name[64];
    snprintf(text, sizeof text, "#/$defs/%s", schema_slug(type, name));
    pair(w, "$ref", text);
}

static void reference_object(struct json_writer *w, const struct object_type *type)
{
    json_write_object_inline(w);
    reference(w, type);
    json_write_end(w);
}

static void words(struct json_writer *w, const struct field *f)
{
    json_write_key(w, "enum");
    json_write_array_inline(w);
    for (size_t i = 0; i < f->n_words; i++) json_write_string(w, f->words[i]);
    json_write_end(w);
}

static void integer(struct json_writer *w, const struct field *f)
{
    pair(w, "type", "integer");
    bool bounded = f->min != 0 || f->max != 0;
    json_write_key(w, "minimum");
    json_write_int64(w, bounded ? f->min : 0);
    if (!bounded) return;
    json_write_key(w, "maximum");
    json_write_int64(w, f->max);
}

static void list_of(struct json_writer *w, const struct object_type *type)
{
    json_write_key(w, "anyOf");
    json_write_array(w);
    json_write_object_inline(w);
    pair(w, "type", "array");
    json_write_key(w, "items");
    reference_object(w, type);
    json_write_end(w);
    reference_object(w, type);
    json_write_end(w);
}

static void map_of(struct json_writer *w, const struct object_type *type)
{
    pair(w, "type", "object");
    json_write_key(w, "additionalProperties");
    reference_object(w, type);
}

static void strings(struct json_writer *w)
{
    static const char *const types[] = { "string", "array" };
    one_of_types(w, types, 2);
    json_write_key(w, "items");
    json_write_object_inline(w);
    pair(w, "type", "string");
    json_write_end(w);
}

static void texts(struct json_writer *w)
{
    static const char *const types[] = { "string", "number", "boolean" };
    pair(w, "type", "object");
    json_write_key(w, "additionalProperties");
    json_write_object_inline(w);
    one_of_types(w, types, 3);
    json_write_end(w);
}

static void constants(struct json_writer *w)
{
    static const char *const any[] = { "string", "array", "object" }, *const value[] = { "string", "number", "boolean" };
    one_of_types(w, any, 3);
    json_write_key(w, "properties");
    json_write_object(w);
    json_write_key(w, "name");
    json_write_object_inline(w);
    pair(w, "type", "string");
    json_write_end(w);
    json_write_key(w, "label");
    json_write_object_inline(w);
    pair(w, "type", "string");
    json_write_end(w);
    for (size_t i = 0; i < stack_constant_count(); i++) {
        const struct stack_constant *c = stack_constant_at(i);
        json_write_key(w, c->name);
        json_write_object_inline(w);
        one_of_types(w, value, 3);
        pair(w, "default", c->fallback);
        pair(w, "description", c->source);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_key(w, "additionalProperties");
    json_write_bool(w, false);
}

static void value_of(struct json_writer *w, const struct field *f)
{
    static const char *const number_or_text[] = { "number", "string" };
    static const char *const scalar[] = { "string", "number", "boolean" };
    static const char *const amounts[] = { "number", "string", "object" };
    switch (f->type) {
    case TYPE_STRING:
        if (f->any_kind)
            one_of_types(w, scalar, 3);
        else
            pair(w, "type", "string");
        return;
    case TYPE_ANY: return;
    case TYPE_WORD: words(w, f); return;
    case TYPE_BOOL: pair(w, "type", "boolean"); return;
    case TYPE_INT: integer(w, f); return;
    case TYPE_NUMBER: pair(w, "type", "number"); return;
    case TYPE_OBJECT: reference(w, f->sub); return;
    case TYPE_LIST: list_of(w, f->sub); return;
    case TYPE_MAP: map_of(w, f->sub); return;
    case TYPE_STRINGS: strings(w); return;
    case TYPE_TEXTS: texts(w); return;
    case TYPE_QUOTA: one_of_types(w, amounts, 3); return;
    case TYPE_STACK: constants(w); return;
    default: one_of_types(w, number_or_text, 2); return;
    }
}

static void property(struct json_writer *w, const struct field *f)
{
    json_write_key(w, f->name);
    json_write_object(w);
    value_of(w, f);
    pair(w, "description", f->help);
    if (f->fallback) pair(w, "default", f->fallback);
    json_write_end(w);
}

static void object_schema(struct json_writer *w, const struct object_type *type)
{
    bool some = false;
    pair(w, "type", "object");
    pair(w, "description", type->help);
    json_write_key(w, "properties");
    json_write_object(w);
    for (size_t i = 0; i < type->n_fields; i++) {
        property(w, &type->fields[i]);
        some |= type->fields[i].required;
    }
    json_write_end(w);
    json_write_key(w, "additionalProperties");
    json_write_bool(w, type->open);
    if (!some) return;
    json_write_key(w, "required");
    json_write_array_inline(w);
    for (size_t i = 0; i < type->n_fields; i++)
        if (type->fields[i].required) json_write_string(w, type->fields[i].name);
    json_write_end(w);
}

static void definition(struct json_writer *w, const struct object_type *type)
{
    const struct field *short_form = schema_shorthand(type);
    char name[64];
    json_write_key(w, schema_slug(type, name));
    json_write_object(w);
    if (short_form) {
        json_write_key(w, "anyOf");
        json_write_array(w);
        json_write_object(w);
        value_of(w, short_form);
        json_write_end(w);
        json_write_object(w);
        object_schema(w, type);
        json_write_end(w);
        json_write_end(w);
    } else {
        object_schema(w, type);
    }
    json_write_end(w);
}

void scenario_schema(struct str *out)
{
    struct json_writer w;
    struct schema_types all = { .n = 0 };
    schema_collect(&all, &scenario_type);
    json_write_begin(&w, out);
    json_write_object(&w);
    pair(&w, "$schema", "https://json-schema.org/draft/2020-12/schema");
    pair(&w, "title", "Trainyard scenario, version 1");
    object_schema(&w, &scenario_type);
    json_write_key(&w, "$defs");
    json_write_object(&w);
    for (size_t i = 1; i < all.n; i++) definition(&w, all.v[i]);
    json_write_end(&w);
    json_write_end(&w);
    json_write_finish(&w);
}
