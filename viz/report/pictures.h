/* pictures.h - the pictures of the page: the viewer's views, painted as SVG into a <figure>.
 *
 *     struct studio *s = studio_open(scenes, 2, text, &count);   // one run or two; the scenes stay the caller's
 *     studio_curves(s, 0, &page); studio_ledger(s, &page);
 *     studio_compare(s, comparison);                             // the studio's then; NULL: one is made when it is needed
 *     studio_waterfalls(s, &page); studio_waits(s, &page);       // with two runs
 *     studio_close(s);
 *
 * Each has a title and a description for those who cannot see it. Ids within the pictures begin with a number of their own, counted up over
 * the page in *count. What is costly (levels of detail, curves) is made for the first picture that needs it. What a run does not tell (--record) is left out, with a note.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_REPORT_PICTURES_H
#define TRAINYARD_VIZ_REPORT_PICTURES_H

#include "base/str.h"
#include "viz/ui/ui.h"
#include "viz/views/compare_page.h"

struct studio;
struct studio *studio_open(struct scene *const *, unsigned n, const struct text_engine *, unsigned *count);
void studio_close(struct studio *);

void studio_compare(struct studio *, struct comparison *);
void studio_curves(struct studio *, unsigned run, struct str *);
void studio_ledger(struct studio *, struct str *);
void studio_waterfalls(struct studio *, struct str *);
void studio_waits(struct studio *, struct str *);

#endif
