/* import_swf.c - Standard Workload Format: 18 columns by place, "; Key: value" above them, -1 for unknown.
 *
 * Processors are the allocated ones, else the requested ones; the time limit is the requested time, else the run time
 * (as AccaSim is run for the published NASA schedule). A job without a run time cannot be simulated: cancelled ones
 * (status 5, or 0 with nothing run) and unknown ones are left out and counted.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/lines.h"
#include "base/units.h"
#include "input/import_reader.h"

static const char *const columns[] = {"job",
                                      "submit",
                                      "wait",
                                      "run_time",
                                      "processors",
                                      "cpu_time",
                                      "memory",
                                      "requested_processors",
                                      "requested_time",
                                      "requested_memory",
                                      "status",
                                      "user",
                                      "group",
                                      "application",
                                      "queue",
                                      "partition",
                                      "preceding_job",
                                      "think_time"};
enum { N_COLUMNS = sizeof columns / sizeof *columns, REQUESTED_PROCESSORS = 7, STATUS = 10 };

enum swf_status { SWF_FAILED = 0, SWF_COMPLETED = 1, SWF_PARTIAL_FIRST = 2, SWF_PARTIAL_LAST = 4, SWF_CANCELLED = 5 };

struct swf_reading {
    struct import_reader *r;
    int place[N_IMPORT_FIELDS]; /* column of each field, -1: none */
    int64_t start_s, zone_s;    /* of the header */
    bool has_start;
};

static bool place_columns(struct swf_reading *s)
{
    bool ok = true;
    for (int f = 0; f < N_IMPORT_FIELDS; f++) {
        s->place[f] = -1;
        const char *name = s->r->column[f];
        for (int c = 0; c < N_COLUMNS && name; c++)
            if (strcmp(columns[c], name) == 0) s->place[f] = c;
        if (name == NULL || s->place[f] >= 0) continue;
        diag_error(s->r->diag, s->r->file, 0, import_field_names[f], "SWF has no column \"%s\"", name);
        diag_help_allowed(s->r->diag, name, columns, N_COLUMNS);
        ok = false;
    }
    return ok;
}

/* "; MaxProcs: 128": the value of a key, or NULL. */
static const char *header_value(const char *line, const char *key)
{
    line += strspn(line, "; \t");
    size_t n = strlen(key);
    if (strncasecmp(line, key, n) != 0 || line[n] != ':') return NULL;
    return line + n + 1 + strspn(line + n + 1, " \t");
}

static bool header_number(const char *line, const char *key, int64_t *x)
{
    const char *value = header_value(line, key);
    char digits[24];
    if (value == NULL) return false;
    snprintf(digits, sizeof digits, "%.*s", (int)strspn(value, "-0123456789"), value);
    return units_parse_int64(digits, x) == NULL;
}

static void read_header(struct swf_reading *s, const char *line)
{
    int64_t procs;
    if (header_number(line, "MaxProcs", &procs) && procs > 0 && procs <= IMPORT_MAX_GPUS)
        s->r->result->machines = (uint32_t)procs;
    s->has_start |= header_number(line, "UnixStartTime", &s->start_s);
    header_number(line, "TimeZone", &s->zone_s);
}

static bool unknown(const char *text)
{
    return text[0] == '-' && text[1] == '1' && (text[2] == '\0' || text[2] == '.');
}

static const char *name_or_null(const struct swf_reading *s, char *const *f, enum import_field field)
{
    return s->place[field] < 0 || unknown(f[s->place[field]]) ? NULL : f[s->place[field]];
}

/* Whether the job is to be left out, with its note: it never ran, or nobody knows for how long. */
static bool left_out(struct swf_reading *s, char *const *f, int64_t status, int line)
{
    if (!unknown(f[s->place[FIELD_WORK]])) return false;
    import_note(s->r,
                status == SWF_CANCELLED ? "jobs cancelled before they started; left out"
                                        : "jobs of unknown run time; left out",
                line);
    return true;
}

static void note_status(struct swf_reading *s, int64_t status, int line)
{
    if (status == SWF_FAILED)
        import_note(s->r, "jobs that failed in the trace; kept, their run time ends at the failure", line);
    if (status == SWF_CANCELLED)
        import_note(s->r, "jobs cancelled while they ran; kept, their run time ends there", line);
    if (status >= SWF_PARTIAL_FIRST && status <= SWF_PARTIAL_LAST)
        import_note(s->r,
                    "lines that are part of a job (checkpointed or swapped out); left out, the whole job has its own",
                    line);
}

static const char *processors(struct swf_reading *s, char *const *f, int line)
{
    const char *text = f[s->place[FIELD_GPUS]];
    if (!unknown(text) || unknown(f[REQUESTED_PROCESSORS])) return text;
    import_note(s->r, "jobs of unknown allocation; the requested processors are taken", line);
    return f[REQUESTED_PROCESSORS];
}

static bool read_limit(struct swf_reading *s, char *const *f, struct import_row *row)
{
    const char *text = s->place[FIELD_LIMIT] < 0 ? "-1" : f[s->place[FIELD_LIMIT]];
    if (!unknown(text)) return import_seconds(s->r, row->line, s->r->column[FIELD_LIMIT], text, &row->limit_ns);
    import_note(s->r, "jobs without a requested time; their run time is taken as the time limit", row->line);
    row->limit_ns = row->work_ns;
    return true;
}

static bool read_numbers(struct swf_reading *s, char *const *f, struct import_row *row)
{
    struct import_reader *r = s->r;
    const char *gpus = processors(s, f, row->line);
    if (unknown(gpus)) {
        import_note(r, "jobs of unknown size; left out", row->line);
        return false;
    }
    bool ok = import_seconds(r, row->line, r->column[FIELD_SUBMIT], f[s->place[FIELD_SUBMIT]], &row->submit_ns);
    ok &= import_seconds(r, row->line, r->column[FIELD_WORK], f[s->place[FIELD_WORK]], &row->work_ns);
    ok &= import_gpus(r, row->line, r->column[FIELD_GPUS], gpus, &row->shares);
    return ok && read_limit(s, f, row);
}

static void read_job(struct swf_reading *s, char *const *f, int line)
{
    int64_t status;
    s->r->result->rows++;
    if (!import_int(s->r, line, "status", f[STATUS], -1, 5, &status)) return;
    note_status(s, status, line);
    if (status >= SWF_PARTIAL_FIRST && status <= SWF_PARTIAL_LAST) return;
    if (left_out(s, f, status, line)) return;
    struct import_row row = {.line = line,
                             .job = f[s->place[FIELD_JOB]],
                             .queue = name_or_null(s, f, FIELD_QUEUE),
                             .team = name_or_null(s, f, FIELD_TEAM),
                             .class = name_or_null(s, f, FIELD_CLASS)};
    int64_t priority = 0;
    int p = s->place[FIELD_PRIORITY];
    if (p >= 0 && !import_int(s->r, line, columns[p], f[p], INT32_MIN, INT32_MAX, &priority)) return;
    row.priority = (int32_t)priority;
    if (read_numbers(s, f, &row)) import_add(s->r, &row);
}

static void read_lines(struct swf_reading *s, struct line_reader *lines)
{
    char *line, *f[N_COLUMNS];
    while (line_next(lines, &line)) {
        if (line[strspn(line, " \t")] == ';') {
            read_header(s, line);
            continue;
        }
        size_t n = line_split_blanks(line, f, N_COLUMNS);
        if (n == 0) continue;
        if (n == N_COLUMNS)
            read_job(s, f, lines->line);
        else
            import_error(s->r, lines->line, NULL,
                         "each job is one line of 18 numbers, -1 where unknown; comments begin "
                         "with ;",
                         "%zu fields instead of %d", n, N_COLUMNS);
    }
}

bool import_swf_read(struct import_reader *r, const char *file)
{
    struct swf_reading s = {.r = r};
    struct line_reader lines;
    if (!place_columns(&s) || !line_open(&lines, file, r->diag)) return false;
    read_lines(&s, &lines);
    if (s.has_start) {
        int64_t week_s = 7 * 86400, t = (s.start_s % week_s + s.zone_s % week_s + 3 * 86400) % week_s;
        r->result->week_offset_ns = (t < 0 ? t + week_s : t) * NS_PER_S;
    }
    return line_close(&lines);
}

bool import_swf_probe(const struct import_format *f, const char *line)
{
    (void)f;
    line += strspn(line, " \t");
    return *line == ';' || (strspn(line, "0123456789-. \t") == strlen(line) && strpbrk(line, " \t") != NULL);
}
