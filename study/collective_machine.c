/* collective_machine.c - see collective_machine.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/collective_machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/collective_fabric.h"
#include "input/profiles.h"
#include "models/gpu_spec.h"

#define NOT_FULL  0.05 /* what ranks that do not fill their nodes count in the error */
#define NOT_MANY  0.3  /* one node where several are more likely */
enum { RANKS_MOST = 1000000 };

struct search {
    const struct collective_table *t;
    const struct collective_hints *hints;
    unsigned ranks, nodes; /* nodes 0: not known */
    struct collective_machine *best;
};

static double error_of(const struct search *s, const struct collective_fabric *f, unsigned local, unsigned nodes)
{
    double sum = 0;
    for (size_t i = 0; i < s->t->rows.n; i++) {
        const struct collective_row *r = &s->t->rows.v[i];
        double e = fabs(log(collective_time_s(f, s->t->op, r->bytes, local, nodes, NULL) / r->time_s));
        sum += e < 1 ? e : 1;
    }
    return sum / (double)s->t->rows.n;
}

static void try_machine(struct search *s, const struct collective_machine *m)
{
    double error = error_of(s, &m->fabric, m->ranks_per_node, m->nodes);
    if (m->ranks_per_node != m->fabric.gpus_per_node) error += NOT_FULL;
    if (s->hints->several_nodes && m->nodes == 1) error += NOT_MANY;
    if (error >= s->best->error) return;
    *s->best = *m;
    s->best->error = error;
}

static void try_algorithms(struct search *s, struct collective_machine m)
{
    static const unsigned sets[] = {0, 1u << COLLECTIVE_RING, 1u << COLLECTIVE_TREE};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        m.fabric.algorithms = sets[i];
        m.fabric.gpus_per_process = s->t->gpus_per_process ? s->t->gpus_per_process : 1;
        try_machine(s, &m);
        if (s->t->gpus_per_process || m.ranks_per_node == 1 || s->t->cpu) continue;
        m.fabric.gpus_per_process = m.ranks_per_node;
        try_machine(s, &m);
    }
}

static void try_layouts(struct search *s, struct collective_machine m)
{
    unsigned most = m.fabric.gpus_per_node ? m.fabric.gpus_per_node : s->ranks;
    for (unsigned local = 1; local <= most && local <= s->ranks; local++) {
        m.ranks_per_node = local;
        m.nodes = s->ranks / local;
        if (s->ranks % local || (s->nodes && m.nodes != s->nodes)) continue;
        try_algorithms(s, m);
    }
}

static bool may_be(const struct search *s, const struct collective_fabric *f, const char *gpu)
{
    bool cpu = f->library == COLLECTIVE_MPI || f->library == COLLECTIVE_GLOO;
    if (cpu != s->t->cpu) return false;
    const struct gpu_spec *want = *s->t->gpu ? gpu_spec_find(s->t->gpu) : NULL, *have = gpu_spec_find(gpu);
    return !want || !have || !strcmp(want->family, have->family);
}

static void try_profiles(struct search *s, const char *hardware, const char *network)
{
    struct collective_machine m = {.error = HUGE_VAL};
    struct diag quiet = {0};
    if (collective_fabric_profiles(hardware, network, &m.fabric, &quiet) && may_be(s, &m.fabric, hardware)) {
        snprintf(m.hardware, sizeof m.hardware, "%s", hardware);
        snprintf(m.network, sizeof m.network, "%s", network);
        if (s->t->cpu) m.fabric.library = COLLECTIVE_MPI;
        try_layouts(s, m);
    }
    diag_free(&quiet);
}

/* A profile that is asked for by name must be there. */
static bool is_there(const char *name, const struct profile_names *names, const char *option, struct diag *d)
{
    for (size_t i = 0; name && i < names->n; i++)
        if (!strcmp(names->v[i], name)) return true;
    if (!name) return true;
    diag_error(d, option, 0, NULL, "there is no profile \"%s\"", name);
    diag_help_allowed(d, name, names->v, names->n);
    return false;
}

static void search(struct search *s, const struct profile_names *hardware, const struct profile_names *networks)
{
    for (size_t i = 0; i < hardware->n; i++) {
        if (s->hints->hardware && strcmp(s->hints->hardware, hardware->v[i])) continue;
        if (!s->hints->network) try_profiles(s, hardware->v[i], "");
        for (size_t k = 0; k < networks->n; k++)
            if (!s->hints->network || !strcmp(s->hints->network, networks->v[k]))
                try_profiles(s, hardware->v[i], networks->v[k]);
    }
}

bool collective_machine(const struct collective_table *t, const struct collective_hints *hints, struct collective_machine *m,
                        struct diag *d)
{
    struct search s = {.t = t, .hints = hints, .best = m};
    *m = (struct collective_machine){.error = HUGE_VAL};
    s.ranks = hints->ranks ? hints->ranks : t->ranks;
    s.nodes = hints->nodes ? hints->nodes : t->nodes;
    if (s.ranks < 2 || s.ranks > RANKS_MOST) {
        diag_error(d, "ranks", 0, NULL, "the table does not tell how many ranks it is of");
        diag_help(d, "say it: --ranks N");
        return false;
    }
    struct arena arena = {0};
    struct profile_names *names = xcalloc(2, sizeof *names);
    profile_list(&arena, "hardware", &names[0]);
    profile_list(&arena, "network", &names[1]);
    bool known = is_there(hints->hardware, &names[0], "--hardware", d);
    if (!is_there(hints->network, &names[1], "--network", d)) known = false; /* both are told */
    if (known) search(&s, &names[0], &names[1]);
    if (known && !isfinite(m->error)) {
        if (s.nodes) diag_error(d, "machine", 0, NULL, "no profile of hardware and network can be %u ranks on %u nodes", s.ranks, s.nodes);
        else diag_error(d, "machine", 0, NULL, "no profile of hardware and network can be %u ranks", s.ranks);
        diag_help(d, "trainyard profiles lists them; leave out --hardware, --network or --ranks");
    }
    free(names);
    arena_free(&arena);
    return isfinite(m->error);
}
