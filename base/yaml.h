/* yaml.h - YAML as Kubernetes manifests use it: a tree with places.
 *
 * libyaml's events become a tree of mappings, sequences and scalars; a file may hold several documents. Aliases are
 * copied out and merge keys (<<) applied, so readers see plain trees. Refused, each with file and line: duplicate keys,
 * keys that are no scalars, nesting deeper than YAML_MAX_DEPTH, more than YAML_MAX_NODES nodes, aliases that copy more
 * than YAML_MAX_COPIES nodes (alias bombs), files over YAML_MAX_BYTES. Empty documents are left out.
 * Duplicate keys are reported, the first stays and the file is given all the same: ask diag_errors() at the end.
 *
 *     struct yaml_file *y = yaml_load("kueue.yaml", d); // NULL after a syntax error; "-" is stdin
 *     for (size_t i = 0; i < y->docs.n; i++) {
 *         const struct yaml_node *doc = y->docs.v[i];
 *         const char *kind = "";
 *         yaml_get_string(y, doc, "kind", &kind);
 *         const struct yaml_node *meta = yaml_path(doc, "spec.template.metadata");
 *     }
 *     yaml_close(y);
 *
 * Typing is the reader's: a scalar is its text and whether it was quoted; the getters decide. YAML 1.1 words stay
 * strings to yaml_get_string; yaml_get_bool takes true/false/yes/no/on/off unquoted, as sigs.k8s.io/yaml does;
 * integers are decimal. A plain empty scalar, ~ and null are null, and count as absent for the getters.
 * Ownership: the file owns all nodes and texts. Cost: O(size), 64 bytes a node; look-ups go along the keys.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_BASE_YAML_H
#define TRAINYARD_BASE_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/diag.h"
#include "base/str.h"

#define YAML_MAX_DEPTH  64
#define YAML_MAX_NODES  4000000
#define YAML_MAX_COPIES 100000
#define YAML_MAX_BYTES  ((size_t)256 << 20)

enum yaml_kind { YAML_SCALAR, YAML_SEQUENCE, YAML_MAPPING };

struct yaml_node {
    enum yaml_kind kind;
    int line;
    bool quoted;                    /* scalar in quotes or block style: a string whatever it looks like */
    const char *text;               /* of a scalar, NUL-terminated */
    const char *key;                /* under which it stands in its mapping, else NULL */
    uint32_t index;                 /* among its siblings */
    uint32_t n;                     /* children */
    struct yaml_node **items;       /* children; a mapping's know their key */
    const struct yaml_node *parent; /* NULL for a document's root */
};

struct yaml_file {
    const char *file;
    ARRAY(struct yaml_node *) docs;
    struct diag *diag;
    struct arena arena;
};

struct yaml_file *yaml_load(const char *file, struct diag *d);
struct yaml_file *yaml_parse(const char *name, const char *text, size_t n, struct diag *d);

/* Frees it all. (libyaml owns the name yaml_free.) */
void yaml_close(struct yaml_file *y);

/* A member by key; NULL when absent, or when the node is NULL or no mapping. */
const struct yaml_node *yaml_get(const struct yaml_node *node, const char *key);

/* Down along keys joined by dots (sequence elements by number): "spec.containers.0.name". Keys that hold dots, as label
 * names do, are for yaml_get. */
const struct yaml_node *yaml_path(const struct yaml_node *node, const char *path);

/* An element; NULL beyond the end, or when the node is NULL or no sequence. */
const struct yaml_node *yaml_at(const struct yaml_node *node, size_t i);

bool yaml_is_null(const struct yaml_node *node);

/* Appends the JSON pointer of a node; in files of several documents "doc N" stands before it. */
void yaml_pointer(const struct yaml_file *y, const struct yaml_node *node, struct str *out);

/* Reports at a node's place. Add diag_help(y->diag, ...) after it. */
void yaml_error(struct yaml_file *y, const struct yaml_node *node, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Value of a node: true and *out set, or an error at its place and false. NULL or null gives false silently. */
bool yaml_as_string(struct yaml_file *y, const struct yaml_node *node, const char **out);
bool yaml_as_int64(struct yaml_file *y, const struct yaml_node *node, int64_t min, int64_t max, int64_t *out);
bool yaml_as_double(struct yaml_file *y, const struct yaml_node *node, double *out);
bool yaml_as_bool(struct yaml_file *y, const struct yaml_node *node, bool *out);
bool yaml_as_quantity_milli(struct yaml_file *y, const struct yaml_node *node, int64_t *out);
bool yaml_as_duration_ns(struct yaml_file *y, const struct yaml_node *node, int64_t *out);
int yaml_as_word(struct yaml_file *y, const struct yaml_node *node, const char *const *allowed, size_t n);

/* Member and value in one; absent gives false silently and leaves *out, which so can hold the default. */
bool yaml_get_string(struct yaml_file *y, const struct yaml_node *map, const char *key, const char **out);
bool yaml_get_int64(struct yaml_file *y, const struct yaml_node *map, const char *key, int64_t min, int64_t max,
                    int64_t *out);
bool yaml_get_double(struct yaml_file *y, const struct yaml_node *map, const char *key, double *out);
bool yaml_get_bool(struct yaml_file *y, const struct yaml_node *map, const char *key, bool *out);
bool yaml_get_quantity_milli(struct yaml_file *y, const struct yaml_node *map, const char *key, int64_t *out);
bool yaml_get_duration_ns(struct yaml_file *y, const struct yaml_node *map, const char *key, int64_t *out);
int yaml_get_word(struct yaml_file *y, const struct yaml_node *map, const char *key, const char *const *allowed,
                  size_t n);

/* A member that must be a mapping or a sequence; NULL when absent, with an error when it is something else. */
const struct yaml_node *yaml_get_mapping(struct yaml_file *y, const struct yaml_node *map, const char *key);
const struct yaml_node *yaml_get_sequence(struct yaml_file *y, const struct yaml_node *map, const char *key);

/* Absent (or null) is an error. */
const struct yaml_node *yaml_require(struct yaml_file *y, const struct yaml_node *map, const char *key);

#endif
