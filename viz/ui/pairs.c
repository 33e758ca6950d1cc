/* pairs.c - two runs: which job is which, who started and finished earlier, and the ribbon that shows it.
 *
 * A difference stands at the moment in which it shows first: the earlier of both finishes (or starts, of jobs without an end).
 * Triangles up (blue): B is earlier. Triangles down (orange): B is later. Where there are more than pixels, a column shows
 * what most of its jobs do; its height grows with the share of jobs that differ.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "viz/ui/private.h"

/* ---- who is who ---- */

static void twins_of(struct ui_run *r, const struct scene *other)
{
    const struct scene *s = r->scene;
    r->twin = xreallocarray(r->twin, s->n_jobs + 1, sizeof *r->twin);
    for (uint32_t j = 0; j < s->n_jobs; j++) r->twin[j] = scene_find_job(other, s->jobs[j].id);
}

static int by_moment(const void *a, const void *b)
{
    const struct delta *x = a, *y = b;
    return x->at_ns < y->at_ns ? -1 : x->at_ns > y->at_ns ? 1 : x->job < y->job ? -1 : x->job > y->job;
}

static int64_t difference(int64_t a, int64_t b)
{
    return a >= 0 && b >= 0 ? b - a : 0;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

void pairs_update(struct ui *u)
{
    struct ui_private *p = u->private;
    array_clear(&p->deltas);
    p->differ = NULL;
    if (u->n_runs < 2) return;
    const struct scene *a = u->runs[0].scene, *b = u->runs[1].scene;
    twins_of(&u->runs[0], b);
    twins_of(&u->runs[1], a);
    for (uint32_t j = 0; j < a->n_jobs; j++) {
        if (u->runs[0].twin[j] < 0) continue;
        const struct scene_job *x = &a->jobs[j], *y = &b->jobs[u->runs[0].twin[j]];
        struct delta d = {.job = (int32_t)j, .start_ns = difference(x->started_ns, y->started_ns), .finish_ns = difference(x->finished_ns, y->finished_ns)};
        d.at_ns = d.finish_ns ? least(x->finished_ns, y->finished_ns) : least(x->started_ns, y->started_ns);
        if (d.start_ns || d.finish_ns) array_push(&p->deltas, d);
    }
    array_sort(&p->deltas, by_moment);
    if (strcmp(a->run->scenario_name, b->run->scenario_name) != 0 || a->run->seed != b->run->seed)
        p->differ = "A and B are of different scenarios or seeds: only jobs of the same id are compared";
}

/* ---- the ribbon ---- */

static size_t delta_seek(const struct ui *u, int64_t ns)
{
    const delta_list *l = &u->private->deltas;
    size_t low = 0, high = l->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->v[middle].at_ns < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int64_t delta_of(const struct delta *d)
{
    return d->finish_ns ? d->finish_ns : d->start_ns;
}

void ribbon_count(const struct ui *u, unsigned *earlier, unsigned *later)
{
    *earlier = *later = 0;
    for (size_t i = delta_seek(u, u->from_ns); i < u->private->deltas.n && u->private->deltas.v[i].at_ns <= u->to_ns; i++) {
        if (delta_of(&u->private->deltas.v[i]) < 0)
            ++*earlier;
        else
            ++*later;
    }
}

static void triangle(const struct ui *u, struct draw_list *d, float x, float middle, float half, bool up)
{
    float tip = up ? middle - half : middle + half, base = middle;
    struct point v[] = {{x - half / 2 - 1, base}, {x, tip}, {x + half / 2 + 1, base}};
    draw_polygon(d, v, 3, u->theme.role[up ? ROLE_EARLIER : ROLE_LATER], PATTERN_SOLID);
}

/* Columns as wide as a triangle; the taller, the more of all that differ there. */
static void ribbon_columns(struct ui *u, struct draw_list *d, struct box ribbon, struct box plot, unsigned *count, unsigned n)
{
    float wide = plot.w / (float)n, half = ribbon.h / 2 - 1, middle = ribbon.y + ribbon.h / 2;
    unsigned most = 1;
    for (unsigned i = 0; i < 2 * n; i++) most = count[i] > most ? count[i] : most;
    for (unsigned i = 0; i < 2 * n; i++) {
        if (!count[i]) continue;
        float tall = fmaxf(0.4f, sqrtf((float)count[i] / (float)most)) * half;
        triangle(u, d, plot.x + ((float)(i / 2) + 0.5f) * wide, middle, tall, i % 2 == 0);
    }
}

void ribbon_draw(struct ui *u, struct draw_list *d, struct box ribbon, struct box plot)
{
    enum { MOST = 1024 };
    unsigned count[2 * MOST] = {0}, n = plot.w > 8 ? (unsigned)(plot.w / 8) : 1;
    if (n > MOST) n = MOST;
    draw_rect(d, ribbon, ROLE_PANEL);
    const delta_list *l = &u->private->deltas;
    for (size_t i = delta_seek(u, u->from_ns); i < l->n && l->v[i].at_ns <= u->to_ns; i++) {
        if (!u->runs[0].passes[l->v[i].job]) continue;
        unsigned column = (unsigned)((double)(l->v[i].at_ns - u->from_ns) / (double)(u->to_ns - u->from_ns) * n);
        count[2 * (column < n ? column : n - 1) + (delta_of(&l->v[i]) > 0)]++;
    }
    ribbon_columns(u, d, ribbon, plot, count, n);
    struct text_style style = {.role = ROLE_TEXT_DIM, .max_width = plot.x - ribbon.x - u->theme.pad};
    struct box label = {ribbon.x + u->theme.pad, ribbon.y, plot.x - ribbon.x, ribbon.h};
    if (style.max_width > 3 * u->theme.font_size) ui_label(u, d, label, style, "B ▲ earlier ▼ later");
}

const char *ui_differ(const struct ui *u) { return u->private->differ; }
