/* scenario.c - loads a scenario: tree, patches, tables, sections, in that order.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/scenario.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "input/generate.h"
#include "input/objects.h"
#include "input/raw.h"
#include "input/value.h"

static const struct field scenario_fields[] = {
    FIELD(raw_scenario, version, "trainyard", TYPE_INT, .required = true, .min = 1, .max = 1, .help = "version of this format: 1"),
    FIELD(raw_scenario, name, "name", TYPE_STRING, .help = "default: the file's name"),
    FIELD(raw_scenario, description, "description", TYPE_STRING, .help = "for people"),
    FIELD(raw_scenario, cluster, "cluster", TYPE_OBJECT, .sub = &cluster_type, .required = true, .always = true,
          .help = "the machines"),
    FIELD(raw_scenario, priorities, "priorities", TYPE_MAP, .sub = &priority_type, .help = "priority classes by name"),
    FIELD(raw_scenario, cohorts, "cohorts", TYPE_LIST, .sub = &cohort_type,
          .help = "only where cohorts have parents or a quota of their own"),
    FIELD(raw_scenario, queues, "queues", TYPE_LIST, .sub = &queue_type, .help = "short form of Kueue's objects"),
    FIELD(raw_scenario, objects, "objects", TYPE_ANY,
          .help = "Kubernetes objects: YAML files (patterns with *) or the objects themselves"),
    FIELD(raw_scenario, workload, "workload", TYPE_OBJECT, .sub = &workload_type, .always = true, .help = "what is to be done"),
    FIELD(raw_scenario, faults, "faults", TYPE_OBJECT, .sub = &faults_type, .always = true, .help = "what goes wrong"),
    FIELD(raw_scenario, approaches, "approaches", TYPE_MAP, .sub = &approach_type,
          .help = "what is compared, by name; the first is the base"),
    FIELD(raw_scenario, run, "run", TYPE_OBJECT, .sub = &run_type, .always = true, .help = "how long, and how often"),
    FIELD(raw_scenario, live, "live", TYPE_OBJECT, .sub = &live_type, .help = "of live back ends: what they scale, and where they run"),
};
const struct object_type scenario_type = OBJECT(raw_scenario, scenario_fields, "scenario", "A scenario.");

static const char *default_name(struct arena *arena, const char *file)
{
    const char *base = strcmp(file, "-") == 0 ? "stdin" : path_base(file);
    const char *dot = strrchr(base, '.');
    return arena_strndup(arena, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

static void build_sections(struct build *b, const char *approach)
{
    struct raw_scenario *raw = b->raw;
    b->s->name = raw->name ? raw->name : default_name(b->arena, b->s->file);
    raw->name = b->s->name;
    build_cluster(b, raw->cluster);
    struct object_set *objects = objects_read(b);
    build_quota(b, objects);
    if (raw->approaches.n) build_approach(b, approach, LIST_AT(raw->approaches, struct map_entry, 0).object);
    build_run(b, raw->run);
    build_live(b, raw->live);
    build_workload(b, objects);
    build_faults(b, raw->faults);
    build_optimal_intervals(b);
}

static void read_document(struct build *b, struct json_doc *doc, const char *approach, const char *const *overrides)
{
    struct value *root = value_from_json(b->arena, doc);
    if (root->kind != VALUE_OBJECT) {
        value_error(b->diag, root, "a scenario is an object, this is %s", value_kind_name(root));
        return;
    }
    if (!objects_expand(b, root)) return;
    if (!patch_apply(b, root, &approach, overrides)) return;
    b->raw = b->s->raw = object_read(&b->reader, &scenario_type, root);
    build_sections(b, approach);
}

/* `errors`: those before the document was read, which may have some of its own and still be there. */
static struct scenario *from_document(struct json_doc *doc, const char *file, const char *approach,
                                      const char *const *overrides, size_t errors, struct diag *d)
{
    if (!doc) return NULL;
    struct scenario *s = xcalloc(1, sizeof *s);
    arena_init(&s->arena);
    s->file = arena_strdup(&s->arena, file);
    struct build b = { .s = s, .arena = &s->arena, .diag = d, .dir = path_dir(&s->arena, file),
                       .reader = { .arena = &s->arena, .diag = d } };
    read_document(&b, doc, approach ? arena_strdup(&s->arena, approach) : NULL, overrides);
    json_free(doc);
    array_free(&b.optimal);
    if (diag_errors(d) > errors) {
        scenario_free(s);
        return NULL;
    }
    scenario_set_hash(s);
    return s;
}

struct scenario *scenario_load(const char *file, const char *approach, const char *const *overrides, struct diag *d)
{
    size_t errors = diag_errors(d);
    return from_document(json_load(file, d), file, approach, overrides, errors, d);
}

struct scenario *scenario_read(const char *file, const char *text, size_t n, const char *approach,
                               const char *const *overrides, struct diag *d)
{
    size_t errors = diag_errors(d);
    return from_document(json_parse(file, text, n, d), file, approach, overrides, errors, d);
}

struct scenario *scenario_parse(const char *name, const char *text, size_t n, const char *approach, struct diag *d)
{
    return scenario_read(name, text, n, approach, NULL, d);
}

void scenario_free(struct scenario *s)
{
    if (!s) return;
    free(s->jobs);
    for (uint32_t i = 0; i < s->n_profiles; i++) workload_profile_free(s->profiles[i]);
    free(s->id_text);
    struct arena arena = s->arena;
    free(s);
    arena_free(&arena);
}

/* ---- questions about a job ---- */

const char *job_id(const struct scenario *s, const struct job_spec *job, char buf[24])
{
    if (job->flags & JOB_ID_TEXT) return s->id_text + job->id;
    buf[str_put_u64(buf, job->id)] = '\0';
    return buf;
}

void job_error(struct diag *diag, const struct scenario *s, const struct job_spec *job, const char *fmt, ...)
{
    const struct job_detail *d = &s->details[job->detail];
    const struct value *at = d->manifest ? d->manifest->value : d->raw ? d->raw->at : NULL;
    struct str pointer = { 0 };
    va_list args;
    if (at) value_pointer(at, &pointer);
    va_start(args, fmt);
    diag_add(diag, DIAG_ERROR, at ? at->file : s->file, at ? at->line : 0, str_text(&pointer), fmt, args);
    va_end(args);
    str_free(&pointer);
}

uint32_t job_role_replicas(const struct scenario *s, const struct job_spec *job, uint32_t role)
{
    const struct job_detail *d = &s->details[job->detail];
    return role + 1 == d->n_roles && job->replicas ? job->replicas : d->roles[role].replicas;
}

uint32_t job_role_shares(const struct scenario *s, const struct job_spec *job, uint32_t role)
{
    const struct job_detail *d = &s->details[job->detail];
    bool own = role + 1 == d->n_roles && job->gpu_shares != UINT32_MAX;
    return own ? job->gpu_shares : d->roles[role].gpu_shares;
}

int64_t job_shares(const struct scenario *s, const struct job_spec *job)
{
    int64_t sum = 0;
    for (uint32_t r = 0; r < s->details[job->detail].n_roles; r++)
        sum += (int64_t)job_role_replicas(s, job, r) * job_role_shares(s, job, r);
    return sum;
}

uint16_t scenario_largest_group(const struct scenario *s, uint64_t groups)
{
    const struct cluster_spec *c = &s->cluster;
    uint32_t best = 0;
    int64_t most = -1;
    for (uint32_t g = 0; g < c->n_groups; g++) {
        int64_t gpus = (int64_t)c->groups[g].count * c->groups[g].gpus;
        if (!(groups >> g & 1) || gpus <= most) continue;
        most = gpus;
        best = g;
    }
    return (uint16_t)best;
}
