/* trace.c - "trace": jobs of another system, read by import.h, with what the trace does not say.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/csv.h"
#include "base/file.h"
#include "input/raw.h"

#define X_COLUMN(e, key)                                                                                               \
    { .name = key, .type = TYPE_STRING, .offset = offsetof(struct raw_map, column) + sizeof(char *) * e,               \
      .help = "the trace's column for " key },
static const struct field map_fields[] = { IMPORT_FIELDS(X_COLUMN) };
#undef X_COLUMN
static const struct object_type map_type = OBJECT(raw_map, map_fields, "map", "Columns of the trace, where it names them otherwise.");

static const struct field trace_fields[] = {
    FIELD(raw_trace, files, "file", TYPE_STRINGS, .required = true, .help = "one file or several, from the scenario's folder"),
    FIELD(raw_trace, format, "format", TYPE_STRING, .help = "`trainyard import --help` lists them; absent: seen from the file"),
    FIELD(raw_trace, gpus_per_node, "gpus_per_node", TYPE_INT, .min = 1, .max = 1000000,
          .help = "splits jobs into replicas; default: GPUs of the largest node"),
    FIELD(raw_trace, map, "map", TYPE_OBJECT, .sub = &map_type, .help = "columns by meaning"),
    FIELD(raw_trace, defaults, "defaults", TYPE_OBJECT, .sub = &job_type, .always = true,
          .help = "what the jobs are, where the trace does not say it"),
    FIELD(raw_trace, classes, "classes", TYPE_MAP, .sub = &job_type, .help = "the same by the trace's column class"),
};
const struct object_type trace_type = OBJECT(raw_trace, trace_fields, "trace", "Jobs of another system.");

static uint32_t largest_node(const struct cluster_spec *c)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < c->n_groups; i++)
        if (c->groups[i].gpus > most) most = c->groups[i].gpus;
    return most;
}

static const struct import_format *format_of(struct build *b, const struct raw_trace *raw, const char *file)
{
    const struct import_format *f = raw->format ? import_format_find(raw->format) : import_format_probe(file);
    if (f) return f;
    size_t n;
    const char *const *names = import_format_names(&n);
    if (raw->format) {
        value_error(b->diag, place_of(raw->at, "format"), "unknown format \"%s\"", raw->format);
        diag_help_allowed(b->diag, raw->format, names, n);
    } else {
        value_error(b->diag, place_of(raw->at, "file"), "%s: the format cannot be seen from the file; give \"format\"", file);
    }
    return NULL;
}

/* ---- names of the trace -> names of the scenario ---- */

struct mapping {
    uint16_t *team, *queue;
    uint32_t *detail;
    int32_t priority;
};

/* Names get their index at their first job in order of submission, so that the table read again gives the same. */
static uint16_t queue_at(struct build *b, const struct import_result *r, struct mapping *m, uint16_t i)
{
    if (m->queue[i] == NO_INDEX) m->queue[i] = queue_index(b, intern_text(&r->queues, i), b->raw->workload->trace->at);
    return m->queue[i];
}

static uint16_t team_at(struct build *b, const struct import_result *r, struct mapping *m, uint16_t i)
{
    if (m->team[i] == NO_INDEX) m->team[i] = name_index(b, &b->teams, intern_text(&r->teams, i));
    return m->team[i];
}

static uint16_t *unset(struct build *b, uint32_t n)
{
    uint16_t *v = arena_array(b->arena, n ? n : 1, uint16_t);
    for (uint32_t i = 0; i < n; i++) v[i] = NO_INDEX;
    return v;
}

static void map_classes(struct build *b, const struct raw_trace *raw, const struct import_result *r, struct mapping *m)
{
    uint32_t n = intern_count(&r->classes);
    m->detail = arena_array(b->arena, n ? n : 1, uint32_t);
    for (uint32_t i = 0; i < n; i++) m->detail[i] = raw->first_detail;
    if (n == 0) m->detail[0] = raw->first_detail;
    for (uint32_t i = 1; i < n; i++) {
        const char *name = intern_text(&r->classes, i), *names[40];
        size_t k = 0;
        while (k < raw->classes.n && strcmp(LIST_AT(raw->classes, struct map_entry, k).key, name) != 0) k++;
        m->detail[i] = raw->first_detail + 1 + (uint32_t)k;
        if (k < raw->classes.n) continue;
        size_t n_names = raw->classes.n < 40 ? raw->classes.n : 40;
        for (size_t j = 0; j < n_names; j++) names[j] = LIST_AT(raw->classes, struct map_entry, j).key;
        name_error(b->diag, raw->at, "class of the trace's jobs in \"classes\":", name, names, n_names);
        m->detail[i] = raw->first_detail;
    }
}

/* Class 0 is the defaults; their queue, team and priority stand in where a row says nothing. */
static void map_names(struct build *b, struct raw_trace *raw, const struct import_result *r, struct mapping *m)
{
    struct job_spec owner = { 0 };
    raw->first_detail = build_class(b, raw->defaults, "the trace");
    for (size_t i = 0; i < raw->classes.n; i++)
        build_class(b, LIST_AT(raw->classes, struct map_entry, i).object, "the trace");
    build_owner(b, raw->defaults, NULL, &owner);
    m->queue = unset(b, intern_count(&r->queues));
    m->team = unset(b, intern_count(&r->teams));
    map_classes(b, raw, r, m);
    m->queue[0] = owner.queue;
    m->team[0] = owner.team;
    m->priority = owner.priority;
}

static void check_ids(struct build *b, const struct raw_trace *raw, const struct import_result *r)
{
    char buf[24];
    for (size_t i = 0; b->jobs.ids.n > 0 && i < r->n_jobs; i++) {
        const char *id = import_job_id(r, &r->jobs[i], buf);
        if (!hmap_get_str(&b->jobs.ids, id, NULL)) continue;
        value_error(b->diag, raw->at, "the trace and \"jobs\" both have a job \"%s\"", id);
        return;
    }
}

static void take_jobs(struct build *b, struct import_result *r, struct mapping *m)
{
    uint64_t text_at = b->jobs.id_text.n;
    for (size_t i = 0; i < r->n_jobs; i++) {
        struct job_spec *job = &r->jobs[i];
        job->detail = m->detail[job->detail];
        job->queue = queue_at(b, r, m, job->queue);
        job->team = team_at(b, r, m, job->team);
        if (job->priority == 0) job->priority = m->priority;
        if (job->flags & JOB_ID_TEXT) job->id += text_at;
    }
    if (r->id_text.n) str_append_n(&b->jobs.id_text, r->id_text.s, r->id_text.n);
    if (b->jobs.n == 0) {
        free(b->jobs.v);
        b->jobs.v = r->jobs;
        b->jobs.n = r->n_jobs;
        b->jobs.cap = r->cap_jobs > r->n_jobs ? r->cap_jobs : r->n_jobs;
        r->jobs = NULL;
        r->n_jobs = 0;
        return;
    }
    array_reserve(&b->jobs, b->jobs.n + r->n_jobs);
    if (r->n_jobs) memcpy(b->jobs.v + b->jobs.n, r->jobs, r->n_jobs * sizeof *r->jobs);
    b->jobs.n += r->n_jobs;
}

static void keep_notes(struct build *b, const struct import_result *r)
{
    struct scenario *s = b->s;
    s->notes = arena_array(b->arena, r->notes.n, const char *);
    for (size_t i = 0; i < r->notes.n; i++) {
        const struct import_note *n = &r->notes.v[i];
        const char *text = n->text;
        if (n->count && n->line)
            text = arena_printf(b->arena, "%s (%lu, first in %s:%d)", n->text, (unsigned long)n->count, n->file, n->line);
        else if (n->count)
            text = arena_printf(b->arena, "%s (%lu)", n->text, (unsigned long)n->count);
        s->notes[s->n_notes++] = text == n->text ? arena_strdup(b->arena, text) : text;
    }
}

/* From now on the trace is its job table: that is what the resolved scenario says. */
static void fix_trace(struct build *b, struct raw_trace *raw)
{
    const char **file = arena_array(b->arena, 1, const char *);
    *file = TRACE_CSV_NAME;
    raw->files = (struct list){ file, 1 };
    raw->format = "jobs";
    raw->map = NULL;
}

void build_trace(struct build *b, struct raw_trace *raw)
{
    if (!raw || !raw->files.n) return;
    const char **files = arena_array(b->arena, raw->files.n, const char *);
    struct import_options options = { 0 };
    struct import_result r;
    struct mapping m = { 0 };
    for (size_t i = 0; i < raw->files.n; i++)
        files[i] = path_join(b->arena, b->dir, LIST_AT(raw->files, const char *, i));
    const struct import_format *format = format_of(b, raw, files[0]);
    if (!format) return;
    if (raw->gpus_per_node == ABSENT) raw->gpus_per_node = largest_node(&b->s->cluster);
    if (raw->gpus_per_node == 0) raw->gpus_per_node = 1;
    options.gpus_per_node = (uint32_t)raw->gpus_per_node;
    for (int i = 0; raw->map && i < N_IMPORT_FIELDS; i++) options.column[i] = raw->map->column[i];
    if (import_read(format, files, raw->files.n, &options, &r, b->diag)) {
        map_names(b, raw, &r, &m);
        check_ids(b, raw, &r);
        keep_notes(b, &r);
        b->s->n_table_jobs = r.n_jobs;
        if (r.week_offset_ns >= 0 && b->raw->workload->week_offset == ABSENT)
            b->raw->workload->week_offset = r.week_offset_ns;
        take_jobs(b, &r, &m);
        fix_trace(b, raw);
    }
    import_free(&r);
}

/* ---- the table again ---- */

static void write_row(struct csv_writer *w, const struct scenario *s, const struct job_spec *job)
{
    const struct raw_trace *t = s->raw->workload->trace;
    uint32_t class = job->detail - t->first_detail;
    int64_t shares = (int64_t)job->replicas * job->gpu_shares;
    char buf[24], gpus[40];
    csv_write_str(w, job_id(s, job, buf));
    csv_write_seconds(w, job->submit_ns);
    csv_write_seconds(w, job->work_ns);
    if (job->limit_ns == TIME_NEVER)
        csv_write_empty(w);
    else
        csv_write_seconds(w, job->limit_ns);
    if (shares % 1000) {
        snprintf(gpus, sizeof gpus, "%ld.%03ld", (long)(shares / 1000), (long)(shares % 1000));
        csv_write_str(w, gpus);
    } else {
        csv_write_i64(w, shares / 1000);
    }
    csv_write_u64(w, job->replicas);
    csv_write_i64(w, job->priority);
    csv_write_str(w, s->queues[job->queue]);
    csv_write_str(w, s->teams[job->team]);
    csv_write_str(w, class == 0 ? "" : LIST_AT(t->classes, struct map_entry, class - 1).key);
    csv_write_row_end(w);
}

void trace_csv(const struct scenario *s, struct str *out)
{
    static const char *const columns[] = { "job", "submit_s", "work_s", "limit_s", "gpus", "replicas", "priority", "queue",
                                           "team", "class" };
    const struct raw_trace *t = s->raw->workload->trace;
    struct csv_writer *w = malloc(sizeof *w);
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    if (!w || !to) abort();
    csv_writer_begin(w, to);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) csv_write_str(w, columns[i]);
    csv_write_row_end(w);
    for (size_t i = 0; i < s->n_jobs; i++)
        if (s->jobs[i].detail >= t->first_detail && s->jobs[i].detail <= t->first_detail + t->classes.n)
            write_row(w, s, &s->jobs[i]);
    csv_writer_end(w);
    fclose(to);
    free(w);
    str_append_n(out, text, n);
    free(text);
}
