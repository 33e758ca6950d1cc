/* job_index.c - see job_index.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/job_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/hmap.h"
#include "base/mem.h"
#include "base/str.h"

struct moment_list {
    ARRAY(struct job_moments) list;
};

static struct job_moments *moments_of(struct moment_list *m, int32_t job)
{
    while (m->list.n <= (size_t)job) array_push(&m->list, (struct job_moments){-1, -1, -1, -1, -1, -1});
    return &m->list.v[job];
}

static void first(int64_t *at, int64_t now)
{
    if (*at < 0) *at = now;
}

static void note(struct moment_list *m, const struct record *r)
{
    if (r->job < 0) return;
    struct job_moments *j = moments_of(m, r->job);
    switch (r->type) {
    case REC_JOB_SUBMITTED:
        j->submit = r->time_ns;
        j->shares = r->subject;
        break;
    case REC_JOB_ADMITTED: first(&j->admitted, r->time_ns); break;
    case REC_JOB_ALLOCATED: first(&j->allocated, r->time_ns); break;
    case REC_JOB_STARTED: first(&j->started, r->time_ns); break;
    case REC_JOB_FINISHED: j->finished = r->time_ns; break;
    default: break;
    }
}

static uint64_t key_of(const struct job_moments *m)
{
    struct hash h;
    hash_init(&h);
    hash_bytes(&h, m, sizeof *m);
    return hash_end(&h).lo;
}

static struct job_moments moments_of_row(const struct job_row *r)
{
    return (struct job_moments){r->submit_ns,    r->gpu_shares, r->admitted_ns,
                            r->allocated_ns, r->started_ns, r->finished_ns};
}

/* Rows with one key are chained in the file's order: heads maps a key to its first row, next to the one after. */
void job_index_match(const struct run *run, const struct job_moments *moments, size_t n, struct job_index *x)
{
    enum { NONE = -1 };
    struct hmap heads = {0};
    int64_t *next = xcalloc(run->n_jobs + 1, sizeof *next);
    uint64_t at;
    for (size_t i = run->n_jobs; i-- > 0;) {
        struct job_moments key = moments_of_row(&run->jobs[i].row);
        next[i] = hmap_get_u64(&heads, key_of(&key), &at) ? (int64_t)at : NONE;
        hmap_put_u64(&heads, key_of(&key), i);
    }
    x->n = n;
    x->rows = xcalloc(x->n + 1, sizeof *x->rows);
    for (size_t j = 0; j < x->n; j++) {
        uint64_t key = key_of(&moments[j]);
        if (!hmap_get_u64(&heads, key, &at)) continue;
        x->rows[j] = &run->jobs[at].row;
        if (next[at] == NONE)
            hmap_del_u64(&heads, key);
        else
            hmap_put_u64(&heads, key, (uint64_t)next[at]);
    }
    free(next);
    hmap_free(&heads);
}

bool job_index_read(const struct run *run, struct job_index *x, char **err)
{
    struct moment_list m = {0};
    struct record r;
    *x = (struct job_index){0};
    struct timeline_reader *t = timeline_open(run->dir, err);
    if (!t) return false;
    while (timeline_next(t, &r)) note(&m, &r);
    timeline_close(t);
    job_index_match(run, m.list.v, m.list.n, x);
    array_free(&m.list);
    return true;
}

const struct job_row *job_index_row(const struct job_index *x, int32_t number)
{
    return number >= 0 && (size_t)number < x->n ? x->rows[number] : NULL;
}

const char *job_row_id(const struct job_row *r, char buf[24])
{
    if (!r) return "-";
    if (r->id) return r->id;
    buf[str_put_u64(buf, r->number)] = '\0';
    return buf;
}

int32_t job_index_find(const struct job_index *x, const char *id)
{
    char buf[24];
    for (size_t i = 0; i < x->n; i++)
        if (x->rows[i] && !strcmp(job_row_id(x->rows[i], buf), id)) return (int32_t)i;
    return NO_JOB;
}

void job_index_free(struct job_index *x)
{
    free(x->rows);
    *x = (struct job_index){0};
}
