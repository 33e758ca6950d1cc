/* loader.c - batches in their order, read ahead by a thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/philox.h"
#include "real/worker/dataset.h"

struct loader {
    const struct dataset *data;
    struct share share;
    uint32_t *order; /* the samples of the present epoch, shuffled; the thread's */
    int64_t epoch;
    char *row;

    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct batch *ring; /* ahead + 1: one is with the caller */
    int64_t slots, made, taken, first_step;
    bool stop, failed;
    char error[160];
};

size_t share_samples(const struct share *s)
{
    return (size_t)((uint64_t)s->batch * (uint64_t)(s->rank + 1) / (uint64_t)s->size -
                    (uint64_t)s->batch * (uint64_t)s->rank / (uint64_t)s->size);
}

/* A draw below n (Lemire's multiplication; its bias below n / 2^32 does not matter for a shuffle). */
static uint32_t below(uint64_t seed, int64_t epoch, uint32_t i, uint32_t n)
{
    uint32_t draw[4];
    philox4x32_10((uint32_t[4]){i, (uint32_t)epoch, (uint32_t)(epoch >> 32), 7},
                  (uint32_t[2]){(uint32_t)seed, (uint32_t)(seed >> 32)}, draw);
    return (uint32_t)((uint64_t)draw[0] * n >> 32);
}

static void shuffle(struct loader *l, int64_t epoch)
{
    uint32_t n = l->data->shape.samples;
    for (uint32_t i = 0; i < n; i++) l->order[i] = i;
    for (uint32_t i = n - 1; i > 0; i--) {
        uint32_t j = below(l->share.seed, epoch, i, i + 1), keep = l->order[i];
        l->order[i] = l->order[j];
        l->order[j] = keep;
    }
    l->epoch = epoch;
}

static bool fail(struct loader *l, const char *what, uint32_t sample)
{
    snprintf(l->error, sizeof l->error, "sample %u of the data: %s", sample, what);
    return false;
}

static bool read_sample(struct loader *l, uint32_t sample, float *x, uint32_t *label)
{
    const struct dataset_shape *s = &l->data->shape;
    size_t bytes = ((size_t)s->features + 1) * 4;
    ssize_t got = pread(l->data->fd, l->row, bytes, (off_t)(DATASET_HEADER_BYTES + bytes * sample));
    if (got != (ssize_t)bytes) return fail(l, got < 0 ? strerror(errno) : "the file was cut off", sample);
    memcpy(x, l->row, bytes - 4);
    memcpy(label, l->row + bytes - 4, 4);
    if (*label >= s->classes) return fail(l, "its label is beyond the classes", sample);
    for (uint32_t i = 0; i < s->features; i++)
        if (!isfinite(x[i])) return fail(l, "a feature is no finite number", sample);
    return true;
}

static bool read_batch(struct loader *l, int64_t step, struct batch *b)
{
    int64_t in_epoch = l->data->shape.samples / l->share.batch, epoch = step / in_epoch;
    uint64_t first = (uint64_t)(step % in_epoch) * l->share.batch +
                     (uint64_t)l->share.batch * (uint64_t)l->share.rank / (uint64_t)l->share.size;
    if (epoch != l->epoch) shuffle(l, epoch);
    b->step = step;
    bool ok = true;
    for (size_t i = 0; ok && i < b->n; i++)
        ok = read_sample(l, l->order[first + i], b->x + i * l->data->shape.features, &b->label[i]);
    return ok;
}

/* A slot may be filled when it is neither full nor with the caller, who has the one before `taken`. */
static void *run(void *arg)
{
    struct loader *l = arg;
    pthread_mutex_lock(&l->lock);
    while (!l->stop && !l->failed) {
        if (l->made - l->taken >= l->slots - 1) {
            pthread_cond_wait(&l->changed, &l->lock);
            continue;
        }
        struct batch *b = &l->ring[l->made % l->slots];
        int64_t step = l->first_step + l->made;
        pthread_mutex_unlock(&l->lock);
        bool ok = read_batch(l, step, b);
        pthread_mutex_lock(&l->lock);
        if (ok)
            l->made++;
        else
            l->failed = true;
        pthread_cond_broadcast(&l->changed);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

struct loader *loader_start(const struct dataset *data, struct share share, int64_t first_step, int ahead)
{
    struct loader *l = xcalloc(1, sizeof *l);
    *l = (struct loader){.data = data, .share = share, .epoch = -1, .slots = ahead + 1, .first_step = first_step};
    l->order = xcalloc(data->shape.samples, sizeof *l->order);
    l->row = xmalloc(((size_t)data->shape.features + 1) * 4);
    l->ring = xcalloc((size_t)l->slots, sizeof *l->ring);
    for (int64_t i = 0; i < l->slots; i++) {
        struct batch *b = &l->ring[i];
        b->n = share_samples(&share);
        b->x = xcalloc(b->n * data->shape.features + 1, sizeof *b->x);
        b->label = xcalloc(b->n + 1, sizeof *b->label);
    }
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, NULL);
    if (pthread_create(&l->thread, NULL, run, l) != 0) abort(); /* no memory for a stack */
    return l;
}

const struct batch *loader_next(struct loader *l)
{
    pthread_mutex_lock(&l->lock);
    while (l->made == l->taken && !l->failed) pthread_cond_wait(&l->changed, &l->lock);
    const struct batch *b = l->made > l->taken ? &l->ring[l->taken++ % l->slots] : NULL;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    return b;
}

const char *loader_error(const struct loader *l)
{
    return l->error;
}

void loader_stop(struct loader *l)
{
    if (!l) return;
    pthread_mutex_lock(&l->lock);
    l->stop = true;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    pthread_join(l->thread, NULL);
    for (int64_t i = 0; i < l->slots; i++) free(l->ring[i].x), free(l->ring[i].label);
    pthread_mutex_destroy(&l->lock);
    pthread_cond_destroy(&l->changed);
    free(l->ring);
    free(l->order);
    free(l->row);
    free(l);
}
