/* lines.h - text files line by line, and fields split by a character or by blanks.
 *
 * For SWF, sacct's pipes and JSON lines; plain or gzip, "-" is stdin, LF or CRLF, with or without a byte order
 * mark, the last line with or without its end.
 *
 *     struct line_reader r;
 *     if (!line_open(&r, "trace.swf.gz", d)) return false;
 *     char *line, *field[32];
 *     while (line_next(&r, &line)) {
 *         size_t n = line_split_blanks(line, field, 32);
 *         if (n < 18) diag_error(d, r.file, r.line, NULL, "%zu fields", n);
 *     }
 *     if (!line_close(&r)) ...                          // reported: read error, damaged gzip, line too long, NUL
 *
 * A line is the reader's and may be changed in place; it is gone at the next line_next.
 * Cost: above 500 MB/s plain; memory is one line, at most LINE_MAX_BYTES.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_BASE_LINES_H
#define TRAINYARD_BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

#define LINE_MAX_BYTES ((size_t)64 << 20)

struct line_reader {
    const char *file; /* as given; must stay good */
    int line;         /* number of the current line, from 1 */
    size_t length;    /* of the current line, without its end */
    bool ended;       /* the current line had a line end */
    bool failed;
    void *gz;
    char *buffer;
    size_t at, have, cap; /* the unread part of the buffer is [at, have) */
    bool eof;
    struct diag *diag;
};

bool line_open(struct line_reader *r, const char *file, struct diag *d);

/* The next line, NUL-terminated, without its end; false at the end or after an error. */
bool line_next(struct line_reader *r, char **line);

/* False when the reading failed (already reported). */
bool line_close(struct line_reader *r);

/* Splits in place; gives the number of fields, of which at most `max` are stored. An empty line is one empty field. */
size_t line_split(char *line, char separator, char **field, size_t max);

/* Splits at runs of spaces and tabs, leading and trailing ones ignored; an empty line has no field. */
size_t line_split_blanks(char *line, char **field, size_t max);

#endif
