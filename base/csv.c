/* csv.c - CSV read with libcsv, row by row.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/csv.h"

#include <assert.h>
#include <csv.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/lines.h"
#include "base/str.h"

/* The row that is being put together: its fields lie one behind the other in `text`, each with its NUL. */
struct reading {
    const struct csv_spec *spec;
    struct diag *diag;
    const char *file;
    int line; /* on which the row began */
    struct str text;
    ARRAY(size_t) begin;
    ARRAY(const char *) field;
    ARRAY(int) column;
    size_t n_header;  /* fields of the header; 0 before it was seen */
    size_t row_bytes; /* of the lines that the row has taken */
    bool row_open;    /* the row goes on in the next line: a quote is open */
    bool row_ended, failed, stopped;
};

static void row_error(struct reading *r, const char *what)
{
    diag_error(r->diag, r->file, r->line, NULL, "%s", what);
    r->failed = true;
}

static void on_field(void *data, size_t n, void *arg)
{
    struct reading *r = arg;
    array_push(&r->begin, r->text.n);
    if (n) str_append_n(&r->text, data, n);
    str_append_char(&r->text, '\0');
}

static void help_with_header(struct reading *r, const char *missing)
{
    struct str there = {0};
    const char *meant = str_suggest(missing, r->field.v, r->field.n);
    if (meant) str_printf(&there, "did you mean \"%s\"?  ", meant);
    str_append(&there, "columns here: ");
    for (size_t i = 0; i < r->field.n; i++) str_printf(&there, "%s%s", i ? ", " : "", r->field.v[i]);
    diag_help(r->diag, "%s", str_text(&there));
    str_free(&there);
}

static int find_column(struct reading *r, const char *name)
{
    int at = -1;
    for (size_t i = 0; i < r->field.n; i++) {
        if (strcmp(r->field.v[i], name) != 0) continue;
        if (at >= 0) {
            diag_error(r->diag, r->file, r->line, NULL, "column \"%s\" is there twice", name);
            r->failed = true;
        }
        at = (int)i;
    }
    return at;
}

static void take_header(struct reading *r)
{
    const struct csv_spec *spec = r->spec;
    r->n_header = r->field.n;
    for (size_t i = 0; i < spec->n_need; i++) {
        array_push(&r->column, find_column(r, spec->need[i]));
        if (array_last(&r->column) >= 0) continue;
        diag_error(r->diag, r->file, r->line, NULL, "column \"%s\" is missing", spec->need[i]);
        help_with_header(r, spec->need[i]);
        r->failed = true;
    }
    for (size_t i = 0; i < spec->n_may; i++) array_push(&r->column, find_column(r, spec->may[i]));
    r->stopped = r->failed;
}

static void take_row(struct reading *r)
{
    if (r->field.n != r->n_header) {
        diag_error(r->diag, r->file, r->line, NULL, "the row has %zu field%s, the header has %zu", r->field.n,
                   r->field.n == 1 ? "" : "s", r->n_header);
        r->failed = true;
        return;
    }
    struct csv_row row = {r->file, r->line, r->field.n, r->field.v, r->column.v};
    r->stopped = !r->spec->row(r->spec->arg, &row);
}

static void on_row_end(int end, void *arg)
{
    struct reading *r = arg;
    (void)end;
    r->row_ended = true;
    if (!r->stopped) {
        array_clear(&r->field);
        for (size_t i = 0; i < r->begin.n; i++) array_push(&r->field, (const char *)r->text.s + r->begin.v[i]);
        if (r->n_header == 0)
            take_header(r);
        else
            take_row(r);
    }
    array_clear(&r->begin);
    str_clear(&r->text);
}

/* One line of the file; libcsv sees its end as LF, also where the file has CRLF. */
static void feed(struct reading *r, struct csv_parser *parser, struct line_reader *lines, char *line)
{
    size_t n = lines->length;
    line[n] = '\n'; /* the line's end is where the reader put its NUL */
    if (!r->row_open) {
        r->line = lines->line;
        r->row_bytes = 0;
    }
    r->row_ended = false;
    r->row_bytes += n += lines->ended;
    if (csv_parse(parser, line, n, on_field, on_row_end, r) != n) {
        row_error(r, "a quote is out of place; write a quote within a field twice, and the whole field in quotes");
        r->stopped = true;
    }
    r->row_open = !r->row_ended && (r->row_open || memchr(line, '"', n) != NULL);
    if (r->row_bytes > CSV_ROW_MAX) {
        row_error(r, "the row is longer than 64 MiB; is a quote not closed?");
        r->stopped = true;
    }
}

static void finish(struct reading *r, struct csv_parser *parser)
{
    if (r->stopped) return;
    if (csv_fini(parser, on_field, on_row_end, r) != 0) row_error(r, "the quote that begins here is not closed");
    if (r->n_header == 0 && !r->failed) {
        diag_error(r->diag, r->file, 0, NULL, "is empty; the first row names the columns");
        r->failed = true;
    }
}

struct splitting { char *to, **field; size_t n, max; };

/* A field is no longer than what it was read from, and its NUL stands where its comma was: it never reaches what is unread. */
static void on_split_field(void *data, size_t n, void *arg)
{
    struct splitting *s = arg;
    if (s->n < s->max) s->field[s->n] = s->to;
    s->n++;
    if (n) memcpy(s->to, data, n);
    s->to[n] = '\0';
    s->to += n + 1;
}

size_t csv_split(char *line, char **field, size_t max)
{
    struct splitting s = {.to = line, .field = field, .max = max};
    struct csv_parser parser;
    size_t n = strlen(line);
    int made = csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI);
    assert(made == 0);
    (void)made;
    bool whole = csv_parse(&parser, line, n, on_split_field, NULL, &s) == n && csv_fini(&parser, on_split_field, NULL, &s) == 0;
    csv_free(&parser);
    return whole ? s.n : 0;
}

bool csv_read(const char *file, const struct csv_spec *spec, struct diag *d)
{
    struct reading r = {.spec = spec, .diag = d, .file = file};
    struct line_reader lines;
    struct csv_parser parser;
    char *line;
    if (!line_open(&lines, file, d)) return false;
    int made = csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL);
    assert(made == 0);
    (void)made;
    csv_set_blk_size(&parser, 64 << 10);
    while (!r.stopped && line_next(&lines, &line)) feed(&r, &parser, &lines, line);
    if (!line_close(&lines))
        r.failed = true;
    else
        finish(&r, &parser);
    csv_free(&parser);
    array_free(&r.begin);
    array_free(&r.field);
    array_free(&r.column);
    str_free(&r.text);
    return !r.failed;
}
