/* field.c - reads an object by its table.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/field.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "input/stack.h"

/* GPU-time is kept as ns of one whole GPU: the same digits as a duration. */
const char *field_parse(const struct field *f, const char *text, int64_t *out)
{
    switch (f->type) {
    case TYPE_INT: return units_parse_int64(text, out);
    case TYPE_DURATION:
    case TYPE_GPU_TIME: return units_parse_duration(text, out);
    case TYPE_BYTES: return units_parse_bytes(text, out);
    case TYPE_BANDWIDTH: return units_parse_bandwidth(text, out);
    case TYPE_QUANTITY:
    case TYPE_GPUS: return units_parse_quantity(text, out);
    default: return "not a number";
    }
}

static int word_index(const struct field *f, const char *text)
{
    for (size_t i = 0; i < f->n_words; i++)
        if (strcmp(f->words[i], text) == 0) return (int)i;
    return -1;
}

static const char *expected(const struct field *f)
{
    static const char *const names[N_TYPES] = {
        [TYPE_STRING] = "a string",
        [TYPE_ANY] = "a value",
        [TYPE_WORD] = "a string",
        [TYPE_BOOL] = "true or false",
        [TYPE_INT] = "a whole number",
        [TYPE_DURATION] = "a duration such as \"30m\", or seconds",
        [TYPE_BYTES] = "a size such as \"80GB\" or \"16Gi\", or bytes",
        [TYPE_BANDWIDTH] = "a bandwidth such as \"400Gbps\" or \"20GB/s\", or bytes/s",
        [TYPE_QUANTITY] = "a quantity such as \"500m\", 2 or \"16Gi\"",
        [TYPE_GPUS] = "a number of GPUs such as 8 or 0.5",
        [TYPE_GPU_TIME] = "GPU-time such as \"3250s\", or GPU-seconds",
        [TYPE_NUMBER] = "a number",
        [TYPE_FRACTION] = "a fraction such as 0.8 or \"80%\"",
        [TYPE_OBJECT] = "an object",
        [TYPE_LIST] = "an array",
        [TYPE_MAP] = "an object",
        [TYPE_STRINGS] = "an array of strings",
        [TYPE_TEXTS] = "an object of strings",
        [TYPE_QUOTA] = "quantities by flavor",
        [TYPE_STACK] = "constants by name",
    };
    return names[f->type];
}

static void wrong_kind(struct reader *r, const struct field *f, const struct value *v)
{
    value_error(r->diag, v, "%s needed, this is %s %s", expected(f), strchr("aeio", value_kind_name(v)[0]) ? "an" : "a",
                value_kind_name(v));
}

static int64_t *int_of(void *object, const struct field *f)
{
    return (int64_t *)(void *)((char *)object + f->offset);
}

/* ---- scalars ---- */

/* The bound in the field's own unit. */
static void out_of_range(struct reader *r, const struct field *f, const struct value *v, bool low)
{
    int64_t bound = low ? f->min : f->max ? f->max : INT64_MAX - 1;
    int64_t unit = f->type == TYPE_GPUS || f->type == TYPE_QUANTITY ? 1000 : 1;
    if (f->type == TYPE_DURATION || f->type == TYPE_GPU_TIME) unit = NS_PER_S;
    if (low && bound == 1)
        value_error(r->diag, v, "%s is out of range: it must be above 0", v->text);
    else
        value_error(r->diag, v, "%s is out of range: at %s %" PRId64 "%s is allowed", v->text, low ? "least" : "most",
                    bound / unit, unit == NS_PER_S ? " s" : "");
}

static void set_int(struct reader *r, const struct field *f, const struct value *v, int64_t *out)
{
    bool number_ok = v->kind == VALUE_NUMBER, text_ok = v->kind == VALUE_STRING && f->type != TYPE_INT;
    if (!number_ok && !text_ok) {
        wrong_kind(r, f, v);
        return;
    }
    int64_t x;
    if (f->special && v->kind == VALUE_STRING && strcmp(v->text, f->special) == 0) {
        *out = SPECIAL;
        return;
    }
    const char *wrong = field_parse(f, v->text, &x);
    int64_t min = f->min, max = f->max;
    if (min == 0 && max == 0) min = 0, max = INT64_MAX - 1;
    if (wrong) {
        value_error(r->diag, v, "%s: %s", v->text, wrong);
        if (f->special) diag_help(r->diag, "or \"%s\"", f->special);
    } else if (x < min || x > max) {
        out_of_range(r, f, v, x < min);
    } else {
        *out = x;
    }
}

static void set_double(struct reader *r, const struct field *f, const struct value *v, double *out)
{
    double x;
    int64_t ppb;
    const char *wrong;
    if (v->kind != VALUE_NUMBER && !(f->type == TYPE_FRACTION && v->kind == VALUE_STRING)) {
        wrong_kind(r, f, v);
        return;
    }
    if (f->type == TYPE_FRACTION) {
        wrong = units_parse_fraction(v->text, &ppb);
        x = wrong ? 0 : (double)ppb / (double)PPB_PER_UNIT;
        if (!wrong && x > 1) wrong = "a fraction is between 0 and 1 (100%)";
    } else {
        wrong = units_parse_double(v->text, &x);
        if (!wrong && x < 0) wrong = "a negative number is not allowed";
    }
    if (wrong)
        value_error(r->diag, v, "%s: %s", v->text, wrong);
    else
        *out = x;
}

static void set_word(struct reader *r, const struct field *f, const struct value *v, int64_t *out)
{
    if (v->kind != VALUE_STRING) {
        wrong_kind(r, f, v);
        return;
    }
    int i = word_index(f, v->text);
    if (i < 0) {
        value_error(r->diag, v, "unknown value \"%s\"", v->text);
        diag_help_allowed(r->diag, v->text, f->words, f->n_words);
    } else {
        *out = i;
    }
}

static void set_string(struct reader *r, const struct field *f, const struct value *v, const char **out)
{
    bool scalar = v->kind == VALUE_NUMBER || v->kind == VALUE_BOOL;
    if (v->kind == VALUE_STRING || (scalar && f->any_kind)) {
        if (v->text[0] == '\0' && f->required)
            value_error(r->diag, v, "an empty string is not allowed here");
        else
            *out = v->text;
    } else {
        wrong_kind(r, f, v);
        if (scalar && r->null_is_absent) diag_help(r->diag, "quote it: \"%s\"", v->text);
    }
}

/* ---- lists and maps ---- */

static bool want(struct reader *r, const struct field *f, const struct value *v, enum value_kind kind)
{
    if (v->kind == kind) return true;
    wrong_kind(r, f, v);
    return false;
}

static void *list_alloc(struct reader *r, struct list *list, const struct value *v, size_t bytes)
{
    list->n = 0;
    return list->v = arena_calloc(r->arena, v->n ? v->n : 1, bytes);
}

static void set_list(struct reader *r, const struct field *f, const struct value *v, struct list *list)
{
    if (v->kind == VALUE_OBJECT) { /* one element may stand alone */
        list->v = object_read(r, f->sub, v);
        list->n = 1;
        return;
    }
    if (!want(r, f, v, VALUE_ARRAY)) return;
    char *to = list_alloc(r, list, v, f->sub->size);
    for (const struct value *c = v->child; c; c = c->next)
        memcpy(to + f->sub->size * list->n++, object_read(r, f->sub, c), f->sub->size);
}

static void set_map(struct reader *r, const struct field *f, const struct value *v, struct list *list)
{
    if (!want(r, f, v, VALUE_OBJECT)) return;
    struct map_entry *to = list_alloc(r, list, v, sizeof *to);
    for (const struct value *c = v->child; c; c = c->next)
        to[list->n++] = (struct map_entry){ c, c->key, object_read(r, f->sub, c) };
}

static void set_strings(struct reader *r, const struct field *f, const struct value *v, struct list *list)
{
    if (v->kind == VALUE_STRING && !r->null_is_absent) { /* one string may stand alone */
        const char **one = list->v = arena_array(r->arena, 1, const char *);
        *one = v->text;
        list->n = 1;
        return;
    }
    if (!want(r, f, v, VALUE_ARRAY)) return;
    const char **to = list_alloc(r, list, v, sizeof *to);
    for (const struct value *c = v->child; c; c = c->next) {
        if (c->kind == VALUE_STRING)
            to[list->n++] = c->text;
        else
            value_error(r->diag, c, "a string needed, this is %s", value_kind_name(c));
    }
}

static void set_texts(struct reader *r, const struct field *f, const struct value *v, struct list *list)
{
    if (!want(r, f, v, VALUE_OBJECT)) return;
    struct text *to = list_alloc(r, list, v, sizeof *to);
    for (const struct value *c = v->child; c; c = c->next) {
        if (c->kind == VALUE_STRING || (f->any_kind && (c->kind == VALUE_NUMBER || c->kind == VALUE_BOOL)))
            to[list->n++] = (struct text){ c, c->key, c->text };
        else if (c->kind != VALUE_NULL || !r->null_is_absent)
            value_error(r->diag, c, "a string needed, this is %s", value_kind_name(c));
    }
}

/* A name, an object of constants with a name among them, or a list of both; later ones win. */
static void add_stack(struct reader *r, const struct value *v, struct text *to, size_t *n)
{
    if (v->kind == VALUE_STRING) {
        to[(*n)++] = (struct text){ v, "name", v->text };
        return;
    }
    if (v->kind != VALUE_OBJECT) {
        value_error(r->diag, v, "a profile's name or an object of constants needed, this is %s", value_kind_name(v));
        return;
    }
    for (const struct value *c = v->child; c; c = c->next) {
        if (c->kind == VALUE_STRING || c->kind == VALUE_NUMBER || c->kind == VALUE_BOOL)
            to[(*n)++] = (struct text){ c, c->key, c->text };
        else
            value_error(r->diag, c, "a constant is a string, a number or true or false, this is %s",
                        value_kind_name(c));
    }
}

static void set_stack(struct reader *r, const struct value *v, struct list *list)
{
    size_t room = v->n + 1;
    for (const struct value *c = v->child; c; c = c->next) room += c->n;
    list->v = arena_array(r->arena, room, struct text);
    list->n = 0;
    if (v->kind != VALUE_ARRAY) add_stack(r, v, list->v, &list->n);
    for (const struct value *c = v->child; v->kind == VALUE_ARRAY && c; c = c->next)
        add_stack(r, c, list->v, &list->n);
}

/* ---- quotas ---- */

static void add_amount(struct reader *r, struct list *list, size_t *cap, const struct value *v, const char *flavor,
                       const char *resource)
{
    static const struct field amount = { .type = TYPE_QUANTITY };
    int64_t milli = ABSENT;
    set_int(r, &amount, v, &milli);
    if (milli == ABSENT) return;
    if (list->n == *cap) {
        struct quota_item *grown = arena_array(r->arena, *cap * 2 + 8, struct quota_item);
        if (list->n) memcpy(grown, list->v, list->n * sizeof *grown);
        list->v = grown;
        *cap = *cap * 2 + 8;
    }
    LIST_AT(*list, struct quota_item, list->n++) = (struct quota_item){ v, flavor, resource, milli };
}

static bool is_amount(const struct value *v)
{
    return v->kind == VALUE_NUMBER || v->kind == VALUE_STRING;
}

static const char *resource_name(const char *key)
{
    return strcmp(key, "gpus") == 0 ? "nvidia.com/gpu" : key;
}

/* A bare amount is GPUs of all flavors; { "h100": 8 } GPUs of one; { "h100": { "gpus": 8, "cpu": 64 } } in full. */
static void set_quota(struct reader *r, const struct field *f, const struct value *v, struct list *list)
{
    size_t cap = 0;
    if (is_amount(v)) {
        add_amount(r, list, &cap, v, "", "nvidia.com/gpu");
        return;
    }
    if (!want(r, f, v, VALUE_OBJECT)) return;
    for (const struct value *c = v->child; c; c = c->next) {
        if (is_amount(c)) {
            add_amount(r, list, &cap, c, c->key, "nvidia.com/gpu");
        } else if (c->kind == VALUE_OBJECT) {
            for (const struct value *q = c->child; q; q = q->next)
                add_amount(r, list, &cap, q, c->key, resource_name(q->key));
        } else {
            value_error(r->diag, c, "an amount of GPUs, or amounts by resource, needed; this is %s", value_kind_name(c));
        }
    }
}

/* ---- one field, one object ---- */

static void set_field(struct reader *r, const struct field *f, void *object, const struct value *v)
{
    void *to = (char *)object + f->offset;
    switch (f->type) {
    case TYPE_STRING: set_string(r, f, v, to); return;
    case TYPE_ANY: *(const struct value **)to = v; return;
    case TYPE_WORD: set_word(r, f, v, to); return;
    case TYPE_BOOL:
        if (want(r, f, v, VALUE_BOOL)) *(int64_t *)to = v->text[0] == 't';
        return;
    case TYPE_NUMBER:
    case TYPE_FRACTION: set_double(r, f, v, to); return;
    case TYPE_OBJECT: *(void **)to = object_read(r, f->sub, v); return;
    case TYPE_LIST: set_list(r, f, v, to); return;
    case TYPE_MAP: set_map(r, f, v, to); return;
    case TYPE_STRINGS: set_strings(r, f, v, to); return;
    case TYPE_TEXTS: set_texts(r, f, v, to); return;
    case TYPE_QUOTA: set_quota(r, f, v, to); return;
    case TYPE_STACK: set_stack(r, v, to); return;
    default: set_int(r, f, v, to); return;
    }
}

static void set_fallback(struct reader *r, const struct field *f, void *object)
{
    void *to = (char *)object + f->offset;
    const char *wrong = NULL;
    if (f->type == TYPE_NUMBER || f->type == TYPE_FRACTION) {
        *(double *)to = NAN;
        if (f->fallback) wrong = units_parse_double(f->fallback, to);
    } else if (f->type == TYPE_STRING) {
        *(const char **)to = f->fallback;
    } else if (f->type == TYPE_OBJECT) {
        *(void **)to = f->always ? object_read(r, f->sub, NULL) : NULL;
    } else if (f->type == TYPE_WORD || f->type == TYPE_BOOL) {
        *int_of(object, f) = !f->fallback           ? ABSENT
                             : f->type == TYPE_BOOL ? strcmp(f->fallback, "true") == 0
                                                     : word_index(f, f->fallback);
    } else if (f->type >= TYPE_INT && f->type <= TYPE_GPU_TIME) {
        *int_of(object, f) = ABSENT;
        if (f->fallback) wrong = field_parse(f, f->fallback, int_of(object, f));
    }
    assert(!wrong);
    (void)wrong;
}

static const struct field *find_field(const struct object_type *type, const char *name)
{
    for (size_t i = 0; i < type->n_fields; i++)
        if (strcmp(type->fields[i].name, name) == 0) return &type->fields[i];
    return NULL;
}

static void unknown_key(struct reader *r, const struct object_type *type, const struct value *v)
{
    const char *names[128];
    assert(type->n_fields <= 128);
    for (size_t i = 0; i < type->n_fields; i++) names[i] = type->fields[i].name;
    value_error(r->diag, v, "unknown key");
    diag_help_allowed(r->diag, v->key, names, type->n_fields);
}

static void read_members(struct reader *r, const struct object_type *type, const struct value *v, void *object)
{
    for (const struct value *c = v->child; c; c = c->next) {
        const struct field *f = find_field(type, c->key);
        if (!f) {
            if (!type->open) unknown_key(r, type, c);
        } else if (c->kind == VALUE_NULL && f->type != TYPE_ANY) {
            if (!r->null_is_absent) value_error(r->diag, c, "null is no value here; leave the key out");
        } else {
            set_field(r, f, object, c);
        }
    }
    for (size_t i = 0; i < type->n_fields; i++) {
        const struct value *m = value_member(v, type->fields[i].name);
        if (type->fields[i].required && (!m || m->kind == VALUE_NULL))
            value_error(r->diag, v, "\"%s\" is missing: %s", type->fields[i].name, type->fields[i].help);
    }
}

void *object_read(struct reader *r, const struct object_type *type, const struct value *v)
{
    void *object = arena_alloc(r->arena, type->size);
    *(const struct value **)object = v;
    for (size_t i = 0; i < type->n_fields; i++) set_fallback(r, &type->fields[i], object);
    if (!v || (v->kind == VALUE_NULL && r->null_is_absent)) return object;
    if (v->kind == VALUE_OBJECT) {
        read_members(r, type, v, object);
        if (type->check) type->check(r->diag, object);
    } else if (type->shorthand && v->kind != VALUE_NULL) {
        set_field(r, find_field(type, type->shorthand), object, v);
    } else {
        value_error(r->diag, v, "an object needed, this is %s", value_kind_name(v));
    }
    return object;
}

/* ---- places and names ---- */

const struct value *place_of(const struct value *object, const char *key)
{
    const struct value *m = key ? value_member(object, key) : NULL;
    return m ? m : object;
}

void name_error(struct diag *d, const struct value *at, const char *what, const char *word, const char *const *names,
                size_t n)
{
    value_error(d, at, "there is no %s \"%s\"", what, word);
    if (n > 0) diag_help_allowed(d, word, names, n < 40 ? n : 40);
}
