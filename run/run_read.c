/* run_read.c - reads a run back and checks it against its manifest.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "run/decimal.h"
#include "run/parts.h"

struct opening {
    struct run_inside *in;
    struct diag diag; /* of the manifest: errors; of the other files: what becomes warnings */
    struct str notes;
};

static void note(struct opening *o, const char *file, const char *what)
{
    str_printf(&o->notes, "%s%s: %s", o->notes.n ? "\n" : "", file, what);
}

/* Reading a pipe or a device in place of one of its files would wait for ever. */
static bool are_files(struct opening *o, const char *dir)
{
    size_t before = diag_errors(&o->diag);
    for (int i = 0; i < N_RUN_FILES; i++) {
        const char *path = path_join(&o->in->arena, dir, run_files[i]);
        struct stat st;
        if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) diag_error(&o->diag, path, 0, NULL, "is no regular file, as those of a run are");
    }
    return diag_errors(&o->diag) == before;
}

static bool read_manifest(struct opening *o, const char *dir)
{
    size_t n;
    const char *path = path_join(&o->in->arena, dir, "run.json");
    struct stat st;
    if (stat(dir, &st) == 0 && !S_ISDIR(st.st_mode)) {
        diag_error(&o->diag, dir, 0, NULL, "is a file; give the directory of the run");
        return false;
    }
    if (stat(path, &st) != 0 && errno == ENOENT) {
        diag_error(&o->diag, dir, 0, NULL, "there is no run here: no run.json");
        return false;
    }
    char *text = are_files(o, dir) ? file_read(path, FILE_READ_MAX, &n, &o->diag) : NULL;
    bool ok = text && manifest_parse(o->in, path, text, n, &o->diag);
    free(text);
    return ok;
}

/* Size and CRC-32 of a file, read in pieces. */
static bool measure(const char *path, bool with_crc, uint64_t *bytes, uint32_t *crc)
{
    enum { PIECE = 65536 };
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return false;
    *bytes = (uint64_t)st.st_size;
    *crc = 0;
    FILE *f = with_crc ? fopen(path, "rbe") : NULL;
    if (!f) return !with_crc;
    char *piece = malloc(PIECE);
    for (size_t n; piece && (n = fread(piece, 1, PIECE, f)) > 0;) *crc = hash_crc32(*crc, piece, n);
    free(piece);
    return fclose(f) == 0;
}

static void unreadable(struct opening *o, struct run_part_info *info, const char *path, int error)
{
    struct str s = {0};
    str_printf(&s, "cannot be read, and what it holds is missing here: %s", strerror(error ? error : EIO));
    note(o, path, str_text(&s));
    str_free(&s);
    info->present = false;
}

/* The timeline has checksums of its own, block by block; only its size is looked at here. */
static void check_part(struct opening *o, enum run_part part)
{
    struct run_part_info *info = &o->in->part[part];
    const char *path = path_join(&o->in->arena, o->in->run.dir, run_part_names[part]);
    uint64_t bytes;
    uint32_t crc;
    bool with_crc = part != PART_TIMELINE;
    if (!info->present) return;
    if (access(path, R_OK) != 0 || !measure(path, with_crc, &bytes, &crc))
        unreadable(o, info, path, errno);
    else if (bytes < info->bytes)
        note(o, path, "is shorter than run.json says: cut off");
    else if (bytes > info->bytes || (with_crc && crc != info->crc))
        note(o, path, "was changed after the run");
}

static void check_rows(struct opening *o)
{
    const struct run_part_info *part = o->in->part;
    if (part[PART_JOBS].present && part[PART_JOBS].rows != o->in->jobs.n)
        note(o, run_part_names[PART_JOBS], "has not the number of rows that run.json says");
    if (part[PART_LEDGER].present && part[PART_LEDGER].rows != o->in->ledger.n)
        note(o, run_part_names[PART_LEDGER], "has not the number of rows that run.json says");
}

/* The cells of each group against the integral that the manifest holds. */
static void check_sums(struct opening *o)
{
    const struct run *r = &o->in->run;
    if (!o->in->part[PART_LEDGER].present) return;
    for (size_t g = 0; g < r->n_groups; g++) {
        share_ns sum = 0;
        for (size_t i = 0; i < o->in->ledger.n; i++)
            if (o->in->ledger.v[i].group == r->groups[g].name) sum += o->in->ledger.v[i].sum;
        if (sum != r->groups[g].existing)
            note(o, run_part_names[PART_LEDGER], "does not add up to the GPU-seconds that existed");
    }
}

static void read_rows(struct opening *o)
{
    struct run_inside *in = o->in;
    const char *jobs = path_join(&in->arena, in->run.dir, run_part_names[PART_JOBS]);
    const char *ledger = path_join(&in->arena, in->run.dir, run_part_names[PART_LEDGER]);
    in->metrics = metrics_create(in->run.warmup_ns, in->run.horizon_ns);
    if (in->run.state == RUN_RUNNING)
        note(o, in->run.dir, "the run has not ended, or was killed: what is there so far is read");
    else if (in->run.state != RUN_COMPLETE)
        note(o, in->run.dir, in->run.state == RUN_FAILED ? "the run has failed" : "the run was interrupted");
    for (int p = 0; p < N_RUN_PARTS; p++) check_part(o, (enum run_part)p);
    if (in->part[PART_JOBS].present || access(jobs, R_OK) == 0) jobs_csv_read(in, jobs, &o->diag);
    if (in->part[PART_LEDGER].present) ledger_csv_read(in, ledger, &o->diag);
    check_rows(o);
    check_sums(o);
}

/* All that was noted as one text, NULL when there is nothing. */
static char *all_notes(struct opening *o)
{
    char *rows = out_diag_text(&o->diag);
    if (rows && *rows) str_printf(&o->notes, "%s%s", o->notes.n ? "\n" : "", rows);
    free(rows);
    if (o->notes.n) str_append(&o->notes, "\n");
    return o->notes.n ? str_take(&o->notes) : NULL;
}

/* A run that has not ended has no end: the latest moment that its rows show stands for it. */
static void guess_end(struct run_inside *in)
{
    if (in->run.end_ns >= 0) return;
    in->run.end_ns = 0;
    for (size_t i = 0; i < in->jobs.n; i++) {
        const struct job_row *j = &in->jobs.v[i].row;
        if (j->submit_ns > in->run.end_ns) in->run.end_ns = j->submit_ns;
        if (j->finished_ns > in->run.end_ns) in->run.end_ns = j->finished_ns;
    }
}

struct run *run_open(const char *dir, char **warnings, char **err)
{
    struct opening o = {.in = inside_create()};
    o.in->run.dir = arena_strdup(&o.in->arena, dir);
    bool ok = read_manifest(&o, dir);
    if (!ok && err) *err = out_diag_text(&o.diag);
    if (ok) {
        read_rows(&o);
        guess_end(o.in);
        inside_finish(o.in);
        char *notes = all_notes(&o);
        if (warnings)
            *warnings = notes;
        else
            free(notes);
    }
    diag_free(&o.diag);
    str_free(&o.notes);
    if (ok) return &o.in->run;
    inside_destroy(o.in);
    return NULL;
}
