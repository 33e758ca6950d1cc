/* diagnose_step.h - what in the steps of a job comes from what, by the models of models/.
 *
 *     struct step_case c;
 *     if (step_case_of(scenario, spec, row, by, &c)) {        // false: neither "model" nor "data" says more of its steps
 *         struct step_split s = step_split(&c, by);
 *         s.share[WHY_TOPOLOGY] ...                           // GPU-seconds of the job's steps
 *     }
 *
 * A case is a step as it ran: the job's model, parallelism and batch (or its declared parts), what its loaders have, the GPUs and
 * nodes of its last allocation, how much slower the slowest rank was. A *remedy* changes one thing of the case:
 *     topology        consecutive ranks share whole nodes; a tensor-parallel degree beyond a node is cut to a node, the rest
 *                     becomes data- or pipeline-parallel, whichever is faster
 *     micro-batch     the fastest of 2, 4, 8 ... times the micro-batch that fits into memory and the batch
 *     bubble          the fastest of more interleaved chunks (a divisor of the layers of a stage) and smaller micro-batches
 *     stragglers      no rank is slower than the others
 *     communication   what is left of it is not exposed
 *     lock            loader processes instead of threads
 *     CPU             as many loader workers and cores as the samples need
 *     storage         reading takes no time
 *     shared links    collectives take as long as those of this job alone
 * The gain is what the step takes less with it: where a shorter step waits longer for data, there may be none.
 * Where communication, or waiting for data, was measured to be more than 2 % above what the models give a job alone, and links
 * or stores may be shared, the excess is that of shared links, or of storage.
 *
 * Shares. Of communication (but for that excess) and computing: first what the topology takes, then what the micro-batch takes on the better
 * topology; the rest of the communication is exposed communication, that of the computing is useful. Of waiting for data: what
 * the narrowest of lock, CPU and storage takes beside the others is its own; how long ranks would wait without it, those that
 * remain and it share alike, and so on (the Shapley value of a maximum: Littlechild and Owen, Management Science 20, 1973).
 * Predicted parts are scaled to the measured ones, so shares add up to what was measured.
 *
 * Pure. Cost: some 30 steps of the models, well below 1 ms a job.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_DIAGNOSE_STEP_H
#define TRAINYARD_STUDY_DIAGNOSE_STEP_H

#include "input/scenario.h"
#include "models/data_loading.h"
#include "models/step.h"
#include "run/run.h"
#include "study/diagnose.h"

struct step_case {
    bool modelled;                 /* by `in`, else `declared` has the parts in seconds */
    struct step_input in;
    double declared[N_STEP_PARTS];
    uint32_t node;                 /* consecutive ranks of a node that the job fills */
    bool loads;                    /* by `load`: waiting for data follows from the rest of the step */
    struct data_loading load;
    double loaders;                /* of the job */
    double slow_links_s, slow_reads_s; /* of communication, of waiting for data: more than this job alone would take */
    double exposed;                /* of the communication, 0 .. 1: what a remedy leaves */
};

/* `by`: GPU-seconds of work that is kept, by activity from FIRST_WORK on. */
bool step_case_of(const struct scenario *, const struct job_spec *, const struct job_row *, const double *by, struct step_case *);

enum { REMEDY_TEXT = 80 };
struct step_split {
    double share[N_HEALTH_CAUSES]; /* GPU-seconds; those of parts of a step */
    double gain[N_HEALTH_CAUSES];  /* GPU-seconds of steps */
    double useful;                 /* of the computing */
    double untold;                 /* of communication and data, GPU-seconds that nothing divides */
    char remedy[N_HEALTH_CAUSES][REMEDY_TEXT]; /* "interleave 4"; "": nothing to say */
};
struct step_split step_split(const struct step_case *, const double *by);

#endif
