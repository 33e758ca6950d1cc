/* checkpoint_save.c - writing, naming and removing checkpoints.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "real/worker/checkpoint.h"
#include "real/worker/checkpoint_format.h"
#include "real/worker/net.h"

struct saver {
    struct store *store;
    struct saver_options options;
    int rank, size;
    uint64_t token, fingerprint;
    _Atomic int64_t down_until_ns;

    pthread_t thread;
    pthread_mutex_t lock; /* of state */
    enum saver_state state;
    bool running; /* a thread is to be joined */
    bool cannot_remove; /* told already */
    int64_t step;
    char *bytes; /* the shard: header and floats */
    size_t n;
    struct diag diag; /* of the thread while it runs */
};

bool checkpoint_drop_newer(struct store *s, int64_t step, struct diag *d)
{
    step_list steps = {0};
    bool ok = store_list(s, &steps, d);
    for (size_t i = steps.n; ok && i-- > 0 && steps.v[i] > step;) ok = store_remove(s, steps.v[i], d);
    array_free(&steps);
    return ok;
}

/* What cannot be removed is in nobody's way. What is newer than `step` is none of this training's, and pushes nothing out. */
static void tidy(struct saver *s, int64_t step, bool start, struct diag *d)
{
    struct diag left = {0};
    bool removed = store_tidy(s->store, &(struct store_keep){step, s->options.keep, start}, &left);
    if (!removed && !s->cannot_remove) store_warn(d, &left);
    s->cannot_remove = !removed;
    diag_free(&left);
}

struct saver *saver_open(struct store *store, const struct saver_options *o, const struct saver_life *l, struct diag *d)
{
    if (!store_prepare(store, l->rank == 0, d)) return NULL;
    struct saver *s = xcalloc(1, sizeof *s);
    *s = (struct saver){.store = store, .options = *o, .rank = l->rank, .size = l->size, .token = l->token, .fingerprint = l->fingerprint};
    pthread_mutex_init(&s->lock, NULL);
    if (l->rank == 0) tidy(s, l->step, true, d);
    return s;
}

/* ---- a shard ---- */

static bool write_shard(struct saver *s)
{
    const struct store_part part = {s->step, s->token, s->rank, s->options.sharded ? s->size : 1};
    if (net_now_ns() >= s->down_until_ns) return store_write(s->store, &part, s->bytes, s->n, &s->diag);
    diag_error(&s->diag, s->store->where, 0, NULL, "the store is down");
    return false;
}

static void *run(void *arg)
{
    struct saver *s = arg;
    bool ok = write_shard(s);
    pthread_mutex_lock(&s->lock);
    s->state = ok ? SAVER_WRITTEN : SAVER_FAILED;
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void fill(struct saver *s, size_t n, const float *parameters, const float *momenta)
{
    size_t rank = (size_t)s->rank, size = (size_t)s->size;
    size_t first = s->options.sharded ? n * rank / size : 0, end = s->options.sharded ? n * (rank + 1) / size : n;
    size_t floats = (end - first) * sizeof(float);
    struct shard_header h = {.step = s->step,
                             .fingerprint = s->fingerprint,
                             .parameters = n,
                             .first = first,
                             .count = end - first,
                             .shard = (uint32_t)s->rank,
                             .shards = s->options.sharded ? (uint32_t)s->size : 1};
    s->n = sizeof h + 2 * floats;
    s->bytes = xrealloc(s->bytes, s->n);
    memcpy(s->bytes + sizeof h, parameters + first, floats);
    memcpy(s->bytes + sizeof h + floats, momenta + first, floats);
    memcpy(h.magic, CHECKPOINT_MAGIC, sizeof h.magic);
    h.data_crc = hash_crc32(0, s->bytes + sizeof h, 2 * floats);
    h.header_crc = shard_header_crc(h);
    memcpy(s->bytes, &h, sizeof h);
}

void saver_begin(struct saver *s, int64_t step, size_t n, const float *parameters, const float *momenta)
{
    s->step = step;
    s->state = SAVER_WRITTEN;
    if (s->rank > 0 && !s->options.sharded) return;
    s->state = SAVER_WRITING;
    fill(s, n, parameters, momenta);
    if (pthread_create(&s->thread, NULL, run, s) != 0) abort(); /* no memory for a stack */
    s->running = true;
}

enum saver_state saver_state(struct saver *s)
{
    pthread_mutex_lock(&s->lock);
    enum saver_state state = s->state;
    pthread_mutex_unlock(&s->lock);
    return state;
}

static void tell_failed(struct saver *s, struct diag *d)
{
    const struct diag_entry *e = &s->diag.entries.v[0];
    diag_error(d, e->file, 0, NULL, "cannot write the checkpoint of step %lld: %s", (long long)s->step, e->text);
    if (e->help) diag_help(d, "%s", e->help);
    diag_free(&s->diag);
}

bool saver_wait(struct saver *s, struct diag *d)
{
    if (s->running) pthread_join(s->thread, NULL);
    s->running = false;
    bool ok = s->state != SAVER_FAILED;
    if (!ok) tell_failed(s, d);
    s->state = SAVER_IDLE;
    return ok;
}

/* ---- its name ---- */

bool saver_commit(struct saver *s, struct diag *d)
{
    bool ok = store_commit(s->store, s->step, s->token, d);
    if (ok) tidy(s, s->step, false, d);
    return ok;
}

void saver_abandon(struct saver *s)
{
    store_abandon(s->store, s->step, s->token);
}

void saver_store_down_until(struct saver *s, int64_t until_ns)
{
    s->down_until_ns = until_ns;
}

void saver_close(struct saver *s)
{
    if (!s) return;
    if (s->running) pthread_join(s->thread, NULL);
    pthread_mutex_destroy(&s->lock);
    diag_free(&s->diag);
    free(s->bytes);
    free(s);
}
