/* runs.c - see runs.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/runs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/str.h"
#include "run/run.h"

struct work { /* shared by the threads */
    const struct runs_plan *plan;
    struct runs_cell *cells;
    struct progress progress;
    pthread_mutex_t lock;
    atomic_size_t next;
    size_t n, done;
    size_t n_replications; /* of runs_execute: where the watched cells are */
    unsigned n_begun;      /* of the watched cells */
};

static bool is_watched(const struct work *w, const struct runs_cell *c)
{
    return c->approach < w->plan->n_watched && c->replication == 0;
}

/* The i-th cell to be run: the watched ones first. */
static struct runs_cell *cell_at(const struct work *w, size_t i)
{
    size_t watched = w->plan->n_watched, at = 0;
    if (!watched) return &w->cells[i];
    if (i < watched) return &w->cells[i * w->n_replications];
    for (size_t others = i - watched; is_watched(w, &w->cells[at]) || others; at++) others -= !is_watched(w, &w->cells[at]);
    return &w->cells[at];
}

static void on_begun(void *arg)
{
    struct work *w = arg;
    char *dirs[RUNS_MAX_WATCHED];
    pthread_mutex_lock(&w->lock);
    bool all = ++w->n_begun == w->plan->n_watched;
    pthread_mutex_unlock(&w->lock);
    if (!all || !w->plan->begun) return;
    for (unsigned i = 0; i < w->plan->n_watched; i++) dirs[i] = cell_at(w, i)->dir;
    w->plan->begun(w->plan->arg, dirs, w->plan->n_watched);
}

static void run_cell(struct work *w, struct runs_cell *c)
{
    struct sim_options o = {.dir = c->dir,
                            .record_level = w->plan->record_level,
                            .replication = c->replication,
                            .force = w->plan->force,
                            .keep_run = w->plan->keep_run,
                            .interrupt = w->plan->interrupt};
    if (is_watched(w, c)) o.watch = (struct watch_options){true, w->plan->speed, on_begun, w};
    c->ok = sim_run(c->scenario, &o, &c->result);
    c->done = true;
    pthread_mutex_lock(&w->lock);
    w->done++;
    progress_update(&w->progress, w->done);
    pthread_mutex_unlock(&w->lock);
}

static void *worker(void *arg)
{
    struct work *w = arg;
    for (;;) {
        size_t i = atomic_fetch_add(&w->next, 1);
        if (i >= w->n || (w->plan->interrupt && *w->plan->interrupt)) return NULL;
        run_cell(w, cell_at(w, i));
    }
}

static bool run_all(const struct runs_plan *p, struct runs_cell *cells, size_t n, size_t n_replications)
{
    struct work w = {.plan = p, .cells = cells, .n = n, .n_replications = n_replications, .lock = PTHREAD_MUTEX_INITIALIZER};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t threads = p->threads ? p->threads : cores > 0 ? (size_t)cores : 1;
    bool all = true;
    if (threads < p->n_watched) threads = p->n_watched;
    if (threads > n) threads = n;
    progress_begin(&w.progress, p->progress, "runs", n);
    pthread_t *ids = xcalloc(threads + 1, sizeof *ids);
    for (size_t i = 1; i < threads; i++) pthread_create(&ids[i], NULL, worker, &w);
    worker(&w);
    for (size_t i = 1; i < threads; i++) pthread_join(ids[i], NULL);
    progress_end(&w.progress);
    free(ids);
    for (size_t i = 0; i < n; i++) all &= cells[i].done && !cells[i].result.interrupted;
    return all;
}

bool runs_cells(const struct runs_plan *p, struct runs_cell *cells, size_t n)
{
    struct runs_plan unwatched = *p;
    unwatched.n_watched = 0;
    return run_all(&unwatched, cells, n, 1);
}

static char *cell_dir(const struct runs_plan *p, const struct runs *r, const struct runs_cell *c)
{
    struct str dir = {0};
    if (!p->out) return NULL;
    str_append(&dir, p->out);
    if (r->n_approaches > 1) str_printf(&dir, "/%s", c->scenario->approach.name);
    if (r->n_replications > 1) str_printf(&dir, "/%u", c->replication);
    return str_take(&dir);
}

/* Builds the scenario once for each approach; the first one tells which there are. */
static bool read_all(const struct runs_plan *p, const char *text, size_t n, struct scenario ***list, uint32_t *count,
                     struct diag *d)
{
    struct scenario *first = scenario_read(p->scenario, text, n, p->n_approaches ? p->approaches[0] : NULL, p->overrides, d);
    if (!first) return false;
    *count = p->n_approaches ? (uint32_t)p->n_approaches : first->n_approaches;
    *list = xcalloc(*count, sizeof **list);
    (*list)[0] = first;
    for (uint32_t a = 1; a < *count; a++) {
        const char *name = p->n_approaches ? p->approaches[a] : first->approach_names[a];
        (*list)[a] = scenario_read(p->scenario, text, n, name, p->overrides, d);
        if (!(*list)[a]) return false;
    }
    return true;
}

bool runs_load(const struct runs_plan *p, struct scenario ***list, uint32_t *count, struct diag *d)
{
    size_t n;
    char *text = file_read(p->scenario, FILE_READ_MAX, &n, d);
    bool ok = text && read_all(p, text, n, list, count, d);
    free(text);
    return ok;
}

bool runs_execute(const struct runs_plan *p, struct runs *r, struct diag *d)
{
    memset(r, 0, sizeof *r);
    if (!runs_load(p, &r->scenarios, &r->n_approaches, d)) return false;
    r->n_replications = p->replications ? p->replications : r->scenarios[0]->run.replications;
    /* Leaves of an earlier run with another number of approaches or replications must not stand among these. */
    if (p->out && !run_prepare(p->out, p->force, &r->error)) return false;
    size_t n = (size_t)r->n_approaches * r->n_replications;
    r->cells = xcalloc(n, sizeof *r->cells);
    for (size_t i = 0; i < n; i++) {
        r->cells[i].approach = (uint32_t)(i / r->n_replications);
        r->cells[i].replication = (uint32_t)(i % r->n_replications);
        r->cells[i].scenario = r->scenarios[r->cells[i].approach];
        r->cells[i].dir = cell_dir(p, r, &r->cells[i]);
    }
    struct runs_plan plan = *p;
    if (plan.n_watched > r->n_approaches) plan.n_watched = r->n_approaches;
    r->interrupted = !run_all(&plan, r->cells, n, r->n_replications);
    for (size_t i = 0; i < n && !r->error; i++)
        if (r->cells[i].done && !r->cells[i].ok) r->error = xstrdup(r->cells[i].result.error);
    return !r->error;
}

bool runs_print_no_progress(const struct runs *r, FILE *to)
{
    bool found = false;
    for (size_t i = 0; i < (size_t)r->n_approaches * r->n_replications; i++) {
        const struct runs_cell *c = &r->cells[i];
        if (!c->done || !c->result.no_progress) continue;
        found = true;
        fprintf(to, "trainyard: %s, replication %u: nothing can progress any more\n%s", c->scenario->approach.name,
                c->replication, c->result.no_progress_text);
    }
    return found;
}

void runs_free(struct runs *r)
{
    size_t n = r->cells ? (size_t)r->n_approaches * r->n_replications : 0;
    for (size_t i = 0; i < n; i++) {
        free(r->cells[i].dir);
        sim_result_free(&r->cells[i].result);
    }
    for (uint32_t a = 0; r->scenarios && a < r->n_approaches; a++)
        if (r->scenarios[a]) scenario_free(r->scenarios[a]);
    free(r->scenarios);
    free(r->cells);
    free(r->error);
}
