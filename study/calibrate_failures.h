/* calibrate_failures.h - from a log of failures to a failure profile: rates, ageing, repairs, lemon nodes, what fails together.
 *
 *     struct failure_calibration c = {0};
 *     if (!calibrate_failures(&log, &(struct failure_options){.level = 0.95, ...}, &c, d)) ...   // what is missing, in d
 *     failure_calibration_text(&c, &text); failure_calibration_profile(&c, "mine", "events.csv", &json);
 *     failure_calibration_free(&c);
 *
 * What a component of the log is, its name tells (gpu, link or nic, rack or power, switch, storage; else something of a node),
 * and how many there are follows from nodes and GPUs. A component fails for whole groups of nodes when more than half of
 * its events come within `burst` of one on another node; such a group counts as one incident.
 *
 * Exposure: the time in which units were up within the observation; after an event whose repair is not known a unit counts
 * as up at once.
 * Lemons: a node whose count is too high for its share of the exposure: the binomial of all failures gives it less than
 * 0.01 / nodes (Bonferroni); the worst first until none is left, three failures at least, and only while other nodes have
 * failed too. They are kept out of the component's rate, which the profile gives beside share and times.
 * Shape: of the lives that can be told apart (one such part a node, or a column `unit`), lemons left out. The first life of
 * a unit counts only where all was new at the beginning (`fresh`); else its age is not known. Exponential when the
 * likelihood-ratio test does not refuse it at 5 %.
 * Together: the share of events within `burst` of one on another node, beside the share that chance gives,
 * 1 - exp(-2 x rate of the fleet x burst).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_CALIBRATE_FAILURES_H
#define TRAINYARD_STUDY_CALIBRATE_FAILURES_H

#include "base/str.h"
#include "input/failure_log.h"
#include "input/scenario.h"
#include "study/failure_fit.h"

struct failure_options {
    int64_t begin_ns, end_ns; /* < 0: as the log says */
    uint32_t nodes, gpus;     /* 0: as the log says */
    bool fresh;               /* all units were new at the beginning */
    double level;             /* of the intervals */
    int64_t burst_ns;
};

struct component_fit {
    const char *name;
    enum fault_scope scope;
    uint32_t per_node, span; /* such parts a node; nodes that one takes down */
    size_t events, incidents;
    double unit_s;           /* exposure of all units together */
    struct estimate mtbf_s;  /* of a usual unit that is new, in s; the Weibull mean where the shape is not 1 */
    struct weibull_fit life;
    bool ages;               /* the shape is not 1 */
    struct lognormal_fit repair_s;
    ARRAY(uint32_t) lemons;  /* nodes, the worst first */
    struct estimate lemon_times;
    double together, by_chance;
};

struct failure_calibration {
    const struct failure_log *log;
    double observed_s, level, burst_s;
    uint32_t nodes, gpus;
    struct estimate per_1000_node_days; /* all events, groups as one */
    ARRAY(struct component_fit) components;
};

bool calibrate_failures(const struct failure_log *, const struct failure_options *, struct failure_calibration *,
                        struct diag *);
void failure_calibration_free(struct failure_calibration *);

void failure_calibration_text(const struct failure_calibration *, struct str *);
void failure_calibration_csv(const struct failure_calibration *, struct str *);
void failure_calibration_json(const struct failure_calibration *, struct str *);
/* As scenarios/profiles/failures: what a scenario's /faults/profile takes. */
void failure_calibration_profile(const struct failure_calibration *, const char *name, const char *source, struct str *);

#endif
