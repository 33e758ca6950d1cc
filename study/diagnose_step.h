/* diagnose_step.h - what in the steps of a job comes from what, by the models of models/.
 *
 *     struct step_case c;
 *     if (step_case_of(scenario, spec, row, by, &c)) {        // false: neither "model" nor "data" says more of its steps
 *         struct step_split s = step_split(&c, by);
 *         s.share[WHY_TOPOLOGY] ...                           // GPU-seconds of the job's steps
 *     }
 *
 * A case is a step as it ran: the job's model, parallelism and batch (or its declared parts), what its loaders have,
 * the GPUs and nodes of its last allocation, how much slower the slowest rank was. A *remedy* changes one thing of the
 * case:
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
 * The gain is what the step takes less with it: where a shorter step waits longer for data, there may be none. Where
 * communication, or waiting for data, was measured to be more than 2 % above what the models give a job alone, and
 * links or stores may be shared, the excess is that of shared links, or of storage.
 *
 * Shares. Several causes may take the same time: slow loading hides behind slow steps, and a bubble grows with what its
 * micro-batches wait for. So each has what its remedy saves in the mean over all orders in which the remedies may be
 * taken up (Shapley, A value for n-person games, 1953): where causes do not meet, that is what each takes; where they
 * do, they share it. Exposed communication is what is left of it on a better topology with a larger micro-batch. What
 * no remedy ends (a pipeline keeps some bubble) is that of the part of the step in which it lies, and computing that
 * all remedies leave is useful. Predicted seconds are scaled to the GPU-seconds that were measured besides the useful
 * ones, so that all add up.
 *
 * Pure. Cost: 2^n + 2 x 9 steps of the models for n remedies that change anything, mostly 3 or 4: below 0.2 ms a job.
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
    bool modelled; /* by `in`, else `declared` has the parts in seconds */
    struct step_input in;
    double declared[N_STEP_PARTS];
    uint32_t node; /* consecutive ranks of a node that the job fills */
    bool loads;    /* by `load`: waiting for data follows from the rest of the step */
    struct data_loading load;
    double loaders;                    /* of the job */
    double slow_links_s, slow_reads_s; /* of communication, of waiting for data: more than this job alone would take */
    double hidden_s;                   /* of communication: by a remedy */
};

/* `by`: GPU-seconds of work that is kept, by activity from FIRST_WORK on. */
bool step_case_of(const struct scenario *, const struct job_spec *, const struct job_row *, const double *by,
                  struct step_case *);

/* The parts of a step in seconds; their sum. */
double step_case_parts(const struct step_case *, double part[N_STEP_PARTS]);
extern const enum activity step_booked_as[N_STEP_PARTS];

enum { REMEDY_TEXT = 80, N_STEP_REMEDIES = 9 };
struct step_remedy {
    enum health_cause cause;
    void (*find)(struct step_case *,
                 char said[REMEDY_TEXT]); /* the best for a case; `said` stays where there is none */
    void (*mix)(struct step_case *to, const struct step_case *from); /* only what `find` changed */
};
extern const struct step_remedy step_remedies[N_STEP_REMEDIES];

struct step_split {
    double share[N_HEALTH_CAUSES];             /* GPU-seconds; those of parts of a step */
    double gain[N_HEALTH_CAUSES];              /* GPU-seconds of steps */
    double useful;                             /* of the computing */
    double untold;                             /* of communication and data, GPU-seconds that nothing divides */
    char remedy[N_HEALTH_CAUSES][REMEDY_TEXT]; /* "interleave 4"; "": nothing to say */
};
struct step_split step_split(const struct step_case *, const double *by);

#endif
