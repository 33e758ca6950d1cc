/* import_sacct.c - Slurm's accounting: sacct -X -P -o JobID,Submit,Elapsed,Timelimit,State,AllocTRES,ReqTRES,...
 *
 * Lines are split at "|" without quoting; the header names the columns, in any order. GPUs are those of gres/gpu in
 * AllocTRES, else in ReqTRES; where only typed entries stand (gres/gpu:h100=8) their sum, never both. Work is Elapsed,
 * else End - Start. Times are [D-]HH:MM:SS, MM:SS or D-HH[:MM[:SS]].
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/lines.h"
#include "base/units.h"
#include "input/import_reader.h"

/* Columns that are read beside those of the map. */
#define EXTRA(X)       X(COL_START, "Start") X(COL_END, "End") X(COL_STATE, "State") X(COL_REQUESTED, "ReqTRES")
#define X_ENUM(e, ...) e,
enum extra { EXTRA(X_ENUM) N_EXTRA };
#undef X_ENUM
#define X_NAME(e, name) name,
static const char *const extra_names[N_EXTRA] = {EXTRA(X_NAME)};
#undef X_NAME
enum { MAX_COLUMNS = 256 };

struct sacct_reading {
    struct import_reader *r;
    int place[N_IMPORT_FIELDS], extra[N_EXTRA]; /* columns, -1: not there */
    size_t n;                                   /* columns of the header */
};

/* How a state is treated; states are compared up to the first blank ("CANCELLED by 1001"). */
enum treatment { KEEP, KEEP_NOTED, LEAVE_OUT };
struct state_rule {
    const char *state;
    enum treatment treatment;
    const char *note;
};
static const struct state_rule states[] = {
    {"COMPLETED",     KEEP,       NULL                                                                          },
    {"COMPLETING",    KEEP,       NULL                                                                          },
    {"TIMEOUT",       KEEP_NOTED, "jobs ended by their time limit; kept, how long they wanted to run is unknown"},
    {"FAILED",        KEEP_NOTED, "jobs that failed in the trace; kept, their duration ends at the failure"     },
    {"OUT_OF_MEMORY", KEEP_NOTED, "jobs that failed in the trace; kept, their duration ends at the failure"     },
    {"DEADLINE",      KEEP_NOTED, "jobs that failed in the trace; kept, their duration ends at the failure"     },
    {"NODE_FAIL",     KEEP_NOTED, "jobs ended by a failed node; kept, their duration ends at the failure"       },
    {"BOOT_FAIL",     KEEP_NOTED, "jobs ended by a failed node; kept, their duration ends at the failure"       },
    {"CANCELLED",     KEEP_NOTED, "jobs cancelled while they ran; kept, their duration ends there"              },
    {"PREEMPTED",     KEEP_NOTED, "jobs preempted; kept, their duration ends at the preemption"                 },
    {"REQUEUED",      KEEP_NOTED, "jobs requeued; kept, the duration is that of the last start"                 },
    {"REVOKED",       LEAVE_OUT,  "jobs that ran at another cluster; left out"                                  },
    {"RUNNING",       KEEP_NOTED, "jobs still running; kept, their duration so far is a lower bound"            },
    {"SUSPENDED",     KEEP_NOTED, "jobs still running; kept, their duration so far is a lower bound"            },
    {"RESIZING",      KEEP_NOTED, "jobs still running; kept, their duration so far is a lower bound"            },
    {"PENDING",       LEAVE_OUT,  "jobs still pending; left out, they have no duration yet"                     },
};

/* ---- header ---- */

static int find_column(char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(names[i], name) == 0) return (int)i;
    return -1;
}

static bool missing(struct sacct_reading *s, int line, enum import_field f)
{
    bool instead = (f == FIELD_WORK && s->extra[COL_START] >= 0 && s->extra[COL_END] >= 0) ||
                   (f == FIELD_GPUS && s->extra[COL_REQUESTED] >= 0);
    if (s->place[f] >= 0 || !import_field_needed(s->r, f) || (instead && !s->r->options->column[f])) return false;
    import_error(s->r, line, s->r->column[f],
                 "export with: sacct -X -P -o JobID,Submit,Start,End,Elapsed,Timelimit,State,ReqTRES,AllocTRES,"
                 "Partition,Account,NNodes",
                 "the header lacks this column");
    return true;
}

static bool read_header(struct sacct_reading *s, char *line, int number)
{
    char *names[MAX_COLUMNS];
    s->n = line_split(line, '|', names, MAX_COLUMNS);
    if (s->n > MAX_COLUMNS) {
        import_error(s->r, number, NULL, "sacct has about 120 columns", "the header has %zu columns", s->n);
        return false;
    }
    for (int i = 0; i < N_EXTRA; i++) s->extra[i] = find_column(names, s->n, extra_names[i]);
    bool ok = true;
    for (int f = 0; f < N_IMPORT_FIELDS; f++) {
        const char *name = s->r->column[f];
        s->place[f] = name ? find_column(names, s->n, name) : -1;
        if (f == FIELD_JOB && s->place[f] < 0 && !s->r->options->column[f])
            s->place[f] = find_column(names, s->n, "JobIDRaw");
        if (name) ok &= !missing(s, number, (enum import_field)f);
    }
    return ok;
}

/* ---- values ---- */

static bool is_unknown(const char *text)
{
    return *text == '\0' || strcasecmp(text, "Unknown") == 0 || strcasecmp(text, "None") == 0 ||
           strcasecmp(text, "N/A") == 0 || strcasecmp(text, "INVALID") == 0;
}

/* Up to three numbers between colons; gives how many, 0 when malformed. */
static size_t clock_parts(const char *p, int64_t part[3])
{
    size_t n = 0;
    for (;; p++) {
        size_t digits = strspn(p, "0123456789");
        if (n == 3 || digits == 0 || digits > 9) return 0;
        part[n++] = strtoll(p, NULL, 10);
        p += digits;
        if (*p == '.' && strspn(p + 1, "0123456789") == strlen(p + 1)) return n; /* parts of a second: sacct rounds */
        if (*p == '\0') return n;
        if (*p != ':') return 0;
    }
}

static bool parse_elapsed(const char *text, int64_t *ns)
{
    const char *dash = strchr(text, '-');
    int64_t days = 0, part[3] = {0};
    if (dash) {
        if (dash == text || (size_t)(dash - text) != strspn(text, "0123456789") || dash - text > 6) return false;
        days = strtoll(text, NULL, 10);
    }
    size_t n = clock_parts(dash ? dash + 1 : text, part);
    if (n == 0 || (n == 1 && !dash)) return false;
    int64_t s = dash || n == 3 ? part[0] * 3600 + part[1] * 60 + part[2] : part[0] * 60 + part[1];
    if (days > 36525 || s > 36525 * INT64_C(86400)) return false;
    *ns = (days * 86400 + s) * NS_PER_S;
    return *ns <= IMPORT_MAX_NS;
}

static bool read_elapsed(struct sacct_reading *s, int line, const char *column, const char *text, int64_t *ns)
{
    if (parse_elapsed(text, ns)) return true;
    import_error(s->r, line, column, "times are written [D-]HH:MM:SS or MM:SS, as in 1-02:03:04",
                 "\"%.40s\" is no time", text);
    return false;
}

/* SLURM_TIME_FORMAT=%s gives seconds since 1970. */
static bool read_date(struct sacct_reading *s, int line, const char *column, const char *text, int64_t *ns)
{
    bool epoch = *text && strspn(text, "0123456789") == strlen(text);
    return epoch ? import_seconds(s->r, line, column, text, ns) : import_date(s->r, line, column, text, ns);
}

static char *extra_field(const struct sacct_reading *s, char *const *f, enum extra e)
{
    return s->extra[e] < 0 ? NULL : f[s->extra[e]];
}

static char *mapped(const struct sacct_reading *s, char *const *f, enum import_field field)
{
    return s->place[field] < 0 ? NULL : f[s->place[field]];
}

/* gres/gpu of a TRES list into *shares: the untyped entry, else the sum of the typed. */
static bool read_tres(struct sacct_reading *s, int line, const char *column, const char *tres, int64_t *shares)
{
    int64_t total = -1, typed = 0;
    for (const char *p = tres; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        if (strncmp(p, "gres/gpu", 8) != 0 || (p[8] != '=' && p[8] != ':')) continue;
        char count[40];
        size_t n = strcspn(p, ","), name = strcspn(p, "=");
        if (name >= n || n - name - 1 >= sizeof count) name = n - 1, n = name + 1;
        memcpy(count, p + name + 1, n - name - 1);
        count[n - name - 1] = '\0';
        int64_t x;
        if (!import_gpus(s->r, line, column, count, &x)) return false;
        if (p[8] == '=')
            total = x;
        else
            typed += x;
        if (typed > IMPORT_MAX_GPUS * SHARES_PER_GPU) typed = IMPORT_MAX_GPUS * SHARES_PER_GPU;
    }
    *shares = total >= 0 ? total : typed;
    return true;
}

static bool read_gpus(struct sacct_reading *s, char *const *f, struct import_row *row)
{
    struct import_reader *r = s->r;
    const char *text = mapped(s, f, FIELD_GPUS);
    if (text && strchr(text, '=') == NULL && *text)
        return import_gpus(r, row->line, r->column[FIELD_GPUS], text, &row->shares);
    if (text && !read_tres(s, row->line, r->column[FIELD_GPUS], text, &row->shares)) return false;
    const char *requested = extra_field(s, f, COL_REQUESTED);
    if (row->shares > 0 || requested == NULL || (text && *text)) return true;
    if (!read_tres(s, row->line, extra_names[COL_REQUESTED], requested, &row->shares)) return false;
    if (row->shares > 0) import_note(r, "jobs without AllocTRES; the requested GPUs are taken", row->line);
    return true;
}

/* Elapsed, else End - Start. False without an error when the job never ran (work_ns stays -1). */
static bool read_work(struct sacct_reading *s, char *const *f, struct import_row *row)
{
    struct import_reader *r = s->r;
    const char *elapsed = mapped(s, f, FIELD_WORK), *start = extra_field(s, f, COL_START),
               *end = extra_field(s, f, COL_END);
    bool have_elapsed = elapsed && !is_unknown(elapsed);
    int64_t from, to;
    row->work_ns = -1;
    if (start && is_unknown(start) && (!have_elapsed || strspn(elapsed, "0:-") == strlen(elapsed))) return false;
    if (have_elapsed && !read_elapsed(s, row->line, r->column[FIELD_WORK], elapsed, &row->work_ns)) return false;
    if (!start || !end || is_unknown(start) || is_unknown(end)) return have_elapsed;
    if (!read_date(s, row->line, "Start", start, &from) || !read_date(s, row->line, "End", end, &to)) return false;
    if (!have_elapsed) {
        if (to >= from)
            row->work_ns = to - from;
        else
            import_error(r, row->line, "End", "correct the row", "lies before Start");
        return to >= from;
    }
    if (to - from != row->work_ns)
        import_note(r, "jobs whose Elapsed is not End - Start (suspended, or clocks changed); Elapsed is taken",
                    row->line);
    return true;
}

static bool read_limit(struct sacct_reading *s, char *const *f, struct import_row *row)
{
    const char *text = mapped(s, f, FIELD_LIMIT);
    if (text == NULL || strcasecmp(text, "UNLIMITED") == 0) return true;
    if (strcasecmp(text, "Partition_Limit") == 0 || is_unknown(text)) {
        import_note(s->r, "jobs whose time limit is the partition's or unknown; taken as without a limit", row->line);
        return true;
    }
    return read_elapsed(s, row->line, s->r->column[FIELD_LIMIT], text, &row->limit_ns);
}

static bool read_shape(struct sacct_reading *s, char *const *f, struct import_row *row)
{
    const char *nodes = mapped(s, f, FIELD_REPLICAS), *priority = mapped(s, f, FIELD_PRIORITY);
    int64_t n = 0, p = 0;
    if (!read_gpus(s, f, row)) return false;
    if (nodes && *nodes && !import_int(s->r, row->line, s->r->column[FIELD_REPLICAS], nodes, 0, IMPORT_MAX_GPUS, &n))
        return false;
    if (priority && *priority &&
        !import_int(s->r, row->line, s->r->column[FIELD_PRIORITY], priority, INT32_MIN, INT32_MAX, &p))
        return false;
    row->priority = (int32_t)p;
    if (n > 0 && row->shares % (n * SHARES_PER_GPU) == 0)
        row->replicas = n;
    else if (n > 1 && row->shares > 0)
        import_note(s->r, "jobs whose GPUs do not divide by their nodes; split as if the nodes were not told",
                    row->line);
    return true;
}

/* ---- rows ---- */

/* The rule of a state, or NULL; an unknown one is an error, since it could mean anything. */
static const struct state_rule *state_rule(struct sacct_reading *s, const char *state, int line)
{
    size_t n = strcspn(state, " ");
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strlen(states[i].state) == n && strncasecmp(states[i].state, state, n) == 0) return &states[i];
    const char *names[sizeof states / sizeof *states];
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) names[i] = states[i].state;
    diag_error(s->r->diag, s->r->file, line, "State", "\"%.40s\" is no state of a job", state);
    diag_help_allowed(s->r->diag, state, names, sizeof names / sizeof *names);
    return NULL;
}

static bool keep_state(struct sacct_reading *s, char *const *f, int line)
{
    const char *state = extra_field(s, f, COL_STATE);
    if (state == NULL) return true;
    const struct state_rule *rule = state_rule(s, state, line);
    if (rule && rule->note) import_note(s->r, rule->note, line);
    return rule && rule->treatment != LEAVE_OUT;
}

/* A step such as 17.batch or 17.0; the job itself has a line of its own. */
static bool is_step(const char *id)
{
    return id && strchr(id, '.') != NULL;
}

static void read_job(struct sacct_reading *s, char *const *f, int line)
{
    struct import_reader *r = s->r;
    struct import_row row = {.line = line,
                             .limit_ns = TIME_NEVER,
                             .job = mapped(s, f, FIELD_JOB),
                             .queue = mapped(s, f, FIELD_QUEUE),
                             .team = mapped(s, f, FIELD_TEAM),
                             .class = mapped(s, f, FIELD_CLASS)};
    r->result->rows++;
    if (is_step(row.job)) {
        import_note(r, "steps of jobs; left out (sacct -X gives jobs only)", line);
        return;
    }
    const char *submit = f[s->place[FIELD_SUBMIT]];
    bool ok = read_date(s, line, r->column[FIELD_SUBMIT], submit, &row.submit_ns);
    const char *start = extra_field(s, f, COL_START), *state = extra_field(s, f, COL_STATE);
    if (state && strncasecmp(state, "CANCELLED", 9) == 0 && start && is_unknown(start)) {
        import_note(r, "jobs cancelled before they started; left out", line);
        return;
    }
    if (!keep_state(s, f, line)) return;
    size_t errors = diag_errors(r->diag);
    if (!read_work(s, f, &row)) {
        if (diag_errors(r->diag) == errors) import_note(r, "jobs that never started; left out", line);
        return;
    }
    ok &= read_limit(s, f, &row);
    ok &= read_shape(s, f, &row);
    if (ok) import_add(r, &row);
}

static void read_lines(struct sacct_reading *s, struct line_reader *lines)
{
    char *line, *f[MAX_COLUMNS];
    while (line_next(lines, &line)) {
        if (*line == '\0') continue;
        size_t n = line_split(line, '|', f, MAX_COLUMNS);
        if (n == s->n)
            read_job(s, f, lines->line);
        else
            import_error(
                s->r, lines->line, NULL,
                "a \"|\" inside a value (often in JobName or Comment) breaks the line; export without that column",
                "%zu fields, the header has %zu", n, s->n);
    }
}

bool import_sacct_read(struct import_reader *r, const char *file)
{
    struct sacct_reading s = {.r = r};
    struct line_reader lines;
    char *line;
    if (!line_open(&lines, file, r->diag)) return false;
    if (line_next(&lines, &line)) {
        if (read_header(&s, line, lines.line)) read_lines(&s, &lines);
    } else if (!lines.failed)
        diag_error(r->diag, file, 0, NULL, "is empty; sacct -P writes a header line first");
    return line_close(&lines);
}

bool import_sacct_probe(const struct import_format *f, const char *line)
{
    (void)f;
    return strchr(line, '|') != NULL && strstr(line, "JobID") != NULL;
}
