/* export_csv.c - see export_csv.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/export_csv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/mem.h"
#include "run/decimal.h"
#include "run/run.h"
#include "run/wait.h"
#include "study/explain.h"
#include "study/job_index.h"
#include "study/measures.h"
#include "study/series.h"

struct exporting {
    struct csv_writer w;
    const struct run *run;
    struct job_index index;
    struct export_range range; /* all of it: 0 and INT64_MAX */
};

static bool within(const struct exporting *e, int64_t ns)
{
    return ns >= e->range.from_ns && ns < e->range.to_ns;
}

/* ---- fields ---- */

static void put_run(struct exporting *e)
{
    csv_write_str(&e->w, e->run->approach);
    csv_write_u64(&e->w, e->run->replication);
}

static void put_time(struct exporting *e, int64_t ns)
{
    if (ns < 0)
        csv_write_empty(&e->w);
    else
        csv_write_seconds(&e->w, ns);
}

static void put_gpu_s(struct exporting *e, share_ns sum)
{
    char text[DECIMAL_GPU_S_BYTES + 1];
    text[decimal_put_gpu_s(text, sum)] = '\0';
    csv_write_str(&e->w, text);
}

static void put_gpus(struct exporting *e, int64_t shares)
{
    char text[DECIMAL_GPU_S_BYTES + 1];
    text[decimal_put(text, (share_ns)shares, SHARE_DIGITS)] = '\0';
    csv_write_str(&e->w, text);
}

static void put_text(struct exporting *e, const char *text)
{
    csv_write_str(&e->w, text ? text : "");
}

static void put_id(struct exporting *e, const struct job_row *r)
{
    char buf[24];
    if (r)
        csv_write_str(&e->w, job_row_id(r, buf));
    else
        csv_write_empty(&e->w);
}

static void put_header(struct exporting *e, const char *const *names)
{
    csv_write_str(&e->w, "approach");
    csv_write_str(&e->w, "replication");
    for (size_t i = 0; names[i]; i++) csv_write_str(&e->w, names[i]);
}

/* ---- jobs ---- */

static void jobs_header(struct exporting *e)
{
    static const char *const names[] = {"job",         "state",        "gpus",       "submit_s", "admitted_s",
                                        "allocated_s", "started_s",    "finished_s", "restarts", "preemptions",
                                        "team",        "queue",        "kind",       "priority", "ideal_s",
                                        "work_gpu_s",  "redone_gpu_s", "held_gpu_s", NULL};
    char name[64];
    put_header(e, names);
    for (int w = 0; w < N_WAIT_REASONS; w++) {
        snprintf(name, sizeof name, "wait_%s_s", wait_table[w].name);
        csv_write_str(&e->w, name);
    }
    csv_write_row_end(&e->w);
}

static void job_row(struct exporting *e, const struct job_row *r)
{
    put_run(e);
    put_id(e, r);
    csv_write_str(&e->w, job_state_names[r->state]);
    put_gpus(e, r->gpu_shares);
    put_time(e, r->submit_ns);
    put_time(e, r->admitted_ns);
    put_time(e, r->allocated_ns);
    put_time(e, r->started_ns);
    put_time(e, r->finished_ns);
    csv_write_u64(&e->w, r->restarts);
    csv_write_u64(&e->w, r->preemptions);
    put_text(e, r->team);
    put_text(e, r->queue);
    put_text(e, r->kind);
    csv_write_i64(&e->w, r->priority);
    put_time(e, r->ideal_ns);
    put_gpu_s(e, r->work);
    put_gpu_s(e, r->redone);
    put_gpu_s(e, r->held);
    for (int w = 0; w < N_WAIT_REASONS; w++) csv_write_seconds(&e->w, r->wait_ns ? r->wait_ns[w] : 0);
    csv_write_row_end(&e->w);
}

static bool jobs_rows(struct exporting *e, char **err)
{
    (void)err;
    for (size_t i = 0; i < e->run->n_jobs; i++) {
        const struct job_row *r = &e->run->jobs[i].row;
        int64_t end = r->finished_ns >= 0 ? r->finished_ns : INT64_MAX;
        if (r->submit_ns < e->range.to_ns && end >= e->range.from_ns) job_row(e, r);
    }
    return true;
}

/* ---- ledger ---- */

static void ledger_header(struct exporting *e)
{
    static const char *const names[] = {"class", "activity", "redone", "cause", "queue",
                                        "team",  "group",    "kind",   "gpu_s", NULL};
    put_header(e, names);
    csv_write_row_end(&e->w);
}

static bool ledger_rows_of(struct exporting *e, char **err)
{
    (void)err;
    for (size_t i = 0; i < e->run->n_ledger; i++) {
        const struct run_ledger_row *l = &e->run->ledger[i];
        put_run(e);
        csv_write_str(&e->w, activity_class_names[activity_table[l->activity].class]);
        csv_write_str(&e->w, activity_table[l->activity].name);
        csv_write_u64(&e->w, l->redone);
        csv_write_str(&e->w, cause_table[l->cause].name);
        put_text(e, l->queue);
        put_text(e, l->team);
        put_text(e, l->group);
        put_text(e, l->kind);
        put_gpu_s(e, l->sum);
        csv_write_row_end(&e->w);
    }
    return true;
}

/* ---- timeline ---- */

static void timeline_header(struct exporting *e)
{
    static const char *const names[] = {"time_s", "record", "job", "subject", "code", "a", "b", NULL};
    put_header(e, names);
    csv_write_row_end(&e->w);
}

static const char *named(const char *name)
{
    return name ? name : "";
}

static const char *cause_name(unsigned code)
{
    return code < N_CAUSES ? cause_table[code].name : "";
}

static const char *wait_name(int64_t code)
{
    if (code == WAITS_IN_CLASS) return "in_queue";
    return code >= 0 && code < N_WAIT_REASONS ? wait_table[code].name : "runs";
}

static const char *activity_name(unsigned code)
{
    return code < N_ACTIVITIES ? activity_table[code].name : "";
}

static const char *named_state(const struct state_info *table, unsigned n, unsigned code)
{
    return code < n ? table[code].name : "";
}

/* The code of a record as a word; NULL: it stays a number. */
static const char *code_name(const struct exporting *e, const struct record *r, char buf[64])
{
    const struct job_row *row = job_index_row(&e->index, r->job);
    switch (r->type) {
    case REC_JOB_SUBMITTED: return row ? named(row->kind) : NULL;
    case REC_JOB_ALLOCATED:
    case REC_JOB_STARTED:
    case REC_JOB_STOPPED: return cause_name(r->code);
    case REC_JOB_FINISHED: return r->code < N_JOB_STATES ? job_state_names[r->code] : NULL;
    case REC_JOB_WAIT:
    case REC_CLASS_WAIT: return wait_name(r->code);
    case REC_JOB_EVICTED: return explain_stop_reason(r->code);
    case REC_GROUP_STATE:
        snprintf(buf, 64, "%s/%s", activity_name(r->code & 0xff), cause_name(r->code >> 8));
        return buf;
    case REC_POD_STATE:
        snprintf(buf, 64, "%s/%s", named_state(pod_state_table, N_POD_STATES, r->code & 0xff), r->code >> 8 < N_POD_ROLES ? role_names[r->code >> 8] : "");
        return buf;
    case REC_ACTOR_STATE: return named_state(actor_state_table, N_ACTOR_STATES, r->code);
    case REC_FAULT: return explain_fault(r->code);
    case REC_NODE_STATE: return r->code == ACT_FREE ? "up" : activity_name(r->code);
    case REC_PARTIAL_HOLD: return r->code ? "begins" : "ends";
    default: return NULL;
    }
}

static bool a_is_a_job(uint16_t type)
{
    return type == REC_JOB_WAIT || type == REC_JOB_EVICTED;
}

static void put_ab(struct exporting *e, const struct record *r)
{
    const struct job_row *row = job_index_row(&e->index, r->job);
    if (r->type == REC_JOB_SUBMITTED && row) {
        put_text(e, row->queue);
        put_text(e, row->team);
        return;
    }
    if (a_is_a_job(r->type))
        put_id(e, r->a < 0 ? NULL : job_index_row(&e->index, (int32_t)r->a));
    else if (r->type == REC_NO_PROGRESS)
        csv_write_str(&e->w, wait_name(r->a));
    else
        csv_write_i64(&e->w, r->a);
    if (r->type == REC_NO_PROGRESS)
        put_id(e, r->b < 0 ? NULL : job_index_row(&e->index, (int32_t)r->b));
    else
        csv_write_i64(&e->w, r->b);
}

static void record_row(struct exporting *e, const struct record *r)
{
    char buf[64];
    const char *code = r->type < N_RECORD_TYPES ? code_name(e, r, buf) : NULL;
    put_run(e);
    csv_write_seconds(&e->w, r->time_ns);
    if (r->type < N_RECORD_TYPES)
        csv_write_str(&e->w, record_table[r->type].name);
    else
        csv_write_u64(&e->w, r->type);
    put_id(e, job_index_row(&e->index, r->job));
    csv_write_u64(&e->w, r->subject);
    if (code)
        csv_write_str(&e->w, code);
    else
        csv_write_u64(&e->w, r->code);
    put_ab(e, r);
    csv_write_row_end(&e->w);
}

static bool timeline_rows(struct exporting *e, char **err)
{
    struct record r;
    struct timeline_reader *t = timeline_open(e->run->dir, err);
    if (!t) return false;
    while (timeline_next(t, &r))
        if (within(e, r.time_ns)) record_row(e, &r);
    timeline_close(t);
    return true;
}

/* ---- nodes ---- */

static void nodes_header(struct exporting *e)
{
    static const char *const names[] = {"job", "group", "first_node", "last_node", "from_s", "to_s", NULL};
    put_header(e, names);
    csv_write_row_end(&e->w);
}

static void node_row(struct exporting *e, const struct job_row *job, int64_t group, uint32_t first, uint32_t last,
                     int64_t from, int64_t to)
{
    if (from >= 0 && from < e->range.from_ns) from = e->range.from_ns;
    if (to > e->range.to_ns) to = e->range.to_ns;
    if (from >= e->range.to_ns || (to >= 0 && to <= e->range.from_ns)) return;
    put_run(e);
    put_id(e, job);
    if (group < 0)
        csv_write_empty(&e->w);
    else
        csv_write_i64(&e->w, group);
    csv_write_u64(&e->w, first);
    csv_write_u64(&e->w, last);
    put_time(e, from);
    put_time(e, to);
    csv_write_row_end(&e->w);
}

struct held { /* nodes of an allocation group, from its record until it is freed */
    int32_t job;
    uint32_t group, first, n;
    int64_t since_ns;
};

struct held_list {
    ARRAY(struct held) list;
};

static void end_group(struct exporting *e, struct held_list *h, int32_t job, uint32_t group, int64_t now)
{
    size_t kept = 0;
    for (size_t i = 0; i < h->list.n; i++) {
        const struct held *x = &h->list.v[i];
        if (x->job == job && x->group == group)
            node_row(e, job_index_row(&e->index, job), group, x->first, x->first + x->n - 1, x->since_ns, now);
        else
            h->list.v[kept++] = *x;
    }
    h->list.n = kept;
}

static bool nodes_of_timeline(struct exporting *e, char **err)
{
    struct held_list h = {0};
    struct record r;
    struct timeline_reader *t = timeline_open(e->run->dir, err);
    if (!t) return false;
    while (timeline_next(t, &r)) {
        if (r.type == REC_GROUP_NODES)
            array_push(&h.list,
                       (struct held){r.job, r.subject, (uint32_t)(r.a & 0xffffffff), (uint32_t)(r.a >> 32), r.time_ns});
        else if (r.type == REC_GROUP_FREED)
            end_group(e, &h, r.job, r.subject, r.time_ns);
    }
    while (h.list.n) end_group(e, &h, h.list.v[0].job, h.list.v[0].group, e->run->end_ns);
    timeline_close(t);
    array_free(&h.list);
    return true;
}

static bool nodes_rows(struct exporting *e, char **err)
{
    if (e->run->record_level == RECORD_FULL) return nodes_of_timeline(e, err);
    for (size_t i = 0; i < e->run->n_jobs; i++) {
        const struct job_row *r = &e->run->jobs[i].row;
        for (unsigned k = 0; k < r->n_nodes; k++)
            node_row(e, r, -1, r->nodes[k].first, r->nodes[k].last, r->allocated_ns,
                     r->finished_ns >= 0 ? r->finished_ns : e->run->end_ns);
    }
    return true;
}

/* ---- series ---- */

enum { SERIES_PARTS = 100 }; /* of a job's steps */

static void series_header(struct exporting *e)
{
    static const char *const names[] = {"job", "time_s", "step", "redone", "samples", "tokens", "loss", "learning_rate",
                                        "gradient_norm", "samples_per_s", "tokens_per_s", "gpu_memory_bytes",
                                        "network_bytes_per_s", "read_bytes_per_s", NULL};
    put_header(e, names);
    csv_write_row_end(&e->w);
}

static void put_number(struct exporting *e, double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", x);
    if (isfinite(x)) csv_write_str(&e->w, text);
    else csv_write_empty(&e->w);
}

static void series_row(struct exporting *e, const struct series *s, const struct progress_span *p, int64_t step)
{
    struct series_point at = series_at(s, p, step);
    const double numbers[] = {at.samples, at.tokens, at.loss, at.learning_rate, at.gradient_norm, at.samples_per_s,
                              at.tokens_per_s, at.memory_bytes, at.network_bytes_per_s, at.read_bytes_per_s};
    if (!within(e, at.time_ns)) return;
    put_run(e);
    put_id(e, job_index_row(&e->index, p->job));
    put_time(e, at.time_ns);
    csv_write_i64(&e->w, step);
    csv_write_u64(&e->w, p->redone);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) put_number(e, numbers[i]);
    csv_write_row_end(&e->w);
}

/* Jobs given as a duration have no steps to show; a run without its scenario has no series. */
static bool series_rows(struct exporting *e, char **err)
{
    struct series s;
    struct str file = {0};
    str_printf(&file, "%s/scenario.json", e->run->dir);
    bool there = file_exists(str_text(&file));
    str_free(&file);
    if (!there || e->run->record_level == RECORD_NONE) return true;
    if (!series_read(e->run, &s, err)) return false;
    for (size_t i = 0; i < s.progress.spans.n; i++) {
        const struct progress_span *p = &s.progress.spans.v[i];
        for (int64_t step = p->first; s.jobs[p->job].total_steps && step >= 0; step = series_next(&s, p, step, SERIES_PARTS))
            series_row(e, &s, p, step);
    }
    series_free(&s);
    return true;
}

/* ---- tables ---- */

static const struct table {
    void (*header)(struct exporting *);
    bool (*rows)(struct exporting *, char **err);
    bool needs_index, has_range;
} tables[] = {
    {jobs_header,     jobs_rows,      false, true },
    {ledger_header,   ledger_rows_of, false, false},
    {timeline_header, timeline_rows,  true,  true },
    {nodes_header,    nodes_rows,     true,  true },
    {series_header,   series_rows,    true,  true },
};
const char *const export_tables[] = {"jobs", "ledger", "timeline", "nodes", "series"};
const size_t n_export_tables = sizeof export_tables / sizeof *export_tables;

static bool export_run(struct exporting *e, const struct table *t, const char *dir, struct str *warnings, char **err)
{
    char *said = NULL;
    struct run *run = run_open(dir, &said, err);
    if (said && warnings) str_append(warnings, said);
    free(said);
    if (!run) return false;
    if (warnings) timeline_warning(run, warnings);
    e->run = run;
    bool ok = !t->needs_index || run->record_level == RECORD_NONE || job_index_read(run, &e->index, err);
    if (ok && (t->rows != timeline_rows || run->record_level != RECORD_NONE)) ok = t->rows(e, err);
    job_index_free(&e->index);
    run_close(run);
    return ok;
}

static size_t place_of(const char *table)
{
    size_t at = 0;
    while (at < n_export_tables && strcmp(export_tables[at], table)) at++;
    return at;
}

bool export_table_has_range(const char *table)
{
    size_t at = place_of(table);
    return at < n_export_tables && tables[at].has_range;
}

bool export_table(const char *table, char *const *dirs, size_t n, const struct export_range *range, FILE *to, struct str *warnings, char **err)
{
    size_t at = place_of(table);
    *err = NULL;
    if (at == n_export_tables || (range && !tables[at].has_range)) {
        *err = xstrdup(range && at < n_export_tables ? "the ledger has sums over the whole run, and none of a range" : "no such table");
        return false;
    }
    struct exporting *e = xcalloc(1, sizeof *e); /* its writer has a large buffer */
    e->range = range ? *range : (struct export_range){0, INT64_MAX};
    csv_writer_begin(&e->w, to);
    tables[at].header(e);
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) ok = export_run(e, &tables[at], dirs[i], warnings, err);
    if (!csv_writer_end(&e->w) && ok) {
        *err = xstrdup(errno ? strerror(errno) : "cannot be written");
        ok = false;
    }
    free(e);
    return ok;
}
