/* roff.h - text for manual pages, with what roff would take for its own escaped.
 *
 *     roff_text(&page, "--fail-if");        // \-\-fail\-if
 *
 * Minus signs become \-, so that options can be copied from a page; points and apostrophes that begin a line get \&.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_BASE_ROFF_H
#define TRAINYARD_BASE_ROFF_H

#include <stddef.h>

#include "base/str.h"

void roff_text(struct str *out, const char *text);
void roff_text_n(struct str *out, const char *text, size_t n);

#endif
