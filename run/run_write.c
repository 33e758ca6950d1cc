/* run_write.c - writes a run: the order of the steps is what keeps a broken run from looking whole.
 *
 * run.json says `running` before any other file of the directory is touched, and `complete` only after all of them were
 * written and closed without an error.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/version.h"
#include "run/parts.h"
#include "run/timeline.h"

struct run_writer {
    struct run_inside *in;
    struct run_meta meta; /* names are the inside's */
    const char *dir;      /* NULL: nothing on disk */
    struct recorder *recorder;
    struct timeline_writer *timeline;
    struct out jobs;
    uint64_t n_jobs;
    char *error; /* of the first failure */
};

/* ---- names ---- */

static const char *const *copy_names(struct run_inside *in, const char *const *names, unsigned n)
{
    const char **copy = arena_array(&in->arena, n, const char *);
    for (unsigned i = 0; i < n; i++) copy[i] = inside_name(in, names[i]);
    return copy;
}

static const char *copy_text(struct run_inside *in, const char *text)
{
    return arena_strdup(&in->arena, text ? text : "");
}

static void copy_meta(struct run_writer *w, const struct run_meta *m)
{
    struct run_inside *in = w->in;
    w->meta = *m;
    w->meta.queues = copy_names(in, m->queues, m->n_queues);
    w->meta.teams = copy_names(in, m->teams, m->n_teams);
    w->meta.groups = copy_names(in, m->groups, m->n_groups);
    w->meta.kinds = copy_names(in, m->kinds, m->n_kinds);
}

static void describe(struct run_writer *w, const char *dir)
{
    struct run_inside *in = w->in;
    const struct run_meta *m = &w->meta;
    struct run *r = &in->run;
    r->dir = copy_text(in, dir);
    r->version = TRAINYARD_VERSION;
    r->scenario_name = copy_text(in, m->scenario_name);
    r->scenario_hash = copy_text(in, m->scenario_hash);
    r->approach = copy_text(in, m->approach);
    r->back_end = copy_text(in, m->back_end);
    r->state = RUN_RUNNING;
    r->seed = m->seed;
    r->replication = m->replication;
    r->approach_index = m->approach_index;
    r->record_level = m->record_level;
    r->warmup_ns = m->warmup_ns;
    r->horizon_ns = m->horizon_ns;
    r->n_groups = m->n_groups;
    r->groups = arena_array(&in->arena, m->n_groups, struct run_group);
    for (unsigned g = 0; g < m->n_groups; g++) r->groups[g].name = m->groups[g];
    in->metrics = metrics_create(m->warmup_ns, m->horizon_ns);
}

/* ---- files ---- */

static const char *path_of(struct run_writer *w, const char *name)
{
    return path_join(&w->in->arena, w->dir, name);
}

/* Keeps the first error; later ones follow from it. */
static void fail(struct run_writer *w, char *error)
{
    if (w->error)
        free(error);
    else
        w->error = error;
}

static bool write_manifest(struct run_writer *w, bool with_summary)
{
    struct str text = {0};
    char *error = NULL;
    manifest_text(&text, w->in, with_summary);
    bool ok = out_replace(path_of(w, "run.json"), str_text(&text), text.n, w->meta.scratch, w->meta.hook, &error);
    if (!ok) fail(w, error);
    str_free(&text);
    return ok;
}

static bool make_dir(struct run_writer *w)
{
    struct diag d = {0};
    bool ok = file_make_dirs(w->dir, &d);
    if (!ok) fail(w, out_diag_text(&d));
    diag_free(&d);
    return ok;
}

static bool may_write(struct run_writer *w)
{
    char *error = NULL;
    if (run_may_write(w->dir, w->meta.force, &error)) return true;
    fail(w, error);
    return false;
}

/* What an older run left and this one may not write again. */
static void remove_old(struct run_writer *w)
{
    for (size_t i = 0; strcmp(run_files[i], "run.json"); i++)
        if (unlink(path_of(w, run_files[i])) != 0 && errno != ENOENT) {
            struct str s = {0};
            str_printf(&s, "%s: cannot remove the old file: %s", path_of(w, run_files[i]), strerror(errno));
            fail(w, str_take(&s));
        }
}

static bool open_files(struct run_writer *w)
{
    if (!may_write(w) || !make_dir(w) || !write_manifest(w, false)) return false;
    remove_old(w);
    if (w->meta.record_level != RECORD_NONE)
        w->timeline = timeline_begin(path_of(w, run_part_names[PART_TIMELINE]), w->meta.record_level, w->meta.hook);
    if (!out_open(&w->jobs, path_of(w, run_part_names[PART_JOBS]), w->meta.hook)) fail(w, out_why(&w->jobs));
    jobs_csv_header(&w->jobs);
    return !w->error && !run_failing(w);
}

struct run_writer *run_create(const char *dir, const struct run_meta *meta, char **err)
{
    struct run_writer *w = xcalloc(1, sizeof *w);
    w->in = inside_create();
    w->jobs.fd = -1;
    copy_meta(w, meta);
    describe(w, dir);
    w->dir = dir ? w->in->run.dir : NULL;
    if (dir && !open_files(w)) {
        run_finish(w, RUN_FAILED, NULL, -1, err);
        return NULL;
    }
    w->recorder = recorder_create(meta->record_level, w->timeline);
    return w;
}

struct recorder *run_recorder(struct run_writer *w)
{
    return w->recorder;
}

void run_job(struct run_writer *w, const struct job_row *row)
{
    w->n_jobs++;
    metrics_job(w->in->metrics, row);
    if (w->meta.keep_rows) inside_keep_job(w->in, row);
    if (w->dir) jobs_csv_row(&w->jobs, row);
}

void run_flush(struct run_writer *w)
{
    recorder_flush(w->recorder);
    if (w->dir) out_flush(&w->jobs);
}

bool run_failing(const struct run_writer *w)
{
    return w->error || w->jobs.error || (w->timeline && timeline_error(w->timeline));
}

bool run_attach(struct run_writer *w, const char *name, const char *text, size_t n, char **err)
{
    return !w->dir || out_replace(path_of(w, name), text, n, w->meta.scratch, w->meta.hook, err);
}

/* ---- the end ---- */

static void end_timeline(struct run_writer *w)
{
    struct run *r = &w->in->run;
    if (w->recorder) {
        recorder_end(w->recorder);
        r->n_records = recorder_count(w->recorder);
        char *text = arena_alloc(&w->in->arena, 33);
        recorder_fingerprint(w->recorder, text);
        if (str_equal(r->back_end, "sim")) r->fingerprint = text;
        recorder_destroy(w->recorder);
    }
    if (!w->timeline) return;
    struct timeline_written t;
    char *error;
    if (!timeline_end(w->timeline, &t, &error)) fail(w, error);
    w->in->part[PART_TIMELINE] = (struct run_part_info){true, t.bytes, t.records, t.crc};
    w->timeline = NULL;
}

/* Closes the text file and notes it in the manifest. */
static void end_text(struct run_writer *w, struct out *o, enum run_part part, uint64_t rows)
{
    if (!out_close(o)) fail(w, out_why(o));
    w->in->part[part] = (struct run_part_info){true, o->bytes, rows, o->crc};
    out_free(o);
}

static void end_ledger(struct run_writer *w, const struct ledger *ledger)
{
    const char *why;
    struct run *r = &w->in->run;
    if (!ledger_check(ledger, &why)) {
        struct str s = {0};
        str_printf(&s, "the GPU ledger does not add up, which is a fault of Trainyard: %s", why);
        fail(w, str_take(&s));
    }
    ledger_rows(w->in, ledger, &w->meta);
    for (unsigned g = 0; g < r->n_groups; g++) r->groups[g].existing = ledger_existing(ledger, g);
    if (!w->dir) return;
    struct out o;
    out_open(&o, path_of(w, run_part_names[PART_LEDGER]), w->meta.hook);
    ledger_csv_write(&o, w->in);
    end_text(w, &o, PART_LEDGER, w->in->ledger.n);
}

/* The files must not be touched when run.json is another run's, or could not say `running`. */
static bool owns_dir(const struct run_writer *w)
{
    return w->jobs.path != NULL;
}

static void end_all(struct run_writer *w, enum run_state state, const struct ledger *ledger, int64_t end_ns)
{
    bool disk = owns_dir(w);
    w->in->run.end_ns = end_ns;
    end_timeline(w);
    if (disk) end_text(w, &w->jobs, PART_JOBS, w->n_jobs);
    if (ledger) end_ledger(w, ledger);
    inside_finish(w->in);
    w->in->run.state = w->error ? RUN_FAILED : state;
    if (disk && !write_manifest(w, true)) w->in->run.state = RUN_FAILED;
}

struct run *run_finish_open(struct run_writer *w, enum run_state state, const struct ledger *ledger, int64_t end_ns,
                            char **err)
{
    struct run_inside *in = w->in;
    assert((ledger || state != RUN_COMPLETE) && "a complete run has its ledger");
    end_all(w, state, ledger, end_ns);
    char *error = w->error;
    free(w);
    if (!error) return &in->run;
    if (err)
        *err = error;
    else
        free(error);
    inside_destroy(in);
    return NULL;
}

bool run_finish(struct run_writer *w, enum run_state state, const struct ledger *ledger, int64_t end_ns, char **err)
{
    struct run *run = run_finish_open(w, state, ledger, end_ns, err);
    run_close(run);
    return run != NULL;
}
