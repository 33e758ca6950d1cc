/* time_axis.h - moments in human units, and where a time axis has its ticks.
 *
 *     int64_t step = time_step(to_ns - from_ns, 8);       // the smallest nice step that gives at most 8 ticks
 *     for (int64_t t = time_first(from_ns, step); t <= to_ns; t += step) time_text(&s, t, step);   // "2d 03:15"
 *
 * Steps are those of clocks: 1, 2, 5 times a power of ten below a second; 1, 2, 5, 10, 15, 30 s and min; 1, 2, 3, 6, 12 h;
 * 1, 2, 5 times a power of ten days. A moment is written as far as its step needs: "4d", "2d 03:15", "03:15:30", "00:00:01.250";
 * the day stands there from the first day on.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_UI_TIME_AXIS_H
#define TRAINYARD_VIZ_UI_TIME_AXIS_H

#include "viz/ui/ui.h"

int64_t time_step(int64_t span_ns, unsigned most_ticks); /* most_ticks >= 1 */
int64_t time_first(int64_t from_ns, int64_t step_ns);    /* the first multiple at or after from_ns */
void time_text(struct str *, int64_t ns, int64_t step_ns);
/* A length of time: as base/units.h, without seconds from a day on. */
void time_length(struct str *, int64_t ns);
/* A moment as exactly as a window of that width deserves: a thousandth of it. */
void time_text_in(struct str *, int64_t ns, int64_t window_ns);
/* "2d 03:15", "01:30:30", "5s", "1h30m": as typed by people; a moment, or with "d", "h", "m", "s" a duration. NULL or what is wrong. */
const char *time_parse(const char *text, int64_t *ns);
/* "0:6h", "2d 03:15..2d 06:00": FROM..TO, or a colon: the only one, or the one in the middle. NULL or what is wrong. */
const char *time_parse_range(const char *text, int64_t *from_ns, int64_t *to_ns);

/* Ticks and their labels in `axis` below a plot, and their lines over the plots. */
void time_axis_draw(const struct ui *, struct draw_list *, struct box axis, struct box plot);
void time_axis_grid(const struct ui *, struct draw_list *, struct box plot);

/* The moments that are named on the axis: cursor, second cursor, length between them, bookmarks; and the flags of these. */
enum { AXIS_LABELS = 64 };
struct axis_label {
    struct box box;
    char text[48];
    enum role role, ink; /* of the box, of the text */
};
struct axis_labels {
    struct axis_label v[AXIS_LABELS];
    unsigned n;
};
void axis_labels(const struct ui *, struct box axis, struct box plot, struct axis_labels *);
bool axis_labels_cover(const struct axis_labels *, float x0, float x1, float pad);
void axis_flags_draw(const struct ui *, struct draw_list *, struct box axis, struct box plot);
void axis_labels_draw(const struct axis_labels *, struct draw_list *, float base);

/* The labels of the ticks, as an array of texts. */
void time_axis_dump(const struct ui *, struct box plot, struct json_writer *);

#endif
