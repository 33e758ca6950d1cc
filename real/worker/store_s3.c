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

/* What an earlier checkpoint of this step consisted of is nameless from then on. */
static bool commit_s3(struct store *s, int64_t step, uint64_t token, struct diag *d)
{
    struct arena a = {0};
    struct str text = {0};
    struct manifest m = {.step = step, .token = token};
    bool ok = describe_all(s, &m, d);
    if (ok) manifest_write(&m, &text);
    ok = ok && done(s, s3_put(s->state, manifest_key(&a, step), text.s, text.n, d));
    manifest_free(&m);
    str_free(&text);
    arena_free(&a);
    return ok;
}

/* A store that is down keeps them until the next save. */
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

/* ---- what is no longer needed ---- */

/* The keys of one step, which stand together in a list. */
struct step_keys {
    int64_t step; /* -1: no checkpoint's */
    const char *const *v;
    size_t n;
    const char *manifest; /* its key; NULL: there is none */
};

static struct step_keys step_at(const struct s3_keys *keys, size_t at)
{
    struct step_keys k = {.step = -1, .v = keys->list.v + at};
    for (; at + k.n < keys->list.n; k.n++) {
        const char *rest = "";
        int64_t step = store_step_of(k.v[k.n], &rest);
        if (*rest != '.') step = -1;
        if (k.n > 0 && step != k.step) break;
        k.step = step;
        if (str_equal(rest, ".manifest")) k.manifest = k.v[k.n];
    }
    return k;
}

/* The name first. What begins with `keep` (NULL: nothing) stays. */
static bool delete_step(struct store *s, const struct step_keys *k, const char *keep, struct diag *d)
{
    bool ok = keep || !k->manifest || done(s, s3_delete(s->state, k->manifest, d));
    for (size_t i = 0; ok && i < k->n; i++)
        if (k->v[i] != k->manifest && !(keep && str_starts_with(k->v[i], keep))) ok = done(s, s3_delete(s->state, k->v[i], d));
    return ok;
}

/* The name first, whatever is listed then. */
static bool remove_s3(struct store *s, int64_t step, struct diag *d)
{
    struct arena a = {0};
    struct s3_keys keys = {0};
    bool ok = done(s, s3_delete(s->state, manifest_key(&a, step), d)) &&
              done(s, s3_list(s->state, arena_printf(&a, STORE_STEP ".", (long long)step), &keys, d));
    if (ok && keys.list.n > 0) ok = delete_step(s, &(struct step_keys){.step = step, .v = keys.list.v, .n = keys.list.n}, NULL, d);
    s3_keys_free(&keys);
    arena_free(&a);
    return ok;
}

static bool of_one_life(const struct step_keys *k)
{
    const char *first = NULL;
    for (size_t i = 0; i < k->n; i++) {
        if (k->v[i] == k->manifest) continue;
        if (!first) first = k->v[i];
        if (strncmp(k->v[i], first, strcspn(first, "/") + 1) != 0) return false;
    }
    return true;
}

/* A manifest that cannot be read or understood (it is damaged, or a newer program's) may name any of them: all stay. */
static bool delete_unnamed(struct store *s, const struct step_keys *k, struct diag *d)
{
    if (!k->manifest) return delete_step(s, k, NULL, d);
    if (of_one_life(k)) return true;
    struct arena a = {0};
    struct manifest m = {0};
    struct diag unsaid = {0}; /* who loads it is told */
    bool read = read_manifest(s, k->step, &m, &unsaid), ok = !read || delete_step(s, k, folder(&a, k->step, m.token), d);
    if (!read) s->fails = false;
    manifest_free(&m);
    diag_free(&unsaid);
    arena_free(&a);
    return ok;
}

static bool tidy_s3(struct store *s, const struct store_keep *keep, struct diag *d)
{
    struct s3_keys keys = {0};
    step_list named = {0};
    struct step_keys k;
    bool ok = done(s, s3_list(s->state, "step-", &keys, d));
    for (size_t at = 0; at < keys.list.n; at += k.n)
        if ((k = step_at(&keys, at)).manifest) array_push(&named, k.step);
    int64_t from = store_keep_from(&named, keep);
    for (size_t at = 0; ok && at < keys.list.n; at += k.n) {
        k = step_at(&keys, at);
        if (k.step < 0 || (k.step > keep->step && !keep->start)) continue;
        ok = k.step < from ? delete_step(s, &k, NULL, d) : delete_unnamed(s, &k, d);
    }
    array_free(&named);
    s3_keys_free(&keys);
    return ok;
}

static bool prepare_s3(struct store *s, bool rank_0, struct diag *d)
{
    (void)d;
    if (rank_0) s3_abort_uploads(s->state, "step-");
    return true;
}

const struct store_ops store_s3_ops = {"s3://",  open_s3,   prepare_s3, list_s3,   find_s3, read_s3,
                                       write_s3, commit_s3, abandon_s3, remove_s3, tidy_s3, close_s3};
