/* value.h - one tree for JSON and YAML, with places, that can be patched.
 *
 * A scenario is JSON, its objects are YAML or JSON, an approach's `patch` changes either before it is read. So the reader
 * works on this tree: plain nodes that know their file, line, key and parent. It is built from base/'s documents, which
 * may be freed afterwards; all memory lies in the arena given.
 *
 *     struct value *root = value_from_json(arena, doc, diag);
 *     struct value *v = value_find(root, "/queues/[research]/strategy", &wrong);
 *     value_error(diag, v, "unknown strategy");        // lab.json:14: /queues/0/strategy: unknown strategy
 *
 * A YAML scalar takes its kind by the rules of Kubernetes' YAML: quoted is a string; null, true/false and their YAML 1.1
 * kin, decimal numbers are what they are; the rest are strings. A number keeps its source text: nothing is rounded.
 * A patch leaves the places of what it puts in: an error in it points to the patch.
 * Cost: 96 bytes a node; a member is found along its siblings.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_VALUE_H
#define TRAINYARD_INPUT_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/str.h"
#include "base/yaml.h"

enum value_kind { VALUE_NULL, VALUE_BOOL, VALUE_NUMBER, VALUE_STRING, VALUE_ARRAY, VALUE_OBJECT };

struct value {
    enum value_kind kind;
    int line;
    const char *file;
    const char *key;  /* in its object, else NULL */
    const char *text; /* string, source of a number, "true" or "false" */
    struct value *parent, *child, *last, *next;
    size_t n; /* children */
    bool is_root;    /* a document's own root, also when it stands inside another tree: pointers begin here */
    size_t document; /* of a root in a file of several documents: its number from 1; else 0 */
};

struct value *value_from_json(struct arena *arena, struct json_doc *doc);
struct value *value_from_yaml(struct arena *arena, const struct yaml_file *file, size_t document);

/* Loads a YAML file and adds its documents to an array. False after errors. */
bool value_append_yaml(struct arena *arena, struct value *array, const char *path, struct diag *d);

/* A string, number or true/false as an override on the command line gives it: what reads as JSON, else a string. */
struct value *value_from_text(struct arena *arena, const char *name, const char *text, struct diag *quiet);

/* A deep copy with the same places, without parent and key. */
struct value *value_copy(struct arena *arena, const struct value *v);

struct value *value_member(const struct value *object, const char *key);
struct value *value_at(const struct value *array, size_t i);
size_t value_index(const struct value *v); /* among its siblings */

/* Adds at the end; the node must be free (no parent). */
void value_append(struct arena *arena, struct value *into, const char *key, struct value *v);

/* Puts `with` in the place of `v`. */
void value_replace(struct value *v, struct value *with);
void value_remove(struct value *v);

/* Appends the JSON pointer, "" for a root ("doc 2" before it in files of several documents). */
void value_pointer(const struct value *v, struct str *out);

/* Walks a pointer of RFC 6901 with selectors: `[name]` takes the element of an array whose name, group, id or
 * metadata.name is that. NULL with *wrong (in the arena) when it leads nowhere. When only the last member of an object
 * is missing, gives NULL, *object is that object and *key the missing key. With `make`, objects that are missing on the
 * way there are made. */
struct value *value_find(struct arena *arena, struct value *root, const char *pointer, bool make, struct value **object,
                         const char **key, const char **wrong);

const char *value_kind_name(const struct value *v); /* "object", "true or false" ... */

void value_error(struct diag *d, const struct value *v, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void value_warning(struct diag *d, const struct value *v, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

void value_write(struct json_writer *w, const struct value *v);

#endif
