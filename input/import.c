/* import.c - the formats, and the table that their readers fill.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/import.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/units.h"
#include "input/import_reader.h"

#define X_NAME(e, name) name,
const char *const import_field_names[N_IMPORT_FIELDS] = {IMPORT_FIELDS(X_NAME)};
#undef X_NAME

/* ---- ids ---- */

/* A number without leading zeros that prints as it was read. */
static bool id_number(const char *text, uint64_t *id)
{
    size_t n = strspn(text, "0123456789");
    if (n == 0 || n > 18 || text[n] != '\0' || (text[0] == '0' && n > 1)) return false;
    *id = strtoull(text, NULL, 10);
    return true;
}

const char *import_job_id(const struct import_result *r, const struct job_spec *job, char buf[24])
{
    if (job->flags & JOB_ID_TEXT) return r->id_text.s + job->id;
    snprintf(buf, 24, "%llu", (unsigned long long)job->id);
    return buf;
}

static uint64_t id_key(const char *text)
{
    return hash64(text, strlen(text));
}

/* The ids so far did ascend and so needed no map; now they do not. */
static void begin_id_map(struct import_reader *r)
{
    char buf[24];
    r->ids_ascend = false;
    for (size_t i = 0; i < r->result->n_jobs; i++)
        hmap_put_u64(&r->ids, id_key(import_job_id(r->result, &r->result->jobs[i], buf)), 0);
}

static bool id_is_new(struct import_reader *r, const char *text, bool is_number, uint64_t id, int line)
{
    if (r->ids_ascend && is_number && (r->result->n_jobs == 0 || id > r->last_id)) {
        r->last_id = id;
        return true;
    }
    if (r->ids_ascend) begin_id_map(r);
    uint64_t first = 0, key = id_key(text);
    if (!hmap_get_u64(&r->ids, key, &first)) {
        hmap_put_u64(&r->ids, key, (uint64_t)line);
        return true;
    }
    const char *help = "each job needs an id of its own; give another column as \"job\" in the map, or leave one out";
    const char *column = r->column[FIELD_JOB] ? r->column[FIELD_JOB] : "job";
    if (first)
        import_error(r, line, column, help, "\"%s\" stands already on line %llu", text, (unsigned long long)first);
    else
        import_error(r, line, column, help, "\"%s\" stands already above", text);
    return false;
}

static bool set_id(struct import_reader *r, const struct import_row *row, struct job_spec *job)
{
    if (row->job == NULL) {
        job->id = r->result->rows;
        return true;
    }
    if (*row->job == '\0') {
        import_error(r, row->line, r->column[FIELD_JOB], "give each job an id", "is empty");
        return false;
    }
    bool is_number = id_number(row->job, &job->id);
    if (!id_is_new(r, row->job, is_number, job->id, row->line)) return false;
    if (is_number) return true;
    job->flags |= JOB_ID_TEXT;
    job->id = r->result->id_text.n;
    str_append_n(&r->result->id_text, row->job, strlen(row->job) + 1);
    return true;
}

/* ---- rows ---- */

void import_note(struct import_reader *r, const char *text, int line)
{
    struct import_result *result = r->result;
    for (size_t i = 0; i < result->notes.n; i++)
        if (result->notes.v[i].text == text) {
            result->notes.v[i].count += line > 0;
            return;
        }
    struct import_note note = {text, line > 0, arena_strdup(&result->arena, r->file), line};
    array_push(&result->notes, note);
}

/* The fewest replicas are the largest ones: n / d for the largest divisor d of n that a node holds. */
uint32_t import_replicas(uint32_t gpus, uint32_t g)
{
    uint32_t replica = g < gpus ? g : gpus;
    while (gpus % replica != 0) replica--;
    return gpus / replica;
}

static bool set_shape(struct import_reader *r, const struct import_row *row, struct job_spec *job)
{
    int64_t replicas = row->replicas ? row->replicas : 1, g = r->options->gpus_per_node;
    if (row->replicas == 0 && g > 0 && row->shares > g * SHARES_PER_GPU && row->shares % SHARES_PER_GPU == 0) {
        int64_t gpus = row->shares / SHARES_PER_GPU;
        replicas = import_replicas((uint32_t)gpus, (uint32_t)g);
        if (gpus % g != 0)
            import_note(r, "jobs whose GPUs do not fill whole nodes; they became equal replicas smaller than a node",
                        row->line);
    }
    if (row->shares % replicas != 0 || row->shares / replicas > INT32_MAX) {
        import_error(r, row->line, r->column[FIELD_REPLICAS],
                     "\"gpus\" is the number of all replicas together and must divide evenly, in 1/1000 GPU",
                     "%lld replicas do not divide the job's GPUs", (long long)replicas);
        return false;
    }
    job->replicas = (uint32_t)replicas;
    job->gpu_shares = (uint32_t)(row->shares / replicas);
    return true;
}

static bool set_name(struct import_reader *r, int line, struct intern *names, enum import_field field, const char *text,
                     uint32_t *index)
{
    *index = text && *text ? intern_id(names, text) : 0;
    if (*index < NO_INDEX) return true;
    const char *column = r->column[field] ? r->column[field] : import_field_names[field];
    if (*index == NO_INDEX)
        import_error(r, line, column, "map a column with fewer different values", "more than %d different values",
                     NO_INDEX - 1);
    return false;
}

static bool set_names(struct import_reader *r, const struct import_row *row, struct job_spec *job)
{
    uint32_t queue, team;
    const char *team_text = row->team && *row->team ? row->team : r->file_team;
    bool ok = set_name(r, row->line, &r->result->queues, FIELD_QUEUE, row->queue, &queue);
    ok &= set_name(r, row->line, &r->result->teams, FIELD_TEAM, team_text, &team);
    ok &= set_name(r, row->line, &r->result->classes, FIELD_CLASS, row->class, &job->detail);
    job->queue = (uint16_t)queue;
    job->team = (uint16_t)team;
    return ok;
}

static void note_oddities(struct import_reader *r, const struct import_row *row)
{
    if (row->work_ns == 0) import_note(r, "jobs of zero duration; kept, they end as they start", row->line);
    if (row->limit_ns < row->work_ns)
        import_note(r, "jobs that ran longer than their time limit; they would be killed at it", row->line);
}

void import_add(struct import_reader *r, const struct import_row *row)
{
    struct import_result *result = r->result;
    if (row->shares == 0) {
        import_note(r, "jobs without a GPU; left out, they hold nothing that is counted", row->line);
        return;
    }
    struct job_spec job = {
        .submit_ns = row->submit_ns, .work_ns = row->work_ns, .limit_ns = row->limit_ns, .priority = row->priority};
    if (!set_shape(r, row, &job) || !set_names(r, row, &job) || !set_id(r, row, &job)) return;
    note_oddities(r, row);
    if (result->n_jobs == result->cap_jobs) {
        result->cap_jobs = result->cap_jobs ? result->cap_jobs + result->cap_jobs / 2 : 1024;
        result->jobs = xreallocarray(result->jobs, result->cap_jobs, sizeof *result->jobs);
    }
    result->jobs[result->n_jobs++] = job;
}

/* ---- order ---- */

struct sort_key {
    int64_t at;
    uint64_t index;
};

static int compare_keys(const void *pa, const void *pb)
{
    const struct sort_key *a = pa, *b = pb;
    if (a->at != b->at) return a->at < b->at ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static bool is_sorted(const struct job_spec *jobs, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (jobs[i].submit_ns < jobs[i - 1].submit_ns) return false;
    return true;
}

/* Moves the jobs along the cycles of the permutation, in place: the table is the bulk of the memory. */
static void permute(struct job_spec *jobs, struct sort_key *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (keys[i].index == i) continue;
        struct job_spec first = jobs[i];
        size_t at = i;
        while (keys[at].index != i) {
            size_t from = keys[at].index;
            jobs[at] = jobs[from];
            keys[at].index = at;
            at = from;
        }
        jobs[at] = first;
        keys[at].index = at;
    }
}

void import_sort(struct job_spec *jobs, size_t n)
{
    if (is_sorted(jobs, n)) return;
    struct sort_key *keys = xcalloc(n, sizeof *keys);
    for (size_t i = 0; i < n; i++) keys[i] = (struct sort_key){jobs[i].submit_ns, i};
    qsort(keys, n, sizeof *keys, compare_keys);
    permute(jobs, keys, n);
    free(keys);
}

/* 1970-01-01 was a Thursday: day 3 from Monday. */
static int64_t week_time(int64_t since_1970_ns)
{
    int64_t t = (since_1970_ns + 3 * NS_PER_DAY) % (7 * NS_PER_DAY);
    return t < 0 ? t + 7 * NS_PER_DAY : t;
}

static void count_from_first(struct import_result *r)
{
    if (r->n_jobs == 0) return;
    int64_t first = r->jobs[0].submit_ns;
    r->week_offset_ns = week_time(first);
    for (size_t i = 0; i < r->n_jobs; i++) r->jobs[i].submit_ns -= first;
}

/* ---- reading ---- */

static void resolve_columns(struct import_reader *r)
{
    for (int f = 0; f < N_IMPORT_FIELDS; f++) {
        r->column[f] = r->options->column[f] ? r->options->column[f] : r->format->column[f];
        if (r->options->column[f] && (r->format->fixed & 1u << f))
            diag_error(r->diag, r->file, 0, import_field_names[f], "cannot be mapped for the format %s",
                       r->format->name);
    }
}

/* Formats without a team take the file's name when several clusters are read at once. */
static const char *team_of_file(struct import_reader *r, const char *file, size_t n_files)
{
    if (n_files < 2 || r->column[FIELD_TEAM] != NULL) return NULL;
    const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
    return arena_strndup(&r->result->arena, base, strcspn(base, "."));
}

static void finish(struct import_reader *r)
{
    if (!is_sorted(r->result->jobs, r->result->n_jobs)) {
        import_note(r, "the trace is not in the order of submission; sorted", 0);
        import_sort(r->result->jobs, r->result->n_jobs);
    }
    if (r->format->dated) count_from_first(r->result);
    for (size_t i = 0; i < sizeof r->format->notes / sizeof *r->format->notes && r->format->notes[i]; i++)
        import_note(r, r->format->notes[i], 0);
}

bool import_read(const struct import_format *format, const char *const *files, size_t n_files,
                 const struct import_options *options, struct import_result *result, struct diag *d)
{
    *result = (struct import_result){.format = format, .week_offset_ns = -1};
    intern_id(&result->teams, "");
    intern_id(&result->queues, "");
    intern_id(&result->classes, "");
    static const struct import_options none;
    struct import_reader r = {.result = result,
                              .format = format,
                              .options = options ? options : &none,
                              .diag = d,
                              .ids_ascend = true,
                              .errors_before = diag_errors(d),
                              .file = n_files ? files[0] : format->name};
    resolve_columns(&r);
    for (size_t i = 0; i < n_files && diag_errors(d) == r.errors_before; i++) {
        r.file = files[i];
        r.file_team = team_of_file(&r, files[i], n_files);
        format->read(&r, files[i]);
    }
    if (diag_errors(d) == r.errors_before && result->n_jobs == 0)
        diag_error(d, n_files ? files[0] : format->name, 0, NULL, "holds no job that could be simulated");
    hmap_free(&r.ids);
    if (diag_errors(d) != r.errors_before) return false;
    finish(&r);
    return true;
}

void import_free(struct import_result *r)
{
    free(r->jobs);
    str_free(&r->id_text);
    intern_free(&r->teams);
    intern_free(&r->queues);
    intern_free(&r->classes);
    array_free(&r->notes);
    arena_free(&r->arena);
    *r = (struct import_result){0};
}

struct import_totals import_totals(const struct import_result *r)
{
    struct import_totals t = {.first_ns = r->n_jobs ? r->jobs[0].submit_ns : 0,
                              .last_ns = r->n_jobs ? r->jobs[r->n_jobs - 1].submit_ns : 0};
    for (size_t i = 0; i < r->n_jobs; i++) {
        const struct job_spec *j = &r->jobs[i];
        uint64_t shares = (uint64_t)j->replicas * j->gpu_shares;
        uint32_t gpus = (uint32_t)((shares + SHARES_PER_GPU - 1) / SHARES_PER_GPU);
        uint32_t replica = (j->gpu_shares + SHARES_PER_GPU - 1) / SHARES_PER_GPU;
        if (gpus > t.largest_gpus) t.largest_gpus = gpus;
        if (replica > t.largest_replica) t.largest_replica = replica;
        t.share_ns += (unsigned __int128)shares * (uint64_t)j->work_ns;
    }
    return t;
}
