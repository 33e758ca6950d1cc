/* test_keys.c - every key of a scenario changes some run, so that no key is decoration.
 *
 * Each key in tests/sim/live/keys*.json is changed (other numbers, words, names; or left out) until the fingerprint of one
 * of the approaches there differs. A key that changes nothing stands in the list of labels with its reason, or the
 * test fails; so does a label that changes something, and a key of the reader's tables that the file lacks.
 * "trace" is held by the tests of the importers, "objects" by those of manifests.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "input/raw.h"
#include "sim/simulate.h"

static const char *const files[] = {
    "tests/sim/live/keys.json", "tests/sim/live/keys-generated.json", "tests/sim/live/keys-ray.json", "tests/sim/live/keys-queues.json",
    "tests/sim/live/keys-quotas.json", "tests/sim/live/keys-partial.json", "tests/sim/live/keys-network.json", "tests/sim/live/keys-model.json", "tests/sim/live/keys-fabric.json", "tests/sim/live/keys-collectives.json",
    "tests/sim/live/keys-data.json",
    "tests/sim/states/shapes.json", "tests/sim/states/operator.json",
};
enum { N_APPROACHES = 4, MOST_EVENTS = 200000 };

static const struct { const char *type, *key, *why; } labels[] = {
    {"scenario", "trainyard", "the version of the format: 1"},
    {"scenario", "name", "for people"},
    {"scenario", "description", "for people"},
    {"node group", "group", "a name that others refer to"},
    {"node group", "price_per_hour", "for reports of cost"},
    {"node group", "spot", "spot capacity comes later"},
    {"node group", "gpu_memory", "for check: whether a model fits"},
    {"model", "sample_activations", "for check: whether a model fits"},
    {"topology", "levels", "says again what the counts of nodes and racks say"},
    {"storage", "name", "a name that checkpoints and data refer to"},
    {"learning", "rate", "for the series of a job, which are made from its run: tests/study/test_series.c"},
    {"learning", "warmup", "as rate"},
    {"learning", "schedule", "as rate"},
    {"learning", "final", "as rate"},
    {"learning", "loss_floor", "as rate"},
    {"learning", "loss_scale", "as rate"},
    {"learning", "loss_exponent", "as rate"},
    {"queue", "name", "a name that jobs refer to"},
    {"flavorFungibility", "preference", "a gate of Kueue's: tests/queue/test_kueue.c"},
    {"queue", "weight", "for fair sharing, which comes later"},
    {"job", "object", "a manifest: its tests are those of the recordings"},
    {"role", "minReplicas", "bounds of Ray's autoscaler, which manifests switch on"},
    {"role", "maxReplicas", "as minReplicas"},
    {"class", "profile", "a file of its own: tests/input/test_generate.c"},
    {"distribution", "kind", "another kind needs other keys"},
    {"distribution", "p", "goes with x: tests/input/test_generate.c"},
    {"component", "name", "for reports"},
    {"lifecycle", "cluster", "only ray-train-v2 runs Ray clusters"},
    {"lifecycle", "RayCluster", "as cluster"},
    {"approach", "scheduler", "follows from the life cycle"},
    {"approach", "ray_cluster", "changes together with shared_cluster"},
    {"approach", "patches_cluster", "a mark for comparisons"},
    {"run", "warmup", "for statistics"},
    {"live", "time_scale", "for live back ends: tests/real/host/test_plan.c"},
    {"live", "processes", "as time_scale"},
    {"live", "pace", "as time_scale"},
    {"live", "hidden", "as time_scale"},
    {"live", "features", "as time_scale"},
    {"live", "classes", "as time_scale"},
    {"live", "samples", "as time_scale"},
    {"live", "batch", "as time_scale"},
    {"live hosts", "group", "as time_scale"},
    {"live hosts", "addresses", "as time_scale"},
    {"live hosts", "worker", "as time_scale"},
    {"live hosts", "directory", "as time_scale"},
    {"run", "replications", "how often, not what"},
};

struct seen { const struct object_type *type; const struct field *field; bool alive, met; };

struct walk {
    cJSON *root;
    const char *names[N_APPROACHES]; /* of its approaches */
    char prints[N_APPROACHES][33];
    ARRAY(struct seen) seen;
    ARRAY(const char *) words; /* every text in the file: names to try */
};

/* ---- the effect of a change ---- */

static bool print_of(const char *text, size_t n, const char *approach, char print[33])
{
    struct diag d = {0};
    struct scenario *s = scenario_parse("keys.json", text, n, approach, &d);
    struct sim_result r = {0};
    if (!s && getenv("SHOW")) diag_print(&d, stderr);
    diag_free(&d);
    if (!s) return false;
    struct sim *sim = sim_create(s, &(struct sim_options){0}, &r.error);
    for (int n_events = 0; n_events < MOST_EVENTS && sim_step(sim); n_events++) {}
    sim_close(sim, &r);
    memcpy(print, r.fingerprint, 33);
    sim_result_free(&r);
    scenario_free(s);
    return true;
}

static bool changes(const struct walk *w)
{
    char *text = cJSON_PrintUnformatted(w->root), print[33];
    bool is = false;
    for (int i = 0; i < N_APPROACHES && !is; i++)
        is = w->names[i] && print_of(text, strlen(text), w->names[i], print) && strcmp(print, w->prints[i]) != 0;
    free(text);
    return is;
}

/* ---- other values ---- */

static void put(cJSON *parent, cJSON *item, cJSON *other)
{
    cJSON_free(other->string); /* a copy has one */
    other->string = xstrdup(item->string);
    cJSON_ReplaceItemViaPointer(parent, item, other);
}

static double divisor(enum field_type t)
{
    switch (t) {
    case TYPE_DURATION:
    case TYPE_GPU_TIME: return 1e9;
    case TYPE_QUANTITY:
    case TYPE_GPUS: return 1000;
    default: return 1;
    }
}

/* Alternatives of a value, as JSON. */
typedef ARRAY(cJSON *) item_list;

static void add_numbers(item_list *out, double x)
{
    const double to[] = {x * 2, x / 2, x + 1, x - 1, x * 5, 0};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++)
        if (to[i] != x && to[i] >= 0) array_push(out, cJSON_CreateNumber(to[i]));
}

static void scale_all(cJSON *v, double by)
{
    if (cJSON_IsNumber(v)) cJSON_SetNumberValue(v, v->valuedouble * by);
    for (cJSON *c = v->child; c; c = c->next) scale_all(c, by);
}

static void alternatives(const struct walk *w, const struct field *f, const cJSON *v, item_list *out)
{
    int64_t x;
    char number[40];
    switch (f->type) {
    case TYPE_WORD:
        for (size_t i = 0; i < f->n_words; i++) array_push(out, cJSON_CreateString(f->words[i]));
        return;
    case TYPE_BOOL: array_push(out, cJSON_CreateBool(!cJSON_IsTrue(v))); return;
    case TYPE_STRING:
        for (size_t i = 0; i < w->words.n; i++) array_push(out, cJSON_CreateString(w->words.v[i]));
        return;
    case TYPE_STRINGS:
        for (size_t i = 0; i < w->words.n; i++) array_push(out, cJSON_CreateStringArray(&w->words.v[i], 1));
        return;
    case TYPE_TEXTS:
        for (size_t i = 0; v->child && i < w->words.n; i++) {
            cJSON *copy = cJSON_Duplicate(v, true);
            cJSON_ReplaceItemInObjectCaseSensitive(copy, copy->child->string, cJSON_CreateString(w->words.v[i]));
            array_push(out, copy);
        }
        return;
    case TYPE_QUOTA:
    case TYPE_ANY:
        for (int k = 0; k < 3; k++) {
            cJSON *copy = cJSON_Duplicate(v, true);
            scale_all(copy, (const double[]){2, 0.5, 0}[k]);
            array_push(out, copy);
        }
        return;
    case TYPE_NUMBER:
    case TYPE_FRACTION: add_numbers(out, v->valuedouble); return;
    default:
        snprintf(number, sizeof number, "%.9g", v->valuedouble);
        if (field_parse(f, cJSON_IsString(v) ? v->valuestring : number, &x) == NULL) add_numbers(out, (double)x / divisor(f->type));
    }
}

static struct seen *seen_of(struct walk *w, const struct object_type *type, const struct field *f)
{
    for (size_t i = 0; i < w->seen.n; i++)
        if (w->seen.v[i].type == type && w->seen.v[i].field == f) return &w->seen.v[i];
    array_push(&w->seen, ((struct seen){.type = type, .field = f}));
    return &w->seen.v[w->seen.n - 1];
}

static const char *label_of(const struct seen *s)
{
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        if (strcmp(labels[i].type, s->type->name) == 0 && strcmp(labels[i].key, s->field->name) == 0) return labels[i].why;
    return NULL;
}

/* Replaces the value by each alternative in turn, then leaves the key out; puts it back in any case. */
static bool is_alive(struct walk *w, cJSON *parent, cJSON *item, const struct field *f)
{
    item_list list = {0};
    bool alive = false;
    cJSON *original = cJSON_Duplicate(item, true), *at = item;
    char *key = xstrdup(item->string);
    alternatives(w, f, item, &list);
    for (size_t i = 0; i < list.n; i++) {
        if (alive) {
            cJSON_Delete(list.v[i]);
            continue;
        }
        put(parent, at, list.v[i]);
        at = list.v[i];
        alive = changes(w);
    }
    if (!alive) {
        cJSON_DeleteItemFromObjectCaseSensitive(parent, key);
        alive = changes(w);
        cJSON_AddItemToObject(parent, key, original);
    } else {
        cJSON_ReplaceItemInObjectCaseSensitive(parent, key, original);
    }
    array_free(&list);
    free(key);
    return alive;
}

static const struct field *field_of(const struct object_type *type, const char *key)
{
    for (size_t i = 0; i < type->n_fields; i++)
        if (strcmp(type->fields[i].name, key) == 0) return &type->fields[i];
    return NULL;
}

static void walk_object(struct walk *w, const struct object_type *type, cJSON *object);

static void walk_member(struct walk *w, const struct object_type *type, cJSON *object, const char *key)
{
    const struct field *f = field_of(type, key);
    cJSON *v = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!f || !v) return;
    struct seen *s = seen_of(w, type, f);
    s->met = true;
    if (f->type == TYPE_OBJECT && cJSON_IsObject(v)) walk_object(w, f->sub, v);
    if (f->type == TYPE_LIST || f->type == TYPE_MAP)
        for (int i = 0, n = cJSON_GetArraySize(v); i < n; i++) walk_object(w, f->sub, cJSON_GetArrayItem(v, i));
    if (f->type == TYPE_OBJECT || f->type == TYPE_LIST || f->type == TYPE_MAP || f->type == TYPE_STACK) {
        seen_of(w, type, f)->alive = true; /* its members are */
        return;
    }
    if (!s->alive && is_alive(w, object, v, f)) seen_of(w, type, f)->alive = true;
}

static void walk_object(struct walk *w, const struct object_type *type, cJSON *object)
{
    ARRAY(char *) keys = {0};
    if (!cJSON_IsObject(object)) return;
    for (const cJSON *c = object->child; c; c = c->next) array_push(&keys, xstrdup(c->string));
    for (size_t i = 0; i < keys.n; i++) {
        walk_member(w, type, object, keys.v[i]);
        free(keys.v[i]);
    }
    array_free(&keys);
}

/* ---- the tables ---- */

static void list_types(struct walk *w, const struct object_type *type, int depth)
{
    for (size_t i = 0; i < type->n_fields; i++) {
        const struct field *f = &type->fields[i];
        bool elsewhere = strcmp(f->name, "trace") == 0 || strcmp(f->name, "objects") == 0 || f->hidden;
        if (elsewhere) continue;
        seen_of(w, type, f);
        if (f->sub && depth < 8) list_types(w, f->sub, depth + 1);
    }
}

static void collect_words(struct walk *w, const cJSON *v)
{
    if (cJSON_IsString(v)) {
        for (size_t i = 0; i < w->words.n; i++)
            if (strcmp(w->words.v[i], v->valuestring) == 0) return;
        array_push(&w->words, xstrdup(v->valuestring));
    }
    for (const cJSON *c = v->child; c; c = c->next) collect_words(w, c);
}

static void walk_text(struct walk *w, const char *name, const char *text, size_t n)
{
    struct diag d = {0};
    int k = 0;
    struct json_doc *doc = json_parse(name, text, n, &d);
    diag_print(&d, stderr);
    assert_non_null(doc);
    w->root = cJSON_Duplicate(doc->root, true);
    memset(w->names, 0, sizeof w->names);
    for (const cJSON *a = cJSON_GetObjectItemCaseSensitive(doc->root, "approaches")->child; a && k < N_APPROACHES; a = a->next, k++) {
        w->names[k] = a->string;
        if (!print_of(text, n, a->string, w->prints[k])) fail_msg("%s is no scenario under %s", name, a->string);
    }
    collect_words(w, w->root);
    walk_object(w, &scenario_type, w->root);
    for (size_t i = 0; i < w->words.n; i++) free((char *)(uintptr_t)w->words.v[i]);
    array_free(&w->words);
    cJSON_Delete(w->root);
    json_free(doc);
    diag_free(&d);
}

static void walk_file(struct walk *w, const char *path)
{
    struct diag d = {0};
    size_t n;
    char *text = file_read(path, FILE_READ_MAX, &n, &d);
    assert_non_null(text);
    walk_text(w, path, text, n);
    free(text);
    diag_free(&d);
}

static void every_key(void **state)
{
    struct walk w = {0};
    int bad = 0;
    (void)state;
    list_types(&w, &scenario_type, 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) walk_file(&w, files[i]);
    for (size_t i = 0; i < w.seen.n; i++) {
        const struct seen *s = &w.seen.v[i];
        const char *label = label_of(s);
        if (s->alive == (label == NULL)) continue;
        fprintf(stderr, "%s: \"%s\" %s\n", s->type->name, s->field->name,
                label ? "changes a run: it is no label" : s->met ? "changes no run" : "is not in the file");
        bad++;
    }
    array_free(&w.seen);
    if (bad) fail_msg("%d keys", bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_key)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
