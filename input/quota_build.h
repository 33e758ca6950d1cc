/* quota_build.h - struct quota_spec, grown name by name from the short form and from real objects.
 *
 * Private to input/. Names may be used before they are defined (a queue's cohort); quota_end checks what was never
 * defined: in Kueue a cohort that no object describes exists with no quota of its own, a flavor must exist.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_QUOTA_BUILD_H
#define TRAINYARD_INPUT_QUOTA_BUILD_H

#include "base/array.h"
#include "input/raw.h"

struct quota_lines { struct quota_line *v; size_t n, cap; };

struct quota_builder;
struct quota_builder *quota_begin(struct build *b);
void quota_end(struct quota_builder *qb, struct quota_spec *out);

uint16_t quota_resource(struct quota_builder *qb, const char *name); /* added when new */
uint16_t quota_find_flavor(struct quota_builder *qb, const char *name); /* NO_INDEX: unknown */
uint16_t quota_add_flavor(struct quota_builder *qb, const char *name, uint64_t groups);
uint16_t quota_cohort(struct quota_builder *qb, const char *name); /* added without quota when new */
struct cohort_spec *quota_define_cohort(struct quota_builder *qb, const char *name, const char *parent,
                                        const struct value *at);
/* NULL after an error: the name is there already. The pointer is good until the next one is added. */
struct cluster_queue_spec *quota_add_queue(struct quota_builder *qb, const char *name, const struct value *at);
void quota_add_local(struct quota_builder *qb, const char *name, const char *ns, const char *queue,
                     enum stop_policy stop, const struct value *at);
void quota_add_priority(struct quota_builder *qb, const char *name, int32_t value, const struct value *at);

/* The line of (flavor, resource); with `add` a new one without quota and limits, else NULL. */
struct quota_line *quota_line_at(struct quota_lines *lines, uint16_t flavor, uint16_t resource, bool add);
/* Copies the lines into the arena and frees them. */
void quota_take_lines(struct quota_builder *qb, struct quota_lines *lines, struct quota_line **to, uint32_t *n);
/* One resource group of all flavors and resources of the lines; every pair gets a line (0 where none was given). */
void quota_one_group(struct quota_builder *qb, struct cluster_queue_spec *q, struct quota_lines *lines);

void queue_policies(struct cluster_queue_spec *q, const struct raw_preemption *p, const struct raw_fungibility *f);

#endif
