/* curves.c - see curves.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/model/curves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/change_sort.h"
#include "base/mem.h"
#include "study/series.h"
#include "viz/model/scene_parts.h"

enum { BLOCK = 64 };

/* Of BLOCK steps in a row, up to the first of the next block. */
struct block {
    __int128 integral;
    int64_t least, most;
};

/* A curve as its changes say: from a moment on it has a step's value, `by`; before the first it is 0. Moments rise. At the run's end
 * it is cut: it is 0 from there. */
struct steps {
    ARRAY(struct change) v;
    ARRAY(struct block) blocks; /* of whole blocks with one behind */
    ARRAY(struct change) news;  /* what is added at moments, in any order */
    struct change behind;       /* the step at the run's end, which the cut hides */
    bool cut, hides;            /* cut: the last of v is the cut */
};

struct curves {
    const struct scene *scene;
    uint64_t generation;
    size_t show_changes, job_changes; /* of the scene's, that are in */
    bool bytes;                       /* ditto */
    struct steps of[N_CURVES];        /* goodput is that of SHOW_WORK over what exists */
    bool known[N_CURVES];
};

static const struct curve_info infos[] = {
    [CURVE_QUEUED_JOBS] = {"queued_jobs", "Jobs that wait", "jobs"},
    [CURVE_QUEUED_SHARES] = {"queued_gpus", "GPUs that are waited for", "shares"},
    [CURVE_RUNNING_JOBS] = {"running_jobs", "Jobs that run", "jobs"},
    [CURVE_IDLE_SHARES] = {"idle_gpus", "GPUs that nobody holds", "shares"},
    [CURVE_EXISTING_SHARES] = {"existing_gpus", "GPUs that exist", "shares"},
    [CURVE_GOODPUT] = {"goodput", "Work that is kept, of existing GPUs", "ratio"},
    [CURVE_NETWORK_BYTES] = {"network", "Between nodes", "bytes/s"},
    [CURVE_STORE_BYTES] = {"store", "From and to stores", "bytes/s"},
};

struct curve_info curve_info(unsigned id)
{
    if (id < CURVE_SHOW) return infos[id];
    return (struct curve_info){show_name(id - CURVE_SHOW), show_help(id - CURVE_SHOW), "shares"};
}

/* ---- what is new ---- */

static void change(struct curves *c, unsigned id, int64_t ns, int64_t by)
{
    struct steps *s = &c->of[id];
    if (by == 0) return;
    if (s->news.n && array_last(&s->news).ns == ns) array_last(&s->news).by += by;
    else array_push(&s->news, (struct change){ns, by});
}

static void during(struct curves *c, unsigned id, int64_t from_ns, int64_t to_ns, int64_t by)
{
    if (to_ns <= from_ns) return;
    change(c, id, from_ns, by);
    change(c, id, to_ns, -by);
}

static void of_gpus(struct curves *c)
{
    const struct builder *b = builder_of(c->scene);
    for (; c->show_changes < b->show_changes.n; c->show_changes++) {
        const struct show_change *x = &b->show_changes.v[c->show_changes];
        if (x->from != SHOW_NOTHING) change(c, CURVE_SHOW + x->from, x->ns, -(int64_t)x->shares);
        if (x->to != SHOW_NOTHING) change(c, CURVE_SHOW + x->to, x->ns, x->shares);
        change(c, CURVE_IDLE_SHARES, x->ns, ((x->to == SHOW_NOTHING) - (x->from == SHOW_NOTHING)) * (int64_t)x->shares);
    }
}

static void of_jobs(struct curves *c)
{
    const struct builder *b = builder_of(c->scene);
    for (; c->job_changes < b->job_changes.n; c->job_changes++) {
        const struct job_change *x = &b->job_changes.v[c->job_changes];
        change(c, CURVE_QUEUED_JOBS, x->ns, x->waits);
        change(c, CURVE_QUEUED_SHARES, x->ns, x->shares);
        change(c, CURVE_RUNNING_JOBS, x->ns, x->runs);
    }
}

/* Bytes go at an even pace; what takes no time cannot be shown. */
static void move(struct curves *c, unsigned id, int64_t from_ns, int64_t to_ns, double bytes)
{
    if (to_ns <= from_ns) return;
    double pace = round(bytes * 1e9 / ((double)to_ns - (double)from_ns));
    if (pace > 0 && pace < 1e18) during(c, id, from_ns, to_ns, (int64_t)pace);
}

/* What jobs' steps read and send. */
static void of_steps(struct curves *c)
{
    struct series s = {0};
    char *err = NULL;
    if (!series_read(c->scene->run, &s, &err)) {
        free(err);
        return;
    }
    for (size_t i = 0; i < s.progress.spans.n; i++) {
        const struct progress_span *p = &s.progress.spans.v[i];
        if ((size_t)p->job >= s.n_jobs) continue;
        double steps = (double)(p->last - p->first);
        move(c, CURVE_NETWORK_BYTES, p->from_ns, p->to_ns, s.jobs[p->job].network_bytes * steps);
        move(c, CURVE_STORE_BYTES, p->from_ns, p->to_ns, s.jobs[p->job].read_bytes * steps);
    }
    series_free(&s);
}

/* What checkpoints write: while the ranks stand still, or in the background since then. The next may begin before that is through. */
static void of_saves(struct curves *c)
{
    const struct scene *s = c->scene;
    for (uint32_t j = 0; j < s->n_jobs; j++) {
        int64_t begun = -1, left = -1;
        for (uint32_t i = 0; i < s->jobs[j].n_events; i++) {
            const struct record *r = &s->events[s->by_job[s->jobs[j].first_event + i]];
            if (r->type != REC_CHECKPOINT) continue;
            if (r->code == SAVE_LEAVES && begun >= 0 && r->b > 0) move(c, CURVE_STORE_BYTES, begun, r->time_ns, (double)r->b);
            if (r->code == SAVE_WRITTEN && left >= 0 && r->b > 0) move(c, CURVE_STORE_BYTES, left, r->time_ns, (double)r->b);
            if (r->code == SAVE_BEGINS) begun = r->time_ns;
            if (r->code == SAVE_LEAVES) left = r->time_ns;
        }
    }
}

/* ---- into the curve ---- */

static void put(struct steps *s, int64_t ns, int64_t value)
{
    if (value != (s->v.n ? array_last(&s->v).by : 0)) array_push(&s->v, (struct change){ns, value});
}

/* News in order, one a moment; those that add nothing are left out. */
static void settle_news(struct steps *s)
{
    struct change *v = s->news.v;
    size_t n = 0;
    change_sort(v, s->news.n);
    for (size_t i = 0; i < s->news.n; i++) {
        if (n && v[n - 1].ns == v[i].ns) v[n - 1].by += v[i].by;
        else if (n && v[n - 1].by == 0) v[n - 1] = v[i];
        else v[n++] = v[i];
    }
    s->news.n = n && v[n - 1].by == 0 ? n - 1 : n;
}

static size_t first_at(const struct steps *s, int64_t ns)
{
    size_t low = 0, high = s->v.n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (s->v.v[mid].ns < ns) low = mid + 1;
        else high = mid;
    }
    return low;
}

/* Steps before the first moment that changes stay; those behind are laid anew. Gives the first of these. */
static size_t merge(struct steps *s)
{
    settle_news(s);
    if (!s->news.n) return s->v.n;
    const struct change *news = s->news.v;
    size_t first = first_at(s, news[0].ns), n = s->v.n - first, i = 0, k = 0;
    int64_t before = first ? s->v.v[first - 1].by : 0, added = 0;
    struct change *old = xmalloc((n + 1) * sizeof *old);
    if (n) memcpy(old, s->v.v + first, n * sizeof *old);
    s->v.n = first;
    while (i < n || k < s->news.n) {
        int64_t ns = k == s->news.n || (i < n && old[i].ns < news[k].ns) ? old[i].ns : news[k].ns;
        if (i < n && old[i].ns == ns) before = old[i++].by;
        if (k < s->news.n && news[k].ns == ns) added += news[k++].by;
        put(s, ns, before + added);
    }
    free(old);
    array_clear(&s->news);
    return first;
}

static void uncut(struct steps *s)
{
    if (s->cut) s->v.n--;
    if (s->hides) array_push(&s->v, s->behind);
    s->cut = s->hides = false;
}

static void cut(struct steps *s, int64_t end_ns)
{
    s->hides = s->v.n && array_last(&s->v).ns >= end_ns;
    if (s->hides) s->behind = array_pop(&s->v);
    s->cut = s->v.n && array_last(&s->v).by != 0;
    if (s->cut) array_push(&s->v, (struct change){end_ns, 0});
}

/* The blocks that a step from `first` on belongs to, or follows. */
static void block_up(struct steps *s, size_t first)
{
    size_t good = first ? (first - 1) / BLOCK : 0;
    if (s->blocks.n > good) s->blocks.n = good;
    for (size_t from = s->blocks.n * BLOCK; from + BLOCK < s->v.n; from += BLOCK) {
        const struct change *v = s->v.v + from;
        struct block b = {0, v->by, v->by};
        for (int i = 0; i < BLOCK; i++) {
            b.integral += (__int128)v[i].by * (v[i + 1].ns - v[i].ns);
            if (v[i].by < b.least) b.least = v[i].by;
            if (v[i].by > b.most) b.most = v[i].by;
        }
        array_push(&s->blocks, b);
    }
}

static void extend_steps(struct steps *s, int64_t end_ns)
{
    size_t kept = s->v.n - s->cut;
    uncut(s);
    size_t first = merge(s);
    cut(s, end_ns);
    block_up(s, first < kept ? first : kept);
}

static void find_known(struct curves *c)
{
    for (unsigned id = 0; id < N_CURVES; id++) {
        bool gpus = id >= CURVE_SHOW || id == CURVE_IDLE_SHARES || id == CURVE_GOODPUT;
        bool bytes = id == CURVE_NETWORK_BYTES || id == CURVE_STORE_BYTES;
        c->known[id] = gpus ? c->scene->has_gpus : bytes ? c->of[id].v.n > 0 : true;
    }
    for (unsigned show = SHOW_WAIT; show < N_SHOWS; show++) c->known[CURVE_SHOW + show] = false;
}

static void extend(struct curves *c)
{
    const struct scene *s = c->scene;
    of_gpus(c);
    of_jobs(c);
    if (!s->growing && s->has_timeline && !c->bytes) {
        of_steps(c);
        of_saves(c);
        c->bytes = true;
    }
    for (unsigned id = 0; id < N_CURVES; id++) extend_steps(&c->of[id], s->end_ns);
    find_known(c);
}

/* ---- making ---- */

static void begin(struct curves *c)
{
    const struct scene *s = c->scene;
    *c = (struct curves){.scene = s, .generation = s->generation};
    change(c, CURVE_EXISTING_SHARES, s->begin_ns, s->total_shares);
    change(c, CURVE_IDLE_SHARES, s->begin_ns, s->total_shares);
}

static void forget(struct curves *c)
{
    for (unsigned id = 0; id < N_CURVES; id++) {
        array_free(&c->of[id].v);
        array_free(&c->of[id].blocks);
        array_free(&c->of[id].news);
    }
}

struct curves *curves_create(const struct scene *s)
{
    struct curves *c = xcalloc(1, sizeof *c);
    c->scene = s;
    begin(c);
    extend(c);
    return c;
}

void curves_update(struct curves *c)
{
    if (c->generation != c->scene->generation) {
        forget(c);
        begin(c);
    }
    extend(c);
}

void curves_destroy(struct curves *c)
{
    if (!c) return;
    forget(c);
    free(c);
}

/* ---- asking ---- */

static const struct steps *steps_of(const struct curves *c, unsigned id)
{
    return &c->of[id == CURVE_GOODPUT ? CURVE_SHOW + SHOW_WORK : id];
}

static double unit_of(const struct curves *c, unsigned id)
{
    if (id != CURVE_GOODPUT) return 1;
    return c->scene->total_shares > 0 ? 1 / (double)c->scene->total_shares : 0;
}

bool curve_known(const struct curves *c, unsigned id) { return id < N_CURVES && c->known[id]; }

/* The step that holds at a moment; -1: before the first. */
static int64_t step_at(const struct steps *s, int64_t ns)
{
    size_t low = 0, high = s->v.n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (s->v.v[mid].ns <= ns) low = mid + 1;
        else high = mid;
    }
    return (int64_t)low - 1;
}

static int64_t value_of(const struct steps *s, int64_t i) { return i < 0 ? 0 : s->v.v[i].by; }

double curve_at(const struct curves *c, unsigned id, int64_t ns)
{
    const struct steps *s = steps_of(c, id);
    return (double)value_of(s, step_at(s, ns)) * unit_of(c, id);
}

/* Least, most and integral from a moment to another; *i is the step that holds at the first, and then at the second. */
static struct block range(const struct steps *s, int64_t from_ns, int64_t to_ns, int64_t *i)
{
    struct block r = {0, value_of(s, *i), value_of(s, *i)};
    int64_t n = (int64_t)s->v.n, at = from_ns;
    while (at < to_ns) {
        int64_t k = *i / BLOCK, next = *i + 1;
        bool whole = *i >= 0 && *i % BLOCK == 0 && at == s->v.v[*i].ns && k < (int64_t)s->blocks.n && s->v.v[*i + BLOCK].ns <= to_ns;
        struct block b = {0, value_of(s, *i), value_of(s, *i)};
        if (whole) {
            b = s->blocks.v[k];
            next = *i + BLOCK;
        }
        int64_t until = next < n && s->v.v[next].ns < to_ns ? s->v.v[next].ns : to_ns;
        if (!whole) b.integral = (__int128)b.least * (until - at);
        r.integral += b.integral;
        if (b.least < r.least) r.least = b.least;
        if (b.most > r.most) r.most = b.most;
        at = until;
        if (next < n && s->v.v[next].ns <= to_ns) *i = next;
    }
    return r;
}

void curve_columns(const struct curves *c, unsigned id, int64_t from_ns, int64_t to_ns, unsigned n, struct curve_column *col)
{
    const struct steps *s = steps_of(c, id);
    double unit = unit_of(c, id), each = ((double)to_ns - (double)from_ns) / n;
    int64_t i = step_at(s, from_ns), at = from_ns;
    for (unsigned k = 0; k < n; k++) {
        int64_t next = k + 1 == n ? to_ns : from_ns + (int64_t)(each * (k + 1));
        struct block b = range(s, at, next, &i);
        double mean = next > at ? (double)b.integral / (double)(next - at) : (double)b.least;
        col[k] = (struct curve_column){(double)b.least * unit, (double)b.most * unit, mean * unit};
        at = next;
    }
}

int64_t curve_above(const struct curves *c, unsigned id, double x, int64_t ns)
{
    const struct steps *s = steps_of(c, id);
    double unit = unit_of(c, id);
    int64_t i = step_at(s, ns), n = (int64_t)s->v.n;
    if ((double)value_of(s, i) * unit > x) return ns;
    for (i++; i < n;) {
        if (i % BLOCK == 0 && i / BLOCK < (int64_t)s->blocks.n && (double)s->blocks.v[i / BLOCK].most * unit <= x) {
            i += BLOCK;
        } else {
            if ((double)s->v.v[i].by * unit > x) return s->v.v[i].ns;
            i++;
        }
    }
    return -1;
}

double curve_most(const struct curves *c, unsigned id)
{
    const struct steps *s = steps_of(c, id);
    int64_t i = -1;
    if (s->v.n == 0) return 0;
    return (double)range(s, s->v.v[0].ns - 1, array_last(&s->v).ns + 1, &i).most * unit_of(c, id);
}

share_ns curve_integral(const struct curves *c, unsigned id, int64_t from_ns, int64_t to_ns)
{
    const struct steps *s = steps_of(c, id);
    int64_t i = step_at(s, from_ns);
    __int128 sum = range(s, from_ns, to_ns, &i).integral;
    return sum > 0 ? (share_ns)sum : 0;
}
