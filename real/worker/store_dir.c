/* store_dir.c - checkpoints in a directory.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "real/worker/store.h"

static void *open_dir(const char *where, struct diag *d)
{
    (void)d;
    return xstrdup(where);
}

static char *name_of(const struct store *s, struct arena *a, int64_t step)
{
    return arena_printf(a, "%s/" STORE_STEP, (const char *)s->state, (long long)step);
}

static char *partial_name(const struct store *s, struct arena *a, int64_t step, uint64_t token)
{
    return arena_printf(a, "%s.%016llx.partial", name_of(s, a, step), (unsigned long long)token);
}

static bool sync_dir(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) close(fd);
    return ok;
}

/* ---- reading ---- */

/* The next entry; NULL at the end, and when the directory cannot be read on: the store fails then. */
static struct dirent *next_entry(struct store *s, DIR *open)
{
    errno = 0;
    struct dirent *e = readdir(open);
    s->fails = !e && errno != 0;
    return e;
}

static bool listed(struct store *s, const char *path, struct diag *d)
{
    if (s->fails) diag_error(d, path, 0, NULL, "cannot list: %s", strerror(errno));
    return !s->fails;
}

static bool list_dir(struct store *s, step_list *steps, struct diag *d)
{
    DIR *open = opendir(s->state);
    if (!open && errno == ENOENT) return true;
    s->fails = !open;
    for (struct dirent *e; open && (e = next_entry(s, open)) != NULL;) {
        const char *rest;
        int64_t step = store_step_of(e->d_name, &rest);
        if (step >= 0 && !*rest) array_push(steps, step);
    }
    bool ok = listed(s, s->state, d);
    if (open) closedir(open);
    return ok;
}

/* The number of shards stands in their names; 0: there is no such checkpoint, or it cannot be told. */
static int count_shards(struct store *s, const char *path, struct diag *d)
{
    int shards = 0;
    DIR *open = opendir(path);
    s->fails = !open && errno != ENOENT;
    for (struct dirent *e; open && (e = next_entry(s, open)) != NULL;) {
        int shard, of;
        if (sscanf(e->d_name, "shard-%d-of-%d", &shard, &of) == 2 && of > shards) shards = of;
    }
    if (!listed(s, path, d)) shards = 0;
    else if (shards == 0) diag_error(d, path, 0, NULL, "there is no such checkpoint, or it has no shard");
    if (open) closedir(open);
    return shards;
}

static bool find_dir(struct store *s, int64_t step, struct store_shards *shards, struct diag *d)
{
    const char *path = name_of(s, &shards->arena, step);
    int n = count_shards(s, path, d);
    for (int i = 0; i < n; i++)
        array_push(&shards->list, (struct store_shard){.name = arena_printf(&shards->arena, "%s/" STORE_SHARD, path, i, n)});
    return n > 0;
}

/* What is no file (a FIFO would be waited on without end) says so, as a directory does. */
static int open_shard(const char *name)
{
    int fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat is;
    if (fd < 0 || (fstat(fd, &is) == 0 && (S_ISREG(is.st_mode) || S_ISDIR(is.st_mode)))) return fd;
    close(fd);
    return errno = EINVAL, -1;
}

/* A shard that is not there, or has more bytes than it can have, is damaged; whatever else keeps it from being read (EIO, ESTALE,
 * EACCES ...) is the store's doing, though its directory may answer: the shard may be sound. */
static char *read_dir(struct store *s, const char *name, size_t limit, size_t *bytes, struct diag *d)
{
    int fd = open_shard(name);
    char *text = fd >= 0 ? file_read_from(fd, limit, bytes) : NULL;
    s->fails = !text && errno != ENOENT && errno != EFBIG;
    if (!text && errno == EFBIG) diag_error(d, name, 0, NULL, "has more than %zu bytes, more than it can have", limit);
    else if (!text) diag_error(d, name, 0, NULL, "cannot read: %s", errno == EINVAL ? "it is no regular file" : strerror(errno));
    if (fd >= 0) close(fd);
    return text;
}

/* ---- writing ---- */

static bool prepare_dir(struct store *s, bool rank_0, struct diag *d)
{
    (void)rank_0;
    return !(s->fails = !file_make_dirs(s->state, d));
}

static bool failed(struct store *s, const char *name, const char *what, struct diag *d)
{
    s->fails = true;
    diag_error(d, name, 0, NULL, "%s: %s", what, strerror(errno));
    return false;
}

static bool write_dir(struct store *s, const struct store_part *part, const void *data, size_t n, struct diag *d)
{
    struct arena a = {0};
    const char *dir = partial_name(s, &a, part->step, part->token);
    const char *file = arena_printf(&a, "%s/" STORE_SHARD, dir, part->shard, part->shards);
    bool ok = mkdir(dir, 0777) == 0 || errno == EEXIST || failed(s, dir, "cannot make the directory", d);
    int fd = ok ? open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    if (ok) ok = (fd >= 0 && file_write_all(fd, data, n) && fsync(fd) == 0) || failed(s, file, "cannot write the shard", d);
    if (fd >= 0 && close(fd) != 0 && ok) ok = failed(s, file, "cannot write the shard", d);
    ok = ok && (sync_dir(dir) || failed(s, dir, "cannot keep the directory", d));
    arena_free(&a);
    return ok;
}

/* Out of sight, so that what is half removed has no checkpoint's name. */
static bool set_aside(struct store *s, const char *name, const char *old, struct diag *d)
{
    if (!file_remove_tree(old, d)) return s->fails = true, false;
    return rename(name, old) == 0 || errno == ENOENT || failed(s, name, "cannot remove", d);
}

static char *old_name(struct arena *a, const char *name)
{
    return arena_printf(a, "%s.old", name);
}

static bool remove_dir(struct store *s, int64_t step, struct diag *d)
{
    struct arena a = {0};
    char *name = name_of(s, &a, step), *old = old_name(&a, name);
    bool ok = set_aside(s, name, old, d) && file_remove_tree(old, d);
    arena_free(&a);
    return ok;
}

/* Half written or half removed, and nobody's. */
static bool is_left(const char *name, const struct store_keep *keep)
{
    const char *rest = "";
    int64_t step = store_step_of(name, &rest);
    return step >= 0 && (str_equal(rest, ".old") || (str_ends_with(rest, ".partial") && (keep->start || step <= keep->step)));
}

static bool tidy_dir(struct store *s, const struct store_keep *keep, struct diag *d)
{
    const char *dir = s->state;
    DIR *open = opendir(dir);
    struct arena a = {0};
    step_list steps = {0};
    bool ok = !(s->fails = !open);
    for (struct dirent *e; open && (e = next_entry(s, open)) != NULL;)
        if (is_left(e->d_name, keep)) ok = file_remove_tree(path_join(&a, dir, e->d_name), d) && ok;
    ok = listed(s, dir, d) && ok;
    ok = store_list(s, &steps, d) && ok;
    int64_t from = store_keep_from(&steps, keep);
    for (size_t i = 0; i < steps.n && steps.v[i] < from; i++) ok = remove_dir(s, steps.v[i], d) && ok;
    s->fails = !ok;
    if (open) closedir(open);
    array_free(&steps);
    arena_free(&a);
    return ok;
}

/* One that has this name is set aside when the new one has it, and takes it back when the new one cannot get it. */
static bool commit_dir(struct store *s, int64_t step, uint64_t token, struct diag *d)
{
    struct arena a = {0};
    const char *partial = partial_name(s, &a, step, token), *name = name_of(s, &a, step), *old = old_name(&a, name);
    bool ok = sync_dir(partial) || failed(s, partial, "cannot keep the directory", d);
    ok = ok && set_aside(s, name, old, d);
    if (ok && (rename(partial, name) != 0 || !sync_dir(s->state))) {
        ok = failed(s, name, "cannot finish the checkpoint", d);
        (void)!rename(old, name); /* fails where there was none, and where the new one has the name */
    }
    arena_free(&a);
    return ok;
}

static void abandon_dir(struct store *s, int64_t step, uint64_t token)
{
    struct arena a = {0};
    struct diag unsaid = {0}; /* that it failed is told already */
    file_remove_tree(partial_name(s, &a, step, token), &unsaid);
    diag_free(&unsaid);
    arena_free(&a);
}

const struct store_ops store_dir_ops = {"", open_dir, prepare_dir, list_dir, find_dir, read_dir, write_dir, commit_dir,
                                        abandon_dir, remove_dir, tidy_dir, free};
