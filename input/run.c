/* run.c - the "run" of a scenario: horizon, warm-up, seed, replications.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/raw.h"

static const struct field run_fields[] = {
    FIELD(raw_run, horizon, "horizon", TYPE_DURATION, .min = 1, .max = INT64_MAX - 1,
          .help = "end of the run; absent: when all is done or nothing can go on"),
    FIELD(raw_run, warmup, "warmup", TYPE_DURATION, .fallback = "0", .help = "jobs submitted before it are left out of statistics"),
    FIELD(raw_run, seed, "seed", TYPE_INT, .fallback = "1", .min = 0, .max = INT64_MAX - 1, .help = "of all random numbers"),
    FIELD(raw_run, replications, "replications", TYPE_INT, .fallback = "1", .min = 1, .max = 1000000,
          .help = "runs with other random numbers, for intervals"),
};
const struct object_type run_type = OBJECT(raw_run, run_fields, "run", "How long, and how often.");

void build_run(struct build *b, const struct raw_run *raw)
{
    b->s->run = (struct run_spec){ raw->horizon == ABSENT ? TIME_NEVER : raw->horizon, raw->warmup, (uint64_t)raw->seed,
                                   (uint32_t)raw->replications };
    if (raw->horizon != ABSENT && raw->warmup >= raw->horizon)
        value_error(b->diag, place_of(raw->at, "warmup"), "the warm-up lasts to the end of the run or beyond");
}
