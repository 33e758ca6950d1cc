/* json.c - JSON documents: loading, places, pointers.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/json.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/mem.h"

static const struct json_place *find_place(const struct json_doc *doc, const cJSON *node)
{
    uint64_t place;
    return hmap_get_u64(&doc->by_node, (uintptr_t)node, &place) ? &doc->places.v[place] : NULL;
}

static void report_duplicate(struct json_doc *doc, const cJSON *first, const cJSON *again)
{
    json_error(doc, again, "the key is there twice; first on line %d", json_line(doc, first));
}

/* Objects up to this size compare each key with those before it; larger ones use a map. */
#define FEW_MEMBERS 16

static const cJSON *find_before(const cJSON *object, const cJSON *member)
{
    for (const cJSON *m = object->child; m != member; m = m->next)
        if (strcmp(m->string, member->string) == 0) return m;
    return NULL;
}

/* cJSON keeps both, and every reader would see only the first. */
static void check_duplicates(struct json_doc *doc, const cJSON *object)
{
    struct hmap seen = {0};
    const cJSON *member, *first;
    size_t i = 0;
    bool few = true;
    for (member = object->child; member != NULL && few; member = member->next) few = ++i <= FEW_MEMBERS;
    cJSON_ArrayForEach(member, object)
    {
        first = few ? find_before(object, member) : hmap_get_str_ptr(&seen, member->string);
        if (first != NULL) report_duplicate(doc, first, member);
        if (first == NULL && !few) hmap_put_str_ptr(&seen, member->string, (void *)(uintptr_t)member);
    }
    hmap_free(&seen);
}

/* The tree's nodes in depth-first order are the scan's places in the order of the text. */
static void bind(struct json_doc *doc, const cJSON *node, size_t *next)
{
    assert(*next < doc->places.n);
    struct json_place *place = &doc->places.v[*next];
    hmap_put_u64(&doc->by_node, (uintptr_t)node, (*next)++);
    if (node->string != NULL) place->key = intern_text(&doc->keys, intern_id(&doc->keys, node->string));
    const cJSON *child;
    cJSON_ArrayForEach(child, node) bind(doc, child, next);
    if (cJSON_IsObject(node)) check_duplicates(doc, node);
}

static bool read_doc(struct json_doc *doc)
{
    size_t bound = 0;
    if (!json_scan(doc)) return false;
    doc->root = cJSON_ParseWithLength(doc->text, doc->n);
    if (doc->root == NULL) {
        diag_error(doc->diag, doc->file, 0, NULL, "cannot be read: out of memory");
        return false;
    }
    bind(doc, doc->root, &bound);
    assert(bound == doc->places.n);
    return true;
}

/* Takes the text over. */
static struct json_doc *make_doc(const char *name, char *text, size_t n, struct diag *d)
{
    struct json_doc *doc = xcalloc(1, sizeof *doc);
    doc->diag = d;
    doc->text = text;
    doc->n = n;
    doc->file = arena_strdup(&doc->arena, name);
    if (read_doc(doc)) return doc;
    json_free(doc);
    return NULL;
}

struct json_doc *json_load(const char *file, struct diag *d)
{
    size_t n;
    char *text = file_read(file, FILE_READ_MAX, &n, d);
    return text ? make_doc(file, text, n, d) : NULL;
}

struct json_doc *json_parse(const char *name, const char *text, size_t n, struct diag *d)
{
    char *copy = xmalloc(n + 1);
    if (n) memcpy(copy, text, n);
    copy[n] = '\0';
    return make_doc(name, copy, n, d);
}

void json_free(struct json_doc *doc)
{
    if (doc == NULL) return;
    cJSON_Delete(doc->root);
    array_free(&doc->places);
    hmap_free(&doc->by_node);
    intern_free(&doc->keys);
    arena_free(&doc->arena);
    free(doc->text);
    free(doc);
}

int json_line(const struct json_doc *doc, const cJSON *node)
{
    const struct json_place *place = find_place(doc, node);
    return place ? place->line : 0;
}

/* RFC 6901: ~ and / within a key are written ~0 and ~1. */
static void append_key(struct str *out, const char *key)
{
    for (; *key; key++) {
        if (*key == '~')
            str_append(out, "~0");
        else if (*key == '/')
            str_append(out, "~1");
        else
            str_append_char(out, *key);
    }
}

void json_pointer(const struct json_doc *doc, const cJSON *node, struct str *out)
{
    const struct json_place *path[JSON_MAX_DEPTH + 1], *place = find_place(doc, node);
    size_t n = 0;
    for (; place != NULL && place->parent != JSON_NO_PLACE; place = &doc->places.v[place->parent]) {
        assert(n <= JSON_MAX_DEPTH);
        path[n++] = place;
    }
    while (n-- > 0) {
        str_append_char(out, '/');
        if (path[n]->key)
            append_key(out, path[n]->key);
        else
            str_append_u64(out, path[n]->index);
    }
}

/* The source text of a value, *n its length; NULL when it is none of this document's. */
static const char *source_of(const struct json_doc *doc, const cJSON *node, size_t *n)
{
    const struct json_place *place = find_place(doc, node);
    if (place == NULL) return NULL;
    *n = place->end - place->start;
    return doc->text + place->start;
}

const char *json_number_text(struct json_doc *doc, const cJSON *node)
{
    size_t n;
    const char *source = cJSON_IsNumber(node) ? source_of(doc, node, &n) : NULL;
    return source ? arena_strndup(&doc->arena, source, n) : NULL;
}

void json_error(struct json_doc *doc, const cJSON *node, const char *fmt, ...)
{
    struct str pointer = {0};
    va_list args;
    json_pointer(doc, node, &pointer);
    va_start(args, fmt);
    diag_add(doc->diag, DIAG_ERROR, doc->file, json_line(doc, node), str_text(&pointer), fmt, args);
    va_end(args);
    str_free(&pointer);
}
