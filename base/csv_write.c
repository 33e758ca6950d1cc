/* csv_write.c - CSV written fast.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/csv.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

void csv_writer_begin(struct csv_writer *w, FILE *to)
{
    w->to = to;
    w->n = 0;
    w->in_row = w->failed = false;
}

/* The first failure tells why; what follows may have a reason of its own. */
static void failed(struct csv_writer *w)
{
    if (!w->failed) w->error = errno;
    w->failed = true;
}

static void flush(struct csv_writer *w)
{
    if (w->n && !w->failed && fwrite(w->buffer, 1, w->n, w->to) != w->n) failed(w);
    w->n = 0;
}

/* At least n bytes of room in the buffer, n small. */
static char *room(struct csv_writer *w, size_t n)
{
    if (w->n + n > CSV_BUFFER_BYTES) flush(w);
    return w->buffer + w->n;
}

static void put(struct csv_writer *w, const char *p, size_t n)
{
    while (n > 0) {
        size_t piece = n < CSV_BUFFER_BYTES ? n : CSV_BUFFER_BYTES;
        memcpy(room(w, piece), p, piece);
        w->n += piece;
        p += piece;
        n -= piece;
    }
}

static void begin_field(struct csv_writer *w)
{
    if (w->in_row) {
        *room(w, 1) = ',';
        w->n++;
    }
    w->in_row = true;
}

static bool needs_quotes(const char *text)
{
    size_t n = 0; /* by hand: most texts are a few bytes */
    bool special = text[0] == ' ';
    for (; text[n]; n++) special |= text[n] == ',' || text[n] == '"' || text[n] == '\r' || text[n] == '\n';
    return special || (n > 0 && text[n - 1] == ' ');
}

void csv_write_str(struct csv_writer *w, const char *text)
{
    begin_field(w);
    if (!needs_quotes(text)) {
        put(w, text, strlen(text));
        return;
    }
    put(w, "\"", 1);
    for (;;) {
        size_t n = strcspn(text, "\"");
        put(w, text, n);
        if (text[n] == '\0') break;
        put(w, "\"\"", 2);
        text += n + 1;
    }
    put(w, "\"", 1);
}

void csv_write_i64(struct csv_writer *w, int64_t x)
{
    begin_field(w);
    w->n += str_put_i64(room(w, STR_I64_BYTES), x);
}

void csv_write_u64(struct csv_writer *w, uint64_t x)
{
    begin_field(w);
    w->n += str_put_u64(room(w, STR_I64_BYTES), x);
}

void csv_write_seconds(struct csv_writer *w, int64_t ns)
{
    begin_field(w);
    w->n += str_put_seconds(room(w, STR_SECONDS_BYTES), ns);
}

void csv_write_empty(struct csv_writer *w)
{
    begin_field(w);
}

void csv_write_row_end(struct csv_writer *w)
{
    *room(w, 1) = '\n';
    w->n++;
    w->in_row = false;
}

bool csv_writer_end(struct csv_writer *w)
{
    flush(w);
    if (fflush(w->to) != 0) failed(w);
    if (w->failed) errno = w->error;
    return !w->failed;
}
