/* scene_parts.h - how a scene is built, record by record; for viz/model only.
 *
 * A builder holds the scene and what is under way: which allocation groups hold which GPUs, what each job does, which nodes
 * are down. A span enters its track when it ends (sorted by begin, which matters only where jobs share a GPU); what is
 * still under way enters at the end of a reading as a span with OPEN_END, and leaves again when the next reading begins.
 * So a scene that was read in pieces equals one that was read at once.
 *
 * Records are not trusted. Numbers of jobs, nodes and GPUs that cannot be are left out and counted; times that go back are
 * taken as the latest so far; a GPU is never held by more than its 1,000 shares. Jobs are bounded by the records read, GPU
 * tracks by the scenario (or MAX_GUESSED_GPUS where there is none), spans by MAX_SPANS.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_MODEL_SCENE_PARTS_H
#define TRAINYARD_VIZ_MODEL_SCENE_PARTS_H

#include "base/arena.h"
#include "base/array.h"
#include "base/hmap.h"
#include "base/str.h"
#include "input/scenario.h"
#include "run/class_waits.h"
#include "study/blocker.h"
#include "viz/model/scene.h"

enum { NO_HOLD = UINT32_MAX, MAX_GUESSED_GPUS = 1 << 17, MAX_SPANS = 1 << 27 };
/* Times beyond are taken as this one (about 146 years), so that sums and differences of times cannot overflow. */
#define LATEST_NS (INT64_MAX / 2)

/* For curves: from a moment on so many shares show something else (SHOW_NOTHING: nobody holds them), or so many more jobs wait, run.
 * Mostly in order of time; what turns out to have been something else is told by changes that lie back. */
struct show_change {
    int64_t ns;
    int32_t shares;
    uint8_t from, to;
};
struct job_change {
    int64_t ns, shares; /* that are waited for */
    int8_t waits, runs;
};

struct hold_gpu { uint32_t track; uint16_t shares; };

/* An allocation group that holds GPUs. */
struct hold {
    uint64_t key;              /* job << 32 | group */
    int64_t since_ns, shares;
    int32_t job;
    uint32_t next, prev;       /* of its job */
    uint8_t show, activity, cause, told; /* told: what it shows since since_ns, by the changes so far */
    ARRAY(struct hold_gpu) gpus;
};

/* A GPU: what is held of it, and what of it is down since when. */
struct gpu_now {
    int64_t down_since_ns;
    uint32_t node;
    uint32_t pool;             /* the hold of no job that has it, whose shares are lent to jobs' holds; NO_HOLD: none */
    uint32_t held : 11, down : 11, down_show : 8; /* shares; what is shown of `down` */
};

struct job_now {
    int64_t since_ns;          /* of the span under way on its track */
    int64_t segment_ns;        /* its ranks step, or write a checkpoint, since */
    int64_t until_ns;          /* they stopped last; -1: never */
    int64_t step, high;        /* where it is, and the farthest it was */
    int64_t told_shares;       /* that it waits for, by the changes so far */
    uint32_t first_hold;
    uint8_t show, cause;       /* show SHOW_NOTHING: not submitted, or ended */
    uint16_t queue;            /* as scene_span's `shares` */
    bool steps;
};

struct groups_now { uint32_t first_track, n_tracks, lowest; }; /* a node group; every GPU below `lowest` is taken */

struct file_mark { int64_t mtime_ns, bytes; uint64_t inode; };

struct builder {
    struct scene scene;
    struct arena arena;        /* the cluster's names */
    struct intern names;       /* of jobs, teams and queues */
    struct timeline_reader *timeline;
    struct scenario *scenario; /* kept while jobs without rows need names from it; NULL: none */
    struct job_spec *specs;    /* its workload; NULL: not drawn */
    size_t n_specs;
    bool specs_owned;
    char *dir, *run_notes;     /* what run_open said */
    char *timeline_note;       /* why there is no timeline */
    const char *cluster_note;  /* why there is no scenario */
    struct str title;
    struct file_mark manifest, rows; /* as they were read */
    uint64_t n_records, n_strange, n_back, n_untold; /* strange: left out; back: moved on to the latest; untold: beyond MAX_SPANS */
    int64_t now_ns;
    struct hmap hold_of;       /* key -> hold */
    struct hmap by_id;         /* hash of a job's id -> number; made when first asked */
    uint64_t by_id_version;
    ARRAY(struct hold) holds;
    ARRAY(uint32_t) spare;     /* holds that are free */
    ARRAY(uint32_t) opened;    /* GPU tracks that have a span with OPEN_END, once a span */
    struct class_waits classes;
    ARRAY(struct show_change) show_changes;
    ARRAY(struct job_change) job_changes;
    ARRAY(struct record) events;
    ARRAY(int32_t) blocker_of; /* by event */
    struct blockers blockers;
    ARRAY(struct scene_job) jobs;
    ARRAY(struct job_now) job_now;
    struct gpu_now *gpu_now;   /* by track */
    uint8_t *node_show;        /* SHOW_NOTHING: up */
    struct groups_now *groups;
    uint32_t n_groups, cap_job_tracks;
    uint32_t guessed_nodes, guessed_gpus; /* a node, where there is no scenario */
    uint64_t closed_spans, marks_of; /* marks_of: the version that `changed_ns` of tracks is being made for */
};

static inline struct builder *builder_of(const struct scene *s) { return (struct builder *)(uintptr_t)s; }

/* scene_cluster.c: nodes, racks and GPU tracks of the scenario, or guessed from the records. */
void cluster_build(struct builder *);
/* True when a record names a node or GPU that a guessed cluster lacks: all has to be read again. */
bool cluster_lacks(const struct builder *, const struct record *);

/* scene_tracks.c: what GPUs go through. */
void tracks_record(struct builder *, const struct record *);
void tracks_start(struct builder *, int32_t job);                                /* its ranks step from now on */
/* What its groups showed as work was something else. */
void tracks_turn(struct builder *, int32_t job, int64_t from_ns, int64_t to_ns, unsigned show);
void tracks_open(struct builder *);  /* spans without an end enter */
void tracks_shut(struct builder *);  /* and leave */
void track_push(struct builder *, struct scene_track *, const struct scene_span *);
static inline void track_mark(struct scene_track *t, int64_t ns) { if (ns < t->changed_ns) t->changed_ns = ns; }
void track_cut_open(struct scene_track *);

/* scene_jobs.c: what jobs go through. */
void jobs_record(struct builder *, const struct record *);
void jobs_open(struct builder *);
void jobs_shut(struct builder *);
void jobs_of_rows(struct builder *);   /* no timeline: from jobs.csv alone */
void jobs_match(struct builder *);     /* rows, names, what was waited for in queues */

/* Whether an event belongs to a job that the scene has. */
static inline bool builder_has_job(const struct builder *b, int32_t job) { return job >= 0 && (size_t)job < b->jobs.n; }

#endif
