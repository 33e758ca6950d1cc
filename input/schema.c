/* schema.c - walks the tables of the scenario and writes schema and manual.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/schema.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "input/raw.h"

/* Every object type that can be reached, each once, in the order of first mention. */
struct types { const struct object_type *v[64]; size_t n; };

static void collect(struct types *all, const struct object_type *type)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->v[i] == type) return;
    assert(all->n < 64);
    all->v[all->n++] = type;
    for (size_t i = 0; i < type->n_fields; i++)
        if (type->fields[i].sub) collect(all, type->fields[i].sub);
}

static const struct field *shorthand_of(const struct object_type *type)
{
    for (size_t i = 0; type->shorthand && i < type->n_fields; i++)
        if (strcmp(type->fields[i].name, type->shorthand) == 0) return &type->fields[i];
    return NULL;
}

/* The name without blanks, for references. */
static const char *slug(const struct object_type *type, char out[64])
{
    size_t i = 0;
    for (; type->name[i] && i < 63; i++) out[i] = type->name[i] == ' ' ? '-' : type->name[i];
    out[i] = '\0';
    return out;
}

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
    snprintf(text, sizeof text, "#/$defs/%s", slug(type, name));
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
    const struct field *short_form = shorthand_of(type);
    char name[64];
    json_write_key(w, slug(type, name));
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
    struct types all = { .n = 0 };
    collect(&all, &scenario_type);
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

/* ---- manual ---- */

static void value_text(const struct field *f, struct str *out)
{
    static const char *const names[N_TYPES] = {
        [TYPE_STRING] = "string",       [TYPE_ANY] = "any",         [TYPE_BOOL] = "true, false", [TYPE_INT] = "whole number",
        [TYPE_DURATION] = "duration",   [TYPE_BYTES] = "size",      [TYPE_BANDWIDTH] = "bandwidth",
        [TYPE_QUANTITY] = "quantity",   [TYPE_GPUS] = "GPUs",       [TYPE_GPU_TIME] = "GPU-time", [TYPE_NUMBER] = "number",
        [TYPE_FRACTION] = "fraction",   [TYPE_STRINGS] = "strings", [TYPE_TEXTS] = "strings by key",
        [TYPE_QUOTA] = "amounts by flavor", [TYPE_STACK] = "name, constants",
    };
    char name[64];
    for (size_t i = 0; f->type == TYPE_WORD && i < f->n_words; i++) str_printf(out, "%s`%s`", i ? ", " : "", f->words[i]);
    if (f->type == TYPE_OBJECT)
        str_printf(out, "[%s](#%s)", f->sub->name, slug(f->sub, name));
    else if (f->type == TYPE_LIST)
        str_printf(out, "list of [%s](#%s)", f->sub->name, slug(f->sub, name));
    else if (f->type == TYPE_MAP)
        str_printf(out, "[%s](#%s) by name", f->sub->name, slug(f->sub, name));
    else if (f->type != TYPE_WORD)
        str_append(out, names[f->type]);
}

static void table(const struct object_type *type, struct str *out)
{
    const struct field *short_form = shorthand_of(type);
    str_printf(out, "\n### %s\n\n%s", type->name, type->help);
    if (short_form) str_printf(out, " A bare value stands for `%s`.", short_form->name);
    str_append(out, "\n\n| key | value | default | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < type->n_fields; i++) {
        const struct field *f = &type->fields[i];
        str_printf(out, "| `%s` | ", f->name);
        value_text(f, out);
        str_append(out, " | ");
        if (f->required)
            str_append(out, "required");
        else if (f->fallback)
            str_printf(out, "`%s`", f->fallback);
        str_printf(out, " | %s |\n", f->help);
    }
}

void scenario_reference(struct str *out)
{
    struct types all = { .n = 0 };
    collect(&all, &scenario_type);
    for (size_t i = 0; i < all.n; i++) table(all.v[i], out);
    str_append(out, "\n### stack constants\n\n| constant | default | source |\n|---|---|---|\n");
    for (size_t i = 0; i < stack_constant_count(); i++) {
        const struct stack_constant *c = stack_constant_at(i);
        str_printf(out, "| `%s` | `%s` | %s |\n", c->name, c->fallback, c->source);
    }
}
