/* import_reader.h - what the readers of the trace formats share: texts to values, one row at a time into the table.
 *
 *     struct import_row row = { .line = line, .limit_ns = TIME_NEVER };
 *     bool ok = import_seconds(r, line, "duration", text, &row.work_ns);
 *     ok &= import_gpus(r, line, "num_gpus", text, &row.shares);
 *     if (ok) import_add(r, &row);
 *
 * Each value function reports what is wrong at file, line and column with what to do about it, and gives false; the
 * reader goes on with the next row, so that all errors of a file are collected. Private to input/import*.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_IMPORT_READER_H
#define TRAINYARD_INPUT_IMPORT_READER_H

#include "input/import.h"

/* Bounds beyond which a figure is a mistake: 100 years, ten million GPUs. */
#define IMPORT_MAX_NS   (INT64_C(36525) * 86400 * 1000000000)
#define IMPORT_MAX_GPUS INT64_C(10000000)

struct import_reader {
    struct import_result *result;
    const struct import_format *format;
    const struct import_options *options;
    const char *column[N_IMPORT_FIELDS]; /* the trace's name of each field: the map's, else the format's */
    const char *file, *file_team;        /* file_team: the team of rows without one */
    struct diag *diag;
    uint64_t last_id; /* as long as ids are ascending numbers */
    bool ids_ascend;
    struct hmap ids; /* hash of the id -> line, once they do not ascend */
    size_t errors_before;
};

struct import_row {
    int line;
    int64_t submit_ns, work_ns, limit_ns;
    int64_t shares;   /* in all; 0: holds no GPU, left out with a note */
    int64_t replicas; /* 0: by gpus_per_node */
    int32_t priority;
    const char *job;                  /* NULL: its row number */
    const char *queue, *team, *class; /* NULL or "": not said */
};

/* Splits, numbers and keeps the row. */
void import_add(struct import_reader *r, const struct import_row *row);

/* Counts one row under a note; `text` must be a constant. Line 0: the trace as a whole. */
void import_note(struct import_reader *r, const char *text, int line);

bool import_seconds(struct import_reader *r, int line, const char *column, const char *text, int64_t *ns);
bool import_gpus(struct import_reader *r, int line, const char *column, const char *text, int64_t *shares);
bool import_int(struct import_reader *r, int line, const char *column, const char *text, int64_t min, int64_t max,
                int64_t *x);

/* "2017-10-09 07:01:55", also with T and decimals, without zone: ns since 1970-01-01 of the same clock. */
bool import_date(struct import_reader *r, int line, const char *column, const char *text, int64_t *ns);

/* An error at a column, with help. */
void import_error(struct import_reader *r, int line, const char *column, const char *help, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* Whether a job cannot do without the field, or the map asks for it: then its column must be there. */
bool import_field_needed(const struct import_reader *r, enum import_field f);

/* The readers, and what their first lines look like. */
bool import_csv_read(struct import_reader *r, const char *file);
bool import_swf_read(struct import_reader *r, const char *file);
bool import_sacct_read(struct import_reader *r, const char *file);
bool import_batsim_read(struct import_reader *r, const char *file);
bool import_csv_probe(const struct import_format *f, const char *line);
bool import_swf_probe(const struct import_format *f, const char *line);
bool import_sacct_probe(const struct import_format *f, const char *line);
bool import_batsim_probe(const struct import_format *f, const char *line);

#endif
