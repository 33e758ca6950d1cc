/* save.c - see save.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/train/save.h"

#include <stdlib.h>
#include <string.h>

#include "base/detmath.h"
#include "base/mem.h"

static int64_t ns_of(double s) { return det_round(s * 1e9); }

/* Nodes on which the job stands when it is whole and packed. */
static uint32_t whole_nodes(const struct sim *s, const struct job *j, uint32_t gpus)
{
    const struct job_detail *d = job_detail_of(s, j);
    uint32_t most = 1;
    for (uint32_t g = 0; g < s->scenario->cluster.n_groups; g++)
        if (d->groups >> g & 1 && s->scenario->cluster.groups[g].gpus > most) most = s->scenario->cluster.groups[g].gpus;
    return (gpus + most - 1) / most;
}

void saves_init(struct sim *s, struct saves *v, const struct job *j, saves_fn *on_written)
{
    int64_t gpus = job_total_shares(s, j) / SHARES_PER_GPU;
    v->spec = &job_detail_of(s, j)->checkpoint;
    v->on_written = on_written;
    v->job = j;
    v->pending = -1;
    v->timer = EVENT_NONE;
    v->gpus = gpus > 0 ? (uint32_t)gpus : 1;
    if (v->spec->interval_ns == 0) return;
    struct checkpoint_times t = checkpoint_times_of(s->scenario, v->spec, v->gpus, whole_nodes(s, j, v->gpus));
    v->save_ns = ns_of(t.stall_s);
    v->background_ns = ns_of(t.background_s);
    v->load_ns = ns_of(t.load_s);
}

void saves_free(struct sim *s, struct saves *v)
{
    event_cancel(s->events, v->timer);
    net_transfer_stop(s, &v->write);
    net_transfer_stop(s, &v->read);
    free(v->on.v);
    free(v->durable_on.v);
}

/* ---- transfers ---- */

static bool is_local(const struct sim *s, const struct saves *v)
{
    return v->spec->storage != NO_STORAGE && s->scenario->cluster.storage[v->spec->storage].local;
}

static int by_number(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return (a > b) - (a < b);
}

/* The nodes once each, in order; the caller frees them. */
static uint32_t *distinct(const uint32_t *nodes, uint32_t n, uint32_t *n_out)
{
    uint32_t *v = xmalloc((n + 1) * sizeof *v), k = 0;
    memcpy(v, nodes, n * sizeof *v);
    qsort(v, n, sizeof *v, by_number);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || v[i] != v[k - 1]) v[k++] = v[i];
    *n_out = k;
    return v;
}

/* Of one connection, all processes of its node together. */
static int64_t limit_of(const struct saves *v, uint32_t connections)
{
    double processes = v->spec->sharded ? (double)v->gpus / connections : 1;
    double rate = v->spec->process_bytes_per_s * processes;
    return rate >= 1 && rate < 9e18 ? (int64_t)rate : FLOW_UNLIMITED;
}

/* Sharded, each node moves its part; else rank 0 writes all, and each node reads all. */
static bool transfer(struct sim *s, struct saves *v, struct net_transfer *t, enum net_direction d, const uint32_t *nodes,
                     uint32_t n, net_transfer_fn *end)
{
    struct net_path path = {0};
    uint32_t k;
    if (!s->network || n == 0 || is_local(s, v)) return false;
    free(distinct(nodes, n, &k));
    if (!v->spec->sharded && d == NET_UP) n = k = 1;
    int64_t bytes = v->spec->sharded ? (v->spec->size_bytes + k - 1) / k : v->spec->size_bytes;
    net_path_store(s, &path, nodes, n, v->spec->storage, d);
    bool started = net_transfer_start(s, t, &path, bytes, limit_of(v, k), end);
    net_path_free(&path);
    return started;
}

/* ---- saving ---- */

static void settle(struct saves *v)
{
    v->durable = v->pending;
    v->durable_begun_ns = v->begun_ns;
    v->pending = -1;
    free(v->durable_on.v);
    v->durable_on.v = v->on.v;
    v->durable_on.n = v->on.n;
    v->on.v = NULL;
}

/* One that was in the background is through. */
static void settle_late(struct sim *s, struct saves *v)
{
    event_cancel(s->events, v->timer);
    v->timer = EVENT_NONE;
    sim_record(s, REC_CHECKPOINT, v->job, 0, SAVE_WRITTEN, v->pending, v->spec->size_bytes);
    settle(v);
}

bool saves_underway(struct sim *s, struct saves *v)
{
    if (v->pending >= 0 && v->pending_ns <= sim_now(s)) settle_late(s, v);
    return v->pending >= 0;
}

static void on_timer(void *ctx, void *arg)
{
    struct saves *v = arg;
    v->timer = EVENT_NONE;
    saves_underway(ctx, v);
}

static struct saves *of_write(struct net_transfer *t)
{
    return (struct saves *)(void *)((char *)t - offsetof(struct saves, write));
}

static void on_written(struct sim *s, struct net_transfer *t)
{
    struct saves *v = of_write(t);
    if (v->pending >= 0) settle_late(s, v); /* it was in the background */
    v->on_written(s, v);
}

bool saves_write(struct sim *s, struct saves *v, const uint32_t *nodes, uint32_t n)
{
    v->begun_ns = sim_now(s);
    return v->spec->save_ns == FROM_SIZE && !v->spec->async && transfer(s, v, &v->write, NET_UP, nodes, n, on_written);
}

void saves_stop_write(struct sim *s, struct saves *v) { net_transfer_stop(s, &v->write); }

int64_t saves_written(struct sim *s, struct saves *v, int64_t step, const uint32_t *nodes, uint32_t n)
{
    v->pending = step;
    v->pending_ns = sim_now(s) + v->background_ns;
    if (is_local(s, v)) {
        free(v->on.v);
        v->on.v = distinct(nodes, n, &v->on.n);
    }
    if (v->spec->background_ns == FROM_SIZE && transfer(s, v, &v->write, NET_UP, nodes, n, on_written)) {
        v->pending_ns = INT64_MAX;
    } else if (v->background_ns > 0) {
        v->timer = event_at(s->events, v->pending_ns, EVENT_CONTROL, on_timer, v);
    } else {
        settle(v);
        return v->spec->size_bytes;
    }
    return 0;
}

void saves_drop(struct sim *s, struct saves *v)
{
    saves_underway(s, v);
    event_cancel(s->events, v->timer);
    v->timer = EVENT_NONE;
    net_transfer_stop(s, &v->write);
    v->pending = -1;
}

/* ---- loading ---- */

void saves_look(struct sim *s, struct saves *v, const uint32_t *nodes, uint32_t n)
{
    uint32_t k;
    if (v->durable == 0 || !is_local(s, v)) return;
    uint32_t *now = distinct(nodes, n, &k);
    bool there = k == v->durable_on.n && memcmp(now, v->durable_on.v, k * sizeof *now) == 0;
    for (uint32_t i = 0; i < k && there; i++) there = s->node_lost_ns[now[i]] < v->durable_begun_ns;
    free(now);
    if (!there) v->durable = 0;
}

static void on_read(struct sim *s, struct net_transfer *t)
{
    struct saves *v = (struct saves *)(void *)((char *)t - offsetof(struct saves, read));
    v->loaded(s, v->loaded_arg);
}

int64_t saves_load(struct sim *s, struct saves *v, const uint32_t *nodes, uint32_t n, event_fn *loaded, void *arg)
{
    if (v->durable == 0) return 0;
    v->loaded = loaded;
    v->loaded_arg = arg;
    if (v->spec->load_ns == FROM_SIZE && transfer(s, v, &v->read, NET_DOWN, nodes, n, on_read)) return SAVES_LOADING;
    return v->load_ns;
}

void saves_stop_load(struct sim *s, struct saves *v) { net_transfer_stop(s, &v->read); }
