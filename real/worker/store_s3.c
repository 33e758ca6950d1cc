/* store_s3.c - checkpoints in an object store.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"
#include "real/worker/checkpoint_format.h"
#include "real/worker/manifest.h"
#include "real/worker/s3.h"
#include "real/worker/store.h"

static void *open_s3(const char *where, struct diag *d)
{
    return s3_open(where, d);
}

static void close_s3(void *state)
{
    s3_close(state);
}

/* Notes whether the store was at fault. */
static bool done(struct store *s, bool ok)
{
    s->fails = !ok && s3_failed(s->state);
    return ok;
}

static char *manifest_key(struct arena *a, int64_t step)
{
    return arena_printf(a, STORE_STEP ".manifest", (long long)step);
}

/* The token as it stands in a key. */
static char *folder(struct arena *a, int64_t step, uint64_t token)
{
    return arena_printf(a, STORE_STEP ".%016llx/", (long long)step, (unsigned long long)token);
}

/* ---- reading ---- */

static bool list_s3(struct store *s, step_list *steps, struct diag *d)
{
    struct s3_keys keys = {0};
    bool ok = done(s, s3_list(s->state, "step-", &keys, d));
    for (size_t i = 0; ok && i < keys.list.n; i++) {
        const char *rest;
        int64_t step = store_step_of(keys.list.v[i], &rest);
        if (step >= 0 && str_equal(rest, ".manifest")) array_push(steps, step);
    }
    s3_keys_free(&keys);
    return ok;
}

static bool read_manifest(struct store *s, int64_t step, struct manifest *m, struct diag *d)
{
    struct arena a = {0};
    size_t bytes, whole;
    const char *key = manifest_key(&a, step);
    char *text = s3_get(s->state, key, MANIFEST_BYTES_MAX, &bytes, &whole, d);
    bool ok = done(s, text != NULL) && manifest_read(s3_name(s->state, &a, key), text, bytes, step, m, d);
    free(text);
    arena_free(&a);
    return ok;
}

static bool find_s3(struct store *s, int64_t step, struct store_shards *shards, struct diag *d)
{
    struct manifest m = {0};
    bool ok = read_manifest(s, step, &m, d);
    for (int i = 0; ok && i < m.shards; i++) {
        const char *key = arena_printf(&shards->arena, "%s" STORE_SHARD, folder(&shards->arena, step, m.token), i, m.shards);
        array_push(&shards->list, (struct store_shard){s3_name(s->state, &shards->arena, key), true, m.data_crc[i]});
    }
    manifest_free(&m);
    return ok;
}

/* From the name that find gave back to the key, which begins at the step. */
static char *read_s3(struct store *s, const char *name, size_t limit, size_t *bytes, struct diag *d)
{
    size_t whole = 0;
    const char *key = strrchr(name, '/');
    while (key > name && key[-1] != '/') key--;
    char *text = s3_get(s->state, key, limit, bytes, &whole, d);
    done(s, text != NULL);
    if (!text || whole <= limit) return text;
    diag_error(d, name, 0, NULL, "has %zu bytes, more than it can have", whole);
    free(text);
    return NULL;
}

/* ---- writing ---- */

static bool write_s3(struct store *s, const struct store_part *p, const void *data, size_t n, struct diag *d)
{
    struct arena a = {0};
    const char *key = arena_printf(&a, "%s" STORE_SHARD, folder(&a, p->step, p->token), p->shard, p->shards);
    bool ok = done(s, s3_put(s->state, key, data, n, d));
    arena_free(&a);
    return ok;
}

/* Removes what begins with the step, but for its manifest and what lies in folder `keep` (NULL: all). */
static bool remove_shards(struct store *s, int64_t step, const char *keep, struct diag *d)
{
    struct arena a = {0};
    struct s3_keys keys = {0};
    bool ok = done(s, s3_list(s->state, arena_printf(&a, STORE_STEP ".", (long long)step), &keys, d));
    for (size_t i = 0; ok && i < keys.list.n; i++) {
        const char *key = keys.list.v[i];
        if (!str_ends_with(key, ".manifest") && !(keep && str_starts_with(key, keep))) ok = done(s, s3_delete(s->state, key, d));
    }
    s3_keys_free(&keys);
    arena_free(&a);
    return ok;
}

static bool remove_s3(struct store *s, int64_t step, struct diag *d)
{
    struct arena a = {0};
    bool ok = done(s, s3_delete(s->state, manifest_key(&a, step), d)) && remove_shards(s, step, NULL, d);
    arena_free(&a);
    return ok;
}

/* What the manifest says of a shard is read from the shard as it lies in the store. */
static bool describe(struct store *s, const char *key, int shard, struct manifest *m, struct diag *d)
{
    struct shard_header h;
    size_t bytes, whole;
    char *text = s3_get(s->state, key, sizeof h, &bytes, &whole, d);
    bool ok = done(s, text != NULL);
    if (ok) memcpy(&h, text, bytes);
    if (ok && (bytes != sizeof h || h.header_crc != shard_header_crc(h) || h.shard != (uint32_t)shard || h.step != m->step ||
               h.shards != (uint32_t)m->shards || whole != sizeof h + h.count * 2 * sizeof(float))) {
        diag_error(d, key, 0, NULL, "is not the shard that was written");
        ok = false;
    }
    if (ok) m->data_crc[shard] = h.data_crc;
    free(text);
    return ok;
}

/* How many there are stands in their keys; and each must be there. */
static bool describe_all(struct store *s, struct manifest *m, struct diag *d)
{
    struct arena a = {0};
    struct s3_keys keys = {0};
    const char *in = folder(&a, m->step, m->token);
    int shard, shards = 0;
    bool ok = done(s, s3_list(s->state, in, &keys, d));
    if (ok && keys.list.n > 0 && sscanf(keys.list.v[0] + strlen(in), "shard-%d-of-%d", &shard, &shards) != 2) shards = 0;
    if (ok && (shards < 1 || keys.list.n != (size_t)shards)) {
        diag_error(d, in, 0, NULL, "the store lists %zu shards of %d", keys.list.n, shards);
        ok = false;
    }
    m->shards = shards;
    m->data_crc = xcalloc((size_t)(ok ? shards : 0), sizeof *m->data_crc);
    for (int i = 0; ok && i < shards; i++) ok = describe(s, keys.list.v[i], i, m, d);
    s3_keys_free(&keys);
    arena_free(&a);
    return ok;
}

/* remove_shards where they are only no longer needed. */
static void clear_shards(struct store *s, int64_t step, const char *keep, struct diag *d)
{
    struct diag left = {0};
    remove_shards(s, step, keep, &left);
    s->fails = false;
    store_warn(d, &left);
}

/* Once it has its name, what an earlier checkpoint of this name consisted of goes. */
static bool commit_s3(struct store *s, int64_t step, uint64_t token, struct diag *d)
{
    struct arena a = {0};
    struct str text = {0};
    struct manifest m = {.step = step, .token = token};
    bool ok = describe_all(s, &m, d);
    if (ok) manifest_write(&m, &text);
    ok = ok && done(s, s3_put(s->state, manifest_key(&a, step), text.s, text.n, d));
    if (ok) clear_shards(s, step, folder(&a, step, token), d);
    manifest_free(&m);
    str_free(&text);
    arena_free(&a);
    return ok;
}

/* A store that is down keeps them until the next life sweeps. */
static void abandon_s3(struct store *s, int64_t step, uint64_t token)
{
    struct arena a = {0};
    struct s3_keys keys = {0};
    struct diag unsaid = {0}; /* that it failed is told already */
    bool ok = s3_list(s->state, folder(&a, step, token), &keys, &unsaid);
    for (size_t i = 0; ok && i < keys.list.n; i++) ok = s3_delete(s->state, keys.list.v[i], &unsaid);
    s3_keys_free(&keys);
    diag_free(&unsaid);
    arena_free(&a);
}

/* Of each step, shards that its manifest does not name, or that have none. A manifest that is there and cannot be understood (it is
 * damaged, or a newer program's) may name any of them: all stay. */
static bool sweep_step(struct store *s, int64_t step, bool has_manifest, struct diag *d)
{
    struct arena a = {0};
    struct manifest m = {0};
    struct diag told = {0};
    bool read = has_manifest && read_manifest(s, step, &m, &told), ok = read || !has_manifest || !s->fails;
    if (!ok) diag_error(d, s->where, 0, NULL, "%s", told.entries.v[0].text);
    if (read || !has_manifest) clear_shards(s, step, read ? folder(&a, step, m.token) : NULL, d);
    manifest_free(&m);
    diag_free(&told);
    arena_free(&a);
    return ok;
}

/* Whether the key of this step's manifest is among those from `at` on, which are in order. */
static bool lists_manifest(const struct s3_keys *keys, size_t at, int64_t step)
{
    const char *rest = "";
    for (; at < keys->list.n && store_step_of(keys->list.v[at], &rest) == step; at++)
        if (str_equal(rest, ".manifest")) return true;
    return false;
}

static bool prepare_s3(struct store *s, bool sweep, struct diag *d)
{
    struct s3_keys keys = {0};
    if (!sweep) return true;
    bool ok = done(s, s3_list(s->state, "step-", &keys, d));
    int64_t last = -1;
    for (size_t i = 0; ok && i < keys.list.n; i++) {
        const char *rest;
        int64_t step = store_step_of(keys.list.v[i], &rest);
        if (step < 0 || step == last || *rest != '.' || str_equal(rest, ".manifest")) continue;
        ok = sweep_step(s, step, lists_manifest(&keys, i, step), d);
        last = step;
    }
    if (ok) s3_abort_uploads(s->state, "step-");
    s3_keys_free(&keys);
    return ok;
}

const struct store_ops store_s3_ops = {"s3://",  open_s3,   prepare_s3, list_s3,   find_s3, read_s3,
                                       write_s3, commit_s3, abandon_s3, remove_s3, close_s3};
