/* fail_if.h - conditions such as p95_wait>1.1x: when a comparison counts as failed.
 *
 *     METRIC OP NUMBER[UNIT]        OP: > >= < <=
 *
 *     p95_wait>1.1x        more than 1.1 times the base's
 *     p95_wait>10%         the same for a metric that is not itself a ratio: more than 10 % above the base
 *     p95_wait>+5m         a sign: the difference from the base (units s m h d; GPU-h for GPU-hours)
 *     goodput<-2%          a sign and %: change against the base, in percent of the base
 *     goodput<90%          no sign, of a metric that is a ratio: the value itself; also utilisation<0.9
 *     p95_wait>30m         no sign: the value itself; a bare number is in the metric's own unit
 *
 * A condition holds only when the whole 95 % interval lies beyond the number, so that chance alone rarely fails a check;
 * without an interval (one replication) and where a lower bound could tip it, it is undecided, which is no failure but is
 * told. Blanks are free around the parts.
 *
 *     struct fail_rule r;
 *     char *wrong = fail_rule_parse("p95_wait>1.1x", &r);        // NULL, or what is wrong and what is allowed; to free
 *     enum fail_result f = fail_rule_judge(&r, &sample, &why);
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_FAIL_IF_H
#define TRAINYARD_STUDY_FAIL_IF_H

#include <stdbool.h>
#include <stddef.h>

enum fail_op { OP_MORE, OP_MORE_EQUAL, OP_LESS, OP_LESS_EQUAL };
enum fail_against { AGAINST_NUMBER, AGAINST_DIFFERENCE, AGAINST_RATIO };

struct fail_rule {
    size_t metric; /* index of metrics.h */
    enum fail_op op;
    enum fail_against against;
    double number; /* in the metric's own unit; of a ratio: a factor */
};

/* A metric of base and other, one value a replication. bound: some values are lower bounds. */
struct fail_sample {
    const double *base, *other;
    size_t n;
    bool base_bound, other_bound;
};

enum fail_result { FAIL_NO, FAIL_YES, FAIL_UNDECIDED };

char *fail_rule_parse(const char *text, struct fail_rule *);
/* *why: a static text for FAIL_UNDECIDED; may be NULL. */
enum fail_result fail_rule_judge(const struct fail_rule *, const struct fail_sample *, const char **why);

#endif
