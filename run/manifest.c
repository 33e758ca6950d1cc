/* manifest.c - run.json, written and read.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_write.h"
#include "base/version.h"
#include "run/decimal.h"
#include "run/parts.h"

/* ---- writing ---- */

static void member_text(struct json_writer *w, const char *key, const char *text)
{
    json_write_key(w, key);
    json_write_string(w, text);
}

static void member_count(struct json_writer *w, const char *key, uint64_t x)
{
    json_write_key(w, key);
    json_write_uint64(w, x);
}

/* -1 (not known, open) is null. */
static void member_time(struct json_writer *w, const char *key, int64_t ns)
{
    json_write_key(w, key);
    if (ns >= 0)
        json_write_seconds(w, ns);
    else
        json_write_null(w);
}

static void write_head(struct json_writer *w, const struct run *r)
{
    member_count(w, "trainyard_run", RUN_FORMAT);
    member_text(w, "version", r->version);
    member_text(w, "state", run_state_names[r->state]);
    member_text(w, "scenario", r->scenario_name);
    member_text(w, "scenario_hash", r->scenario_hash);
    member_text(w, "approach", r->approach);
    member_count(w, "approach_index", r->approach_index);
    member_count(w, "replication", r->replication);
    member_count(w, "seed", r->seed);
    member_text(w, "back_end", r->back_end);
    member_text(w, "record", record_level_names[r->record_level]);
    member_text(w, "fingerprint", *r->fingerprint ? r->fingerprint : NULL);
    member_count(w, "records", r->n_records);
    member_time(w, "warmup_s", r->warmup_ns);
    member_time(w, "horizon_s", r->horizon_ns);
    member_time(w, "end_s", r->end_ns);
}

static void write_groups(struct json_writer *w, const struct run *r)
{
    char number[DECIMAL_GPU_S_BYTES + 1];
    json_write_key(w, "groups");
    json_write_array(w);
    for (size_t i = 0; i < r->n_groups; i++) {
        number[decimal_put_gpu_s(number, r->groups[i].existing)] = 0;
        json_write_object_inline(w);
        member_text(w, "name", r->groups[i].name);
        json_write_key(w, "existing_gpu_s");
        json_write_raw(w, number);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_parts(struct json_writer *w, const struct run_inside *in)
{
    json_write_key(w, "files");
    json_write_object(w);
    for (int p = 0; p < N_RUN_PARTS; p++) {
        if (!in->part[p].present) continue;
        json_write_key(w, run_part_names[p]);
        json_write_object_inline(w);
        member_count(w, "bytes", in->part[p].bytes);
        member_count(w, "rows", in->part[p].rows);
        member_count(w, "crc32", in->part[p].crc);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_summary(struct json_writer *w, const struct run *r)
{
    json_write_key(w, "summary");
    json_write_object(w);
    for (size_t i = 0; i < metric_count(); i++) {
        struct metric_value v = metric_of(r, i);
        json_write_key(w, metric_at(i)->name);
        json_write_object_inline(w);
        json_write_key(w, "value");
        json_write_double(w, v.value);
        member_text(w, "unit", metric_at(i)->unit);
        if (v.bound) {
            json_write_key(w, "bound");
            json_write_bool(w, true);
        }
        json_write_end(w);
    }
    json_write_end(w);
}

void manifest_text(struct str *out, const struct run_inside *in, bool with_summary)
{
    struct json_writer w;
    json_write_begin(&w, out);
    json_write_object(&w);
    write_head(&w, &in->run);
    write_groups(&w, &in->run);
    write_parts(&w, in);
    if (with_summary) write_summary(&w, &in->run);
    json_write_end(&w);
    json_write_finish(&w);
}

/* ---- reading ---- */

/* Text of a member or "" when it is absent or null. */
static const char *get_text(struct run_inside *in, struct json_doc *doc, const char *key)
{
    const char *text = "";
    const cJSON *node = json_member(doc->root, key);
    if (node && !cJSON_IsNull(node)) json_as_string(doc, node, &text);
    return arena_strdup(&in->arena, text);
}

static uint64_t as_count(struct json_doc *doc, const cJSON *node, uint64_t most)
{
    const char *text = node ? json_number_text(doc, node) : NULL;
    char *end = NULL;
    errno = 0;
    uint64_t x = text ? strtoull(text, &end, 10) : 0;
    if (text && *text >= '0' && *text <= '9' && *end == 0 && !errno && x <= most) return x;
    json_error(doc, node ? node : doc->root, "must be a whole number from 0 to %llu", (unsigned long long)most);
    return 0;
}

static uint64_t get_count(struct json_doc *doc, const cJSON *object, const char *key, uint64_t most)
{
    const cJSON *node = json_require(doc, object, key);
    return node ? as_count(doc, node, most) : 0;
}

static int64_t get_time(struct json_doc *doc, const char *key, int64_t otherwise)
{
    int64_t ns = otherwise;
    const cJSON *node = json_member(doc->root, key);
    if (!node || cJSON_IsNull(node)) return otherwise;
    const char *text = json_number_text(doc, node);
    if (!text || !parse_ns(text, &ns)) json_error(doc, node, "must be a time in seconds, with at most 9 decimals");
    return ns;
}

static int get_word(struct json_doc *doc, const char *key, const char *const *allowed, size_t n)
{
    json_require(doc, doc->root, key);
    int word = json_get_word(doc, doc->root, key, allowed, n);
    return word < 0 ? 0 : word;
}

static void read_head(struct run_inside *in, struct json_doc *doc)
{
    struct run *r = &in->run;
    r->state = (enum run_state)get_word(doc, "state", run_state_names, 4);
    r->record_level = get_word(doc, "record", record_level_names, 3);
    r->version = get_text(in, doc, "version");
    r->scenario_name = get_text(in, doc, "scenario");
    r->scenario_hash = get_text(in, doc, "scenario_hash");
    r->approach = get_text(in, doc, "approach");
    r->back_end = get_text(in, doc, "back_end");
    r->fingerprint = get_text(in, doc, "fingerprint");
    r->approach_index = (uint32_t)get_count(doc, doc->root, "approach_index", UINT32_MAX);
    r->replication = (uint32_t)get_count(doc, doc->root, "replication", UINT32_MAX);
    r->seed = get_count(doc, doc->root, "seed", UINT64_MAX);
    r->n_records = get_count(doc, doc->root, "records", UINT64_MAX);
    r->warmup_ns = get_time(doc, "warmup_s", 0);
    r->horizon_ns = get_time(doc, "horizon_s", -1);
    r->end_ns = get_time(doc, "end_s", -1);
}

static void read_groups(struct run_inside *in, struct json_doc *doc)
{
    const cJSON *groups = json_get_array(doc, doc->root, "groups"), *node;
    size_t n = groups ? (size_t)cJSON_GetArraySize(groups) : 0;
    in->run.groups = arena_array(&in->arena, n, struct run_group);
    in->run.n_groups = n;
    size_t i = 0;
    cJSON_ArrayForEach(node, groups)
    {
        struct run_group *g = &in->run.groups[i++];
        const char *name = "";
        const cJSON *sum = json_require(doc, node, "existing_gpu_s");
        const char *text = sum ? json_number_text(doc, sum) : NULL;
        json_get_string(doc, node, "name", &name);
        g->name = inside_name(in, name);
        if (sum && (!text || !decimal_get(text, GPU_S_DIGITS, &g->existing)))
            json_error(doc, sum, "must be GPU-seconds, with at most 12 decimals");
    }
}

static void read_parts(struct run_inside *in, struct json_doc *doc)
{
    const cJSON *files = json_get_object(doc, doc->root, "files");
    for (int p = 0; p < N_RUN_PARTS; p++) {
        const cJSON *file = json_get_object(doc, files, run_part_names[p]);
        if (!file) continue;
        in->part[p].present = true;
        in->part[p].bytes = get_count(doc, file, "bytes", INT64_MAX);
        in->part[p].rows = get_count(doc, file, "rows", INT64_MAX);
        in->part[p].crc = (uint32_t)get_count(doc, file, "crc32", UINT32_MAX);
    }
}

static bool is_manifest(struct json_doc *doc)
{
    const cJSON *format = json_member(doc->root, "trainyard_run");
    if (!format) {
        json_error(doc, doc->root, "is no manifest of a run: it has no \"trainyard_run\"");
        return false;
    }
    uint64_t number = as_count(doc, format, UINT32_MAX);
    if (number == RUN_FORMAT) return true;
    json_error(doc, format, "format %llu of a run; this version (" TRAINYARD_VERSION ") reads format %d",
               (unsigned long long)number, RUN_FORMAT);
    return false;
}

bool manifest_parse(struct run_inside *in, const char *name, const char *text, size_t n, struct diag *d)
{
    size_t before = diag_errors(d);
    struct json_doc *doc = json_parse(name, text, n, d);
    if (!doc) return false;
    if (json_as_object(doc, doc->root) && is_manifest(doc)) {
        read_head(in, doc);
        read_groups(in, doc);
        read_parts(in, doc);
    }
    json_free(doc);
    return diag_errors(d) == before;
}
