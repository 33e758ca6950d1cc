/* file.h - whole files and directories.
 *
 * All report what failed, with the system's reason, through diag and give false (or NULL).
 *
 *     size_t n;
 *     char *text = file_read("lab.json", FILE_READ_MAX, &n, d);     // freed by the caller
 *     file_make_dirs("out/operator/1", d);
 *     file_write_atomic("out/run.json", text, n, d);
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_BASE_FILE_H
#define TRAINYARD_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"

/* A cap for documents that are held in memory whole. */
#define FILE_READ_MAX ((size_t)256 << 20)

/* The content with a NUL behind it, or NULL; "-" is stdin. More than max_bytes is an error. Not unpacked. */
char *file_read(const char *path, size_t max_bytes, size_t *n, struct diag *d);

/* The rest of an open file, and all of the bytes into one. NULL or false: errno says why, EFBIG that there are more than max_bytes. */
char *file_read_from(int fd, size_t max_bytes, size_t *n);
bool file_write_all(int fd, const void *data, size_t n);

/* Readers see the old content or the new, also after a crash: temporary file beside it, fsync, rename. A symbolic link stays
 * and its target is replaced; what is no file (/dev/stdout, a pipe) is written into. */
bool file_write_atomic(const char *path, const void *data, size_t n, struct diag *d);
/* The same without waiting for the disk: a power cut may lose both. For files that are read soon and then removed. */
bool file_write_scratch(const char *path, const void *data, size_t n, struct diag *d);

/* Makes the directory and those above it; fine when it is there. */
bool file_make_dirs(const char *path, struct diag *d);

/* A new directory $TMPDIR/trainyard-NAME-XXXXXX (else in /tmp), to free and to remove; NULL when none can be made. */
char *file_temporary_dir(const char *name);

bool file_exists(const char *path);
bool file_is_dir(const char *path);

/* Removes a directory with all in it. Symbolic links are removed, not followed; other file systems are not entered; "",
 * "/", "." and paths with ".." are refused. Fine when it is not there. */
bool file_remove_tree(const char *path, struct diag *d);

/* "dir/name", without doubling a slash; name alone when dir is "" or name is absolute. */
char *path_join(struct arena *a, const char *dir, const char *name);

/* The part before the last slash ("." when there is none), and the part behind it. */
char *path_dir(struct arena *a, const char *path);
const char *path_base(const char *path);

#endif
