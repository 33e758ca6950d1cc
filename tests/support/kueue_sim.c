/* kueue_sim.c - see kueue_sim.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/kueue_sim.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/str.h"
#include "input/scenario.h"
#include "run/run.h"
#include "tests/support/temp_run.h"

/* The recordings' t0 lies 0.1 s after a whole second of the wall clock; here time 0 is one. */
static const double wall_s = 0.1, noticed_s = 0.1;

static const cJSON *get(const cJSON *o, const char *key) { return cJSON_GetObjectItemCaseSensitive(o, key); }
static const char *text(const cJSON *o, const char *key) { return cJSON_GetStringValue(get(o, key)); }

static double number(const cJSON *o, const char *key, double otherwise)
{
    const cJSON *v = get(o, key);
    return cJSON_IsNumber(v) ? v->valuedouble : otherwise;
}

/* ---- manifests, as JSON documents of a YAML stream ---- */

static cJSON *object(const char *kind, const char *name)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "apiVersion", "kueue.x-k8s.io/v1beta1");
    cJSON_AddStringToObject(o, "kind", kind);
    cJSON_AddStringToObject(cJSON_AddObjectToObject(o, "metadata"), "name", name);
    return o;
}

static void put(struct str *out, cJSON *o)
{
    char *s = cJSON_PrintUnformatted(o);
    str_printf(out, "---\n%s\n", s);
    free(s);
    cJSON_Delete(o);
}

static void copy_key(cJSON *to, const char *as, const cJSON *from, const char *key)
{
    const cJSON *v = get(from, key);
    if (v && !cJSON_IsNull(v)) cJSON_AddItemToObject(to, as, cJSON_Duplicate(v, true));
}

static void add_quotas(cJSON *flavor, const cJSON *quotas)
{
    const cJSON *q;
    cJSON *list = cJSON_AddArrayToObject(flavor, "resources");
    cJSON_ArrayForEach(q, quotas)
    {
        cJSON *r = cJSON_CreateObject();
        cJSON_AddStringToObject(r, "name", q->string);
        copy_key(r, "nominalQuota", q, "nominal");
        copy_key(r, "borrowingLimit", q, "borrowingLimit");
        copy_key(r, "lendingLimit", q, "lendingLimit");
        cJSON_AddItemToArray(list, r);
    }
}

static void add_groups(cJSON *spec, const cJSON *groups)
{
    const cJSON *g, *f;
    cJSON *list = cJSON_AddArrayToObject(spec, "resourceGroups");
    cJSON_ArrayForEach(g, groups)
    {
        cJSON *group = cJSON_CreateObject(), *flavors;
        copy_key(group, "coveredResources", g, "resources");
        flavors = cJSON_AddArrayToObject(group, "flavors");
        cJSON_ArrayForEach(f, get(g, "flavors"))
        {
            cJSON *flavor = cJSON_CreateObject();
            cJSON_AddStringToObject(flavor, "name", text(f, "name"));
            add_quotas(flavor, get(f, "quotas"));
            cJSON_AddItemToArray(flavors, flavor);
        }
        cJSON_AddItemToArray(list, group);
    }
}

static void write_queue(struct str *out, const cJSON *q)
{
    cJSON *o = object("ClusterQueue", text(q, "name")), *spec = cJSON_AddObjectToObject(o, "spec");
    copy_key(spec, "cohort", q, "cohort");
    copy_key(spec, "queueingStrategy", q, "queueingStrategy");
    copy_key(spec, "preemption", q, "preemption");
    copy_key(spec, "flavorFungibility", q, "flavorFungibility");
    add_groups(spec, get(q, "groups"));
    put(out, o);
}

static void write_manifests(struct str *out, const cJSON *s)
{
    const cJSON *i;
    cJSON_ArrayForEach(i, get(s, "flavors"))
    {
        cJSON *o = object("ResourceFlavor", text(i, "name")), *spec = cJSON_AddObjectToObject(o, "spec");
        cJSON_AddStringToObject(cJSON_AddObjectToObject(spec, "nodeLabels"), "sim/flavor", text(i, "name"));
        put(out, o);
    }
    cJSON_ArrayForEach(i, get(s, "cohorts"))
    {
        cJSON *o = object("Cohort", text(i, "name")), *spec = cJSON_AddObjectToObject(o, "spec");
        copy_key(spec, "parent", i, "parent");
        if (get(i, "groups")) add_groups(spec, get(i, "groups"));
        put(out, o);
    }
    cJSON_ArrayForEach(i, get(s, "clusterQueues")) write_queue(out, i);
    cJSON_ArrayForEach(i, get(s, "localQueues"))
    {
        cJSON *o = object("LocalQueue", text(i, "name"));
        copy_key(cJSON_AddObjectToObject(o, "spec"), "clusterQueue", i, "clusterQueue");
        put(out, o);
    }
    cJSON_ArrayForEach(i, get(s, "priorityClasses"))
    {
        cJSON *o = object("WorkloadPriorityClass", text(i, "name"));
        copy_key(o, "value", i, "value");
        put(out, o);
    }
}

/* ---- the scenario ---- */

static void write_nodes(struct str *out, const cJSON *s)
{
    const cJSON *i, *l;
    const char *between = "";
    cJSON_ArrayForEach(i, get(s, "nodes"))
    {
        str_printf(out, "%s{ \"group\": \"%s-%s\", \"count\": %d, \"gpus\": %d, \"labels\": { \"sim/flavor\": \"%s\"", between,
                   text(i, "flavor"), text(i, "name"), (int)number(i, "count", 1), (int)number(i, "gpu", 0), text(i, "flavor"));
        cJSON_ArrayForEach(l, get(i, "labels")) str_printf(out, ", \"%s\": \"%s\"", l->string, l->valuestring);
        str_append(out, " } }");
        between = ", ";
    }
    if (get(s, "nodes")) return;
    cJSON_ArrayForEach(i, get(s, "flavors"))
    {
        str_printf(out, "%s{ \"group\": \"%s\", \"count\": 64, \"gpus\": 8, \"labels\": { \"sim/flavor\": \"%s\" } }", between,
                   text(i, "name"), text(i, "name"));
        between = ", ";
    }
}

static void write_stack(struct str *out, const cJSON *s)
{
    const cJSON *gates = get(get(s, "kueue"), "featureGates");
    const cJSON *hashing = get(gates, "SchedulingEquivalenceHashing"), *sorting = get(gates, "PrioritySortingWithinCohort");
    str_append(out, "\"torchrun.rendezvous\": \"0s\", \"kubelet.container-start\": \"100ms\", \"kubelet.pod-delete\": \"300ms\"");
    if (hashing) str_printf(out, ", \"kueue.equivalence-hashing\": %s", cJSON_IsTrue(hashing) ? "true" : "false");
    if (sorting) str_printf(out, ", \"kueue.priority-sorting-within-cohort\": %s", cJSON_IsTrue(sorting) ? "true" : "false");
}

static void write_request(struct str *out, const cJSON *request)
{
    const cJSON *r;
    if (!get(request, "nvidia.com/gpu")) str_append(out, ", \"gpus\": 0");
    cJSON_ArrayForEach(r, request)
    {
        const char *key = strcmp(r->string, "nvidia.com/gpu") == 0 ? "gpus" : r->string;
        if (cJSON_IsNumber(r)) str_printf(out, ", \"%s\": %g", key, r->valuedouble);
        else str_printf(out, ", \"%s\": \"%s\"", key, r->valuestring);
    }
}

static void write_job(struct str *out, const cJSON *j)
{
    const cJSON *l;
    const char *between = "";
    str_printf(out, "{ \"id\": \"%s\", \"kind\": \"Job\", \"completionMode\": \"Indexed\", \"restartPolicy\": \"Never\", \"queue\": \"%s\","
                    " \"submit\": \"%.3fs\", \"duration\": \"%.3fs\", \"replicas\": %d",
               text(j, "name"), text(j, "queue"), number(j, "submit_s", 0) + wall_s, number(j, "duration_s", 1) + noticed_s,
               (int)number(j, "parallelism", 1));
    if (get(j, "minParallelism")) str_printf(out, ", \"minParallelism\": %d", (int)number(j, "minParallelism", 1));
    if (text(j, "priority")) str_printf(out, ", \"priorityClass\": \"%s\"", text(j, "priority"));
    write_request(out, get(j, "request"));
    if (get(j, "nodeSelector")) {
        str_append(out, ", \"nodeSelector\": { ");
        cJSON_ArrayForEach(l, get(j, "nodeSelector"))
        {
            str_printf(out, "%s\"%s\": \"%s\"", between, l->string, l->valuestring);
            between = ", ";
        }
        str_append(out, " }");
    }
    str_append(out, " }");
}

static void write_events(struct str *out, const cJSON *s)
{
    const cJSON *e;
    const char *between = "";
    cJSON_ArrayForEach(e, get(s, "events"))
    {
        const char *policy = text(e, "policy");
        int value = strcmp(policy, "None") == 0 ? 0 : strcmp(policy, "Hold") == 0 ? 1 : 2;
        str_printf(out, "%s{ \"at\": \"%.3fs\", \"target\": \"queue/%s\", \"action\": \"hold\", \"value\": %d }", between,
                   number(e, "at_s", 0) + wall_s, text(e, "stop"), value);
        between = ", ";
    }
}

static void write_scenario(struct str *out, const struct kueue_play *p, const char *manifests)
{
    const cJSON *s = kueue_play_scenario(p), *j;
    const char *between = "";
    str_append(out, "{ \"trainyard\": 1, \"name\": \"recording\", \"cluster\": { \"nodes\": [ ");
    write_nodes(out, s);
    str_printf(out, " ] }, \"objects\": [ \"%s\" ], \"approaches\": { \"kueue\": { \"lifecycle\": \"batch-job\", \"admission\": \"kueue\", \"stack\": { ",
               manifests);
    write_stack(out, s);
    str_printf(out, " } } }, \"run\": { \"horizon\": \"%.3fs\" }, \"faults\": { \"script\": [ ", kueue_play_end(p) + wall_s);
    write_events(out, s);
    str_append(out, " ] }, \"workload\": { \"jobs\": [ ");
    cJSON_ArrayForEach(j, get(s, "jobs"))
    {
        str_append(out, between);
        write_job(out, j);
        between = ",\n";
    }
    str_append(out, " ] } }");
}

static struct scenario *load(const struct kueue_play *p)
{
    struct str manifests = {0}, json = {0};
    struct diag d = {0};
    char file[] = "/tmp/trainyard-kueue-XXXXXX.yaml";
    int fd = mkstemps(file, 5);
    if (fd < 0) return NULL;
    write_manifests(&manifests, kueue_play_scenario(p));
    ssize_t written = write(fd, str_text(&manifests), manifests.n);
    close(fd);
    write_scenario(&json, p, file);
    struct scenario *s = written == (ssize_t)manifests.n ? scenario_parse("recording", str_text(&json), json.n, NULL, &d) : NULL;
    if (!s) diag_print(&d, stderr);
    unlink(file);
    diag_free(&d);
    str_free(&manifests);
    str_free(&json);
    return s;
}

/* ---- what the run says ---- */

/* Jobs are numbered by submission; ids are the recording's names. */
static uint32_t job_of(const struct kueue_play *p, const struct scenario *s, int32_t index)
{
    char number_text[24];
    const char *id = job_id(s, &s->jobs[index], number_text);
    const cJSON *j;
    uint32_t n = 0;
    cJSON_ArrayForEach(j, get(kueue_play_scenario(p), "jobs"))
    {
        if (strcmp(text(j, "name"), id) == 0) return n;
        n++;
    }
    return UINT32_MAX;
}

static void read_decisions(struct kueue_play *p, const struct scenario *s, struct timeline_reader *in)
{
    const char *flavors[256] = {0};
    struct record r;
    for (uint32_t f = 0; f < s->quota.n_flavors; f++) flavors[f] = s->quota.flavors[f].name;
    while (timeline_next(in, &r)) {
        double at = (double)r.time_ns * 1e-9 - wall_s;
        if (r.type == REC_JOB_ADMITTED)
            kueue_play_admitted(p, at, job_of(p, s, r.job), (uint32_t)r.b, (uint64_t)r.a, flavors, s->quota.resources);
        else if (r.type == REC_JOB_EVICTED)
            kueue_play_evicted(p, at, job_of(p, s, r.job), (unsigned)r.b);
    }
}

bool kueue_sim_run(struct kueue_play *p, char why[1024])
{
    char *error = NULL;
    struct scenario *s = load(p);
    struct run *r = s ? temp_run(s, RECORD_JOBS) : NULL;
    struct timeline_reader *in = r ? timeline_open(r->dir, &error) : NULL;
    snprintf(why, 1024, "%s", !s ? "it makes no scenario" : !r ? "it does not run" : error ? error : "");
    if (in) {
        read_decisions(p, s, in);
        timeline_close(in);
    }
    free(error);
    if (r) temp_run_close(r);
    if (s) scenario_free(s);
    return in != NULL;
}
