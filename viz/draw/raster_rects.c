/* raster_rects.c - see raster_rects.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/draw/raster_rects.h"

/* Rectangles that reach the row above and the row in hand, as indices in order of x. */
struct merging {
    struct raster_rects *rects;
    ARRAY(size_t) above, here;
    size_t next; /* of above: the first that may begin where the next run does */
};

/* Makes the rectangle above longer when it is this run, else begins one. */
static void add_run(struct merging *m, struct area run, uint32_t argb)
{
    struct raster_rect *all = m->rects->all.v;
    while (m->next < m->above.n && all[m->above.v[m->next]].area.x0 < run.x0) m->next++;
    size_t at = m->next < m->above.n ? m->above.v[m->next] : m->rects->all.n;
    bool same = m->next < m->above.n && all[at].area.x0 == run.x0 && all[at].area.x1 == run.x1 && all[at].argb == argb;
    if (same) {
        all[at].area.y1 = run.y1;
    } else {
        at = m->rects->all.n;
        array_push(&m->rects->all, (struct raster_rect){run, argb});
    }
    array_push(&m->here, at);
}

/* `row` is the pixel at x 0 of the picture. */
static void add_row(struct merging *m, const uint32_t *row, struct area a, int y)
{
    m->next = 0;
    for (int x = a.x0, to; x < a.x1; x = to) {
        for (to = x + 1; to < a.x1 && row[to] == row[x];) to++;
        if (row[x] >> 24) add_run(m, (struct area){x, y, to, y + 1}, row[x]);
    }
    array_clear(&m->above);
    for (size_t i = 0; i < m->here.n; i++) array_push(&m->above, m->here.v[i]);
    array_clear(&m->here);
}

static int by_colour(const void *a, const void *b)
{
    const struct raster_rect *p = a, *q = b;
    if (p->argb != q->argb) return p->argb < q->argb ? -1 : 1;
    if (p->area.y0 != q->area.y0) return p->area.y0 < q->area.y0 ? -1 : 1;
    return (p->area.x0 > q->area.x0) - (p->area.x0 < q->area.x0);
}

bool raster_rects(const struct raster *r, int x, int y, struct area a, size_t max, struct raster_rects *rects)
{
    struct merging m = {.rects = rects};
    a = area_within(a, (struct area){x, y, x + (int)r->w, y + (int)r->h});
    for (int row = a.y0; row < a.y1 && rects->all.n <= max; row++)
        add_row(&m, r->argb + (ptrdiff_t)(row - y) * r->w - x, a, row);
    array_free(&m.above);
    array_free(&m.here);
    if (rects->all.n > max) return false;
    array_sort(&rects->all, by_colour);
    return true;
}
