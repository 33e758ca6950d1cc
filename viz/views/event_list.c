/* event_list.c - see event_list.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/views/event_list.h"

#include "input/scenario.h"

const char *const event_kind_names[N_EVENT_KINDS] = {"all", "failures", "queueing", "starts and ends", "checkpoints", "nodes"};

static bool of_kind(enum event_kinds kinds, const struct record *r)
{
    switch (kinds) {
    case EVENTS_ALL: return true;
    case EVENTS_FAILURES: return scene_event_is_failure(r);
    case EVENTS_QUEUE: return r->type == REC_JOB_SUBMITTED || r->type == REC_JOB_ADMITTED || r->type == REC_JOB_WAIT || r->type == REC_JOB_EVICTED || r->type == REC_PARTIAL_HOLD;
    case EVENTS_RUNS: return r->type == REC_JOB_ALLOCATED || r->type == REC_JOB_STARTED || r->type == REC_JOB_STOPPED || r->type == REC_JOB_FINISHED;
    case EVENTS_SAVES: return r->type == REC_CHECKPOINT || r->type == REC_ROLLBACK;
    case EVENTS_NODES: return r->type == REC_NODE_STATE || (r->type == REC_FAULT && r->job < 0);
    case N_EVENT_KINDS: break;
    }
    return false;
}

bool event_pick_shown(const struct event_pick *p, uint32_t i)
{
    const struct record *r = &p->scene->events[i];
    return of_kind(p->kinds, r) && (!p->passes || (r->job >= 0 && (uint32_t)r->job < p->scene->n_jobs && p->passes[r->job]));
}

uint32_t event_pick_next(const struct event_pick *p, uint32_t i, bool forward)
{
    uint32_t n = p->scene->n_events;
    if (forward) {
        for (uint32_t k = i + 1; k < n; k++)
            if (event_pick_shown(p, k)) return k;
        return n;
    }
    for (uint32_t k = i < n ? i : n; k-- > 0;)
        if (event_pick_shown(p, k)) return k;
    return n;
}

uint32_t event_pick_at(const struct event_pick *p, int64_t cursor_ns, uint32_t chosen)
{
    uint32_t n = p->scene->n_events;
    if (chosen < n && event_pick_shown(p, chosen) && p->scene->events[chosen].time_ns == cursor_ns) return chosen;
    uint32_t behind = scene_event_seek(p->scene, cursor_ns + 1), before = event_pick_next(p, behind, false);
    if (before < n) return before;
    return behind < n && event_pick_shown(p, behind) ? behind : event_pick_next(p, behind, true);
}

uint32_t event_pick_count(const struct event_pick *p, uint32_t i, uint32_t *before)
{
    uint32_t all = 0;
    *before = 0;
    if (p->kinds == EVENTS_ALL && !p->passes) {
        *before = i;
        return p->scene->n_events;
    }
    for (uint32_t k = 0; k < p->scene->n_events; k++) {
        if (k == i) *before = all;
        all += event_pick_shown(p, k);
    }
    return all;
}

uint32_t event_pick_node(const struct scene *s, const struct record *r)
{
    bool node = r->type == REC_NODE_STATE || (r->type == REC_FAULT && r->job < 0 && r->code >= N_FAULT_ACTIONS && r->code - N_FAULT_ACTIONS <= FAULT_NODE);
    return node && r->subject < s->n_nodes ? r->subject : s->n_nodes;
}
