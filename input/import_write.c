/* import_write.c - an imported trace as a scenario: X.json with what was assumed as comments, X.jobs.csv beside it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "base/units.h"
#include "input/import.h"

#define LOAD_PERCENT 80 /* offered load at which the cluster is sized when nobody says how large it is */

static uint64_t ceil_div(unsigned __int128 a, unsigned __int128 b)
{
    return (uint64_t)((a + b - 1) / b);
}

/* Nodes of g GPUs on which the trace offers LOAD_PERCENT over the time in which it submits jobs. */
static uint64_t nodes_for_load(const struct import_totals *t, uint32_t g)
{
    unsigned __int128 span = (unsigned __int128)(t->last_ns - t->first_ns);
    if (span == 0) return 0;
    return ceil_div(t->share_ns * 100, span * g * SHARES_PER_GPU * LOAD_PERCENT);
}

void import_cluster_choose(const struct import_result *r, struct import_cluster *c, const char **why)
{
    struct import_totals t = import_totals(r);
    *why = NULL;
    if (c->gpus == 0) {
        c->gpus = r->format->gpus_per_node > t.largest_replica ? r->format->gpus_per_node : t.largest_replica;
        *why = "GPUs a node: the format's usual size, or the largest replica";
    }
    if (c->nodes > 0) return;
    uint64_t fit = ceil_div(t.largest_gpus, c->gpus), load = nodes_for_load(&t, c->gpus);
    *why = "cluster: the fewest nodes that hold the largest job and on which the offered load is at most 80 %";
    if (r->machines >= t.largest_gpus && r->machines > 0) {
        fit = ceil_div(r->machines, c->gpus);
        load = 0;
        *why = "cluster: the size that the trace names";
    }
    uint64_t nodes = fit > load ? fit : load;
    c->nodes = nodes > INT32_MAX ? INT32_MAX : (uint32_t)nodes;
}

/* ---- X.jobs.csv ---- */

static void write_name(struct csv_writer *w, const struct intern *names, uint32_t index)
{
    if (index)
        csv_write_str(w, intern_text(names, index));
    else
        csv_write_empty(w);
}

static void write_job(struct csv_writer *w, const struct import_result *r, const struct job_spec *j)
{
    const int64_t nano_per_share =
        NS_PER_S / SHARES_PER_GPU; /* GPUs are written as the exact decimals of seconds are */
    if (j->flags & JOB_ID_TEXT)
        csv_write_str(w, r->id_text.s + j->id);
    else
        csv_write_u64(w, j->id);
    csv_write_seconds(w, j->submit_ns);
    csv_write_seconds(w, j->work_ns);
    if (j->limit_ns == TIME_NEVER)
        csv_write_empty(w);
    else
        csv_write_seconds(w, j->limit_ns);
    csv_write_seconds(w, (int64_t)j->replicas * j->gpu_shares * nano_per_share);
    csv_write_u64(w, j->replicas);
    csv_write_i64(w, j->priority);
    write_name(w, &r->queues, j->queue);
    write_name(w, &r->teams, j->team);
    write_name(w, &r->classes, j->detail);
    csv_write_row_end(w);
}

static bool write_jobs(const struct import_result *r, const char *path, struct diag *d)
{
    static const char *const header[] = {"job",      "submit_s", "work_s", "limit_s", "gpus",
                                         "replicas", "priority", "queue",  "team",    "class"};
    FILE *to = fopen(path, "w");
    struct csv_writer *w = xmalloc(sizeof *w);
    bool ok = to != NULL;
    if (ok) {
        csv_writer_begin(w, to);
        for (size_t i = 0; i < sizeof header / sizeof *header; i++) csv_write_str(w, header[i]);
        csv_write_row_end(w);
        for (size_t i = 0; i < r->n_jobs; i++) write_job(w, r, &r->jobs[i]);
        ok = csv_writer_end(w);
        ok &= fclose(to) == 0;
    }
    if (!ok) diag_error(d, path, 0, NULL, "cannot be written: %s", strerror(errno));
    free(w);
    return ok;
}

/* ---- X.json ---- */

/* One comment line; line ends in the text (a file's name may hold any) become blanks. */
static void comment(struct str *out, const char *text)
{
    str_append(out, "// ");
    for (; *text; text++) str_append_char(out, (unsigned char)*text < ' ' ? ' ' : *text);
    str_append_char(out, '\n');
}

void import_note_text(const struct import_note *note, struct str *out)
{
    if (note->count) {
        units_format_count(out, (int64_t)note->count);
        str_append_char(out, ' ');
    }
    str_append(out, note->text);
    if (note->line) str_printf(out, " (first: %s:%d)", note->file, note->line);
}

static void write_notes(struct str *out, const struct import_result *r)
{
    for (size_t i = 0; i < r->notes.n; i++) {
        struct str line = {0};
        str_append(&line, " * ");
        import_note_text(&r->notes.v[i], &line);
        comment(out, str_text(&line));
        str_free(&line);
    }
}

static void write_head(struct str *out, const struct import_result *r, const char *source, const char *why)
{
    struct str line = {0};
    struct import_totals t = import_totals(r);
    str_printf(&line, "Written by trainyard import %s from %s: ", r->format->name, source);
    units_format_count(&line, (int64_t)r->n_jobs);
    str_append(&line, " jobs submitted over ");
    units_format_duration(&line, t.last_ns - t.first_ns);
    str_append(&line, ".");
    comment(out, str_text(&line));
    str_free(&line);
    comment(out, "What is missing, contradictory or assumed:");
    write_notes(out, r);
    if (why) {
        str_printf(&line, " * %s", why);
        comment(out, str_text(&line));
    }
    str_free(&line);
}

static void write_cluster(struct json_writer *w, struct import_cluster c)
{
    json_write_key(w, "cluster");
    json_write_object(w);
    json_write_key(w, "nodes");
    json_write_array(w);
    json_write_object_inline(w);
    json_write_key(w, "group");
    json_write_string(w, "gpu");
    json_write_key(w, "count");
    json_write_uint64(w, c.nodes);
    json_write_key(w, "gpus");
    json_write_uint64(w, c.gpus);
    json_write_end(w);
    json_write_end(w);
    json_write_end(w);
}

/* Queues of one cohort that share the cluster evenly and lend all they do not use: a trace names its queues, not their
 * quotas. A trace without queues gets one. */
static void write_queues(struct json_writer *w, const struct import_result *r, struct import_cluster c)
{
    uint32_t n = intern_count(&r->queues);
    uint64_t gpus = (uint64_t)c.nodes * c.gpus, of = n > 1 ? n - 1 : 1;
    json_write_key(w, "queues");
    json_write_array(w);
    for (uint64_t i = 0; i < of; i++) {
        json_write_object_inline(w);
        json_write_key(w, "name");
        json_write_string(w, n > 1 ? intern_text(&r->queues, (uint32_t)i + 1) : "all");
        json_write_key(w, "quota");
        json_write_object(w);
        json_write_key(w, "gpu");
        json_write_uint64(w, gpus / of + (i < gpus % of));
        json_write_end(w);
        if (of > 1) {
            json_write_key(w, "cohort");
            json_write_string(w, "all");
        }
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_workload(struct json_writer *w, const struct import_result *r, const char *jobs_file, bool queued)
{
    json_write_key(w, "workload");
    json_write_object(w);
    json_write_key(w, "trace");
    json_write_object(w);
    json_write_key(w, "file");
    json_write_string(w, jobs_file);
    json_write_key(w, "format");
    json_write_string(w, "jobs");
    json_write_key(w, "defaults");
    json_write_object_inline(w);
    json_write_key(w, "kind");
    json_write_string(w, "train");
    if (queued && intern_count(&r->queues) == 1) {
        json_write_key(w, "queue");
        json_write_string(w, "all");
    }
    json_write_end(w);
    json_write_end(w);
    json_write_end(w);
}

/* The approaches that make sense for a trace: batch policies for all, the two schools where there are GPUs. */
struct approach_row {
    const char *name, *lifecycle, *admission, *stack, *scheduler, *gang, *placement;
    bool gpus, limits;
};
static const struct approach_row approach_rows[] = {
  /* name       lifecycle               admission    stack         scheduler gang            placement GPUs   limits */
    {"operator", "training-operator-v1", "kueue",     "kueue-0.18", "kube",  "coscheduling", "pack",  true,  false},
    {"actor",    "ray-train-v2",         "kueue",     "kueue-0.18", "kube",  "none",         "pack",  true,  false},
    {"fifo",     "none",                 "fifo",      NULL,         "batch", "none",         "none",  false, false},
    {"skip",     "none",                 "fifo-skip", NULL,         "batch", "none",         "none",  false, false},
    {"easy",     "none",                 "easy",      NULL,         "batch", "none",         "first", false, true },
};

static void write_approach(struct json_writer *w, const struct approach_row *a)
{
    const char *const member[][2] = {
        {"lifecycle", a->lifecycle},
        {"admission", a->admission},
        {"stack",     a->stack    },
        {"scheduler", a->scheduler},
        {"gang",      a->gang     },
        {"placement", a->placement}
    };
    json_write_key(w, a->name);
    json_write_object_inline(w);
    for (size_t i = 0; i < sizeof member / sizeof *member; i++) {
        if (!member[i][1]) continue;
        json_write_key(w, member[i][0]);
        json_write_string(w, member[i][1]);
    }
    json_write_end(w);
}

static bool all_have_limits(const struct import_result *r)
{
    for (size_t i = 0; i < r->n_jobs; i++)
        if (r->jobs[i].limit_ns == TIME_NEVER) return false;
    return true;
}

static void write_approaches(struct json_writer *w, const struct import_result *r, bool gpus)
{
    bool limits = all_have_limits(r);
    json_write_key(w, "approaches");
    json_write_object(w);
    for (size_t i = 0; i < sizeof approach_rows / sizeof *approach_rows; i++)
        if ((gpus || !approach_rows[i].gpus) && (limits || !approach_rows[i].limits))
            write_approach(w, &approach_rows[i]);
    json_write_end(w);
}

static void write_scenario(struct str *out, const struct import_result *r, struct import_cluster c, const char *name,
                           const char *jobs_file)
{
    struct json_writer w;
    bool gpus = strcmp(r->format->unit, "GPU") == 0;
    json_write_begin(&w, out);
    json_write_object(&w);
    json_write_key(&w, "trainyard");
    json_write_int64(&w, 1);
    json_write_key(&w, "name");
    json_write_string(&w, name);
    write_cluster(&w, c);
    if (gpus || intern_count(&r->queues) > 1) write_queues(&w, r, c);
    write_workload(&w, r, jobs_file, gpus);
    write_approaches(&w, r, gpus);
    json_write_key(&w, "run");
    json_write_object_inline(&w);
    json_write_key(&w, "seed");
    json_write_int64(&w, 1);
    json_write_end(&w);
    json_write_end(&w);
    json_write_finish(&w);
}

bool import_write(const struct import_result *r, struct import_cluster c, const char *why, const char *source,
                  const char *json_file, struct diag *d)
{
    struct arena a = {0};
    size_t n = strlen(json_file), stem = str_ends_with(json_file, ".json") ? n - 5 : n;
    const char *jobs = arena_printf(&a, "%.*s.jobs.csv", (int)stem, json_file);
    const char *name = arena_strndup(&a, path_base(json_file), strlen(path_base(json_file)) - (n - stem));
    struct str out = {0};
    write_head(&out, r, source, why);
    write_scenario(&out, r, c, name, path_base(jobs));
    bool ok = write_jobs(r, jobs, d) && file_write_atomic(json_file, out.s, out.n, d);
    str_free(&out);
    arena_free(&a);
    return ok;
}
