/* kueue_play.h - plays a recorded Kueue scenario through the decision library and compares the decisions.
 *
 * The file is one of ../shared/recorded/kueue (its README has the format): a scenario and, beside it, what Kueue 0.17.0
 * did in two plays. Jobs are submitted at submit_s; a job's pods are ready soon after its quota is reserved and succeed
 * duration_s later; stop policies change at events[].at_s; delays are those of timing.h.
 *
 *     struct kueue_play *p = kueue_play_read(path, why, &out);         // NULL: why it cannot be played
 *     kueue_play_run(p);
 *     if (!kueue_play_compare(p, &why)) ...                          // why names the first difference
 *     kueue_play_free(p);
 *
 * Compared are QuotaReserved with flavors and pod count, and Evicted with the reason of Preempted: each recorded one
 * must happen, nothing else may, and no two that are more than 0.5 s apart may be swapped; in files marked
 * `deterministic` no two admissions at all. (Admissions and evictions of one cycle are sent by goroutines, so their
 * order within a burst is chance; plays that differ are compared one by one and one must be equal.) Nothing is
 * compared after agree_until_s of a file that agrees no further, nor in the last second of the observation.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_KUEUE_PLAY_H
#define TRAINYARD_TESTS_SUPPORT_KUEUE_PLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kueue_play;

/* NULL: why it cannot be played; *left_out when that is by what it asks for, and not because it is no recording. */
struct kueue_play *kueue_play_read(const char *path, char why[256], bool *left_out);
void kueue_play_run(struct kueue_play *p);
bool kueue_play_compare(struct kueue_play *p, char why[1024]);
void kueue_play_print(const struct kueue_play *p);
void kueue_play_free(struct kueue_play *p);

/* For players of other engines: the scenario, and their decisions instead of the library's (jobs as in the scenario). */
struct cJSON;
const struct cJSON *kueue_play_scenario(const struct kueue_play *p);
double kueue_play_end(const struct kueue_play *p);
void kueue_play_admitted(struct kueue_play *p, double at_s, uint32_t job, uint32_t pods, uint64_t flavors,
                         const char *const *flavor_names, const char *const *resource_names);
void kueue_play_evicted(struct kueue_play *p, double at_s, uint32_t job, unsigned reason);

/* Seconds at which the job's n-th (from 0) decision of this kind ("QuotaReserved" or "Evicted") came; < 0: never. */
double kueue_play_when(const struct kueue_play *p, const char *job, const char *kind, int nth);
int kueue_play_count(const struct kueue_play *p, const char *job, const char *kind);

#endif
