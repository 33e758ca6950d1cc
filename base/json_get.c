/* json_get.c - typed values of JSON nodes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/json.h"

#include <string.h>

#include "base/units.h"

#define SHOWN_MAX 60 /* characters of a wrong string that are repeated in the message */

const cJSON *json_member(const cJSON *object, const char *key)
{
    return cJSON_IsObject(object) ? cJSON_GetObjectItemCaseSensitive(object, key) : NULL;
}

const cJSON *json_require(struct json_doc *doc, const cJSON *object, const char *key)
{
    const cJSON *member = json_member(object, key);
    if (member == NULL && cJSON_IsObject(object)) json_error(doc, object, "the key \"%s\" is missing", key);
    return member;
}

static bool is_allowed(const char *key, const char *const *allowed, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(key, allowed[i]) == 0) return true;
    return false;
}

bool json_check_keys(struct json_doc *doc, const cJSON *object, const char *const *allowed, size_t n)
{
    bool good = true;
    const cJSON *member;
    if (!cJSON_IsObject(object)) return true;
    cJSON_ArrayForEach(member, object)
    {
        if (is_allowed(member->string, allowed, n)) continue;
        json_error(doc, member, "unknown key");
        diag_help_allowed(doc->diag, member->string, allowed, n);
        good = false;
    }
    return good;
}

const char *json_kind(const cJSON *node)
{
    switch (node->type & 0xff) {
    case cJSON_Object: return "object";
    case cJSON_Array: return "array";
    case cJSON_String: return "string";
    case cJSON_Number: return "number";
    case cJSON_NULL: return "null";
    default: return "true or false";
    }
}

static bool wrong_kind(struct json_doc *doc, const cJSON *node, const char *needed)
{
    const char *kind = json_kind(node);
    const char *article = kind[0] == 'o' || kind[0] == 'a'           ? "an "
                          : cJSON_IsNull(node) || cJSON_IsBool(node) ? ""
                                                                     : "a ";
    json_error(doc, node, "must be %s, is %s%s", needed, article, kind);
    return false;
}

static bool check_range(struct json_doc *doc, const cJSON *node, int64_t min, int64_t max, int64_t x)
{
    if (x >= min && x <= max) return true;
    if (max == INT64_MAX)
        json_error(doc, node, "must be at least %ld, is %ld", min, x);
    else if (min == INT64_MIN)
        json_error(doc, node, "must be at most %ld, is %ld", max, x);
    else
        json_error(doc, node, "must lie between %ld and %ld, is %ld", min, max, x);
    return false;
}

/* 3.0 and 1e3 are whole too, as far as a double knows all whole numbers. */
static bool whole_double(double x, int64_t *out)
{
    const double exact = 9007199254740992.0; /* 2^53 */
    if (!(x >= -exact && x <= exact) || x != (double)(int64_t)x) return false;
    *out = (int64_t)x;
    return true;
}

bool json_as_int64(struct json_doc *doc, const cJSON *node, int64_t min, int64_t max, int64_t *out)
{
    int64_t x;
    if (node == NULL) return false;
    if (!cJSON_IsNumber(node)) return wrong_kind(doc, node, "a whole number");
    const char *text = json_number_text(doc, node);
    bool digits = text != NULL && text[strspn(text, "-0123456789")] == '\0';
    const char *wrong = digits ? units_parse_int64(text, &x) : NULL;
    if (!digits && !whole_double(node->valuedouble, &x)) wrong = "is not a whole number";
    if (wrong) {
        json_error(doc, node, "%s %s", text ? text : "the value", wrong);
        return false;
    }
    if (!check_range(doc, node, min, max, x)) return false;
    *out = x;
    return true;
}

bool json_as_double(struct json_doc *doc, const cJSON *node, double *out)
{
    if (node == NULL) return false;
    if (!cJSON_IsNumber(node)) return wrong_kind(doc, node, "a number");
    *out = node->valuedouble;
    return true;
}

bool json_as_string(struct json_doc *doc, const cJSON *node, const char **out)
{
    if (node == NULL) return false;
    if (!cJSON_IsString(node)) return wrong_kind(doc, node, "a string");
    *out = node->valuestring;
    return true;
}

bool json_as_object(struct json_doc *doc, const cJSON *node)
{
    return node != NULL && (cJSON_IsObject(node) || wrong_kind(doc, node, "an object"));
}

bool json_as_array(struct json_doc *doc, const cJSON *node)
{
    return node != NULL && (cJSON_IsArray(node) || wrong_kind(doc, node, "an array"));
}

int json_as_word(struct json_doc *doc, const cJSON *node, const char *const *allowed, size_t n)
{
    const char *word = NULL;
    if (!json_as_string(doc, node, &word)) return -1;
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, allowed[i]) == 0) return (int)i;
    json_error(doc, node, "\"%.*s\" is not known", SHOWN_MAX, word);
    diag_help_allowed(doc->diag, word, allowed, n);
    return -1;
}

bool json_get_int64(struct json_doc *doc, const cJSON *object, const char *key, int64_t min, int64_t max, int64_t *out)
{
    return json_as_int64(doc, json_member(object, key), min, max, out);
}

#define GETTER(name, type)                                                                                             \
    bool json_get_##name(struct json_doc *doc, const cJSON *object, const char *key, type *out)                        \
    {                                                                                                                  \
        return json_as_##name(doc, json_member(object, key), out);                                                     \
    }

GETTER(double, double)
GETTER(string, const char *)

int json_get_word(struct json_doc *doc, const cJSON *object, const char *key, const char *const *allowed, size_t n)
{
    return json_as_word(doc, json_member(object, key), allowed, n);
}

const cJSON *json_get_object(struct json_doc *doc, const cJSON *object, const char *key)
{
    const cJSON *member = json_member(object, key);
    return json_as_object(doc, member) ? member : NULL;
}

const cJSON *json_get_array(struct json_doc *doc, const cJSON *object, const char *key)
{
    const cJSON *member = json_member(object, key);
    return json_as_array(doc, member) ? member : NULL;
}
