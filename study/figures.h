/* figures.h - members and fields that the files of compare and report and the commands share.
 *
 *     figure_string(&w, "base", "operator");
 *     figure_paired(&w, &p->metrics[m]);             // the members of docs/compare-format.md, "Figure"
 *     figure_csv_text(out, "it said \"no\"");          // "it said ""no""",
 *
 * A number that is not known is null in JSON and an empty field in CSV. CSV fields end with their comma.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_FIGURES_H
#define TRAINYARD_STUDY_FIGURES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json_write.h"
#include "base/str.h"
#include "run/ledger.h"
#include "study/approach_runs.h"
#include "study/paired.h"

void figure_string(struct json_writer *, const char *key, const char *text);
void figure_double(struct json_writer *, const char *key, double);
void figure_count(struct json_writer *, const char *key, size_t);
void figure_bool(struct json_writer *, const char *key, bool);
void figure_interval(struct json_writer *, const char *key, const struct interval *);
void figure_gpu_s(struct json_writer *, const char *key, share_ns);
/* ns as exact seconds; sums over jobs may pass 64 bits. */
void figure_exact_s(struct json_writer *, const char *key, __int128 ns);
/* The members of a paired figure, into the object that is open. */
void figure_paired(struct json_writer *, const struct paired *);

/* What an approach is, likewise; docs/compare-format.md, "Approach", up to not_complete. */
void figure_approach(struct json_writer *, const struct approach_runs *);

void figure_csv_text(struct str *, const char *);
void figure_csv_number(struct str *, double, bool known);

#endif
