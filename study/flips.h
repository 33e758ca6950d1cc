/* flips.h - which constants of the stacks would turn the winner: each one alone, from 0.1 to 10 times its value.
 *
 *     struct flips_plan p = {.runs = {.scenario = "demo.json", .approaches = two, .n_approaches = 2, ...},
 *                            .metric = (size_t)metric_find("mean_jct"), .budget_ns = minutes(2)};
 *     struct flips f;
 *     if (!flips_find(&p, &f, diag)) ...             // errors in diag (exit 3), or f.error (exit 4)
 *     flips_text(&f, &out); flips_json(&f, &out); flips_csv(&f, &out);
 *     flips_free(&f);
 *
 * A constant is a fact of the world, so it is changed in both approaches at once, each from its own value; switches are
 * turned over, counts rounded and at least 1. The replications are those of the comparison, paired (paired.h).
 *
 *   1. Screening: in the first replication, constants together by component (kubelet.*), then one by one, at both ends. Where
 *      all fingerprints stay, nothing reads them, or only what did not happen in that replication: `inert`.
 *   2. Of the others, those that moved the first replication's difference most come first: both ends in all replications.
 *      An approach whose first replication did not change is taken as not reading the constant.
 *   3. Where the sign of the mean difference at an end is not that of the default, the place of the turn is sought by
 *      halving the logarithm of the factor, FLIP_STEPS times or until no value lies between; turns that are shown (below)
 *      come first. Turns that come and go
 *      within one side are not seen; of several turns one is found.
 *
 * A turn is `shown` when the intervals at the default and at that end both leave out 0. Else chance may have made it.
 * Time: 14 components x 4 runs, 4 runs a constant, then 2 ends (and FLIP_STEPS) x replications x approaches that read it.
 * When the budget is spent no new constant is begun: `not_tried` tells which. What is tried does not depend on threads.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_FLIPS_H
#define TRAINYARD_STUDY_FLIPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/diag.h"
#include "base/str.h"
#include "study/paired.h"
#include "study/runs.h"

enum { FLIP_STEPS = 7 }; /* a decade in 2^7 parts: the turn within 1.8 % */
#define FLIP_RANGE 10.0

struct flips_plan {
    struct runs_plan runs; /* scenario, two approaches (or none where the scenario has two), overrides, replications,
                              threads, progress, interrupt */
    size_t metric;
    int64_t budget_ns; /* of wall-clock time */
};

struct flip_values { /* of the constant, in its own unit (stack.h) */
    int64_t base, other;
};

struct flip_end { /* one side of the default */
    double factor;  /* 0.1 or 10; 0 for a switch turned over */
    bool tried;     /* false: the values would be those of the default */
    struct flip_values values;
    struct paired difference;
    bool turns, shown;
    bool sought; /* else the time was up, and the turn lies anywhere up to the end */
    /* the turn lies between these two, `near` on the default's side; a switch has none */
    double near, far;
    struct flip_values at; /* the values at far */
};

struct flip {
    size_t constant; /* stack.h */
    struct flip_values values;
    bool base_reads, other_reads;
    double moved; /* the greatest change of the mean difference at an end */
    struct flip_end ends[2];
};

struct flips {
    const char *scenario, *base, *other;
    uint64_t seed;
    size_t metric, n_replications;
    bool base_bound, other_bound; /* jobs had not ended: values are lower bounds */
    struct paired at_default;
    ARRAY(struct flip) list;       /* whose turn is shown first, then other turns; then by how much they moved it */
    ARRAY(size_t) inert;
    ARRAY(size_t) not_tried;
    bool interrupted;
    bool choose; /* error: the scenario has not two approaches, and none were chosen */
    char *error;
    struct arena arena;
};

bool flips_find(const struct flips_plan *, struct flips *, struct diag *);
void flips_free(struct flips *);

/* For people (at most 100 columns); docs/compare-format.md; a row a constant and end. */
void flips_text(const struct flips *, struct str *);
void flips_json(const struct flips *, struct str *);
void flips_csv(const struct flips *, struct str *);

/* A value of a constant as people say it: "1.5 s", "20/s", "true"; in its own unit as a number. */
void flip_value_text(size_t constant, int64_t value, struct str *);
double flip_value_number(size_t constant, int64_t value);

#endif
