/* small_sim.c - see small_sim.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/small_sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/diag.h"

void small_sim_run(struct small_sim *s)
{
    struct diag d = {0};
    struct sim_options options = {.dir = NULL};
    struct kube_observer observer = {.pod = s->pod, .condition = s->condition, .object = s->object,
                                     .keep_objects = s->keep_objects, .ctx = s->ctx};
    char *error = NULL;
    s->scenario = scenario_parse("test.json", s->text, strlen(s->text), s->approach, &d);
    diag_print(&d, stderr);
    diag_free(&d);
    assert_non_null(s->scenario);
    struct sim *sim = sim_create(s->scenario, &options, &error);
    assert_non_null(sim);
    if (sim->kube) kube_observe(sim->kube, &observer);
    if (s->ready) s->ready(s->ctx, sim, s->scenario);
    while (sim_step(sim)) {}
    if (s->done) s->done(s->ctx, sim);
    if (sim->kube) kube_observe(sim->kube, NULL);
    if (!sim_close(sim, &s->result)) fail_msg("%s", s->result.error ? s->result.error : "the run could not be closed");
}

void small_sim_free(struct small_sim *s)
{
    sim_result_free(&s->result);
    if (s->scenario) scenario_free(s->scenario);
    s->scenario = NULL;
}
