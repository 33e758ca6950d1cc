/* event_cost.c - see event_cost.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/views/event_cost.h"

#include "base/array.h"
#include "base/str.h"
#include "viz/views/event_list.h"
#include "viz/views/widgets.h"

typedef ARRAY(int32_t) job_list;

static bool is_down(unsigned show)
{
    return show < N_ACTIVITIES && show_class(show) == CLASS_DOWN;
}

/* When it is back: the next record that says so, else the end. */
static int64_t back_at(const struct scene *s, uint32_t event, uint32_t node)
{
    for (uint32_t i = event; i < s->n_events; i++)
        if (s->events[i].type == REC_NODE_STATE && s->events[i].subject == node && !is_down(s->events[i].code)) return s->events[i].time_ns;
    return s->end_ns;
}

static void count_gpu(struct event_cost *c, const struct scene *s, uint32_t gpu)
{
    const struct scene_track *t = &s->tracks[SCENE_GPUS][gpu];
    for (uint32_t i = scene_seek(s, SCENE_GPUS, gpu, c->from_ns); i < t->n && t->v[i].from_ns < c->to_ns; i++) {
        int64_t end = scene_to(s, &t->v[i]) < c->to_ns ? scene_to(s, &t->v[i]) : c->to_ns;
        share_ns sum = (share_ns)(end - t->v[i].from_ns) * t->v[i].shares;
        if (is_down(t->v[i].show)) c->down += sum;
        else if (t->v[i].show < N_ACTIVITIES && show_class(t->v[i].show) == CLASS_HELD) c->held += sum;
    }
}

static void add_job(job_list *jobs, int32_t job)
{
    for (size_t i = 0; i < jobs->n; i++)
        if (jobs->v[i] == job) return;
    array_push(jobs, job);
}

/* Held until the failure, or beyond it. */
static void find_jobs(job_list *jobs, const struct scene *s, uint32_t gpu, int64_t at)
{
    const struct scene_track *t = &s->tracks[SCENE_GPUS][gpu];
    uint32_t i = scene_seek(s, SCENE_GPUS, gpu, at);
    for (unsigned seen = 0; i-- > 0 && seen < 16; seen++)
        if (t->v[i].job >= 0 && scene_to(s, &t->v[i]) >= at) add_job(jobs, t->v[i].job);
}

static share_ns done_again(const struct scene *s, int32_t job, int64_t at)
{
    share_ns sum = 0;
    if ((uint32_t)job >= s->n_tracks[SCENE_JOBS]) return 0;
    const struct scene_track *t = &s->tracks[SCENE_JOBS][job];
    for (uint32_t i = scene_seek(s, SCENE_JOBS, (uint32_t)job, at); i < t->n && t->v[i].show != SHOW_WORK; i++)
        if (t->v[i].show == SHOW_REDONE) sum += (share_ns)(scene_to(s, &t->v[i]) - t->v[i].from_ns) * (share_ns)s->jobs[job].gpu_shares;
    return sum;
}

bool event_cost(const struct scene *s, uint32_t event, struct event_cost *c)
{
    if (event >= s->n_events || !s->has_gpus) return false;
    const struct record *r = &s->events[event];
    job_list jobs = {0};
    *c = (struct event_cost){.node = event_pick_node(s, r), .from_ns = r->time_ns};
    if (c->node >= s->n_nodes || (r->type == REC_NODE_STATE && !is_down(r->code))) return false;
    c->to_ns = back_at(s, event, c->node);
    const struct scene_node *node = &s->nodes[c->node];
    for (uint32_t k = node->first_gpu; k < node->first_gpu + node->n_gpus; k++) {
        count_gpu(c, s, k);
        find_jobs(&jobs, s, k, c->from_ns);
    }
    c->jobs = (uint32_t)jobs.n;
    for (size_t i = 0; i < jobs.n; i++) c->redone += done_again(s, jobs.v[i], c->from_ns);
    array_free(&jobs);
    return true;
}

void event_cost_text(const struct scene *s, const struct event_cost *c, struct str *out)
{
    str_printf(out, "%s is out for ", s->nodes[c->node].name);
    widget_length(out, c->to_ns - c->from_ns);
    str_append(out, ": ");
    widget_gpu_time(out, c->down);
    if (c->held) {
        str_append(out, ", held without work ");
        widget_gpu_time(out, c->held);
    }
    if (c->jobs == 0) str_append(out, "; no job ran there");
    else {
        str_printf(out, "; %u job%s ran there and did ", c->jobs, c->jobs == 1 ? "" : "s");
        widget_gpu_time(out, c->redone);
        str_append(out, " again");
    }
}
