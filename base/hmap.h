/* hmap.h - hash map with the order of insertion, and string interning.
 *
 * A map goes from strings, or from uint64 keys, to a uint64 value or a pointer (never both kinds of key in one map).
 * String keys are copied. Iteration is in the order of first insertion, whatever the hash, so results never depend on
 * addresses.
 *
 *     struct hmap m = {0};                              // all zero is the empty map
 *     hmap_put_str(&m, "lab", 3);
 *     uint64_t v;
 *     if (hmap_get_str(&m, "lab", &v)) ...
 *     const struct hmap_entry *e;
 *     for (size_t i = 0; (e = hmap_next(&m, &i)) != NULL;) printf("%s %lu\n", e->str, e->value);
 *     hmap_free(&m);
 *
 * Open addressing with linear probes over 32-bit indices into an entry list; at most 3/4 full.
 * Cost: O(1) expected; 24 bytes an entry and about 8 of index, beside the copied keys. At most 2^31 entries.
 * While iterating, entries may be deleted; nothing may be put.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_BASE_HMAP_H
#define TRAINYARD_BASE_HMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct hmap_entry {
    uint64_t key;    /* the uint64 key, or the string's hash */
    const char *str; /* the map's copy of the string key; NULL with uint64 keys */
    union {
        uint64_t value;
        void *ptr;
    };
};

struct hmap {
    struct hmap_entry *entries; /* in order of insertion, deleted ones marked */
    uint32_t *slots;            /* 0 empty, else entry + 1 */
    size_t n;                   /* live entries */
    size_t used, cap;           /* entries in use, with the deleted ones; room */
    size_t n_slots;             /* a power of two, or 0 */
    struct arena keys;
};

/* Put: true when the key is new, false when an old value was replaced (the place in the order stays). */
bool hmap_put_str(struct hmap *m, const char *key, uint64_t value);
bool hmap_put_u64(struct hmap *m, uint64_t key, uint64_t value);
bool hmap_put_str_ptr(struct hmap *m, const char *key, void *ptr);
bool hmap_put_u64_ptr(struct hmap *m, uint64_t key, void *ptr);

/* Get: false when absent, and *value is untouched; value may be NULL. The _ptr forms give NULL when absent. */
bool hmap_get_str(const struct hmap *m, const char *key, uint64_t *value);
bool hmap_get_u64(const struct hmap *m, uint64_t key, uint64_t *value);
void *hmap_get_str_ptr(const struct hmap *m, const char *key);
void *hmap_get_u64_ptr(const struct hmap *m, uint64_t key);

/* As hmap_get_str for a key that is not NUL-terminated. */
bool hmap_get_strn(const struct hmap *m, const char *key, size_t n, uint64_t *value);

/* Delete, of uint64 keys: false when absent. Memory comes back at the next growth. */
bool hmap_del_u64(struct hmap *m, uint64_t key);

/* The next live entry at or after *i, which is moved behind it; NULL at the end. Start with 0. */
const struct hmap_entry *hmap_next(const struct hmap *m, size_t *i);

void hmap_free(struct hmap *m);

/* Interning: each distinct string gets the next id from 0. Ids and texts stay until intern_free.
 *
 *     struct intern names = {0};
 *     uint32_t id = intern_id(&names, "research");
 *     puts(intern_text(&names, id));
 */
struct intern {
    struct hmap map;
};

#define INTERN_NONE UINT32_MAX

uint32_t intern_id(struct intern *t, const char *text);
uint32_t intern_idn(struct intern *t, const char *text, size_t n);

/* The id of a known text, else INTERN_NONE. */
uint32_t intern_find(const struct intern *t, const char *text);

const char *intern_text(const struct intern *t, uint32_t id);
uint32_t intern_count(const struct intern *t);
void intern_free(struct intern *t);

#endif
