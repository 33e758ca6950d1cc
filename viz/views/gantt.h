/* gantt.h - the pieces of the Gantt: where it lies in its pane, its sums, its painting, its pinned rows.
 *
 * The view (gantt.c) puts them together: a lane of failures above the rows, names of the tree to the left, the rows. Rows of at least GANTT_WIDE px with one
 * track are painted span by span, with patterns and labels; lower and merged ones pixel by pixel. A failure that a pixel would hide is painted over it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_VIEWS_GANTT_H
#define TRAINYARD_VIZ_VIEWS_GANTT_H

#include "viz/ui/view.h"
#include "viz/views/gantt_rows.h"

enum { GANTT_WIDE = 6 };
#define GANTT_OUTER 0.36f /* of the gutter: racks; the rest: nodes and GPUs */

extern const struct view_kind view_gantt;

struct gantt_sight {
    struct ui *ui;
    const struct ui_run *run;
    const struct pane *pane;
    struct box gutter, lane, pin_area, area; /* names; failures; pinned rows; rows: within the pane */
    struct gantt_rows rows;        /* freed by gantt_sight_end */
    float scroll;                  /* px of rows above the area */
    struct gantt_item pins[UI_MAX_PINS]; /* those that there is room for */
    unsigned n_pins;
};

/* False: nothing to show; `why` and `what` say what is missing and what to do. Neither way anything is drawn. */
bool gantt_sight_begin(struct gantt_sight *, struct ui *, const struct pane *, const char **why, const char **what);
void gantt_sight_end(struct gantt_sight *);

void gantt_paint(struct gantt_sight *, struct draw_list *);
void gantt_paint_rows(struct gantt_sight *, struct draw_list *); /* without the lane */
void gantt_names(struct gantt_sight *, struct draw_list *);

/* Pinned rows (gantt_pins.c): takes their place from the top of `area`; one of them as a sight, to be ended; the one at y. */
void gantt_pins_make(struct gantt_sight *);
void gantt_pin_sight(const struct gantt_sight *, unsigned k, struct gantt_sight *);
bool gantt_pin_at(const struct gantt_sight *, float y, unsigned *k);
void gantt_pin(struct gantt_sight *, bool row); /* pins the row with the focus (without one, or not `row`: what is selected), or lets it go */
void gantt_pins_draw(const struct gantt_sight *, struct draw_list *);

/* The failures of a run: events that must not be lost to sight, in order of time. Kept between draws. */
struct gantt_failures { uint32_t *events; size_t n; uint64_t version; };
const struct gantt_failures *gantt_failures(struct ui *, unsigned run);

/* What ranges of tracks hold within a window: exact. */
struct gantt_sums {
    share_ns by_show[N_SHOWS]; /* of job tracks, which have no shares: as if each had one GPU */
    uint64_t spans, failures;  /* spans that touch the window; those of them that are failures */
};
bool gantt_is_failure(unsigned show);
void gantt_sum(const struct scene *, enum scene_set, uint32_t first, uint32_t n, int64_t from_ns, int64_t to_ns, struct gantt_sums *);
void gantt_dump(struct gantt_sight *, struct json_writer *);

#endif
