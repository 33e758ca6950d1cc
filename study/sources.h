/* sources.h - which runs a comparison is between: run trees, grouped by approach.
 *
 *     struct sources s = {0};
 *     if (!sources_add_tree(&s, "out", &err)) ...         // each approach below out/ is one source; err: to free
 *     if (!sources_add_run(&s, "old/actor", &err)) ...    // exactly one approach
 *     if (!sources_base(&s, "actor", &err)) ...           // to the front
 *     compare_runs(s.list.v, s.list.n, &c, &err);
 *     sources_free(&s);
 *
 * An approach of a name that is there already is named by its directory: "new", or "new:actor" where that holds several.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_SOURCES_H
#define TRAINYARD_STUDY_SOURCES_H

#include "base/arena.h"
#include "base/array.h"
#include "study/approach_runs.h"

struct sources {
    ARRAY(struct approach_source) list;
    struct arena arena;
};

bool sources_add_tree(struct sources *, const char *dir, char **err);
bool sources_add_run(struct sources *, const char *dir, char **err);
/* Keeps the named ones only, in the order of `names`. */
bool sources_keep(struct sources *, const char *const *names, size_t n, char **err);
bool sources_base(struct sources *, const char *name, char **err);
void sources_free(struct sources *);

#endif
