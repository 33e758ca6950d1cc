/* test_fault.c - faults as they are written.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/units.h"
#include "real/worker/fault.h"

static const struct {
    const char *text;
    struct fault fault;
} good[] = {
    {"crash@120", {FAULT_CRASH, -1, 120, 0, 1, 1, false}},
    {"crash@120/3", {FAULT_CRASH, 3, 120, 0, 1, 1, false}},
    {"exit@0", {FAULT_EXIT, -1, 0, 0, 1, 1, false}},
    {"exit@0:137/2", {FAULT_EXIT, 2, 0, 0, 1, 137, false}},
    {"hang@7", {FAULT_HANG, -1, 7, 0, 1, 1, false}},
    {"hang@7:30s/0", {FAULT_HANG, 0, 7, 30 * NS_PER_S, 1, 1, false}},
    {"slow@7:2.5/1", {FAULT_SLOW, 1, 7, 0, 2.5, 1, false}},
    {"store-down@9:200ms", {FAULT_STORE_DOWN, -1, 9, 200 * NS_PER_MS, 1, 1, false}},
};

static const char *const wrong[] = {
    "",         "crash",       "crash@",       "crash@-1", "crash@x",       "crash@1:2",     "exit@1:256",   "exit@1:x",
    "hang@1:0", "hang@1:soon", "slow@1",       "slow@1:0", "slow@1:nan",    "store-down@1",  "burn@1",       "crash@1/",
    "crash@1/x", "crash@1/-1", "store-down@1:x", "@1",
};

static void faults_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct fault f;
        const char *why = fault_parse(good[i].text, &f);
        if (why) fail_msg("%s: %s", good[i].text, why);
        const struct fault *w = &good[i].fault;
        if (f.kind != w->kind || f.rank != w->rank || f.step != w->step || f.duration_ns != w->duration_ns ||
            f.factor != w->factor || f.code != w->code)
            fail_msg("%s is read otherwise", good[i].text);
    }
}

static void what_is_no_fault_is_refused(void **state)
{
    (void)state;
    struct fault f;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (!fault_parse(wrong[i], &f)) fail_msg("\"%s\" is taken", wrong[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_are_read),
        cmocka_unit_test(what_is_no_fault_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
