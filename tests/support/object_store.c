/* object_store.c - a small S3 in a thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/object_store.h"

#include <arpa/inet.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/str.h"

struct object {
    char *key, *bytes;
    size_t n;
    int upload; /* of which it is a part; 0: an object */
};

struct object_store {
    int listener;
    pthread_t thread;
    pthread_mutex_t lock;
    ARRAY(struct object) objects; /* by key */
    size_t requests, open_uploads;
    int skip, failures, status, page, uploads;
    char code[64];
    const char *denied; /* a verb; NULL: none */
};

struct request {
    char verb[16], path[2048], query[2048];
    struct str head;
    char *body;
    size_t n;
};

/* ---- objects ---- */

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct object *)a)->key, ((const struct object *)b)->key);
}

static struct object *find(struct object_store *s, const char *key, int upload)
{
    for (size_t i = 0; i < s->objects.n; i++)
        if (!strcmp(s->objects.v[i].key, key) && s->objects.v[i].upload == upload) return &s->objects.v[i];
    return NULL;
}

static void drop(struct object_store *s, struct object *o)
{
    free(o->key);
    free(o->bytes);
    size_t at = (size_t)(o - s->objects.v);
    memmove(o, o + 1, (s->objects.n - at - 1) * sizeof *o);
    s->objects.n--;
}

static void put(struct object_store *s, const char *key, int upload, const char *bytes, size_t n)
{
    struct object *old = find(s, key, upload);
    if (old) drop(s, old);
    char *copy = xmalloc(n + 1);
    memcpy(copy, bytes, n);
    array_push(&s->objects, (struct object){xstrdup(key), copy, n, upload});
    array_sort(&s->objects, by_key);
}

/* ---- requests ---- */

static void answer(int fd, int status, const char *headers, const char *body, size_t n)
{
    char head[512];
    int bytes = snprintf(head, sizeof head, "HTTP/1.1 %d x\r\nContent-Length: %zu\r\nConnection: close\r\n%s\r\n", status, n, headers);
    if (send(fd, head, (size_t)bytes, MSG_NOSIGNAL) < 0 || (n > 0 && send(fd, body, n, MSG_NOSIGNAL) < 0)) return;
}

static void refuse(int fd, int status, const char *code)
{
    char text[256];
    snprintf(text, sizeof text, "%s%s%s", *code ? "<Error><Code>" : "", code, *code ? "</Code></Error>" : "");
    answer(fd, status, "", text, strlen(text));
}

/* Of "a=b&c=d", with %XX taken back; "" when there is none. */
static void parameter(const char *query, const char *name, char out[512])
{
    size_t n = strlen(name), used = 0;
    const char *at = query;
    while (at && !(strncmp(at, name, n) == 0 && at[n] == '=')) at = strchr(at, '&') ? strchr(at, '&') + 1 : NULL;
    for (at = at ? at + n + 1 : ""; *at && *at != '&' && used < 511; at++) {
        unsigned c = (unsigned char)*at;
        if (*at == '%' && sscanf(at + 1, "%2x", &c) == 1) at += 2;
        out[used++] = (char)c;
    }
    out[used] = 0;
}

/* In the request's head; "" when there is none. */
static void header(const struct request *r, const char *name, char out[512])
{
    char line[128];
    snprintf(line, sizeof line, "\n%s: ", name);
    const char *at = strcasestr(str_text(&r->head), line);
    out[0] = 0;
    if (at) snprintf(out, 512, "%.*s", (int)strcspn(at + strlen(line), "\r\n"), at + strlen(line));
}

/* What of the signature can be seen without the secret. */
static bool is_signed(const struct request *r)
{
    char authorization[512], sum[512], want[2 * EVP_MAX_MD_SIZE + 1];
    unsigned char md[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    header(r, "Authorization", authorization);
    header(r, "x-amz-content-sha256", sum);
    EVP_Digest(r->body, r->n, md, &n, EVP_sha256(), NULL);
    for (unsigned i = 0; i < n; i++) sprintf(want + 2 * i, "%02x", md[i]);
    return str_starts_with(authorization, "AWS4-HMAC-SHA256 Credential=test-key/") && strstr(authorization, "/test-region/s3/aws4_request") &&
           strstr(authorization, "SignedHeaders=") && strstr(authorization, "host;") &&
           strstr(authorization, "x-amz-content-sha256;x-amz-date") && str_equal(sum, want);
}

static void list(struct object_store *s, int fd, const struct request *r)
{
    struct str text = {0};
    char prefix[512], after[512];
    int n = 0;
    parameter(r->query, "prefix", prefix);
    parameter(r->query, "continuation-token", after);
    str_append(&text, "<ListBucketResult>");
    for (size_t i = 0; i < s->objects.n; i++) {
        const struct object *o = &s->objects.v[i];
        if (o->upload || !str_starts_with(o->key, prefix) || strcmp(o->key, after) <= 0) continue;
        str_printf(&text, "<Contents><Key>%s</Key></Contents>", o->key);
        if (++n == s->page) {
            str_printf(&text, "<NextContinuationToken>%s</NextContinuationToken>", o->key);
            break;
        }
    }
    str_append(&text, "</ListBucketResult>");
    answer(fd, 200, "", text.s, text.n);
    str_free(&text);
}

static void list_uploads(struct object_store *s, int fd)
{
    struct str text = {0};
    str_append(&text, "<ListMultipartUploadsResult>");
    for (size_t i = 0; i < s->objects.n; i++) {
        const struct object *o = &s->objects.v[i];
        const char *part = strrchr(o->key, '#');
        if (o->upload && part && str_equal(part, "#1"))
            str_printf(&text, "<Upload><UploadId>%d</UploadId><Key>%.*s</Key></Upload>", o->upload, (int)(part - o->key), o->key);
    }
    str_append(&text, "</ListMultipartUploadsResult>");
    answer(fd, 200, "", text.s, text.n);
    str_free(&text);
}

static void drop_parts(struct object_store *s, int upload)
{
    for (size_t i = s->objects.n; i-- > 0;)
        if (s->objects.v[i].upload == upload) drop(s, &s->objects.v[i]);
    s->open_uploads--;
}

/* The parts in the order of their numbers, which are below ten. */
static void complete(struct object_store *s, const char *key, int upload)
{
    struct str whole = {0};
    for (size_t i = 0; i < s->objects.n; i++)
        if (s->objects.v[i].upload == upload) str_append_n(&whole, s->objects.v[i].bytes, s->objects.v[i].n);
    drop_parts(s, upload);
    put(s, key, 0, str_text(&whole), whole.n);
    str_free(&whole);
}

static void get(struct object_store *s, int fd, const struct request *r, const char *key)
{
    const struct object *o = find(s, key, 0);
    char range[512], headers[128];
    size_t last;
    if (!o) {
        refuse(fd, 404, "NoSuchKey");
        return;
    }
    if (o->n == 0) {
        refuse(fd, 416, "InvalidRange");
        return;
    }
    header(r, "Range", range);
    if (sscanf(range, "bytes=0-%zu", &last) != 1 || last >= o->n) last = o->n - 1;
    snprintf(headers, sizeof headers, "Content-Range: bytes 0-%zu/%zu\r\n", last, o->n);
    answer(fd, 206, headers, o->bytes, last + 1);
}

static void serve_object(struct object_store *s, int fd, const struct request *r, const char *key)
{
    char id[512], number[512], part[2600];
    parameter(r->query, "uploadId", id);
    parameter(r->query, "partNumber", number);
    snprintf(part, sizeof part, "%s#%s", key, number);
    if (!strcmp(r->verb, "GET")) {
        get(s, fd, r, key);
        return;
    }
    if (!strcmp(r->verb, "POST") && !*id) {
        snprintf(part, sizeof part, "<UploadId>%d</UploadId>", ++s->uploads);
        s->open_uploads++;
        answer(fd, 200, "", part, strlen(part));
        return;
    }
    if (!strcmp(r->verb, "POST")) complete(s, key, atoi(id));
    else if (!strcmp(r->verb, "PUT")) put(s, *id ? part : key, atoi(id), r->body, r->n);
    else if (*id) drop_parts(s, atoi(id));
    else if (find(s, key, 0)) drop(s, find(s, key, 0));
    answer(fd, strcmp(r->verb, "DELETE") ? 200 : 204, "ETag: \"x\"\r\n", "", 0);
}

static void serve(struct object_store *s, int fd, const struct request *r)
{
    s->requests++;
    if (s->skip > 0) {
        s->skip--;
    } else if (s->failures > 0) {
        s->failures--;
        if (s->status) refuse(fd, s->status, s->code);
        return;
    }
    if (!is_signed(r)) refuse(fd, 403, "SignatureDoesNotMatch");
    else if (s->denied && str_equal(r->verb, s->denied)) refuse(fd, 403, "AccessDenied");
    else if (!str_starts_with(r->path, "/runs")) refuse(fd, 404, "NoSuchBucket");
    else if (r->path[5] == '/') serve_object(s, fd, r, r->path + 6);
    else if (strstr(r->query, "uploads=")) list_uploads(s, fd);
    else list(s, fd, r);
}

/* ---- connections ---- */

static bool read_request(int fd, struct request *r)
{
    char buffer[65536], length[512], expect[512];
    const char *end = NULL;
    while (!end) {
        ssize_t n = recv(fd, buffer, sizeof buffer, 0);
        if (n <= 0) return false;
        str_append_n(&r->head, buffer, (size_t)n);
        end = memmem(r->head.s, r->head.n, "\r\n\r\n", 4);
    }
    size_t have = r->head.n - (size_t)(end + 4 - r->head.s), header_bytes = r->head.n - have;
    header(r, "Content-Length", length);
    header(r, "Expect", expect);
    r->n = (size_t)strtoull(length, NULL, 10);
    r->body = xmalloc(r->n + 1);
    memcpy(r->body, r->head.s + header_bytes, have < r->n ? have : r->n);
    if (*expect && have == 0 && send(fd, "HTTP/1.1 100 Continue\r\n\r\n", 25, MSG_NOSIGNAL) < 0) return false;
    while (have < r->n) {
        ssize_t n = recv(fd, r->body + have, r->n - have, 0);
        if (n <= 0) return false;
        have += (size_t)n;
    }
    r->head.s[header_bytes - 1] = 0;
    return sscanf(r->head.s, "%15s %2047[^? ]?%2047s", r->verb, r->path, r->query) >= 2;
}

static void *run(void *arg)
{
    struct object_store *s = arg;
    for (int fd; (fd = accept(s->listener, NULL, NULL)) >= 0;) {
        struct request *r = xcalloc(1, sizeof *r);
        if (read_request(fd, r)) {
            pthread_mutex_lock(&s->lock);
            serve(s, fd, r);
            pthread_mutex_unlock(&s->lock);
        }
        shutdown(fd, SHUT_RDWR);
        close(fd);
        str_free(&r->head);
        free(r->body);
        free(r);
    }
    return NULL;
}

struct object_store *object_store_start(void)
{
    struct object_store *s = xcalloc(1, sizeof *s);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    char url[64];
    s->page = 1000;
    pthread_mutex_init(&s->lock, NULL);
    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s->listener < 0 || bind(s->listener, (struct sockaddr *)&at, n) || listen(s->listener, 64) ||
        getsockname(s->listener, (struct sockaddr *)&at, &n) || pthread_create(&s->thread, NULL, run, s))
        abort();
    snprintf(url, sizeof url, "http://127.0.0.1:%d", ntohs(at.sin_port));
    setenv("AWS_ENDPOINT_URL", url, 1);
    setenv("AWS_ACCESS_KEY_ID", "test-key", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "test-secret", 1);
    setenv("AWS_REGION", "test-region", 1);
    setenv("AWS_MAX_ATTEMPTS", "3", 1);
    return s;
}

void object_store_stop(struct object_store *s)
{
    shutdown(s->listener, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    close(s->listener);
    while (s->objects.n) drop(s, &s->objects.v[0]);
    array_free(&s->objects);
    free(s);
}

void object_store_fail(struct object_store *s, int skip, int n, int status)
{
    pthread_mutex_lock(&s->lock);
    s->skip = skip, s->failures = n, s->status = status;
    pthread_mutex_unlock(&s->lock);
}

void object_store_fail_with(struct object_store *s, const char *code)
{
    pthread_mutex_lock(&s->lock);
    snprintf(s->code, sizeof s->code, "%s", code);
    pthread_mutex_unlock(&s->lock);
}

void object_store_deny(struct object_store *s, const char *verb)
{
    pthread_mutex_lock(&s->lock);
    s->denied = verb;
    pthread_mutex_unlock(&s->lock);
}

void object_store_page(struct object_store *s, int keys)
{
    pthread_mutex_lock(&s->lock);
    s->page = keys;
    pthread_mutex_unlock(&s->lock);
}

static size_t read_locked(struct object_store *s, const size_t *at)
{
    pthread_mutex_lock(&s->lock);
    size_t x = *at;
    pthread_mutex_unlock(&s->lock);
    return x;
}

size_t object_store_requests(struct object_store *s)
{
    return read_locked(s, &s->requests);
}

size_t object_store_objects(struct object_store *s)
{
    return read_locked(s, &s->objects.n);
}

size_t object_store_uploads(struct object_store *s)
{
    return read_locked(s, &s->open_uploads);
}

static struct object *matching(struct object_store *s, const char *begin, const char *end)
{
    for (size_t i = 0; i < s->objects.n; i++)
        if (str_starts_with(s->objects.v[i].key, begin) && str_ends_with(s->objects.v[i].key, end)) return &s->objects.v[i];
    return NULL;
}

char *object_store_find(struct object_store *s, const char *begin, const char *end, size_t *n)
{
    pthread_mutex_lock(&s->lock);
    struct object *o = matching(s, begin, end);
    *n = o ? o->n : 0;
    char *bytes = o ? o->bytes : NULL;
    pthread_mutex_unlock(&s->lock);
    return bytes;
}

void object_store_turn(struct object_store *s, const char *begin, const char *end, size_t at)
{
    pthread_mutex_lock(&s->lock);
    struct object *o = matching(s, begin, end);
    if (o) o->bytes[at] ^= 1;
    pthread_mutex_unlock(&s->lock);
}

void object_store_cut(struct object_store *s, const char *begin, const char *end, size_t n)
{
    pthread_mutex_lock(&s->lock);
    struct object *o = matching(s, begin, end);
    if (o) o->n = n;
    pthread_mutex_unlock(&s->lock);
}

void object_store_drop(struct object_store *s, const char *begin, const char *end)
{
    pthread_mutex_lock(&s->lock);
    struct object *o = matching(s, begin, end);
    if (o) drop(s, o);
    pthread_mutex_unlock(&s->lock);
}
