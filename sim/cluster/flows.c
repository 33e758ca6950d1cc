/* flows.c - see flows.h.
 *
 * A pass takes the rates of all flows outside a set as given and fills what is left for those in the set. It starts from
 * what changed; a link with flows inside and outside then calls its outside flows in, when its share no longer stands:
 *
 *   - it held a flow of the set back, and a lane outside is faster, or
 *   - it holds a flow outside back, and a rate inside changed.
 *
 * It calls those that it holds back, and the faster ones.
 *
 * When no link calls, each flow is at its want or at its fair share of a full link, which is max-min fairness.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/cluster/flows.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"

typedef __int128 wide;

struct member { uint32_t flow, use; }; /* of a link: a flow, and the place of the link in it */

struct link {
    int64_t capacity, load;  /* load: kept while it is tight */
    bool tight;              /* its flows could fill it, or it holds one back; the others are never looked at */
    wide most;               /* load if each flow had its cap */
    ARRAY(struct member) members;
    uint32_t bound;          /* flows that it holds back */
    /* of a pass */
    uint64_t pass;
    int64_t left, level, held_level; /* open capacity; key in the heap; level at which it held flows back, -1: it did not */
    uint64_t lanes;          /* open */
    uint32_t inside, bound_inside;
};

struct use { uint32_t link, lanes, at; /* in the link's members */ };

struct flow {
    struct use *uses;        /* those of tight links first */
    uint32_t n, n_tight, bottleneck, next_bottleneck;
    int64_t want, cap, rate, next; /* cap: want, or what its links can carry for it alone */
    uint64_t set;            /* solve in which it is in the set */
    bool live, open, dirty;
};

struct capped { int64_t cap; uint32_t flow; };

struct flows {
    struct link *links;
    uint32_t n_links;
    ARRAY(struct flow) flows;
    ARRAY(uint32_t) spare, set, touched, calling, looks, heap, changed, dirty_flows, dirty_links;
    ARRAY(struct capped) by_cap;
    uint64_t solve, pass, work;
};

/* ---- links and flows ---- */

struct flows *flows_create(const int64_t *capacity, uint32_t n_links)
{
    struct flows *f = xcalloc(1, sizeof *f);
    f->links = xcalloc(n_links + 1, sizeof *f->links);
    f->n_links = n_links;
    for (uint32_t i = 0; i < n_links; i++) f->links[i].capacity = capacity[i];
    return f;
}

void flows_destroy(struct flows *f)
{
    if (!f) return;
    for (uint32_t i = 0; i < f->n_links; i++) array_free(&f->links[i].members);
    for (size_t i = 0; i < f->flows.n; i++) free(f->flows.v[i].uses);
    array_free(&f->flows);
    array_free(&f->spare);
    array_free(&f->set);
    array_free(&f->touched);
    array_free(&f->calling);
    array_free(&f->looks);
    array_free(&f->heap);
    array_free(&f->changed);
    array_free(&f->dirty_flows);
    array_free(&f->dirty_links);
    array_free(&f->by_cap);
    free(f->links);
    free(f);
}

static void mark(struct flows *f, uint32_t flow)
{
    struct flow *w = &f->flows.v[flow];
    if (w->dirty) return;
    w->dirty = true;
    array_push(&f->dirty_flows, flow);
}

static int64_t sum_of_loads(const struct flows *f, const struct link *l)
{
    int64_t sum = 0;
    for (size_t i = 0; i < l->members.n; i++) {
        const struct flow *w = &f->flows.v[l->members.v[i].flow];
        sum += w->rate * w->uses[l->members.v[i].use].lanes;
    }
    return sum;
}

static void swap_uses(struct flows *f, struct flow *w, uint32_t i, uint32_t k)
{
    struct use was = w->uses[i];
    w->uses[i] = w->uses[k];
    w->uses[k] = was;
    f->links[w->uses[i].link].members.v[w->uses[i].at].use = i;
    f->links[w->uses[k].link].members.v[w->uses[k].at].use = k;
}

static void put_first(struct flows *f, struct flow *w, uint32_t use) { swap_uses(f, w, use, w->n_tight++); }
static void put_last(struct flows *f, struct flow *w, uint32_t use) { swap_uses(f, w, use, --w->n_tight); }

/* A link becomes tight, or no longer is. */
static void look(struct flows *f, uint32_t link)
{
    struct link *l = &f->links[link];
    bool tight = l->most > l->capacity || l->bound > 0;
    if (tight == l->tight) return;
    l->tight = tight;
    if (tight) l->load = sum_of_loads(f, l);
    for (size_t i = 0; i < l->members.n; i++)
        (tight ? put_first : put_last)(f, &f->flows.v[l->members.v[i].flow], l->members.v[i].use);
}

/* Sets the cap, and with it what the links could have to carry. */
static void set_cap(struct flows *f, struct flow *w, int64_t want)
{
    int64_t cap = want;
    array_clear(&f->looks);
    for (uint32_t i = 0; i < w->n; i++) {
        int64_t most = f->links[w->uses[i].link].capacity / w->uses[i].lanes;
        if (most < cap) cap = most;
    }
    for (uint32_t i = 0; i < w->n; i++) {
        f->links[w->uses[i].link].most += (wide)(cap - w->cap) * w->uses[i].lanes;
        array_push(&f->looks, w->uses[i].link);
    }
    for (size_t i = 0; i < f->looks.n; i++) look(f, f->looks.v[i]); /* which moves the uses about */
    w->want = want;
    w->cap = cap;
}

static void attach(struct flows *f, uint32_t flow, const struct flow_use *uses, uint32_t n)
{
    struct flow *w = &f->flows.v[flow];
    w->uses = xmalloc((n ? n : 1) * sizeof *w->uses);
    w->n = n;
    for (uint32_t i = 0; i < n; i++) {
        struct link *l = &f->links[uses[i].link];
        assert(uses[i].link < f->n_links && uses[i].lanes > 0);
        w->uses[i] = (struct use){uses[i].link, uses[i].lanes, (uint32_t)l->members.n};
        array_push(&l->members, (struct member){flow, i});
    }
    for (uint32_t i = 0; i < n; i++)
        if (f->links[w->uses[i].link].tight) put_first(f, w, i);
}

static void detach(struct flows *f, const struct use *u)
{
    struct link *l = &f->links[u->link];
    struct member last = array_pop(&l->members);
    if (u->at == l->members.n) return;
    l->members.v[u->at] = last;
    f->flows.v[last.flow].uses[last.use].at = u->at;
}

uint32_t flows_add(struct flows *f, const struct flow_use *uses, uint32_t n, int64_t want)
{
    uint32_t flow = f->spare.n ? array_pop(&f->spare) : (uint32_t)f->flows.n;
    assert(want >= 0 && (n || want < FLOW_UNLIMITED));
    if (flow == f->flows.n) (void)array_add(&f->flows);
    bool dirty = f->flows.v[flow].dirty; /* still on the list from the flow that had this id */
    f->flows.v[flow] = (struct flow){.bottleneck = NO_LINK, .live = true, .dirty = dirty};
    attach(f, flow, uses, n);
    set_cap(f, &f->flows.v[flow], want);
    mark(f, flow);
    return flow;
}

void flows_remove(struct flows *f, uint32_t flow)
{
    struct flow *w = &f->flows.v[flow];
    assert(w->live);
    for (uint32_t i = 0; i < w->n; i++) {
        struct link *l = &f->links[w->uses[i].link];
        l->load -= w->rate * w->uses[i].lanes;
        l->most -= (wide)w->cap * w->uses[i].lanes;
        if (w->bottleneck == w->uses[i].link) l->bound--;
        detach(f, &w->uses[i]);
        look(f, w->uses[i].link);
        if (l->bound) array_push(&f->dirty_links, w->uses[i].link);
    }
    free(w->uses);
    w->uses = NULL;
    w->n = 0;
    w->live = false;
    array_push(&f->spare, flow);
}

void flows_want(struct flows *f, uint32_t flow, int64_t want)
{
    struct flow *w = &f->flows.v[flow];
    assert(w->live && want >= 0);
    if (w->want == want) return;
    set_cap(f, w, want);
    mark(f, flow);
}

void flows_set_capacity(struct flows *f, uint32_t link, int64_t capacity)
{
    struct link *l = &f->links[link];
    assert(capacity >= 0);
    if (l->capacity == capacity) return;
    l->capacity = capacity;
    look(f, link);
    for (size_t i = 0; i < l->members.n; i++) {
        struct flow *w = &f->flows.v[l->members.v[i].flow];
        set_cap(f, w, w->want);
        mark(f, l->members.v[i].flow);
    }
}

/* ---- the set ---- */

static void join(struct flows *f, uint32_t flow)
{
    struct flow *w = &f->flows.v[flow];
    if (!w->live || w->set == f->solve) return;
    w->set = f->solve;
    array_push(&f->set, flow);
}

/* Those that a link holds back, and those that are faster than what it can give a lane now. The others do not feel it. */
static void join_concerned(struct flows *f, uint32_t link, int64_t level)
{
    const struct link *l = &f->links[link];
    f->work += l->members.n;
    for (size_t i = 0; i < l->members.n; i++) {
        const struct flow *w = &f->flows.v[l->members.v[i].flow];
        if (w->bottleneck == link || w->rate > level) join(f, l->members.v[i].flow);
    }
}

static void seed(struct flows *f)
{
    f->solve++;
    array_clear(&f->set);
    for (size_t i = 0; i < f->dirty_flows.n; i++) {
        f->flows.v[f->dirty_flows.v[i]].dirty = false;
        join(f, f->dirty_flows.v[i]);
    }
    for (size_t i = 0; i < f->dirty_links.n; i++) join_concerned(f, f->dirty_links.v[i], INT64_MAX);
    array_clear(&f->dirty_flows);
    array_clear(&f->dirty_links);
}

/* ---- a pass: what is open ---- */

static void touch(struct flows *f, uint32_t link)
{
    struct link *l = &f->links[link];
    if (l->pass == f->pass) return;
    l->pass = f->pass;
    l->left = l->capacity - l->load;
    l->lanes = 0;
    l->inside = l->bound_inside = 0;
    l->held_level = -1;
    array_push(&f->touched, link);
}

static void open_flow(struct flows *f, struct flow *w)
{
    w->open = true;
    f->work += w->n_tight;
    for (const struct use *u = w->uses, *end = u + w->n_tight; u < end; u++) {
        struct link *l = &f->links[u->link];
        touch(f, u->link);
        l->left += w->rate * u->lanes;
        l->lanes += u->lanes;
        l->inside++;
        l->bound_inside += w->bottleneck == u->link;
    }
}

static int64_t level_of(const struct link *l)
{
    return l->left <= 0 ? 0 : (int64_t)((uint64_t)l->left / l->lanes);
}

/* ---- a heap of links by level, then number; levels only rise, so a key is at most too low ---- */

static bool before(const struct flows *f, uint32_t a, uint32_t b)
{
    int64_t x = f->links[a].level, y = f->links[b].level;
    return x != y ? x < y : a < b;
}

static void sift_down(struct flows *f, size_t i)
{
    uint32_t moving = f->heap.v[i];
    for (size_t child; (child = 2 * i + 1) < f->heap.n; i = child) {
        if (child + 1 < f->heap.n && before(f, f->heap.v[child + 1], f->heap.v[child])) child++;
        if (!before(f, f->heap.v[child], moving)) break;
        f->heap.v[i] = f->heap.v[child];
    }
    f->heap.v[i] = moving;
}

static void build_heap(struct flows *f)
{
    array_clear(&f->heap);
    for (size_t i = 0; i < f->touched.n; i++) {
        f->links[f->touched.v[i]].level = level_of(&f->links[f->touched.v[i]]);
        array_push(&f->heap, f->touched.v[i]);
    }
    for (size_t i = f->heap.n / 2; i-- > 0;) sift_down(f, i);
}

/* The link with the lowest level, or NULL when all flows in it are closed. */
static struct link *lowest(struct flows *f)
{
    while (f->heap.n) {
        struct link *l = &f->links[f->heap.v[0]];
        int64_t level = l->lanes ? level_of(l) : 0;
        if (l->lanes && level == l->level) return l;
        if (l->lanes) l->level = level;
        else f->heap.v[0] = array_pop(&f->heap);
        if (f->heap.n) sift_down(f, 0);
    }
    return NULL;
}

/* ---- filling ---- */

static void close_flow(struct flows *f, struct flow *w, int64_t rate, uint32_t bottleneck)
{
    w->open = false;
    w->next = rate;
    w->next_bottleneck = bottleneck;
    for (const struct use *u = w->uses, *end = u + w->n_tight; u < end; u++) {
        f->links[u->link].left -= rate * u->lanes;
        f->links[u->link].lanes -= u->lanes;
    }
}

static void hold_back(struct flows *f, struct link *l)
{
    int64_t level = l->level;
    l->held_level = level;
    f->work += l->members.n;
    for (size_t i = 0; i < l->members.n; i++) {
        struct flow *w = &f->flows.v[l->members.v[i].flow];
        if (w->open) close_flow(f, w, level, (uint32_t)(l - f->links));
    }
}

static int by_cap(const void *x, const void *y)
{
    const struct capped *a = x, *b = y;
    if (a->cap != b->cap) return (a->cap > b->cap) - (a->cap < b->cap);
    return (a->flow > b->flow) - (a->flow < b->flow);
}

static void sort_caps(struct flows *f)
{
    array_clear(&f->by_cap);
    for (size_t i = 0; i < f->set.n; i++) array_push(&f->by_cap, (struct capped){f->flows.v[f->set.v[i]].cap, f->set.v[i]});
    array_sort(&f->by_cap, by_cap);
}

static void fill(struct flows *f)
{
    size_t i = 0;
    build_heap(f);
    sort_caps(f);
    for (;;) {
        while (i < f->by_cap.n && !f->flows.v[f->by_cap.v[i].flow].open) i++;
        if (i == f->by_cap.n) return;
        struct link *l = lowest(f);
        struct flow *w = &f->flows.v[f->by_cap.v[i].flow];
        if (!l || w->cap <= l->level) close_flow(f, w, w->cap, NO_LINK);
        else hold_back(f, l);
    }
}

/* ---- whom a pass calls in ---- */

static bool faster_outside(const struct flows *f, const struct link *l)
{
    if (l->held_level < 0) return false;
    for (size_t i = 0; i < l->members.n; i++) {
        const struct flow *w = &f->flows.v[l->members.v[i].flow];
        if (w->set != f->solve && w->rate > l->held_level) return true;
    }
    return false;
}

static bool moved_inside(const struct flows *f, const struct link *l)
{
    if (l->bound == l->bound_inside) return false;
    for (size_t i = 0; i < l->members.n; i++) {
        const struct flow *w = &f->flows.v[l->members.v[i].flow];
        if (w->set == f->solve && w->next != w->rate) return true;
    }
    return false;
}

static bool call_in(struct flows *f)
{
    size_t n = f->set.n;
    for (size_t i = 0; i < f->touched.n; i++) {
        const struct link *l = &f->links[f->touched.v[i]];
        if (l->inside == l->members.n || !(faster_outside(f, l) || moved_inside(f, l))) continue;
        array_push(&f->calling, f->touched.v[i]);
    }
    for (; f->calling.n; (void)array_pop(&f->calling)) {
        uint32_t link = array_last(&f->calling);
        join_concerned(f, link, f->links[link].held_level < 0 ? INT64_MAX : f->links[link].held_level);
    }
    return f->set.n > n;
}

/* ---- the outcome ---- */

static void apply(struct flows *f, uint32_t flow)
{
    struct flow *w = &f->flows.v[flow];
    if (w->bottleneck != w->next_bottleneck) {
        if (w->bottleneck != NO_LINK) f->links[w->bottleneck].bound--, look(f, w->bottleneck);
        if (w->next_bottleneck != NO_LINK) f->links[w->next_bottleneck].bound++, look(f, w->next_bottleneck);
        w->bottleneck = w->next_bottleneck;
    }
    if (w->next == w->rate) return;
    for (const struct use *u = w->uses, *end = u + w->n_tight; u < end; u++)
        f->links[u->link].load += (w->next - w->rate) * u->lanes;
    w->rate = w->next;
    array_push(&f->changed, flow);
}

void flows_solve(struct flows *f)
{
    array_clear(&f->changed);
    if (!f->dirty_flows.n && !f->dirty_links.n) return;
    seed(f);
    do {
        f->pass++;
        array_clear(&f->touched);
        for (size_t i = 0; i < f->set.n; i++) open_flow(f, &f->flows.v[f->set.v[i]]);
        fill(f);
    } while (call_in(f));
    for (size_t i = 0; i < f->set.n; i++) apply(f, f->set.v[i]);
}

/* ---- reading ---- */

size_t flows_n_changed(const struct flows *f) { return f->changed.n; }
uint32_t flows_changed(const struct flows *f, size_t i) { return f->changed.v[i]; }
int64_t flows_rate(const struct flows *f, uint32_t flow) { return f->flows.v[flow].rate; }
int64_t flows_load(const struct flows *f, uint32_t link) { return sum_of_loads(f, &f->links[link]); }
int64_t flows_capacity(const struct flows *f, uint32_t link) { return f->links[link].capacity; }
uint64_t flows_work(const struct flows *f) { return f->work; }
