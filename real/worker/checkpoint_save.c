/* checkpoint_save.c - writing, naming and removing checkpoints.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"
#include "real/worker/checkpoint.h"
#include "real/worker/checkpoint_format.h"
#include "real/worker/net.h"

struct saver {
    char *dir;
    struct saver_options options;
    int rank, size;
    uint64_t token, fingerprint;
    _Atomic int64_t down_until_ns;

    pthread_t thread;
    pthread_mutex_t lock; /* of state */
    enum saver_state state;
    bool running; /* a thread is to be joined */
    int64_t step;
    char *bytes; /* the shard: header and floats */
    size_t n;
    char error[256];
};

static char *partial_name(const struct saver *s, struct arena *a)
{
    return arena_printf(a, CHECKPOINT_NAME ".%016llx.partial", s->dir, (long long)s->step,
                        (unsigned long long)s->token);
}

static bool sync_dir(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) close(fd);
    return ok;
}

/* Out of sight first, so that what is half removed has no checkpoint's name. */
static bool remove_checkpoint(const char *dir, int64_t step, struct diag *d)
{
    struct arena a = {0};
    char *name = arena_printf(&a, CHECKPOINT_NAME, dir, (long long)step), *old = arena_printf(&a, "%s.old", name);
    bool ok = file_remove_tree(old, d);
    if (ok && rename(name, old) != 0 && errno != ENOENT) {
        diag_error(d, name, 0, NULL, "cannot remove: %s", strerror(errno));
        ok = false;
    }
    ok = ok && file_remove_tree(old, d);
    arena_free(&a);
    return ok;
}

bool checkpoint_drop_newer(const char *dir, int64_t step, struct diag *d)
{
    step_list steps = {0};
    bool ok = checkpoint_list(dir, &steps, d);
    for (size_t i = steps.n; ok && i-- > 0 && steps.v[i] > step;) ok = remove_checkpoint(dir, steps.v[i], d);
    array_free(&steps);
    return ok;
}

/* What an earlier life of the job left unfinished. */
static bool clean(const char *dir, struct diag *d)
{
    DIR *open = opendir(dir);
    struct arena a = {0};
    bool ok = open != NULL;
    if (!ok) diag_error(d, dir, 0, NULL, "cannot list: %s", strerror(errno));
    for (struct dirent *e; ok && (e = readdir(open)) != NULL;)
        if (str_starts_with(e->d_name, "step-") &&
            (str_ends_with(e->d_name, ".partial") || str_ends_with(e->d_name, ".old")))
            ok = file_remove_tree(path_join(&a, dir, e->d_name), d);
    if (open) closedir(open);
    arena_free(&a);
    return ok;
}

struct saver *saver_open(const char *dir, const struct saver_options *o, int rank, int size, uint64_t token,
                         uint64_t fingerprint, struct diag *d)
{
    if (!file_make_dirs(dir, d) || (rank == 0 && !clean(dir, d))) return NULL;
    struct saver *s = xcalloc(1, sizeof *s);
    *s = (struct saver){
        .dir = xstrdup(dir), .options = *o, .rank = rank, .size = size, .token = token, .fingerprint = fingerprint};
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

/* ---- a shard ---- */

static bool failed(struct saver *s, const char *what)
{
    snprintf(s->error, sizeof s->error, "cannot write the checkpoint of step %lld: %s: %s", (long long)s->step, what,
             strerror(errno));
    return false;
}

static bool write_all(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t put = write(fd, p, n);
        if (put < 0 && errno != EINTR) return false;
        if (put > 0) p += put, n -= (size_t)put;
    }
    return true;
}

static bool write_shard(struct saver *s)
{
    struct arena a = {0};
    const char *dir = partial_name(s, &a);
    int shards = s->options.sharded ? s->size : 1;
    const char *file = arena_printf(&a, SHARD_NAME, dir, s->rank, shards);
    if (net_now_ns() < s->down_until_ns) return arena_free(&a), errno = EIO, failed(s, "the store is down");
    bool ok = mkdir(dir, 0777) == 0 || errno == EEXIST || failed(s, "directory");
    int fd = ok ? open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    if (ok) ok = (fd >= 0 && write_all(fd, s->bytes, s->n) && fsync(fd) == 0) || failed(s, "shard");
    if (fd >= 0 && close(fd) != 0 && ok) ok = failed(s, "shard");
    ok = ok && (sync_dir(dir) || failed(s, "directory"));
    arena_free(&a);
    return ok;
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

bool saver_wait(struct saver *s, struct diag *d)
{
    if (s->running) pthread_join(s->thread, NULL);
    s->running = false;
    bool ok = s->state != SAVER_FAILED;
    if (!ok) diag_error(d, s->dir, 0, NULL, "%s", s->error);
    s->state = SAVER_IDLE;
    return ok;
}

/* ---- its name ---- */

static bool keep_newest(const struct saver *s, struct diag *d)
{
    step_list steps = {0};
    bool ok = checkpoint_list(s->dir, &steps, d);
    for (size_t i = 0; ok && i + (size_t)s->options.keep < steps.n; i++) ok = remove_checkpoint(s->dir, steps.v[i], d);
    array_free(&steps);
    return ok;
}

bool saver_commit(struct saver *s, struct diag *d)
{
    struct arena a = {0};
    const char *partial = partial_name(s, &a), *name = arena_printf(&a, CHECKPOINT_NAME, s->dir, (long long)s->step);
    bool ok = sync_dir(partial) && (!file_exists(name) || remove_checkpoint(s->dir, s->step, d)) &&
              rename(partial, name) == 0 && sync_dir(s->dir);
    if (!ok) diag_error(d, name, 0, NULL, "cannot finish the checkpoint: %s", strerror(errno));
    ok = ok && keep_newest(s, d);
    arena_free(&a);
    return ok;
}

void saver_abandon(struct saver *s)
{
    struct arena a = {0};
    struct diag unsaid = {0}; /* that it failed is told already */
    file_remove_tree(partial_name(s, &a), &unsaid);
    diag_free(&unsaid);
    arena_free(&a);
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
    free(s->bytes);
    free(s->dir);
    free(s);
}
