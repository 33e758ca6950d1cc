/* chrome_trace.h - a range of runs as a Chrome trace, which ui.perfetto.dev and chrome://tracing open.
 *
 *     struct str out = {0};
 *     char *err = NULL;
 *     chrome_trace(&(struct chrome_trace_source){scene, curves, "operator"}, 1, from, to, &out, &err);
 *
 * A process a node with a thread a GPU: its spans, cut to the range, named by their job with state, cause, queue, team and kind as arguments. A
 * process of jobs with a thread a job that lived in the range: what it waited for and when it worked. A process of the run: counters (jobs and GPUs that
 * wait, GPUs by class) at up to CHROME_TRACE_SAMPLES moments, and what concerns no node or job. Events of jobs and nodes are instants of theirs.
 * Where jobs share a GPU their spans overlap; those are asynchronous events, since others of one thread must nest.
 *
 * Times are microseconds of the run with three decimals: exact. So the spans of a state add up to the ledger (`shares` is given where it is not 1,000).
 * Format: "Trace Event Format", Google (docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU): JSON object form,
 * phases X, b, e, i, C, M.
 *
 * Cost: about 200 bytes a span. More than CHROME_TRACE_MOST bytes are refused: programs that read it would not open them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_MODEL_CHROME_TRACE_H
#define TRAINYARD_VIZ_MODEL_CHROME_TRACE_H

#include "base/str.h"
#include "viz/model/curves.h"

enum { CHROME_TRACE_SAMPLES = 1000 };
#define CHROME_TRACE_MOST ((size_t)512 << 20)

struct chrome_trace_source {
    const struct scene *scene;
    const struct curves *curves;
    const char *name; /* of the run, before the names of its processes; "": none */
};

/* False and *err (to free): it would be too large. `out` then holds a part. */
bool chrome_trace(const struct chrome_trace_source *, unsigned n, int64_t from_ns, int64_t to_ns, struct str *out, char **err);

#endif
