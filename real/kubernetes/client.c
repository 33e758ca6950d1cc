/* client.c - see client.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/kubernetes/client.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <curl/curl.h>

#include "base/mem.h"

enum { FIRST_PAUSE_MS = 200, LONGEST_PAUSE_MS = 10000, PATIENCE_MS = 60000, CONNECT_S = 10, ANSWER_S = 60, PAGE = 500, MAX_CONFLICTS = 100 };

struct k8s_client {
    const struct k8s_access *access;
    const volatile int *stop;
    CURL *curl;
    struct k8s_wait jitter;
    int64_t patience_ms;
    int (*perform)(void *curl, void *arg);
    void *perform_arg;
    char error[CURL_ERROR_SIZE];
};

/* ---- time ---- */

int64_t k8s_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t k8s_now_ms(void) { return k8s_now_ns() / 1000000; }

bool k8s_client_stopped(const struct k8s_client *c) { return c->stop && *c->stop; }

void k8s_sleep(const struct k8s_client *c, int64_t ms)
{
    for (int64_t end = k8s_now_ms() + ms, left = ms; left > 0 && !k8s_client_stopped(c); left = end - k8s_now_ms()) {
        int64_t slice = left < 100 ? left : 100;
        nanosleep(&(struct timespec){ .tv_nsec = slice * 1000000 }, NULL);
    }
}

/* xorshift64: only spreads clients that were cut off together. */
int64_t k8s_backoff(struct k8s_wait *w)
{
    w->random ^= w->random << 13, w->random ^= w->random >> 7, w->random ^= w->random << 17;
    w->pause_ms = w->pause_ms ? w->pause_ms * 2 : FIRST_PAUSE_MS;
    if (w->pause_ms > LONGEST_PAUSE_MS) w->pause_ms = LONGEST_PAUSE_MS;
    return w->pause_ms / 2 + (int64_t)(w->random % (uint64_t)(w->pause_ms / 2 + 1));
}

/* ---- client ---- */

static int perform_alone(void *curl, void *arg)
{
    (void)arg;
    return (int)curl_easy_perform(curl);
}

struct k8s_client *k8s_client_create(const struct k8s_access *a, const volatile int *stop)
{
    struct k8s_client *c = xcalloc(1, sizeof *c);
    c->access = a;
    c->stop = stop;
    c->patience_ms = PATIENCE_MS;
    c->perform = perform_alone;
    c->jitter.random = (uint64_t)getpid() * 0x9e3779b97f4a7c15u | 1;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || !(c->curl = curl_easy_init())) abort(); /* memory is out */
    return c;
}

void k8s_client_free(struct k8s_client *c)
{
    if (!c) return;
    curl_easy_cleanup(c->curl);
    free(c);
}

void k8s_client_perform(struct k8s_client *c, int (*perform)(void *curl, void *arg), void *arg)
{
    c->perform = perform ? perform : perform_alone;
    c->perform_arg = arg;
}

void k8s_client_patience(struct k8s_client *c, int64_t ms) { c->patience_ms = ms; }
int64_t k8s_client_patience_of(const struct k8s_client *c) { return c->patience_ms; }
const char *k8s_client_server(const struct k8s_client *c) { return c->access->server; }

static void set_pem(CURL *curl, CURLoption option, const char *pem)
{
    struct curl_blob blob = { .data = (void *)(uintptr_t)pem, .len = strlen(pem), .flags = CURL_BLOB_COPY };
    curl_easy_setopt(curl, option, &blob);
}

static void set_tls(const struct k8s_access *a, CURL *curl)
{
    if (a->ca) set_pem(curl, CURLOPT_CAINFO_BLOB, a->ca);
    if (a->cert) set_pem(curl, CURLOPT_SSLCERT_BLOB, a->cert);
    if (a->key) set_pem(curl, CURLOPT_SSLKEY_BLOB, a->key);
    if (a->insecure) curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
    if (a->insecure) curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    if (a->proxy) curl_easy_setopt(curl, CURLOPT_PROXY, a->proxy);
    if (a->user) curl_easy_setopt(curl, CURLOPT_USERNAME, a->user);
    if (a->password) curl_easy_setopt(curl, CURLOPT_PASSWORD, a->password);
}

static int on_progress(void *arg, curl_off_t a, curl_off_t b, curl_off_t x, curl_off_t y)
{
    (void)a, (void)b, (void)x, (void)y;
    return k8s_client_stopped(arg);
}

static struct curl_slist *add_header(struct curl_slist *list, const char *text)
{
    struct curl_slist *next = curl_slist_append(list, text);
    if (!next) abort(); /* memory is out */
    return next;
}

struct curl_slist *k8s_prepare(struct k8s_client *c, void *handle, const char *url, const char *content_type, struct diag *d)
{
    CURL *curl = handle;
    struct arena arena = { 0 };
    const char *token;
    struct curl_slist *headers = NULL;
    if (!k8s_access_token(c->access, &arena, &token, d)) {
        arena_free(&arena);
        return NULL;
    }
    curl_easy_reset(curl);
    set_tls(c->access, curl);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, K8S_MANAGER);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, c);
    if (token) headers = add_header(headers, arena_printf(&arena, "Authorization: Bearer %s", token));
    headers = add_header(headers, "Accept: application/json");
    if (content_type) headers = add_header(headers, arena_printf(&arena, "Content-Type: %s", content_type));
    headers = add_header(headers, "Expect:");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    arena_free(&arena);
    return headers;
}

/* ---- one request ---- */

struct answer { struct str body; long code; int64_t retry_ms; CURLcode transport; bool too_large; };

static size_t on_body(char *data, size_t size, size_t n, void *arg)
{
    struct answer *a = arg;
    if (a->body.n + size * n > K8S_ANSWER_MAX) {
        a->too_large = true;
        return 0;
    }
    str_append_n(&a->body, data, size * n);
    return size * n;
}

struct request { const char *verb, *method, *content_type; struct str url; const char *what; char *body; };

static bool send_once(struct k8s_client *c, const struct request *r, struct answer *a, struct diag *d)
{
    struct curl_slist *headers = k8s_prepare(c, c->curl, str_text(&r->url), r->content_type, d);
    if (!headers) return false;
    str_clear(&a->body);
    c->error[0] = '\0';
    curl_easy_setopt(c->curl, CURLOPT_TIMEOUT, (long)ANSWER_S);
    curl_easy_setopt(c->curl, CURLOPT_ERRORBUFFER, c->error);
    curl_easy_setopt(c->curl, CURLOPT_CUSTOMREQUEST, r->method);
    curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, a);
    if (r->body) curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, r->body);
    a->transport = (CURLcode)c->perform(c->curl, c->perform_arg);
    a->code = 0;
    curl_off_t after = 0;
    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &a->code);
    curl_easy_getinfo(c->curl, CURLINFO_RETRY_AFTER, &after);
    a->retry_ms = after > 0 ? (after < 600 ? (int64_t)after : 600) * 1000 : 0;
    curl_slist_free_all(headers);
    return true;
}

static bool is_passing(long code) { return code == 429 || code == 500 || code == 502 || code == 503 || code == 504; }

static void report(struct k8s_client *c, const struct request *r, const struct answer *a, struct diag *d)
{
    if (a->too_large) diag_error(d, c->access->server, 0, NULL, "%s %s: the answer has more than %zu MiB", r->verb, r->what, K8S_ANSWER_MAX >> 20);
    else if (a->transport != CURLE_OK) k8s_transport(c, r->verb, r->what, (int)a->transport, c->error, d);
    else k8s_report(c, r->verb, r->what, a->code, str_text(&a->body), a->body.n, d);
}

/* True when there is an answer with a code that means something; else reported, unless it was *stop that ended it. */
static bool send_until(struct k8s_client *c, const struct request *r, struct answer *a, struct diag *d)
{
    int64_t end = k8s_now_ms() + c->patience_ms;
    for (c->jitter.pause_ms = 0;;) {
        if (!send_once(c, r, a, d)) return false;
        if (a->transport == CURLE_OK && !is_passing(a->code)) return true;
        bool again = a->transport == CURLE_OK || k8s_transport(c, r->verb, r->what, (int)a->transport, NULL, NULL);
        int64_t pause = k8s_backoff(&c->jitter);
        if (a->transport == CURLE_OK && a->retry_ms) pause = a->retry_ms;
        if (!again || a->too_large || k8s_client_stopped(c) || k8s_now_ms() + pause > end) break;
        k8s_sleep(c, pause);
    }
    if (!k8s_client_stopped(c)) report(c, r, a, d);
    return false;
}

static bool status_reason(const struct answer *a, const char *reason)
{
    cJSON *status = cJSON_ParseWithLength(str_text(&a->body), a->body.n);
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(status, "reason"));
    bool is = text && strcmp(text, reason) == 0;
    cJSON_Delete(status);
    return is;
}

static enum k8s_result result_of(struct k8s_client *c, const struct request *r, const struct answer *a, cJSON **out, struct diag *d)
{
    if (a->code == 404 && strcmp(r->verb, "create") != 0) return K8S_NOT_FOUND;
    if (a->code == 409) return status_reason(a, "AlreadyExists") ? K8S_EXISTS : K8S_CONFLICT;
    if (a->code == 410) return K8S_GONE;
    if (a->code < 200 || a->code > 299) {
        report(c, r, a, d);
        return K8S_FAILED;
    }
    cJSON *body = cJSON_ParseWithLength(str_text(&a->body), a->body.n);
    if (!cJSON_IsObject(body)) {
        diag_error(d, c->access->server, 0, NULL, "%s %s: the answer is no JSON object; is this a Kubernetes API server?", r->verb, r->what);
        cJSON_Delete(body);
        return K8S_FAILED;
    }
    if (out) *out = body;
    else cJSON_Delete(body);
    return K8S_OK;
}

/* Frees the parts of the request. */
static enum k8s_result call(struct k8s_client *c, struct request *r, cJSON **out, struct diag *d)
{
    struct answer a = { 0 };
    enum k8s_result result = send_until(c, r, &a, d) ? result_of(c, r, &a, out, d) : K8S_FAILED;
    str_free(&a.body);
    str_free(&r->url);
    cJSON_free(r->body);
    return result;
}

/* ---- verbs ---- */

/* "pods lab/worker-0" */
static const char *what_of(char buf[200], const struct k8s_resource *r, const char *ns, const char *name)
{
    bool in = r->namespaced && ns;
    snprintf(buf, 200, "%s%s%s%s%s", r->plural, in || name ? " " : "", in ? ns : "", in && name ? "/" : "", name ? name : "");
    return buf;
}

enum k8s_result k8s_get(struct k8s_client *c, const struct k8s_resource *r, const char *ns, const char *name, cJSON **out, struct diag *d)
{
    char what[200];
    struct request q = { .verb = "get", .method = "GET", .what = what_of(what, r, ns, name) };
    k8s_path(&q.url, c, r, ns, name);
    return call(c, &q, out, d);
}

static const char *text_at(const cJSON *o, const char *key)
{
    const char *t = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));
    return t ? t : "";
}

struct identity { const struct k8s_resource *r; const char *ns, *name; };

static struct identity identity_of(const cJSON *object)
{
    const cJSON *meta = cJSON_GetObjectItemCaseSensitive(object, "metadata");
    struct identity i = { k8s_resource_of(text_at(object, "apiVersion"), text_at(object, "kind")), text_at(meta, "namespace"), text_at(meta, "name") };
    return i;
}

enum k8s_result k8s_create(struct k8s_client *c, const cJSON *object, bool dry_run, cJSON **out, struct diag *d)
{
    struct identity i = identity_of(object);
    char what[200];
    struct request q = { .verb = "create", .method = "POST", .content_type = "application/json", .what = what_of(what, i.r, i.ns, i.name) };
    k8s_path(&q.url, c, i.r, i.ns, NULL);
    k8s_query(&q.url, "fieldManager", K8S_MANAGER);
    if (dry_run) k8s_query(&q.url, "dryRun", "All");
    q.body = cJSON_PrintUnformatted(object);
    return call(c, &q, out, d);
}

static enum k8s_result put(struct k8s_client *c, const struct k8s_resource *r, const char *ns, const char *name, const cJSON *object, struct diag *d)
{
    char what[200];
    struct request q = { .verb = "update", .method = "PUT", .content_type = "application/json", .what = what_of(what, r, ns, name) };
    k8s_path(&q.url, c, r, ns, name);
    k8s_query(&q.url, "fieldManager", K8S_MANAGER);
    q.body = cJSON_PrintUnformatted(object);
    return call(c, &q, NULL, d);
}

enum k8s_result k8s_update(struct k8s_client *c, const struct k8s_resource *r, const char *ns, const char *name,
                             enum k8s_result (*change)(cJSON *, void *), void *arg, struct diag *d)
{
    struct k8s_wait w = { .random = c->jitter.random };
    char what[200];
    for (int tries = 0; tries < MAX_CONFLICTS && !k8s_client_stopped(c); tries++) {
        cJSON *object = NULL;
        enum k8s_result result = k8s_get(c, r, ns, name, &object, d);
        if (result == K8S_OK) result = change(object, arg);
        if (result == K8S_OK) result = put(c, r, ns, name, object, d);
        cJSON_Delete(object);
        if (result != K8S_CONFLICT) return result;
        k8s_sleep(c, k8s_backoff(&w) / 8);
    }
    if (k8s_client_stopped(c)) return K8S_FAILED;
    diag_error(d, c->access->server, 0, NULL, "update %s: others change it all the time; gave up after %d tries", what_of(what, r, ns, name), MAX_CONFLICTS);
    return K8S_FAILED;
}

static void only_this(cJSON *options, const char *uid)
{
    cJSON_AddStringToObject(cJSON_AddObjectToObject(options, "preconditions"), "uid", uid);
}

enum k8s_result k8s_delete(struct k8s_client *c, const struct k8s_resource *r, const char *ns, const char *name,
                             struct k8s_deletion how, struct diag *d)
{
    char what[200];
    struct request q = { .verb = "delete", .method = "DELETE", .content_type = "application/json", .what = what_of(what, r, ns, name) };
    cJSON *options = cJSON_CreateObject();
    cJSON_AddStringToObject(options, "kind", "DeleteOptions");
    cJSON_AddStringToObject(options, "apiVersion", "v1");
    cJSON_AddStringToObject(options, "propagationPolicy", "Background");
    only_this(options, how.uid);
    if (how.now) cJSON_AddNumberToObject(options, "gracePeriodSeconds", 0);
    k8s_path(&q.url, c, r, ns, name);
    q.body = cJSON_PrintUnformatted(options);
    cJSON_Delete(options);
    return call(c, &q, NULL, d);
}

enum k8s_result k8s_evict(struct k8s_client *c, const char *ns, const char *pod, const char *uid, struct diag *d)
{
    char what[200];
    struct request q = { .verb = "evict", .method = "POST", .content_type = "application/json", .what = what_of(what, &k8s_pods, ns, pod) };
    cJSON *e = cJSON_CreateObject();
    cJSON_AddStringToObject(e, "apiVersion", "policy/v1");
    cJSON_AddStringToObject(e, "kind", "Eviction");
    cJSON *meta = cJSON_AddObjectToObject(e, "metadata");
    cJSON_AddStringToObject(meta, "name", pod);
    cJSON_AddStringToObject(meta, "namespace", ns);
    only_this(cJSON_AddObjectToObject(e, "deleteOptions"), uid);
    k8s_path(&q.url, c, &k8s_pods, ns, pod);
    str_append(&q.url, "/eviction");
    q.body = cJSON_PrintUnformatted(e);
    cJSON_Delete(e);
    return call(c, &q, NULL, d);
}

/* ---- lists ---- */

static enum k8s_result get_page(struct k8s_client *c, const struct k8s_resource *r, const char *ns, const char *selector,
                                 const char *next, cJSON **page, struct diag *d)
{
    char what[200];
    struct request q = { .verb = "list", .method = "GET", .what = what_of(what, r, ns, NULL) };
    k8s_path(&q.url, c, r, ns, NULL);
    char limit[16];
    snprintf(limit, sizeof limit, "%d", PAGE);
    k8s_query(&q.url, "limit", limit);
    if (selector) k8s_query(&q.url, "labelSelector", selector);
    if (next) k8s_query(&q.url, "continue", next);
    return call(c, &q, page, d);
}

/* *next: token of the page behind, in place; "" at the end. False when on_item has had enough. */
static bool take_page(const cJSON *page, bool (*on_item)(const cJSON *, void *), void *arg, struct str *next, char version[64])
{
    const cJSON *meta = cJSON_GetObjectItemCaseSensitive(page, "metadata");
    str_clear(next);
    str_append(next, text_at(meta, "continue"));
    if (version) snprintf(version, 64, "%s", text_at(meta, "resourceVersion"));
    for (const cJSON *i = cJSON_GetObjectItemCaseSensitive(page, "items"), *item = i ? i->child : NULL; item; item = item->next)
        if (!on_item(item, arg)) return false;
    return true;
}

enum k8s_result k8s_list(struct k8s_client *c, const struct k8s_resource *r, const char *ns, const char *selector,
                           bool (*on_item)(const cJSON *, void *), void *arg, char version[64], struct diag *d)
{
    struct str next = { 0 };
    enum k8s_result result;
    do {
        cJSON *page = NULL;
        result = get_page(c, r, ns, selector, next.n ? next.s : NULL, &page, d);
        if (result == K8S_GONE && next.n) { /* the snapshot has expired between two pages */
            str_clear(&next);
            on_item(NULL, arg);
            continue;
        }
        if (result != K8S_OK) break;
        bool more = take_page(page, on_item, arg, &next, version);
        cJSON_Delete(page);
        if (!more) break;
    } while (next.n || result == K8S_GONE);
    str_free(&next);
    return result;
}

enum k8s_result k8s_knows(struct k8s_client *c, const struct k8s_resource *r, bool *yes, struct diag *d)
{
    struct request q = { .verb = "discover", .method = "GET", .what = r->plural };
    cJSON *group = NULL;
    str_printf(&q.url, "%s/%s/%s", c->access->server, strchr(r->api_version, '/') ? "apis" : "api", r->api_version);
    enum k8s_result result = call(c, &q, &group, d);
    const cJSON *i;
    *yes = false;
    cJSON_ArrayForEach(i, cJSON_GetObjectItemCaseSensitive(group, "resources")) *yes |= strcmp(text_at(i, "name"), r->plural) == 0;
    cJSON_Delete(group);
    return result == K8S_NOT_FOUND ? K8S_OK : result;
}

enum k8s_result k8s_serves(struct k8s_client *c, const struct k8s_resource *r, bool *yes, struct diag *d)
{
    cJSON *page = NULL;
    enum k8s_result result = k8s_knows(c, r, yes, d);
    if (result != K8S_OK || !*yes) return result;
    result = get_page(c, r, NULL, NULL, NULL, &page, d);
    cJSON_Delete(page);
    *yes = result == K8S_OK;
    return result == K8S_NOT_FOUND ? K8S_OK : result;
}
