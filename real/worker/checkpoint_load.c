/* checkpoint_load.c - finding and reading checkpoints.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/units.h"
#include "real/worker/checkpoint.h"
#include "real/worker/checkpoint_format.h"

uint32_t shard_header_crc(struct shard_header h)
{
    h.header_crc = 0;
    return hash_crc32(0, &h, sizeof h);
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

bool checkpoint_list(const char *dir, step_list *steps, struct diag *d)
{
    DIR *open = opendir(dir);
    if (!open && errno == ENOENT) return true;
    if (!open) return diag_error(d, dir, 0, NULL, "cannot list: %s", strerror(errno)), false;
    for (struct dirent *e; (e = readdir(open)) != NULL;) {
        int64_t step;
        if (strlen(e->d_name) == 15 && str_starts_with(e->d_name, "step-") &&
            !units_parse_int64(e->d_name + 5, &step) && step >= 0)
            array_push(steps, step);
    }
    closedir(open);
    array_sort(steps, ascending);
    return true;
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

/* Reads one shard into its place; *next is where the next one must begin, *shards how many there are. */
static bool load_shard(const char *file, struct wanted *w, uint64_t *next, uint32_t *shards, struct diag *d)
{
    size_t bytes;
    char *text = file_read(file, sizeof(struct shard_header) + w->n * 2 * sizeof(float), &bytes, d);
    struct shard_header h;
    bool ok = text != NULL;
    if (ok && bytes < sizeof h) ok = bad(d, file, "is cut off");
    if (ok) memcpy(&h, text, sizeof h);
    ok = ok && header_is_sound(&h, bytes, w, file, d);
    if (ok && hash_crc32(0, text + sizeof h, bytes - sizeof h) != h.data_crc)
        ok = bad(d, file, "is damaged: its checksum is another");
    if (ok && h.first != *next) ok = bad(d, file, "does not follow the shard before it");
    if (ok) {
        memcpy(w->parameters + h.first, text + sizeof h, h.count * sizeof(float));
        memcpy(w->momenta + h.first, text + sizeof h + h.count * sizeof(float), h.count * sizeof(float));
        *next += h.count;
        *shards = h.shards;
    }
    free(text);
    return ok;
}

/* The number of shards stands in their names; the first tells it. */
static int count_shards(const char *path)
{
    int shards = 0;
    DIR *open = opendir(path);
    for (struct dirent *e; open && (e = readdir(open)) != NULL;) {
        int shard, of;
        if (sscanf(e->d_name, "shard-%d-of-%d", &shard, &of) == 2 && of > shards) shards = of;
    }
    if (open) closedir(open);
    return shards;
}

static bool load(const char *dir, struct wanted *w, struct diag *d)
{
    struct arena a = {0};
    const char *path = arena_printf(&a, CHECKPOINT_NAME, dir, (long long)w->step);
    int shards = count_shards(path);
    bool ok = shards > 0 || bad(d, path, "there is no such checkpoint, or it has no shard");
    uint64_t next = 0;
    for (int i = 0; ok && i < shards; i++) {
        const char *file = arena_printf(&a, SHARD_NAME, path, i, shards);
        uint32_t of = 0;
        ok = load_shard(file, w, &next, &of, d);
        if (ok && of != (uint32_t)shards) ok = bad(d, file, "its name says another number of shards than its header");
    }
    if (ok && next != w->n) ok = bad(d, path, "its shards are not all of the parameters");
    arena_free(&a);
    return ok;
}

bool checkpoint_load(const char *dir, int64_t step, uint64_t fingerprint, size_t n, float *parameters, float *momenta,
                     struct diag *d)
{
    return load(dir, &(struct wanted){step, fingerprint, n, parameters, momenta, false}, d);
}

int64_t checkpoint_load_newest(const char *dir, uint64_t fingerprint, size_t n, float *parameters, float *momenta,
                               struct diag *d)
{
    step_list steps = {0};
    int64_t found = checkpoint_list(dir, &steps, d) ? -1 : -2;
    for (size_t i = steps.n; found == -1 && i-- > 0;) {
        struct wanted w = {steps.v[i], fingerprint, n, parameters, momenta, false};
        if (load(dir, &w, d))
            found = steps.v[i];
        else if (w.other_model)
            found = -2;
    }
    array_free(&steps);
    return found;
}
