/* client.c - see client.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/ray/client.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/json_write.h"
#include "base/mem.h"

enum { PATIENCE_MS = 30000, FIRST_PAUSE_MS = 200, LAST_PAUSE_MS = 5000, CONNECT_S = 10, ANSWER_S = 60, SAID = 200 };

const char *const ray_status_names[N_RAY_STATUSES] = {"PENDING", "RUNNING", "SUCCEEDED", "FAILED", "STOPPED"};

struct ray_client {
    CURL *curl;
    char *address, *token;
    const volatile int *stop;
    bool answered;
    char error[CURL_ERROR_SIZE];
};

struct ray_client *ray_client_create(const char *address, const char *token, const volatile int *stop)
{
    struct ray_client *c = xcalloc(1, sizeof *c);
    size_t n = strlen(address);
    c->address = xstrdup(address);
    while (n && c->address[n - 1] == '/') c->address[--n] = '\0';
    c->token = token ? xstrdup(token) : NULL;
    c->stop = stop;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || !(c->curl = curl_easy_init())) abort(); /* memory is out */
    return c;
}

void ray_client_free(struct ray_client *c)
{
    if (!c) return;
    curl_easy_cleanup(c->curl);
    free(c->address);
    free(c->token);
    free(c);
}

/* ---- a request ---- */

struct answer { struct str body; long code; CURLcode transport; bool too_large; };

static size_t on_body(char *data, size_t size, size_t n, void *arg)
{
    struct answer *a = arg;
    if (a->body.n + size * n > RAY_ANSWER_MAX) {
        a->too_large = true;
        return 0;
    }
    str_append_n(&a->body, data, size * n);
    return size * n;
}

static bool stopped(const struct ray_client *c) { return c->stop && *c->stop; }

static int on_progress(void *arg, curl_off_t a, curl_off_t b, curl_off_t x, curl_off_t y)
{
    (void)a, (void)b, (void)x, (void)y;
    return stopped(arg);
}

static struct curl_slist *headers_of(const struct ray_client *c)
{
    struct curl_slist *h = curl_slist_append(NULL, "Content-Type: application/json");
    struct str s = {0};
    h = curl_slist_append(h, "Expect:");
    if (c->token) {
        str_printf(&s, "Authorization: Bearer %s", c->token);
        h = curl_slist_append(h, str_text(&s));
    }
    str_free(&s);
    return h;
}

static void send_once(struct ray_client *c, const char *method, const char *path, const char *body, struct answer *a)
{
    struct str url = {0};
    struct curl_slist *headers = headers_of(c);
    str_printf(&url, "%s%s", c->address, path);
    str_clear(&a->body);
    curl_easy_reset(c->curl);
    curl_easy_setopt(c->curl, CURLOPT_URL, str_text(&url));
    curl_easy_setopt(c->curl, CURLOPT_USERAGENT, "trainyard");
    curl_easy_setopt(c->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c->curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    curl_easy_setopt(c->curl, CURLOPT_TIMEOUT, (long)ANSWER_S);
    curl_easy_setopt(c->curl, CURLOPT_ERRORBUFFER, c->error);
    curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(c->curl, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, a);
    curl_easy_setopt(c->curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(c->curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(c->curl, CURLOPT_XFERINFODATA, c);
    if (body) curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, body);
    c->error[0] = '\0';
    a->transport = curl_easy_perform(c->curl);
    a->code = 0;
    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &a->code);
    curl_slist_free_all(headers);
    str_free(&url);
}

static bool may_help(const struct answer *a)
{
    if (a->too_large || a->transport == CURLE_ABORTED_BY_CALLBACK) return false;
    if (a->code == 500 && strstr(str_text(&a->body), "No available agent")) return true; /* of a head that has just begun */
    return a->transport != CURLE_OK || a->code == 502 || a->code == 503 || a->code == 504;
}

static void first_line(const struct str *body, char out[SAID])
{
    snprintf(out, SAID, "%.*s", (int)strcspn(str_text(body), "\r\n"), str_text(body));
}

static void report(const struct ray_client *c, const char *method, const char *path, const struct answer *a, struct diag *d)
{
    char said[SAID];
    first_line(&a->body, said);
    if (a->too_large) {
        diag_error(d, c->address, 0, NULL, "%s %s: the answer has more than %zu MiB", method, path, RAY_ANSWER_MAX >> 20);
    } else if (a->transport == CURLE_ABORTED_BY_CALLBACK) {
        diag_error(d, c->address, 0, NULL, "%s %s: interrupted", method, path);
    } else if (a->transport != CURLE_OK) {
        diag_error(d, c->address, 0, NULL, "%s %s: %s", method, path, *c->error ? c->error : curl_easy_strerror(a->transport));
        diag_help(d, "is this the dashboard of a Ray head (port 8265), and does it run?");
    } else {
        diag_error(d, c->address, 0, NULL, "%s %s: HTTP %ld: %s", method, path, a->code, said);
        if (a->code == 401 || a->code == 403) diag_help(d, "give the cluster's token in RAY_AUTH_TOKEN");
        if (a->code == 404) diag_help(d, "is this the dashboard of a Ray head?");
    }
}

/* A pause that notices *stop. */
static void rest(const struct ray_client *c, long ms)
{
    for (long slept = 0; slept < ms && !stopped(c); slept += 50) nanosleep(&(struct timespec){0, 50000000}, NULL);
}

/* As often as it may help. False: the answer is no 2xx, or there is none. */
static bool exchange(struct ray_client *c, const char *method, const char *path, const char *body, struct answer *a)
{
    long waited = 0;
    for (long pause = FIRST_PAUSE_MS;; pause = pause * 2 < LAST_PAUSE_MS ? pause * 2 : LAST_PAUSE_MS) {
        send_once(c, method, path, body, a);
        if (!may_help(a) || stopped(c) || (waited += pause) > PATIENCE_MS) break;
        rest(c, pause);
    }
    c->answered = a->transport == CURLE_OK;
    return c->answered && a->code >= 200 && a->code <= 299;
}

bool ray_answered(const struct ray_client *c) { return c->answered; }

/* The parsed answer of a 2xx; NULL: reported. */
static cJSON *call(struct ray_client *c, const char *method, const char *path, const char *body, struct diag *d)
{
    struct answer a = {0};
    cJSON *json = NULL;
    if (!exchange(c, method, path, body, &a)) {
        report(c, method, path, &a, d);
    } else if (!(json = cJSON_ParseWithLength(str_text(&a.body), a.body.n))) {
        diag_error(d, c->address, 0, NULL, "%s %s: the answer is no JSON", method, path);
        diag_help(d, "is this the dashboard of a Ray head (port 8265)?");
    }
    str_free(&a.body);
    return json;
}

/* ---- jobs ---- */

static char *path_of(const char *id, const char *what)
{
    struct str s = {0};
    str_printf(&s, "/api/jobs/%s%s", id, what);
    return str_take(&s);
}

static void write_submission(struct str *body, const char *id, const char *entrypoint, const struct ray_variable *v, size_t n)
{
    struct json_writer w;
    json_write_begin(&w, body);
    json_write_object(&w);
    json_write_key(&w, "entrypoint");
    json_write_string(&w, entrypoint);
    json_write_key(&w, "submission_id");
    json_write_string(&w, id);
    json_write_key(&w, "runtime_env");
    json_write_object(&w);
    json_write_key(&w, "env_vars");
    json_write_object(&w);
    for (size_t i = 0; i < n; i++) {
        json_write_key(&w, v[i].name);
        json_write_string(&w, v[i].value);
    }
    json_write_end(&w);
    json_write_end(&w);
    json_write_end(&w);
}

static bool is_there(struct ray_client *c, const char *id)
{
    struct answer a = {0};
    char *path = path_of(id, "");
    bool ok = exchange(c, "GET", path, NULL, &a);
    free(path);
    str_free(&a.body);
    return ok;
}

bool ray_submit(struct ray_client *c, const char *id, const char *entrypoint, const struct ray_variable *v, size_t n, struct diag *d)
{
    struct str body = {0};
    struct answer a = {0};
    write_submission(&body, id, entrypoint, v, n);
    bool ok = exchange(c, "POST", "/api/jobs/", str_text(&body), &a) || (c->answered && is_there(c, id));
    if (!ok) report(c, "POST", "/api/jobs/", &a, d);
    str_free(&body);
    str_free(&a.body);
    return ok;
}

bool ray_job_status(struct ray_client *c, const char *id, enum ray_status *status, struct diag *d)
{
    char *path = path_of(id, "");
    cJSON *answer = call(c, "GET", path, NULL, d);
    const char *word = cJSON_GetStringValue(json_member(answer, "status"));
    bool ok = false;
    for (int i = 0; word && i < N_RAY_STATUSES; i++)
        if (!strcmp(word, ray_status_names[i])) *status = (enum ray_status)i, ok = true;
    if (answer && !ok) diag_error(d, c->address, 0, NULL, "GET %s: unknown status \"%.40s\"", path, word ? word : "");
    cJSON_Delete(answer);
    free(path);
    return ok;
}

bool ray_job_logs(struct ray_client *c, const char *id, struct str *out, struct diag *d)
{
    char *path = path_of(id, "/logs");
    cJSON *answer = call(c, "GET", path, NULL, d);
    const char *logs = cJSON_GetStringValue(json_member(answer, "logs"));
    str_clear(out);
    if (logs) str_append(out, logs);
    cJSON_Delete(answer);
    free(path);
    return answer != NULL;
}

bool ray_job_stop(struct ray_client *c, const char *id, struct diag *d)
{
    char *path = path_of(id, "/stop");
    cJSON *answer = call(c, "POST", path, "{}", d);
    cJSON_Delete(answer);
    free(path);
    return answer != NULL;
}

/* ---- nodes ---- */

static double number(const cJSON *object, const char *key)
{
    const cJSON *v = json_member(object, key);
    return cJSON_IsNumber(v) ? v->valuedouble : 0;
}

static void add_node(struct ray_nodes *nodes, const cJSON *node)
{
    const char *state = cJSON_GetStringValue(json_member(node, "state")), *ip = cJSON_GetStringValue(json_member(node, "node_ip"));
    const cJSON *resources = json_member(node, "resources_total");
    struct ray_node n = {.gpus = number(resources, "GPU"), .cpus = number(resources, "CPU"),
                         .start_ms = (int64_t)number(node, "start_time_ms")};
    if (!state || strcmp(state, "ALIVE") || !ip || strlen(ip) >= sizeof n.address) return;
    memcpy(n.address, ip, strlen(ip) + 1);
    array_push(&nodes->list, n);
}

/* 127.0.0.9 before 127.0.0.10. */
static int by_address(const void *a, const void *b)
{
    return strverscmp(((const struct ray_node *)a)->address, ((const struct ray_node *)b)->address);
}

bool ray_nodes_list(struct ray_client *c, struct ray_nodes *nodes, struct diag *d)
{
    cJSON *answer = call(c, "GET", "/api/v0/nodes?limit=10000&detail=true", NULL, d);
    const cJSON *list = json_member(json_member(json_member(answer, "data"), "result"), "result"), *node;
    *nodes = (struct ray_nodes){0};
    cJSON_ArrayForEach(node, list) add_node(nodes, node);
    if (nodes->list.n) qsort(nodes->list.v, nodes->list.n, sizeof *nodes->list.v, by_address);
    bool ok = cJSON_IsArray(list);
    if (answer && !ok) diag_error(d, c->address, 0, NULL, "GET /api/v0/nodes: no list of nodes in the answer");
    cJSON_Delete(answer);
    return ok;
}
