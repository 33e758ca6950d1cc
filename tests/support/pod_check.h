/* pod_check.h - what records tell of pods and actors, held against what they tell of shares and jobs; part of run_check.
 *
 *     struct pod_check *c = pod_check_create();
 *     for (each record) if ((why = pod_check_record(c, &r))) ...      // NULL: all is well; a text of c's
 *     why = pod_check_end(c);  pod_check_destroy(c);
 *
 * A pod begins as pending, changes its state with each record, and after succeeded, failed, evicted or deleted none follows.
 * At the end of each instant the allocation group of a pod's number is held exactly while the pod has a node: from scheduled,
 * pulling or starting up to an end. Restarts never fall. A rank's first state is pending; when a job starts, its ranks that
 * have not ended are alive.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_POD_CHECK_H
#define TRAINYARD_TESTS_SUPPORT_POD_CHECK_H

#include "run/record.h"

struct pod_check;
struct pod_check *pod_check_create(void);
const char *pod_check_record(struct pod_check *, const struct record *);
const char *pod_check_end(struct pod_check *);
void pod_check_destroy(struct pod_check *);

#endif
