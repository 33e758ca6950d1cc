/* parts.h - the files of a run, one by one; for run/ only.
 *
 * A run is a `struct run_inside` both while it is written and after it was read: writer and reader fill the same
 * structure, and text is made from it and parsed into it. All that it points to lies in its arena.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_RUN_PARTS_H
#define TRAINYARD_RUN_PARTS_H

#include "base/arena.h"
#include "base/array.h"
#include "base/diag.h"
#include "base/hmap.h"
#include "base/str.h"
#include "run/metrics.h"
#include "run/out.h"
#include "run/run.h"

enum { RUN_FORMAT = 1 };
enum run_part { PART_TIMELINE, PART_JOBS, PART_LEDGER, N_RUN_PARTS };
extern const char *const run_part_names[N_RUN_PARTS];

/* What the manifest says of a file. */
struct run_part_info {
    bool present;
    uint64_t bytes, rows; /* rows or records */
    uint32_t crc;
};

struct run_inside {
    struct run run;
    struct arena arena;
    struct intern names; /* teams, queues, groups, kinds */
    struct metrics *metrics;
    struct run_part_info part[N_RUN_PARTS];
    ARRAY(struct run_job_view) jobs;
    ARRAY(struct run_ledger_row) ledger;
};

struct run_inside *inside_create(void);
void inside_destroy(struct run_inside *);
/* Points run.jobs and run.ledger at the rows, feeds the metrics with both and ends them. */
void inside_finish(struct run_inside *);
const char *inside_name(struct run_inside *, const char *text);
void inside_keep_job(struct run_inside *, const struct job_row *);

/* run.json */
void manifest_text(struct str *, const struct run_inside *, bool with_summary);
/* The files that a run's directory may hold, run.json last. */
enum { N_RUN_FILES = 6 };
extern const char *const run_files[N_RUN_FILES];
/* Whether a run may be written into `dir`: nothing of these names is there, or they are a run's, which `force` replaces.
 * A scenario.json or jobs.csv that is somebody else's is never touched. */
bool run_may_write(const char *dir, bool force, char **err);
/* False and entries in the diag when it is no manifest of a run. `name` stands in the errors. */
bool manifest_parse(struct run_inside *, const char *name, const char *text, size_t n, struct diag *);

/* jobs.csv. Rows that are no good are reported and left out. */
struct csv_column {
    const char *name, *help;
};
extern const struct csv_column jobs_csv_columns[];
extern const size_t n_jobs_csv_columns;
void jobs_csv_header(struct out *);
void jobs_csv_row(struct out *, const struct job_row *);
bool jobs_csv_read(struct run_inside *, const char *path, struct diag *);

/* ledger.csv */
extern const struct csv_column ledger_csv_columns[];
extern const size_t n_ledger_csv_columns;
/* The cells that are not 0, by group, queue, team, kind, cause, activity. */
void ledger_rows(struct run_inside *, const struct ledger *, const struct run_meta *);
void ledger_csv_write(struct out *, const struct run_inside *);
bool ledger_csv_read(struct run_inside *, const char *path, struct diag *);

/* A field of CSV, quoted where RFC 4180 and readers that trim blanks demand it. */
void out_csv_text(struct out *, const char *text);

/* Seconds to ns, "" to -1; false when it is no plain decimal that fits. */
bool parse_ns(const char *text, int64_t *ns);

#endif
