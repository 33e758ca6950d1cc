/* learning.c - the keys of "learning"; see learning.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/learning.h"

#include "input/raw.h"

static const char *const schedules[3] = { "cosine", "linear", "constant" };

static const struct field learning_fields[] = {
    FIELD(raw_learning, rate, "rate", TYPE_NUMBER, .help = "highest learning rate"),
    FIELD(raw_learning, warmup, "warmup", TYPE_INT, .fallback = "0", .min = 0, .max = INT64_C(1000000000000),
          .help = "steps over which it rises from 0"),
    FIELD(raw_learning, schedule, "schedule", TYPE_WORD, WORDS(schedules), .fallback = "cosine", .help = "how it falls until the last step"),
    FIELD(raw_learning, final, "final", TYPE_FRACTION, .fallback = "0.1", .help = "of the highest, at the last step"),
    FIELD(raw_learning, floor, "loss_floor", TYPE_NUMBER, .help = "loss after endless training; default of a transformer: Hoffmann et al."),
    FIELD(raw_learning, scale, "loss_scale", TYPE_NUMBER, .help = "loss above the floor at one token (sample)"),
    FIELD(raw_learning, exponent, "loss_exponent", TYPE_NUMBER, .help = "power of tokens (samples) by which that falls"),
};
const struct object_type learning_type =
    OBJECT(raw_learning, learning_fields, "learning", "How loss and learning rate go, for the series of a job.", .shorthand = "rate");

void build_learning(struct build *b, struct job_detail *d, const struct raw_job *job)
{
    const struct raw_learning *raw = job->learning;
    if (!raw) return;
    bool all = !isnan(raw->floor) && !isnan(raw->scale) && !isnan(raw->exponent);
    bool none = isnan(raw->floor) && isnan(raw->scale) && isnan(raw->exponent);
    if (!all && !none)
        value_error(b->diag, raw->at, "\"loss_floor\", \"loss_scale\" and \"loss_exponent\" go together");
    struct learning_spec *spec = arena_new(b->arena, struct learning_spec);
    *spec = (struct learning_spec){ .peak = raw->rate, .final = raw->final, .warmup_steps = raw->warmup,
                                    .schedule = (enum learning_schedule)raw->schedule, .loss_floor = raw->floor,
                                    .loss_scale = raw->scale, .loss_exponent = raw->exponent };
    d->learning = spec;
}
