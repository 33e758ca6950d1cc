/* import.h - traces of other systems, and our own job table, read into one table of jobs.
 *
 *     struct import_result r;
 *     const struct import_format *f = import_format_find("philly");     // NULL: unknown; import_format_names() for help
 *     if (!import_read(f, files, n_files, &(struct import_options){ .gpus_per_node = 8 }, &r, d)) exit(3);
 *     for (size_t i = 0; i < r.n_jobs; i++) use(&r.jobs[i]);
 *     import_free(&r);
 *
 * The jobs are `struct job_spec` as the scenario holds them, sorted by time of submission, equal times in the order of
 * the input. `team` and `queue` are indices into r.teams and r.queues, `detail` into r.classes; index 0 is "" in each
 * ("not said": the trace's `defaults` apply). The reader of the scenario re-maps them and may take over r.jobs
 * (malloc'ed; set r.jobs to NULL) without a copy.
 *
 * What is kept: the trace's own ids (numbers as numbers, others as text in r.id_text), else row numbers from 1 in the
 * order of the input. Times are exact: decimal text to ns, halves away from zero, never by way of a double.
 * Traces with dates (philly, sacct) count from their first submission; others keep their own clock.
 *
 * GPUs: a job of n GPUs is one replica, or, with gpus_per_node g, r replicas of n / r GPUs, where r is the smallest
 * number >= n / g, rounded up, that divides n: 16 on nodes of 8 are 2 x 8, 12 are 2 x 6, 9 are 3 x 3. What did not fill
 * its nodes is noted. CPU traces (swf, batsim) give processors; one processor is taken as one GPU.
 *
 * Missing or contradictory data is of two sorts. A row that is wrong (no number, negative, NaN, too large, a missing
 * column, an id twice) is an error in `d` with file, line, column and what to do; all are collected, import_read gives
 * false, and nothing is skipped silently. What the format itself allows as unknown (-1 in SWF, "Unknown" in sacct, a
 * job cancelled before it started, zero GPUs) is a note with its count and first line; r.notes holds them, with the
 * general ones of each format (a trace's durations already contain its failures, ...).
 *
 * Cost: about 1 M rows/s; memory 64 bytes a job beside textual ids.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_IMPORT_H
#define TRAINYARD_INPUT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/diag.h"
#include "base/hmap.h"
#include "base/str.h"
#include "input/scenario.h"

/* What a column of a trace may mean. The names are the keys of `map` in a scenario's trace. */
#define IMPORT_FIELDS(X)                                                                                               \
    X(FIELD_JOB, "job")                                                                                                \
    X(FIELD_SUBMIT, "submit") X(FIELD_WORK, "work") X(FIELD_LIMIT, "limit") X(FIELD_GPUS, "gpus")                      \
        X(FIELD_REPLICAS, "replicas") X(FIELD_PRIORITY, "priority") X(FIELD_QUEUE, "queue") X(FIELD_TEAM, "team")      \
            X(FIELD_CLASS, "class")
#define X_ENUM(e, ...) e,
enum import_field { IMPORT_FIELDS(X_ENUM) N_IMPORT_FIELDS };
#undef X_ENUM
extern const char *const import_field_names[N_IMPORT_FIELDS];

struct import_options {
    const char *column[N_IMPORT_FIELDS]; /* `map`: the trace's column for a field; NULL: as the format has it */
    uint32_t gpus_per_node;              /* splits jobs into replicas; 0: one replica a job */
};

struct import_note {
    const char *text;
    uint64_t count; /* jobs or rows concerned; 0: the trace as a whole */
    const char *file;
    int line; /* the first of them; 0: none */
};

struct import_result {
    const struct import_format *format;
    struct job_spec *jobs;
    size_t n_jobs, cap_jobs;
    struct str id_text;                   /* ids with JOB_ID_TEXT: offsets into it, each NUL-terminated */
    struct intern teams, queues, classes; /* 0: "" */
    ARRAY(struct import_note) notes;
    uint64_t rows;          /* rows read, also those that gave no job */
    int64_t week_offset_ns; /* time of the week at time 0, from Monday 00:00 of the trace's own clock; -1: not known */
    uint32_t machines;      /* nodes of the system when the trace says it, else 0 */
    struct arena arena;     /* texts of the notes */
};

struct import_reader; /* import_reader.h: what the readers of the formats share */

struct import_format {
    const char *name, *description;
    const char *origin;                  /* who published the trace, with its licence; NULL: whoever has such files */
    const char *unit;                    /* what a "GPU" is in the trace: "GPU" or "processor" */
    uint32_t gpus_per_node;              /* of the nodes that `import` writes unless told otherwise */
    bool dated;                          /* submissions are dates; else seconds */
    const char *column[N_IMPORT_FIELDS]; /* names in the trace; NULL: the format lacks it */
    unsigned fixed;                      /* bit f: field f cannot be mapped to another column */
    bool (*read)(struct import_reader *, const char *file);
    bool (*probe)(const struct import_format *, const char *line); /* whether the first line looks like it */
    const char *notes[4]; /* what every trace of the format lacks or means; NULL ends them */
};

extern const struct import_format import_formats[];
extern const size_t n_import_formats;

const struct import_format *import_format_find(const char *name);
/* The format that a file looks like, or NULL; "-" cannot be probed. */
const struct import_format *import_format_probe(const char *file);
/* All names, for help and "did you mean"; *n of them. */
const char *const *import_format_names(size_t *n);

/* Reads one or more files into one table. False after errors (in d); r can be freed in any case. */
bool import_read(const struct import_format *, const char *const *files, size_t n_files, const struct import_options *,
                 struct import_result *r, struct diag *d);
void import_free(struct import_result *r);

/* Id of a job as text; buf of >= 24 bytes is used for numbers. */
const char *import_job_id(const struct import_result *r, const struct job_spec *job, char buf[24]);

/* Sorts by time of submission, equal times as they stand; two thirds of a second a million. */
void import_sort(struct job_spec *jobs, size_t n);

/* Replicas of a job of `gpus` on nodes of g GPUs, as said above: the smallest number >= gpus / g that divides gpus. */
uint32_t import_replicas(uint32_t gpus, uint32_t g);

/* "173 jobs of zero duration; ... (first: nasa.swf:248)", appended. */
void import_note_text(const struct import_note *note, struct str *out);

/* Totals over the table, exact. */
struct import_totals {
    int64_t first_ns, last_ns;  /* submissions */
    uint32_t largest_gpus;      /* of a job, fractions rounded up */
    uint32_t largest_replica;   /* GPUs of a replica */
    unsigned __int128 share_ns; /* sum of shares x work */
};
struct import_totals import_totals(const struct import_result *r);

/* What `import` writes: X.jobs.csv and X.json beside it. Columns of X.jobs.csv (docs/traces.md):
 * job,submit_s,work_s,limit_s,gpus,replicas,priority,queue,team,class - of which job, submit_s, work_s and gpus must be
 * there; gpus is in all, not a replica; limit_s empty: none. */
struct import_cluster {
    uint32_t nodes, gpus; /* a node; 0: chosen, see import_cluster_choose */
};

/* Fills what is 0: the trace's own size, else the fewest nodes that hold the largest job and on which the offered load
 * over the trace's span is at most 80 %. *why says which; NULL when both were given. */
void import_cluster_choose(const struct import_result *r, struct import_cluster *c, const char **why);
/* Writes `json_file` and the job table beside it (X.json gives X.jobs.csv). */
bool import_write(const struct import_result *r, struct import_cluster c, const char *why, const char *source,
                  const char *json_file, struct diag *d);

#endif
