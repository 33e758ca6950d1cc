/* gantt_rows.c - see gantt_rows.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/views/gantt_rows.h"

#include <math.h>
#include <string.h>

#include "base/str.h"

enum { FOCUS_BITS = 28 };

uint64_t gantt_key(struct gantt_item i)
{
    return (uint64_t)i.level << 32 | i.item;
}

unsigned gantt_focus(struct gantt_item i)
{
    return (unsigned)i.level << FOCUS_BITS | (i.item & ((1u << FOCUS_BITS) - 1));
}

struct gantt_item gantt_unfocus(const struct scene *s, unsigned f)
{
    unsigned level = f >> FOCUS_BITS;
    const uint32_t n[] = {[GANTT_BLOCK] = s->n_racks,           [GANTT_RACK] = s->n_racks, [GANTT_NODE] = s->n_nodes,
                          [GANTT_GPU] = s->n_tracks[SCENE_GPUS], [GANTT_JOB] = s->n_jobs};
    struct gantt_item i = {(enum gantt_level)level, f & ((1u << FOCUS_BITS) - 1)};
    return level > GANTT_NONE && level <= GANTT_JOB && i.item < n[level] ? i : (struct gantt_item){GANTT_NONE, 0};
}

/* ---- the tree ---- */

/* The rack behind the last of the block that begins with `rack`. */
static uint32_t block_end(const struct scene *s, uint32_t rack)
{
    uint32_t end = rack + 1;
    while (end < s->n_racks && strcmp(s->racks[end].block, s->racks[rack].block) == 0) end++;
    return end;
}

static uint32_t block_of(const struct scene *s, uint32_t rack)
{
    while (rack > 0 && strcmp(s->racks[rack - 1].block, s->racks[rack].block) == 0) rack--;
    return rack;
}

static uint32_t node_first_gpu(const struct scene *s, uint32_t node)
{
    return node < s->n_nodes ? s->nodes[node].first_gpu : s->n_tracks[SCENE_GPUS];
}

static uint32_t rack_first_gpu(const struct scene *s, uint32_t rack)
{
    return rack < s->n_racks ? node_first_gpu(s, s->racks[rack].first_node) : s->n_tracks[SCENE_GPUS];
}

void gantt_tracks(const struct scene *s, struct gantt_item i, uint32_t *first, uint32_t *n)
{
    uint32_t a = i.item, b = i.item + 1;
    if (i.level == GANTT_BLOCK) {
        a = rack_first_gpu(s, i.item);
        b = rack_first_gpu(s, block_end(s, i.item));
    } else if (i.level == GANTT_RACK) {
        a = rack_first_gpu(s, i.item);
        b = rack_first_gpu(s, i.item + 1);
    } else if (i.level == GANTT_NODE) {
        a = node_first_gpu(s, i.item);
        b = node_first_gpu(s, i.item + 1);
    }
    *first = a;
    *n = b - a;
}

struct gantt_item gantt_parent(const struct scene *s, struct gantt_item i)
{
    if (i.level == GANTT_GPU) return (struct gantt_item){GANTT_NODE, scene_node_of(s, i.item)};
    if (i.level == GANTT_NODE) return (struct gantt_item){GANTT_RACK, s->nodes[i.item].rack};
    if (i.level == GANTT_RACK) return (struct gantt_item){GANTT_BLOCK, block_of(s, i.item)};
    return (struct gantt_item){GANTT_NONE, 0};
}

static bool in_map(const struct hmap *m, enum gantt_level level, uint32_t item)
{
    return m && hmap_get_u64(m, gantt_key((struct gantt_item){level, item}), NULL);
}

/* ---- layout ---- */

static void add_tracks(struct gantt_rows *r, uint32_t first, uint32_t n)
{
    struct gantt_stretch *last = r->stretches.n ? &array_last(&r->stretches) : NULL;
    if (n == 0) return;
    if (last && last->folded.level == GANTT_NONE) last->n += n;
    else array_push(&r->stretches, (struct gantt_stretch){.first = first, .n = n});
}

static void add_fold(struct gantt_rows *r, enum gantt_level level, uint32_t item)
{
    struct gantt_stretch s = {.folded = {level, item}};
    gantt_tracks(r->scene, s.folded, &s.first, &s.n);
    array_push(&r->stretches, s);
}

static void add_rack(struct gantt_rows *r, const struct gantt_want *w, uint32_t rack)
{
    const struct scene_rack *k = &r->scene->racks[rack];
    if (in_map(w->collapsed, GANTT_RACK, rack)) {
        add_fold(r, GANTT_RACK, rack);
        return;
    }
    for (uint32_t i = k->first_node; i < k->first_node + k->n_nodes; i++) {
        const struct scene_node *node = &r->scene->nodes[i];
        if (in_map(w->collapsed, GANTT_NODE, i)) add_fold(r, GANTT_NODE, i);
        else add_tracks(r, node->first_gpu, node->n_gpus);
    }
}

static void add_tree(struct gantt_rows *r, const struct gantt_want *w)
{
    for (uint32_t b = 0, end; b < r->scene->n_racks; b = end) {
        end = block_end(r->scene, b);
        if (in_map(w->collapsed, GANTT_BLOCK, b)) add_fold(r, GANTT_BLOCK, b);
        else for (uint32_t k = b; k < end; k++) add_rack(r, w, k);
    }
}

static bool lived(const struct scene *s, const struct scene_job *j, const struct gantt_want *w)
{
    int64_t end = j->finished_ns >= 0 ? j->finished_ns : s->end_ns;
    return j->submit_ns >= 0 && j->submit_ns < w->to_ns && end >= w->from_ns;
}

static void add_jobs(struct gantt_rows *r, const struct gantt_want *w)
{
    uint32_t n = r->scene->n_tracks[SCENE_JOBS] < r->scene->n_jobs ? r->scene->n_tracks[SCENE_JOBS] : r->scene->n_jobs;
    for (uint32_t j = 0; j < n; j++) {
        if (!lived(r->scene, &r->scene->jobs[j], w)) continue;
        if (w->passes && !w->passes[j]) r->others++;
        else array_push(&r->jobs, j);
    }
    add_tracks(r, 0, (uint32_t)r->jobs.n);
}

/* px of a folded row: a line, or a little less where that brings all into sight. */
static float fold_height(const struct gantt_rows *r, const struct gantt_want *w)
{
    for (size_t i = 0; i < r->stretches.n; i++)
        if (r->stretches.v[i].folded.level == GANTT_NONE) return w->line;
    float fits = floorf(w->height / (float)(r->stretches.n ? r->stretches.n : 1));
    return fmaxf(floorf(0.85f * w->line), fminf(fits, w->line));
}

/* px of a row of one track: what was asked for, or what fits beside the folded rows. */
static float row_height(const struct gantt_rows *r, const struct gantt_want *w)
{
    uint32_t folds = 0, tracks = 0;
    for (size_t i = 0; i < r->stretches.n; i++) {
        bool fold = r->stretches.v[i].folded.level != GANTT_NONE;
        folds += fold;
        tracks += fold ? 0 : r->stretches.v[i].n;
    }
    if (w->by_job && w->passes) return fmaxf(w->row, w->line);
    if (w->row > 0) return w->row;
    float fits = (w->height - (float)folds * w->line) / (float)(tracks ? tracks : 1);
    if (fits >= w->line) return w->line;
    if (fits >= 4) return floorf(fits);
    if (fits >= 1) return floorf(fits * 4) / 4;
    if (fits > 0.25f && fits <= 0.34f) return 0.25f; /* rows of 4 tracks are much quicker to draw: worth a fourth of the height */
    return fmaxf(fits, tracks ? 1.0f / (float)tracks : 1); /* folds leave nothing: one pixel for all */
}

void gantt_rows_make(struct gantt_rows *r, const struct gantt_want *w)
{
    array_clear(&r->stretches);
    array_clear(&r->jobs);
    r->scene = w->scene;
    r->set = w->by_job ? SCENE_JOBS : SCENE_GPUS;
    r->others = 0;
    if (w->by_job) add_jobs(r, w);
    else if (w->scene->n_tracks[SCENE_GPUS]) add_tree(r, w);
    r->row = row_height(r, w);
    float y = 0, fold = fold_height(r, w);
    for (size_t i = 0; i < r->stretches.n; i++) {
        struct gantt_stretch *s = &r->stretches.v[i];
        s->y = y;
        s->h = s->folded.level != GANTT_NONE ? fold : fmaxf(1, roundf((float)s->n * r->row));
        y += s->h;
    }
    r->height = y;
}

void gantt_rows_free(struct gantt_rows *r)
{
    array_free(&r->stretches);
    array_free(&r->jobs);
}

/* ---- rows ---- */

/* How many rows a stretch has: one a track, or one a pixel. */
static uint32_t rows_of(const struct gantt_rows *r, const struct gantt_stretch *s)
{
    if (s->folded.level != GANTT_NONE) return 1;
    return r->row >= 1 ? s->n : (uint32_t)s->h;
}

static void to_tracks(const struct gantt_rows *r, struct gantt_row *row, uint32_t a, uint32_t b)
{
    if (r->set == SCENE_JOBS) {
        row->first = r->jobs.v[a];
        row->n = r->jobs.v[b - 1] + 1 - row->first;
    } else {
        row->first = a;
        row->n = b - a;
    }
    if (b - a == 1) row->item = (struct gantt_item){r->set == SCENE_JOBS ? GANTT_JOB : GANTT_GPU, row->first};
}

/* The first track of row k of n. Rows of 4 tracks and more are cut at blocks (lod.h), which are the quickest to draw. */
static uint32_t cut(const struct gantt_rows *r, const struct gantt_stretch *s, uint32_t k, uint32_t n)
{
    uint32_t track = s->first + (uint32_t)((uint64_t)k * s->n / n);
    bool blocks = r->set == SCENE_GPUS && s->n / n >= 4 && k > 0 && k < n;
    return blocks ? track & ~UINT32_C(3) : track;
}

static void fill(const struct gantt_rows *r, const struct gantt_stretch *s, uint32_t k, struct gantt_row *row)
{
    uint32_t n = rows_of(r, s);
    row->y = s->y + floorf(s->h * (float)k / (float)n);
    row->h = s->y + floorf(s->h * (float)(k + 1) / (float)n) - row->y;
    row->item = s->folded;
    row->first = s->first;
    row->n = s->n;
    if (s->folded.level == GANTT_NONE) to_tracks(r, row, cut(r, s, k, n), cut(r, s, k + 1, n));
}

/* The row of a stretch at a distance from its top. */
static uint32_t row_in(const struct gantt_rows *r, const struct gantt_stretch *s, float down)
{
    uint32_t n = rows_of(r, s);
    uint32_t k = down <= 0 ? 0 : (uint32_t)fminf(floorf(down / s->h * (float)n), (float)(n - 1));
    while (k + 1 < n && floorf(s->h * (float)(k + 1) / (float)n) <= down) k++; /* rows begin at whole pixels */
    while (k > 0 && floorf(s->h * (float)k / (float)n) > down) k--;
    return k;
}

static uint32_t stretch_at(const struct gantt_rows *r, float y)
{
    size_t lo = 0, hi = r->stretches.n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (r->stretches.v[mid].y + r->stretches.v[mid].h <= y) lo = mid + 1;
        else hi = mid;
    }
    return (uint32_t)lo;
}

bool gantt_row_next(const struct gantt_rows *r, float top, float bottom, struct gantt_row *row)
{
    if (row->n == 0) { /* the first */
        row->stretch = stretch_at(r, top);
        row->next = 0;
        if (row->stretch < r->stretches.n) row->next = row_in(r, &r->stretches.v[row->stretch], top - r->stretches.v[row->stretch].y);
    }
    while (row->stretch < r->stretches.n && row->next >= rows_of(r, &r->stretches.v[row->stretch])) {
        row->stretch++;
        row->next = 0;
    }
    if (row->stretch >= r->stretches.n) return false;
    fill(r, &r->stretches.v[row->stretch], row->next, row);
    row->next++;
    return row->y < bottom;
}

bool gantt_row_at(const struct gantt_rows *r, float y, struct gantt_row *row)
{
    *row = (struct gantt_row){0};
    return y >= 0 && y < r->height && gantt_row_next(r, y, y + 1, row);
}

/* ---- places ---- */

static bool list_place(const struct gantt_rows *r, uint32_t job, uint32_t *place)
{
    size_t lo = 0, hi = r->jobs.n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (r->jobs.v[mid] < job) lo = mid + 1;
        else hi = mid;
    }
    *place = (uint32_t)lo;
    return lo < r->jobs.n && r->jobs.v[lo] == job;
}

/* The stretch that holds a track of the set (by job: a place in the list). */
static const struct gantt_stretch *stretch_of(const struct gantt_rows *r, uint32_t track)
{
    size_t lo = 0, hi = r->stretches.n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (r->stretches.v[mid].first + r->stretches.v[mid].n <= track) lo = mid + 1;
        else hi = mid;
    }
    return lo < r->stretches.n ? &r->stretches.v[lo] : NULL;
}

static float y_of(const struct gantt_stretch *s, uint32_t track)
{
    return s->y + floorf(s->h * (float)(track - s->first) / (float)s->n);
}

bool gantt_extent(const struct gantt_rows *r, struct gantt_item i, float *y, float *h)
{
    uint32_t first, n = 1;
    if (i.level == GANTT_NONE || (i.level == GANTT_JOB) != (r->set == SCENE_JOBS)) return false;
    if (i.level == GANTT_JOB) {
        if (!list_place(r, i.item, &first)) return false;
    } else
        gantt_tracks(r->scene, i, &first, &n);
    const struct gantt_stretch *a = n ? stretch_of(r, first) : NULL, *b = n ? stretch_of(r, first + n - 1) : NULL;
    if (!a || !b) return false;
    if (a->folded.level != GANTT_NONE && a->folded.level < i.level) return false;
    *y = a->folded.level != GANTT_NONE ? a->y : y_of(a, first);
    *h = (b->folded.level != GANTT_NONE ? b->y + b->h : y_of(b, first + n)) - *y;
    return true;
}

bool gantt_is_folded(const struct gantt_rows *r, struct gantt_item i)
{
    uint32_t first, n;
    if (i.level < GANTT_BLOCK || i.level > GANTT_NODE || r->set != SCENE_GPUS) return false;
    gantt_tracks(r->scene, i, &first, &n);
    const struct gantt_stretch *s = n ? stretch_of(r, first) : NULL;
    return s && s->folded.level != GANTT_NONE && s->folded.level <= i.level;
}

static struct gantt_item next_in_tree(const struct scene *s, struct gantt_item i)
{
    if (i.level == GANTT_BLOCK) return (struct gantt_item){GANTT_RACK, i.item};
    if (i.level == GANTT_RACK) return (struct gantt_item){GANTT_NODE, s->racks[i.item].first_node};
    if (i.level == GANTT_NODE && s->nodes[i.item].n_gpus) return (struct gantt_item){GANTT_GPU, s->nodes[i.item].first_gpu};
    uint32_t node = i.level == GANTT_NODE ? i.item : scene_node_of(s, i.item);
    if (i.level == GANTT_GPU && i.item + 1 < node_first_gpu(s, node + 1)) return (struct gantt_item){GANTT_GPU, i.item + 1};
    if (node + 1 >= s->n_nodes) return (struct gantt_item){GANTT_NONE, 0};
    uint32_t rack = s->nodes[node + 1].rack;
    if (rack == s->nodes[node].rack) return (struct gantt_item){GANTT_NODE, node + 1};
    return (struct gantt_item){block_of(s, rack) == rack ? GANTT_BLOCK : GANTT_RACK, rack};
}

static struct gantt_item last_below(const struct scene *s, struct gantt_item i)
{
    uint32_t first, n;
    gantt_tracks(s, i, &first, &n);
    return n ? (struct gantt_item){GANTT_GPU, first + n - 1} : i;
}

static struct gantt_item previous_in_tree(const struct scene *s, struct gantt_item i)
{
    struct gantt_item up = gantt_parent(s, i);
    uint32_t first, n, parent, all;
    if (i.level <= GANTT_BLOCK) return i.item ? last_below(s, (struct gantt_item){GANTT_RACK, i.item - 1}) : (struct gantt_item){GANTT_NONE, 0};
    gantt_tracks(s, i, &first, &n);
    gantt_tracks(s, up, &parent, &all);
    if (first == parent) return up;
    if (i.level == GANTT_GPU) return (struct gantt_item){GANTT_GPU, i.item - 1};
    return last_below(s, (struct gantt_item){i.level, i.item - 1});
}

static struct gantt_item walk_jobs(const struct gantt_rows *r, struct gantt_item i, bool forward)
{
    uint32_t place;
    bool there = list_place(r, i.item, &place);
    if (r->jobs.n == 0) return i;
    if (i.level != GANTT_JOB) return (struct gantt_item){GANTT_JOB, r->jobs.v[0]};
    if (forward) place += there && place + 1 < r->jobs.n;
    else if (place) place--;
    if (place >= r->jobs.n) place = (uint32_t)r->jobs.n - 1;
    return (struct gantt_item){GANTT_JOB, r->jobs.v[place]};
}

/* The only block, the only rack: nothing to choose. */
static bool is_all(const struct scene *s, struct gantt_item i)
{
    uint32_t first, n;
    if (i.level > GANTT_RACK) return false;
    gantt_tracks(s, i, &first, &n);
    return n == s->n_tracks[SCENE_GPUS];
}

struct gantt_item gantt_walk(const struct gantt_rows *r, struct gantt_item from, bool forward, float least)
{
    float y, h;
    if (r->set == SCENE_JOBS) return walk_jobs(r, from, forward);
    if (r->scene->n_racks == 0 || r->stretches.n == 0) return from;
    bool first = from.level == GANTT_NONE || from.level > GANTT_GPU;
    struct gantt_item i = first ? (struct gantt_item){GANTT_BLOCK, 0} : from;
    while (first || i.level != GANTT_NONE) {
        if (!first) i = forward ? next_in_tree(r->scene, i) : previous_in_tree(r->scene, i);
        if (i.level == GANTT_NONE) break;
        first = false;
        if (!is_all(r->scene, i) && gantt_extent(r, i, &y, &h) && h >= least) return i;
    }
    return from;
}

/* ---- names ---- */

void gantt_item_name(const struct scene *s, struct gantt_item i, struct str *out)
{
    uint32_t node;
    switch (i.level) {
    case GANTT_BLOCK: str_append(out, s->racks[i.item].block && *s->racks[i.item].block ? s->racks[i.item].block : "cluster"); break;
    case GANTT_RACK: str_append(out, s->racks[i.item].name); break;
    case GANTT_NODE: str_append(out, s->nodes[i.item].name); break;
    case GANTT_GPU:
        node = scene_node_of(s, i.item);
        str_printf(out, "%s / gpu %u", s->nodes[node].name, i.item - s->nodes[node].first_gpu);
        break;
    case GANTT_JOB: str_append(out, s->jobs[i.item].id); break;
    case GANTT_NONE: break;
    }
}

void gantt_row_name(const struct gantt_rows *r, const struct gantt_row *row, struct str *out)
{
    enum gantt_level level = r->set == SCENE_JOBS ? GANTT_JOB : GANTT_GPU;
    if (row->item.level != GANTT_NONE) {
        gantt_item_name(r->scene, row->item, out);
        return;
    }
    gantt_item_name(r->scene, (struct gantt_item){level, row->first}, out);
    str_append(out, " to ");
    gantt_item_name(r->scene, (struct gantt_item){level, row->first + row->n - 1}, out);
}
