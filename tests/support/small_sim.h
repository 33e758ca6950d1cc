/* small_sim.h - a simulation from a scenario's text, run to its end while a test watches pods and conditions.
 *
 *     struct small_sim s = {.text = "{ \"trainyard\": 1, ... }", .pod = on_pod, .ctx = &seen};
 *     small_sim_run(&s);                         // fails the test when the text is no scenario or the books do not balance
 *     assert_int_equal(s.result.succeeded, 2);
 *     small_sim_free(&s);
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_SMALL_SIM_H
#define TRAINYARD_TESTS_SUPPORT_SMALL_SIM_H

#include "sim/kube/kube.h"
#include "sim/simulate.h"

struct small_sim {
    const char *text, *approach;
    void (*pod)(void *ctx, struct kube *, const struct pod *, enum pod_change);
    void (*condition)(void *ctx, struct kube *, const struct job *, const char *type, const char *status, const char *reason,
                      const char *message);
    void (*object)(void *ctx, struct kube *, const struct job *, const char *kind, const char *name, bool added);
    void (*ready)(void *ctx, struct sim *, struct scenario *); /* before the first event */
    void (*done)(void *ctx, struct sim *);                     /* after the last, before it is closed */
    void *ctx;
    bool keep_objects;
    struct scenario *scenario;
    struct sim_result result;
};

void small_sim_run(struct small_sim *);
void small_sim_free(struct small_sim *);

#endif
