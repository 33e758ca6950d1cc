/* condition_play.h - plays one recording of a controller (recorded/conditions) against the simulated one.
 *
 * The recording's driver acted as kubelet and user; its actions are done at their times, and what a watch shows of both
 * sides is compared: conditions with reasons, pods created, deleted and left, phases, restarts (side.h). What differs
 * between kinds of object is a `struct condition_kind`; everything else is here.
 *
 *     enum play_verdict v = condition_play(&job_kind, path, verbose, why);
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_CONDITION_PLAY_H
#define TRAINYARD_TESTS_SUPPORT_CONDITION_PLAY_H

#include <cjson/cJSON.h>

#include "base/str.h"
#include "input/scenario.h"
#include "tests/support/play_folder.h"
#include "tests/support/side.h"

struct play_action;

struct condition_play {
    const struct condition_kind *kind;
    char *name;
    cJSON *json; /* the recording */
    struct scenario *scenario;
    struct side recorded, ours;
    struct side_watch watch;
    struct play_action *actions;
    size_t n_actions;
    double until;
    const char *dir; /* of the run; NULL: none is kept */
    char trouble[256]; /* an action that could not be done */
    struct sim *sim;
};

struct condition_kind {
    const char *kind;  /* of the object */
    const char *scale; /* what the driver calls the number that it scales, as in "workers 4 -> 1" */
    bool services;     /* are compared too */
    void (*write_scenario)(const struct condition_play *, struct str *out);
    void (*adjust)(struct scenario *);                                          /* NULL: nothing */
    const char *(*ours_of)(const struct condition_play *, const char *recorded); /* NULL: pods have equal names */
    /* How long the recorded pod took to go after the driver deleted it at t; -1: the usual time. */
    int64_t (*grace)(const struct condition_play *, const char *recorded, double t);
    void (*created)(struct pod *);               /* NULL: nothing */
    void (*finish)(struct condition_play *);     /* NULL: nothing; before the sides are compared */
    void (*rules)(const struct condition_play *, struct side_rules *);
};

extern const struct condition_kind torch_kind, job_kind;

enum play_verdict condition_play(const struct condition_kind *, const char *path, bool verbose, char why[PLAY_WHY]);
/* The same without the comparison: leaves the simulated run, recorded in full, in `dir`, and gives the recording, for cJSON_Delete;
 * NULL and why. */
cJSON *condition_play_into(const struct condition_kind *, const char *path, const char *dir, char why[PLAY_WHY]);

/* For the kinds: a member of an object, its text (NULL: none). */
const cJSON *play_get(const cJSON *o, const char *key);
const char *play_text(const cJSON *o, const char *key);

#endif
