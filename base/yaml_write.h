/* yaml_write.h - YAML written from a cJSON tree, as Kubernetes' tools read it.
 *
 *     struct str out = {0};
 *     yaml_write(&out, object);          // one document, begun by "---"
 *
 * Block style, two spaces a level, members in their order. A string that another reader could take for something else (a
 * number, true, null, a date, with special characters) is quoted; numbers are written as whole numbers where they are whole.
 * What yaml.h reads back and value_from_yaml makes of it is the tree that was written.
 * Cost: O(size), by libyaml's emitter. Aborts when memory is out.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_BASE_YAML_WRITE_H
#define TRAINYARD_BASE_YAML_WRITE_H

#include <cjson/cJSON.h>

#include "base/str.h"

void yaml_write(struct str *out, const cJSON *node);

#endif
