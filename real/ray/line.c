/* line.c - see line.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/ray/line.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/units.h"

#define MARK         "trainyard "
#define MOST_SECONDS 9e9
#define MOST_WHOLE   9e15

static bool number(const cJSON *o, const char *key, double most, double *out)
{
    const cJSON *v = json_member(o, key);
    if (!cJSON_IsNumber(v) || !(v->valuedouble >= 0 && v->valuedouble <= most)) return false;
    *out = v->valuedouble;
    return true;
}

static bool whole(const cJSON *o, const char *key, double most, int64_t *out)
{
    double x;
    if (!number(o, key, most, &x) || x != floor(x)) return false;
    *out = (int64_t)x;
    return true;
}

static bool read_seconds(const cJSON *o, const char *key, int64_t *ns)
{
    double s;
    if (!number(o, key, MOST_SECONDS, &s)) return false;
    *ns = (int64_t)(s * (double)NS_PER_S);
    return true;
}

static bool read_time(const cJSON *o, struct ray_line *l) { return read_seconds(o, "time_s", &l->time_ns); }

static bool read_state(const cJSON *o, const char *word, struct ray_line *l)
{
    l->kind = strcmp(word, "DRIVER") == 0 ? RAY_DRIVER : RAY_STATE;
    l->state = -1;
    for (int i = 0; i < N_RAY_TRAIN_STATES; i++)
        if (strcasecmp(word, ray_train_state_names[i]) == 0) l->state = i;
    if (!whole(o, "workers", RAY_MOST_RANKS, &l->world)) l->world = 0;
    return read_time(o, l);
}

static bool read_group(const cJSON *o, const char *number, struct ray_line *l)
{
    const cJSON *nodes = json_member(o, "nodes"), *node;
    l->n_nodes = 0;
    if (!cJSON_IsArray(nodes) || !whole(o, number, 1e9, &l->group) || !whole(o, "world", RAY_MOST_RANKS, &l->world)) return false;
    cJSON_ArrayForEach(node, nodes) {
        const char *address = cJSON_GetStringValue(node);
        if (!address || strlen(address) >= RAY_ADDRESS || l->n_nodes == RAY_MOST_RANKS) return false;
        memcpy(l->nodes[l->n_nodes++], address, strlen(address) + 1);
    }
    return l->world == l->n_nodes && l->world > 0 && read_time(o, l);
}

static bool read_rank(const cJSON *o, const cJSON *said, struct ray_line *l)
{
    l->kind = RAY_RANK;
    char *text = cJSON_PrintUnformatted(said);
    bool ok = text && worker_line_read(text, strlen(text), &l->said);
    cJSON_free(text);
    l->time_ns = l->said.time_ns;
    return ok && l->said.event != WORKER_STEP && whole(o, "group", 1e9, &l->group) && whole(o, "rank", RAY_MOST_RANKS - 1, &l->rank);
}

static bool read_steps(const cJSON *o, struct ray_line *l)
{
    struct ray_steps *s = &l->steps;
    l->kind = RAY_STEPS;
    return read_time(o, l) && whole(o, "group", 1e9, &l->group) && whole(o, "first", MOST_WHOLE, &s->first) &&
           whole(o, "next", MOST_WHOLE, &s->next) && s->next > s->first && read_seconds(o, "data_s", &s->data_ns) &&
           read_seconds(o, "compute_s", &s->compute_ns) && read_seconds(o, "communication_s", &s->communication_ns) &&
           read_seconds(o, "checkpoint_s", &s->checkpoint_ns);
}

static bool read_fault(const cJSON *o, const char *what, struct ray_line *l)
{
    l->kind = RAY_FAULT;
    l->hang = strcmp(what, "hang") == 0;
    return whole(o, "rank", RAY_MOST_RANKS - 1, &l->rank) && read_time(o, l);
}

static bool read_line(const cJSON *o, struct ray_line *l)
{
    const cJSON *said = json_member(o, "line");
    const char *state = cJSON_GetStringValue(json_member(o, "state")), *fault = cJSON_GetStringValue(json_member(o, "fault"));
    if (state) return read_state(o, state, l);
    if (fault) return read_fault(o, fault, l);
    if (said) return read_rank(o, said, l);
    if (json_member(o, "next")) return read_steps(o, l);
    l->kind = json_member(o, "placed") ? RAY_PLACED : RAY_GROUP;
    return read_group(o, l->kind == RAY_PLACED ? "placed" : "group", l);
}

bool ray_line_read(const char *text, size_t n, struct ray_line *l)
{
    const size_t mark = strlen(MARK);
    if (n < mark || memcmp(text, MARK, mark) != 0) return false;
    cJSON *o = cJSON_ParseWithLength(text + mark, n - mark);
    bool ok = cJSON_IsObject(o) && read_line(o, l);
    cJSON_Delete(o);
    return ok;
}
