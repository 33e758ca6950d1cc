/* patch.c - chooses an approach, follows `like`, and patches the tree before it is read.
 *
 * The approach's keys are those of the one it is like, its own on top (a lifecycle or stack map is merged key by key).
 * Patches are applied from the root of the `like` chain down, then the overrides of the command line; those of approaches
 * come first, as if the file said so. A patch of null removes what is there; a pointer to what does not exist yet adds it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "input/raw.h"

enum { LIKE_MAX = 32 };

static void allow_names(struct diag *d, const struct value *approaches, const char *word)
{
    const char *names[40];
    size_t n = 0;
    for (const struct value *c = approaches->child; c && n < 40; c = c->next) names[n++] = c->key;
    diag_help_allowed(d, word, names, n);
}

/* The chain from the approach to its root; 0 after an error. */
static size_t follow_like(struct build *b, const struct value *approaches, struct value *chosen,
                          struct value *chain[LIKE_MAX])
{
    size_t n = 0;
    for (struct value *v = chosen; v;) {
        for (size_t i = 0; i < n; i++)
            if (chain[i] == v) {
                value_error(b->diag, v, "\"like\" goes round in a circle: %s is like itself", v->key);
                return 0;
            }
        if (n == LIKE_MAX) {
            value_error(b->diag, v, "more than %d approaches in a row by \"like\"", LIKE_MAX);
            return 0;
        }
        chain[n++] = v;
        struct value *like = value_member(v, "like");
        if (!like) return n;
        v = like->kind == VALUE_STRING ? value_member(approaches, like->text) : NULL;
        if (!v) {
            value_error(b->diag, like, "there is no approach \"%s\"", like->text ? like->text : "");
            allow_names(b->diag, approaches, like->text ? like->text : "");
            return 0;
        }
    }
    return 0;
}

static void put(struct arena *arena, struct value *object, const char *key, struct value *v)
{
    struct value *old = value_member(object, key);
    if (old)
        value_replace(old, v);
    else
        value_append(arena, object, key, v);
}

/* Objects are merged one level deep, so that an override of one constant keeps the profile's name. */
static void merge_key(struct arena *arena, struct value *into, const struct value *from)
{
    struct value *have = value_member(into, from->key);
    if (have && have->kind == VALUE_OBJECT && from->kind == VALUE_OBJECT) {
        for (const struct value *c = from->child; c; c = c->next) put(arena, have, c->key, value_copy(arena, c));
    } else {
        put(arena, into, from->key, value_copy(arena, from));
    }
}

static struct value *merged(struct build *b, struct value *const *chain, size_t n)
{
    struct value *m = value_copy(b->arena, chain[n - 1]);
    for (size_t i = n - 1; i-- > 0;) {
        if (chain[i]->kind != VALUE_OBJECT) return value_copy(b->arena, chain[i]);
        m->line = chain[i]->line;
        for (const struct value *c = chain[i]->child; c; c = c->next)
            if (strcmp(c->key, "like") != 0 && strcmp(c->key, "patch") != 0) merge_key(b->arena, m, c);
    }
    static const char *const used[] = { "like", "patch" };
    for (size_t i = 0; i < 2; i++) {
        struct value *v = value_member(m, used[i]);
        if (v) value_remove(v);
    }
    return m;
}

static bool apply_one(struct build *b, struct value *root, const char *pointer, const struct value *with)
{
    struct value *object;
    const char *key, *wrong;
    struct value *at = value_find(b->arena, root, pointer, with->kind != VALUE_NULL, &object, &key, &wrong);
    if (wrong || at == root) {
        value_error(b->diag, with, "patch \"%s\": %s", pointer,
                    wrong ? wrong : "the whole scenario cannot be replaced; a pointer is like /run/seed");
        return false;
    }
    if (with->kind == VALUE_NULL) {
        if (at) value_remove(at);
    } else if (at) {
        value_replace(at, value_copy(b->arena, with));
    } else {
        value_append(b->arena, object, key, value_copy(b->arena, with));
    }
    return true;
}

static bool apply_patch(struct build *b, struct value *root, const struct value *approach)
{
    const struct value *patch = value_member(approach, "patch");
    bool cluster = false;
    if (!patch) return false;
    if (patch->kind != VALUE_OBJECT) {
        value_error(b->diag, patch, "an object of pointers and values needed, this is %s", value_kind_name(patch));
        return false;
    }
    for (const struct value *c = patch->child; c; c = c->next) {
        if (str_starts_with(c->key, "/approaches"))
            value_error(b->diag, c, "a patch cannot change approaches; write the keys into the approach itself");
        else
            apply_one(b, root, c->key, c);
        cluster |= str_starts_with(c->key, "/cluster");
    }
    return cluster;
}

static bool is_of_approaches(const char *override)
{
    static const char at[] = "/approaches";
    return str_starts_with(override, at) && strchr("/=", override[sizeof at - 1]);
}

static void apply_override(struct build *b, struct value *root, const char *text)
{
    const char *equals = strchr(text, '=');
    struct diag quiet = { 0 };
    if (!equals) {
        diag_error(b->diag, b->s->file, 0, NULL, "override \"%s\": POINTER=VALUE needed", text);
        return;
    }
    struct value *with = value_from_text(b->arena, b->s->file, equals + 1, &quiet);
    apply_one(b, root, arena_strndup(b->arena, text, (size_t)(equals - text)), with);
    diag_free(&quiet);
}

static void apply_overrides(struct build *b, struct value *root, const char *const *overrides, bool of_approaches)
{
    for (size_t i = 0; overrides && overrides[i]; i++)
        if (is_of_approaches(overrides[i]) == of_approaches) apply_override(b, root, overrides[i]);
}

/* An approach's runs stand in a directory of its name. */
static void check_name(struct build *b, const struct value *approach)
{
    const char *name = approach->key;
    bool control = false;
    for (const char *c = name; *c; c++) control |= (unsigned char)*c < ' ' || *c == 127;
    if (!*name || *name == '.' || strchr(name, '/') || control || strlen(name) > 200)
        value_error(b->diag, approach,
                    "no name for an approach: it is a directory's, so not empty, not longer than 200 bytes, with no / or "
                    "control characters, and no dot first");
}

static void name_approaches(struct build *b, const struct value *approaches)
{
    struct scenario *s = b->s;
    for (const struct value *c = approaches->child; c; c = c->next) check_name(b, c);
    s->approach_names = arena_array(b->arena, approaches->n + 1, const char *);
    for (const struct value *c = approaches->child; c; c = c->next) s->approach_names[s->n_approaches++] = c->key;
}

/* Leaves the merged approach as the only one. */
bool patch_apply(struct build *b, struct value *root, const char **approach, const char *const *overrides)
{
    apply_overrides(b, root, overrides, true);
    struct value *approaches = value_member(root, "approaches"), *chain[LIKE_MAX];
    if (approaches && (approaches->kind != VALUE_OBJECT || approaches->n == 0)) {
        value_error(b->diag, approaches, "an object with at least one approach needed");
        return false;
    }
    if (!approaches) {
        struct value *none = value_from_text(b->arena, b->s->file, "{\"default\": {}}", b->diag);
        value_append(b->arena, root, "approaches", none);
        approaches = none;
    }
    name_approaches(b, approaches);
    if (!*approach) *approach = approaches->child->key;
    struct value *chosen = value_member(approaches, *approach);
    if (!chosen) {
        value_error(b->diag, approaches, "there is no approach \"%s\"", *approach);
        allow_names(b->diag, approaches, *approach);
        return false;
    }
    size_t n = follow_like(b, approaches, chosen, chain);
    if (n == 0) return false;
    for (size_t i = n; i-- > 0;) b->s->approach.patches_cluster |= apply_patch(b, root, chain[i]);
    struct value *m = merged(b, chain, n), *only = value_copy(b->arena, approaches);
    while (only->child) value_remove(only->child);
    value_append(b->arena, only, *approach, m);
    value_replace(approaches, only);
    apply_overrides(b, root, overrides, false);
    return true;
}
