/* scene_tracks.c - the tracks of GPUs: allocation groups that hold them, nodes that are down.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "base/mem.h"
#include "viz/model/scene_parts.h"

/* ---- spans ---- */

static bool continues(const struct scene_span *a, const struct scene_span *b)
{
    return a->to_ns == b->from_ns && a->job == b->job && a->shares == b->shares && a->show == b->show && a->cause == b->cause;
}

static void track_grow(struct scene_track *t)
{
    t->cap = t->cap + t->cap / 2 + 4;
    t->v = xreallocarray(t->v, t->cap, sizeof *t->v);
}

static void track_insert(struct scene_track *t, const struct scene_span *s)
{
    uint32_t i = t->n;
    if (t->n == t->cap) track_grow(t);
    while (i > 0 && t->v[i - 1].from_ns > s->from_ns) i--;
    memmove(t->v + i + 1, t->v + i, (t->n - i) * sizeof *t->v);
    t->v[i] = *s;
    t->n++;
}

void track_push(struct builder *b, struct scene_track *t, const struct scene_span *s)
{
    track_mark(t, s->from_ns);
    if (s->to_ns == OPEN_END) {
        track_insert(t, s);
        return;
    }
    if (t->n && continues(&t->v[t->n - 1], s)) {
        t->v[t->n - 1].to_ns = s->to_ns;
        return;
    }
    if (b->closed_spans == MAX_SPANS) {
        b->n_untold++;
        return;
    }
    b->closed_spans++;
    track_insert(t, s);
}

void track_cut_open(struct scene_track *t)
{
    uint32_t i = t->n;
    while (i > 0 && t->v[i - 1].to_ns != OPEN_END) i--;
    if (i == 0) return;
    memmove(t->v + i - 1, t->v + i, (t->n - i) * sizeof *t->v);
    t->n--;
}

static void change_show(struct builder *b, int64_t ns, int64_t shares, unsigned from, unsigned to)
{
    if (shares && from != to) array_push(&b->show_changes, (struct show_change){ns, (int32_t)shares, (uint8_t)from, (uint8_t)to});
}

/* ---- nodes that are down ---- */

static void push_down(struct builder *b, uint32_t track, int64_t to_ns)
{
    const struct gpu_now *g = &b->gpu_now[track];
    struct scene_span s = {g->down_since_ns, to_ns, NO_JOB, (uint16_t)g->down, (uint8_t)g->down_show, CAUSE_FIRST};
    track_push(b, &b->scene.tracks[SCENE_GPUS][track], &s);
}

static void lowest_may_be(struct builder *b, uint32_t track)
{
    for (uint32_t i = 0; i < b->n_groups; i++) {
        struct groups_now *g = &b->groups[i];
        if (track >= g->first_track && track < g->first_track + g->n_tracks && track < g->lowest) g->lowest = track;
    }
}

/* What is down of a GPU is what nobody holds of it while its node is down. */
static void settle_down(struct builder *b, uint32_t track)
{
    struct gpu_now *g = &b->gpu_now[track];
    unsigned show = b->node_show[g->node];
    unsigned down = show == SHOW_NOTHING ? 0 : 1000u - g->held;
    if (down == g->down && (!down || show == g->down_show)) return;
    if (g->down && b->now_ns > g->down_since_ns) push_down(b, track, b->now_ns);
    if (g->down) change_show(b, b->now_ns, g->down, g->down_show, SHOW_NOTHING);
    if (down) change_show(b, b->now_ns, down, SHOW_NOTHING, show);
    g->down = down & 0x7ff;
    g->down_show = (down ? show : SHOW_NOTHING) & 0xff;
    g->down_since_ns = b->now_ns;
    if (!down) lowest_may_be(b, track);
}

static void on_node(struct builder *b, const struct record *r)
{
    struct scene *s = &b->scene;
    bool up = r->code == ACT_FREE;
    bool down = r->code < N_ACTIVITIES && (activity_table[r->code].class == CLASS_DOWN || activity_table[r->code].class == CLASS_ABSENT);
    if (r->subject >= s->n_nodes || (!up && !down)) {
        b->n_strange++;
        return;
    }
    b->node_show[r->subject] = up ? SHOW_NOTHING : (uint8_t)r->code;
    const struct scene_node *n = &s->nodes[r->subject];
    for (uint32_t i = 0; i < n->n_gpus; i++) settle_down(b, n->first_gpu + i);
}

/* ---- holds ---- */

static uint64_t key_of(const struct record *r) { return (uint64_t)(uint32_t)r->job << 32 | r->subject; }

static struct hold *find(struct builder *b, const struct record *r)
{
    uint64_t i;
    return hmap_get_u64(&b->hold_of, key_of(r), &i) ? &b->holds.v[i] : NULL;
}

static void link_in(struct builder *b, uint32_t i)
{
    struct hold *h = &b->holds.v[i];
    h->next = h->prev = NO_HOLD;
    if (!builder_has_job(b, h->job)) return;
    struct job_now *j = &b->job_now.v[h->job];
    h->next = j->first_hold;
    if (h->next != NO_HOLD) b->holds.v[h->next].prev = i;
    j->first_hold = i;
}

static void link_out(struct builder *b, uint32_t i)
{
    const struct hold *h = &b->holds.v[i];
    if (h->next != NO_HOLD) b->holds.v[h->next].prev = h->prev;
    if (h->prev != NO_HOLD) b->holds.v[h->prev].next = h->next;
    else if (builder_has_job(b, h->job)) b->job_now.v[h->job].first_hold = h->next;
}

static struct hold *make(struct builder *b, const struct record *r)
{
    uint32_t i;
    if (b->spare.n) {
        i = array_pop(&b->spare);
    } else {
        i = (uint32_t)b->holds.n;
        array_push(&b->holds, (struct hold){0});
    }
    struct hold *h = &b->holds.v[i];
    h->key = key_of(r);
    h->job = builder_has_job(b, r->job) ? r->job : NO_JOB;
    h->since_ns = b->now_ns;
    h->shares = 0;
    h->show = h->told = SHOW_NOTHING;
    h->activity = h->cause = 0;
    link_in(b, i);
    hmap_put_u64(&b->hold_of, h->key, i);
    return h;
}

static void push_held(struct builder *b, const struct hold *h, int64_t from_ns, int64_t to_ns, unsigned show)
{
    struct scene_span s = {from_ns, to_ns, h->job, 0, (uint8_t)show, h->cause};
    for (size_t i = 0; i < h->gpus.n; i++) {
        s.shares = h->gpus.v[i].shares;
        if (s.shares) track_push(b, &b->scene.tracks[SCENE_GPUS][h->gpus.v[i].track], &s);
    }
}

/* What it shows since since_ns. */
static void tell(struct builder *b, struct hold *h, unsigned show)
{
    change_show(b, h->since_ns, h->shares, h->told, show);
    h->told = (uint8_t)show;
}

/* What it did up to `to` is over. */
static void flush(struct builder *b, struct hold *h, int64_t to_ns, unsigned show)
{
    if (to_ns <= h->since_ns) return;
    tell(b, h, show);
    if (show != SHOW_NOTHING && h->shares) push_held(b, h, h->since_ns, to_ns, show);
    h->since_ns = to_ns;
}

static void enter(struct builder *b, struct hold *h, unsigned show, unsigned cause)
{
    if (h->show == show && h->cause == cause) return;
    flush(b, h, b->now_ns, h->show);
    h->show = (uint8_t)show;
    h->cause = (uint8_t)cause;
}

/* ---- groups that lie on what a group of no job holds ---- */

static bool is_pool(const struct hold *h) { return (int32_t)(h->key >> 32) == NO_JOB; }

/* Takes shares of a GPU from the group that has it for all, or gives them back (< 0). */
static bool lend(struct builder *b, uint32_t track, int32_t shares)
{
    struct hold *pool = &b->holds.v[b->gpu_now[track].pool];
    for (size_t i = 0; i < pool->gpus.n; i++) {
        struct hold_gpu *g = &pool->gpus.v[i];
        if (g->track != track) continue;
        if (shares > g->shares) return false;
        flush(b, pool, b->now_ns, pool->show);
        g->shares = (uint16_t)(g->shares - shares);
        pool->shares -= shares;
        change_show(b, pool->since_ns, shares, pool->told, SHOW_NOTHING);
        return true;
    }
    return false;
}

/* Never more than a GPU has. */
static void add_gpu(struct builder *b, struct hold *h, uint32_t track, uint32_t shares)
{
    struct gpu_now *g = &b->gpu_now[track];
    if (g->pool != NO_HOLD && !is_pool(h)) {
        if (!shares || !lend(b, track, (int32_t)shares)) {
            b->n_strange++;
            return;
        }
        array_push(&h->gpus, (struct hold_gpu){track, (uint16_t)shares});
        change_show(b, h->since_ns, shares, SHOW_NOTHING, h->told);
        h->shares += shares;
        return;
    }
    if (shares == 0 || shares > 1000u - g->held) {
        b->n_strange++;
        return;
    }
    g->held = (g->held + shares) & 0x7ff;
    if (is_pool(h)) g->pool = (uint32_t)(h - b->holds.v);
    settle_down(b, track);
    array_push(&h->gpus, (struct hold_gpu){track, (uint16_t)shares});
    change_show(b, h->since_ns, shares, SHOW_NOTHING, h->told);
    h->shares += shares;
}

static void add_on_nodes(struct builder *b, struct hold *h, const struct record *r)
{
    const struct scene *s = &b->scene;
    uint32_t first = (uint32_t)r->a;
    uint64_t end = (uint64_t)first + (uint32_t)(r->a >> 32), mask = (uint64_t)r->b;
    if (mask == 0) return;
    if (end > s->n_nodes || r->code > 1000) {
        b->n_strange++;
        return;
    }
    for (uint64_t n = first; n < end; n++)
        for (uint64_t left = mask; left; left &= left - 1) {
            uint32_t bit = (uint32_t)__builtin_ctzll(left);
            if (bit < s->nodes[n].n_gpus) add_gpu(b, h, s->nodes[n].first_gpu + bit, r->code ? r->code : 1000);
            else b->n_strange++;
        }
}

/* ---- groups that were counted only: they get GPUs here, the lowest that are free ---- */

static bool fits(const struct builder *b, uint32_t track, uint32_t shares, bool also_down)
{
    const struct gpu_now *g = &b->gpu_now[track];
    if (!also_down && g->down) return false;
    return shares == 1000 ? g->held == 0 : g->held + shares <= 1000;
}

static bool add_lowest(struct builder *b, struct hold *h, struct groups_now *g, uint32_t shares, bool also_down)
{
    uint32_t end = g->first_track + g->n_tracks, t = also_down || shares < 1000 ? g->first_track : g->lowest;
    while (t < end && !fits(b, t, shares, also_down)) t++;
    if (shares == 1000 && !also_down) g->lowest = t;
    if (t == end) return false;
    add_gpu(b, h, t, shares);
    return true;
}

static void add_counted(struct builder *b, struct hold *h, uint32_t group, int64_t shares)
{
    while (group < b->n_groups && shares > 0) {
        uint32_t part = shares > 1000 ? 1000 : (uint32_t)shares;
        if (!add_lowest(b, h, &b->groups[group], part, false) && !add_lowest(b, h, &b->groups[group], part, true)) break;
        shares -= part;
    }
    if (shares) b->n_strange++;
}

static void on_nodes(struct builder *b, const struct record *r)
{
    struct hold *h = find(b, r);
    if (!h) h = make(b, r);
    flush(b, h, b->now_ns, h->show);
    if (r->a >> 32) add_on_nodes(b, h, r);
    else add_counted(b, h, (uint32_t)r->a, r->b);
}

/* ---- states ---- */

static void on_state(struct builder *b, const struct record *r)
{
    unsigned activity = r->code & 0xff, cause = r->code >> 8;
    struct hold *h = find(b, r);
    if (!h) return; /* it holds no GPU */
    if (activity >= N_ACTIVITIES || cause >= N_CAUSES ||
        (activity_table[activity].class != CLASS_HELD && activity_table[activity].class != CLASS_WORK)) {
        b->n_strange++;
        return;
    }
    h->activity = (uint8_t)activity;
    enter(b, h, activity_table[activity].class == CLASS_WORK ? SHOW_WORK : activity, cause);
}

static void let_go(struct builder *b, const struct hold *h, const struct hold_gpu *gpu)
{
    struct gpu_now *g = &b->gpu_now[gpu->track];
    if (g->pool != NO_HOLD && !is_pool(h) && lend(b, gpu->track, -(int32_t)gpu->shares)) return;
    if (g->pool == (uint32_t)(h - b->holds.v)) g->pool = NO_HOLD;
    g->held = (g->held - gpu->shares) & 0x7ffu;
    lowest_may_be(b, gpu->track);
    settle_down(b, gpu->track);
}

static void on_freed(struct builder *b, const struct record *r)
{
    struct hold *h = find(b, r);
    if (!h) return;
    flush(b, h, b->now_ns, h->show);
    for (size_t i = 0; i < h->gpus.n; i++) let_go(b, h, &h->gpus.v[i]);
    tell(b, h, SHOW_NOTHING);
    array_clear(&h->gpus);
    h->show = SHOW_NOTHING;
    uint32_t index = (uint32_t)(h - b->holds.v);
    link_out(b, index);
    hmap_del_u64(&b->hold_of, h->key);
    array_push(&b->spare, index);
}

void tracks_record(struct builder *b, const struct record *r)
{
    if (r->type == REC_GROUP_NODES) on_nodes(b, r);
    else if (r->type == REC_GROUP_STATE) on_state(b, r);
    else if (r->type == REC_GROUP_FREED) on_freed(b, r);
    else if (r->type == REC_NODE_STATE) on_node(b, r);
}

void tracks_start(struct builder *b, int32_t job)
{
    struct hold *h;
    for (uint32_t i = b->job_now.v[job].first_hold; i != NO_HOLD; i = h->next) {
        h = &b->holds.v[i];
        if (h->activity == ACT_RENDEZVOUS || h->activity == ACT_CHECKPOINT_LOAD) enter(b, h, SHOW_WORK, h->cause);
    }
}

void tracks_turn(struct builder *b, int32_t job, int64_t from_ns, int64_t to_ns, unsigned show)
{
    struct hold *h;
    for (uint32_t i = b->job_now.v[job].first_hold; i != NO_HOLD; i = h->next) {
        h = &b->holds.v[i];
        if (h->show != SHOW_WORK) continue;
        flush(b, h, from_ns, SHOW_WORK);
        flush(b, h, to_ns, show);
    }
}

/* ---- the end of a reading ---- */

static void open_hold(struct builder *b, struct hold *h)
{
    bool growing = b->scene.growing;
    tell(b, h, h->show);
    if (h->show == SHOW_NOTHING || h->since_ns >= b->scene.end_ns) return;
    push_held(b, h, h->since_ns, growing ? OPEN_END : b->scene.end_ns, h->show);
    for (size_t i = 0; growing && i < h->gpus.n; i++) array_push(&b->opened, h->gpus.v[i].track);
}

void tracks_open(struct builder *b)
{
    for (size_t i = 0; i < b->holds.n; i++) open_hold(b, &b->holds.v[i]);
    for (uint32_t t = 0; t < b->scene.n_tracks[SCENE_GPUS]; t++) {
        if (!b->gpu_now[t].down || b->gpu_now[t].down_since_ns >= b->scene.end_ns) continue;
        push_down(b, t, b->scene.growing ? OPEN_END : b->scene.end_ns);
        if (b->scene.growing) array_push(&b->opened, t);
    }
}

void tracks_shut(struct builder *b)
{
    for (size_t i = 0; i < b->opened.n; i++) track_cut_open(&b->scene.tracks[SCENE_GPUS][b->opened.v[i]]);
    array_clear(&b->opened);
}
