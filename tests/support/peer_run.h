/* peer_run.h - a trace through importer, scenario and simulator, with the schedule read back from its run.
 *
 *     struct run *r = peer_run(&(struct peer_case){ .trace = path, .format = "swf", .nodes = 128, .gpus = 1,
 *                                                   .admission = "fifo", .placement = "first" });
 *     const struct run_job_view *j = peer_job(r, 17);   // by the trace's own id
 *     temp_run_close(r);
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_PEER_RUN_H
#define TRAINYARD_TESTS_SUPPORT_PEER_RUN_H

#include "run/run.h"
#include "tests/support/temp_run.h"

struct peer_case {
    const char *trace, *format;
    unsigned nodes, gpus; /* GPUs a node */
    const char *admission, *placement;
};

/* Fails the test on any error. Jobs are sorted by id. To be closed with temp_run_close. */
struct run *peer_run(const struct peer_case *);
/* Fails when there is none. */
const struct run_job_view *peer_job(struct run *, uint64_t id);

#endif
