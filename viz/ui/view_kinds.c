/* view_kinds.c - the views, in the order of their keys: a word here, and `const struct view_kind view_WORD` in viz/views/WORD.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/ui/view.h"

/* In order: gantt map curves ledger events compare job. */
#define VIEW_KINDS(X) X(gantt) X(map) X(curves) X(ledger) X(events) X(compare) X(job)

#define X_DECLARE(name) extern const struct view_kind view_##name;
VIEW_KINDS(X_DECLARE)
#define X_ROW(name) &view_##name,
const struct view_kind *const view_kinds[] = {VIEW_KINDS(X_ROW) NULL};
const unsigned n_view_kinds = sizeof view_kinds / sizeof *view_kinds - 1;
