/* random_scenario.c - see random_scenario.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/random_scenario.h"

#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

uint64_t random_below(uint64_t *state, uint64_t n)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (x ^ x >> 31) % n;
}

struct draw { uint64_t state; struct str *out; const struct random_spec *spec; unsigned nodes, gpus, jobs; bool two_groups; };

static unsigned below(struct draw *d, unsigned n) { return (unsigned)random_below(&d->state, n); }
static bool one_in(struct draw *d, unsigned n) { return below(d, n) == 0; }

static void cluster(struct draw *d)
{
    str_printf(d->out, "  \"cluster\": { \"nodes\": [ { \"group\": \"a\", \"count\": %u, \"gpus\": %u }", d->nodes, d->gpus);
    if (d->two_groups) str_append(d->out, ", { \"group\": \"b\", \"count\": 2, \"gpus\": 2, \"gpu\": \"small\" }");
    str_append(d->out, " ] },\n");
}

static void size(struct draw *d)
{
    static const char *const fraction[] = {"0.25", "0.5", "0.1"};
    unsigned all = d->nodes * d->gpus;
    if (d->spec->odd && one_in(d, 6)) {
        str_printf(d->out, ", \"gpus\": %s", fraction[below(d, 3)]);
    } else if (d->spec->odd && one_in(d, 3)) {
        unsigned gpus = 1 + below(d, d->gpus);
        str_printf(d->out, ", \"gpus\": %u, \"replicas\": %u", gpus, 1 + below(d, all / gpus));
    } else if (strcmp(d->spec->placement, "none") == 0 || !d->spec->odd) {
        unsigned most = one_in(d, 4) ? all : all / 2 + 1;
        str_printf(d->out, ", \"gpus\": 1, \"replicas\": %u", 1 + below(d, most));
    } else {
        str_printf(d->out, ", \"gpus\": %u", 1 + below(d, d->gpus));
    }
    if (d->spec->odd && one_in(d, 40)) str_append(d->out, ", \"nodeSelector\": { \"no\": \"such\" }");
    else if (d->two_groups && one_in(d, 4)) str_append(d->out, ", \"gpu\": \"small\"");
}

static void seconds_of(struct draw *d, const char *key, unsigned s)
{
    str_printf(d->out, ", \"%s\": %u", key, s);
    if (d->spec->odd && one_in(d, 2)) str_printf(d->out, ".%03u", below(d, 1000));
}

static void job(struct draw *d, unsigned i, unsigned submit)
{
    /* Few different values, so that jobs tie. */
    unsigned work = one_in(d, 3) ? 10 * (1 + below(d, 6)) : 1 + below(d, 120);
    str_printf(d->out, "%s\n      { \"id\": \"j%u\", \"kind\": \"train\", \"submit\": %u", i ? "," : "", i, submit);
    size(d);
    seconds_of(d, "duration", work);
    if (d->spec->limits) str_printf(d->out, ", \"limit\": %u", one_in(d, 8) ? 1 + work / 2 : work + 1 + below(d, 60));
    if (d->spec->odd && one_in(d, 3)) str_printf(d->out, ", \"checkpoint\": { \"interval\": %u, \"save\": 0, \"load\": 0 }", 1 + below(d, 30));
    if (d->spec->interventions && i && one_in(d, 5)) str_printf(d->out, ", \"after\": [ \"j%u\" ]", below(d, i));
    str_append(d->out, " }");
}

static void workload(struct draw *d)
{
    unsigned submit = 0, gap = 1 + below(d, 40);
    str_append(d->out, "  \"workload\": { \"jobs\": [");
    for (unsigned i = 0; i < d->jobs; i++) {
        job(d, i, submit);
        if (!one_in(d, 3)) submit += below(d, gap) * (one_in(d, 4) ? 5 : 1);
    }
    str_append(d->out, "\n  ] },\n");
}

/* Losses and returns in pairs, each a node of its own turn; suspensions with their resumption. */
static void script(struct draw *d)
{
    unsigned n = 0, pairs = 1 + below(d, 3);
    str_append(d->out, "  \"faults\": { \"script\": [");
    for (unsigned i = 0; i < pairs; i++) {
        unsigned at = below(d, 200), back = at + 1 + below(d, 200), node = below(d, d->nodes), who = below(d, d->jobs);
        if (d->spec->faults)
            str_printf(d->out,
                       "%s\n      { \"at\": %u, \"target\": \"node/a-%u\", \"action\": \"node-lost\" },"
                       "\n      { \"at\": %u, \"target\": \"node/a-%u\", \"action\": \"node-back\" }",
                       n++ ? "," : "", at, node, back, node);
        if (d->spec->interventions)
            str_printf(d->out,
                       "%s\n      { \"at\": %u, \"target\": \"job/j%u\", \"action\": \"suspend\" },"
                       "\n      { \"at\": %u, \"target\": \"job/j%u\", \"action\": \"resume\" }",
                       n++ ? "," : "", at, who, back, who);
    }
    str_append(d->out, "\n  ] },\n");
}

void random_scenario(const struct random_spec *spec, struct str *json)
{
    struct draw d = {.state = spec->seed, .out = json, .spec = spec};
    d.nodes = spec->nodes ? spec->nodes : 1 + below(&d, 5);
    d.gpus = spec->gpus ? spec->gpus : 1u << below(&d, 4);
    d.jobs = spec->jobs ? spec->jobs : 1 + below(&d, 40);
    d.two_groups = spec->odd && one_in(&d, 3);
    str_printf(json, "{ \"trainyard\": 1, \"name\": \"random-%llu\",\n", (unsigned long long)spec->seed);
    cluster(&d);
    workload(&d);
    if (spec->faults || spec->interventions) script(&d);
    str_printf(json,
               "  \"approaches\": { \"x\": { \"lifecycle\": \"none\", \"admission\": \"%s\", \"scheduler\": \"batch\","
               " \"placement\": \"%s\"",
               spec->admission, spec->placement);
    if (strcmp(spec->admission, "las") == 0 && !one_in(&d, 4)) {
        unsigned first = 64 + below(&d, 600); /* with limits below the GPUs of a job the peer never ends */
        str_printf(json, ", \"las_first_limit\": %u, \"las_second_limit\": %u", first, first + 1 + below(&d, 1000));
    }
    str_append(json, " } }");
    if (spec->odd && one_in(&d, 4)) str_printf(json, ",\n  \"run\": { \"horizon\": %u }", 1 + below(&d, 600));
    str_append(json, "\n}\n");
}

struct scenario *random_scenario_load(const struct str *json)
{
    struct diag d = {0};
    struct scenario *s = scenario_parse("random.json", json->s, json->n, NULL, &d);
    if (!s) {
        diag_print(&d, stderr);
        fail_msg("%s", json->s);
    }
    diag_free(&d);
    return s;
}
