/* job_play.h - plays a recording of a batch/v1 Job against the simulated controller and compares what both did.
 *
 *     struct job_play *p = job_play_read(path, no);      // NULL: cannot be played, `no` says why
 *     job_play_run(p);
 *     if (!job_play_compare(p, why)) puts(why);
 *     job_play_free(p);
 *
 * As torch_play.h: one job without an amount of work, the driver's actions at their times, KWOK's delays. Pods are known by
 * index and instance, since their suffixes are random. A deleted pod of KWOK's goes without having ended, a kubelet's is
 * Failed with 143 first, so the last phase of pods that are gone is not compared.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_JOB_PLAY_H
#define TRAINYARD_TESTS_SUPPORT_JOB_PLAY_H

#include <stdbool.h>

struct job_play;

struct job_play *job_play_read(const char *path, char no[256]);
void job_play_run(struct job_play *);
bool job_play_compare(struct job_play *, char why[1024]);
void job_play_print(const struct job_play *); /* both sides, for people */
void job_play_free(struct job_play *);

#endif
