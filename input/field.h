/* field.h - objects of a scenario as tables: one row a key, from which reader, writer, schema and manual all work.
 *
 *     struct raw_image { const struct value *at; int64_t size, pull; double cached; };
 *     static const struct field image_fields[] = {
 *         FIELD(raw_image, size, "size", TYPE_BYTES, .fallback = "0", .help = "size of a job's image"), ...
 *     };
 *     const struct object_type image_type = OBJECT(raw_image, image_fields, "images", "How images come to the nodes.");
 *     struct raw_image *image = object_read(&reader, &image_type, value);    // never NULL; errors are in reader.diag
 *
 * Each struct begins with `const struct value *at`, the place that it was read from (NULL when it was not given), so
 * that later checks can report there. Memory of a field by type:
 *
 *     STRING, ANY           const char *, const struct value *              absent: NULL
 *     WORD, BOOL, INT, DURATION (ns), BYTES, BANDWIDTH (bytes/s), QUANTITY (milli), GPUS (shares), GPU_TIME (share-ns / 1000)
 *                           int64_t                                         absent: ABSENT
 *     NUMBER, FRACTION      double                                          absent: NAN
 *     OBJECT                pointer to the sub-object                       absent: NULL, unless `always`
 *     LIST, MAP             struct list of sub-objects; STRINGS of const char *; TEXTS of struct text
 *     QUOTA                 struct list of struct quota_item
 *     STACK                 struct list of struct text, checked against the stack constants
 *
 * A `fallback` is text in the field's own syntax and is used when the key is absent. `shorthand` names the field that a
 * bare string, number or list stands for: "stack": "kueue-0.18" is { "name": "kueue-0.18" }.
 * Types marked `open` ignore keys that they do not list (pod templates); all others report each unknown key.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_FIELD_H
#define TRAINYARD_INPUT_FIELD_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/json_write.h"
#include "base/str.h"
#include "input/value.h"

#define ABSENT  INT64_MIN
#define SPECIAL (INT64_MIN + 1)

enum field_type {
    TYPE_STRING, TYPE_ANY, TYPE_WORD, TYPE_BOOL, TYPE_INT, TYPE_DURATION, TYPE_BYTES, TYPE_BANDWIDTH,
    TYPE_QUANTITY, TYPE_GPUS, TYPE_GPU_TIME, TYPE_NUMBER, TYPE_FRACTION, TYPE_OBJECT, TYPE_LIST, TYPE_MAP,
    TYPE_STRINGS, TYPE_TEXTS, TYPE_QUOTA, TYPE_STACK, N_TYPES
};

struct object_type;

struct field {
    const char *name;
    enum field_type type;
    size_t offset;
    const char *help;
    const char *fallback;
    const struct object_type *sub; /* OBJECT, LIST, MAP */
    const char *const *words;      /* WORD */
    size_t n_words;
    int64_t min, max;  /* INT and the int64_t quantities; both 0: 0 .. INT64_MAX for units, any for INT */
    const char *special; /* int64_t quantities: a word that may stand for one, read as SPECIAL */
    bool required;
    bool always;       /* OBJECT: made of fallbacks when absent */
    bool hidden;       /* read, and written nowhere: a profile's name, whose content stands in the other keys */
    bool any_kind;     /* STRING: numbers and booleans are taken as their text (nProcPerNode) */
};

struct object_type {
    const char *name, *help;
    size_t size;
    const struct field *fields;
    size_t n_fields;
    const char *shorthand;
    bool open;
    bool (*check)(struct diag *d, void *object); /* further rules within one object, or NULL */
};

#define FIELD(struct_tag, member, key, kind, ...)                                                                      \
    { .name = (key), .type = (kind), .offset = offsetof(struct struct_tag, member), __VA_ARGS__ }
#define OBJECT(struct_tag, table, key, text, ...)                                                                      \
    { .name = (key), .help = (text), .size = sizeof(struct struct_tag), .fields = (table),                             \
      .n_fields = sizeof(table) / sizeof *(table), __VA_ARGS__ }
#define WORDS(table) .words = (table), .n_words = sizeof(table) / sizeof *(table)

struct list { void *v; size_t n; };
#define LIST_AT(list, type, i) (((type *)(list).v)[i]) /* of structs, texts, quota items; strings: const char * */

struct text { const struct value *at; const char *key, *text; };
struct map_entry { const struct value *at; const char *key; void *object; };
/* flavor "" stands for all flavors of the queue; unlimited amounts are left out */
struct quota_item { const struct value *at; const char *flavor, *resource; int64_t milli; };

struct reader {
    struct arena *arena;
    struct diag *diag;
    bool null_is_absent; /* Kubernetes objects */
};

/* `v` NULL: an object of fallbacks only. Wrong kind: reported, and an object of fallbacks. */
void *object_read(struct reader *r, const struct object_type *type, const struct value *v);

/* Writes the object with every present field; what was absent and has no fallback stays absent. */
void object_write(struct json_writer *w, const struct object_type *type, const void *object);

/* The value of one int64_t field from text: NULL and *out, or what is wrong. */
const char *field_parse(const struct field *f, const char *text, int64_t *out);

/* A reference to a name that does not exist: "no queue \"x\"" and did-you-mean among the names. */
void name_error(struct diag *d, const struct value *at, const char *what, const char *word, const char *const *names,
                size_t n);

/* The place of a member for reports: the member when it was given, else the object, else the nearest above. */
const struct value *place_of(const struct value *object, const char *key);

#endif
