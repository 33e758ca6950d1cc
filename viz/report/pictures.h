/* pictures.h - the pictures of the page: the viewer's views, painted as SVG into a <figure>.
 *
 *     struct studio *s = studio_open(dirs, 2, text, &err);       // one run or two; NULL and err (to free)
 *     studio_curves(s, 0, &page); studio_ledger(s, &page);
 *     studio_waterfalls(s, &page); studio_waits(s, &page);       // with two runs
 *     studio_close(s);
 *
 * Each has a title and a description for those who cannot see it. Ids within the pictures begin with a number of their own, counted up over
 * the page in *count. What a run does not tell (--record) is left out, with a note.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_REPORT_PICTURES_H
#define TRAINYARD_VIZ_REPORT_PICTURES_H

#include "base/str.h"
#include "viz/ui/ui.h"
#include "viz/views/compare_page.h"

struct studio;
struct studio *studio_open(const char *const *dirs, unsigned n, const struct text_engine *, unsigned *count, char **err);
void studio_close(struct studio *);

void studio_curves(struct studio *, unsigned run, struct str *);
void studio_ledger(struct studio *, struct str *);
void studio_waterfalls(struct studio *, struct str *);
void studio_waits(struct studio *, struct str *);

#endif
