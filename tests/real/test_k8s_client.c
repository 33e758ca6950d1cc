/* test_k8s_client.c - the client against a server that plays what API servers do on bad days.
 *
 * Answers are those of the Kubernetes API conventions (api-conventions.md: Status, reasons, Retry-After, continue, 410) and
 * api-concepts (watch events, bookmarks, resourceVersion).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/str.h"
#include "real/kubernetes/watch.h"
#include "tests/support/fake_kube.h"

#define POD(name, version) "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"ns\",\"resourceVersion\":\"" version "\"}}"
#define STATUS(code, reason, message) "{\"kind\":\"Status\",\"code\":" code ",\"reason\":\"" reason "\",\"message\":\"" message "\"}"

struct bench { char server[64]; struct fake_kube *f; struct k8s_access access; struct k8s_client *c; struct diag d; };

static void begin(struct bench *b, void (*answer)(struct fake_request *, void *), void *arg)
{
    *b = (struct bench){ .f = fake_kube_start(answer, arg) };
    snprintf(b->server, sizeof b->server, "%s", fake_kube_server(b->f));
    b->access.server = b->server;
    b->access.token = "T0k3n";
    b->c = k8s_client_create(&b->access, NULL);
}

static void end(struct bench *b)
{
    k8s_client_free(b->c);
    fake_kube_stop(b->f);
    diag_free(&b->d);
}

static void said(const struct bench *b, const char *text, const char *help)
{
    assert_true(b->d.entries.n > 0);
    const struct diag_entry *e = &b->d.entries.v[0];
    assert_string_equal(e->file, fake_kube_server(b->f));
    if (!strstr(e->text, text)) fail_msg("\"%s\" lacks \"%s\"", e->text, text);
    if (help && (!e->help || !strstr(e->help, help))) fail_msg("help \"%s\" lacks \"%s\"", e->help ? e->help : "", help);
}

/* ---- single calls ---- */

/* Two times 429 with a second's pause, then the object: one connection, and the pauses were kept. */
static void slow_down(struct fake_request *r, void *arg)
{
    (void)arg;
    if (r->number < 3) fake_reply(r, 429, "Retry-After: 1\r\n", STATUS("429", "TooManyRequests", "slow down"));
    else fake_reply(r, 200, "", POD("a", "7"));
}

static void too_many_requests(void **state)
{
    struct bench b;
    cJSON *pod = NULL;
    (void)state;
    begin(&b, slow_down, NULL);
    int64_t from = k8s_now_ms();
    assert_int_equal(k8s_get(b.c, &k8s_pods, "ns", "a", &pod, &b.d), K8S_OK);
    assert_true(k8s_now_ms() - from >= 2000);
    assert_int_equal(fake_kube_requests(b.f), 3);
    assert_int_equal(fake_kube_connections(b.f), 1);
    assert_int_equal(diag_errors(&b.d), 0);
    cJSON_Delete(pod);
    end(&b);
}

/* Two connections cut before the answer, then one that answers. */
static void cut_twice(struct fake_request *r, void *arg)
{
    (void)arg;
    assert_non_null(strstr(r->headers, "Authorization: Bearer T0k3n"));
    if (r->number < 3) fake_cut(r);
    else fake_reply(r, 200, "", POD("a", "7"));
}

static void cut_connections(void **state)
{
    struct bench b;
    (void)state;
    begin(&b, cut_twice, NULL);
    assert_int_equal(k8s_get(b.c, &k8s_pods, "ns", "a", NULL, &b.d), K8S_OK);
    assert_true(fake_kube_requests(b.f) >= 3);
    end(&b);
}

struct one { int code; const char *body; };

static void answer_one(struct fake_request *r, void *arg)
{
    const struct one *o = arg;
    fake_reply(r, o->code, "", o->body);
}

static void fails(struct one o, const char *text, const char *help)
{
    struct bench b;
    begin(&b, answer_one, &o);
    k8s_client_patience(b.c, 100);
    assert_int_equal(k8s_get(b.c, &k8s_pods, "lab", "p", NULL, &b.d), K8S_FAILED);
    said(&b, text, help);
    end(&b);
}

static void clear_errors(void **state)
{
    (void)state;
    fails((struct one){ 401, STATUS("401", "Unauthorized", "Unauthorized") }, "get pods lab/p: 401 Unauthorized: Unauthorized", "expired");
    fails((struct one){ 403, STATUS("403", "Forbidden", "User u cannot get pods") }, "403 Forbidden: User u cannot get pods", "Role");
    fails((struct one){ 500, STATUS("500", "InternalError", "webhook down") }, "500 Internal Server Error: webhook down", "webhook");
    fails((struct one){ 503, "no\x01json" }, "503 Service Unavailable: no json", "not ready");
    fails((struct one){ 200, "<html>" }, "no JSON object", NULL);
    fails((struct one){ 200, "[1]" }, "no JSON object", NULL);
    fails((struct one){ 418, "" }, "get pods lab/p: 418", NULL);
}

/* Nothing listens at the address. */
static void nobody_there(void **state)
{
    struct k8s_access a = { .server = "http://127.0.0.1:1" };
    struct k8s_client *c = k8s_client_create(&a, NULL);
    struct diag d = { 0 };
    (void)state;
    k8s_client_patience(c, 300);
    assert_int_equal(k8s_get(c, &k8s_pods, "lab", "p", NULL, &d), K8S_FAILED);
    assert_non_null(strstr(d.entries.v[0].help, "does the API server run"));
    assert_int_equal(d.entries.n, 1);
    diag_free(&d);
    k8s_client_free(c);
}

static void interrupted(void **state)
{
    struct k8s_access a = { .server = "http://127.0.0.1:1" };
    int stop = 1;
    struct k8s_client *c = k8s_client_create(&a, &stop);
    struct diag d = { 0 };
    (void)state;
    int64_t from = k8s_now_ms();
    assert_int_equal(k8s_get(c, &k8s_pods, "lab", "p", NULL, &d), K8S_FAILED);
    assert_true(k8s_now_ms() - from < 2000); /* patience is 60 s */
    assert_int_equal(d.entries.n, 0); /* to be told to stop is no error */
    diag_free(&d);
    k8s_client_free(c);
}

static void passing_answers(void **state)
{
    static const struct { struct one o; enum k8s_result result; } rows[] = {
        { { 404, STATUS("404", "NotFound", "x") }, K8S_NOT_FOUND },
        { { 409, STATUS("409", "AlreadyExists", "x") }, K8S_EXISTS },
        { { 409, STATUS("409", "Conflict", "x") }, K8S_CONFLICT },
        { { 410, STATUS("410", "Expired", "x") }, K8S_GONE },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b;
        struct one o = rows[i].o;
        begin(&b, answer_one, &o);
        assert_int_equal(k8s_get(b.c, &k8s_pods, "lab", "p", NULL, &b.d), rows[i].result);
        assert_int_equal(b.d.entries.n, 0);
        end(&b);
    }
}

/* ---- writing ---- */

struct wrote { char method[16], path[2048], body[2000], type[64]; };

static void keep_request(struct fake_request *r, void *arg)
{
    struct wrote *w = arg;
    snprintf(w->method, sizeof w->method, "%s", r->method);
    snprintf(w->path, sizeof w->path, "%s", r->path);
    snprintf(w->body, sizeof w->body, "%s", r->body);
    sscanf(strstr(r->headers, "Content-Type: "), "Content-Type: %63s", w->type);
    fake_reply(r, 201, "", POD("a", "1"));
}

static void what_is_sent(void **state)
{
    struct bench b;
    struct wrote w;
    (void)state;
    begin(&b, keep_request, &w);
    cJSON *job = cJSON_Parse("{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"j\",\"namespace\":\"lab\"}}");
    assert_int_equal(k8s_create(b.c, job, true, NULL, &b.d), K8S_OK);
    assert_string_equal(w.method, "POST");
    assert_string_equal(w.path, "/apis/batch/v1/namespaces/lab/jobs?fieldManager=trainyard&dryRun=All");
    assert_string_equal(w.type, "application/json");
    assert_int_equal(k8s_delete(b.c, &k8s_pods, "lab", "p", (struct k8s_deletion){ .uid = "u-1", .now = true }, &b.d), K8S_OK);
    assert_string_equal(w.method, "DELETE");
    assert_string_equal(w.path, "/api/v1/namespaces/lab/pods/p");
    assert_string_equal(w.body, "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"propagationPolicy\":\"Background\","
                                "\"preconditions\":{\"uid\":\"u-1\"},\"gracePeriodSeconds\":0}");
    assert_int_equal(k8s_evict(b.c, "lab", "p", "u-1", &b.d), K8S_OK);
    assert_string_equal(w.path, "/api/v1/namespaces/lab/pods/p/eviction");
    assert_string_equal(w.body, "{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{\"name\":\"p\",\"namespace\":\"lab\"},"
                                "\"deleteOptions\":{\"preconditions\":{\"uid\":\"u-1\"}}}");
    cJSON_Delete(job);
    end(&b);
}

/* Others are faster eleven times; each try reads the newest version. */
struct storm { unsigned version, puts; };

static void conflict_storm(struct fake_request *r, void *arg)
{
    struct storm *s = arg;
    char body[200], sent[32];
    if (strcmp(r->method, "GET") == 0) {
        snprintf(body, sizeof body, "{\"metadata\":{\"name\":\"q\",\"resourceVersion\":\"%u\"}}", s->version);
        fake_reply(r, 200, "", body);
        return;
    }
    snprintf(sent, sizeof sent, "\"resourceVersion\":\"%u\"", s->version);
    assert_non_null(strstr(r->body, sent));
    if (++s->puts <= 11) s->version++, fake_reply(r, 409, "", STATUS("409", "Conflict", "modified"));
    else fake_reply(r, 200, "", r->body);
}

static enum k8s_result set_x(cJSON *o, void *arg)
{
    (void)arg;
    cJSON_AddBoolToObject(o, "x", true);
    return K8S_OK;
}

static enum k8s_result another(cJSON *o, void *arg)
{
    (void)o, (void)arg;
    return K8S_NOT_FOUND;
}

static void conflicts(void **state)
{
    struct bench b;
    struct storm s = { .version = 5 };
    (void)state;
    begin(&b, conflict_storm, &s);
    assert_int_equal(k8s_update(b.c, &k8s_pods, "ns", "q", set_x, NULL, &b.d), K8S_OK);
    assert_int_equal(s.puts, 12);
    assert_int_equal(k8s_update(b.c, &k8s_pods, "ns", "q", another, NULL, &b.d), K8S_NOT_FOUND); /* looked at, and not written */
    assert_int_equal(s.puts, 12);
    assert_int_equal(b.d.entries.n, 0);
    end(&b);
}

/* ---- lists ---- */

struct tally { unsigned n, restarts; char last[64]; };

static bool count_item(const cJSON *item, void *arg)
{
    struct tally *t = arg;
    if (!item) {
        t->n = 0;
        t->restarts++;
        return true;
    }
    t->n++;
    snprintf(t->last, sizeof t->last, "%s", cJSON_GetObjectItem(cJSON_GetObjectItem(item, "metadata"), "name")->valuestring);
    return true;
}

/* A page of the 10,000, as the server pages: limit and continue. */
static void send_page(struct fake_request *r, unsigned from, unsigned n, unsigned total, unsigned version)
{
    struct str page = { 0 };
    str_printf(&page, "{\"metadata\":{\"resourceVersion\":\"%u\"", version);
    if (from + n < total) str_printf(&page, ",\"continue\":\"at-%u\"", from + n);
    str_append(&page, "},\"items\":[");
    for (unsigned i = from; i < from + n && i < total; i++)
        str_printf(&page, "%s{\"metadata\":{\"name\":\"p%u\",\"namespace\":\"ns\",\"resourceVersion\":\"1\",\"annotations\":{\"a\":\"%0500d\"}}}", i > from ? "," : "", i, 0);
    str_append(&page, "]}");
    fake_reply(r, 200, "", str_text(&page));
    str_free(&page);
}

static void ten_thousand(struct fake_request *r, void *arg)
{
    unsigned from = 0, *expire = arg;
    const char *at = strstr(r->path, "continue=at-");
    assert_non_null(strstr(r->path, "limit=500"));
    if (at) from = (unsigned)strtoul(at + 12, NULL, 10);
    if (*expire && from == *expire) {
        *expire = 0;
        fake_reply(r, 410, "", STATUS("410", "Expired", "the continue token is too old"));
        return;
    }
    send_page(r, from, 500, 10000, 77);
}

static void paging(void **state)
{
    struct bench b;
    struct tally t = { 0 };
    unsigned expire = 5000;
    char version[64];
    (void)state;
    begin(&b, ten_thousand, &expire);
    assert_int_equal(k8s_list(b.c, &k8s_pods, NULL, "a=b,c", count_item, &t, version, &b.d), K8S_OK);
    assert_int_equal(t.n, 10000);
    assert_int_equal(t.restarts, 1);
    assert_string_equal(t.last, "p9999");
    assert_string_equal(version, "77");
    assert_int_equal(fake_kube_requests(b.f), 10 + 1 + 20);
    assert_int_equal(fake_kube_connections(b.f), 1);
    end(&b);
}

/* ---- watches ---- */

struct saw { char text[4000]; unsigned there, changed, deleted; };

static void on_change(enum k8s_change change, const cJSON *o, void *arg)
{
    struct saw *s = arg;
    const char *name = cJSON_GetObjectItem(cJSON_GetObjectItem(o, "metadata"), "name")->valuestring;
    static const char marks[] = "=~-";
    size_t n = strlen(s->text);
    if (n < sizeof s->text - 80) snprintf(s->text + n, sizeof s->text - n, "%c%s ", marks[change], name);
    s->there += change == K8S_THERE, s->changed += change == K8S_CHANGED, s->deleted += change == K8S_DELETED;
}

static bool watch_until(struct bench *b, struct saw *s, const char *text, int64_t ms, struct k8s_watches *w)
{
    for (int64_t until = k8s_now_ms() + ms; k8s_now_ms() < until && !strstr(s->text, text);)
        if (!k8s_watches_poll(w, 50, &b->d)) return false;
    return strstr(s->text, text) != NULL;
}

/* Waits for the client to go away or for a second. */
static void idle(struct fake_request *r)
{
    for (int i = 0; i < 20 && fake_chunk(r, "\n"); i++) usleep(50000);
}

#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"

/* Stream 1 gives a change in two halves, a bookmark and breaks; stream 2 must begin at the bookmark and is expired (as an event);
 * the new list lacks b and has c; stream 3 deletes c and a. */
static void eventful(struct fake_request *r, void *arg)
{
    unsigned *streams = arg;
    if (!strstr(r->path, "watch=true")) {
        if (*streams == 0) fake_reply(r, 200, "", "{\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[" POD("a", "1") "," POD("b", "2") "]}");
        else fake_reply(r, 200, "", "{\"metadata\":{\"resourceVersion\":\"30\"},\"items\":[" POD("a", "3") "," POD("c", "4") "]}");
        return;
    }
    assert_non_null(strstr(r->path, "allowWatchBookmarks=true"));
    assert_non_null(strstr(r->path, *streams == 0 ? "resourceVersion=10" : *streams == 1 ? "resourceVersion=25" : "resourceVersion=30"));
    fake_begin(r);
    switch ((*streams)++) {
    case 0:
        fake_chunk(r, "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"b\",");
        usleep(100000);
        fake_chunk(r, "\"namespace\":\"ns\",\"resourceVersion\":\"12\"}}}\n" EVENT("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"25\"}}"));
        fake_chunk(r, "{\"type\":\"MODIFIED\",\"obj");
        fake_cut(r);
        return;
    case 1: fake_chunk(r, EVENT("ERROR", STATUS("410", "Expired", "too old resource version"))); return;
    default: fake_chunk(r, EVENT("DELETED", POD("c", "31")) EVENT("DELETED", POD("zz", "31")) EVENT("DELETED", POD("a", "32"))); idle(r);
    }
}

static void resume_and_relist(void **state)
{
    struct bench b;
    unsigned streams = 0;
    struct saw s = { 0 };
    (void)state;
    begin(&b, eventful, &streams);
    struct k8s_watches *w = k8s_watches_create(b.c);
    k8s_watch(w, &(struct k8s_watch_spec){ .resource = &k8s_pods, .ns = "ns", .selector = "x=y", .on_change = on_change, .arg = &s });
    assert_true(watch_until(&b, &s, "-a", 10000, w));
    assert_string_equal(s.text, "=a =b ~b =a =c -b -c -a ");
    assert_int_equal(k8s_watches_relisted(w), 1);
    assert_int_equal(k8s_watches_resumed(w), 2);
    assert_int_equal(b.d.entries.n, 0);
    k8s_watches_free(w);
    end(&b);
}

/* The stream changes a 0.2 s after it was begun and ends; whoever asks for b is answered after 0.5 s. */
static void slow_answer(struct fake_request *r, void *arg)
{
    (void)arg;
    if (strstr(r->path, "watch=true")) {
        fake_begin(r);
        usleep(200000);
        fake_chunk(r, EVENT("MODIFIED", POD("a", "12")));
    } else if (strstr(r->path, "/b")) {
        usleep(500000);
        fake_reply(r, 200, "", POD("b", "2"));
    } else {
        fake_reply(r, 200, "", "{\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[" POD("a", "1") "]}");
    }
}

struct when { struct saw saw; int64_t at_ms; };

static void note_when(enum k8s_change change, const cJSON *o, void *arg)
{
    struct when *w = arg;
    on_change(change, o, &w->saw);
    w->at_ms = k8s_now_ms();
}

/* What comes while the client waits for an answer is told when it comes. */
static void heeded(void **state)
{
    struct bench b;
    struct when s = { 0 };
    cJSON *pod = NULL;
    (void)state;
    begin(&b, slow_answer, NULL);
    struct k8s_watches *w = k8s_watches_create(b.c);
    k8s_watch(w, &(struct k8s_watch_spec){ .resource = &k8s_pods, .on_change = note_when, .arg = &s });
    assert_true(k8s_watches_poll(w, 50, &b.d));
    assert_string_equal(s.saw.text, "=a ");
    k8s_watches_heed(w, &b.d);
    assert_int_equal(k8s_get(b.c, &k8s_pods, "ns", "b", &pod, &b.d), K8S_OK);
    assert_string_equal(s.saw.text, "=a ~a ");
    assert_true(k8s_now_ms() - s.at_ms >= 200);
    assert_int_equal(k8s_watches_resumed(w), 1);
    assert_int_equal(b.d.entries.n, 0);
    cJSON_Delete(pod);
    k8s_watches_free(w);
    end(&b);
}

/* Each stream is other nonsense; after each the client lists anew, with pauses. */
static void nonsense(struct fake_request *r, void *arg)
{
    static const char *const rubbish[] = { "<html>\n", "{\"type\":\"ADDED\"}\n", "{\"type\":\"WHAT\",\"object\":" POD("a", "5") "}\n", "\x80\xff\xfe\n",
                                           "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\"}}}\n" };
    unsigned *streams = arg;
    if (!strstr(r->path, "watch=true")) {
        fake_reply(r, 200, "", "{\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[" POD("a", "1") "]}");
        return;
    }
    fake_begin(r);
    if (*streams < 5) fake_chunk(r, rubbish[(*streams)++]);
    else fake_chunk(r, EVENT("MODIFIED", POD("done", "11"))), idle(r);
}

static void garbage(void **state)
{
    struct bench b;
    unsigned streams = 0;
    struct saw s = { 0 };
    (void)state;
    begin(&b, nonsense, &streams);
    struct k8s_watches *w = k8s_watches_create(b.c);
    k8s_watch(w, &(struct k8s_watch_spec){ .resource = &k8s_pods, .on_change = on_change, .arg = &s });
    int64_t from = k8s_now_ms();
    assert_true(watch_until(&b, &s, "~done", 30000, w));
    assert_int_equal(k8s_watches_relisted(w), 5);
    assert_true(k8s_now_ms() - from >= 100 + 200 + 400 + 800 + 1600); /* halves of 0.2, 0.4 ... 3.2 s */
    assert_int_equal(s.deleted, 0);
    k8s_watches_free(w);
    end(&b);
}

/* 429 with Retry-After, then 503, then the stream; in between the token expires. */
static void moody(struct fake_request *r, void *arg)
{
    unsigned *streams = arg;
    if (!strstr(r->path, "watch=true")) {
        fake_reply(r, 200, "", "{\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[]}");
        return;
    }
    switch ((*streams)++) {
    case 0: fake_reply(r, 429, "Retry-After: 1\r\n", STATUS("429", "TooManyRequests", "x")); return;
    case 1: fake_reply(r, 503, "", "starting"); return;
    case 2: fake_begin(r); fake_chunk(r, EVENT("ADDED", POD("n", "11"))); return;
    default: fake_reply(r, 401, "", STATUS("401", "Unauthorized", "token has expired"));
    }
}

static void moods(void **state)
{
    struct bench b;
    unsigned streams = 0;
    struct saw s = { 0 };
    (void)state;
    begin(&b, moody, &streams);
    struct k8s_watches *w = k8s_watches_create(b.c);
    k8s_watch(w, &(struct k8s_watch_spec){ .resource = &k8s_pods, .on_change = on_change, .arg = &s });
    int64_t from = k8s_now_ms();
    assert_true(watch_until(&b, &s, "~n", 20000, w));
    assert_true(k8s_now_ms() - from >= 1000);
    bool ok = true;
    for (int i = 0; i < 100 && ok; i++) ok = k8s_watches_poll(w, 50, &b.d);
    assert_false(ok);
    said(&b, "watch pods: 401 Unauthorized: token has expired", "expired");
    k8s_watches_free(w);
    end(&b);
}

/* The first stream cannot be had, the second tells something for longer than patience lasts and is broken by an error that passes: the
 * server was not away for all of that time. The third tells the last. */
static void long_ago(struct fake_request *r, void *arg)
{
    unsigned *streams = arg;
    if (!strstr(r->path, "watch=true")) {
        fake_reply(r, 200, "", "{\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[]}");
        return;
    }
    if ((*streams)++ == 0) {
        fake_reply(r, 503, "", "starting");
        return;
    }
    fake_begin(r);
    for (int i = 0; i < 15 && *streams == 2; i++) fake_chunk(r, EVENT("MODIFIED", POD("n", "11"))), usleep(100000);
    if (*streams == 2) fake_chunk(r, EVENT("ERROR", STATUS("500", "InternalError", "etcd has a new leader")));
    else fake_chunk(r, EVENT("MODIFIED", POD("done", "12"))), idle(r);
}

static void lost_long_ago(void **state)
{
    struct bench b;
    unsigned streams = 0;
    struct saw s = { 0 };
    (void)state;
    begin(&b, long_ago, &streams);
    k8s_client_patience(b.c, 1000);
    struct k8s_watches *w = k8s_watches_create(b.c);
    k8s_watch(w, &(struct k8s_watch_spec){ .resource = &k8s_pods, .on_change = on_change, .arg = &s });
    assert_true(watch_until(&b, &s, "~done", 10000, w));
    assert_int_equal(b.d.entries.n, 0);
    k8s_watches_free(w);
    end(&b);
}

/* Ten thousand pods, each changed ten times and deleted, in a stream that is cut every 5,000 events. */
struct crowd { unsigned next; };
enum { CROWD = 10000, EVENTS = CROWD * 11 };

static void crowd(struct fake_request *r, void *arg)
{
    struct crowd *c = arg;
    char event[300];
    if (!strstr(r->path, "watch=true")) {
        const char *at = strstr(r->path, "continue=at-");
        send_page(r, at ? (unsigned)strtoul(at + 12, NULL, 10) : 0, 500, CROWD, 1000);
        return;
    }
    unsigned from = (unsigned)strtoul(strstr(r->path, "resourceVersion=") + 16, NULL, 10) - 1000;
    fake_begin(r);
    for (c->next = from; c->next < EVENTS && c->next < from + 5000; c->next++) {
        snprintf(event, sizeof event, "{\"type\":\"%s\",\"object\":{\"metadata\":{\"name\":\"p%u\",\"namespace\":\"ns\",\"resourceVersion\":\"%u\"}}}\n",
                 c->next >= CROWD * 10 ? "DELETED" : "MODIFIED", c->next % CROWD, 1001 + c->next);
        if (!fake_chunk(r, event)) return;
    }
    if (c->next == EVENTS) idle(r);
    else fake_cut(r);
}

static void many_pods(void **state)
{
    struct bench b;
    struct crowd c = { 0 };
    struct saw s = { 0 };
    (void)state;
    begin(&b, crowd, &c);
    struct k8s_watches *w = k8s_watches_create(b.c);
    k8s_watch(w, &(struct k8s_watch_spec){ .resource = &k8s_pods, .on_change = on_change, .arg = &s });
    for (int i = 0; i < 1200 && s.deleted < CROWD; i++) assert_true(k8s_watches_poll(w, 50, &b.d));
    assert_int_equal(s.there, CROWD);
    assert_int_equal(s.changed, CROWD * 10);
    assert_int_equal(s.deleted, CROWD);
    k8s_watches_free(w);
    end(&b);
}

static void quiet(struct fake_request *r, void *arg)
{
    (void)arg;
    if (!strstr(r->path, "watch=true")) {
        fake_reply(r, 200, "", "{\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[]}");
        return;
    }
    fake_begin(r);
    fake_chunk(r, EVENT("ADDED", POD("n", "11")));
    idle(r);
}

/* A server that goes away for good: an error when patience is over, and not before. */
static void lost_server(void **state)
{
    struct bench b;
    struct saw s = { 0 };
    (void)state;
    begin(&b, quiet, NULL);
    k8s_client_patience(b.c, 1500);
    struct k8s_watches *w = k8s_watches_create(b.c);
    k8s_watch(w, &(struct k8s_watch_spec){ .resource = &k8s_pods, .on_change = on_change, .arg = &s });
    assert_true(watch_until(&b, &s, "~n", 20000, w));
    fake_kube_stop(b.f);
    int64_t from = k8s_now_ms();
    bool ok = true;
    for (int i = 0; i < 200 && ok; i++) ok = k8s_watches_poll(w, 50, &b.d);
    assert_false(ok);
    assert_true(k8s_now_ms() - from >= 1400);
    assert_non_null(strstr(b.d.entries.v[0].text, "watch pods"));
    k8s_watches_free(w);
    k8s_client_free(b.c);
    diag_free(&b.d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_many_requests), cmocka_unit_test(cut_connections),   cmocka_unit_test(clear_errors), cmocka_unit_test(nobody_there),
        cmocka_unit_test(interrupted),       cmocka_unit_test(passing_answers),   cmocka_unit_test(what_is_sent), cmocka_unit_test(conflicts),
        cmocka_unit_test(paging),            cmocka_unit_test(resume_and_relist), cmocka_unit_test(heeded),       cmocka_unit_test(garbage),      cmocka_unit_test(moods),
        cmocka_unit_test(lost_long_ago),
        cmocka_unit_test(many_pods),         cmocka_unit_test(lost_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
