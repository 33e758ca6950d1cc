/* validate.h - a simulated run beside a live one: error by quantity, decisions that differ, a verdict.
 *
 *     struct validation v;
 *     struct validate_plan p = {.sim = "out/sim", .live = "out/live", .jitter_ns = 50000000};
 *     if (!validate_runs(&p, &v, &err)) ...                 // err: to free; exit code 4
 *     validate_text(&v, &out); validate_json(&v, &out); validate_csv(&v, &out);
 *     v.passed ...; validate_free(&v);
 *
 * Quantities and events are those of measures.h. Samples are paired by job and number; those of one run only are counted.
 * Of each quantity: both medians and 95th percentiles (type 7), bias = mean of sim - live over the pairs, the median of
 * |sim - live| / live over the pairs, and the two-sample Kolmogorov-Smirnov distance sup |F_sim - F_live| of all samples.
 * It passes when the medians differ by at most `tolerance` of the live one, or by at most the jitter: what repeats of the
 * live run differ by (the user measures it).
 * Waits: each job's wait is laid beside the same job's, 0 where it has none. When neither is longer than the jitter, neither can
 * be told from none, and the pair is left out; else both count. So both medians are over the same jobs, and a wait that one
 * run alone has must be within the jitter of none. A reason covers what is unlike in nature (detection: a crash is seen at once,
 * a hang by a time-out), and a median of few such hides one behind the other: more than half of the pairs must be near by themselves.
 *
 * Order: an event is out of order when some other event came more than 3 jitters before it in the live run and after it
 * in the simulated one. It fails the verdict, as do an eviction (by whom counts) and an end (succeeded, failed) that only
 * one of them has, and events without a counterpart. Places are told and not judged: schedulers break ties at random.
 *
 * Cost: O(n log n) in samples and events.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_VALIDATE_H
#define TRAINYARD_STUDY_VALIDATE_H

#include "base/array.h"
#include "base/str.h"
#include "study/measures.h"

#define VALIDATE_PHASE_TOLERANCE 0.10
#define VALIDATE_STEP_TOLERANCE 0.05

struct validate_plan {
    const char *sim, *live;
    int64_t jitter_ns;
    double tolerance[N_QUANTITIES]; /* 0: the default, 10 %, of steps 5 % */
    bool events_only;               /* medians are told and decide nothing: the machine's times are not its own */
};

struct validated {
    unsigned quantity;
    size_t n_sim, n_live, n_pairs; /* of waits: jobs that count and have it there; jobs that count */
    double sim_p50_s, live_p50_s, sim_p95_s, live_p95_s;
    double bias_s, error; /* NAN without pairs */
    double distance;      /* NAN where one has no sample */
    double tolerance;
    bool passed;
};

enum difference_kind { DIFF_ORDER, DIFF_ONLY_SIM, DIFF_ONLY_LIVE, DIFF_VICTIM, DIFF_END, DIFF_PLACE, N_DIFFERENCE_KINDS };
struct difference {
    enum difference_kind kind;
    const struct happened *event, *other; /* order: other came first in the live run; an eviction: as the other run has it */
    const struct job_row *sim, *live;     /* end and place */
};

struct validation {
    struct measures sim, live;
    int64_t jitter_ns;
    struct validated rows[N_QUANTITIES]; /* those with any sample */
    size_t n_rows;
    ARRAY(struct difference) differences; /* by kind */
    size_t counts[N_DIFFERENCE_KINDS], n_events, n_jobs, unmatched_jobs;
    bool events_only, passed;
};

bool validate_runs(const struct validate_plan *, struct validation *, char **err);
void validate_text(const struct validation *, struct str *);
void validate_json(const struct validation *, struct str *);
void validate_csv(const struct validation *, struct str *);
void validate_free(struct validation *);

#endif
