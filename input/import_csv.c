/* import_csv.c - the traces that are CSV with a header: they differ in the names of their columns only.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "base/csv.h"
#include "input/import_reader.h"

struct csv_reading {
    struct import_reader *r;
    const char *need[N_IMPORT_FIELDS], *may[N_IMPORT_FIELDS];
    size_t n_need, n_may;
    int want[N_IMPORT_FIELDS]; /* a field's place among needed and optional columns, -1: not in the trace */
};

bool import_field_needed(const struct import_reader *r, enum import_field f)
{
    if (r->options->column[f] != NULL) return true;
    if (f == FIELD_JOB) return r->format->column[FIELD_JOB] != NULL;
    return f == FIELD_SUBMIT || f == FIELD_WORK || f == FIELD_GPUS;
}

static void list_columns(struct csv_reading *c)
{
    for (int f = 0; f < N_IMPORT_FIELDS; f++) {
        c->want[f] = -1;
        if (c->r->column[f] == NULL || !import_field_needed(c->r, (enum import_field)f)) continue;
        c->want[f] = (int)c->n_need;
        c->need[c->n_need++] = c->r->column[f];
    }
    for (int f = 0; f < N_IMPORT_FIELDS; f++) {
        if (c->r->column[f] == NULL || c->want[f] >= 0) continue;
        c->want[f] = (int)(c->n_need + c->n_may);
        c->may[c->n_may++] = c->r->column[f];
    }
}

static const char *field(const struct csv_reading *c, const struct csv_row *row, enum import_field f)
{
    return c->want[f] < 0 ? NULL : csv_field(row, (size_t)c->want[f]);
}

static bool optional_int(struct import_reader *r, int line, enum import_field f, const char *text, int64_t min,
                         int64_t max, int64_t *x)
{
    return text == NULL || *text == '\0' || import_int(r, line, r->column[f], text, min, max, x);
}

static bool read_row(void *arg, const struct csv_row *in)
{
    struct csv_reading *c = arg;
    struct import_reader *r = c->r;
    r->result->rows++;
    struct import_row row = {.line = in->line,
                             .limit_ns = TIME_NEVER,
                             .job = field(c, in, FIELD_JOB),
                             .queue = field(c, in, FIELD_QUEUE),
                             .team = field(c, in, FIELD_TEAM),
                             .class = field(c, in, FIELD_CLASS)};
    const char *submit = field(c, in, FIELD_SUBMIT), *limit = field(c, in, FIELD_LIMIT);
    int64_t priority = 0;
    bool ok = r->format->dated ? import_date(r, in->line, r->column[FIELD_SUBMIT], submit, &row.submit_ns)
                               : import_seconds(r, in->line, r->column[FIELD_SUBMIT], submit, &row.submit_ns);
    ok &= import_seconds(r, in->line, r->column[FIELD_WORK], field(c, in, FIELD_WORK), &row.work_ns);
    ok &= import_gpus(r, in->line, r->column[FIELD_GPUS], field(c, in, FIELD_GPUS), &row.shares);
    if (limit && *limit) ok &= import_seconds(r, in->line, r->column[FIELD_LIMIT], limit, &row.limit_ns);
    ok &= optional_int(r, in->line, FIELD_REPLICAS, field(c, in, FIELD_REPLICAS), 1, IMPORT_MAX_GPUS, &row.replicas);
    ok &= optional_int(r, in->line, FIELD_PRIORITY, field(c, in, FIELD_PRIORITY), INT32_MIN, INT32_MAX, &priority);
    row.priority = (int32_t)priority;
    if (ok) import_add(r, &row);
    return true;
}

bool import_csv_read(struct import_reader *r, const char *file)
{
    struct csv_reading c = {.r = r};
    list_columns(&c);
    struct csv_spec spec = {c.need, c.n_need, c.may, c.n_may, read_row, &c};
    return csv_read(file, &spec, r->diag);
}

/* Whether `name` stands between commas (quotes allowed) in a header. */
static bool has_column(const char *line, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = line; (p = strstr(p, name)) != NULL; p++) {
        bool begins = p == line || strchr(",\"", p[-1]) != NULL || (unsigned char)p[-1] == 0xbf;
        if (begins && (p[n] == '\0' || strchr(",\"\r", p[n]) != NULL)) return true;
    }
    return false;
}

bool import_csv_probe(const struct import_format *f, const char *line)
{
    return has_column(line, f->column[FIELD_SUBMIT]) && has_column(line, f->column[FIELD_WORK]) &&
           has_column(line, f->column[FIELD_GPUS]);
}
