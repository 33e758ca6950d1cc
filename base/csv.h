/* csv.h - CSV read row by row, and written fast.
 *
 * Reading is libcsv's, in strict mode, over plain or gzip files ("-" is stdin). The first row is the header; the caller
 * names the columns that it needs and may use, in its own order, and gets them by that order, wherever they stand.
 *
 *     static const char *const need[] = { "job_id", "submitted" };
 *     static const char *const may[]  = { "team" };
 *     static bool on_row(void *arg, const struct csv_row *row)
 *     {
 *         const char *id = csv_field(row, 0), *team = csv_field(row, 2);   // NULL: the file lacks that column
 *         return true;                                                   // false stops the reading
 *     }
 *     csv_read("jobs.csv", &(struct csv_spec){ need, 2, may, 1, on_row, arg }, d);
 *
 * Errors go to diag with file and line: a missing column (with the columns that are there), a column named twice, a row
 * whose number of fields is not the header's (skipped), a quote out of place, a NUL, a damaged gzip. Blank lines are
 * passed over. A UTF-8 byte order mark is dropped. Fields live until the row function returns; a line end within a
 * quoted field arrives as LF.
 * Cost: about 100 MB/s; memory is that of one row, at most CSV_ROW_MAX bytes.
 *
 * One line at a time, for files of which only some lines are CSV: csv_split.
 *
 * Writing is RFC 4180 with LF, quoting only where needed:
 *
 *     struct csv_writer w;
 *     csv_writer_begin(&w, file);                       // FILE *; 64 KiB of own buffer in the struct
 *     csv_write_str(&w, name); csv_write_i64(&w, 8); csv_write_seconds(&w, end_ns);
 *     csv_write_row_end(&w);
 *     if (!csv_writer_end(&w)) ...                      // false when any write failed; errno says why
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_BASE_CSV_H
#define TRAINYARD_BASE_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"

#define CSV_ROW_MAX ((size_t)64 << 20)

struct csv_row {
    const char *file;
    int line;                 /* on which the row begins */
    size_t n;                 /* fields in the row */
    const char *const *field; /* all of them, in the file's order, NUL-terminated */
    const int *column;        /* field of each wanted column, -1 where the file has none */
};

/* The wanted column `want`: first the needed ones, then the optional ones. NULL when the file has none. */
static inline const char *csv_field(const struct csv_row *row, size_t want)
{
    return row->column[want] < 0 ? NULL : row->field[row->column[want]];
}

struct csv_spec {
    const char *const *need;
    size_t n_need;
    const char *const *may;
    size_t n_may;
    bool (*row)(void *arg, const struct csv_row *row);
    void *arg;
};

/* False when the file could not be read to its end or had errors; a stop by the row function is no error. */
bool csv_read(const char *file, const struct csv_spec *spec, struct diag *d);

/* Splits one line in place, without quotes and the blanks around fields; gives the number of fields, of which at most `max`
 * are stored, and 0 for a blank line or a quote out of place (also of one that goes on in the next line). */
size_t csv_split(char *line, char **field, size_t max);

#define CSV_BUFFER_BYTES 65536

struct csv_writer {
    FILE *to;
    size_t n;
    bool in_row, failed;
    int error; /* errno of the first failure */
    char buffer[CSV_BUFFER_BYTES];
};

void csv_writer_begin(struct csv_writer *w, FILE *to);
void csv_write_str(struct csv_writer *w, const char *text);
void csv_write_i64(struct csv_writer *w, int64_t x);
void csv_write_u64(struct csv_writer *w, uint64_t x);
void csv_write_seconds(struct csv_writer *w, int64_t ns); /* exact decimal seconds */
void csv_write_empty(struct csv_writer *w);
void csv_write_row_end(struct csv_writer *w);

/* Flushes; false when any write failed. The FILE stays open. */
bool csv_writer_end(struct csv_writer *w);

#endif
