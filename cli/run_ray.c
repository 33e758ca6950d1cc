/* run_ray.c - see run_ray.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "cli/run_ray.h"

#include <stdlib.h>

#include "cli/command.h"
#include "cli/run_live.h"
#include "real/ray/ray.h"

static const char here[] = "http://127.0.0.1:8265";

static const char *first_of(const char *a, const char *b, const char *c) { return a && *a ? a : b && *b ? b : c; }

static int play(const struct ray_options *o, struct runs *r)
{
    struct runs_cell *c = &r->cells[0];
    struct ray_result out;
    struct diag d = {0};
    c->ok = ray_run(c->scenario, o, &out, &d);
    c->done = true;
    c->result = (struct sim_result){.end_ns = out.end_ns, .jobs = out.jobs, .succeeded = out.succeeded, .failed = out.failed,
                                    .unfinished = out.unfinished, .interrupted = out.interrupted};
    r->interrupted = out.interrupted;
    diag_print(&d, stderr);
    diag_free(&d);
    if (out.interrupted) return EXIT_INTERRUPTED;
    return c->ok ? EXIT_OK : EXIT_IO;
}

int run_on_ray(const struct runs_plan *p, const struct ray_options *given, bool quiet, struct runs *r)
{
    struct arena a = {0};
    struct ray_options o = {.dir = p->out, .work = given->work, .node_command = given->node_command, .address = first_of(given->address, getenv("RAY_API_SERVER_ADDRESS"), here),
                            .token = getenv("RAY_AUTH_TOKEN"), .worker = run_live_worker(&a), .record_level = p->record_level,
                            .force = p->force, .stop = p->interrupt, .tell = quiet ? NULL : stderr};
    int code = run_live_load(p, ray_check, r);
    if (code == EXIT_OK) code = play(&o, r);
    arena_free(&a);
    return code;
}
