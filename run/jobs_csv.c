/* jobs_csv.c - jobs.csv, written and read.
 *
 * A row is formatted straight into the file's buffer; most of its 53 fields are 0 or empty and cost two bytes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/str.h"
#include "base/units.h"
#include "run/decimal.h"
#include "run/parts.h"

/* X(column, name, help) */
#define COLUMNS(X)                                                                                                     \
    X(JOB, "job", "the trace's id, or the row's number from 1")                                                        \
    X(STATE, "state", "last state: see below")                                                                         \
    X(GPUS, "gpus", "GPUs asked for; may be a fraction, in 1/1000")                                                    \
    X(SUBMIT, "submit_s", "submitted")                                                                                 \
    X(ADMITTED, "admitted_s", "quota reserved, first time")                                                            \
    X(ALLOCATED, "allocated_s", "all pods bound, first time")                                                          \
    X(STARTED, "started_s", "first step on all ranks, first time")                                                     \
    X(FINISHED, "finished_s", "ended for good")                                                                        \
    X(NODES, "nodes", "nodes of the last allocation, as an interval set: \"0 4-6\"")                                   \
    X(RESTARTS, "restarts", "attempts after a failure")                                                                \
    X(PREEMPTIONS, "preemptions", "times preempted")                                                                   \
    X(TEAM, "team", "")                                                                                                \
    X(QUEUE, "queue", "")                                                                                              \
    X(KIND, "kind", "PyTorchJob, RayJob, ...")                                                                         \
    X(PRIORITY, "priority", "")                                                                                        \
    X(IDEAL, "ideal_s", "its work at full speed on its GPUs, never waiting")                                           \
    X(WORK, "work_gpu_s", "GPU-seconds of work that was not redone")                                                   \
    X(REDONE, "redone_gpu_s", "GPU-seconds of work that had been done before")                                         \
    X(HELD, "held_gpu_s", "GPU-seconds held without working")

#define COLUMN(e, n, h) COL_##e,
enum column { COLUMNS(COLUMN) N_COLUMNS };
#define COLUMN_ROW(e, n, h) {n, h},
const struct csv_column jobs_csv_columns[] = {COLUMNS(COLUMN_ROW)};
const size_t n_jobs_csv_columns = N_COLUMNS;

enum { NODE_BYTES = 24, FIXED_BYTES = 512, WAITS_BYTES = N_WAIT_REASONS * (STR_SECONDS_BYTES + 1) + 1,
       PARTS_BYTES = (N_WORK_ACTIVITIES + 1) * 64 };
/* Behind the waits: the work by activity, and what of held is recovery. Readers take files without them. */
#define RECOVERY_COLUMN "recovery_gpu_s"
#define TOGETHER_COLUMN "together_gpus"

/* ---- writing ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_special(char c)
{
    return c == ',' || c == '"' || c == '\r' || c == '\n';
}

void out_csv_text(struct out *o, const char *text)
{
    size_t n = 0;
    bool quoted = is_blank(text[0]);
    for (; text[n]; n++) quoted |= is_special(text[n]);
    if (!quoted && !(n && is_blank(text[n - 1]))) {
        out_text(o, text, n);
        return;
    }
    out_text(o, "\"", 1);
    for (size_t i = 0; i < n; i++) out_text(o, text[i] == '"' ? "\"\"" : text + i, text[i] == '"' ? 2 : 1);
    out_text(o, "\"", 1);
}

void jobs_csv_header(struct out *o)
{
    for (int c = 0; c < N_COLUMNS; c++) {
        if (c) out_text(o, ",", 1);
        out_text(o, jobs_csv_columns[c].name, strlen(jobs_csv_columns[c].name));
    }
    for (int w = 0; w < N_WAIT_REASONS; w++) {
        out_text(o, ",wait_", 6);
        out_text(o, wait_table[w].name, strlen(wait_table[w].name));
        out_text(o, "_s", 2);
    }
    for (int a = 0; a < N_WORK_ACTIVITIES; a++) {
        out_text(o, ",", 1);
        out_text(o, activity_table[FIRST_WORK + a].name, strlen(activity_table[FIRST_WORK + a].name));
        out_text(o, "_gpu_s", 6);
    }
    out_text(o, "," RECOVERY_COLUMN "," TOGETHER_COLUMN "\n", sizeof RECOVERY_COLUMN + sizeof TOGETHER_COLUMN + 1);
}

static char *put_comma(char *p)
{
    *p = ',';
    return p + 1;
}

/* Nothing for what did not happen. */
static char *put_time(char *p, int64_t ns)
{
    if (ns >= 0) p += str_put_seconds(p, ns);
    return put_comma(p);
}

/* The same, next to a field of time `before` that begins at `text`: often they are equal, and copied. */
static char *put_time_after(char *p, int64_t ns, int64_t before, const char *text)
{
    size_t n = (size_t)(p - text);
    if (ns != before) return put_time(p, ns);
    memcpy(p, text, n);
    return p + n;
}

static char *put_sum(char *p, share_ns sum)
{
    return p + decimal_put_gpu_s(p, sum);
}

static void write_names(struct out *o, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (names[i]) out_csv_text(o, names[i]);
        out_text(o, ",", 1);
    }
}

static void write_nodes(struct out *o, const struct job_row *r)
{
    for (unsigned i = 0; i < r->n_nodes; i++) {
        char *start = out_reserve(o, NODE_BYTES), *p = start;
        assert(r->nodes[i].first <= r->nodes[i].last);
        if (i) *p++ = ' ';
        p += str_put_u64(p, r->nodes[i].first);
        if (r->nodes[i].last > r->nodes[i].first) {
            *p++ = '-';
            p += str_put_u64(p, r->nodes[i].last);
        }
        out_used(o, (size_t)(p - start));
    }
}

static void write_id(struct out *o, const struct job_row *r)
{
    if (r->id) {
        out_csv_text(o, r->id);
        return;
    }
    char *p = out_reserve(o, STR_I64_BYTES);
    out_used(o, str_put_u64(p, r->number));
}

static void write_times(struct out *o, const struct job_row *r)
{
    char *start = out_reserve(o, FIXED_BYTES), *p = put_comma(start);
    size_t n = strlen(job_state_names[r->state]);
    memcpy(p, job_state_names[r->state], n);
    p = put_comma(p + n);
    p = put_comma(p + decimal_put(p, (share_ns)r->gpu_shares, SHARE_DIGITS));
    p = put_time(p, r->submit_ns);
    const char *admitted = p;
    p = put_time(p, r->admitted_ns);
    const char *allocated = p;
    p = put_time_after(p, r->allocated_ns, r->admitted_ns, admitted);
    p = put_time_after(p, r->started_ns, r->allocated_ns, allocated);
    p = put_time(p, r->finished_ns);
    out_used(o, (size_t)(p - start));
}

static void write_counts(struct out *o, const struct job_row *r)
{
    char *start = out_reserve(o, FIXED_BYTES), *p = put_comma(start);
    p = put_comma(p + str_put_u64(p, r->restarts));
    p = put_comma(p + str_put_u64(p, r->preemptions));
    out_used(o, (size_t)(p - start));
}

static void write_sums(struct out *o, const struct job_row *r)
{
    char *start = out_reserve(o, FIXED_BYTES), *p = start;
    p = put_comma(p + str_put_i64(p, r->priority));
    p = put_time(p, r->ideal_ns);
    p = put_comma(put_sum(p, r->work));
    p = put_comma(put_sum(p, r->redone));
    p = put_sum(p, r->held);
    out_used(o, (size_t)(p - start));
}

static void write_waits(struct out *o, const struct job_row *r)
{
    char *start = out_reserve(o, WAITS_BYTES), *p = start;
    for (int w = 0; w < N_WAIT_REASONS; w++) {
        *p++ = ',';
        if (r->wait_ns && r->wait_ns[w])
            p += str_put_seconds(p, r->wait_ns[w]);
        else
            *p++ = '0';
    }
    out_used(o, (size_t)(p - start));
}

static char *put_part(char *p, share_ns sum)
{
    *p++ = ',';
    if (sum) return put_sum(p, sum);
    *p++ = '0';
    return p;
}

static void write_parts(struct out *o, const struct job_row *r)
{
    char *start = out_reserve(o, PARTS_BYTES), *p = start;
    for (int a = 0; a < N_WORK_ACTIVITIES; a++) {
        if (r->work_by) p = put_part(p, r->work_by[a]);
        else *p++ = ',';
    }
    p = put_part(p, r->recovery);
    *p++ = ',';
    if (r->together) p += str_put_u64(p, r->together);
    *p++ = '\n';
    out_used(o, (size_t)(p - start));
}

void jobs_csv_row(struct out *o, const struct job_row *r)
{
    write_id(o, r);
    write_times(o, r);
    write_nodes(o, r);
    write_counts(o, r);
    write_names(o, (const char *const[]){r->team, r->queue, r->kind}, 3);
    write_sums(o, r);
    write_waits(o, r);
    write_parts(o, r);
}

/* ---- reading ---- */

struct reading {
    struct run_inside *in;
    struct diag *diag;
    const char *file;
    int line;
    ARRAY(struct node_interval) nodes;
    int64_t waits[N_WAIT_REASONS];
    share_ns parts[N_WORK_ACTIVITIES];
};

bool parse_ns(const char *text, int64_t *ns)
{
    share_ns value;
    if (*text == 0) {
        *ns = -1;
        return true;
    }
    if (!decimal_get(text, NS_DIGITS, &value) || value > INT64_MAX) return false;
    *ns = (int64_t)value;
    return true;
}

static bool bad(struct reading *r, const char *column, const char *text, const char *allowed)
{
    diag_error(r->diag, r->file, r->line, NULL, "%s: \"%.60s\" is not %s", column, text, allowed);
    return false;
}

static bool get_time(struct reading *r, const struct csv_row *row, enum column c, int64_t *ns)
{
    const char *text = csv_field(row, c);
    return parse_ns(text, ns) || bad(r, jobs_csv_columns[c].name, text, "a time in seconds with at most 9 decimals");
}

static bool get_sum(struct reading *r, const struct csv_row *row, enum column c, share_ns *sum)
{
    const char *text = csv_field(row, c);
    return decimal_get(text, GPU_S_DIGITS, sum) ||
           bad(r, jobs_csv_columns[c].name, text, "GPU-seconds with at most 12 decimals");
}

static bool get_int(struct reading *r, const struct csv_row *row, enum column c, int64_t least, int64_t most,
                    int64_t *x)
{
    const char *text = csv_field(row, c), *wrong = units_parse_int64(text, x);
    return (!wrong && *x >= least && *x <= most) || bad(r, jobs_csv_columns[c].name, text, "a whole number in range");
}

static bool get_state(struct reading *r, const struct csv_row *row, enum job_state *state)
{
    const char *text = csv_field(row, COL_STATE);
    for (int s = 0; s < N_JOB_STATES; s++) {
        *state = (enum job_state)s;
        if (str_equal(text, job_state_names[s])) return true;
    }
    return bad(r, "state", text, "a state of a job");
}

static bool get_gpus(struct reading *r, const struct csv_row *row, int64_t *shares)
{
    share_ns value;
    const char *text = csv_field(row, COL_GPUS);
    if (!decimal_get(text, SHARE_DIGITS, &value) || value > INT64_MAX)
        return bad(r, "gpus", text, "a number of GPUs with at most 3 decimals");
    *shares = (int64_t)value;
    return true;
}

/* The number at *p, which moves behind it. */
static bool take_node(const char **p, uint32_t *node)
{
    uint64_t n = 0;
    const char *from = *p;
    for (; **p >= '0' && **p <= '9' && n <= UINT32_MAX; ++*p) n = n * 10 + (uint64_t)(**p - '0');
    *node = (uint32_t)n;
    return *p > from && n <= UINT32_MAX;
}

static bool get_nodes(struct reading *r, const struct csv_row *row)
{
    const char *text = csv_field(row, COL_NODES), *p = text;
    array_clear(&r->nodes);
    while (*p) {
        struct node_interval n;
        if (r->nodes.n && *p++ != ' ') break;
        if (!take_node(&p, &n.first)) break;
        n.last = n.first;
        if (*p == '-' && (p++, !take_node(&p, &n.last) || n.last < n.first)) break;
        array_push(&r->nodes, n);
        if (*p == 0) return true;
    }
    return *text == 0 || bad(r, "nodes", text, "an interval set such as \"0 4-6\"");
}

static bool get_waits(struct reading *r, const struct csv_row *row)
{
    bool ok = true;
    for (size_t w = 0; w < N_WAIT_REASONS; w++) {
        const char *text = csv_field(row, N_COLUMNS + w);
        r->waits[w] = 0;
        if (text && (!parse_ns(text, &r->waits[w]) || r->waits[w] < 0))
            ok = bad(r, wait_table[w].name, text, "a time in seconds with at most 9 decimals");
    }
    return ok;
}

static bool get_part(struct reading *r, const char *text, const char *name, share_ns *sum)
{
    return decimal_get(text, GPU_S_DIGITS, sum) || bad(r, name, text, "GPU-seconds with at most 12 decimals");
}

/* Files of before have none of these columns, live runs no fields in them. */
static bool get_parts(struct reading *r, const struct csv_row *row, struct job_row *j)
{
    bool ok = true;
    size_t c = N_COLUMNS + N_WAIT_REASONS;
    for (size_t a = 0; a < N_WORK_ACTIVITIES; a++) {
        const char *text = csv_field(row, c + a);
        if (!text || !*text) continue;
        ok &= get_part(r, text, activity_table[FIRST_WORK + a].name, &r->parts[a]);
        j->work_by = r->parts;
    }
    const char *text = csv_field(row, c + N_WORK_ACTIVITIES);
    if (text && *text) ok &= get_part(r, text, RECOVERY_COLUMN, &j->recovery);
    return ok;
}

static bool get_together(struct reading *r, const struct csv_row *row, uint32_t *gpus)
{
    int64_t x = 0;
    const char *text = csv_field(row, N_COLUMNS + N_WAIT_REASONS + N_WORK_ACTIVITIES + 1);
    bool ok = !text || !*text || (!units_parse_int64(text, &x) && x >= 0 && x <= UINT32_MAX);
    *gpus = ok ? (uint32_t)x : 0;
    return ok || bad(r, TOGETHER_COLUMN, text, "a whole number in range");
}

/* All fields are looked at, so that all errors of a row are told. */
static bool get_row(struct reading *r, const struct csv_row *row, struct job_row *j)
{
    int64_t restarts = 0, preemptions = 0, priority = 0;
    bool ok = get_state(r, row, &j->state);
    ok &= get_gpus(r, row, &j->gpu_shares);
    ok &= get_time(r, row, COL_SUBMIT, &j->submit_ns);
    ok &= get_time(r, row, COL_ADMITTED, &j->admitted_ns);
    ok &= get_time(r, row, COL_ALLOCATED, &j->allocated_ns);
    ok &= get_time(r, row, COL_STARTED, &j->started_ns);
    ok &= get_time(r, row, COL_FINISHED, &j->finished_ns);
    ok &= get_time(r, row, COL_IDEAL, &j->ideal_ns);
    ok &= get_nodes(r, row);
    ok &= get_int(r, row, COL_RESTARTS, 0, UINT32_MAX, &restarts);
    ok &= get_int(r, row, COL_PREEMPTIONS, 0, UINT32_MAX, &preemptions);
    ok &= get_int(r, row, COL_PRIORITY, INT32_MIN, INT32_MAX, &priority);
    ok &= get_sum(r, row, COL_WORK, &j->work);
    ok &= get_sum(r, row, COL_REDONE, &j->redone);
    ok &= get_sum(r, row, COL_HELD, &j->held);
    ok &= get_waits(r, row);
    ok &= get_parts(r, row, j);
    ok &= get_together(r, row, &j->together);
    if (ok && (j->submit_ns < 0 || (j->started_ns >= 0 && j->started_ns < j->submit_ns) ||
               (j->finished_ns >= 0 && j->finished_ns < j->submit_ns) ||
               (j->admitted_ns >= 0 && j->admitted_ns < j->submit_ns)))
        ok = bad(r, "submit_s", csv_field(row, COL_SUBMIT), "there and before the other times");
    j->restarts = (uint32_t)restarts;
    j->preemptions = (uint32_t)preemptions;
    j->priority = (int32_t)priority;
    return ok;
}

static bool on_row(void *arg, const struct csv_row *row)
{
    struct reading *r = arg;
    struct job_row j = {.id = csv_field(row, COL_JOB),
                        .team = csv_field(row, COL_TEAM),
                        .queue = csv_field(row, COL_QUEUE),
                        .kind = csv_field(row, COL_KIND),
                        .wait_ns = r->waits};
    int64_t number;
    r->line = row->line;
    if (!get_row(r, row, &j)) return true;
    if (!units_parse_int64(j.id, &number) && number >= 0) j.number = (uint64_t)number;
    j.nodes = r->nodes.v;
    j.n_nodes = (unsigned)r->nodes.n;
    inside_keep_job(r->in, &j);
    metrics_job(r->in->metrics, &j);
    return true;
}

bool jobs_csv_read(struct run_inside *in, const char *path, struct diag *d)
{
    struct reading r = {.in = in, .diag = d, .file = path};
    enum { N_MAY = N_WAIT_REASONS + N_WORK_ACTIVITIES + 2 };
    const char *need[N_COLUMNS], *may[N_MAY];
    size_t before = diag_errors(d);
    for (int c = 0; c < N_COLUMNS; c++) need[c] = jobs_csv_columns[c].name;
    for (int w = 0; w < N_WAIT_REASONS; w++) may[w] = arena_printf(&in->arena, "wait_%s_s", wait_table[w].name);
    for (int a = 0; a < N_WORK_ACTIVITIES; a++)
        may[N_WAIT_REASONS + a] = arena_printf(&in->arena, "%s_gpu_s", activity_table[FIRST_WORK + a].name);
    may[N_MAY - 2] = RECOVERY_COLUMN;
    may[N_MAY - 1] = TOGETHER_COLUMN;
    bool ok = csv_read(path, &(struct csv_spec){need, N_COLUMNS, may, N_MAY, on_row, &r}, d);
    array_free(&r.nodes);
    return ok && diag_errors(d) == before;
}
