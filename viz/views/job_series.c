/* job_series.c - see job_series.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/views/job_series.h"

#include <math.h>
#include <stdlib.h>

#include "study/series.h"

enum { PARTS = 100 }; /* of a job: points of its curves */

struct job_series {
    bool made, known;
    struct series s;
    char *error;
};

static void release(void *p)
{
    struct job_series *j = p;
    if (j->known) series_free(&j->s);
    free(j->error);
}

const struct job_series *job_series(struct memo **memos, unsigned run, const struct scene *s)
{
    if (!s->has_timeline) return NULL;
    struct job_series *j = memo_get(memos, run ? "job series of B" : "job series of A", s->version, sizeof *j, release);
    if (!j->made) j->known = series_read(s->run, &j->s, &j->error);
    j->made = true;
    return j;
}

const char *job_series_error(const struct job_series *j)
{
    return j->error;
}

static int by_time(const void *a, const void *b)
{
    const struct job_point *p = a, *q = b;
    return (p->time_ns > q->time_ns) - (p->time_ns < q->time_ns);
}

static void read_points(const struct job_series *j, int32_t job, job_points *out)
{
    if (!j || !j->known || (size_t)job >= j->s.n_jobs) return;
    for (size_t i = 0; i < j->s.progress.spans.n; i++) {
        const struct progress_span *span = &j->s.progress.spans.v[i];
        if (span->job != job) continue;
        double step_s = span->last > span->first ? (double)(span->to_ns - span->from_ns) / 1e9 / (double)(span->last - span->first) : NAN;
        for (int64_t k = span->first; k >= 0; k = series_next(&j->s, span, k, PARTS)) {
            struct series_point p = series_at(&j->s, span, k);
            array_push(out, (struct job_point){p.time_ns, p.loss, p.samples_per_s, p.tokens_per_s, step_s});
        }
    }
    array_sort(out, by_time);
}

struct kept_points {
    bool made;
    job_points points;
};

static void release_points(void *p)
{
    array_free(&((struct kept_points *)p)->points);
}

const job_points *job_series_points(struct memo **memos, unsigned run, const struct scene *s, int32_t job)
{
    const struct job_series *j = job_series(memos, run, s);
    uint64_t key = (uint64_t)job << 32 | (uint32_t)s->version;
    struct kept_points *k = memo_get(memos, run ? "job points of B" : "job points of A", key, sizeof *k, release_points);
    if (!k->made) read_points(j, job, &k->points);
    k->made = true;
    return &k->points;
}
