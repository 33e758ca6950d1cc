/* compare.c - reads the runs of all sources, replication by replication, and pairs what they say.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/decimal.h"
#include "study/compare_jobs.h"
#include "study/report.h"

struct reading {
    const struct approach_source *sources;
    size_t n, most; /* sources; replications that there can be */
    struct compare *out;
    struct report *report; /* that takes each run too; NULL */
    struct job_matcher **matchers; /* one a pair */
    struct run **runs;             /* of the replication at hand */
    size_t *next;                  /* a source: its next leaf */
    struct str warnings;
};

/* ---- one replication ---- */

static void add_replication(struct reading *rd)
{
    size_t k = rd->out->n_replications++;
    for (size_t i = 0; i < rd->n; i++) {
        approach_runs_add(&rd->out->approaches[i], &rd->out->arena, rd->runs[i]);
        rd->out->unpaired |= rd->runs[i]->replication != rd->runs[0]->replication;
    }
    for (size_t i = 1; i < rd->n; i++) job_matcher_add(rd->matchers[i - 1], k, rd->runs[0], rd->runs[i]);
}

static void close_runs(struct reading *rd)
{
    for (size_t i = 0; i < rd->n; i++) {
        source_close(&rd->sources[i], rd->runs[i]);
        rd->runs[i] = NULL;
    }
}

static bool open_next(struct reading *rd, size_t i, char **err)
{
    char *warnings = NULL;
    rd->runs[i] = source_open(&rd->sources[i], rd->next[i]++, &warnings, err);
    if (warnings) str_append(&rd->warnings, warnings);
    free(warnings);
    if (rd->runs[i] && rd->report) report_add(rd->report, i, rd->runs[i]);
    return rd->runs[i] != NULL;
}

/* Steps the sources that are behind until all stand on one replication; false at the end of one of them. */
static bool align(struct reading *rd, bool *failed, char **err)
{
    uint32_t most = 0;
    bool single = true;
    for (size_t i = 0; i < rd->n; i++) single &= rd->sources[i].n == 1;
    for (size_t i = 0; i < rd->n; i++) {
        while (!rd->runs[i] || (!single && rd->runs[i]->replication < most)) {
            if (rd->runs[i]) {
                source_close(&rd->sources[i], rd->runs[i]);
                rd->runs[i] = NULL;
                rd->out->left_out++;
            }
            if (rd->next[i] == rd->sources[i].n) return false;
            if (!open_next(rd, i, err)) return !(*failed = true);
        }
        if (rd->runs[i]->replication > most && !single) {
            most = rd->runs[i]->replication;
            if (i > 0) i = (size_t)-1; /* the earlier ones are behind now */
        }
    }
    return true;
}

/* Replications that others lack: the report has them too. */
static bool read_rest(struct reading *rd, char **err)
{
    for (size_t i = 0; i < rd->n; i++)
        while (rd->next[i] < rd->sources[i].n) {
            if (!open_next(rd, i, err)) return false;
            source_close(&rd->sources[i], rd->runs[i]);
            rd->runs[i] = NULL;
        }
    return true;
}

static bool read_all(struct reading *rd, char **err)
{
    bool failed = false;
    while (align(rd, &failed, err)) {
        add_replication(rd);
        close_runs(rd);
    }
    for (size_t i = 0; i < rd->n; i++) rd->out->left_out += rd->sources[i].n - rd->next[i] + (rd->runs[i] != NULL);
    close_runs(rd);
    if (failed || (rd->report && !read_rest(rd, err))) return false;
    if (rd->out->n_replications) return true;
    *err = xstrdup("no replication that all have: nothing to compare");
    return false;
}

/* ---- pairing ---- */

static void pair_metrics(struct compare *c, struct compare_pair *p)
{
    const struct approach_runs *a = &c->approaches[0], *b = &c->approaches[p->other];
    p->metrics = arena_calloc(&c->arena, metric_count(), sizeof *p->metrics);
    for (size_t m = 0; m < metric_count(); m++)
        p->metrics[m] = paired_metric(m, a->values + m * a->n, b->values + m * b->n, c->n_replications, PAIRED_LEVEL);
}

/* Sums and paired hours of the cells for which `wanted` says yes. */
static struct gpu_part gpu_of(const struct compare *c, const struct compare_pair *p,
                              bool (*wanted)(int activity, int redone, int want), int want)
{
    struct gpu_part part = {0};
    double *x = xcalloc(2 * c->n_replications, sizeof *x), *y = x + c->n_replications;
    for (size_t k = 0; k < c->n_replications; k++) {
        share_ns base = 0, other = 0;
        for (int a = 0; a < N_ACTIVITIES; a++)
            for (int redone = 0; redone < 2; redone++) {
                if (!wanted(a, redone, want)) continue;
                base += c->approaches[0].cells[k][a][redone];
                other += c->approaches[p->other].cells[k][a][redone];
            }
        part.base += base;
        part.other += other;
        x[k] = decimal_gpu_s(base) / 3600;
        y[k] = decimal_gpu_s(other) / 3600;
    }
    part.hours = paired_of(x, y, c->n_replications, PAIRED_LEVEL);
    free(x);
    return part;
}

static bool is_cell(int activity, int redone, int want)
{
    return activity * 2 + redone == want;
}

static bool is_in_class(int activity, int redone, int want)
{
    return gpu_class_of((enum activity)activity, redone) == (enum gpu_class)want;
}

static bool is_any(int activity, int redone, int want)
{
    (void)activity;
    (void)redone;
    (void)want;
    return true;
}

static void pair_gpu(struct compare *c, struct compare_pair *p)
{
    p->gpu = arena_calloc(&c->arena, 2 * N_ACTIVITIES, sizeof *p->gpu);
    for (int class = 0; class < N_GPU_CLASSES; class ++) {
        for (int cell = 0; cell < 2 * N_ACTIVITIES; cell++) {
            if (!is_in_class(cell / 2, cell % 2, class)) continue;
            struct gpu_part part = gpu_of(c, p, is_cell, cell);
            part.activity = (enum activity)(cell / 2);
            part.redone = cell % 2;
            if (part.base || part.other) p->gpu[p->n_gpu++] = part;
        }
        p->class_sum[class] = gpu_of(c, p, is_in_class, class);
    }
    p->gpu_sum = gpu_of(c, p, is_any, 0);
}

/* ---- assembly ---- */

static void begin(struct reading *rd)
{
    struct compare *c = rd->out;
    for (size_t i = 0; i < rd->n; i++)
        if (rd->sources[i].n > rd->most) rd->most = rd->sources[i].n;
    c->n_approaches = rd->n;
    c->approaches = arena_calloc(&c->arena, rd->n, sizeof *c->approaches);
    c->pairs = arena_calloc(&c->arena, rd->n, sizeof *c->pairs);
    rd->runs = xcalloc(rd->n, sizeof *rd->runs);
    rd->next = xcalloc(rd->n, sizeof *rd->next);
    rd->matchers = xcalloc(rd->n, sizeof *rd->matchers);
    for (size_t i = 0; i < rd->n; i++) {
        approach_runs_begin(&c->approaches[i], &c->arena, &rd->sources[i]);
        if (i) rd->matchers[i - 1] = job_matcher_create(&c->arena, rd->most);
    }
}

static void finish(struct reading *rd)
{
    struct compare *c = rd->out;
    for (size_t i = 0; i < c->n_approaches; i++) {
        approach_runs_end(&c->approaches[i]);
        c->unpaired |= c->approaches[i].seed != c->approaches[0].seed;
    }
    for (size_t i = 1; i < c->n_approaches; i++) {
        struct compare_pair *p = &c->pairs[i - 1];
        p->other = i;
        pair_metrics(c, p);
        pair_gpu(c, p);
    }
}

static bool compare_with(const struct approach_source *sources, size_t n, struct compare *c, struct report *r, char **err)
{
    struct reading rd = {.sources = sources, .n = n, .out = c, .report = r};
    *err = NULL;
    memset(c, 0, sizeof *c);
    begin(&rd);
    bool ok = read_all(&rd, err);
    if (ok) finish(&rd);
    for (size_t i = 0; i + 1 < n; i++) job_matcher_end(rd.matchers[i], &c->pairs[i]);
    c->warnings = rd.warnings.n ? str_take(&rd.warnings) : NULL;
    free(rd.runs);
    free(rd.next);
    free(rd.matchers);
    if (!ok) compare_free(c);
    return ok;
}

bool compare_runs(const struct approach_source *sources, size_t n, struct compare *c, char **err)
{
    return compare_with(sources, n, c, NULL, err);
}

bool compare_and_report(const struct approach_source *sources, size_t n, struct compare *c, struct report *r, char **err)
{
    report_begin(r, sources, n);
    bool ok = compare_with(sources, n, c, r, err);
    report_end(r);
    if (ok && c->warnings) r->warnings = xstrdup(c->warnings);
    if (!ok) report_free(r);
    return ok;
}

void compare_free(struct compare *c)
{
    free(c->warnings);
    arena_free(&c->arena);
    memset(c, 0, sizeof *c);
}
