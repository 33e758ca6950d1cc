/* lines.c - text files line by line.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"

#define FIRST_BUFFER ((size_t)256 << 10)

bool line_open(struct line_reader *r, const char *file, struct diag *d)
{
    *r = (struct line_reader){.file = file, .diag = d};
    errno = 0;
    r->gz = strcmp(file, "-") == 0 ? gzdopen(dup(STDIN_FILENO), "rb") : gzopen(file, "rb");
    if (r->gz == NULL) {
        diag_error(d, file, 0, NULL, "cannot open: %s", strerror(errno ? errno : ENOMEM));
        r->failed = true;
        return false;
    }
    gzbuffer(r->gz, 128 << 10);
    r->cap = FIRST_BUFFER;
    r->buffer = xmalloc(r->cap + 1); /* one more for the NUL of a last line without an end */
    return true;
}

static void fail(struct line_reader *r, const char *what)
{
    diag_error(r->diag, r->file, r->line + 1, NULL, "%s", what);
    r->failed = true;
}

/* zlib puts the name of the file before its reason. */
static void report_read_error(struct line_reader *r)
{
    int code = Z_OK;
    const char *why = gzerror(r->gz, &code), *behind = why;
    if (code == Z_OK || code == Z_STREAM_END) return;
    for (const char *p = why; (p = strstr(p, ": ")) != NULL;) behind = p += 2;
    if (code != Z_ERRNO) {
        fail(r, behind);
        return;
    }
    diag_error(r->diag, r->file, 0, NULL, "cannot read: %s", strerror(errno));
    r->failed = true;
}

/* Moves the rest to the front, grows when it fills the buffer, reads more. False at the end or after an error. */
static bool refill(struct line_reader *r)
{
    if (r->at > 0) {
        memmove(r->buffer, r->buffer + r->at, r->have - r->at);
        r->have -= r->at;
        r->at = 0;
    }
    if (r->have == r->cap) {
        if (r->cap >= LINE_MAX_BYTES) return fail(r, "the line is longer than 64 MiB"), false;
        r->cap *= 2;
        r->buffer = xrealloc(r->buffer, r->cap + 1);
    }
    int got = gzread(r->gz, r->buffer + r->have, (unsigned)(r->cap - r->have));
    if (got > 0) r->have += (size_t)got;
    if (got > 0) return true;
    r->eof = true;
    report_read_error(r);
    return false;
}

/* Where the current line ends, or NULL when the file ends first. */
static char *find_end(struct line_reader *r)
{
    size_t seen = 0;
    for (;;) {
        char *end = memchr(r->buffer + r->at + seen, '\n', r->have - r->at - seen);
        if (end != NULL) return end;
        seen = r->have - r->at;
        if (r->eof || !refill(r)) return NULL;
    }
}

bool line_next(struct line_reader *r, char **line)
{
    if (r->failed) return false;
    char *end = find_end(r);
    if (r->failed || (end == NULL && r->at == r->have)) return false;
    char *begin = r->buffer + r->at;
    r->ended = end != NULL;
    if (end == NULL) end = r->buffer + r->have;
    r->at = (size_t)(end - r->buffer) + r->ended;
    if (memchr(begin, '\0', (size_t)(end - begin)) != NULL) {
        fail(r, "the line holds a NUL byte; is this a text file?");
        return false;
    }
    if (end > begin && end[-1] == '\r') end--;
    if (r->line == 0 && end - begin >= 3 && memcmp(begin, "\xef\xbb\xbf", 3) == 0) begin += 3;
    *end = '\0';
    r->length = (size_t)(end - begin);
    r->line++;
    *line = begin;
    return true;
}

bool line_close(struct line_reader *r)
{
    if (r->gz != NULL) gzclose(r->gz);
    free(r->buffer);
    r->gz = NULL;
    r->buffer = NULL;
    return !r->failed;
}

size_t line_split(char *line, char separator, char **field, size_t max)
{
    size_t n = 0;
    for (char *p = line;; *p++ = '\0') {
        if (n < max) field[n] = p;
        n++;
        p = strchr(p, separator);
        if (p == NULL) return n;
    }
}

size_t line_split_blanks(char *line, char **field, size_t max)
{
    static const char blanks[] = " \t\r";
    size_t n = 0;
    for (char *p = line + strspn(line, blanks); *p; p += strspn(p, blanks)) {
        if (n < max) field[n] = p;
        n++;
        p += strcspn(p, blanks);
        if (*p) *p++ = '\0';
    }
    return n;
}
