/* file.c - whole files and directories.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

static bool failed(struct diag *d, const char *path, const char *what)
{
    diag_error(d, path, 0, NULL, "%s: %s", what, strerror(errno));
    return false;
}

/* Reads to the end, or to one byte beyond the cap. */
char *file_read_from(int fd, size_t max_bytes, size_t *n)
{
    const size_t room = 65536;
    struct str out = {0};
    char *piece = xmalloc(room);
    ssize_t got = 1;
    int reason = 0;
    while (got > 0 && out.n <= max_bytes) {
        got = read(fd, piece, room);
        if (got > 0) str_append_n(&out, piece, (size_t)got);
        if (got < 0 && errno == EINTR) got = 1;
        if (got < 0) reason = errno;
    }
    free(piece);
    if (!reason && out.n > max_bytes) reason = EFBIG;
    *n = out.n;
    if (!reason) return str_take(&out);
    str_free(&out);
    return errno = reason, NULL;
}

char *file_read(const char *path, size_t max_bytes, size_t *n, struct diag *d)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return failed(d, path, "cannot open"), NULL;
    char *text = file_read_from(fd, max_bytes, n);
    if (!text && errno == EFBIG) diag_error(d, path, 0, NULL, "is larger than %zu bytes", max_bytes);
    else if (!text) failed(d, path, "cannot read");
    if (!is_stdin) close(fd);
    return text;
}

bool file_write_all(int fd, const void *data, size_t n)
{
    for (const char *p = data; n > 0;) {
        ssize_t put = write(fd, p, n);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return false;
        p += put;
        n -= (size_t)put;
    }
    return true;
}

/* The directory entry is durable only when the directory is synced too; not every file system can, so best effort. */
static void sync_dir_of(const char *path)
{
    struct arena a = {0};
    int fd = open(path_dir(&a, path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    arena_free(&a);
    if (fd < 0) return;
    (void)!fsync(fd);
    close(fd);
}

/* A new file beside `path`, as readable as any other; its name is free, whoever else writes there. */
static int open_temporary(struct arena *a, const char *path, char **name)
{
    int fd = -1;
    for (int i = 0; i < 1000 && fd < 0; i++) {
        *name = arena_printf(a, "%s.%ld.%d.tmp", path, (long)getpid(), i);
        fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST) break;
    }
    return fd;
}

static bool fill_and_close(int fd, const void *data, size_t n, bool durable)
{
    bool ok = file_write_all(fd, data, n) && (!durable || fsync(fd) == 0);
    int reason = errno;
    if (close(fd) == 0) return ok || (errno = reason, false);
    return false;
}

static bool replace(const char *path, const void *data, size_t n, bool durable, struct diag *d)
{
    struct arena a = {0};
    char *temporary;
    int fd = open_temporary(&a, path, &temporary);
    bool ok = fd >= 0 && fill_and_close(fd, data, n, durable) && rename(temporary, path) == 0;
    if (!ok) failed(d, path, "cannot write");
    if (!ok && fd >= 0) unlink(temporary);
    if (ok && durable) sync_dir_of(path);
    arena_free(&a);
    return ok;
}

/* A device, a pipe or a socket: there is nothing to replace, and it must stay what it is. */
static bool write_into(const char *path, const void *data, size_t n, struct diag *d)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && file_write_all(fd, data, n);
    if (!ok) failed(d, path, "cannot write");
    if (fd >= 0 && close(fd) != 0 && ok) ok = failed(d, path, "cannot write");
    return ok;
}

static bool write_whole(const char *path, const void *data, size_t n, bool durable, struct diag *d)
{
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) return write_into(path, data, n, d);
    char *target = realpath(path, NULL); /* NULL: not there yet */
    bool ok = replace(target ? target : path, data, n, durable, d);
    free(target);
    return ok;
}

bool file_write_atomic(const char *path, const void *data, size_t n, struct diag *d)
{
    return write_whole(path, data, n, true, d);
}

bool file_write_scratch(const char *path, const void *data, size_t n, struct diag *d)
{
    return write_whole(path, data, n, false, d);
}

bool file_make_dirs(const char *path, struct diag *d)
{
    char *part = xstrdup(path);
    bool ok = true;
    for (char *p = part; ok && *p; p++) {
        if (p[1] != '/' && p[1] != '\0') continue;
        if (*p == '/') continue;
        char after = p[1];
        p[1] = '\0';
        if (mkdir(part, 0777) != 0 && !(errno == EEXIST && file_is_dir(part)))
            ok = failed(d, part, "cannot make the directory");
        p[1] = after;
    }
    free(part);
    return ok;
}

char *file_temporary_dir(const char *name)
{
    struct str s = {0};
    const char *tmp = getenv("TMPDIR");
    str_printf(&s, "%s/trainyard-%s-XXXXXX", tmp && *tmp ? tmp : "/tmp", name);
    char *dir = str_take(&s);
    if (mkdtemp(dir)) return dir;
    free(dir);
    return NULL;
}

bool file_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

bool file_is_dir(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Whether removing the tree could take away more than one named directory. */
static bool is_unsafe(const char *path)
{
    bool names_something = false;
    for (const char *p = path; *p;) {
        size_t n = strcspn(p, "/");
        if (n == 2 && p[0] == '.' && p[1] == '.') return true;
        if (n > 0 && !(n == 1 && p[0] == '.')) names_something = true;
        p += n + (p[n] == '/');
    }
    return !names_something;
}

bool file_remove_tree(const char *path, struct diag *d)
{
    if (is_unsafe(path)) {
        diag_error(d, path, 0, NULL, "is not a directory that may be removed; name one, without \"..\"");
        return false;
    }
    struct stat st;
    if (lstat(path, &st) != 0) return errno == ENOENT || failed(d, path, "cannot remove");
    char *copy = xstrdup(path);
    char *paths[] = {copy, NULL};
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    bool ok = tree != NULL || failed(d, path, "cannot remove");
    for (FTSENT *e; tree != NULL && (e = fts_read(tree)) != NULL;) {
        if (e->fts_info == FTS_D) continue; /* comes again as FTS_DP when it is empty */
        if (remove(e->fts_accpath) != 0) ok = failed(d, e->fts_path, "cannot remove");
    }
    if (tree) fts_close(tree);
    free(copy);
    return ok;
}

char *path_join(struct arena *a, const char *dir, const char *name)
{
    size_t n = strlen(dir);
    if (n == 0 || name[0] == '/') return arena_strdup(a, name);
    return arena_printf(a, "%s%s%s", dir, dir[n - 1] == '/' ? "" : "/", name);
}

char *path_dir(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) return arena_strdup(a, ".");
    if (slash == path) return arena_strdup(a, "/");
    return arena_strndup(a, path, (size_t)(slash - path));
}

const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
