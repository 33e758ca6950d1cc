/* viewer.c - see viewer.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "cli/viewer.h"

#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/command.h"

enum { MAX_DIRS = 2 };

static char *program_in(const char *dir, size_t n)
{
    struct str path = {0};
    str_append_n(&path, dir, n);
    str_printf(&path, "%strainyard-view", n ? "/" : "");
    if (access(str_text(&path), X_OK) == 0) return str_take(&path);
    str_free(&path);
    return NULL;
}

static char *beside_this(void)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) return NULL;
    self[n] = 0;
    char *slash = strrchr(self, '/');
    return slash ? program_in(self, (size_t)(slash - self)) : NULL;
}

char *viewer_find(void)
{
    char *found = beside_this();
    for (const char *p = getenv("PATH"); p && !found;) {
        size_t n = strcspn(p, ":");
        found = program_in(p, n);
        p = p[n] ? p + n + 1 : NULL;
    }
    return found;
}

int viewer_missing(void)
{
    return command_fail(EXIT_IO, "trainyard-view is neither beside this program nor in PATH; "
                                 "\"make\" builds it where SDL2 is installed, \"make install\" installs it");
}

void viewer_start(const char *path, char *const *dirs, unsigned n)
{
    char follow[] = "--follow", *argv[3 + MAX_DIRS] = {(char *)(uintptr_t)path, follow};
    posix_spawnattr_t own_group; /* an interrupt at the terminal ends the run, not the window */
    pid_t pid;
    for (unsigned i = 0; i < n && i < MAX_DIRS; i++) argv[2 + i] = dirs[i];
    posix_spawnattr_init(&own_group);
    posix_spawnattr_setflags(&own_group, POSIX_SPAWN_SETPGROUP);
    int wrong = posix_spawn(&pid, path, NULL, &own_group, argv, environ);
    posix_spawnattr_destroy(&own_group);
    if (wrong) command_fail(EXIT_IO, "%s: %s; the run goes on without it", path, strerror(wrong));
}
