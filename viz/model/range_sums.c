/* range_sums.c - see range_sums.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/model/range_sums.h"

static void sum_gpus(struct range_sums *r, const struct curves *c)
{
    r->gpus = curve_known(c, CURVE_IDLE_SHARES);
    if (!r->gpus) return;
    r->existing = curve_integral(c, CURVE_EXISTING_SHARES, r->from_ns, r->to_ns);
    r->idle = curve_integral(c, CURVE_IDLE_SHARES, r->from_ns, r->to_ns);
    for (unsigned show = 0; show < SHOW_WAIT; show++) r->by_show[show] = curve_integral(c, CURVE_SHOW + show, r->from_ns, r->to_ns);
}

static void sum_waits(struct range_sums *r, const struct scene *s, uint32_t job)
{
    const struct scene_track *t = &s->tracks[SCENE_JOBS][job];
    for (uint32_t i = scene_reach(s, SCENE_JOBS, job, r->from_ns); i < t->n && t->v[i].from_ns < r->to_ns; i++) {
        int64_t from = t->v[i].from_ns > r->from_ns ? t->v[i].from_ns : r->from_ns, end = scene_to(s, &t->v[i]), to = end < r->to_ns ? end : r->to_ns;
        if (t->v[i].show >= SHOW_WAIT && t->v[i].show < N_SHOWS && to > from) r->waits[t->v[i].show - SHOW_WAIT] += to - from;
    }
}

static bool within(const struct range_sums *r, int64_t ns)
{
    return ns >= r->from_ns && ns < r->to_ns;
}

static void count_jobs(struct range_sums *r, const struct scene *s)
{
    for (uint32_t j = 0; j < s->n_jobs; j++) {
        r->submitted += within(r, s->jobs[j].submit_ns);
        r->started += within(r, s->jobs[j].started_ns);
        r->ended += within(r, s->jobs[j].finished_ns);
        if (j < s->n_tracks[SCENE_JOBS]) sum_waits(r, s, j);
    }
}

static void count_events(struct range_sums *r, const struct scene *s)
{
    for (uint32_t i = scene_event_seek(s, r->from_ns); i < s->n_events && s->events[i].time_ns < r->to_ns; i++) {
        r->events++;
        if (s->events[i].type < N_RECORD_TYPES) r->by_type[s->events[i].type]++;
        r->failures += scene_event_is_failure(&s->events[i]);
    }
}

void range_sums_make(struct range_sums *r, const struct scene *s, const struct curves *c, int64_t from_ns, int64_t to_ns)
{
    *r = (struct range_sums){.from_ns = from_ns, .to_ns = to_ns};
    sum_gpus(r, c);
    count_jobs(r, s);
    count_events(r, s);
}
