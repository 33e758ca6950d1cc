/* checkpoint.h - what `trainyard checkpoint` was asked, what it found, and how that is printed.
 *
 * cmd_checkpoint.c reads options and computes; checkpoint_print.c prints one `struct checkpoint_answer` as text, JSON,
 * CSV or a picture.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_CLI_CHECKPOINT_H
#define TRAINYARD_CLI_CHECKPOINT_H

#include "base/diag.h"
#include "base/str.h"
#include "models/checkpoint.h"
#include "study/intervals.h"

enum { CHECKPOINT_SPREAD = 4, N_SPREAD = 2 * CHECKPOINT_SPREAD + 1, CHECKPOINT_ASKED_MAX = 16 };

struct checkpoint_answer {
    const char *model;                     /* NULL: not said */
    double parameters;                     /* 0: size or times were given */
    const struct checkpoint_state *state;
    struct checkpoint_layout layout;       /* bytes 0: times were given */
    struct checkpoint_times times;
    const char *failures;                  /* where the rate is from, or NULL */
    struct checkpoint_risk risk;           /* mtbf_s 0: not said, then there are no intervals */
    struct checkpoint_cost cost;
    struct interval_row rules[N_INTERVAL_RULES], spread[N_SPREAD], asked[CHECKPOINT_ASKED_MAX];
    int n_spread;
    size_t n_asked;
};

void checkpoint_text(const struct checkpoint_answer *, struct str *out);
void checkpoint_json(const struct checkpoint_answer *, struct str *out);
void checkpoint_csv(const struct checkpoint_answer *, struct str *out);
/* Goodput over intervals from a 30th of the best to 30 times it. */
bool checkpoint_plot(const struct checkpoint_answer *, const char *path, struct diag *);

#endif
