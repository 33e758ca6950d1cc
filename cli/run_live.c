/* run_live.c - see run_live.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "cli/run_live.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "cli/command.h"

static const char worker_name[] = "trainyard-worker";

const char *run_live_worker(struct arena *a)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n > 0) {
        self[n] = '\0';
        const char *beside = path_join(a, path_dir(a, self), worker_name);
        if (file_exists(beside)) return beside;
    }
    return worker_name;
}

int run_live_load(const struct runs_plan *p, bool (*check)(const struct scenario *, struct diag *), struct runs *r)
{
    struct diag d = {0};
    memset(r, 0, sizeof *r);
    bool ok = runs_load(p, &r->scenarios, &r->n_approaches, &d);
    if (ok && r->n_approaches > 1) {
        diag_free(&d);
        return command_fail(EXIT_USAGE, "a live run plays one approach: choose one of the %u with --approach", r->n_approaches);
    }
    if (ok) check(r->scenarios[0], &d);
    int code = command_diag(&d);
    if (code != EXIT_OK) return code;
    r->n_replications = 1;
    r->cells = xcalloc(1, sizeof *r->cells);
    r->cells[0].scenario = r->scenarios[0];
    return EXIT_OK;
}
