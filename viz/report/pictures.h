/* pictures.h - the pictures of the page: the viewer's views, painted as SVG into a <figure>.
 *
 *     struct album album = {0};                                  // of the whole page
 *     struct studio *s = studio_open(scenes, 2, text, &album);   // one run, two or more; the scenes stay the caller's
 *     studio_at(s, studio_moment(s, 0)); studio_gantt(s, 0, &page); studio_map(s, 0, &page); studio_curves(s, 0, &page); studio_ledger(s, &page);
 *     studio_compare(s, comparison);                             // the studio's then; NULL: one is made when it is needed
 *     studio_waterfalls(s, &page); studio_waits(s, &page);       // with two runs
 *     studio_close(s);
 *     inks_css(&album.inks, &style); inks_free(&album.inks);
 *
 * More runs than two share pictures: studio_gantts, studio_maps, studio_all_curves draw them in a grid with the same scales.
 *
 * Each has a title and a description for those who cannot see it. Ids within the pictures begin with a number of their own, counted up over
 * the page. Each is drawn in the light and in the dark theme; its colours are inks of the album, whose style the page must have.
 * What is costly (levels of detail, curves) is made for the first picture that needs it. What a run does not tell (--record) is left out,
 * with a note.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_REPORT_PICTURES_H
#define TRAINYARD_VIZ_REPORT_PICTURES_H

#include "base/str.h"
#include "viz/draw/inks.h"
#include "viz/ui/ui.h"
#include "viz/views/compare_page.h"

struct album {
    unsigned pictures; /* so far */
    unsigned plain;    /* of them in light colours only, since they differ between themes in more than colours: none, as views are now */
    struct inks inks;
};

struct studio;
struct studio *studio_open(struct scene *const *, unsigned n, const struct text_engine *, struct album *);
void studio_close(struct studio *);

void studio_compare(struct studio *, struct comparison *);
/* The moment in which most GPUs are waited for, or, where none are, most jobs run; -1: not known. */
int64_t studio_moment(struct studio *, unsigned run);
void studio_at(struct studio *, int64_t ns); /* of the maps; time axes mark it */
void studio_gantt(struct studio *, unsigned run, struct str *);
void studio_map(struct studio *, unsigned run, struct str *);
void studio_gantts(struct studio *, struct str *);
void studio_maps(struct studio *, struct str *);
void studio_all_curves(struct studio *, struct str *);
void studio_curves(struct studio *, unsigned run, struct str *);
void studio_ledger(struct studio *, struct str *);
void studio_ledger_of(struct studio *, unsigned run, struct str *); /* of more than two */
void studio_waterfalls(struct studio *, struct str *);
void studio_waits(struct studio *, struct str *);

#endif
