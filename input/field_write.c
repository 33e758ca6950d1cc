/* field_write.c - writes objects by their tables.
 *
 * Numbers are written so that they read back as the same: durations as exact decimal seconds, quantities and GPUs as
 * exact decimals of 1/1000, bytes in full.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <string.h>

#include "input/field.h"

static int64_t int_at(const void *object, const struct field *f)
{
    return *(const int64_t *)(const void *)((const char *)object + f->offset);
}

static double double_at(const void *object, const struct field *f)
{
    return *(const double *)(const void *)((const char *)object + f->offset);
}

static const void *pointer_at(const void *object, const struct field *f)
{
    return *(const void *const *)(const void *)((const char *)object + f->offset);
}

static struct list list_at(const void *object, const struct field *f)
{
    return *(const struct list *)(const void *)((const char *)object + f->offset);
}

static bool is_double(const struct field *f)
{
    return f->type == TYPE_NUMBER || f->type == TYPE_FRACTION;
}

static bool is_list(const struct field *f)
{
    return f->type >= TYPE_LIST;
}

static bool is_pointer(const struct field *f)
{
    return f->type == TYPE_STRING || f->type == TYPE_ANY || f->type == TYPE_OBJECT;
}

static bool present(const void *object, const struct field *f)
{
    if (is_pointer(f)) return pointer_at(object, f) != NULL;
    if (is_double(f)) return !isnan(double_at(object, f));
    if (is_list(f)) return list_at(object, f).v != NULL;
    return int_at(object, f) != ABSENT;
}

static void write_milli(struct json_writer *w, int64_t milli)
{
    char text[40];
    uint64_t size = milli < 0 ? 0 - (uint64_t)milli : (uint64_t)milli;
    int n = snprintf(text, sizeof text, "%s%" PRIu64, milli < 0 ? "-" : "", size / 1000);
    if (size % 1000) snprintf(text + n, sizeof text - (size_t)n, ".%03" PRIu64, size % 1000);
    json_write_raw(w, text);
}

/* Items lie flavor by flavor, as they were read. */
static void write_quota(struct json_writer *w, struct list list)
{
    if (list.n == 1 && LIST_AT(list, struct quota_item, 0).flavor[0] == '\0') {
        write_milli(w, LIST_AT(list, struct quota_item, 0).milli);
        return;
    }
    const char *flavor = NULL;
    json_write_object(w);
    for (size_t i = 0; i < list.n; i++) {
        const struct quota_item *q = &LIST_AT(list, struct quota_item, i);
        if (!flavor || strcmp(flavor, q->flavor) != 0) {
            if (flavor) json_write_end(w);
            flavor = q->flavor;
            json_write_key(w, flavor);
            json_write_object_inline(w);
        }
        json_write_key(w, q->resource);
        write_milli(w, q->milli);
    }
    if (flavor) json_write_end(w);
    json_write_end(w);
}

static void write_texts(struct json_writer *w, struct list list)
{
    json_write_object(w);
    for (size_t i = 0; i < list.n; i++) {
        const struct text *t = &LIST_AT(list, struct text, i);
        json_write_key(w, t->key);
        json_write_string(w, t->text);
    }
    json_write_end(w);
}

static void write_list(struct json_writer *w, const struct field *f, struct list list)
{
    if (f->type == TYPE_QUOTA) {
        write_quota(w, list);
    } else if (f->type == TYPE_TEXTS || f->type == TYPE_STACK) {
        write_texts(w, list);
    } else if (f->type == TYPE_MAP) {
        json_write_object(w);
        for (size_t i = 0; i < list.n; i++) {
            json_write_key(w, LIST_AT(list, struct map_entry, i).key);
            object_write(w, f->sub, LIST_AT(list, struct map_entry, i).object);
        }
        json_write_end(w);
    } else {
        json_write_array(w);
        for (size_t i = 0; i < list.n; i++) {
            if (f->type == TYPE_STRINGS)
                json_write_string(w, LIST_AT(list, const char *, i));
            else
                object_write(w, f->sub, (const char *)list.v + i * f->sub->size);
        }
        json_write_end(w);
    }
}

static void write_int(struct json_writer *w, const struct field *f, int64_t x)
{
    if (f->special && x == SPECIAL) {
        json_write_string(w, f->special);
        return;
    }
    switch (f->type) {
    case TYPE_WORD: json_write_string(w, f->words[x]); return;
    case TYPE_BOOL: json_write_bool(w, x != 0); return;
    case TYPE_DURATION:
    case TYPE_GPU_TIME: json_write_seconds(w, x); return;
    case TYPE_QUANTITY:
    case TYPE_GPUS: write_milli(w, x); return;
    default: json_write_int64(w, x); return;
    }
}

static void write_field(struct json_writer *w, const struct field *f, const void *object)
{
    json_write_key(w, f->name);
    if (is_list(f))
        write_list(w, f, list_at(object, f));
    else if (is_double(f))
        json_write_double(w, double_at(object, f));
    else if (f->type == TYPE_STRING)
        json_write_string(w, pointer_at(object, f));
    else if (f->type == TYPE_ANY)
        value_write(w, pointer_at(object, f));
    else if (f->type == TYPE_OBJECT)
        object_write(w, f->sub, pointer_at(object, f));
    else
        write_int(w, f, int_at(object, f));
}

void object_write(struct json_writer *w, const struct object_type *type, const void *object)
{
    json_write_object(w);
    for (size_t i = 0; i < type->n_fields; i++)
        if (!type->fields[i].hidden && present(object, &type->fields[i])) write_field(w, &type->fields[i], object);
    json_write_end(w);
}
