/* value.c - the tree under the scenario reader: built from JSON or YAML, searched, patched, written.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/value.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct value *node_new(struct arena *arena, enum value_kind kind, const char *file, int line, const char *text)
{
    struct value *v = arena_new(arena, struct value);
    v->kind = kind;
    v->file = file;
    v->line = line;
    v->text = text;
    return v;
}

void value_append(struct arena *arena, struct value *into, const char *key, struct value *v)
{
    assert(!v->parent);
    v->key = key ? arena_strdup(arena, key) : NULL;
    v->parent = into;
    v->next = NULL;
    if (into->last)
        into->last->next = v;
    else
        into->child = v;
    into->last = v;
    into->n++;
}

/* ---- from JSON ---- */

static enum value_kind kind_of_json(const cJSON *node)
{
    if (cJSON_IsObject(node)) return VALUE_OBJECT;
    if (cJSON_IsArray(node)) return VALUE_ARRAY;
    if (cJSON_IsString(node)) return VALUE_STRING;
    if (cJSON_IsNumber(node)) return VALUE_NUMBER;
    return cJSON_IsBool(node) ? VALUE_BOOL : VALUE_NULL;
}

static const char *text_of_json(struct arena *arena, struct json_doc *doc, const cJSON *node, enum value_kind kind)
{
    if (kind == VALUE_STRING) return arena_strdup(arena, node->valuestring);
    if (kind == VALUE_NUMBER) return arena_strdup(arena, json_number_text(doc, node));
    if (kind == VALUE_BOOL) return cJSON_IsTrue(node) ? "true" : "false";
    return NULL;
}

static struct value *from_cjson(struct arena *arena, struct json_doc *doc, const char *file, const cJSON *node)
{
    enum value_kind kind = kind_of_json(node);
    struct value *v = node_new(arena, kind, file, json_line(doc, node), text_of_json(arena, doc, node, kind));
    const cJSON *child;
    cJSON_ArrayForEach(child, node)
    {
        value_append(arena, v, kind == VALUE_OBJECT ? child->string : NULL, from_cjson(arena, doc, file, child));
    }
    return v;
}

struct value *value_from_json(struct arena *arena, struct json_doc *doc)
{
    return from_cjson(arena, doc, arena_strdup(arena, doc->file), doc->root);
}

struct value *value_from_text(struct arena *arena, const char *name, const char *text, struct diag *quiet)
{
    struct json_doc *doc = json_parse(name, text, strlen(text), quiet);
    if (!doc) return node_new(arena, VALUE_STRING, arena_strdup(arena, name), 0, arena_strdup(arena, text));
    struct value *v = value_from_json(arena, doc);
    json_free(doc);
    return v;
}

/* ---- from YAML ---- */

static bool word_in(const char *text, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(text, words[i]) == 0) return true;
    return false;
}

/* The number grammar of JSON, with a plus allowed in front; anything else stays a string. */
static bool is_number(const char *t)
{
    if (*t == '-' || *t == '+') t++;
    size_t digits = strspn(t, "0123456789");
    if (digits == 0 || (digits > 1 && *t == '0')) return false;
    t += digits;
    if (*t == '.') {
        size_t part = strspn(t + 1, "0123456789");
        if (part == 0) return false;
        t += 1 + part;
    }
    if (*t == 'e' || *t == 'E') {
        t++;
        if (*t == '-' || *t == '+') t++;
        size_t part = strspn(t, "0123456789");
        if (part == 0) return false;
        t += part;
    }
    return *t == '\0';
}

static struct value *from_scalar(struct arena *arena, const char *file, const struct yaml_node *node)
{
    static const char *const yes[] = { "true", "yes", "on" }, *const no[] = { "false", "no", "off" };
    const char *text = node->text;
    if (node->quoted) return node_new(arena, VALUE_STRING, file, node->line, arena_strdup(arena, text));
    if (yaml_is_null(node)) return node_new(arena, VALUE_NULL, file, node->line, NULL);
    if (word_in(text, yes, 3)) return node_new(arena, VALUE_BOOL, file, node->line, "true");
    if (word_in(text, no, 3)) return node_new(arena, VALUE_BOOL, file, node->line, "false");
    bool number = is_number(text);
    if (number && *text == '+') text++;
    return node_new(arena, number ? VALUE_NUMBER : VALUE_STRING, file, node->line, arena_strdup(arena, text));
}

static struct value *from_yaml(struct arena *arena, const char *file, const struct yaml_node *node)
{
    if (node->kind == YAML_SCALAR) return from_scalar(arena, file, node);
    bool map = node->kind == YAML_MAPPING;
    struct value *v = node_new(arena, map ? VALUE_OBJECT : VALUE_ARRAY, file, node->line, NULL);
    for (uint32_t i = 0; i < node->n; i++)
        value_append(arena, v, map ? node->items[i]->key : NULL, from_yaml(arena, file, node->items[i]));
    return v;
}

struct value *value_from_yaml(struct arena *arena, const struct yaml_file *file, size_t document)
{
    struct value *v = from_yaml(arena, arena_strdup(arena, file->file), file->docs.v[document]);
    v->is_root = true;
    v->document = file->docs.n > 1 ? document + 1 : 0;
    return v;
}

bool value_append_yaml(struct arena *arena, struct value *array, const char *path, struct diag *d)
{
    struct yaml_file *y = yaml_load(path, d);
    if (!y) return false;
    for (size_t i = 0; i < y->docs.n; i++) value_append(arena, array, NULL, value_from_yaml(arena, y, i));
    yaml_close(y);
    return true;
}

/* ---- the tree ---- */

struct value *value_copy(struct arena *arena, const struct value *v)
{
    struct value *copy = node_new(arena, v->kind, v->file, v->line, v->text);
    copy->is_root = v->is_root;
    copy->document = v->document;
    for (const struct value *c = v->child; c; c = c->next) value_append(arena, copy, c->key, value_copy(arena, c));
    return copy;
}

struct value *value_member(const struct value *object, const char *key)
{
    if (!object || object->kind != VALUE_OBJECT) return NULL;
    for (struct value *c = object->child; c; c = c->next)
        if (strcmp(c->key, key) == 0) return c;
    return NULL;
}

struct value *value_at(const struct value *array, size_t i)
{
    if (!array || array->kind != VALUE_ARRAY || i >= array->n) return NULL;
    struct value *c = array->child;
    while (i-- > 0) c = c->next;
    return c;
}

size_t value_index(const struct value *v)
{
    size_t i = 0;
    if (v->parent)
        for (const struct value *c = v->parent->child; c != v; c = c->next) i++;
    return i;
}

static struct value *before(const struct value *v)
{
    struct value *c = v->parent->child;
    if (c == v) return NULL;
    while (c->next != v) c = c->next;
    return c;
}

void value_replace(struct value *v, struct value *with)
{
    assert(v->parent && !with->parent);
    struct value *parent = v->parent, *prior = before(v);
    with->key = v->key;
    with->parent = parent;
    with->next = v->next;
    if (prior)
        prior->next = with;
    else
        parent->child = with;
    if (parent->last == v) parent->last = with;
    v->parent = v->next = NULL;
}

void value_remove(struct value *v)
{
    assert(v->parent);
    struct value *parent = v->parent, *prior = before(v);
    if (prior)
        prior->next = v->next;
    else
        parent->child = v->next;
    if (parent->last == v) parent->last = prior;
    parent->n--;
    v->parent = v->next = NULL;
}

/* ---- pointers ---- */

static void append_token(struct str *out, const char *key)
{
    str_append_char(out, '/');
    for (const char *c = key; *c; c++) {
        if (*c == '~')
            str_append(out, "~0");
        else if (*c == '/')
            str_append(out, "~1");
        else
            str_append_char(out, *c);
    }
}

void value_pointer(const struct value *v, struct str *out)
{
    if (!v->parent || v->is_root) {
        if (v->document) str_printf(out, "doc %zu", v->document);
        return;
    }
    value_pointer(v->parent, out);
    if (v->parent->is_root && v->parent->document) str_append_char(out, ' ');
    if (v->key) {
        append_token(out, v->key);
    } else {
        str_append_char(out, '/');
        str_append_u64(out, value_index(v));
    }
}

static bool named(const struct value *v, const char *name)
{
    static const char *const keys[] = { "name", "group", "id" };
    for (size_t i = 0; i < 3; i++) {
        const struct value *m = value_member(v, keys[i]);
        if (m && m->kind == VALUE_STRING && strcmp(m->text, name) == 0) return true;
    }
    const struct value *m = value_member(value_member(v, "metadata"), "name");
    return m && m->kind == VALUE_STRING && strcmp(m->text, name) == 0;
}

static struct value *select_named(const struct value *array, const char *name)
{
    for (struct value *c = array->child; c; c = c->next)
        if (named(c, name)) return c;
    return NULL;
}

/* One token, unescaped, in the arena; *pointer moves behind it. */
static char *next_token(struct arena *arena, const char **pointer)
{
    const char *p = *pointer + 1;
    size_t n = *p == '[' ? strcspn(p, "]") : strcspn(p, "/");
    if (p[n] == ']') n += 1 + strcspn(p + n + 1, "/");
    char *token = arena_strndup(arena, p, n);
    *pointer = p + n;
    char *to = token;
    for (const char *c = token; *c; c++) {
        if (c[0] == '~' && (c[1] == '0' || c[1] == '1'))
            *to++ = *++c == '0' ? '~' : '/';
        else
            *to++ = *c;
    }
    *to = '\0';
    return token;
}

static struct value *array_step(struct arena *arena, const struct value *v, char *token, const char **wrong)
{
    size_t n = strlen(token);
    if (n >= 2 && token[0] == '[' && token[n - 1] == ']') {
        char *name = arena_strndup(arena, token + 1, n - 2);
        struct value *found = select_named(v, name);
        if (!found) *wrong = arena_printf(arena, "no element is named \"%s\"", name);
        return found;
    }
    char *end;
    unsigned long i = strtoul(token, &end, 10);
    bool number = n > 0 && n < 10 && strspn(token, "0123456789") == n;
    struct value *found = number ? value_at(v, i) : NULL;
    if (!found && number)
        *wrong = arena_printf(arena, "there is no element %lu; the array has %zu", i, v->n);
    else if (!found)
        *wrong = arena_printf(arena, "\"%s\" is no element of an array; write its number or its name as [name]", token);
    return found;
}

static struct value *new_object(struct arena *arena, struct value *into, const char *key)
{
    struct value *v = arena_calloc(arena, 1, sizeof *v);
    v->kind = VALUE_OBJECT;
    v->file = into->file;
    v->line = into->line;
    value_append(arena, into, key, v);
    return v;
}

struct value *value_find(struct arena *arena, struct value *root, const char *pointer, bool make, struct value **object,
                         const char **key, const char **wrong)
{
    struct value *v = root;
    *object = NULL;
    *key = NULL;
    *wrong = NULL;
    if (*pointer && *pointer != '/') *wrong = "a pointer begins with /";
    while (!*wrong && *pointer) {
        char *token = next_token(arena, &pointer);
        if (v->kind == VALUE_ARRAY) {
            v = array_step(arena, v, token, wrong);
        } else if (v->kind == VALUE_OBJECT) {
            struct value *member = value_member(v, token);
            if (!member && *pointer && make) member = new_object(arena, v, token);
            if (!member && *pointer) *wrong = arena_printf(arena, "there is no \"%s\"", token);
            if (!member) *object = v, *key = token; /* of use when it is the last */
            v = member;
        } else {
            *wrong = arena_printf(arena, "\"%s\" cannot be looked up in a value that is no object or array", token);
        }
        if (!v) break;
    }
    if (*wrong) *object = NULL;
    return *wrong ? NULL : v;
}

/* ---- reports ---- */

const char *value_kind_name(const struct value *v)
{
    static const char *const names[] = { "null", "true or false", "number", "string", "array", "object" };
    return names[v->kind];
}

static void report(struct diag *d, enum diag_severity severity, const struct value *v, const char *fmt, va_list args)
    __attribute__((format(printf, 4, 0)));
static void report(struct diag *d, enum diag_severity severity, const struct value *v, const char *fmt, va_list args)
{
    struct str pointer = { 0 };
    value_pointer(v, &pointer);
    diag_add(d, severity, v->file, v->line, str_text(&pointer), fmt, args);
    str_free(&pointer);
}

void value_error(struct diag *d, const struct value *v, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    report(d, DIAG_ERROR, v, fmt, args);
    va_end(args);
}

void value_warning(struct diag *d, const struct value *v, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    report(d, DIAG_WARNING, v, fmt, args);
    va_end(args);
}

void value_write(struct json_writer *w, const struct value *v)
{
    switch (v->kind) {
    case VALUE_NULL: json_write_null(w); return;
    case VALUE_BOOL: json_write_bool(w, v->text[0] == 't'); return;
    case VALUE_NUMBER: json_write_raw(w, v->text); return;
    case VALUE_STRING: json_write_string(w, v->text); return;
    default: break;
    }
    if (v->kind == VALUE_OBJECT)
        json_write_object(w);
    else
        json_write_array(w);
    for (const struct value *c = v->child; c; c = c->next) {
        if (c->key) json_write_key(w, c->key);
        value_write(w, c);
    }
    json_write_end(w);
}
