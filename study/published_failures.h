/* published_failures.h - what others have published of failures, predicted from what it does not hold.
 *
 *     struct published_list p = {0};
 *     if (!published_failures(&p, d)) ...              // a profile is missing
 *     published_text(&p, &text);
 *     published_free(&p);
 *
 * Each row names a figure, the fleet and the figures of recovery that the prediction takes, and says what is published: a
 * point (met within 15 %), a range, or a bound. Rates are those of scenarios/profiles/failures, or of one other size of the
 * same fleet; nothing is fitted to the row itself. `measured` tells observations from projections of the source's authors.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_PUBLISHED_FAILURES_H
#define TRAINYARD_STUDY_PUBLISHED_FAILURES_H

#include <stdbool.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/str.h"

struct published_row {
    const char *what, *from, *unit, *source;
    const char *why; /* of a miss; "" */
    double predicted, low, high; /* published: low = high is a point; high infinite: a lower bound */
    double least, most;          /* predicted with restarts of 20 and 5 min; NaN where no restart matters */
    bool measured, met;
};

struct published_list { ARRAY(struct published_row) rows; };

bool published_failures(struct published_list *, struct diag *);
void published_free(struct published_list *);
void published_text(const struct published_list *, struct str *);     /* aligned, for people */
void published_markdown(const struct published_list *, struct str *); /* the table of docs/models.md */
void published_csv(const struct published_list *, struct str *);
void published_json(const struct published_list *, struct str *);

#endif
