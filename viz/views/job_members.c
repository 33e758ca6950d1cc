/* job_members.c - see job_members.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/views/job_members.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hmap.h"
#include "base/mem.h"
#include "base/str.h"
#include "input/kinds.h"

_Static_assert((int)N_POD_STATES <= (int)N_MEMBER_STATES && (int)N_ACTOR_STATES <= (int)N_MEMBER_STATES, "a bin has room for all");

/* ---- words ---- */

const char *member_state_name(bool actors, unsigned state)
{
    if (actors) return state < N_ACTOR_STATES ? actor_state_table[state].name : "not there yet";
    return state < N_POD_STATES ? pod_state_table[state].name : "not there yet";
}

unsigned member_show(bool actors, unsigned state)
{
    static const uint8_t pods[N_POD_STATES] = {
        [POD_IS_PENDING] = SHOW_WAIT + WAIT_CAPACITY, [POD_IS_SCHEDULED] = SHOW_WAIT + WAIT_GANG,
        [POD_IS_PULLING] = ACT_IMAGE_PULL,            [POD_IS_STARTING] = ACT_CONTAINER_START,
        [POD_IS_INIT] = ACT_WAIT_HEAD,                [POD_IS_RUNNING] = ACT_IDLE_POD,
        [POD_IS_READY] = SHOW_WORK,                   [POD_IS_BACKOFF] = ACT_BACKOFF,
        [POD_IS_LOST] = ACT_STALLED,                  [POD_IS_UNKNOWN] = ACT_HUNG,
        [POD_IS_TERMINATING] = ACT_TERMINATING,       [POD_IS_SUCCEEDED] = ACT_FREE,
        [POD_IS_FAILED] = ACT_FAILED,                 [POD_IS_EVICTED] = SHOW_WAIT + WAIT_PREEMPTED,
        [POD_IS_DELETED] = SHOW_NOTHING,
    };
    static const uint8_t ranks[N_ACTOR_STATES] = {
        [ACTOR_IS_PENDING] = SHOW_WAIT + WAIT_CAPACITY, [ACTOR_IS_STARTING] = ACT_CONTAINER_START, [ACTOR_IS_ALIVE] = SHOW_WORK,
        [ACTOR_IS_RESTARTING] = ACT_BACKOFF,            [ACTOR_IS_DEAD] = ACT_STALLED,             [ACTOR_IS_ENDED] = ACT_FREE,
    };
    if (actors) return state < N_ACTOR_STATES ? ranks[state] : SHOW_NOTHING;
    return state < N_POD_STATES ? pods[state] : SHOW_NOTHING;
}

bool member_is_ill(bool actors, unsigned state)
{
    if (actors) return state == ACTOR_IS_DEAD;
    return state == POD_IS_BACKOFF || state == POD_IS_LOST || state == POD_IS_UNKNOWN || state == POD_IS_FAILED || state == POD_IS_EVICTED;
}

/* ---- gathering ---- */

static bool is_told(const struct job_members *m, const struct record *r)
{
    unsigned state = m->actors ? r->code : r->code & 0xff;
    return r->type == (m->actors ? REC_ACTOR_STATE : REC_POD_STATE) && state < (m->actors ? (unsigned)N_ACTOR_STATES : (unsigned)N_POD_STATES) &&
           r->a > 0 && r->a <= MOST_MEMBERS && r->subject + (uint64_t)r->a <= MOST_MEMBERS;
}

/* The next record of a job's that tells of its members, from *i on. */
static const struct record *next_told(const struct job_members *m, const struct scene *s, const struct scene_job *j, uint32_t *i)
{
    while (*i < j->n_events) {
        const struct record *r = &s->events[s->by_job[j->first_event + (*i)++]];
        if (is_told(m, r)) return r;
    }
    return NULL;
}

/* Every number up to the highest gets a place; those that nothing is told of (groups without a pod) are left out later. */
static void count(struct job_members *m, const struct scene *s, const struct scene_job *j)
{
    uint32_t cap = 0, all = 0;
    const struct record *r;
    for (uint32_t i = 0; (r = next_told(m, s, j, &i));) {
        uint32_t end = r->subject + (uint32_t)r->a;
        if (all + (uint32_t)r->a > MOST_MEMBER_STATES) break;
        all += (uint32_t)r->a;
        if (end > cap) {
            cap = end + end / 2;
            m->v = xreallocarray(m->v, cap, sizeof *m->v);
        }
        for (; m->n < end; m->n++) m->v[m->n] = (struct job_member){.number = m->n, .index = m->n, .role = ROLE_WORKER};
        for (uint32_t k = r->subject; k < end; k++) m->v[k].n++;
    }
    m->states = xcalloc(all + 1, sizeof *m->states);
    for (uint32_t k = 0, at = 0; k < m->n; at += m->v[k].n, m->v[k++].n = 0) m->v[k].first = at;
}

static void take(struct job_members *m, const struct record *r, uint32_t number)
{
    struct job_member *x = &m->v[number];
    unsigned state = m->actors ? r->code : r->code & 0xff;
    m->states[x->first + x->n++] = (struct member_state){r->time_ns, r->b, (uint8_t)state};
    if (m->actors || state != POD_IS_PENDING) return;
    x->role = (uint8_t)(r->code >> 8);
    x->index = (uint32_t)((uint64_t)number + (uint64_t)r->b);
}

static int by_place(const void *x, const void *y)
{
    const struct job_member *a = x, *b = y;
    if (a->role != b->role) return a->role < b->role ? -1 : 1;
    if (a->index != b->index) return a->index < b->index ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

void job_members_make(struct job_members *m, const struct scene *s, int32_t job, bool actors)
{
    const struct scene_job *j = &s->jobs[job];
    const struct record *r;
    uint32_t all = 0, kept = 0;
    *m = (struct job_members){.actors = actors};
    count(m, s, j);
    for (uint32_t i = 0; (r = next_told(m, s, j, &i));) {
        if (all + (uint32_t)r->a > MOST_MEMBER_STATES) break;
        all += (uint32_t)r->a;
        for (uint32_t k = 0; k < (uint32_t)r->a; k++) take(m, r, r->subject + k);
    }
    for (uint32_t i = 0; i < m->n; i++)
        if (m->v[i].n) m->v[kept++] = m->v[i];
    m->n = kept;
    if (kept) qsort(m->v, kept, sizeof *m->v, by_place);
}

void job_members_free(struct job_members *m)
{
    free(m->v);
    free(m->states);
    *m = (struct job_members){0};
}

/* ---- at a moment ---- */

static bool tells_node(const struct job_members *m, unsigned state)
{
    if (m->actors) return state == ACTOR_IS_STARTING;
    return state == POD_IS_SCHEDULED || state == POD_IS_PULLING || state == POD_IS_STARTING;
}

static void step(const struct job_members *m, const struct member_state *s, struct member_now *now)
{
    now->state = s->state;
    now->since_ns = s->from_ns;
    now->exit_code = -1;
    if (tells_node(m, s->state)) now->node = s->b >= 0 && s->b < UINT32_MAX ? (uint32_t)s->b : NO_MEMBER_NODE;
    if (m->actors) {
        now->restarts += s->state == ACTOR_IS_RESTARTING;
        return;
    }
    if (s->state == POD_IS_PENDING) now->node = NO_MEMBER_NODE;
    if (s->state == POD_IS_RUNNING || s->state == POD_IS_READY || s->state == POD_IS_TERMINATING) now->restarts = s->b;
    if (s->state == POD_IS_BACKOFF || s->state == POD_IS_FAILED) now->exit_code = s->b;
}

struct member_now job_member_at(const struct job_members *m, const struct job_member *x, int64_t ns)
{
    struct member_now now = {.state = N_MEMBER_STATES, .node = NO_MEMBER_NODE, .exit_code = -1, .since_ns = -1};
    for (uint32_t i = 0; i < x->n && m->states[x->first + i].from_ns <= ns; i++) step(m, &m->states[x->first + i], &now);
    return now;
}

/* ---- groups ---- */

static bool alike(const struct job_members *m, const struct member_group *g, const struct job_member *x, const struct member_now *now)
{
    return m->v[g->first].role == x->role && g->now.state == now->state && g->now.restarts == now->restarts && g->now.exit_code == now->exit_code;
}

/* Neighbours are mostly alike, so the last one's group is looked at first. */
static uint32_t group_for(struct member_groups *g, const struct job_members *m, uint32_t i, uint32_t last, const struct member_now *now)
{
    if (last < g->v.n && alike(m, &g->v.v[last], &m->v[i], now)) return last;
    for (uint32_t k = 0; k < g->v.n; k++)
        if (alike(m, &g->v.v[k], &m->v[i], now)) return k;
    array_push(&g->v, (struct member_group){.first = i, .now = *now, .bins = xcalloc(MEMBER_BINS * N_MEMBER_STATES, sizeof(float))});
    return (uint32_t)g->v.n - 1;
}

/* Of a group, while it is made: bins that a member spent whole in a state, as differences between neighbours. */
struct whole_bins { int32_t more[MEMBER_BINS + 1][N_MEMBER_STATES]; };

/* A state from one moment to another: parts of the bins at its ends, whole ones between. */
static void fill(const struct member_groups *g, float *bins, struct whole_bins *whole, unsigned state, int64_t from, int64_t to)
{
    double width = (double)(g->to_ns - g->from_ns) / MEMBER_BINS;
    if (from < g->from_ns) from = g->from_ns;
    if (to > g->to_ns) to = g->to_ns;
    if (from >= to) return;
    double a = (double)(from - g->from_ns) / width, b = (double)(to - g->from_ns) / width;
    int first = (int)a, last = (int)b;
    if (first >= MEMBER_BINS) return;
    if (first == last) {
        bins[first * N_MEMBER_STATES + (int)state] += (float)(b - a);
        return;
    }
    bins[first * N_MEMBER_STATES + (int)state] += (float)(first + 1 - a);
    if (last < MEMBER_BINS) bins[last * N_MEMBER_STATES + (int)state] += (float)(b - last);
    whole->more[first + 1][state]++;
    whole->more[last < MEMBER_BINS ? last : MEMBER_BINS][state]--;
}

static void add_whole(float *bins, const struct whole_bins *whole)
{
    int32_t now[N_MEMBER_STATES] = {0};
    for (int i = 0; i < MEMBER_BINS; i++)
        for (int s = 0; s < N_MEMBER_STATES; s++) bins[i * N_MEMBER_STATES + s] += (float)(now[s] += whole->more[i][s]);
}

static void fill_group(const struct member_groups *g, const struct job_members *m, uint32_t group)
{
    struct whole_bins *whole = xcalloc(1, sizeof *whole);
    float *bins = g->v.v[group].bins;
    for (uint32_t k = g->v.v[group].first; k < m->n; k++) {
        const struct job_member *x = &m->v[k];
        const struct member_state *s = &m->states[x->first];
        for (uint32_t i = 0; g->of[k] == group && i < x->n; i++) fill(g, bins, whole, s[i].state, s[i].from_ns, i + 1 < x->n ? s[i + 1].from_ns : INT64_MAX);
    }
    add_whole(bins, whole);
    free(whole);
}

void member_groups_make(struct member_groups *g, const struct job_members *m, int64_t ns, int64_t from_ns, int64_t to_ns)
{
    struct hmap nodes = {0}; /* group << 32 | node */
    *g = (struct member_groups){.of = xcalloc(m->n + 1, sizeof *g->of), .from_ns = from_ns, .to_ns = to_ns > from_ns ? to_ns : from_ns + 1};
    for (uint32_t i = 0, last = 0; i < m->n; i++) {
        struct member_now now = job_member_at(m, &m->v[i], ns);
        last = g->of[i] = group_for(g, m, i, last, &now);
        struct member_group *group = &g->v.v[last];
        group->n++;
        if (now.node != NO_MEMBER_NODE && hmap_put_u64(&nodes, (uint64_t)last << 32 | now.node, 0)) group->n_nodes++;
    }
    for (uint32_t k = 0; k < g->v.n; k++) fill_group(g, m, k);
    hmap_free(&nodes);
}

void member_groups_free(struct member_groups *g)
{
    for (size_t i = 0; i < g->v.n; i++) free(g->v.v[i].bins);
    array_free(&g->v);
    free(g->of);
    *g = (struct member_groups){0};
}

static void put_interval(struct str *out, uint32_t low, uint32_t high, unsigned n)
{
    if (n) str_append(out, ", ");
    if (low == high) str_printf(out, "%u", low);
    else str_printf(out, "%u-%u", low, high);
}

void member_indices(const struct job_members *m, const struct member_groups *g, uint32_t group, unsigned most, struct str *out)
{
    uint32_t low = 0, high = 0, left = 0;
    unsigned n = 0;
    bool any = false;
    for (uint32_t i = g->v.v[group].first; i < m->n; i++) {
        uint32_t index = m->v[i].index;
        if (g->of[i] != group) continue;
        if (any && index <= high + 1) {
            high = index;
            continue;
        }
        if (any && n < most) put_interval(out, low, high, n++);
        else if (any) left++;
        any = true;
        low = high = index;
    }
    if (any && n < most) put_interval(out, low, high, n);
    else left += any;
    if (left) str_printf(out, " and %u more", left);
}
