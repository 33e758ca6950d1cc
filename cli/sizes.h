/* sizes.h - message sizes that an option names.
 *
 *     struct sizes s = {0};
 *     sizes_read("8,4KiB,1GiB", "--sizes", &s, &d);     // or a file: a size a line, the first field, or a column size_bytes
 *     array_free(&s.v);
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_CLI_SIZES_H
#define TRAINYARD_CLI_SIZES_H

#include "base/array.h"
#include "base/diag.h"

struct sizes { ARRAY(double) v; };

/* Adds what `text` names, in its order; errors, and none at all, go to d. */
void sizes_read(const char *text, const char *option, struct sizes *, struct diag *);
/* from, 2 from, 4 from ... until. */
void sizes_double(struct sizes *, double from, double until);

#endif
