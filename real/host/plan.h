/* plan.h - what processes a job is: which pods, what they hold, environment, command line. A pure function of the scenario.
 *
 *     struct job_plan p;
 *     plan_make(&arena, scenario, job, &p);
 *     const char *const *argv = plan_command(&arena, scenario, &p, &(struct plan_files){.worker = ..., .data = ..., .saved = ...});
 *     const char *const *env = plan_environment(&arena, &p, 1, p.n, "127.0.0.1", 29500);
 *
 * Pods are those of the life cycle: with training-operator-v1, and without any, Master and workers as the PyTorchJob of the job
 * has them (input/torch_env.h); with Ray its workers. Where "live" allows fewer processes, each stands for as many pods
 * as fall to it, the first ones for one more.
 *
 *   steps    the job's work over its nominal step; a job that is given as a duration has steps of 1 s, as in the simulator
 *   pace     compute time of a step, over the time scale; of an elastic job, on its nominal number of ranks
 *   every    steps between checkpoints: the interval over the nominal step, rounded down
 *
 * On GPUs each process is shown one of the machine's, the next in turn: a scenario that holds more GPUs than there are
 * shares them. Shapes of their matrix products are the worker's own.
 *
 * The environment is a container's: what the life cycle's controller writes, and PATH and HOME of here. Of that, the names under
 * which the pods would find each other are replaced by an address and a port of here.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_HOST_PLAN_H
#define TRAINYARD_REAL_HOST_PLAN_H

#include "base/arena.h"
#include "input/scenario.h"

/* A pod of the scenario, in order of ranks. */
struct pod_plan {
    enum pod_role role;
    uint32_t index;          /* within its role */
    int64_t shares;
    enum restart_policy restart;
};

/* A process: pods first .. first + n - 1. */
struct process_plan {
    const char *name;        /* of its first pod */
    uint32_t first, n;
    enum pod_role role;      /* for its environment: as if there were no more pods than processes */
    uint32_t index;
};

struct job_plan {
    const char *id;
    enum lifecycle_name life;
    const struct manifest *manifest; /* as if there were no more pods than processes */
    struct pod_plan *pods;
    struct process_plan *v;
    uint32_t n, nominal;     /* processes: at the most, and as the job is declared */
    uint32_t min, max;       /* elastic; max 0: not */
    uint32_t max_restarts;
    int64_t steps, pace_ns;  /* pace_ns: the scenario's time; 0: as fast as it goes */
    int64_t every;           /* 0: no checkpoints */
    int gpus;                /* of this machine, which the processes take in turn; 0: they compute on the CPU alone */
    uint32_t first_gpu;      /* of process 0 */
};

struct plan_files {
    const char *worker, *data;
    const char *saved;       /* directory of the job's checkpoints */
};

/* plan_check.c: reports, at the job, what can be no plan: no process at all (a Ray cluster that is only a head, templates of 0 replicas),
 * more processes than a world may have ranks, an id that is no name of a folder. */
void plan_check(const struct scenario *, const struct job_spec *, struct diag *);
/* An empty folder for a job's files. What is there is removed if an earlier run has made it, which a mark in it says; else it is an
 * error, and stays as it is. */
bool plan_folder(const char *dir, struct diag *);
/* Whether its jobs of this kind may be resized, by whom the life cycle says. */
bool plan_is_elastic(const struct scenario *, const struct job_detail *);
void plan_make(struct arena *, const struct scenario *, const struct job_spec *, struct job_plan *);
const char *const *plan_command(struct arena *, const struct scenario *, const struct job_spec *, const struct job_plan *,
                                const struct plan_files *);
/* Of process i; `world`: ranks of the group that begins (the operator's are fixed by the object). */
const char *const *plan_environment(struct arena *, const struct job_plan *, uint32_t i, uint32_t world,
                                    const char *address, int port);

#endif
