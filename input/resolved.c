/* resolved.c - the resolved scenario as text, and its hash.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>

#include "base/hash.h"
#include "base/json_write.h"
#include "input/raw.h"

void scenario_resolved(const struct scenario *s, struct str *json, struct str *jobs_csv)
{
    struct json_writer w;
    json_write_begin(&w, json);
    object_write(&w, &scenario_type, s->raw);
    json_write_finish(&w);
    if (jobs_csv && s->n_table_jobs) trace_csv(s, jobs_csv);
}

static void hash_job(struct hash *h, const struct scenario *s, const struct job_spec *job)
{
    char buf[24];
    hash_i64(h, job->submit_ns);
    hash_i64(h, job->work_ns);
    hash_i64(h, job->limit_ns);
    hash_str(h, job_id(s, job, buf));
    hash_u64(h, (uint64_t)job->replicas << 32 | job->gpu_shares);
    hash_u64(h, (uint64_t)job->detail << 32 | (uint32_t)job->priority);
    hash_u64(h, (uint64_t)job->queue << 16 | job->team);
}

void scenario_set_hash(struct scenario *s)
{
    struct str json = { 0 };
    struct hash h;
    hash_init(&h);
    scenario_resolved(s, &json, NULL);
    hash_bytes(&h, json.s, json.n);
    for (size_t i = 0; i < s->n_jobs; i++) hash_job(&h, s, &s->jobs[i]);
    hash_text(hash_end(&h), s->hash);
    str_free(&json);
}
