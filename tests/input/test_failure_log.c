/* test_failure_log.c - logs of failures: what is read, and what is said of each kind of mistake.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "input/failure_log.h"

static bool read_text(const char *text, struct failure_log *log, struct diag *d)
{
    char path[] = "/tmp/trainyard-log-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    bool ok = failure_log_read(path, log, d);
    remove(path);
    return ok;
}

static void a_log_is_sorted_and_named(void **state)
{
    (void)state;
    struct failure_log log;
    struct diag d = {0};
    assert_true(read_text("kind,unit,node,component,time,repaired\n"
                          "late,,n2,link,1h,\nearly,3,n1,gpu,10.5,20\nbegin,,,observed,0,\nend,,,observed,2d,\n"
                          "nodes,,4,observed,0,\ngpus,,8,observed,0,\n", &log, &d));
    assert_int_equal(log.events.n, 2);
    const struct failure_event *e = log.events.v;
    assert_int_equal(e[0].at_ns, 10500000000);
    assert_int_equal(e[0].back_ns, seconds(20));
    assert_int_equal(e[0].unit, 3);
    assert_string_equal(intern_text(&log.nodes, e[0].node), "n1");
    assert_string_equal(intern_text(&log.kinds, e[0].kind), "early");
    assert_int_equal(e[1].at_ns, seconds(3600));
    assert_int_equal(e[1].back_ns, -1);
    assert_true(e[1].unit == UINT32_MAX);
    assert_int_equal(log.begin_ns, 0);
    assert_int_equal(log.end_ns, 2 * NS_PER_DAY);
    assert_int_equal(log.n_nodes, 4);
    assert_int_equal(log.gpus, 8);
    failure_log_free(&log);
    diag_free(&d);
}

/* 2026-05-01 is day 20,574 since 1970-01-01 (date -d 2026-05-01 +%s: 1777593600 in UTC). */
static void dates_are_moments(void **state)
{
    (void)state;
    struct failure_log log;
    struct diag d = {0};
    assert_true(read_text("time,node,component,kind\n2026-05-01 00:00:07,n,host,\n", &log, &d));
    assert_int_equal(log.events.v[0].at_ns, seconds(1777593607));
    failure_log_free(&log);
    diag_free(&d);
}

#define HEAD "time,node,component,kind,repaired,unit\n"

static void mistakes_are_named(void **state)
{
    (void)state;
    static const struct { const char *text; int line; const char *column, *says; } cases[] = {
        {"time,node,kind\n1,n,x\n", 1, NULL, "column \"component\" is missing"},
        {"", 0, NULL, ""},
        {HEAD "soon,n,gpu,x,,\n", 2, "time", "\"soon\" is no time"},
        {HEAD ",n,gpu,x,,\n", 2, "time", "\"\" is no time"},
        {HEAD "-5,n,gpu,x,,\n", 2, "time", "is no time"},
        {HEAD "1e30,n,gpu,x,,\n", 2, "time", "is no time"},
        {HEAD "nan,n,gpu,x,,\n", 2, "time", "is no time"},
        {HEAD "2026-13-01 00:00:00,n,gpu,x,,\n", 2, "time", "is no date"},
        {HEAD "2026-05-01,n,gpu,x,,\n", 2, "time", "is no date"},
        {HEAD "5,n,gpu,x,2026-05-01 00:00:00,\n", 2, "repaired", "is not in seconds"},
        {HEAD "2026-05-01 00:00:00,n,gpu,x,7,\n", 2, "repaired", "is not in dates"},
        {HEAD "5,,gpu,x,,\n", 2, "node", "is empty"},
        {HEAD "5,n,,x,,\n", 2, "component", "is empty"},
        {HEAD "5,n,gpu,x,4,\n", 2, "repaired", "is before the failure"},
        {HEAD "5,n,gpu,x,never,\n", 2, "repaired", "is no time"},
        {HEAD "5,n,gpu,x,,-1\n", 2, "unit", "out of range"},
        {HEAD "5,n,gpu,x,,first\n", 2, "unit", "is no whole number"},
        {HEAD "5,n,gpu,x\n", 2, NULL, "4 fields"},
        {HEAD "5,,observed,start,,\n", 2, "kind", "is nothing that a log says"},
        {HEAD "5,,observed,begin,,\n6,,observed,begin,,\n", 3, "kind", "given twice"},
        {HEAD "5,none,observed,nodes,,\n", 2, "node", "is no whole number"},
        {HEAD "5,0,observed,nodes,,\n", 2, "node", "out of range"},
        {HEAD "5,5000000,observed,nodes,,\n", 2, "node", "out of range"},
        {HEAD "5,0,observed,gpus,,\n", 2, "node", "out of range"},
        {HEAD "5,65,observed,gpus,,\n", 2, "node", "out of range"},
        {HEAD "9,,observed,begin,,\n5,,observed,end,,\n", 0, NULL, "ends before it begins"},
        {HEAD "9,,observed,begin,,\n5,n,gpu,x,,\n", 3, "time", "before the observation"},
        {HEAD "9,,observed,end,,\n15,n,gpu,x,,\n", 3, "time", "after the observation"},
        {HEAD "0,1,observed,nodes,,\n5,n,gpu,x,,\n5,m,gpu,x,,\n", 0, NULL, "2 nodes have failed, and only 1"},
        {HEAD "0,8,observed,gpus,,\n5,n,gpu,x,,8\n", 3, "unit", "8 is no GPU of a node of 8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct failure_log log;
        struct diag d = {0};
        bool ok = read_text(cases[i].text, &log, &d);
        if (ok || d.entries.n == 0) fail_msg("case %zu is read", i);
        const struct diag_entry *e = &d.entries.v[0];
        if (e->line != cases[i].line || !strstr(e->text, cases[i].says) ||
            (cases[i].column && strcmp(e->pointer, cases[i].column)))
            fail_msg("case %zu: %d: %s: %s", i, e->line, e->pointer, e->text);
        failure_log_free(&log);
        diag_free(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_is_sorted_and_named),
        cmocka_unit_test(dates_are_moments),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
