/* line.c - see line.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/host/line.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/units.h"

static const char *const events[N_WORKER_EVENTS] = {"join", "met", "start", "step", "save", "checkpoint", "end"};
static const char *const ends[N_WORKER_ENDS] = {"done", "stopped", "resize"};

#define MOST_SECONDS 9e9 /* of an int64_t of ns */
#define MOST_WHOLE   9e15

/* Absent fields stay as they are. */
static bool whole(const cJSON *o, const char *key, int64_t *out)
{
    const cJSON *v = json_member(o, key);
    if (!v) return true;
    if (!cJSON_IsNumber(v) || !(fabs(v->valuedouble) <= MOST_WHOLE)) return false;
    *out = (int64_t)v->valuedouble;
    return true;
}

static bool time_of(const cJSON *o, const char *key, int64_t *out)
{
    const cJSON *v = json_member(o, key);
    if (!v) return true;
    if (!cJSON_IsNumber(v) || !(v->valuedouble >= 0 && v->valuedouble <= MOST_SECONDS)) return false;
    *out = (int64_t)(v->valuedouble * (double)NS_PER_S);
    return true;
}

static bool word(const cJSON *o, const char *key, const char *const *words, int n, int *out)
{
    const cJSON *v = json_member(o, key);
    for (int i = 0; cJSON_IsString(v) && i < n; i++)
        if (strcmp(v->valuestring, words[i]) == 0) return *out = i, true;
    return false;
}

static bool read_fields(const cJSON *o, struct worker_line *w)
{
    int event, end = END_DONE;
    if (!word(o, "event", events, N_WORKER_EVENTS, &event)) return false;
    *w = (struct worker_line){.event = (enum worker_event)event, .rank = -1, .step = -1, .resumed = -1};
    if (w->event == WORKER_END && !word(o, "reason", ends, N_WORKER_ENDS, &end)) return false;
    w->end = (enum worker_end)end;
    const cJSON *weights = json_member(o, "weights");
    if (cJSON_IsString(weights) && strlen(weights->valuestring) < sizeof w->weights) strcpy(w->weights, weights->valuestring);
    w->ok = cJSON_IsTrue(json_member(o, "ok"));
    return time_of(o, "time_s", &w->time_ns) && whole(o, "rank", &w->rank) && whole(o, "size", &w->size) &&
           whole(o, "step", &w->step) && whole(o, "resumed_step", &w->resumed) && time_of(o, "data_s", &w->data_ns) &&
           time_of(o, "compute_s", &w->compute_ns) && time_of(o, "communication_s", &w->communication_ns) &&
           time_of(o, "checkpoint_s", &w->checkpoint_ns) && time_of(o, "step_s", &w->all_ns);
}

bool worker_line_read(const char *text, size_t n, struct worker_line *w)
{
    cJSON *o = cJSON_ParseWithLength(text, n);
    bool ok = o && read_fields(o, w);
    cJSON_Delete(o);
    return ok;
}
