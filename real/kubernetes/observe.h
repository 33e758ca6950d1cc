/* observe.h - what observe.c and pods.c share. Private to real/kubernetes/.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_KUBERNETES_OBSERVE_H
#define TRAINYARD_REAL_KUBERNETES_OBSERVE_H

#include "real/kubernetes/run_parts.h"

/* "" and NULL where there is none. */
const char *k8s_text(const cJSON *, const char *key);
const cJSON *k8s_in(const cJSON *, const char *key);

struct seen_job *k8s_job_named(struct k8s_run *, const char *ns, const char *name);
void k8s_job_admit(struct k8s_run *, struct seen_job *);
/* `then`: what it waits for once its pods are gone. */
void k8s_job_evict(struct k8s_run *, struct seen_job *, enum stop_reason, int32_t by, const char *word, enum wait_reason then);
/* Brings the job's state after that of its pods. */
void k8s_job_look(struct k8s_run *, struct seen_job *);
/* Pods that are bound and found no GPUs free on their node try again: something has let go of some, or the node is back. */
void k8s_pods_take_wanted(struct k8s_run *);

#endif
