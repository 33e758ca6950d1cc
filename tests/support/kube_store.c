/* kube_store.c - see kube_store.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/kube_store.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/str.h"

#define STATUS(code, reason) "{\"kind\":\"Status\",\"code\":" code ",\"reason\":\"" reason "\",\"message\":\"" reason "\"}"

struct entry { char *path; cJSON *object; };
struct kube_store {
    struct fake_kube *server;
    bool (*hook)(struct fake_request *, void *);
    void *arg;
    ARRAY(struct entry) all;
    struct str writes;
    unsigned number; /* of UIDs and versions */
};

/* ---- objects ---- */

static struct entry *find(const struct kube_store *s, const char *path)
{
    for (size_t i = 0; i < s->all.n; i++)
        if (strcmp(s->all.v[i].path, path) == 0) return &s->all.v[i];
    return NULL;
}

static cJSON *meta_of(const cJSON *o) { return cJSON_GetObjectItemCaseSensitive(o, "metadata"); }

static const char *text(const cJSON *o, const char *key)
{
    const char *t = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));
    return t ? t : "";
}

static void set(cJSON *o, const char *key, const char *value)
{
    cJSON_DeleteItemFromObjectCaseSensitive(o, key);
    cJSON_AddStringToObject(o, key, value);
}

static void stamp(struct kube_store *s, cJSON *o, const char *uid)
{
    char number[32];
    if (!meta_of(o)) cJSON_AddObjectToObject(o, "metadata");
    snprintf(number, sizeof number, "%u", ++s->number);
    set(meta_of(o), "resourceVersion", number);
    snprintf(number, sizeof number, "uid-%u", s->number);
    set(meta_of(o), "uid", uid ? uid : number);
}

static void add(struct kube_store *s, const char *path, cJSON *o)
{
    stamp(s, o, NULL);
    array_push(&s->all, (struct entry){xstrdup(path), o});
}

static void drop(struct kube_store *s, struct entry *e)
{
    free(e->path);
    cJSON_Delete(e->object);
    *e = s->all.v[--s->all.n];
}

static void drop_below(struct kube_store *s, const char *namespace)
{
    struct str start = {0};
    str_printf(&start, "/namespaces/%s/", namespace);
    for (size_t i = 0; i < s->all.n;)
        if (strstr(s->all.v[i].path, str_text(&start))) drop(s, &s->all.v[i]);
        else i++;
    str_free(&start);
}

/* ---- answers ---- */

static void reply(struct fake_request *r, int code, const cJSON *o)
{
    char *body = cJSON_PrintUnformatted(o);
    fake_reply(r, code, "", body);
    cJSON_free(body);
}

static void not_found(struct fake_request *r) { fake_reply(r, 404, "", STATUS("404", "NotFound")); }
static void conflict(struct fake_request *r) { fake_reply(r, 409, "", STATUS("409", "Conflict")); }

/* "/apis/batch/v1/jobs" holds "/apis/batch/v1/namespaces/lab/jobs/j", too. */
static bool is_in(const char *path, const char *collection)
{
    const char *plural = strrchr(collection, '/'), *last = strrchr(path, '/'), *ns = strstr(path, "/namespaces/");
    size_t n = strlen(collection), group = (size_t)(plural - collection), p = strlen(plural);
    if (strncmp(path, collection, n) == 0 && path + n == last) return true;
    return ns == path + group && strncmp(path, collection, group) == 0 && (size_t)(last - path) > p && strncmp(last - p, plural, p) == 0;
}

/* labelSelector=KEY=VALUE of the query; true where there is none. */
static bool is_selected(const cJSON *o, const char *query)
{
    const char *at = query ? strstr(query, "labelSelector=") : NULL;
    char raw[300] = "";
    if (!at) return true;
    sscanf(at + 14, "%299[^&]", raw);
    char *selector = curl_easy_unescape(NULL, raw, 0, NULL), *equals = selector ? strchr(selector, '=') : NULL;
    if (equals) *equals = '\0';
    bool is = equals && strcmp(text(cJSON_GetObjectItemCaseSensitive(meta_of(o), "labels"), selector), equals + 1) == 0;
    curl_free(selector);
    return is;
}

static void list(struct kube_store *s, struct fake_request *r, const char *query)
{
    cJSON *page = cJSON_Parse("{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[]}"), *items = cJSON_GetObjectItem(page, "items");
    for (size_t i = 0; i < s->all.n; i++)
        if (is_in(s->all.v[i].path, r->path) && is_selected(s->all.v[i].object, query))
            cJSON_AddItemReferenceToArray(items, s->all.v[i].object);
    reply(r, 200, page);
    cJSON_Delete(page);
}

static const char *const plurals[] = {"namespaces", "nodes", "pods", "events", "workloads", "pytorchjobs", "rayjobs", "rayclusters", "jobs", "localqueues",
                                      "clusterqueues", "cohorts", "resourceflavors", "workloadpriorityclasses", "priorityclasses"};
enum { PLURALS = sizeof plurals / sizeof *plurals };

/* Objects are known by their path; a path that is the collection of some, or of none, is a list. */
static bool is_collection(const char *path)
{
    for (size_t i = 0; i < PLURALS; i++)
        if (strcmp(strrchr(path, '/') + 1, plurals[i]) == 0) return true;
    return false;
}

/* "/api/v1", "/apis/batch/v1": each group has them all. */
static bool is_group(const char *path)
{
    unsigned slashes = 0;
    for (const char *c = path; *c; c++) slashes += *c == '/';
    return slashes == (strncmp(path, "/apis/", 6) == 0 ? 3 : 2);
}

static void discover(struct fake_request *r)
{
    struct str text = {0};
    for (size_t i = 0; i < PLURALS; i++) str_printf(&text, "%s{\"name\":\"%s\"}", i ? "," : "{\"resources\":[", plurals[i]);
    str_append(&text, "]}");
    fake_reply(r, 200, "", str_text(&text));
    str_free(&text);
}

static void create(struct kube_store *s, struct fake_request *r)
{
    cJSON *o = cJSON_Parse(r->body);
    struct str path = {0};
    str_printf(&path, "%s/%s", r->path, text(meta_of(o), "name"));
    if (!o || find(s, str_text(&path))) {
        fake_reply(r, 409, "", STATUS("409", "AlreadyExists"));
        cJSON_Delete(o);
    } else {
        add(s, str_text(&path), o);
        reply(r, 201, o);
    }
    str_free(&path);
}

static void replace(struct kube_store *s, struct fake_request *r, struct entry *e)
{
    cJSON *o = cJSON_Parse(r->body);
    if (!e) {
        not_found(r);
    } else if (strcmp(text(meta_of(o), "resourceVersion"), text(meta_of(e->object), "resourceVersion")) != 0) {
        conflict(r);
    } else {
        char uid[64];
        snprintf(uid, sizeof uid, "%s", text(meta_of(e->object), "uid"));
        cJSON_Delete(e->object);
        e->object = o;
        stamp(s, o, uid);
        reply(r, 200, o);
        return;
    }
    cJSON_Delete(o);
}

/* Of a DELETE's options, or of those in an Eviction. */
static void delete(struct kube_store *s, struct fake_request *r, struct entry *e)
{
    cJSON *body = cJSON_Parse(r->body ? r->body : ""), *inner = cJSON_GetObjectItemCaseSensitive(body, "deleteOptions");
    const char *uid = text(cJSON_GetObjectItemCaseSensitive(inner ? inner : body, "preconditions"), "uid");
    if (!e) {
        not_found(r);
    } else if (uid[0] && strcmp(uid, text(meta_of(e->object), "uid")) != 0) {
        conflict(r);
    } else {
        if (strstr(e->path, "/api/v1/namespaces/") && !strchr(strstr(e->path, "/namespaces/") + 12, '/')) {
            char name[200];
            snprintf(name, sizeof name, "%s", strrchr(e->path, '/') + 1);
            drop(s, e);
            drop_below(s, name);
        } else {
            drop(s, e);
        }
        fake_reply(r, 200, "", "{\"kind\":\"Status\",\"status\":\"Success\"}");
    }
    cJSON_Delete(body);
}

static void apply(struct kube_store *s, struct fake_request *r, struct entry *e)
{
    if (!e) add(s, r->path, cJSON_Parse(r->body));
    reply(r, e ? 200 : 201, find(s, r->path)->object);
}

static void stream(struct fake_request *r)
{
    fake_begin(r);
    while (fake_chunk(r, "\n")) usleep(20000);
}

static void answer(struct fake_request *r, void *arg)
{
    struct kube_store *s = arg;
    if (s->hook && s->hook(r, s->arg)) return;
    char *query = strchr(r->path, '?'), *eviction = NULL;
    if (query) *query++ = '\0';
    bool get = strcmp(r->method, "GET") == 0, watches = query && strstr(query, "watch=true");
    if (watches) { /* beside others: looks at nothing */
        stream(r);
        return;
    }
    if (!get) str_printf(&s->writes, "%s %s\n", r->method, r->path);
    if ((eviction = strstr(r->path, "/eviction"))) *eviction = '\0';
    struct entry *e = find(s, r->path);
    if (get && is_group(r->path)) discover(r);
    else if (get && is_collection(r->path)) list(s, r, query);
    else if (get && e) reply(r, 200, e->object);
    else if (get) not_found(r);
    else if (eviction || strcmp(r->method, "DELETE") == 0) delete(s, r, e);
    else if (strcmp(r->method, "POST") == 0) create(s, r);
    else if (strcmp(r->method, "PUT") == 0) replace(s, r, e);
    else apply(s, r, e);
}

/* ---- all ---- */

struct kube_store *kube_store_start(bool (*hook)(struct fake_request *, void *arg), void *arg)
{
    struct kube_store *s = xcalloc(1, sizeof *s);
    s->hook = hook;
    s->arg = arg;
    s->server = fake_kube_start(answer, s);
    return s;
}

const char *kube_store_server(const struct kube_store *s) { return fake_kube_server(s->server); }

void kube_store_put(struct kube_store *s, const char *path, const char *json)
{
    struct entry *e = find(s, path);
    if (e) drop(s, e);
    add(s, path, cJSON_Parse(json));
}

const cJSON *kube_store_get(const struct kube_store *s, const char *path)
{
    const struct entry *e = find(s, path);
    return e ? e->object : NULL;
}

size_t kube_store_count(const struct kube_store *s) { return s->all.n; }
const char *kube_store_writes(const struct kube_store *s) { return str_text(&s->writes); }

void kube_store_stop(struct kube_store *s)
{
    fake_kube_stop(s->server);
    while (s->all.n) drop(s, &s->all.v[0]);
    array_free(&s->all);
    str_free(&s->writes);
    free(s);
}
