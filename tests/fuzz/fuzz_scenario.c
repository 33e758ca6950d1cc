/* fuzz_scenario.c - libFuzzer entry: no text crashes the scenario reader, and what it accepts resolves to a fixed point.
 *
 * Files and other objects named by the text are looked for below the present folder: run it in an empty one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "input/check.h"
#include "input/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void resolve_again(const struct scenario *s)
{
    struct diag d = { 0 };
    struct str once = { 0 }, twice = { 0 };
    scenario_resolved(s, &once, NULL);
    if (s->n_table_jobs == 0) {
        struct scenario *again = scenario_parse("fuzz.json", str_text(&once), once.n, NULL, &d);
        if (!again) {
            diag_print(&d, stderr);
            abort();
        }
        scenario_resolved(again, &twice, NULL);
        if (!str_equal(str_text(&once), str_text(&twice)) || strcmp(s->hash, again->hash) != 0) abort();
        scenario_free(again);
    }
    str_free(&once);
    str_free(&twice);
    diag_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diag d = { 0 };
    struct scenario *s = scenario_parse("fuzz.json", (const char *)data, size, NULL, &d);
    if (s && s->n_jobs < 100000) {
        struct findings f = { 0 };
        scenario_check(s, &f);
        findings_free(&f);
        resolve_again(s);
    }
    if (!s && diag_errors(&d) == 0) abort();
    scenario_free(s);
    diag_free(&d);
    return 0;
}
