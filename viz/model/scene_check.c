/* scene_check.c - whether the pictures add up to what the run's tables say.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "run/decimal.h"
#include "viz/model/scene_parts.h"

struct sums {
    share_ns v[N_SHOWS];
};

static share_ns ns_of(int64_t ns) { return (uint64_t)ns; }

/* ---- GPUs against ledger.csv ---- */

static unsigned show_of_cell(const struct run_ledger_row *r)
{
    return activity_table[r->activity].class == CLASS_WORK ? SHOW_WORK : r->activity;
}

static bool differs(const char *what, const char *whose, share_ns shown, share_ns told, struct str *out)
{
    char a[DECIMAL_GPU_S_BYTES + 1], b[DECIMAL_GPU_S_BYTES + 1];
    if (shown == told) return false;
    a[decimal_put_gpu_s(a, shown)] = b[decimal_put_gpu_s(b, told)] = '\0';
    str_printf(out, "%s: the tracks show %s, %s says %s\n", what, a, whose, b);
    return true;
}

static struct sums of_gpus(const struct scene *s)
{
    struct sums x = {{0}};
    for (uint32_t t = 0; t < s->n_tracks[SCENE_GPUS]; t++) {
        const struct scene_track *k = &s->tracks[SCENE_GPUS][t];
        for (uint32_t i = 0; i < k->n; i++)
            x.v[k->v[i].show == SHOW_REDONE ? SHOW_WORK : k->v[i].show] +=
                k->v[i].shares * ns_of(scene_to(s, &k->v[i]) - k->v[i].from_ns);
    }
    return x;
}

static bool check_gpus(const struct scene *s, struct str *out)
{
    struct sums shown = of_gpus(s), told = {{0}};
    bool ok = true;
    for (size_t i = 0; i < s->run->n_ledger; i++) told.v[show_of_cell(&s->run->ledger[i])] += s->run->ledger[i].sum;
    for (unsigned show = 0; show < SHOW_WAIT; show++) {
        if (show_class(show) == CLASS_IDLE) continue;
        ok &= !differs(show_name(show), "ledger.csv", shown.v[show], told.v[show], out);
    }
    return ok;
}

/* ---- waits of jobs against jobs.csv: those in queues together, since tracks show only the greatest of them ---- */

static unsigned wait_cell(unsigned reason) { return reason < N_QUEUE_REASONS ? 0 : reason; }

static struct sums of_jobs(const struct scene *s, struct sums *told)
{
    struct sums x = {{0}};
    for (uint32_t j = 0; j < s->n_jobs; j++) {
        const struct scene_track *t = &s->tracks[SCENE_JOBS][j];
        if (!s->jobs[j].row || !s->jobs[j].row->wait_ns) continue;
        for (uint32_t i = 0; i < t->n; i++)
            if (t->v[i].show >= SHOW_WAIT)
                x.v[wait_cell(t->v[i].show - SHOW_WAIT)] += ns_of(scene_to(s, &t->v[i]) - t->v[i].from_ns);
        for (unsigned w = 0; w < N_WAIT_REASONS; w++) told->v[wait_cell(w)] += ns_of(s->jobs[j].row->wait_ns[w]);
    }
    return x;
}

static bool check_jobs(const struct scene *s, struct str *out)
{
    struct sums told = {{0}}, shown = of_jobs(s, &told);
    bool ok = true;
    for (unsigned w = 0; w < N_WAIT_REASONS; w++) {
        if (shown.v[w] == told.v[w]) continue;
        str_printf(out, "waits, %s: the tracks show %.9f s, jobs.csv says %.9f s\n", w ? wait_table[w].name : "in queues",
                   (double)shown.v[w] / 1e9, (double)told.v[w] / 1e9);
        ok = false;
    }
    return ok;
}

bool scene_check(const struct scene *s, struct str *out)
{
    bool ok = true;
    if (s->growing) return true;
    if (s->has_gpus && s->run->n_ledger) ok &= check_gpus(s, out);
    if (s->has_timeline) ok &= check_jobs(s, out);
    return ok;
}
