/* filter.h - search and filter: which jobs are meant by "queue:team-a gpus>=64 state:failed".
 *
 *     struct filter *f = filter_parse("team:speech wait>2h", &err);   // NULL and err (to free): which word, what is allowed
 *     if (filter_job(f, scene, job)) ...
 *     filter_free(f);
 *
 * Words, all of which must hold, separated by blanks:
 *   KEY:TEXT     job, team, queue, kind, state, node, reason (a wait reason, stop reason or fault that the job met): contains TEXT, letter case ignored; "=" instead of ":" is the whole
 *   KEY OP NUMBER  gpus, wait, jct, restarts, preemptions, priority, submit, start, finish with < <= = >= >; times with units (30m, 2h)
 *   TEXT         id, team, queue or kind contains it
 *   -WORD        not
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_UI_FILTER_H
#define TRAINYARD_VIZ_UI_FILTER_H

#include <stdbool.h>

#include "viz/model/scene.h"

struct filter;
struct filter *filter_parse(const char *text, char **err);
void filter_free(struct filter *);
bool filter_job(const struct filter *, const struct scene *, int32_t job);

#endif
