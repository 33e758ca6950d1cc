/* step.h - what `trainyard step` found, and how that is printed.
 *
 * cmd_step.c reads options and computes; step_print.c prints one `struct step_answer` as text, JSON, CSV or a picture.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_CLI_STEP_H
#define TRAINYARD_CLI_STEP_H

#include "base/diag.h"
#include "base/str.h"
#include "models/step.h"

enum { STEP_SIZES_MAX = 32 };

struct step_row { /* on one number of GPUs */
    uint32_t gpus;
    struct step_input in;
    struct step_time time;
    struct memory_fit memory;
    size_t fit; /* divisions that were tried and fit; 0: the division was given, or none fits */
    bool searched;
};

struct step_answer {
    const char *model, *hardware;
    struct step_row row[STEP_SIZES_MAX];
    size_t n;
};

void step_text(const struct step_answer *, struct str *out);
void step_json(const struct step_answer *, struct str *out);
void step_csv(const struct step_answer *, struct str *out);
/* Time of a step over GPUs, with the division of the first row: from half as many to 16 times as many. */
bool step_plot(const struct step_answer *, const char *path, struct diag *);
/* The shipped models. */
void step_models_text(struct str *out);

#endif
