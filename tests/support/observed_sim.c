/* observed_sim.c - see observed_sim.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/observed_sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/diag.h"
#include "sim/simulate.h"

void observed_sim(struct str *text, struct kube_observer *observer)
{
    struct sim_result result = {0};
    struct diag d = {0};
    char *error = NULL;
    struct scenario *s = scenario_parse("observed", str_text(text), text->n, NULL, &d);
    diag_print(&d, stderr);
    assert_non_null(s);
    struct sim *sim = sim_create(s, &(struct sim_options){.dir = NULL}, &error);
    assert_non_null(sim);
    kube_observe(sim->kube, observer);
    while (sim_step(sim)) {}
    kube_observe(sim->kube, NULL);
    assert_true(sim_close(sim, &result));
    sim_result_free(&result);
    scenario_free(s);
    str_free(text);
    diag_free(&d);
}
