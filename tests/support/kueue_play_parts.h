/* kueue_play_parts.h - what the two halves of kueue_play.h share: the play, and the decisions it is compared by.
 *
 * kueue_play.c reads a scenario and plays it, kueue_play_compare.c holds decisions against recorded ones. Nobody else includes this.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_KUEUE_PLAY_PARTS_H
#define TRAINYARD_TESTS_SUPPORT_KUEUE_PLAY_PARTS_H

#include <cjson/cJSON.h>

#include "base/array.h"
#include "sim/queue/kueue/kueue.h"
#include "tests/support/kueue_play.h"

enum decision_kind { RESERVED, EVICTED };
extern const char *const kueue_decision_names[2];

struct decision {
    double at_s;
    uint32_t job;
    enum decision_kind kind;
    uint32_t nth;     /* of this job and kind */
    char detail[160]; /* flavors and count; reason of the preemption */
};

struct decisions {
    struct decision *v;
    size_t n, cap;
};

/* Adds a decision without a detail; nth is how many of this job and kind came before. Valid until the next one. */
struct decision *decisions_note(struct decisions *, double at_s, uint32_t job, enum decision_kind);

struct job {
    const char *name;
    uint32_t shape, workload, attempt;
    double submit_s, duration_s;
    bool live;
};

enum event_kind { SUBMIT, FINISH, RELEASE, STOP, RETRY, SCHEDULE };

struct event {
    int64_t at_ns;
    uint64_t order;
    enum event_kind kind;
    uint32_t job, attempt;
    enum kueue_stop stop;
};

struct kueue_play {
    cJSON *file;
    const cJSON *scenario;
    struct kueue *k;
    char *flavors[KUEUE_MAX_FLAVORS];
    char *resources[KUEUE_MAX_RESOURCES];
    uint32_t n_flavors, n_resources;
    ARRAY(struct job) jobs;
    ARRAY(struct event) events;
    uint64_t n_events;
    int64_t now_ns, end_ns, busy_until_ns, retry_planned_ns;
    bool schedule_planned;
    struct decisions mine;
};

static inline const cJSON *get(const cJSON *o, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(o, key);
}

static inline const char *text(const cJSON *o, const char *key)
{
    return cJSON_GetStringValue(get(o, key));
}

static inline double number(const cJSON *o, const char *key, double otherwise)
{
    const cJSON *v = get(o, key);
    return cJSON_IsNumber(v) ? v->valuedouble : otherwise;
}

static inline double seconds(int64_t t)
{
    return (double)t * 1e-9;
}

#endif
