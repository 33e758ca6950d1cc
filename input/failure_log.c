/* failure_log.c - see failure_log.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/failure_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/mem.h"
#include "base/units.h"
#include "input/import_reader.h"
#include "input/scenario.h"

enum column { TIME, NODE, COMPONENT, KIND, REPAIRED, UNIT };
static const char *const needed[] = { "time", "node", "component", "kind" };
static const char *const optional[] = { "repaired", "unit" };

enum { UNKNOWN_TIMES, SECONDS, DATES };
static const char *const time_words[] = { "", "seconds", "dates" };

struct reading {
    struct import_reader r; /* for dates and errors with their place */
    struct failure_log *log;
    int times; /* how this log writes them */
};

/* ---- values ---- */

static bool read_time(struct reading *x, int line, const char *column, const char *text, int64_t *ns)
{
    int kind = strlen(text) > 4 && text[4] == '-' ? DATES : SECONDS;
    if (x->times != UNKNOWN_TIMES && x->times != kind) {
        import_error(&x->r, line, column, "write all times of a log alike", "\"%s\" is not in %s, as the times before it are",
                     text, time_words[x->times]);
        return false;
    }
    if (kind == DATES ? !import_date(&x->r, line, column, text, ns) : units_parse_duration(text, ns) != NULL || *ns > IMPORT_MAX_NS) {
        if (kind == SECONDS)
            import_error(&x->r, line, column, "give seconds such as 3600, or a date such as 2026-05-01 12:00:00; at most 100 years",
                         "\"%s\" is no time", text);
        return false;
    }
    x->times = kind;
    return true;
}

static bool read_name(struct reading *x, int line, const char *column, const char *text, struct intern *names, uint32_t *id)
{
    *id = intern_id(names, text);
    if (*text) return true;
    import_error(&x->r, line, column, "name it: the same text for the same thing throughout", "\"\" is empty");
    return false;
}

static bool read_unit(struct reading *x, int line, const char *text, uint32_t *unit)
{
    int64_t n = UINT32_MAX;
    bool ok = text == NULL || *text == '\0' || import_int(&x->r, line, "unit", text, 0, 1023, &n);
    *unit = (uint32_t)n;
    return ok;
}

/* ---- what was observed ---- */

static void read_once(struct reading *x, int line, const char *kind, bool known)
{
    if (known) import_error(&x->r, line, "kind", "say it once", "\"%s\" is given twice", kind);
}

static void read_moment(struct reading *x, const struct csv_row *row, const char *kind, int64_t *ns)
{
    int64_t t;
    read_once(x, row->line, kind, *ns >= 0);
    if (read_time(x, row->line, "time", csv_field(row, TIME), &t)) *ns = t;
}

static void read_count(struct reading *x, const struct csv_row *row, const char *kind, int64_t max, uint32_t *n)
{
    int64_t count;
    read_once(x, row->line, kind, *n > 0);
    if (import_int(&x->r, row->line, "node", csv_field(row, NODE), 1, max, &count)) *n = (uint32_t)count;
}

static void read_observed(struct reading *x, const struct csv_row *row)
{
    static const char *const kinds[] = { "begin", "end", "nodes", "gpus" };
    struct failure_log *log = x->log;
    const char *kind = csv_field(row, KIND);
    if (!strcmp(kind, "begin")) read_moment(x, row, kind, &log->begin_ns);
    else if (!strcmp(kind, "end")) read_moment(x, row, kind, &log->end_ns);
    else if (!strcmp(kind, "nodes")) read_count(x, row, kind, 4000000, &log->n_nodes);
    else if (!strcmp(kind, "gpus")) read_count(x, row, kind, MAX_GPUS_PER_NODE, &log->gpus);
    else {
        diag_error(x->r.diag, x->r.file, row->line, "kind", "\"%s\" is nothing that a log says of its observation", kind);
        diag_help_allowed(x->r.diag, kind, kinds, 4);
    }
}

/* ---- events ---- */

static bool read_event(struct reading *x, const struct csv_row *row, struct failure_event *e)
{
    const char *repaired = csv_field(row, REPAIRED);
    struct failure_log *log = x->log;
    e->line = row->line;
    e->back_ns = -1;
    bool ok = read_time(x, row->line, "time", csv_field(row, TIME), &e->at_ns);
    ok &= read_name(x, row->line, "node", csv_field(row, NODE), &log->nodes, &e->node);
    ok &= read_name(x, row->line, "component", csv_field(row, COMPONENT), &log->components, &e->component);
    e->kind = intern_id(&log->kinds, csv_field(row, KIND));
    if (repaired && *repaired) ok &= read_time(x, row->line, "repaired", repaired, &e->back_ns);
    ok &= read_unit(x, row->line, csv_field(row, UNIT), &e->unit);
    if (ok && e->back_ns >= 0 && e->back_ns < e->at_ns) {
        import_error(&x->r, row->line, "repaired", "repaired is the moment at which it is up again, empty where it is not known",
                     "is before the failure");
        ok = false;
    }
    return ok;
}

static bool on_row(void *arg, const struct csv_row *row)
{
    struct reading *x = arg;
    struct failure_event e;
    if (!strcmp(csv_field(row, COMPONENT), "observed")) read_observed(x, row);
    else if (read_event(x, row, &e)) array_push(&x->log->events, e);
    return true;
}

static int by_time(const void *a, const void *b)
{
    const struct failure_event *x = a, *y = b;
    if (x->at_ns != y->at_ns) return x->at_ns < y->at_ns ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* ---- the log as a whole ---- */

static void check_window(struct reading *x)
{
    const struct failure_log *log = x->log;
    if (log->begin_ns >= 0 && log->end_ns >= 0 && log->end_ns <= log->begin_ns)
        diag_error(x->r.diag, x->r.file, 0, "", "the observation ends before it begins");
    for (size_t i = 0; i < log->events.n; i++) {
        const struct failure_event *e = &log->events.v[i];
        bool before = log->begin_ns >= 0 && e->at_ns < log->begin_ns, after = log->end_ns >= 0 && e->at_ns > log->end_ns;
        if (before || after)
            import_error(&x->r, e->line, "time", "an event that was not observed does not count: leave it out",
                         "is %s the observation", before ? "before" : "after");
    }
}

static void check_nodes(struct reading *x)
{
    const struct failure_log *log = x->log;
    uint32_t seen = intern_count(&log->nodes);
    if (log->n_nodes && seen > log->n_nodes)
        diag_error(x->r.diag, x->r.file, 0, "", "%u nodes have failed, and only %u were observed", seen, log->n_nodes);
    for (size_t i = 0; log->gpus && i < log->events.n; i++)
        if (log->events.v[i].unit != UINT32_MAX && log->events.v[i].unit >= log->gpus && !strcmp(intern_text(&log->components, log->events.v[i].component), "gpu"))
            import_error(&x->r, log->events.v[i].line, "unit", "units count from 0", "%u is no GPU of a node of %u", log->events.v[i].unit,
                         log->gpus);
}

bool failure_log_read(const char *file, struct failure_log *log, struct diag *d)
{
    size_t errors = diag_errors(d);
    struct reading x = { .r = { .file = file, .diag = d }, .log = log };
    *log = (struct failure_log){ .file = file, .begin_ns = -1, .end_ns = -1 };
    csv_read(file, &(struct csv_spec){ needed, 4, optional, 2, on_row, &x }, d);
    if (diag_errors(d) > errors) return false;
    if (log->events.n) qsort(log->events.v, log->events.n, sizeof *log->events.v, by_time);
    check_window(&x);
    check_nodes(&x);
    return diag_errors(d) == errors;
}

void failure_log_free(struct failure_log *log)
{
    array_free(&log->events);
    intern_free(&log->nodes);
    intern_free(&log->components);
    intern_free(&log->kinds);
}
