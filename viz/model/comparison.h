/* comparison.h - what differs between two approaches, as the views and the report show it.
 *
 *     struct comparison *c = comparison_between(scene_a->run, scene_b->run, &err);  // NULL and err (to free)
 *     for (size_t i = 0; i < c->n_metrics; i++) ... c->metrics[i].difference ...
 *     comparison_free(c);
 *
 * The figures are those of compare.json (docs/compare-format.md): means over replications, paired differences, 95 %
 * intervals, exact sums. comparison_between takes that file from a folder above both runs when it compares these very
 * approaches (names, scenario hashes, seed); else it compares all replications that lie beside each run
 * (DIR/<approach>/0, DIR/<approach>/1 ...), by study/compare.h. `source` says which it was.
 * Both ways go through the same text and the same reader, so that they cannot differ.
 *
 * The first run is the base; differences are other - base. NAN: not known.
 * Cost: reading all replications of both, or compare.json (some 100 KB). Memory: an arena of its own.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_MODEL_COMPARISON_H
#define TRAINYARD_VIZ_MODEL_COMPARISON_H

#include "base/arena.h"
#include "run/metrics.h"
#include "study/compare.h"

struct comparison_figure {
    const char *name, *unit; /* "p95_wait", "s" */
    enum metric_better better;
    double base, other, difference, low, high, ratio;
    bool interval;               /* low and high are known */
    bool base_bound, other_bound; /* jobs had not ended: the true value may be larger */
    enum verdict verdict;
};

struct comparison_gpu { /* one cell, class or whole of GPU time; hours a replication */
    enum gpu_class class;
    int activity;  /* enum activity; -1: of a class or the whole */
    bool redone;
    const char *base_gpu_s, *other_gpu_s; /* exact sums over all replications */
    struct comparison_figure f;
};

struct comparison_part { /* of a job's completion time; seconds */
    int part;            /* jct_part_name; -1: the whole */
    const char *base_s, *other_s; /* exact sums over all jobs */
    struct comparison_figure f;
};

struct comparison_team {
    const char *team;
    size_t jobs;
    struct comparison_figure wait, jct;
};

struct comparison_job {
    const char *id, *team, *queue;
    uint32_t replication;
    double gpus, base_s, other_s;
    const char *most_of_it;
};

struct comparison {
    const char *base, *other;  /* names of approaches */
    const char *source;        /* where it is from, in words */
    size_t replications, left_out;
    bool paired;
    const char *notes;         /* whole lines; "" */
    const char *const *words;  /* what the intervals say, a sentence each */
    struct comparison_figure *metrics; /* in the order of metrics.h */
    struct comparison_gpu *gpu, classes[N_GPU_CLASSES], gpu_whole;
    struct comparison_part *parts, whole;
    struct comparison_team *teams;
    struct comparison_job *sooner, *later; /* the greatest change first */
    size_t n_words, n_metrics, n_gpu, n_parts, n_teams, n_sooner, n_later;
    size_t ended_in_both, ended_in_base_only, ended_in_other_only, ended_in_neither;
    struct arena arena;
};

struct comparison *comparison_between(const struct run *base, const struct run *other, char **err);
/* Of a text as compare.json holds it; `file` stands in errors. NULL names: the first pair. */
struct comparison *comparison_parse(const char *file, const char *text, size_t n, const char *base, const char *other, char **err);
/* Of a comparison that is there already. */
struct comparison *comparison_of(const struct compare *, const struct compare_pair *, char **err);
void comparison_free(struct comparison *);

const struct comparison_figure *comparison_metric(const struct comparison *, const char *name); /* NULL: not in it */

/* How long jobs waited in one run: of the jobs that count (submitted in [warm-up, horizon)), those that started, in order. */
struct wait_curve {
    double *seconds; /* ascending */
    size_t n, jobs;  /* that started; that count: the curve ends at n / jobs */
};
struct wait_curve wait_curve_of(const struct run *); /* to free: wait_curve_free */
double wait_curve_at(const struct wait_curve *, double seconds); /* part of the jobs that waited no longer, 0 to 1 */
void wait_curve_free(struct wait_curve *);

#endif
