/* diagnose.h - is a run healthy, and if not, what keeps its GPUs from computing, and what would removing that give?
 *
 *     struct diagnosis d;
 *     diagnose_run(run, &d);                   // of the whole run; needs ledger.csv and jobs.csv
 *     diagnose_job(run, row, &d);              // of the GPU time of one job
 *     struct diagnosing *g = diagnosing_begin();              // of several runs of one approach: a mean run
 *     diagnosing_add(g, run);                                 // each; it may be closed then
 *     diagnosing_end(g, &d);
 *     diagnosis_text(&d, &out); diagnosis_json(&d, &writer);
 *     diagnosis_free(&d);
 *
 * Two figures are held against what people strive for:
 *     GPU utilisation           useful computation over the GPU time that exists (of a job: that it held)         >= 80 %
 *     exposed communication     over the time of its steps that were not redone                                   <= 30 %
 * Useful is computation that was not redone, less what a micro-batch that is too small makes it take longer. A busy GPU
 * is not a useful one: time in a collective, in a save or in steps that are lost later counts against utilisation.
 *
 * Causes. Each has a *share*: the GPU-seconds that it takes. No GPU-second is in two shares; with what is useful and
 * the rest they add up to all. GPU-seconds by activity are measured (ledger.csv, and jobs.csv by job). Where one
 * activity has several causes (communication: groups spread over nodes, small micro-batches, the rest), or one cause
 * hides another (slow loading behind slow steps), each job's steps are divided by the models (study/diagnose_step.h)
 * for the job's own settings in the run's scenario.json; where the scenario only declares lengths there is nothing to
 * divide by, the activity is named as a whole, and `notes` says so. Each has a *gain*: the GPU-seconds that the same
 * work would take less with this cause removed and all else as it is. Of a modelled step it is computed with the best
 * remedy, which is named; else it is the share itself. A shorter step brings fewer restarts, which come with time, and
 * a nominally shorter one fewer saves: gains in steps count these, too. `at_most` marks gains whose remedy costs
 * something itself that the run does not tell. Gains of two causes do not add up. Causes are ordered by their share;
 * those below 1 % of the GPU time are not named, and none is where both figures are met.
 *
 * What is no matter of set-up stands apart as `rest`: GPUs that nobody asks for, hardware that is down, loads of other
 * kinds (serving, tuning, data), of whose use of GPUs a run knows nothing.
 *
 * A name only finds the settings of its job (else submission and size do), and says nothing. Errors: a scenario.json
 * that cannot be read is a note, and causes stay undivided. Cost: one pass over the ledger and the jobs, and about 0.1
 * ms a job that has a model.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_DIAGNOSE_H
#define TRAINYARD_STUDY_DIAGNOSE_H

#include "base/arena.h"
#include "base/array.h"
#include "base/json_write.h"
#include "base/str.h"
#include "run/run.h"

/* X(e, name, title, what it is, what to do about it) */
#define HEALTH_CAUSES(X)                                                                                               \
    X(WHY_DATA, "data", "waiting for data", "input data come later than the step needs them",                          \
      "more loader workers, a faster store, a cache")                                                                  \
    X(WHY_STORAGE, "storage", "data: storage", "the store gives fewer bytes a second than the steps read",             \
      "a faster or nearer store, a cache, smaller samples")                                                            \
    X(WHY_CPU, "cpu", "data: CPU", "too few loader workers or cores prepare the samples",                              \
      "more workers and cores, cheaper decoding, samples that are prepared before")                                    \
    X(WHY_LOCK, "interpreter_lock", "data: interpreter lock", "loader threads wait for one interpreter's lock",        \
      "loader processes instead of threads")                                                                           \
    X(WHY_COMMUNICATION, "communication", "exposed communication",                                                     \
      "ranks wait for collectives that no computation hides",                                                          \
      "a faster network, more overlap, fewer bytes a step (accumulation, sharding, compression)")                      \
    X(WHY_TOPOLOGY, "topology", "topology", "groups that should share a node are spread over several",                 \
      "tensor-parallel groups within a node: pods of whole nodes, or a smaller degree")                                \
    X(WHY_LINKS, "links", "shared links", "links that others use, or that are oversubscribed, slow its collectives",   \
      "jobs that keep to a rack, less oversubscription")                                                               \
    X(WHY_CHECKPOINT, "checkpoint", "synchronous checkpoints", "training stands still while a checkpoint is written",  \
      "save in the background (asynchronously), sharded, or less often")                                               \
    X(WHY_STRAGGLER, "straggler", "stragglers", "all ranks wait for the slowest",                                      \
      "find the slow nodes and take them out")                                                                         \
    X(WHY_MICRO_BATCH, "micro_batch", "micro-batch too small", "each micro-batch costs more than its samples do",      \
      "a larger micro-batch, as memory allows")                                                                        \
    X(WHY_BUBBLE, "bubble", "pipeline bubble", "pipeline stages are empty at the ends of a step",                      \
      "more micro-batches, interleaved stages, a shorter pipeline")                                                    \
    X(WHY_WAITING, "waiting", "waiting", "GPUs stand idle or are held by incomplete gangs while jobs wait",            \
      "quota that follows demand, borrowing, backfill, gangs that are placed as a whole")                              \
    X(WHY_RESTARTS, "restarts", "restarts", "work done again, and recovery, after failures and preemptions",           \
      "fewer failures, faster detection, more frequent checkpoints")                                                   \
    X(WHY_START, "start", "starting up", "pods pull images, start and find one another, for the first time",           \
      "images that are cached, fewer and longer jobs, clusters that are kept")                                         \
    X(WHY_LEFT, "left", "left idle", "GPUs stay with pods that have nothing to do",                                    \
      "clean up at once what has ended, smaller heads and pools")
#define X_ENUM(e, ...) e,
enum health_cause { HEALTH_CAUSES(X_ENUM) N_HEALTH_CAUSES };
#undef X_ENUM

struct health_cause_info {
    const char *name, *title, *what, *advice;
};
extern const struct health_cause_info health_causes[N_HEALTH_CAUSES];

#define HEALTHY_UTILISATION   0.8
#define HEALTHY_COMMUNICATION 0.3
#define HEALTH_NAMED          0.01 /* of the GPU time */

struct finding {
    enum health_cause cause;
    double gpu_s, saved_gpu_s; /* share and gain */
    bool at_most;              /* the gain */
    const char *detail;        /* "" or what there is to say of this run: "jobs wait: 90 % quota, 10 % order" */
    const char *remedy;        /* "" or the best one for the job that suffers most: "interleave 4" */
};

/* GPU time of which no cause of the table is to blame. */
struct health_rest {
    const char *name, *what;
    double gpu_s;
};
enum { N_HEALTH_RESTS = 3 };

struct diagnosis {
    const char *approach, *job; /* job NULL: of the run */
    uint32_t replication; /* of one run */
    size_t runs;          /* GPU-seconds are a mean over them; restarts in details are of all */
    double gpu_s; /* that existed, or that the job held */
    double useful_gpu_s;
    double step_gpu_s, communication_gpu_s; /* of steps that were not redone */
    struct finding found[N_HEALTH_CAUSES];  /* named ones, greatest share first */
    size_t n_found;
    struct finding next; /* the greatest that is not named; gpu_s 0: none */
    struct health_rest rest[N_HEALTH_RESTS];
    ARRAY(const char *) notes;
    struct arena arena; /* details and notes */
};

/* diagnosing_end frees; without a run all is 0. */
struct diagnosing *diagnosing_begin(void);
void diagnosing_add(struct diagnosing *, const struct run *);
void diagnosing_end(struct diagnosing *, struct diagnosis *);
void diagnose_run(const struct run *, struct diagnosis *);
void diagnose_job(const struct run *, const struct job_row *, struct diagnosis *);
void diagnosis_free(struct diagnosis *);

double diagnosis_utilisation(const struct diagnosis *);   /* NaN without GPU time */
double diagnosis_communication(const struct diagnosis *); /* NaN without steps */
bool diagnosis_healthy(const struct diagnosis *);
/* Utilisation when a cause is removed: the same work in less GPU time. */
double diagnosis_utilisation_after(const struct diagnosis *, const struct finding *);

void diagnosis_text(const struct diagnosis *, struct str *); /* at most 100 columns */
void diagnosis_json(const struct diagnosis *, struct json_writer *);

#endif
