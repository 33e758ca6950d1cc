/* yaml.c - libyaml's events become a tree.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/yaml.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/file.h"
#include "base/hmap.h"
#include "base/mem.h"

/* Children are gathered on a stack and copied into the node when it ends. */
struct reading {
    struct yaml_file *y;
    yaml_parser_t parser;
    const char *text;
    size_t text_bytes;
    ARRAY(struct yaml_node *) stack;
    struct hmap anchors; /* name -> node, of this document */
    size_t nodes, copies;
    int depth;
    bool failed;
};

/* Errors of the syntax end the reading. */
__attribute__((format(printf, 3, 4))) static void fail(struct reading *r, int line, const char *fmt, ...)
{
    va_list args;
    if (r->failed) return;
    va_start(args, fmt);
    diag_add(r->y->diag, DIAG_ERROR, r->y->file, line, NULL, fmt, args);
    va_end(args);
    r->failed = true;
}

static int event_line(const yaml_event_t *e)
{
    return (int)e->start_mark.line + 1;
}

static int line_of_offset(const struct reading *r, size_t offset)
{
    int line = 1;
    for (size_t i = 0; i < offset && i < r->text_bytes; i++) line += r->text[i] == '\n';
    return line;
}

static bool next_event(struct reading *r, yaml_event_t *e)
{
    if (r->failed) return false;
    if (yaml_parser_parse(&r->parser, e)) return true;
    const yaml_parser_t *p = &r->parser;
    int line = (int)p->problem_mark.line + 1;
    if (p->error == YAML_READER_ERROR) line = line_of_offset(r, p->problem_offset); /* it sets no mark */
    if (p->context != NULL)
        fail(r, line, "%s, %s (from line %zu)", p->problem, p->context, p->context_mark.line + 1);
    else
        fail(r, line, "%s", p->problem ? p->problem : "cannot be read");
    return false;
}

static struct yaml_node *new_node(struct reading *r, enum yaml_kind kind, int line)
{
    if (++r->nodes > YAML_MAX_NODES) fail(r, line, "more than %d nodes", YAML_MAX_NODES);
    struct yaml_node *node = arena_new(&r->y->arena, struct yaml_node);
    node->kind = kind;
    node->line = line;
    return node;
}

static void adopt(struct yaml_node *parent, struct yaml_node *child, uint32_t index)
{
    child->parent = parent;
    child->index = index;
}

/* The children are those on the stack from `from` on. */
static void take_children(struct reading *r, struct yaml_node *node, size_t from)
{
    node->n = (uint32_t)(r->stack.n - from);
    node->items = arena_array(&r->y->arena, node->n, struct yaml_node *);
    for (uint32_t i = 0; i < node->n; i++) {
        node->items[i] = r->stack.v[from + i];
        adopt(node, node->items[i], i);
    }
    r->stack.n = from;
}

static bool enter(struct reading *r, int line)
{
    if (r->depth == YAML_MAX_DEPTH) fail(r, line, "nested deeper than %d levels", YAML_MAX_DEPTH);
    if (r->failed) return false;
    r->depth++;
    return true;
}

/* Copies share the texts; each node has one parent, so the whole tree below is copied. NULL after a failure. */
static struct yaml_node *copy_tree(struct reading *r, const struct yaml_node *from)
{
    if (++r->copies > YAML_MAX_COPIES) fail(r, from->line, "aliases copy more than %d nodes", YAML_MAX_COPIES);
    if (!enter(r, from->line)) return NULL;
    struct yaml_node *node = new_node(r, from->kind, from->line);
    node->quoted = from->quoted;
    node->text = from->text;
    node->n = from->n;
    node->items = from->n ? arena_array(&r->y->arena, from->n, struct yaml_node *) : NULL;
    for (uint32_t i = 0; i < from->n && !r->failed; i++) {
        node->items[i] = copy_tree(r, from->items[i]);
        if (node->items[i] == NULL) break;
        node->items[i]->key = from->items[i]->key;
        adopt(node, node->items[i], i);
    }
    r->depth--;
    return r->failed ? NULL : node;
}

static void set_anchor(struct reading *r, const yaml_char_t *anchor, struct yaml_node *node)
{
    if (anchor != NULL) hmap_put_str_ptr(&r->anchors, (const char *)anchor, node);
}

static struct yaml_node *read_alias(struct reading *r, const yaml_event_t *e)
{
    const char *name = (const char *)e->data.alias.anchor;
    const struct yaml_node *node = hmap_get_str_ptr(&r->anchors, name);
    if (node != NULL) return copy_tree(r, node);
    fail(r, event_line(e), "alias *%s has no anchor &%s before it", name, name);
    return NULL;
}

static bool is_str_tag(const yaml_char_t *tag)
{
    return tag != NULL && (strcmp((const char *)tag, YAML_STR_TAG) == 0 || strcmp((const char *)tag, "!") == 0);
}

static struct yaml_node *read_scalar(struct reading *r, const yaml_event_t *e)
{
    size_t n = e->data.scalar.length;
    const char *text = (const char *)e->data.scalar.value;
    struct yaml_node *node = new_node(r, YAML_SCALAR, event_line(e));
    if (memchr(text, '\0', n) != NULL) fail(r, node->line, "a NUL in a string");
    node->text = arena_strndup(&r->y->arena, text, n);
    node->quoted = e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE || is_str_tag(e->data.scalar.tag);
    set_anchor(r, e->data.scalar.anchor, node);
    return node;
}

static struct yaml_node *read_node(struct reading *r, const yaml_event_t *e);

static struct yaml_node *read_sequence(struct reading *r, const yaml_event_t *start)
{
    struct yaml_node *node = new_node(r, YAML_SEQUENCE, event_line(start));
    size_t from = r->stack.n;
    yaml_event_t e;
    while (next_event(r, &e)) {
        bool end = e.type == YAML_SEQUENCE_END_EVENT;
        struct yaml_node *item = end ? NULL : read_node(r, &e);
        yaml_event_delete(&e);
        if (end) break;
        if (item) array_push(&r->stack, item);
    }
    take_children(r, node, from);
    set_anchor(r, start->data.sequence_start.anchor, node);
    return node;
}

/* True when the key is new in its mapping. */
static bool note_key(struct reading *r, struct hmap *seen, const struct yaml_node *key)
{
    uint64_t line;
    if (!hmap_get_str(seen, key->text, &line)) {
        hmap_put_str(seen, key->text, (uint64_t)key->line);
        return true;
    }
    diag_error(r->y->diag, r->y->file, key->line, NULL, "the key \"%s\" is there twice; first on line %d", key->text,
               (int)line);
    return false;
}

/* "<<": members that the mapping lacks come from the given mapping, or from each of a sequence, the first winning. */
static void merge(struct reading *r, struct hmap *seen, const struct yaml_node *from, int line)
{
    if (from->kind == YAML_SEQUENCE) {
        for (uint32_t i = 0; i < from->n && !r->failed; i++) {
            if (from->items[i]->kind == YAML_SEQUENCE)
                fail(r, line, "a merge key << takes a mapping or a list of mappings");
            else
                merge(r, seen, from->items[i], line);
        }
        return;
    }
    if (from->kind != YAML_MAPPING) {
        fail(r, line, "a merge key << takes a mapping or a list of mappings");
        return;
    }
    for (uint32_t i = 0; i < from->n; i++) {
        if (!hmap_put_str(seen, from->items[i]->key, (uint64_t)line)) continue;
        array_push(&r->stack, from->items[i]); /* already a copy of its own: the alias was copied out */
    }
}

static bool is_merge_key(const struct yaml_node *key)
{
    return !key->quoted && strcmp(key->text, "<<") == 0;
}

/* One key and its value; what << gives waits in *merged until all of the mapping's own keys are known. */
static void read_member(struct reading *r, const yaml_event_t *key_event, struct hmap *seen, struct yaml_node **merged)
{
    yaml_event_t e;
    struct yaml_node *key = read_node(r, key_event);
    if (key != NULL && key->kind != YAML_SCALAR) fail(r, event_line(key_event), "a key must be a scalar");
    if (!next_event(r, &e)) return;
    struct yaml_node *value = read_node(r, &e);
    yaml_event_delete(&e);
    if (r->failed || key == NULL || value == NULL) return;
    if (is_merge_key(key)) {
        if (*merged != NULL) fail(r, key->line, "a second merge key << in one mapping; give it a list");
        *merged = value;
        return;
    }
    if (!note_key(r, seen, key)) return;
    value->key = key->text;
    value->line = key->line;
    array_push(&r->stack, value);
}

static struct yaml_node *read_mapping(struct reading *r, const yaml_event_t *start)
{
    struct yaml_node *node = new_node(r, YAML_MAPPING, event_line(start)), *merged = NULL;
    size_t from = r->stack.n;
    struct hmap seen = {0};
    yaml_event_t e;
    while (next_event(r, &e)) {
        bool end = e.type == YAML_MAPPING_END_EVENT;
        if (!end) read_member(r, &e, &seen, &merged);
        yaml_event_delete(&e);
        if (end) break;
    }
    if (merged != NULL && !r->failed) merge(r, &seen, merged, node->line);
    hmap_free(&seen);
    take_children(r, node, from);
    set_anchor(r, start->data.mapping_start.anchor, node);
    return node;
}

/* NULL after a failure. */
static struct yaml_node *read_node(struct reading *r, const yaml_event_t *e)
{
    struct yaml_node *node = NULL;
    if (!enter(r, event_line(e))) return NULL;
    switch (e->type) {
    case YAML_ALIAS_EVENT: node = read_alias(r, e); break;
    case YAML_SCALAR_EVENT: node = read_scalar(r, e); break;
    case YAML_SEQUENCE_START_EVENT: node = read_sequence(r, e); break;
    case YAML_MAPPING_START_EVENT: node = read_mapping(r, e); break;
    default: assert(e->type == YAML_ALIAS_EVENT); /* libyaml gives nothing else where a node must stand */
    }
    r->depth--;
    return node;
}

static void read_stream(struct reading *r)
{
    yaml_event_t e;
    bool end = false;
    while (!end && next_event(r, &e)) {
        end = e.type == YAML_STREAM_END_EVENT;
        if (e.type == YAML_DOCUMENT_START_EVENT) {
            hmap_free(&r->anchors);
        } else if (!end && e.type != YAML_STREAM_START_EVENT && e.type != YAML_DOCUMENT_END_EVENT) {
            struct yaml_node *root = read_node(r, &e);
            if (root != NULL && !yaml_is_null(root)) array_push(&r->y->docs, root);
        }
        yaml_event_delete(&e);
    }
}

struct yaml_file *yaml_parse(const char *name, const char *text, size_t n, struct diag *d)
{
    struct yaml_file *y = xcalloc(1, sizeof *y);
    struct reading r = {.y = y, .text = text, .text_bytes = n};
    y->diag = d;
    y->file = arena_strdup(&y->arena, name);
    if (!yaml_parser_initialize(&r.parser)) mem_exhausted(sizeof r.parser);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, n);
    read_stream(&r);
    yaml_parser_delete(&r.parser);
    hmap_free(&r.anchors);
    array_free(&r.stack);
    if (!r.failed) return y;
    yaml_close(y);
    return NULL;
}

struct yaml_file *yaml_load(const char *file, struct diag *d)
{
    size_t n;
    char *text = file_read(file, YAML_MAX_BYTES, &n, d);
    if (text == NULL) return NULL;
    struct yaml_file *y = yaml_parse(file, text, n, d);
    free(text);
    return y;
}

void yaml_close(struct yaml_file *y)
{
    if (y == NULL) return;
    array_free(&y->docs);
    arena_free(&y->arena);
    free(y);
}

bool yaml_is_null(const struct yaml_node *node)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    if (node->kind != YAML_SCALAR || node->quoted) return false;
    for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++)
        if (strcmp(node->text, nulls[i]) == 0) return true;
    return false;
}
