/* test_liveness.c - every constant of a stack changes some run, so that none of them is decoration.
 *
 * Each constant in turn is made larger, then smaller, and tried on scenarios drawn at random and on the probes below,
 * until a fingerprint differs. One that changes nothing stands in the list of labels with its reason, or the test fails;
 * so does one of that list that changes something after all.
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

#include "base/array.h"
#include "base/file.h"
#include "base/mem.h"
#include "sim/simulate.h"
#include "tests/support/any_scenario.h"

enum { SEEDS = 60, MOST_EVENTS = 200000 };

/* What only special circumstances show: tests/sim/live/NAME.json. The approach to perturb is called "one". */
static const char *const probes[] = {
    "jobs-and-scheduler", "binds", "backoff", "permit", "preempt", "ray-slow-start", "ray-grace",
    "ray-many-pods", "ray-groups-wait", "elastic",
};

struct inert { const char *constant, *why; };
static const struct inert labels[] = {
    {"scheduler.flush", "a safety net of the real scheduler: here everything that may help wakes the pods that wait"},
    {"kuberay.requeue", "a safety net too: what the requeued pass would find has its own event"},
    {"ray.health-detect", "peers see the closed connection first (nccl.reset-detect), and a raylet without work is missed by nobody"},
    {NULL, NULL},
};

struct probe { struct str json; char print[33]; };

static bool print_of(const struct str *json, const char *approach, char print[33])
{
    struct diag d = {0};
    struct scenario *s = scenario_parse("live.json", json->s, json->n, approach, &d);
    struct sim_result r = {0};
    diag_free(&d);
    if (!s) return false;
    struct sim *sim = sim_create(s, &(struct sim_options){0}, &r.error);
    for (int n = 0; n < MOST_EVENTS && sim_step(sim); n++) {}
    sim_close(sim, &r);
    memcpy(print, r.fingerprint, 33);
    sim_result_free(&r);
    scenario_free(s);
    return true;
}

static struct probe *probes_make(size_t *n)
{
    ARRAY(struct probe) list = {0};
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        struct probe p = {0};
        struct diag d = {0};
        char path[64];
        size_t size;
        snprintf(path, sizeof path, "tests/sim/live/%s.json", probes[i]);
        char *text = file_read(path, FILE_READ_MAX, &size, &d);
        if (!text) fail_msg("%s cannot be read", path);
        str_append_n(&p.json, text, size);
        free(text);
        array_push(&list, p);
    }
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct probe p = {0};
        any_scenario_part(seed, ANY_ALL & ~ANY_CONSTANTS, ~0u, &p.json);
        if (!strstr(p.json.s, "\"one\": { \"lifecycle\": \"none\"")) array_push(&list, p);
        else str_free(&p.json);
    }
    for (size_t i = 0; i < list.n; i++)
        if (!print_of(&list.v[i].json, "one", list.v[i].print)) fail_msg("no scenario: %s", list.v[i].json.s);
    *n = list.n;
    return list.v;
}

static bool differs(const struct probe *p, const char *constant, const char *value)
{
    struct str json = {0};
    char print[33];
    const char *at = strstr(p->json.s, "\"one\":");
    str_append_n(&json, p->json.s, (size_t)(at - p->json.s));
    str_printf(&json, "\"probe\": { \"like\": \"one\", \"stack\": { \"%s\": %s } }, %s", constant, value, at);
    bool is = print_of(&json, "probe", print) && strcmp(print, p->print) != 0;
    str_free(&json);
    return is;
}

/* Larger and smaller values of a constant. */
static void values_of(const struct stack_constant *c, char v[3][32])
{
    struct stack stack;
    stack_defaults(&stack);
    int64_t x = stack_get(&stack, (size_t)stack_constant_find(c->name));
    switch (c->type) {
    case CONST_TIME:
        snprintf(v[0], 32, "%.9f", (double)x * 1.7 / 1e9 + 0.0137);
        snprintf(v[1], 32, "%.9f", (double)x / 5e9 + 0.0003);
        snprintf(v[2], 32, "%.9f", (double)x * 30 / 1e9);
        break;
    case CONST_RATE:
        snprintf(v[0], 32, "%.6f", (double)x / 1e6 / 40);
        snprintf(v[1], 32, "%.6f", (double)x / 1e6 * 3);
        snprintf(v[2], 32, "%.6f", (double)x / 1e6 / 2);
        break;
    case CONST_COUNT:
        snprintf(v[0], 32, "%lld", (long long)x * 4 + 3);
        snprintf(v[1], 32, "%lld", (long long)(x > 1 ? x / 8 + 1 : 0));
        snprintf(v[2], 32, "%lld", (long long)x + 1);
        break;
    default:
        for (int i = 0; i < 3; i++) snprintf(v[i], 32, "%s", x ? "false" : "true");
    }
}

static bool is_alive(const struct probe *list, size_t n, const struct stack_constant *c)
{
    char v[3][32];
    values_of(c, v);
    size_t own = sizeof probes / sizeof *probes;
    for (size_t i = own; i < n; i++) /* the random ones are fast */
        for (int k = 0; k < 3; k++)
            if (differs(&list[i], c->name, v[k])) return true;
    for (size_t i = 0; i < own; i++)
        for (int k = 0; k < 3; k++)
            if (differs(&list[i], c->name, v[k])) return true;
    return false;
}

static const char *label_of(const char *constant)
{
    for (size_t i = 0; labels[i].constant; i++)
        if (strcmp(labels[i].constant, constant) == 0) return labels[i].why;
    return NULL;
}

static void every_constant_of_a_stack(void **state)
{
    size_t n, dead = 0;
    struct probe *list = probes_make(&n);
    (void)state;
    for (size_t i = 0; i < stack_constant_count(); i++) {
        const struct stack_constant *c = stack_constant_at(i);
        const char *label = label_of(c->name);
        bool alive = is_alive(list, n, c);
        if (alive == (label != NULL)) {
            fprintf(stderr, "%s %s\n", c->name, alive ? "changes a run: it is no label" : "changes no run");
            dead++;
        }
    }
    for (size_t i = 0; i < n; i++) str_free(&list[i].json);
    free(list);
    if (dead) fail_msg("%zu constants", dead);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_constant_of_a_stack)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
