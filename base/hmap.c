/* hmap.c - hash map with the order of insertion, and string interning.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/hmap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

/* An entry that was deleted has this address as its string. */
static const char deleted[] = "";

static bool is_live(const struct hmap_entry *e)
{
    return e->str != deleted;
}

/* Keys are often small consecutive numbers: spread them over the high bits, which choose the slot. */
static uint64_t spread(uint64_t key)
{
    key ^= key >> 32;
    key *= UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 29;
}

/* What is looked for: a number, or a string of n bytes with its hash as the key. */
struct wanted {
    uint64_t key;
    const char *str; /* NULL for numbers */
    size_t n;
};

static struct wanted want_strn(const char *str, size_t n)
{
    return (struct wanted){hash64(str, n), str, n};
}

static struct wanted want_u64(uint64_t key)
{
    return (struct wanted){key, NULL, 0};
}

static bool matches(const struct hmap_entry *e, const struct wanted *w)
{
    if (e->key != w->key || !is_live(e)) return false;
    if (w->str == NULL) return true;
    return strncmp(e->str, w->str, w->n) == 0 && e->str[w->n] == '\0';
}

/* The slot that holds the wanted entry, or the empty one where the search ended. */
static size_t find_slot(const struct hmap *m, const struct wanted *w)
{
    size_t mask = m->n_slots - 1;
    size_t at = spread(w->key) & mask;
    while (m->slots[at] != 0 && !matches(&m->entries[m->slots[at] - 1], w)) at = (at + 1) & mask;
    return at;
}

static struct hmap_entry *find(const struct hmap *m, const struct wanted *w)
{
    if (m->n == 0) return NULL;
    uint32_t slot = m->slots[find_slot(m, w)];
    return slot ? &m->entries[slot - 1] : NULL;
}

/* Squeezes the deleted entries out: strings are not deleted, so no key has to move. */
static void compact(struct hmap *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->used; i++)
        if (is_live(&m->entries[i])) m->entries[n++] = m->entries[i];
    m->used = n;
}

static void rebuild_slots(struct hmap *m, size_t n_slots)
{
    if (n_slots != m->n_slots) m->slots = xreallocarray(m->slots, n_slots, sizeof *m->slots);
    m->n_slots = n_slots;
    memset(m->slots, 0, n_slots * sizeof *m->slots);
    for (size_t i = 0; i < m->used; i++) {
        size_t at = spread(m->entries[i].key) & (n_slots - 1);
        while (m->slots[at] != 0) at = (at + 1) & (n_slots - 1);
        m->slots[at] = (uint32_t)i + 1;
    }
}

/* Room for one more entry: squeeze when half of them are deleted, else double. */
static void make_room(struct hmap *m)
{
    if (m->used < m->cap) return;
    if (m->used != m->n) compact(m);
    if (m->n > m->cap / 2 || m->cap == 0) {
        m->cap = m->cap ? m->cap * 2 : 12;
        assert(m->cap < UINT32_MAX);
        m->entries = xreallocarray(m->entries, m->cap, sizeof *m->entries);
    }
    rebuild_slots(m, m->cap / 3 * 4);
}

static bool put(struct hmap *m, const struct wanted *w, struct hmap_entry value)
{
    struct hmap_entry *e = find(m, w);
    if (e != NULL) {
        e->value = value.value;
        return false;
    }
    make_room(m);
    e = &m->entries[m->used++];
    *e = (struct hmap_entry){.key = w->key, .str = w->str ? arena_strndup(&m->keys, w->str, w->n) : NULL};
    e->value = value.value;
    m->slots[find_slot(m, w)] = (uint32_t)m->used;
    m->n++;
    return true;
}

static bool get(const struct hmap *m, const struct wanted *w, uint64_t *value)
{
    const struct hmap_entry *e = find(m, w);
    if (e == NULL) return false;
    if (value != NULL) *value = e->value;
    return true;
}

static bool del(struct hmap *m, const struct wanted *w)
{
    struct hmap_entry *e = find(m, w);
    if (e == NULL) return false;
    e->str = deleted; /* its slot stays taken, so that searches walk past it */
    m->n--;
    return true;
}

bool hmap_put_str(struct hmap *m, const char *key, uint64_t value)
{
    struct wanted w = want_strn(key, strlen(key));
    return put(m, &w, (struct hmap_entry){.value = value});
}

bool hmap_put_u64(struct hmap *m, uint64_t key, uint64_t value)
{
    struct wanted w = want_u64(key);
    return put(m, &w, (struct hmap_entry){.value = value});
}

bool hmap_put_str_ptr(struct hmap *m, const char *key, void *ptr)
{
    return hmap_put_str(m, key, (uintptr_t)ptr);
}

bool hmap_put_u64_ptr(struct hmap *m, uint64_t key, void *ptr)
{
    return hmap_put_u64(m, key, (uintptr_t)ptr);
}

bool hmap_get_strn(const struct hmap *m, const char *key, size_t n, uint64_t *value)
{
    struct wanted w = want_strn(key, strnlen(key, n));
    return get(m, &w, value);
}

bool hmap_get_str(const struct hmap *m, const char *key, uint64_t *value)
{
    return hmap_get_strn(m, key, strlen(key), value);
}

bool hmap_get_u64(const struct hmap *m, uint64_t key, uint64_t *value)
{
    struct wanted w = want_u64(key);
    return get(m, &w, value);
}

void *hmap_get_str_ptr(const struct hmap *m, const char *key)
{
    uint64_t value = 0;
    return hmap_get_str(m, key, &value) ? (void *)(uintptr_t)value : NULL;
}

void *hmap_get_u64_ptr(const struct hmap *m, uint64_t key)
{
    uint64_t value = 0;
    return hmap_get_u64(m, key, &value) ? (void *)(uintptr_t)value : NULL;
}

bool hmap_del_u64(struct hmap *m, uint64_t key)
{
    struct wanted w = want_u64(key);
    return del(m, &w);
}

const struct hmap_entry *hmap_next(const struct hmap *m, size_t *i)
{
    while (*i < m->used) {
        const struct hmap_entry *e = &m->entries[(*i)++];
        if (is_live(e)) return e;
    }
    return NULL;
}

void hmap_free(struct hmap *m)
{
    free(m->entries);
    free(m->slots);
    arena_free(&m->keys);
    *m = (struct hmap){0};
}

uint32_t intern_idn(struct intern *t, const char *text, size_t n)
{
    n = strnlen(text, n);
    struct wanted w = want_strn(text, n);
    uint64_t id = t->map.n;
    if (!get(&t->map, &w, &id)) put(&t->map, &w, (struct hmap_entry){.value = id});
    return (uint32_t)id;
}

uint32_t intern_id(struct intern *t, const char *text)
{
    return intern_idn(t, text, strlen(text));
}

uint32_t intern_find(const struct intern *t, const char *text)
{
    uint64_t id = INTERN_NONE;
    hmap_get_str(&t->map, text, &id);
    return (uint32_t)id;
}

const char *intern_text(const struct intern *t, uint32_t id)
{
    assert(id < t->map.n); /* nothing is ever deleted here, so entry and id are the same number */
    return t->map.entries[id].str;
}

uint32_t intern_count(const struct intern *t)
{
    return (uint32_t)t->map.n;
}

void intern_free(struct intern *t)
{
    hmap_free(&t->map);
}
