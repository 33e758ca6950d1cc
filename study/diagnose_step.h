/* diagnose_step.h - what in the steps of a job comes from what, by the models of models/.
 *
 *     struct step_case c;
 *     if (step_case_of(scenario, spec, row, by, &c)) {                // false: its steps are declared, or not steps
 *         struct step_split s = step_split(&c, by);
 *         s.share[WHY_TOPOLOGY] ...                                   // GPU-seconds of the job's steps
 *     }
 *
 * A case is a step as it ran: the job's model, parallelism and batch, the GPUs that it had, the nodes that they lay on (of its
 * last allocation), how much slower the slowest was. A *remedy* changes one thing of the case:
 *     topology        consecutive ranks share whole nodes; a tensor-parallel degree beyond a node is cut to a node, the rest
 *                     becomes data- or pipeline-parallel, whichever is faster
 *     micro-batch     the fastest of 2, 4, 8 ... times the micro-batch that fits into memory and the batch
 *     bubble          the fastest of more interleaved stages (a divisor of the layers of a stage) and smaller micro-batches
 *     stragglers      no node is slower, no jitter
 *     communication   what is left of it is not exposed
 * The gain is what the step takes less with it. Shares of communication and computing: first what the topology takes, then
 * what the micro-batch takes on the better topology; the rest of the communication is exposed communication, that of the
 * computing is useful. Predicted parts are scaled to the measured ones, so shares add up to what was measured.
 *
 * Pure. Cost: some 20 steps of the model, well below 1 ms a job.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_DIAGNOSE_STEP_H
#define TRAINYARD_STUDY_DIAGNOSE_STEP_H

#include "input/scenario.h"
#include "models/step.h"
#include "run/run.h"
#include "study/diagnose.h"

struct step_case {
    struct step_input in;
    uint32_t node; /* consecutive ranks of a node that the job fills */
};

/* `by`: GPU-seconds of work that is kept, by activity from FIRST_WORK on. */
bool step_case_of(const struct scenario *, const struct job_spec *, const struct job_row *, const double *by, struct step_case *);

struct step_split {
    double share[N_HEALTH_CAUSES]; /* GPU-seconds, of the causes that share an activity with others */
    double gain[N_HEALTH_CAUSES];  /* GPU-seconds of steps */
    double useful;                 /* of the computing */
    char remedy[N_HEALTH_CAUSES][64]; /* "interleave 4"; "": nothing to say */
};
struct step_split step_split(const struct step_case *, const double *by);

#endif
