/* gcs.c - see gcs.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/actor/gcs.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sim/actor/placement_group.h"

static const struct stack *stack_of(const struct gcs *g) { return &g->sim->scenario->approach.stack; }

/* ---- creation ---- */

/* Ray nodes that a group can ever have at once. */
static uint32_t capacity(const struct sim *sim, const struct ray_group *g)
{
    uint64_t most = (uint64_t)sim->scenario->cluster.n_nodes * MAX_GPUS_PER_NODE;
    if (most > g->max) most = g->max;
    uint32_t first = g->replicas > g->min ? g->replicas : g->min;
    return most > first ? (uint32_t)most : first;
}

static void make_nodes(struct gcs *g)
{
    const struct raycluster_spec *spec = &g->cluster->spec;
    struct node_group *groups = xcalloc(spec->n_groups ? spec->n_groups : 1, sizeof *groups);
    for (uint32_t i = 0; i < spec->n_groups; i++) {
        const struct ray_shape *shape = &spec->groups[i].shape;
        uint32_t gpus = (shape->shares + SHARES_PER_GPU - 1) / SHARES_PER_GPU;
        bool own = spec->job != NULL; /* one worker a pod: its CPU is the seat */
        groups[i] = (struct node_group){.name = "",
                                        .first_node = g->n_nodes,
                                        .count = capacity(g->sim, &spec->groups[i]),
                                        .gpus = gpus,
                                        .cpu_milli = own ? 1 : shape->cpu_milli ? shape->cpu_milli : INT64_MAX,
                                        .mem_bytes = own || !shape->mem_bytes ? INT64_MAX : shape->mem_bytes};
        g->n_nodes += groups[i].count;
        g->nodes.total_shares += (int64_t)groups[i].count * gpus * SHARES_PER_GPU;
    }
    g->nodes.groups = groups;
    g->nodes.n_groups = spec->n_groups;
    g->nodes.n_nodes = g->n_nodes;
}

struct gcs *gcs_create(struct raycluster *rc)
{
    struct gcs *g = xcalloc(1, sizeof *g);
    g->cluster = rc;
    g->sim = kuberay_sim(rc->kuberay);
    make_nodes(g);
    g->pool = pool_create(&g->nodes);
    g->raylets = xcalloc(g->n_nodes ? g->n_nodes : 1, sizeof *g->raylets);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        g->raylets[i] = (struct raylet){.gcs = g, .node = i, .state = RAYLET_NONE, .joined_ns = -1, .dead_ns = -1};
        pool_node_down(g->pool, i);
    }
    g->pgs = pg_manager_create(g);
    g->look_base_ns = -1;
    return g;
}

void gcs_destroy(struct gcs *g)
{
    for (uint32_t i = 0; i < g->n_nodes; i++) event_cancel(g->sim->events, g->raylets[i].event);
    event_cancel(g->sim->events, g->event);
    event_cancel(g->sim->events, g->reconnect);
    pg_manager_destroy(g->pgs);
    pool_destroy(g->pool);
    free(g->nodes.groups);
    free(g->raylets);
    free(g);
}

/* ---- listeners ---- */

void gcs_listen(struct gcs *g, struct gcs_listener *l)
{
    l->next = NULL;
    if (g->last) g->last->next = l;
    else g->first = l;
    g->last = l;
}

void gcs_unlisten(struct gcs *g, struct gcs_listener *l)
{
    struct gcs_listener *before = NULL;
    for (struct gcs_listener *i = g->first; i; before = i, i = i->next) {
        if (i != l) continue;
        if (before) before->next = l->next;
        else g->first = l->next;
        if (g->last == l) g->last = before;
        return;
    }
}

static void tell(struct gcs *g, enum gcs_change c, struct raylet *r)
{
    for (struct gcs_listener *l = g->first, *next; l; l = next) {
        next = l->next;
        l->changed(l, c, r);
    }
}

/* ---- the coordinator ---- */

void gcs_look(struct gcs *g)
{
    if (g->look_base_ns < 0) g->look_base_ns = sim_now(g->sim);
}

static int64_t last_look(const struct gcs *g)
{
    int64_t now = sim_now(g->sim), every = stack_of(g)->ray_look;
    return every > 0 ? now - (now - g->look_base_ns) % every : now;
}

int64_t gcs_next_look(const struct gcs *g) { return last_look(g) + stack_of(g)->ray_look; }

bool gcs_counts(const struct raylet *r)
{
    int64_t at = last_look(r->gcs);
    bool ever = r->joined_ns >= 0, again = r->dead_ns >= 0 && r->dead_ns <= r->joined_ns; /* the node's second raylet */
    if (ever && r->joined_ns <= at) return r->dead_ns < r->joined_ns || r->dead_ns > at;
    return again && r->dead_ns > at;
}

uint32_t gcs_node_shares(const struct gcs *g, uint32_t node)
{
    uint32_t i = 0;
    while (node >= g->nodes.groups[i].first_node + g->nodes.groups[i].count) i++;
    return g->nodes.groups[i].gpus * SHARES_PER_GPU;
}

/* ---- raylets ---- */

static void after(struct raylet *r, int64_t ns, event_fn *fn)
{
    event_cancel(r->gcs->sim->events, r->event);
    r->event = event_after(r->gcs->sim->events, ns, EVENT_CONTROL, fn, r);
}

static void join(struct raylet *r)
{
    struct gcs *g = r->gcs;
    r->state = RAYLET_ALIVE;
    r->joined_ns = sim_now(g->sim);
    pool_node_up(g->pool, r->node);
    tell(g, GCS_JOINED, r);
    pg_capacity(g->pgs);
}

static void on_raylet_up(void *ctx, void *arg)
{
    (void)ctx;
    struct raylet *r = arg;
    r->event = EVENT_NONE;
    r->state = RAYLET_WAITING;
    if (r->gcs->up) join(r);
}

/* The GCS gives a stopped raylet up: what it ran is lost. */
static void bury(struct raylet *r)
{
    struct gcs *g = r->gcs;
    event_cancel(g->sim->events, r->event);
    r->event = EVENT_NONE;
    r->state = r->pod ? RAYLET_STARTING : RAYLET_NONE;
    r->dead_ns = sim_now(g->sim);
    pg_node_dead(g->pgs, r->node);
    tell(g, GCS_DEAD, r);
    pg_capacity(g->pgs);
}

static void on_noticed(void *ctx, void *arg)
{
    (void)ctx;
    struct raylet *r = arg;
    r->event = EVENT_NONE;
    bury(r);
}

static void stop(struct raylet *r, int64_t notice_ns)
{
    struct gcs *g = r->gcs;
    if (r->state == RAYLET_STOPPED) {
        if (notice_ns == 0) bury(r); /* the pod is deleted before the time-out */
        return;
    }
    if (r->state != RAYLET_ALIVE) {
        event_cancel(g->sim->events, r->event);
        r->event = EVENT_NONE;
        r->state = RAYLET_STARTING;
        return;
    }
    r->state = RAYLET_STOPPED;
    pool_node_down(g->pool, r->node);
    tell(g, GCS_STOPPED, r);
    if (r->state != RAYLET_STOPPED) return; /* a listener has seen to it */
    if (notice_ns == 0 || !g->up) bury(r);
    else after(r, notice_ns, on_noticed);
}

void gcs_worker_created(struct gcs *g, struct ray_pod *p)
{
    uint32_t first = g->nodes.groups[p->group].first_node, n = g->nodes.groups[p->group].count;
    for (uint32_t i = first; i < first + n; i++) {
        struct raylet *r = &g->raylets[i];
        if (r->state != RAYLET_NONE) continue;
        r->state = RAYLET_STARTING;
        r->pod = p;
        p->raylet = r;
        return;
    }
    assert(0 && "more workers than the group's maximum");
}

void gcs_worker_started(struct gcs *g, struct ray_pod *p)
{
    struct raylet *r = p->raylet;
    if (r->state == RAYLET_STOPPED) bury(r); /* the same address registers anew */
    r->state = RAYLET_STARTING;
    after(r, stack_of(g)->ray_start, on_raylet_up);
}

void gcs_worker_stopped(struct gcs *g, struct ray_pod *p, enum raylet_end end)
{
    const struct stack *st = stack_of(g);
    const int64_t notice_ns[] = {
        [RAYLET_DRAINED] = 0, [RAYLET_REFUSED] = st->ray_health_detect, [RAYLET_DROPPED] = st->ray_health_dropped};
    stop(p->raylet, notice_ns[end]);
}

void gcs_worker_gone(struct gcs *g, struct ray_pod *p)
{
    struct raylet *r = p->raylet;
    event_cancel(g->sim->events, r->event);
    r->event = EVENT_NONE;
    r->pod = NULL;
    p->raylet = NULL;
    if (r->state == RAYLET_STOPPED) bury(r);
    r->state = RAYLET_NONE;
}

/* ---- the head ---- */

/* A raylet ends by itself: it knows no GCS, or the GCS does not know it. The kubelet restarts its container. */
static void kill_raylets(struct gcs *g)
{
    if (!stack_of(g)->kr_dashboard) return; /* no Ray inside */
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        struct raylet *r = &g->raylets[i];
        if (r->pod && (r->state == RAYLET_ALIVE || r->state == RAYLET_STOPPED))
            kube_pod_exit(g->sim->kube, r->pod->pod, 1);
    }
}

static void on_reconnect_limit(void *ctx, void *arg)
{
    (void)ctx;
    struct gcs *g = arg;
    g->reconnect = EVENT_NONE;
    kill_raylets(g);
}

static void come_up(struct gcs *g)
{
    bool lost = g->generation > 0 && !g->cluster->spec.gcs_ft;
    event_cancel(g->sim->events, g->reconnect);
    g->reconnect = EVENT_NONE;
    g->up = true;
    if (lost) {
        kill_raylets(g);
        pg_forget_all(g->pgs);
    }
    pg_pause(g->pgs, false);
    tell(g, GCS_UP, NULL);
    for (struct ray_pod *p = g->cluster->first; p; p = p->next)
        if (!p->head) kube_pod_init_done(g->sim->kube, p->pod);
    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (g->raylets[i].state == RAYLET_WAITING) join(&g->raylets[i]);
}

static void on_head_up(void *ctx, void *arg)
{
    (void)ctx;
    struct gcs *g = arg;
    g->event = EVENT_NONE;
    come_up(g);
}

static void start(struct gcs *g)
{
    event_cancel(g->sim->events, g->event);
    g->event = event_after(g->sim->events, stack_of(g)->ray_start, EVENT_CONTROL, on_head_up, g);
}

static void go_down(struct gcs *g, bool driver)
{
    const struct stack *st = stack_of(g);
    event_cancel(g->sim->events, g->event);
    g->event = EVENT_NONE;
    if (!g->up) return;
    g->up = false;
    g->generation++;
    pg_pause(g->pgs, true);
    g->driver_lost = driver;
    int64_t limit = g->cluster->spec.gcs_ft ? st->ray_gcs_reconnect : st->ray_gcs_reconnect_plain;
    g->reconnect = event_after(g->sim->events, limit, EVENT_CONTROL, on_reconnect_limit, g);
    tell(g, GCS_DOWN, NULL);
}

void gcs_head_started(struct gcs *g)
{
    g->head_running = true;
    start(g);
}

void gcs_head_stopped(struct gcs *g)
{
    g->head_running = false;
    go_down(g, true);
}

void gcs_process_crashed(struct gcs *g)
{
    if (!g->head_running) return;
    if (!g->cluster->spec.gcs_ft) {
        kube_pod_exit(g->sim->kube, g->cluster->head->pod, 1); /* the container ends with its GCS */
        return;
    }
    go_down(g, false);
    start(g);
}
