/* schema_types.h - the object types of a scenario, each once; for the writers of schema and manuals only.
 *
 *     struct schema_types all = {.n = 0};
 *     schema_collect(&all, &scenario_type);        // in the order of first mention
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_SCHEMA_TYPES_H
#define TRAINYARD_INPUT_SCHEMA_TYPES_H

#include <stddef.h>

#include "input/field.h"

struct schema_types { const struct object_type *v[64]; size_t n; };

void schema_collect(struct schema_types *, const struct object_type *);
/* The field that a bare value stands for, or NULL. */
const struct field *schema_shorthand(const struct object_type *);
/* The name without blanks, for references. */
const char *schema_slug(const struct object_type *, char out[64]);

#endif
