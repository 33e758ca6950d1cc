/* yaml_get.c - look-ups in YAML trees and typed values.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/yaml.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/units.h"

#define SHOWN_MAX 60 /* characters of a wrong scalar that are repeated in the message */

static const struct yaml_node *get_n(const struct yaml_node *node, const char *key, size_t n)
{
    if (node == NULL || node->kind != YAML_MAPPING) return NULL;
    for (uint32_t i = 0; i < node->n; i++) {
        const char *have = node->items[i]->key;
        if (strncmp(have, key, n) == 0 && have[n] == '\0') return node->items[i];
    }
    return NULL;
}

const struct yaml_node *yaml_get(const struct yaml_node *node, const char *key)
{
    return get_n(node, key, strlen(key));
}

const struct yaml_node *yaml_at(const struct yaml_node *node, size_t i)
{
    return node != NULL && node->kind == YAML_SEQUENCE && i < node->n ? node->items[i] : NULL;
}

const struct yaml_node *yaml_path(const struct yaml_node *node, const char *path)
{
    while (node != NULL && *path != '\0') {
        size_t n = strcspn(path, ".");
        if (node->kind == YAML_SEQUENCE) {
            char *end;
            unsigned long i = strtoul(path, &end, 10);
            node = end == path + n && n > 0 ? yaml_at(node, i) : NULL;
        } else {
            node = get_n(node, path, n);
        }
        path += n + (path[n] == '.');
    }
    return node;
}

bool yaml_is_null(const struct yaml_node *node)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    if (node->kind != YAML_SCALAR || node->quoted) return false;
    for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++)
        if (strcmp(node->text, nulls[i]) == 0) return true;
    return false;
}

static void append_steps(const struct yaml_node *node, struct str *out)
{
    if (node->parent == NULL) return;
    append_steps(node->parent, out);
    str_append_char(out, '/');
    if (node->key == NULL) {
        str_append_u64(out, node->index);
        return;
    }
    for (const char *p = node->key; *p; p++) {
        if (*p == '~' || *p == '/')
            str_append(out, *p == '~' ? "~0" : "~1");
        else
            str_append_char(out, *p);
    }
}

void yaml_pointer(const struct yaml_file *y, const struct yaml_node *node, struct str *out)
{
    const struct yaml_node *root = node;
    while (root->parent != NULL) root = root->parent;
    for (size_t i = 0; y->docs.n > 1 && i < y->docs.n; i++)
        if (y->docs.v[i] == root) str_printf(out, "doc %zu%s", i + 1, node == root ? "" : " ");
    append_steps(node, out);
}

static void report(struct yaml_file *y, enum diag_severity severity, const struct yaml_node *node, const char *fmt,
                   va_list args) __attribute__((format(printf, 4, 0)));

static void report(struct yaml_file *y, enum diag_severity severity, const struct yaml_node *node, const char *fmt,
                   va_list args)
{
    struct str pointer = {0};
    yaml_pointer(y, node, &pointer);
    diag_add(y->diag, severity, y->file, node->line, str_text(&pointer), fmt, args);
    str_free(&pointer);
}

void yaml_error(struct yaml_file *y, const struct yaml_node *node, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    report(y, DIAG_ERROR, node, fmt, args);
    va_end(args);
}

/* The text of a scalar that is there; NULL when it is absent or null, or, with an error, when it is no scalar. */
static const char *scalar_text(struct yaml_file *y, const struct yaml_node *node, const char *needed)
{
    if (node == NULL || yaml_is_null(node)) return NULL;
    if (node->kind == YAML_SCALAR) return node->text;
    yaml_error(y, node, "must be %s, is a %s", needed, node->kind == YAML_MAPPING ? "mapping" : "sequence");
    return NULL;
}

bool yaml_as_string(struct yaml_file *y, const struct yaml_node *node, const char **out)
{
    const char *text = scalar_text(y, node, "a string");
    if (text != NULL) *out = text;
    return text != NULL;
}

static bool wrong_text(struct yaml_file *y, const struct yaml_node *node, const char *wrong)
{
    yaml_error(y, node, "\"%.*s\" %s", SHOWN_MAX, node->text, wrong);
    return false;
}

bool yaml_as_int64(struct yaml_file *y, const struct yaml_node *node, int64_t min, int64_t max, int64_t *out)
{
    int64_t x;
    const char *text = scalar_text(y, node, "a whole number");
    if (text == NULL) return false;
    if (node->quoted) return wrong_text(y, node, "is a string; a whole number stands without quotes");
    const char *wrong = units_parse_int64(text, &x);
    if (wrong) return wrong_text(y, node, wrong);
    if (x >= min && x <= max) return *out = x, true;
    if (max == INT64_MAX)
        yaml_error(y, node, "must be at least %ld, is %ld", min, x);
    else
        yaml_error(y, node, "must lie between %ld and %ld, is %ld", min, max, x);
    return false;
}

bool yaml_as_double(struct yaml_file *y, const struct yaml_node *node, double *out)
{
    const char *text = scalar_text(y, node, "a number");
    if (text == NULL) return false;
    if (node->quoted) return wrong_text(y, node, "is a string; a number stands without quotes");
    const char *wrong = units_parse_double(text, out);
    return wrong == NULL || wrong_text(y, node, wrong);
}

bool yaml_as_bool(struct yaml_file *y, const struct yaml_node *node, bool *out)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};
    const char *text = scalar_text(y, node, "true or false");
    if (text == NULL) return false;
    for (size_t i = 0; i < sizeof words / sizeof *words && !node->quoted; i++)
        if (strcasecmp(text, words[i]) == 0) return *out = i % 2, true;
    return wrong_text(y, node, "is not true or false");
}

static bool as_units(struct yaml_file *y, const struct yaml_node *node, const char *(*parse)(const char *, int64_t *),
                     const char *needed, int64_t *out)
{
    const char *text = scalar_text(y, node, needed);
    if (text == NULL) return false;
    const char *wrong = parse(text, out);
    return wrong == NULL || wrong_text(y, node, wrong);
}

bool yaml_as_quantity_milli(struct yaml_file *y, const struct yaml_node *node, int64_t *out)
{
    return as_units(y, node, units_parse_quantity, "a quantity such as 500m or 16Gi", out);
}

bool yaml_as_duration_ns(struct yaml_file *y, const struct yaml_node *node, int64_t *out)
{
    return as_units(y, node, units_parse_duration, "a duration such as 30m", out);
}

int yaml_as_word(struct yaml_file *y, const struct yaml_node *node, const char *const *allowed, size_t n)
{
    const char *text = scalar_text(y, node, "a string");
    if (text == NULL) return -1;
    for (size_t i = 0; i < n; i++)
        if (strcmp(text, allowed[i]) == 0) return (int)i;
    wrong_text(y, node, "is not known");
    diag_help_allowed(y->diag, text, allowed, n);
    return -1;
}

#define GETTER(name, type)                                                                                             \
    bool yaml_get_##name(struct yaml_file *y, const struct yaml_node *map, const char *key, type *out)                 \
    {                                                                                                                  \
        return yaml_as_##name(y, yaml_get(map, key), out);                                                             \
    }

GETTER(string, const char *)
GETTER(double, double)
GETTER(bool, bool)
GETTER(quantity_milli, int64_t)
GETTER(duration_ns, int64_t)

bool yaml_get_int64(struct yaml_file *y, const struct yaml_node *map, const char *key, int64_t min, int64_t max,
                    int64_t *out)
{
    return yaml_as_int64(y, yaml_get(map, key), min, max, out);
}

int yaml_get_word(struct yaml_file *y, const struct yaml_node *map, const char *key, const char *const *allowed,
                  size_t n)
{
    return yaml_as_word(y, yaml_get(map, key), allowed, n);
}

static const struct yaml_node *get_kind(struct yaml_file *y, const struct yaml_node *map, const char *key,
                                        enum yaml_kind kind)
{
    static const char *const names[] = {"a scalar", "a sequence", "a mapping"};
    const struct yaml_node *node = yaml_get(map, key);
    if (node == NULL || yaml_is_null(node)) return NULL;
    if (node->kind == kind) return node;
    yaml_error(y, node, "must be %s, is %s", names[kind], names[node->kind]);
    return NULL;
}

const struct yaml_node *yaml_get_mapping(struct yaml_file *y, const struct yaml_node *map, const char *key)
{
    return get_kind(y, map, key, YAML_MAPPING);
}

const struct yaml_node *yaml_get_sequence(struct yaml_file *y, const struct yaml_node *map, const char *key)
{
    return get_kind(y, map, key, YAML_SEQUENCE);
}

const struct yaml_node *yaml_require(struct yaml_file *y, const struct yaml_node *map, const char *key)
{
    const struct yaml_node *node = yaml_get(map, key);
    if (node != NULL && !yaml_is_null(node)) return node;
    if (map != NULL) yaml_error(y, node ? node : map, "the key \"%s\" is missing", key);
    return NULL;
}
