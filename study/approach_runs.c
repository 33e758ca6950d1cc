/* approach_runs.c - see approach_runs.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/approach_runs.h"

#include <string.h>

#include "run/decimal.h"

const char *const gpu_class_names[N_GPU_CLASSES] = {"idle", "held", "work", "redone", "down", "absent"};

enum gpu_class gpu_class_of(enum activity a, bool redone)
{
    static const enum gpu_class classes[N_ACTIVITY_CLASSES] = {
        [CLASS_IDLE] = GPU_IDLE, [CLASS_HELD] = GPU_HELD,     [CLASS_WORK] = GPU_WORK,
        [CLASS_DOWN] = GPU_DOWN, [CLASS_ABSENT] = GPU_ABSENT,
    };
    return redone ? GPU_REDONE : classes[activity_table[a].class];
}

struct run *source_open(const struct approach_source *s, size_t k, char **warnings, char **err)
{
    *warnings = NULL;
    return k == 0 && s->first ? s->first : run_open(s->dirs[k], warnings, err);
}

void source_close(const struct approach_source *s, struct run *run)
{
    if (run && run != s->first) run_close(run);
}

void approach_runs_begin(struct approach_runs *a, struct arena *arena, const struct approach_source *source)
{
    memset(a, 0, sizeof *a);
    a->room = source->n;
    a->name = arena_strdup(arena, source->name);
    a->patches_cluster = source->patches_cluster;
    a->values = arena_calloc(arena, metric_count() * a->room, sizeof *a->values);
    a->bound = arena_calloc(arena, metric_count(), sizeof *a->bound);
    a->cells = arena_calloc(arena, a->room, sizeof *a->cells);
}

static void describe(struct approach_runs *a, struct arena *arena, const struct run *r)
{
    a->approach = arena_strdup(arena, r->approach);
    a->version = arena_strdup(arena, r->version);
    a->back_end = arena_strdup(arena, r->back_end);
    a->hash = arena_strdup(arena, r->scenario_hash);
    a->scenario = arena_strdup(arena, r->scenario_name);
    a->seed = r->seed;
}

static double existing_gpus(const struct run *r)
{
    double sum = 0;
    for (size_t g = 0; g < r->n_groups; g++) sum += decimal_gpu_s(r->groups[g].existing);
    return r->end_ns > 0 ? sum / ((double)r->end_ns / 1e9) : 0;
}

void approach_runs_add(struct approach_runs *a, struct arena *arena, const struct run *r)
{
    size_t k = a->n++;
    if (k == 0) describe(a, arena, r);
    a->gpus += existing_gpus(r);
    a->jobs += (double)r->n_jobs;
    a->not_complete += r->state != RUN_COMPLETE;
    for (size_t i = 0; i < r->n_ledger; i++) a->cells[k][r->ledger[i].activity][r->ledger[i].redone] += r->ledger[i].sum;
    for (size_t m = 0; m < metric_count(); m++) {
        struct metric_value v = metric_of(r, m);
        a->values[m * a->room + k] = v.value;
        a->bound[m] |= v.bound;
    }
}

void approach_runs_end(struct approach_runs *a)
{
    if (!a->n) return;
    a->gpus /= (double)a->n;
    a->jobs /= (double)a->n;
    for (size_t m = 0; m < metric_count(); m++)
        memmove(a->values + m * a->n, a->values + m * a->room, a->n * sizeof *a->values);
}
