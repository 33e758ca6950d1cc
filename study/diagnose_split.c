/* diagnose_split.c - the time of a step divided among its causes: see diagnose_step.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <string.h>

#include "study/diagnose_step.h"

enum { SUBSETS = 1 << N_STEP_REMEDIES };
#define FELT 1e-6 /* of a step: what a remedy changes, to count */

struct player {
    const struct step_remedy *remedy;
    struct step_case cured;
};

struct game {
    const struct step_case *as_is;
    struct player players[N_STEP_REMEDIES];
    int n;
};

static double at_least_0(double x)
{
    return x > 0 ? x : 0;
}
static double over(double part, double all)
{
    return all > 0 ? part / all : 0;
}

/* With the remedies of a set. Where several together make no sense (more stages than layers), the chunks stay as they are. */
static struct step_case mixed(const struct game *g, unsigned set)
{
    struct step_case c = *g->as_is;
    for (int i = 0; i < g->n; i++)
        if (set >> i & 1) g->players[i].remedy->mix(&c, &g->players[i].cured);
    if (c.modelled && step_problem(&c.in)) c.in.split.interleave = g->as_is->in.split.interleave;
    return c;
}

static double seconds(const struct game *g, unsigned set)
{
    double part[N_STEP_PARTS];
    struct step_case c = mixed(g, set);
    return step_case_parts(&c, part);
}

/* Leaves out the remedies that change nothing, neither alone nor as the last of all. */
static void keep_felt(struct game *g)
{
    unsigned all = (1u << g->n) - 1;
    double none_s = seconds(g, 0), all_s = seconds(g, all);
    bool felt[N_STEP_REMEDIES];
    for (int i = 0; i < g->n; i++)
        felt[i] = fabs(none_s - seconds(g, 1u << i)) > FELT * none_s ||
                  fabs(all_s - seconds(g, all & ~(1u << i))) > FELT * none_s;
    int kept = 0;
    for (int i = 0; i < g->n; i++)
        if (felt[i]) g->players[kept++] = g->players[i];
    g->n = kept;
}

/* Shapley's value (1953): what a remedy saves, in the mean over all orders in which they may be taken up. */
static void share_out(const struct game *g, double *seconds_of)
{
    double took[SUBSETS], weight[N_STEP_REMEDIES]; /* weight: of a set of k others */
    for (unsigned set = 0; set < 1u << g->n; set++) took[set] = seconds(g, set);
    for (int k = 0; k < g->n; k++) {
        weight[k] = 1.0 / g->n;
        for (int i = 1; i <= k; i++) weight[k] *= (double)i / (g->n - i);
    }
    for (unsigned set = 0; set < 1u << g->n; set++)
        for (int i = 0; i < g->n; i++)
            if (!(set >> i & 1)) {
                int others = __builtin_popcount(set);
                seconds_of[g->players[i].remedy->cause] += weight[others] * (took[set] - took[set | 1u << i]);
            }
}

/* What no remedy ends is that of the part in which it lies; communication that is left comes of interleaving, since that which
 * was there before has a remedy. */
static double leave_rest(const struct game *g, double *seconds_of)
{
    static const enum health_cause lies_in[N_STEP_PARTS] = {[STEP_COMMUNICATION] = WHY_BUBBLE,
                                                            [STEP_DATA] = WHY_DATA,
                                                            [STEP_BUBBLE] = WHY_BUBBLE,
                                                            [STEP_STRAGGLER] = WHY_STRAGGLER};
    double part[N_STEP_PARTS];
    struct step_case cured = mixed(g, (1u << g->n) - 1);
    step_case_parts(&cured, part);
    for (int k = 0; k < N_STEP_PARTS; k++)
        if (k != STEP_COMPUTE) seconds_of[lies_in[k]] += part[k];
    return part[STEP_COMPUTE];
}

static void state_gains(struct step_split *s, const struct game *g, double steps)
{
    double before = seconds(g, 0);
    for (int i = 0; i < g->n; i++)
        s->gain[g->players[i].remedy->cause] = steps * over(at_least_0(before - seconds(g, 1u << i)), before);
}

static void find_remedies(struct game *g, struct step_split *s)
{
    g->n = N_STEP_REMEDIES;
    for (int i = 0; i < g->n; i++) {
        g->players[i] = (struct player){&step_remedies[i], *g->as_is};
        step_remedies[i].find(&g->players[i].cured, s->remedy[step_remedies[i].cause]);
    }
    keep_felt(g);
}

struct step_split step_split(const struct step_case *c, const double *by)
{
    struct step_split s = {.useful = 0};
    struct game g = {.as_is = c};
    double seconds_of[N_HEALTH_CAUSES] = {0}, part[N_STEP_PARTS], steps = 0, lost = 0;
    for (int k = 0; k < N_STEP_PARTS; k++) steps += by[step_booked_as[k] - FIRST_WORK];
    step_case_parts(c, part);
    find_remedies(&g, &s);
    share_out(&g, seconds_of);
    double useful_s = leave_rest(&g, seconds_of);
    s.useful = by[ACT_COMPUTE - FIRST_WORK] * fmin(1, over(useful_s, part[STEP_COMPUTE]));
    for (int i = 0; i < N_HEALTH_CAUSES; i++) lost += at_least_0(seconds_of[i]);
    for (int i = 0; i < N_HEALTH_CAUSES; i++) s.share[i] = (steps - s.useful) * over(at_least_0(seconds_of[i]), lost);
    if (!(lost > 0)) s.useful = steps;
    state_gains(&s, &g, steps);
    s.gain[WHY_DATA] = s.share[WHY_DATA];
    s.untold = s.share[WHY_DATA] + (c->modelled ? 0 : s.share[WHY_COMMUNICATION]);
    return s;
}
