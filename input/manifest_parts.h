/* manifest_parts.h - what the writers of manifests share. Private to input/.
 *
 * Objects are cJSON trees; these put members at the end and copy all texts.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_MANIFEST_PARTS_H
#define TRAINYARD_INPUT_MANIFEST_PARTS_H

#include "input/manifests.h"
#include "input/raw.h"

struct manifest_writer {
    const struct scenario *s;
    const struct manifest_options *options;
    struct manifest_set *set;
    struct diag *diag;
    struct hmap names; /* "kind/namespace/name": taken */
};

/* One job on its way to an object. */
struct job_writing {
    struct manifest_writer *w;
    const struct job_spec *job;
    const struct job_detail *detail;
    const char *id, *name, *ns;
    cJSON *object, *meta, *annotations, *labels, *spec;
};

/* manifests.c */
cJSON *put_object(cJSON *into, const char *key);
cJSON *put_array(cJSON *into, const char *key);
void put_text(cJSON *into, const char *key, const char *text);
void put_number(cJSON *into, const char *key, int64_t x);
void put_bool(cJSON *into, const char *key, bool x);
void put_quantity(cJSON *into, const char *key, int64_t milli);
/* apiVersion, kind, metadata with name (and namespace). */
cJSON *new_object(const char *api_version, const char *kind, const char *name, const char *ns);
/* A tree of the scenario as cJSON. */
cJSON *tree_of(const struct value *v);
/* Takes the object; names are read from it. */
struct manifest_item *add_item(struct manifest_writer *w, cJSON *object);
/* Labels that select exactly these node groups, as a new object; NULL: all groups, or with *impossible none do. */
cJSON *selector_of(const struct manifest_writer *w, uint64_t groups, bool *impossible);

/* manifest_quota.c */
void write_quota_objects(struct manifest_writer *w);
/* Name of the class that stands for a priority without one. */
const char *priority_name(struct manifest_writer *w, int32_t priority);

/* manifest_kinds.c: object->spec of each kind; false after an error. */
bool write_job_spec(struct job_writing *j, enum job_kind kind);

#endif
