/* job_play.c - what is particular to recordings of batch/v1 Jobs (condition_play.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "base/json_write.h"
#include "tests/support/condition_play.h"

/* ---- the scenario ---- */

static void copy_number(struct json_writer *w, const cJSON *from, const char *key, const char *as)
{
    const cJSON *v = play_get(from, key);
    if (!cJSON_IsNumber(v)) return;
    json_write_key(w, as);
    json_write_int64(w, v->valueint);
}

static void write_text(struct json_writer *w, const char *key, const char *value)
{
    if (!value) return;
    json_write_key(w, key);
    json_write_string(w, value);
}

static void write_job(struct json_writer *w, const cJSON *manifest)
{
    const cJSON *spec = play_get(manifest, "spec"), *pod = play_get(play_get(spec, "template"), "spec");
    json_write_object(w);
    write_text(w, "id", play_text(play_get(manifest, "metadata"), "name"));
    write_text(w, "kind", "Job");
    json_write_key(w, "gpus");
    json_write_int64(w, 0);
    write_text(w, "duration", "1s");
    copy_number(w, spec, "parallelism", "replicas");
    copy_number(w, spec, "completions", "completions");
    copy_number(w, spec, "backoffLimit", "backoffLimit");
    copy_number(w, spec, "activeDeadlineSeconds", "activeDeadlineSeconds");
    copy_number(w, spec, "ttlSecondsAfterFinished", "ttlSecondsAfterFinished");
    write_text(w, "completionMode", play_text(spec, "completionMode"));
    write_text(w, "podReplacementPolicy", play_text(spec, "podReplacementPolicy"));
    write_text(w, "restartPolicy", play_text(pod, "restartPolicy"));
    if (cJSON_IsTrue(play_get(spec, "suspend"))) {
        json_write_key(w, "suspend");
        json_write_bool(w, true);
    }
    json_write_end(w);
}

static const char head[] =
    "{ \"trainyard\": 1, \"name\": \"recording\", \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": 4, \"gpus\": 8 } ] },"
    "\"approaches\": { \"operator\": { \"lifecycle\": \"batch-job\", \"stack\": {"
    "\"kubelet.container-start\": \"330ms\", \"kubelet.pod-delete\": \"300ms\" } } },"
    "\"workload\": { \"jobs\": [ ";

static void write_scenario(const struct condition_play *p, struct str *out)
{
    struct json_writer w;
    str_append(out, head);
    json_write_begin(&w, out);
    write_job(&w, play_get(p->json, "manifest"));
    json_write_finish(&w);
    str_append(out, "] } }");
}

/* As for an object that does not say how long it works. */
static void endless(struct scenario *s) { s->jobs[0].work_ns = TIME_NEVER; }

/* ---- which pod ---- */

/* Length of a pod's name without its random suffix. */
static size_t stem(const char *name)
{
    const char *dash = strrchr(name, '-');
    return dash ? (size_t)(dash - name) : strlen(name);
}

static bool same_stem(const char *a, const char *b) { return stem(a) == stem(b) && !strncmp(a, b, stem(a)); }

/* Our pod that is the recorded one: the same instance of the same index. NULL: none yet. */
static const char *ours_of(const struct condition_play *p, const char *recorded)
{
    size_t nth = 0;
    for (size_t i = 0; i < p->recorded.pods.n && strcmp(p->recorded.pods.v[i].name, recorded); i++)
        nth += same_stem(p->recorded.pods.v[i].name, recorded);
    for (size_t i = 0; i < p->ours.pods.n; i++)
        if (same_stem(p->ours.pods.v[i].name, recorded) && nth-- == 0) return p->ours.pods.v[i].name;
    return NULL;
}

static void cut_suffixes(struct side *s)
{
    for (size_t i = 0; i < s->pods.n; i++) s->pods.v[i].name[stem(s->pods.v[i].name)] = '\0';
}

/* How long the recorded pod's container took to stop after the driver deleted it. KWOK stops it when the finalizer is off;
 * only a pod that stayed for more than a second after that was slow of itself. */
static int64_t recorded_grace(const struct condition_play *p, const char *name, double t)
{
    const cJSON *pod;
    cJSON_ArrayForEach(pod, play_get(p->json, "pods"))
    {
        const cJSON *track = play_get(pod, "track"), *gone = play_get(pod, "deleted");
        if (strcmp(play_text(pod, "name"), name) != 0 || !cJSON_IsNumber(gone)) continue;
        double last = cJSON_GetArrayItem(cJSON_GetArrayItem(track, cJSON_GetArraySize(track) - 1), 0)->valuedouble;
        if (gone->valuedouble - last > 1) return (int64_t)((gone->valuedouble - t) * 1e9);
    }
    return -1;
}

static void finish(struct condition_play *p)
{
    cut_suffixes(&p->recorded);
    cut_suffixes(&p->ours);
}

static void rules(const struct condition_play *p, struct side_rules *r)
{
    (void)p;
    r->gone_unseen = true;
}

const struct condition_kind job_kind = {
    .kind = "Job",
    .scale = "parallelism",
    .write_scenario = write_scenario,
    .adjust = endless,
    .ours_of = ours_of,
    .grace = recorded_grace,
    .finish = finish,
    .rules = rules,
};
