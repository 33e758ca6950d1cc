/* checkpoint_load.c - finding and reading checkpoints.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "real/worker/checkpoint.h"
#include "real/worker/checkpoint_format.h"

uint32_t shard_header_crc(struct shard_header h)
{
    h.header_crc = 0;
    return hash_crc32(0, &h, sizeof h);
}

static bool bad(struct diag *d, const char *file, const char *wrong)
{
    diag_error(d, file, 0, NULL, "%s", wrong);
    return false;
}

/* What the caller expects of each shard. */
struct wanted {
    int64_t step;
    uint64_t fingerprint;
    size_t n;
    float *parameters, *momenta;
    bool other_model; /* found out: it is of one */
};

static bool header_is_sound(const struct shard_header *h, size_t bytes, struct wanted *w, const char *file,
                            struct diag *d)
{
    if (memcmp(h->magic, CHECKPOINT_MAGIC, sizeof h->magic) != 0 || h->header_crc != shard_header_crc(*h))
        return bad(d, file, "is no shard of a checkpoint, or its header is damaged");
    if (h->step != w->step || h->shards < 1 || h->shard >= h->shards) return bad(d, file, "is of another checkpoint");
    w->other_model = h->fingerprint != w->fingerprint || h->parameters != w->n;
    if (w->other_model)
        return bad(d, file, "is of another model: --model, --hidden or the data's features or classes differ");
    if (h->first > w->n || h->count > w->n - h->first || bytes != sizeof *h + h->count * 2 * sizeof(float))
        return bad(d, file, "is cut off, or has bytes too many");
    return true;
}

/* Puts one shard into its place; *next is where the next one must begin, *shards how many there are. */
static bool take_shard(const struct store_shard *shard, const char *text, size_t bytes, struct wanted *w, uint64_t *next,
                       uint32_t *shards, struct diag *d)
{
    struct shard_header h;
    const char *file = shard->name;
    if (bytes < sizeof h) return bad(d, file, "is cut off");
    memcpy(&h, text, sizeof h);
    if (!header_is_sound(&h, bytes, w, file, d)) return false;
    if (hash_crc32(0, text + sizeof h, bytes - sizeof h) != h.data_crc || (shard->checked && shard->data_crc != h.data_crc))
        return bad(d, file, "is damaged: its checksum is another");
    if (h.first != *next) return bad(d, file, "does not follow the shard before it");
    memcpy(w->parameters + h.first, text + sizeof h, h.count * sizeof(float));
    memcpy(w->momenta + h.first, text + sizeof h + h.count * sizeof(float), h.count * sizeof(float));
    *next += h.count;
    *shards = h.shards;
    return true;
}

static bool load_shards(struct store *s, const struct store_shards *shards, struct wanted *w, struct diag *d)
{
    uint64_t next = 0;
    for (size_t i = 0; i < shards->list.n; i++) {
        const struct store_shard *shard = &shards->list.v[i];
        size_t bytes = 0;
        uint32_t of = 0;
        char *text = store_read(s, shard->name, sizeof(struct shard_header) + w->n * 2 * sizeof(float), &bytes, d);
        bool ok = text && take_shard(shard, text, bytes, w, &next, &of, d);
        free(text);
        if (ok && of != shards->list.n) return bad(d, shard->name, "its header says another number of shards than there are");
        if (!ok) return false;
    }
    return next == w->n || bad(d, shards->list.v[0].name, "and those that follow are not all of the parameters");
}

static bool load(struct store *s, struct wanted *w, struct diag *d)
{
    struct store_shards shards = {0};
    bool ok = store_find(s, w->step, &shards, d) && load_shards(s, &shards, w, d);
    store_shards_free(&shards);
    return ok;
}

bool checkpoint_load(struct store *s, int64_t step, uint64_t fingerprint, size_t n, float *parameters, float *momenta,
                     struct diag *d)
{
    return load(s, &(struct wanted){step, fingerprint, n, parameters, momenta, false}, d);
}

int64_t checkpoint_load_newest(struct store *s, uint64_t fingerprint, size_t n, float *parameters, float *momenta,
                               struct diag *d)
{
    step_list steps = {0};
    int64_t found = store_list(s, &steps, d) ? CHECKPOINT_NONE : CHECKPOINT_STORE_FAILS;
    for (size_t i = steps.n; found == CHECKPOINT_NONE && i-- > 0;) {
        struct wanted w = {steps.v[i], fingerprint, n, parameters, momenta, false};
        if (load(s, &w, d))
            found = steps.v[i];
        else if (w.other_model)
            found = CHECKPOINT_OTHER_MODEL;
        else if (s->fails)
            found = CHECKPOINT_STORE_FAILS;
    }
    array_free(&steps);
    return found;
}
