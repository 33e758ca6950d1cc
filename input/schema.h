/* schema.h - the JSON Schema and the manual of the scenario format, made from the tables that read it.
 *
 *     struct str out = {0};
 *     scenario_schema(&out);        // JSON Schema 2020-12: scenarios/scenario.schema.json
 *     scenario_reference(&out);     // Markdown tables of all keys: the second half of docs/scenario.md
 *     scenario_manual(&out);        // trainyard-scenario(5), roff
 *
 * A test holds the first two files to these functions, so reader, schema and manual cannot drift apart.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_SCHEMA_H
#define TRAINYARD_INPUT_SCHEMA_H

struct str;
void scenario_schema(struct str *out);
void scenario_reference(struct str *out);
void scenario_manual(struct str *out);

#endif
