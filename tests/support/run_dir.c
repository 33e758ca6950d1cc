/* run_dir.c - see run_dir.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/run_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/diag.h"
#include "sim/simulate.h"
#include "tests/support/temp_run.h"

void run_dir_simulate(const char *scenario, const char *approach, char *dir, size_t n)
{
    struct diag d = {0};
    struct sim_result result;
    struct scenario *s = scenario_load(scenario, approach, NULL, &d);
    if (!s) diag_print(&d, stderr);
    assert_non_null(s);
    assert_non_null(temp_run_dir(dir, n));
    assert_true(sim_run(s, &(struct sim_options){.dir = dir, .force = true, .record_level = RECORD_FULL}, &result));
    sim_result_free(&result);
    scenario_free(s);
    diag_free(&d);
}

void run_dir_remove(const char *dir)
{
    temp_run_remove(dir);
}
