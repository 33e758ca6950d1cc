/* job_study.c - what the studies say of a job: its longest waits, where its GPU time went, the diagnosis.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/ui/memo.h"
#include "viz/views/job_page.h"

/* ---- waits ---- */

size_t job_longest_waits(const struct job_facts *f, const struct job_wait *out[JOB_WAITS_SHOWN])
{
    size_t n = 0;
    for (size_t i = 0; i < f->waits.n; i++) {
        const struct job_wait *w = &f->waits.v[i];
        size_t k = n < JOB_WAITS_SHOWN ? n++ : JOB_WAITS_SHOWN;
        for (; k > 0 && out[k - 1]->to_ns - out[k - 1]->from_ns < w->to_ns - w->from_ns; k--)
            if (k < JOB_WAITS_SHOWN) out[k] = out[k - 1];
        if (k < JOB_WAITS_SHOWN) out[k] = w;
    }
    return n;
}

/* ---- GPU time ---- */

static void add_use(struct job_use *out, size_t *n, const char *name, unsigned show, share_ns sum)
{
    if (sum) out[(*n)++] = (struct job_use){name, show, sum};
}

size_t job_uses(const struct job_facts *f, struct job_use out[JOB_MOST_USES])
{
    const struct job_row *r = f->job->row;
    size_t n = 0;
    share_ns told = 0;
    if (!r) return 0;
    for (unsigned k = 0; r->work_by && k < N_WORK_ACTIVITIES; k++) {
        add_use(out, &n, activity_table[FIRST_WORK + k].name, FIRST_WORK + k, r->work_by[k]);
        told += r->work_by[k];
    }
    if (r->work > told) add_use(out, &n, "work", SHOW_WORK, r->work - told);
    add_use(out, &n, "redone", SHOW_REDONE, r->redone);
    add_use(out, &n, "recovery", ACT_BACKOFF, r->recovery < r->held ? r->recovery : r->held);
    add_use(out, &n, "held without work", ACT_WAIT_PEERS, r->held > r->recovery ? r->held - r->recovery : 0);
    return n;
}

/* ---- diagnosis ---- */

static void release_diagnosis(void *p)
{
    struct job_diagnosis *j = p;
    if (j->made) diagnosis_free(&j->d);
}

const struct diagnosis *job_diagnosis(struct ui *u, unsigned run, const struct job_facts *f)
{
    static const char *const names[UI_MAX_RUNS] = {"job diagnosis of A", "job diagnosis of B"};
    if (!f->job->row) return NULL;
    uint64_t key = (uint64_t)f->number << 32 | (uint32_t)f->scene->version;
    struct job_diagnosis *j = memo_get(&u->memos, names[run], key, sizeof *j, release_diagnosis);
    if (!j->made) diagnose_job(f->scene->run, f->job->row, &j->d);
    j->made = true;
    return &j->d;
}
