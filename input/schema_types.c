/* schema_types.c - see schema_types.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/schema_types.h"

#include <assert.h>
#include <string.h>

void schema_collect(struct schema_types *all, const struct object_type *type)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->v[i] == type) return;
    assert(all->n < 64);
    all->v[all->n++] = type;
    for (size_t i = 0; i < type->n_fields; i++)
        if (type->fields[i].sub) schema_collect(all, type->fields[i].sub);
}

const struct field *schema_shorthand(const struct object_type *type)
{
    for (size_t i = 0; type->shorthand && i < type->n_fields; i++)
        if (strcmp(type->fields[i].name, type->shorthand) == 0) return &type->fields[i];
    return NULL;
}

const char *schema_slug(const struct object_type *type, char out[64])
{
    size_t i = 0;
    for (; type->name[i] && i < 63; i++) out[i] = type->name[i] == ' ' ? '-' : type->name[i];
    out[i] = '\0';
    return out;
}
