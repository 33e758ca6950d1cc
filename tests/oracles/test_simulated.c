/* test_simulated.c - the oracles that can be simulated, simulated: formula against the real simulator.
 *
 * Each row prints the formula's value, the simulator's estimate with its 95 % interval, and whether the value lies in it.
 * Half widths are at most 1 %. Of n intervals 5 % miss by chance; at most 11 of all may.
 * ORACLES=queues (repairmen, checkpoints, lives, transfers) plays one part. Built with a sanitizer, which makes it ten times
 * slower, it plays the short parts only and says so.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "tests/support/doc_section.h"
#include "tests/support/oracle_sim.h"

enum { MOST_OUTSIDE = 11 };

#if defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static const struct { const char *name; size_t (*play)(struct oracle_row *); bool is_long; } parts[] = {
    {"queues", oracle_queues, true},           {"repairmen", oracle_repairmen, false},
    {"checkpoints", oracle_checkpoints, false}, {"lives", oracle_lives, true},
    {"transfers", oracle_transfers, false},
};

/* A line for the kind of oracle that row i is the first of. */
static void kind(struct str *out, const struct oracle_row *row, size_t n, size_t i)
{
    size_t rows = 0, outside = 0;
    double widest = 0;
    for (size_t j = i; j < n; j++) {
        const struct estimate *e = &row[j].measured;
        if (strcmp(row[j].name, row[i].name) != 0) continue;
        rows++;
        outside += fabs(e->mean - row[j].value) > e->half;
        widest = fmax(widest, e->half / fabs(row[j].value));
    }
    str_printf(out, "| %s | %zu | %zu | %.2f %% |\n", row[i].name, rows, outside, 100 * widest);
}

static void kinds(struct str *out, const struct oracle_row *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t first = 0;
        while (strcmp(row[first].name, row[i].name) != 0) first++;
        if (first == i) kind(out, row, n, i);
    }
}

static size_t print_rows(const struct oracle_row *row, size_t n, size_t *wide)
{
    size_t outside = 0;
    for (size_t i = 0; i < n; i++) {
        const struct estimate *e = &row[i].measured;
        double half = e->half / fabs(row[i].value);
        bool in = fabs(e->mean - row[i].value) <= e->half;
        outside += !in;
        *wide += !(half <= 0.01);
        print_message("%-28s %-38s %12.7g %12.7g +- %5.2f %% %s%s\n", row[i].name, row[i].params, row[i].value, e->mean,
                      100 * half, in ? "" : "outside", half <= 0.01 ? "" : " wide");
    }
    return outside;
}

static void formula_and_simulator(void **state)
{
    (void)state;
    struct oracle_row rows[ORACLE_ROWS];
    const char *only = getenv("ORACLES");
    size_t n = 0, outside = 0, wide = 0;
    struct str table = {0};
    str_append(&table, "| oracle | rows | outside | widest half width |\n|---|---|---|---|\n");
    print_message("%-28s %-38s %12s %12s\n", "oracle", "parameters", "formula", "simulated");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (only && strcmp(only, parts[i].name) != 0) continue;
        if (SANITIZED && parts[i].is_long) {
            print_message("%s: left out under a sanitizer\n", parts[i].name);
            continue;
        }
        clock_t begin = clock();
        size_t k = parts[i].play(rows);
        outside += print_rows(rows, k, &wide);
        kinds(&table, rows, k);
        n += k;
        print_message("%s: %zu rows in %.1f CPU-s\n", parts[i].name, k, (double)(clock() - begin) / CLOCKS_PER_SEC);
    }
    print_message("%zu rows simulated, %zu outside their 95 %% interval, %zu wider than 1 %%\n", n, outside, wide);
    if (!only && !SANITIZED) doc_section("docs/models.md", "simulated oracles", str_text(&table));
    str_free(&table);
    assert_true(outside <= MOST_OUTSIDE);
    assert_int_equal(wide, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(formula_and_simulator)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
