/* watch.c - see watch.h.
 *
 * A watch is in one of three states: it must list, it waits until it may connect, it streams.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/kubernetes/watch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "base/array.h"
#include "base/hmap.h"
#include "base/mem.h"

enum { STREAM_S = 290, STALLED_S = 360, SHORT_LIFE_MS = 1000 };
enum state { MUST_LIST, WAITS, STREAMS };
enum { GONE }; /* generations begin at 1 */

struct watch {
    struct k8s_watches *all;
    struct k8s_watch_spec spec;
    enum state state;
    CURL *curl;
    struct curl_slist *headers;
    struct str line;   /* what came of a line so far */
    struct hmap names; /* "ns/name" -> generation of the last list that had it, or GONE */
    uint64_t generation;
    char version[64];
    struct k8s_wait wait;
    int64_t next_ms, begun_ms, lost_ms; /* lost: since when no try has succeeded; 0: none has failed */
    bool broken, expired, told;
    char error[CURL_ERROR_SIZE];
    char *ns, *selector;
};

struct k8s_watches {
    struct k8s_client *client;
    CURLM *multi;
    struct { struct watch **v; size_t n, cap; } list;
    struct diag *diag; /* while polling */
    struct diag *heeds; /* NULL: not while the client waits for an answer */
    CURL *request;     /* of the client, beside the streams; NULL: none that is not done */
    CURLcode request_result;
    uint64_t resumed, relisted;
    int64_t patience_ms;
    bool failed;
};

/* ---- events ---- */

static const char *text_at(const cJSON *o, const char *key)
{
    const char *t = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));
    return t ? t : "";
}

static const cJSON *meta_of(const cJSON *object) { return cJSON_GetObjectItemCaseSensitive(object, "metadata"); }

static enum k8s_line line_of_error(const cJSON *status)
{
    const cJSON *code = cJSON_GetObjectItemCaseSensitive(status, "code");
    return cJSON_IsNumber(code) && code->valueint == 410 ? LINE_EXPIRED : LINE_PASSING;
}

struct k8s_event k8s_event_parse(const char *text, size_t n, cJSON **root)
{
    struct k8s_event e = { .line = LINE_GARBAGE };
    *root = cJSON_ParseWithLength(text, n);
    const char *type = text_at(*root, "type");
    e.object = cJSON_GetObjectItemCaseSensitive(*root, "object");
    if (!cJSON_IsObject(e.object)) return e;
    e.version = text_at(meta_of(e.object), "resourceVersion");
    if (strcmp(type, "ERROR") == 0) e.line = line_of_error(e.object);
    else if (!e.version[0]) return e;
    else if (strcmp(type, "BOOKMARK") == 0) e.line = LINE_BOOKMARK;
    else if (!text_at(meta_of(e.object), "name")[0]) return e;
    else if (strcmp(type, "ADDED") == 0 || strcmp(type, "MODIFIED") == 0) e.line = LINE_CHANGE, e.change = K8S_CHANGED;
    else if (strcmp(type, "DELETED") == 0) e.line = LINE_CHANGE, e.change = K8S_DELETED;
    return e;
}

static void name_of(const cJSON *object, char buf[520])
{
    const cJSON *meta = meta_of(object);
    snprintf(buf, 520, "%.250s/%.250s", text_at(meta, "namespace"), text_at(meta, "name"));
}

/* A deletion of what is not known is of an older list, and has been told. */
static void tell(struct watch *w, enum k8s_change change, const cJSON *object)
{
    char name[520];
    name_of(object, name);
    uint64_t known = GONE;
    hmap_get_str(&w->names, name, &known);
    if (change == K8S_DELETED && known == GONE) return;
    hmap_put_str(&w->names, name, change == K8S_DELETED ? GONE : w->generation);
    w->spec.on_change(change, object, w->spec.arg);
}

static void take_line(struct watch *w)
{
    cJSON *root;
    struct k8s_event e = k8s_event_parse(str_text(&w->line), w->line.n, &root);
    if (e.line == LINE_CHANGE || e.line == LINE_BOOKMARK) snprintf(w->version, sizeof w->version, "%s", e.version);
    if (e.line == LINE_CHANGE) tell(w, e.change, e.object);
    w->expired |= e.line == LINE_EXPIRED || e.line == LINE_GARBAGE;
    w->broken |= e.line == LINE_PASSING || e.line == LINE_GARBAGE;
    if (!w->expired && !w->broken) {
        w->told = true;
        w->lost_ms = 0;
    }
    cJSON_Delete(root);
    str_clear(&w->line);
}

static size_t on_stream(char *data, size_t size, size_t n, void *arg)
{
    struct watch *w = arg;
    size_t bytes = size * n;
    long code = 0;
    curl_easy_getinfo(w->curl, CURLINFO_RESPONSE_CODE, &code);
    for (size_t i = 0; i < bytes;) {
        char *end = code == 200 ? memchr(data + i, '\n', bytes - i) : NULL;
        size_t part = end ? (size_t)(end - data) - i : bytes - i;
        if (w->line.n + part > K8S_EVENT_MAX) w->expired = true;
        else str_append_n(&w->line, data + i, part);
        if (end && w->line.n && !w->expired && !w->broken) take_line(w);
        if (w->expired || w->broken) return 0; /* ends the transfer */
        i += part + (end != NULL);
    }
    return bytes;
}

/* ---- states ---- */

static void set_failed(struct k8s_watches *all) { all->failed = true; }

/* Later again, as long as patience lasts. */
static void postpone(struct watch *w, int64_t retry_ms)
{
    int64_t now = k8s_now_ms();
    if (!w->lost_ms) w->lost_ms = now;
    w->next_ms = now + (retry_ms ? retry_ms : k8s_backoff(&w->wait));
    w->state = w->expired ? MUST_LIST : WAITS;
}

static bool out_of_patience(const struct watch *w) { return w->lost_ms && k8s_now_ms() - w->lost_ms > w->all->patience_ms; }

static bool on_listed(const cJSON *item, void *arg)
{
    struct watch *w = arg;
    if (!item) w->generation++; /* the list began anew */
    else tell(w, K8S_THERE, item);
    return true;
}

/* Items of a list lack kind and apiVersion; a deleted one has nothing but its name. */
static void tell_vanished(struct watch *w)
{
    struct { const char **v; size_t n, cap; } gone = { 0 };
    size_t at = 0;
    for (const struct hmap_entry *e; (e = hmap_next(&w->names, &at));)
        if (e->value != w->generation && e->value != GONE) array_push(&gone, xstrdup(e->str));
    for (size_t i = 0; i < gone.n; i++) {
        const char *slash = strchr(gone.v[i], '/');
        cJSON *o = cJSON_CreateObject(), *meta = cJSON_AddObjectToObject(o, "metadata");
        cJSON_AddStringToObject(meta, "name", slash + 1);
        cJSON *ns = cJSON_AddStringToObject(meta, "namespace", gone.v[i]);
        ns->valuestring[slash - gone.v[i]] = '\0';
        tell(w, K8S_DELETED, o);
        cJSON_Delete(o);
        free((char *)(uintptr_t)gone.v[i]);
    }
    array_free(&gone);
}

static void list(struct watch *w)
{
    w->generation++;
    if (w->generation > 1) w->all->relisted++;
    w->expired = false;
    enum k8s_result r = k8s_list(w->all->client, w->spec.resource, w->ns, w->selector, on_listed, w, w->version, w->all->diag);
    if (r == K8S_OK) {
        tell_vanished(w);
        w->state = WAITS;
        w->next_ms = 0;
        return;
    }
    if (r == K8S_NOT_FOUND) k8s_report(w->all->client, "list", w->spec.resource->plural, 404, "", 0, w->all->diag);
    if (!k8s_client_stopped(w->all->client)) set_failed(w->all);
}

static void set_stream(struct watch *w)
{
    curl_easy_setopt(w->curl, CURLOPT_WRITEFUNCTION, on_stream);
    curl_easy_setopt(w->curl, CURLOPT_WRITEDATA, w);
    curl_easy_setopt(w->curl, CURLOPT_ERRORBUFFER, w->error);
    curl_easy_setopt(w->curl, CURLOPT_LOW_SPEED_LIMIT, 1L); /* bookmarks come each minute */
    curl_easy_setopt(w->curl, CURLOPT_LOW_SPEED_TIME, (long)STALLED_S);
    curl_easy_setopt(w->curl, CURLOPT_PRIVATE, w);
}

static void connect_stream(struct watch *w)
{
    struct str url = { 0 };
    char seconds[16];
    snprintf(seconds, sizeof seconds, "%d", STREAM_S + (int)(w->wait.random % 60));
    k8s_path(&url, w->all->client, w->spec.resource, w->ns, NULL);
    k8s_query(&url, "watch", "true");
    k8s_query(&url, "allowWatchBookmarks", "true");
    k8s_query(&url, "timeoutSeconds", seconds);
    k8s_query(&url, "resourceVersion", w->version);
    if (w->selector) k8s_query(&url, "labelSelector", w->selector);
    w->headers = k8s_prepare(w->all->client, w->curl, str_text(&url), NULL, w->all->diag);
    str_free(&url);
    if (!w->headers) {
        set_failed(w->all);
        return;
    }
    set_stream(w);
    str_clear(&w->line);
    w->broken = w->expired = w->told = false;
    w->begun_ms = k8s_now_ms();
    w->error[0] = '\0';
    w->state = STREAMS;
    curl_multi_add_handle(w->all->multi, w->curl);
}

static int64_t retry_after(CURL *curl)
{
    curl_off_t after = 0;
    curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &after);
    return after > 0 ? (after < 600 ? (int64_t)after : 600) * 1000 : 0;
}

static void fail_stream(struct watch *w, long code, CURLcode transport)
{
    const char *what = w->spec.resource->plural;
    if (code >= 300) k8s_report(w->all->client, "watch", what, code, str_text(&w->line), w->line.n, w->all->diag);
    else k8s_transport(w->all->client, "watch", what, (int)transport, w->error, w->all->diag);
    set_failed(w->all);
}

/* A stream that lived is taken up at once, one that did not after a pause: a server that cuts at once is not hammered. */
static void resume(struct watch *w)
{
    bool lived = !w->broken && (w->told || k8s_now_ms() - w->begun_ms >= SHORT_LIFE_MS);
    w->all->resumed++;
    if (!lived) {
        postpone(w, 0);
        return;
    }
    w->next_ms = w->lost_ms = w->wait.pause_ms = 0;
    w->state = w->expired ? MUST_LIST : WAITS;
}

static void take_up(struct watch *w, long code, CURLcode transport)
{
    bool hopeless = code == 400 || code == 401 || code == 403 || code == 404 || code == 405 ||
                    (code == 0 && !k8s_transport(w->all->client, "watch", "", (int)transport, NULL, NULL));
    if (code == 200 || code == 410) resume(w);
    else if (hopeless || out_of_patience(w)) fail_stream(w, code, transport);
    else postpone(w, retry_after(w->curl));
    if (code == 200 && out_of_patience(w)) fail_stream(w, 0, transport == CURLE_OK ? CURLE_GOT_NOTHING : transport);
}

static void on_end(struct watch *w, CURLcode transport)
{
    long code = 0;
    curl_easy_getinfo(w->curl, CURLINFO_RESPONSE_CODE, &code);
    curl_multi_remove_handle(w->all->multi, w->curl);
    curl_slist_free_all(w->headers);
    w->headers = NULL;
    if (code == 410) w->expired = true;
    if (k8s_client_stopped(w->all->client)) w->state = WAITS; /* that is what ended it */
    else take_up(w, code, transport);
    str_clear(&w->line);
}

/* ---- all ---- */

struct k8s_watches *k8s_watches_create(struct k8s_client *c)
{
    struct k8s_watches *w = xcalloc(1, sizeof *w);
    w->client = c;
    w->patience_ms = k8s_client_patience_of(c);
    if (!(w->multi = curl_multi_init())) abort(); /* memory is out */
    return w;
}

void k8s_watch(struct k8s_watches *all, const struct k8s_watch_spec *spec)
{
    struct watch *w = xcalloc(1, sizeof *w);
    w->all = all;
    w->spec = *spec;
    w->ns = spec->ns ? xstrdup(spec->ns) : NULL;
    w->selector = spec->selector ? xstrdup(spec->selector) : NULL;
    w->wait.random = (uint64_t)(all->list.n + 1) * 0x9e3779b97f4a7c15u | 1;
    if (!(w->curl = curl_easy_init())) abort();
    array_push(&all->list, w);
}

static void begin_due(struct k8s_watches *all)
{
    for (size_t i = 0; i < all->list.n && !all->failed && !k8s_client_stopped(all->client); i++) {
        struct watch *w = all->list.v[i];
        if (w->state == STREAMS || k8s_now_ms() < w->next_ms) continue;
        if (w->state == MUST_LIST) list(w);
        if (w->state == WAITS && k8s_now_ms() >= w->next_ms && !all->failed) connect_stream(w);
    }
}

static void end_done(struct k8s_watches *all)
{
    int left;
    for (CURLMsg *m; (m = curl_multi_info_read(all->multi, &left));) {
        struct watch *w = NULL;
        if (m->msg != CURLMSG_DONE) continue;
        CURLcode transport = m->data.result;
        if (m->easy_handle == all->request) {
            all->request = NULL;
            all->request_result = transport;
            continue;
        }
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&w);
        on_end(w, transport);
    }
}

bool k8s_watches_poll(struct k8s_watches *all, int64_t ms, struct diag *d)
{
    int64_t end = k8s_now_ms() + ms;
    int running;
    all->diag = d;
    do {
        begin_due(all);
        curl_multi_perform(all->multi, &running);
        end_done(all);
        int64_t left = end - k8s_now_ms();
        if (left > 0 && !all->failed) curl_multi_poll(all->multi, NULL, 0, (int)(left < 100 ? left : 100), NULL);
    } while (k8s_now_ms() < end && !all->failed && !k8s_client_stopped(all->client));
    curl_multi_perform(all->multi, &running);
    end_done(all);
    all->diag = NULL;
    return !all->failed;
}

/* A request among the streams. Those that end under way are taken up by the next poll. */
static int perform_beside(void *curl, void *arg)
{
    struct k8s_watches *all = arg;
    struct diag *polling = all->diag;
    int running;
    assert(!all->request);
    all->diag = all->heeds;
    all->request = curl;
    curl_multi_add_handle(all->multi, curl);
    for (;;) {
        curl_multi_perform(all->multi, &running);
        end_done(all);
        if (!all->request) break;
        curl_multi_poll(all->multi, NULL, 0, 100, NULL);
    }
    curl_multi_remove_handle(all->multi, curl);
    all->diag = polling;
    return (int)all->request_result;
}

void k8s_watches_heed(struct k8s_watches *all, struct diag *d)
{
    all->heeds = d;
    k8s_client_perform(all->client, perform_beside, all);
}

uint64_t k8s_watches_resumed(const struct k8s_watches *w) { return w->resumed; }
uint64_t k8s_watches_relisted(const struct k8s_watches *w) { return w->relisted; }

void k8s_watches_free(struct k8s_watches *all)
{
    if (!all) return;
    if (all->heeds) k8s_client_perform(all->client, NULL, NULL);
    for (size_t i = 0; i < all->list.n; i++) {
        struct watch *w = all->list.v[i];
        if (w->state == STREAMS) curl_multi_remove_handle(all->multi, w->curl);
        curl_slist_free_all(w->headers);
        curl_easy_cleanup(w->curl);
        str_free(&w->line);
        hmap_free(&w->names);
        free(w->ns);
        free(w->selector);
        free(w);
    }
    array_free(&all->list);
    curl_multi_cleanup(all->multi);
    free(all);
}
