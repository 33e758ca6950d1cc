/* failure_log.h - a log of hardware failures: CSV `time,node,component,kind[,repaired][,unit]`, one event a row.
 *
 *     time,node,component,kind,repaired,unit
 *     0,,observed,begin,,              what was observed: from when, until when, how many nodes with how many GPUs;
 *     4752000,,observed,end,,          in any order and place, each once; options may say it instead
 *     0,63,observed,nodes,,
 *     0,8,observed,gpus,,
 *     86400,n17,gpu,Xid 79,91800,3     GPU 3 of n17 was down from 86,400 s to 91,800 s
 *     90000,n02,link,flap,90004,       which of its links is not known
 *
 * Times are seconds ("3600", or "1h"), or dates "2026-05-01 12:00:00"; one or the other throughout. An empty `repaired` is not
 * known. `unit` numbers equal parts of a node from 0. `kind` is free text, for the counts.
 *
 *     struct failure_log log = {0};
 *     if (!failure_log_read("events.csv", &log, d)) ...      // all errors, by line
 *     failure_log_free(&log);
 *
 * Events come sorted by time, ties in the order of the file. Memory: 40 bytes an event beside the names.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_FAILURE_LOG_H
#define TRAINYARD_INPUT_FAILURE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/hmap.h"

struct failure_event {
    int64_t at_ns, back_ns;         /* back_ns < 0: not known */
    uint32_t node, component, kind; /* ids of the names below */
    uint32_t unit;                  /* UINT32_MAX: not said */
    int line;
};

struct failure_log {
    const char *file; /* as given: the caller's */
    ARRAY(struct failure_event) events;
    struct intern nodes, components, kinds;
    int64_t begin_ns, end_ns; /* < 0: the log does not say */
    uint32_t n_nodes, gpus;   /* 0: the log does not say; gpus: of a node */
};

bool failure_log_read(const char *file, struct failure_log *, struct diag *);
void failure_log_free(struct failure_log *);

#endif
