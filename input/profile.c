/* profile.c - workload profiles: read from JSON, checked.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/units.h"
#include "input/generate.h"
#include "input/import.h"

struct profile_reading {
    struct json_doc *doc;
    struct arena *arena;
    const double *p; /* probabilities of the quantiles */
    uint32_t n_p, n_teams;
    uint32_t gpus_per_node;
};

static const char *const top_keys[] = {"profile",    "name",  "source",        "jobs",  "rate_per_hour",
                                       "dispersion", "hours", "probabilities", "teams", "sizes"};
static const char *const size_keys[] = {"gpus", "share", "duration_s", "teams"};
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* An array of `want` numbers (0: any number of them), none negative; NULL with an error. */
static double *numbers(struct profile_reading *r, const cJSON *object, const char *key, uint32_t want, uint32_t *n)
{
    const cJSON *node = json_require(r->doc, object, key), *e;
    if (node == NULL || !json_as_array(r->doc, node)) return NULL;
    uint32_t have = (uint32_t)cJSON_GetArraySize(node), i = 0;
    if (want > 0 && have != want) {
        json_error(r->doc, node, "%u numbers instead of %u", have, want);
        return NULL;
    }
    double *v = arena_array(r->arena, have + 1, double);
    cJSON_ArrayForEach(e, node)
    {
        if (!json_as_double(r->doc, e, &v[i])) return NULL;
        if (!(v[i++] >= 0)) {
            json_error(r->doc, e, "is negative");
            return NULL;
        }
    }
    *n = have;
    return v;
}

static bool ascending(struct profile_reading *r, const cJSON *object, const char *key, const double *v, uint32_t n,
                      bool strictly)
{
    for (uint32_t i = 1; i < n; i++)
        if (v[i] < v[i - 1] || (strictly && v[i] == v[i - 1])) {
            json_error(r->doc, json_member(object, key), "must ascend, but number %u does not", i + 1);
            return false;
        }
    return true;
}

static bool some_weight(struct profile_reading *r, const cJSON *object, const char *key, const double *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (v[i] > 0) return true;
    json_error(r->doc, json_member(object, key), "all weights are zero");
    return false;
}

static bool read_probabilities(struct profile_reading *r)
{
    const cJSON *root = r->doc->root;
    double *p = numbers(r, root, "probabilities", 0, &r->n_p);
    r->p = p;
    if (p == NULL || !ascending(r, root, "probabilities", p, r->n_p, true)) return false;
    if (r->n_p >= 2 && p[0] == 0 && p[r->n_p - 1] == 1) return true;
    json_error(r->doc, json_member(root, "probabilities"), "must go from 0 to 1");
    return false;
}

static bool read_teams(struct profile_reading *r, struct workload_mix *mix)
{
    const cJSON *teams = json_get_array(r->doc, r->doc->root, "teams"), *e;
    mix->n_teams = teams ? (uint32_t)cJSON_GetArraySize(teams) : 0;
    if (mix->n_teams == 0) return true;
    const char **names = arena_array(r->arena, mix->n_teams, const char *);
    uint32_t i = 0;
    cJSON_ArrayForEach(e, teams) if (!json_as_string(r->doc, e, &names[i])) return false;
    else names[i] = arena_strdup(r->arena, names[i]), i++;
    mix->teams = names;
    r->n_teams = mix->n_teams;
    return true;
}

static bool read_durations(struct profile_reading *r, const cJSON *node, struct distribution *out)
{
    uint32_t n;
    double *x = numbers(r, node, "duration_s", r->n_p, &n);
    if (x == NULL || !ascending(r, node, "duration_s", x, n, false)) return false;
    for (uint32_t i = 0; i < n; i++) x[i] *= (double)NS_PER_S;
    *out = (struct distribution){.kind = DIST_QUANTILES, .p = r->p, .x = x, .n = n};
    return true;
}

static bool read_size(struct profile_reading *r, const cJSON *node, struct size_class *s)
{
    int64_t gpus = 0;
    if (!json_as_object(r->doc, node)) return false;
    bool ok = json_check_keys(r->doc, node, size_keys, COUNT(size_keys));
    ok &= json_require(r->doc, node, "gpus") != NULL && json_require(r->doc, node, "share") != NULL;
    ok &= json_get_int64(r->doc, node, "gpus", 1, 1000000, &gpus);
    ok &= json_get_double(r->doc, node, "share", &s->weight);
    ok &= read_durations(r, node, &s->work);
    if (ok && !(s->weight >= 0)) {
        json_error(r->doc, json_member(node, "share"), "is negative");
        ok = false;
    }
    if (!ok) return false;
    s->replicas = r->gpus_per_node ? import_replicas((uint32_t)gpus, r->gpus_per_node) : 1;
    s->gpu_shares = (uint32_t)(gpus / s->replicas) * SHARES_PER_GPU;
    if (r->n_teams == 0) return true;
    uint32_t n;
    double *teams = numbers(r, node, "teams", r->n_teams, &n);
    s->team_weights = teams;
    return teams != NULL && some_weight(r, node, "teams", teams, n);
}

static bool read_sizes(struct profile_reading *r, struct workload_mix *mix)
{
    const cJSON *sizes = json_require(r->doc, r->doc->root, "sizes"), *e;
    if (sizes == NULL || !json_as_array(r->doc, sizes)) return false;
    uint32_t n = (uint32_t)cJSON_GetArraySize(sizes), i = 0;
    struct size_class *v = arena_array(r->arena, n + 1, struct size_class);
    bool ok = true;
    double weight = 0;
    cJSON_ArrayForEach(e, sizes)
    {
        ok &= read_size(r, e, &v[i]);
        weight += v[i++].weight;
    }
    mix->sizes = v;
    mix->n_sizes = n;
    if (!ok || weight > 0) return ok;
    json_error(r->doc, sizes, "no size has a share above 0");
    return false;
}

static bool check_kind(struct profile_reading *r)
{
    static const char *const kinds[] = {"workload"};
    const cJSON *root = r->doc->root;
    return json_as_object(r->doc, root) && json_require(r->doc, root, "profile") &&
           json_get_word(r->doc, root, "profile", kinds, 1) == 0 &&
           json_check_keys(r->doc, root, top_keys, COUNT(top_keys));
}

static bool read_profile(struct profile_reading *r, struct workload_profile *p)
{
    const cJSON *root = r->doc->root;
    int64_t jobs = 0;
    uint32_t n;
    if (!check_kind(r)) return false;
    p->name = p->source = "";
    json_get_string(r->doc, root, "name", &p->name);
    json_get_string(r->doc, root, "source", &p->source);
    json_get_int64(r->doc, root, "jobs", 0, INT64_MAX, &jobs);
    json_get_double(r->doc, root, "rate_per_hour", &p->rate_per_hour);
    json_get_double(r->doc, root, "dispersion", &p->dispersion);
    p->name = arena_strdup(r->arena, p->name);
    p->source = arena_strdup(r->arena, p->source);
    p->jobs = (uint64_t)jobs;
    bool ok = read_probabilities(r) && read_teams(r, &p->mix);
    if (json_member(root, "hours")) {
        p->mix.hours = numbers(r, root, "hours", HOURS_PER_WEEK, &n);
        ok &= p->mix.hours != NULL && some_weight(r, root, "hours", p->mix.hours, n);
    }
    return ok && read_sizes(r, &p->mix);
}

static struct workload_profile *from_document(struct json_doc *doc, uint32_t gpus_per_node, struct diag *d)
{
    if (doc == NULL) return NULL;
    struct workload_profile *p = xcalloc(1, sizeof *p);
    struct profile_reading r = {.doc = doc, .arena = &p->arena, .gpus_per_node = gpus_per_node};
    size_t errors = diag_errors(d);
    bool ok = read_profile(&r, p) && diag_errors(d) == errors;
    json_free(doc);
    if (ok) return p;
    workload_profile_free(p);
    return NULL;
}

struct workload_profile *workload_profile_parse(const char *name, const char *text, size_t n, uint32_t gpus_per_node,
                                                struct diag *d)
{
    return from_document(json_parse(name, text, n, d), gpus_per_node, d);
}

void workload_profile_free(struct workload_profile *p)
{
    if (p == NULL) return;
    arena_free(&p->arena);
    free(p);
}
