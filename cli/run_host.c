/* run_host.c - see run_host.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "cli/run_host.h"

#include <stdlib.h>

#include "base/str.h"
#include "cli/command.h"
#include "cli/run_live.h"
#include "real/gpu/gpu.h"
#include "real/host/host.h"

static int play(const struct runs_plan *p, const char *work, int gpus, bool quiet, struct runs *r)
{
    struct runs_cell *c = &r->cells[0];
    struct arena a = {0};
    struct host_options o = {.dir = p->out, .work = work, .worker = run_live_worker(&a), .record_level = p->record_level,
                             .gpus = gpus, .force = p->force, .tell = quiet ? NULL : stderr};
    struct host_result h;
    struct str scaled = {0};
    host_describe(c->scenario, &scaled);
    fputs(str_text(&scaled), stderr); /* also when quiet: nothing is scaled in silence */
    str_free(&scaled);
    c->ok = host_run(c->scenario, &o, &h);
    c->done = true;
    c->result = (struct sim_result){.end_ns = h.end_ns, .jobs = h.jobs, .succeeded = h.succeeded, .failed = h.failed,
                                    .unfinished = h.unfinished, .interrupted = h.interrupted, .no_progress = h.no_progress};
    r->interrupted = h.interrupted;
    int code = c->ok ? EXIT_OK : command_fail(EXIT_IO, "%s", h.error);
    free(h.error);
    arena_free(&a);
    if (code == EXIT_OK && h.no_progress) code = command_fail(EXIT_CHECK, "nothing can progress any more: jobs wait for what no run of theirs can free");
    return code == EXIT_OK && h.interrupted ? EXIT_INTERRUPTED : code;
}

/* How many this machine shows; 0 and the reason when there is none. What the workers need is looked for here, so that it is
 * told once and before anything begins. */
static int count_gpus(struct diag *d)
{
    struct gpu g;
    if (!gpu_open(&g, GPU_BLAS, d)) return 0;
    int count = g.count;
    gpu_close(&g);
    return count;
}

int run_on_host(const struct runs_plan *p, const char *work, bool on_gpu, bool quiet, struct runs *r)
{
    struct diag d = {0};
    int code = run_live_load(p, host_check, r), gpus = 0;
    if (code != EXIT_OK) return code;
    if (on_gpu && !(gpus = count_gpus(&d))) {
        command_diag(&d);
        return EXIT_IO;
    }
    return play(p, work, gpus, quiet, r);
}
