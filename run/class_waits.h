/* class_waits.h - what classes of waiting jobs waited for when, from the records of a run.
 *
 *     struct class_waits w = {0};
 *     for (each record) class_waits_take(&w, &r);               // REC_CLASS_WAIT; others are passed over
 *     for (int64_t at = from, until; at < to; at = until) {
 *         unsigned reason = class_wait_at(&w, class, at, &until);
 *         ...                                                   // from `at` to the lesser of `until` and `to`
 *     }
 *     class_waits_free(&w);
 *
 * A job stands in the class that its last job_wait record names (WAITS_IN_CLASS, its b), from that record to its next record that
 * ends a wait. What such a job waited for adds up to the sums of jobs.csv. Runs of before do not name classes: then no reason is known.
 * Records are not trusted: classes beyond MOST_CLASSES, reasons that no queue has and times before 0 are passed over.
 * Memory: 64 bytes a change of reason. Cost: O(1) a record, O(log changes) a question.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_RUN_CLASS_WAITS_H
#define TRAINYARD_RUN_CLASS_WAITS_H

#include "base/array.h"
#include "run/record.h"
#include "run/states.h"

enum { MOST_CLASSES = 1 << 20 };

struct class_change { int64_t from_ns, sum_ns[N_QUEUE_REASONS]; uint8_t reason; }; /* sums: before it */
struct class_history { ARRAY(struct class_change) changes; };
struct class_waits { ARRAY(struct class_history) classes; };

void class_waits_take(struct class_waits *, const struct record *);
void class_waits_free(struct class_waits *);
/* The reason at a moment, N_QUEUE_REASONS when it is not known; *until: when the next one begins, INT64_MAX: never. */
unsigned class_wait_at(const struct class_waits *, int64_t class, int64_t ns, int64_t *until);
/* Adds to sum_ns what a class waited for from one moment to another; how many times the reason changed in between. */
size_t class_wait_sums(const struct class_waits *, int64_t class, int64_t from_ns, int64_t to_ns, int64_t sum_ns[N_QUEUE_REASONS]);

#endif
