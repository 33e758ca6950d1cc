/* json.h - JSON with comments: read with places, written exactly.
 *
 * Reading is two passes over one text. The own scan checks the whole grammar (UTF-8, escapes, numbers, nesting), blanks
 * line and block comments, and notes for each value its line and its extent; cJSON then holds the values. Refused, each
 * with file and line: duplicate keys, trailing text, nesting deeper than JSON_MAX_DEPTH, invalid UTF-8, NUL also as
 * \u0000, numbers beyond a double (1e400) or longer than 60 characters.
 * A syntax error ends the reading (NULL). Duplicate keys are reported and the document is given all the same, so that
 * the reader finds the other errors too: ask diag_errors() at the end.
 *
 *     struct json_doc *doc = json_load("lab.json", d);  // NULL after a syntax error; "-" is stdin
 *     const cJSON *cluster = json_require(doc, doc->root, "cluster");
 *     static const char *const keys[] = { "nodes", "topology" };
 *     json_check_keys(doc, cluster, keys, 2);           // unknown keys are errors with "did you mean"
 *     double every_s = 0;
 *     json_get_double(doc, cluster, "every_s", &every_s);
 *     json_free(doc);
 *
 * The tree is read with cJSON's own fields (child, next, string), never with cJSON_GetObjectItem (case is ignored
 * there) nor cJSON_GetArrayItem in a loop (each is O(n)): use json_member and cJSON_ArrayForEach.
 * Integers are read from the text of the number, so 9007199254740993 stays what it is.
 * Ownership: the document owns all; strings it gives live as long as it. The diag must outlive it.
 * Cost: about 100 bytes a value beside cJSON's 64; json_line and json_pointer are one look-up.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_BASE_JSON_H
#define TRAINYARD_BASE_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/hmap.h"
#include "base/str.h"

#define JSON_MAX_DEPTH 64

struct json_place {
    const char *key;   /* under which it stands in its object, else NULL */
    int line;          /* of the key, or of the value where there is none */
    uint32_t parent;   /* place of the object or array around it; JSON_NO_PLACE for the root */
    uint32_t index;    /* among its siblings */
    size_t start, end; /* of the value in the text */
};

#define JSON_NO_PLACE UINT32_MAX

struct json_doc {
    cJSON *root;
    const char *file;
    char *text; /* as read, comments blanked */
    size_t n;
    ARRAY(struct json_place) places; /* in the order of the text */
    struct hmap by_node;             /* node address -> place; only looked up */
    struct intern keys;
    struct diag *diag;
    struct arena arena;
};

struct json_doc *json_load(const char *file, struct diag *d);

/* Reads n bytes of text (copied); `name` stands in the errors. */
struct json_doc *json_parse(const char *name, const char *text, size_t n, struct diag *d);
void json_free(struct json_doc *doc);

/* Line of a node's key or value, 0 when it is none of this document's. */
int json_line(const struct json_doc *doc, const cJSON *node);

/* Appends the JSON pointer (RFC 6901) of a node, "" for the root. */
void json_pointer(const struct json_doc *doc, const cJSON *node, struct str *out);

/* The source text of a number, NULL for other nodes. Lives as long as the document. */
const char *json_number_text(struct json_doc *doc, const cJSON *node);

/* Reports an error at a node's place. Add diag_help(doc->diag, ...) after it. */
void json_error(struct json_doc *doc, const cJSON *node, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* A member by its exact key, NULL when absent or when `object` is NULL or no object. */
const cJSON *json_member(const cJSON *object, const char *key);

/* The same; absent is an error. */
const cJSON *json_require(struct json_doc *doc, const cJSON *object, const char *key);

/* Reports each member whose key is not allowed; false when there was one. */
bool json_check_keys(struct json_doc *doc, const cJSON *object, const char *const *allowed, size_t n);

/* "object", "array", "string", "number", "true or false", "null". */
const char *json_kind(const cJSON *node);

/* Value of a node: true and *out set, or an error at its place and false with *out untouched. NULL gives false. */
bool json_as_int64(struct json_doc *doc, const cJSON *node, int64_t min, int64_t max, int64_t *out);
bool json_as_double(struct json_doc *doc, const cJSON *node, double *out);
bool json_as_string(struct json_doc *doc, const cJSON *node, const char **out);
bool json_as_object(struct json_doc *doc, const cJSON *node);
bool json_as_array(struct json_doc *doc, const cJSON *node);

/* The index of a string among the allowed words, -1 with an error (or silently for NULL). */
int json_as_word(struct json_doc *doc, const cJSON *node, const char *const *allowed, size_t n);

/* Member and value in one: absent gives false without an error and leaves *out, which so can hold the default. */
bool json_get_int64(struct json_doc *doc, const cJSON *object, const char *key, int64_t min, int64_t max, int64_t *out);
bool json_get_double(struct json_doc *doc, const cJSON *object, const char *key, double *out);
bool json_get_string(struct json_doc *doc, const cJSON *object, const char *key, const char **out);
int json_get_word(struct json_doc *doc, const cJSON *object, const char *key, const char *const *allowed, size_t n);
const cJSON *json_get_object(struct json_doc *doc, const cJSON *object, const char *key);
const cJSON *json_get_array(struct json_doc *doc, const cJSON *object, const char *key);

#endif
