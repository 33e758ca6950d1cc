/* measures.h - what can be laid side by side of two runs of one scenario, be they simulated or live.
 *
 *     struct measures m;
 *     if (!measures_read("out/live", &m, &err)) ...      // err: to free; exit code 4
 *     for (size_t i = 0; i < m.n; i++) ...               // by quantity, then job, then k
 *     measures_free(&m);
 *
 * A sample is a duration of a quantity, of a job by its id, and the k-th of its kind in that job (restarts, saves, readmissions; 0
 * elsewhere). Two runs' samples match when all three are the same. Quantities:
 *
 *   admission    submission to first admission          wait_<reason>  the job's whole time with that reason, if any
 *   readmission  eviction to the next admission
 *   allocation   ... to all of it bound                 restart        ranks stop to ranks step again
 *   start        ... to the first step of all ranks     save           a checkpoint begins to the ranks go on
 *   run          ... to the end                         step           see below
 *
 * step: GPU time of work, redone or not, less checkpoints that count as work, over steps done and the GPUs of the job. With
 * failures it has in it what was done of steps that did not end, in both runs alike.
 * Decisions and happenings are events: admitted, started, stopped, evicted (by whom), checkpoint, finished; in order of
 * time, the k-th of its kind of that job.
 *
 * What only the timeline tells (restart, save, step, readmission, events) lacks where the run kept none; steps need --record full.
 * A damaged timeline counts up to the damage, and a warning says where that is; the end of a run that is still written, or was
 * killed, is seldom whole, which is no damage.
 * Cost: two passes over the timeline; 32 bytes a sample, 32 an event. Strings live in the struct.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_MEASURES_H
#define TRAINYARD_STUDY_MEASURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "run/run.h"

enum quantity {
    Q_ADMISSION, Q_ALLOCATION, Q_START, Q_RUN, Q_RESTART, Q_STEP, Q_SAVE, Q_READMISSION,
    Q_WAITS, /* Q_WAITS + enum wait_reason */
    N_QUANTITIES = Q_WAITS + N_WAIT_REASONS
};
/* "admission", "wait_image"; lives for ever. */
const char *quantity_name(unsigned quantity);
int quantity_find(const char *name); /* -1: none */

struct sample {
    const struct job_row *job;
    int64_t ns;
    uint32_t quantity, k;
};

enum happening { H_ADMITTED, H_STARTED, H_STOPPED, H_EVICTED, H_SAVED, H_FINISHED, N_HAPPENINGS };
extern const char *const happening_names[N_HAPPENINGS];

struct happened {
    const struct job_row *job, *by; /* by: of an eviction; NULL */
    int64_t at_ns;
    uint32_t what, k;
};

struct measures {
    struct run *run;
    struct sample *samples;
    size_t n;
    struct happened *events; /* by time, as recorded */
    size_t n_events;
    bool has_timeline, has_steps;
    bool damaged;   /* the timeline, in a run that is over: what is behind the damage is not in the samples */
    char *warnings; /* of run_open and of the timeline: what is damaged or missing, whole lines; NULL */
};

bool measures_read(const char *dir, struct measures *, char **err);
/* Of a run that is open; it becomes the measures', and warnings are of the timeline only. */
bool measures_of(struct run *, struct measures *, char **err);
void measures_free(struct measures *);

/* Reads a run's timeline for nothing but its damage; adds a line to the warnings when there is any. */
void timeline_warning(const struct run *, struct str *warnings);

#endif
