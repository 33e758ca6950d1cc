/* scene.h - a run laid out for looking at: who held which GPU when, what each job went through, what happened.
 *
 *     struct scene *s = scene_open("out/operator/0", &err);      // NULL and err (to free): no run there
 *     if (s->notes) ...                                          // damaged, cut off, still growing: whole lines, shown in the window
 *     while (following) if (scene_poll(s)) redraw();             // what was added to the files since
 *     scene_close(s);
 *
 * Built from the run directory alone: run.json, jobs.csv and ledger.csv (run/run.h), the records of timeline.bin, and the
 * nodes, racks and blocks of scenario.json. Simulated and live runs look alike.
 *
 * Tracks. A track is a row of spans in order of their begin: one track a GPU (SCENE_GPUS, in order of blocks, racks,
 * nodes, GPUs), one a job (SCENE_JOBS, in order of submission). A GPU's spans are times in which an allocation group held it;
 * when nobody held it there is a gap, unless the node was down. They do not overlap, but where several jobs share a GPU
 * (`shares` below 1,000). A job's spans cover it from submission to end without gaps: a wait reason, work or redone work.
 *
 * What a span shows (`show`): an activity of the GPU ledger (enum activity), or
 *   SHOW_WORK, SHOW_REDONE  the ranks step (anew, or again below the old high-water mark). Between two records a run knows
 *                           only how many steps were done; their parts (compute, communication ...) are told by job in
 *                           jobs.csv and by sums in ledger.csv.
 *   SHOW_WAIT + reason      job tracks: waits, by enum wait_reason
 * In its queue a job waits for what its class waits for (run/class_waits.h), which may change often: its track has one span of that time with the
 * reason that took most of it (`shares` is the class + 1); scene_wait_at tells the moments. Runs of before do not name the class (`shares` is
 * QUEUE_UNTOLD), nor do runs without a timeline.
 * The integral of a show over all GPU tracks equals the ledger's: held activities and down exactly, cell by cell; work and redone
 * together the ledger's class work; what is left of the existing GPUs is idle. scene_check tells where it does not; a run
 * that ended well is checked when it is opened, and `notes` says so.
 * What a job uses of a shared Ray cluster (ray_cluster "shared") is the job's; the rest of its pods, of no job, shows idle_pod.
 *
 * Level of detail of the run: --record full has all; --record jobs has no GPU tracks (`has_gpus` false) and job tracks from
 * the job records; --record none has jobs.csv alone. Views say which option shows more.
 *
 * Growing runs: a span without an end has to_ns = OPEN_END; scene_to(s, span) gives the end to draw. Job ids come from jobs.csv,
 * which has ended jobs only; a running job is called by its number, as records do, plus 1, unless scenario.json names it.
 *
 * Cost: one pass over the timeline; 24 bytes a span, 44 an event, about 220 a job. 1 M spans open within 1 s on one core.
 * All memory is the scene's. Nothing of it changes but in scene_poll.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_MODEL_SCENE_H
#define TRAINYARD_VIZ_MODEL_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/run.h"

enum { SHOW_WORK = N_ACTIVITIES, SHOW_REDONE, SHOW_WAIT, N_SHOWS = SHOW_WAIT + N_WAIT_REASONS, SHOW_NOTHING = 255 };
const char *show_name(unsigned show);                /* "work", "image_pull", "quota" ... as in the files */
const char *show_help(unsigned show);
enum activity_class show_class(unsigned show);       /* of SHOW_WORK and SHOW_REDONE: CLASS_WORK; of waits: CLASS_IDLE */

#define OPEN_END INT64_MAX

struct scene_span {
    int64_t from_ns, to_ns; /* from < to */
    int32_t job;            /* its number; NO_JOB: none (a node that is down) */
    uint16_t shares;        /* of this GPU, 1 to 1,000; of a job's track: in a queue its class + 1 or QUEUE_UNTOLD, else 0 */
    uint8_t show, cause;    /* above; enum cause */
};

enum { QUEUE_UNTOLD = UINT16_MAX };

struct scene_track {
    struct scene_span *v;
    uint32_t n, cap;
    int64_t changed_ns; /* spans that begin before are those of the last version, but for one without an end; INT64_MAX: all are */
};

enum scene_set { SCENE_GPUS, SCENE_JOBS, N_SCENE_SETS };

struct scene_node {
    const char *name, *group;    /* "h100-17", "h100" */
    uint32_t rack;               /* index into racks */
    uint32_t first_gpu, n_gpus;  /* tracks of SCENE_GPUS */
};
struct scene_rack {
    const char *name, *block;    /* "rack 3", "block 0"; one rack "all" where the scenario has no topology */
    uint32_t first_node, n_nodes;
};

struct scene_job {
    const char *id, *team, *queue, *kind; /* "" when not known */
    enum job_state state;
    int64_t gpu_shares;
    int64_t submit_ns, admitted_ns, allocated_ns, started_ns, finished_ns; /* -1: not (yet) */
    uint32_t restarts, preemptions, failures, checkpoints, rollbacks;
    const struct job_row *row;            /* of jobs.csv; NULL while it runs */
    uint32_t first_event, n_events;       /* its records in `by_job` */
};

struct scene {
    struct run *run;
    const char *title;              /* "demo - operator, replication 0" */
    char *notes;                    /* NULL: all is well */
    bool has_timeline, has_gpus, growing;
    int64_t begin_ns, end_ns;       /* what there is: 0 to the end of the run, or so far */
    int64_t total_shares;           /* existing at the begin */
    struct scene_track *tracks[N_SCENE_SETS];
    uint32_t n_tracks[N_SCENE_SETS];
    struct scene_node *nodes;
    struct scene_rack *racks;
    struct scene_job *jobs;         /* by number */
    struct record *events;          /* in order of time: all records but group_*, steps, class_wait */
    int32_t *blockers;              /* by event: the job that let its job go on, or took its GPUs (study/blocker.h); NO_JOB: none known */
    uint32_t *by_job;               /* indices of events, job by job */
    uint32_t n_nodes, n_racks, n_jobs, n_events;
    uint64_t n_spans, version;      /* of GPU and job tracks; version: grows by 1 with each change */
    uint64_t generation;            /* grows when all was read anew, since a guess of the cluster was too small */
};

struct scene *scene_open(const char *dir, char **err);
/* Of a run that is open already, which becomes the scene's; `notes` (to free; NULL) is what run_open said. */
struct scene *scene_of_run(struct run *, char *notes);
bool scene_poll(struct scene *);  /* true: something is new */
void scene_close(struct scene *);

int64_t scene_to(const struct scene *, const struct scene_span *);
/* What a span of a job's track waits for at a moment within it, and until when: its reason, or in a queue that of its class. */
unsigned scene_wait_at(const struct scene *, const struct scene_span *, int64_t ns, int64_t *until_ns);
/* The span of a track at a moment, NULL: a gap. The first that begins at or after a moment: its index, n when none. O(log n). */
const struct scene_span *scene_at(const struct scene *, enum scene_set, uint32_t track, int64_t ns);
uint32_t scene_seek(const struct scene *, enum scene_set, uint32_t track, int64_t ns);
/* The first span of a track that may reach beyond a moment: the last before it; where jobs share a GPU, as many as 1,000 shares hold. */
uint32_t scene_reach(const struct scene *, enum scene_set, uint32_t track, int64_t ns);
/* The first event at or after a moment; n_events when none. */
uint32_t scene_event_seek(const struct scene *, int64_t ns);

int32_t scene_find_job(const struct scene *, const char *id); /* its number, -1: none */
uint32_t scene_node_of(const struct scene *, uint32_t gpu);   /* node of a GPU track */

/* An event in words, e.g. "node h100-17 failed: XID 79", "evicted: preempted by tune-3". */
struct str;
void scene_event_text(const struct scene *, const struct record *, struct str *);
/* Events that must never be lost to sight: faults, nodes down, evictions, failed jobs, no progress. */
bool scene_event_is_failure(const struct record *);
/* Who ended a job's wait that ended at ns, or took its GPUs then: the first of `blockers` of its events of that moment. O(log n). */
int32_t scene_blocker(const struct scene *, int32_t job, int64_t ns);

/* Appends a line for each show whose integral over the tracks differs from the ledger; true when there is none. */
bool scene_check(const struct scene *, struct str *);

#endif
