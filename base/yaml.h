/* yaml.h - YAML as Kubernetes manifests use it: a tree with places.
 *
 * libyaml's events become a tree of mappings, sequences and scalars; a file may hold several documents. Aliases are
 * copied out and merge keys (<<) applied, so readers see plain trees. Refused, each with file and line: duplicate keys,
 * keys that are no scalars, nesting deeper than YAML_MAX_DEPTH, more than YAML_MAX_NODES nodes, aliases that copy more
 * than YAML_MAX_COPIES nodes (alias bombs), files over YAML_MAX_BYTES. Empty documents are left out.
 * Duplicate keys are reported, the first stays and the file is given all the same: ask diag_errors() at the end.
 *
 *     struct yaml_file *y = yaml_load("kueue.yaml", d); // NULL after a syntax error; "-" is stdin
 *     for (size_t i = 0; i < y->docs.n; i++) read_object(y->docs.v[i]);
 *     yaml_close(y);
 *
 * Typing is the reader's (input/value.h): a scalar is its text and whether it was quoted.
 * Ownership: the file owns all nodes and texts. Cost: O(size), 64 bytes a node.
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

/* A plain empty scalar, ~ or null. */
bool yaml_is_null(const struct yaml_node *node);

#endif
