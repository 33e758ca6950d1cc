/* import_batsim.c - Batsim's JSON workloads: "jobs" with id, subtime, res, walltime, profile; "profiles" with delays.
 *
 * Numbers are taken from their text, so that 4.709164021244639 s is 4709164021 ns on every machine. Only profiles of
 * type "delay" say how long a job runs; the others depend on a platform that the workload does not hold.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "input/import_reader.h"

struct batsim_reading {
    struct import_reader *r;
    struct json_doc *doc;
    struct hmap delays; /* profile name -> work_ns + 1; 0: not usable, already reported */
};

static bool read_delay(struct batsim_reading *b, const cJSON *profile, int64_t *ns)
{
    const char *type = NULL;
    if (!json_as_object(b->doc, profile) || json_require(b->doc, profile, "type") == NULL ||
        !json_get_string(b->doc, profile, "type", &type))
        return false;
    if (strcmp(type, "delay") != 0) {
        json_error(b->doc, profile, "a profile of type \"%.40s\" has no duration of its own", type);
        diag_help(b->r->diag, "only \"delay\" profiles can be imported; others depend on Batsim's platform file");
        return false;
    }
    const cJSON *delay = json_require(b->doc, profile, "delay");
    if (delay == NULL) return false;
    const char *text = json_number_text(b->doc, delay);
    if (text) return import_seconds(b->r, json_line(b->doc, delay), "delay", text, ns);
    json_error(b->doc, delay, "is no number");
    diag_help(b->r->diag, "delays are seconds, such as 88.51");
    return false;
}

static void read_profiles(struct batsim_reading *b, const cJSON *profiles)
{
    const cJSON *p;
    cJSON_ArrayForEach(p, profiles)
    {
        int64_t ns;
        hmap_put_str(&b->delays, p->string, read_delay(b, p, &ns) ? (uint64_t)ns + 1 : 0);
    }
}

/* The text of a member that must be a number; NULL with an error. */
static const char *number(struct batsim_reading *b, const cJSON *job, const char *key)
{
    const cJSON *node = json_require(b->doc, job, key);
    if (node == NULL) return NULL;
    const char *text = json_number_text(b->doc, node);
    if (text) return text;
    json_error(b->doc, node, "is no number");
    diag_help(b->r->diag, "\"%s\" of a job is a number", key);
    return NULL;
}

/* Ids are numbers or texts, of old also "workload!number"; both are kept as they stand. */
static bool read_id(struct batsim_reading *b, const cJSON *job, struct import_row *row)
{
    const cJSON *id = json_require(b->doc, job, b->r->column[FIELD_JOB]);
    if (id == NULL) return false;
    if (cJSON_IsString(id))
        row->job = id->valuestring;
    else
        row->job = json_number_text(b->doc, id);
    if (row->job) return true;
    json_error(b->doc, id, "is neither a number nor a string");
    return false;
}

static bool read_walltime(struct batsim_reading *b, const cJSON *job, struct import_row *row)
{
    const char *key = b->r->column[FIELD_LIMIT];
    const cJSON *node = json_member(job, key);
    if (node == NULL) return true;
    const char *text = number(b, job, key);
    if (text == NULL) return false;
    if (strcmp(text, "-1") == 0 || strcmp(text, "-1.0") == 0) return true;
    return import_seconds(b->r, json_line(b->doc, node), key, text, &row->limit_ns);
}

static bool read_work(struct batsim_reading *b, const cJSON *job, struct import_row *row)
{
    const char *profile = NULL;
    uint64_t work;
    if (json_require(b->doc, job, "profile") == NULL || !json_get_string(b->doc, job, "profile", &profile))
        return false;
    if (!hmap_get_str(&b->delays, profile, &work)) {
        json_error(b->doc, json_member(job, "profile"), "no profile \"%.40s\" in \"profiles\"", profile);
        diag_help(b->r->diag, "each job names one of the profiles of the same file");
        return false;
    }
    row->work_ns = (int64_t)work - 1;
    return work > 0;
}

static void read_name(struct batsim_reading *b, const cJSON *job, enum import_field f, const char **text)
{
    if (b->r->column[f]) json_get_string(b->doc, job, b->r->column[f], text);
}

static void read_job(struct batsim_reading *b, const cJSON *job)
{
    struct import_reader *r = b->r;
    struct import_row row = {.line = json_line(b->doc, job), .limit_ns = TIME_NEVER};
    r->result->rows++;
    if (!json_as_object(b->doc, job)) return;
    const char *submit = number(b, job, r->column[FIELD_SUBMIT]), *res = number(b, job, r->column[FIELD_GPUS]);
    bool ok = submit && res;
    ok &= read_id(b, job, &row);
    if (submit) ok &= import_seconds(r, row.line, r->column[FIELD_SUBMIT], submit, &row.submit_ns);
    if (res) ok &= import_gpus(r, row.line, r->column[FIELD_GPUS], res, &row.shares);
    ok &= read_walltime(b, job, &row);
    ok &= read_work(b, job, &row);
    read_name(b, job, FIELD_QUEUE, &row.queue);
    read_name(b, job, FIELD_TEAM, &row.team);
    read_name(b, job, FIELD_CLASS, &row.class);
    if (ok) import_add(r, &row);
}

static void read_document(struct batsim_reading *b)
{
    const cJSON *root = b->doc->root, *job;
    if (!json_as_object(b->doc, root)) return;
    int64_t machines = 0;
    const cJSON *jobs = json_require(b->doc, root, "jobs"), *profiles = json_require(b->doc, root, "profiles");
    if (jobs == NULL || profiles == NULL || !json_as_array(b->doc, jobs) || !json_as_object(b->doc, profiles)) return;
    if (json_get_int64(b->doc, root, "nb_res", 1, IMPORT_MAX_GPUS, &machines))
        b->r->result->machines = (uint32_t)machines;
    read_profiles(b, profiles);
    cJSON_ArrayForEach(job, jobs) read_job(b, job);
}

bool import_batsim_read(struct import_reader *r, const char *file)
{
    struct batsim_reading b = {.r = r, .doc = json_load(file, r->diag)};
    if (b.doc == NULL) return false;
    read_document(&b);
    hmap_free(&b.delays);
    json_free(b.doc);
    return true;
}

bool import_batsim_probe(const struct import_format *f, const char *line)
{
    (void)f;
    return line[strspn(line, " \t\r")] == '{';
}
