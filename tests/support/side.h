/* side.h - what a recording, or a simulation, showed of one Kubeflow job: conditions, pods, services; and whether two agree.
 *
 *     struct side recorded = {0}, ours = {0};
 *     side_read_object(&recorded, object, "j");  side_read_pods(&recorded, pods, "j-");
 *     struct side_watch watch = { .side = &ours, .job = 0 };    // as ctx of side_observer in a simulation
 *     if (!sides_agree(&recorded, &ours, &(struct side_rules){ .has_master = true, .slack_s = 2 }, why)) puts(why);
 *     side_free(&recorded); side_free(&ours);
 *
 * Compared: conditions in order with status, reason and message; each instance of each pod (created, deleted or left, last
 * phase, restarts, exit code; times within the slack, the recordings' own uncertainty); services.
 * One thing is not determined by the controller's code (orchestration facts, section 10): Go walks the replica types in
 * random order, and when Worker comes before Master, Restarting is overwritten by Running in the same pass. So a visible
 * Restarting must lie within one of ours of the same reason and message; ours may be missing only when a worker failed
 * under a running master; while it lasts the recorded one may flicker.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_SIDE_H
#define TRAINYARD_TESTS_SUPPORT_SIDE_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "base/array.h"
#include "sim/kube/kube.h"

enum { TEXT = 160 };

struct seen_condition { double t; char type[24], status[16], reason[48], message[TEXT]; };
struct seen_pod { char name[64]; double created, deleted; int phase, restarts, exit; bool terminating; };
struct seen_service { char name[64]; int added, deleted; };

/* What one side showed. */
struct side {
    ARRAY(struct seen_condition) conditions;
    ARRAY(struct seen_pod) pods;
    ARRAY(struct seen_service) services;
};

void side_read_object(struct side *, const cJSON *object, const char *job);
/* Pods whose name begins with `prefix`. */
void side_read_pods(struct side *, const cJSON *pods, const char *prefix);
void side_read_services(struct side *, const cJSON *other, const char *prefix);

/* One simulated job being watched; several may hang on one observer. */
struct side_watch {
    struct side *side;
    int32_t job;          /* index */
    double offset_s;      /* of the simulation's clock before the recording's */
    void (*created)(struct pod *); /* may adjust a new pod as its manifest would, NULL: nothing */
    struct side_watch *next;
};
struct kube_observer side_observer(struct side_watch *first);
/* After a change that the simulation did not make itself. */
void side_see_pod(struct side_watch *, struct kube *, const struct pod *);

struct side_rules {
    bool has_master;
    bool any_count; /* digits in messages may differ: how many pods had failed when a pass looked is a matter of 0.1 s */
    bool gone_unseen; /* a pod that is gone need not have been seen to end: KWOK deletes without it */
    double slack_s;
};
bool sides_agree(struct side *recorded, struct side *ours, const struct side_rules *, char why[1024]);
void side_print(const char *title, const struct side *);
void side_free(struct side *);

#endif
