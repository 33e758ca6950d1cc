/* s3.c - objects of one bucket of an S3-compatible store.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/worker/s3.h"

#include <curl/curl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"

/* CONNECT: to be connected. STALL: without a byte either way. EXPECT: for "100 Continue" before a large body. */
enum { CONNECT_MS = 5000, STALL_S = 30, EXPECT_MS = 100, LIST_MAX = 1 << 26 };

struct s3 {
    CURL *curl;
    struct arena arena;
    const char *bucket, *prefix; /* prefix: "" or with a slash behind */
    const char *endpoint, *region, *token, *ca;
    char *user; /* KEY:SECRET */
    int attempts;
    bool failed;

    /* The last answer. */
    long status;
    struct str body;
    size_t limit, whole; /* of the body: no more than; of the object */
    char etag[128];
    char trouble[CURL_ERROR_SIZE];
};

/* ---- where, and who ---- */

static bool wrong(struct diag *d, const char *file, const char *what, const char *help)
{
    diag_error(d, file, 0, NULL, "%s", what);
    if (help) diag_help(d, "%s", help);
    return false;
}

static const char *variable(const char *first, const char *second, const char *otherwise)
{
    const char *v = getenv(first);
    if ((!v || !*v) && second) v = getenv(second);
    return v && *v ? v : otherwise;
}

static bool is_key(const char *text)
{
    return text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./")] == 0;
}

static bool read_url(struct s3 *s, const char *url, struct diag *d)
{
    const char *bucket = url + strlen("s3://"), *slash = strchr(bucket, '/');
    size_t n = slash ? (size_t)(slash - bucket) : strlen(bucket), left = slash ? strlen(slash + 1) : 0;
    if (n == 0 || !is_key(bucket) || strstr(bucket, "//") || strstr(bucket, ".."))
        return wrong(d, url, "is no place in an object store", "s3://BUCKET/PREFIX, of letters, digits and - _ . / only");
    while (left > 0 && slash[left] == '/') left--;
    s->bucket = arena_strndup(&s->arena, bucket, n);
    s->prefix = left ? arena_printf(&s->arena, "%.*s/", (int)left, slash + 1) : "";
    return true;
}

static bool read_environment(struct s3 *s, struct diag *d)
{
    const char *key = variable("AWS_ACCESS_KEY_ID", NULL, NULL), *secret = variable("AWS_SECRET_ACCESS_KEY", NULL, NULL);
    if (!key) wrong(d, "environment", "AWS_ACCESS_KEY_ID is not set: checkpoints in an object store need a key", NULL);
    if (!secret) wrong(d, "environment", "AWS_SECRET_ACCESS_KEY is not set: checkpoints in an object store need it", NULL);
    s->region = arena_strdup(&s->arena, variable("AWS_REGION", "AWS_DEFAULT_REGION", "us-east-1"));
    const char *endpoint = variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", NULL);
    if (!endpoint) endpoint = arena_printf(&s->arena, "https://s3.%s.amazonaws.com", s->region);
    if (!str_starts_with(endpoint, "http://") && !str_starts_with(endpoint, "https://"))
        return wrong(d, "environment", "AWS_ENDPOINT_URL is no http:// or https:// address", NULL);
    size_t n = strlen(endpoint);
    s->endpoint = arena_strndup(&s->arena, endpoint, endpoint[n - 1] == '/' ? n - 1 : n);
    s->token = variable("AWS_SESSION_TOKEN", NULL, NULL);
    s->ca = variable("AWS_CA_BUNDLE", NULL, NULL);
    int64_t attempts = S3_ATTEMPTS;
    const char *text = variable("AWS_MAX_ATTEMPTS", NULL, NULL);
    if (text && (units_parse_int64(text, &attempts) || attempts < 1 || attempts > 100))
        return wrong(d, "environment", "AWS_MAX_ATTEMPTS is no whole number from 1 to 100", NULL);
    s->attempts = (int)attempts;
    if (key && secret) s->user = arena_printf(&s->arena, "%s:%s", key, secret);
    return s->user != NULL;
}

struct s3 *s3_open(const char *url, struct diag *d)
{
    struct s3 *s = xcalloc(1, sizeof *s);
    bool ok = read_url(s, url, d) && read_environment(s, d);
    if (ok && (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || !(s->curl = curl_easy_init())))
        ok = wrong(d, url, "libcurl cannot start", NULL);
    if (ok) return s;
    s3_close(s);
    return NULL;
}

void s3_close(struct s3 *s)
{
    if (s->curl) curl_easy_cleanup(s->curl);
    str_free(&s->body);
    arena_free(&s->arena);
    free(s);
}

bool s3_failed(const struct s3 *s)
{
    return s->failed;
}

char *s3_name(const struct s3 *s, struct arena *a, const char *key)
{
    return arena_printf(a, "s3://%s/%s%s", s->bucket, s->prefix, key);
}

/* ---- one request ---- */

struct request {
    const char *verb, *key; /* key NULL: of the bucket */
    const char *query;      /* sorted and encoded as the signature wants it, or "" */
    const void *data;
    size_t n;
    size_t limit; /* of the answer */
    bool first;   /* only the first `limit` bytes are asked for */
};

static size_t take_body(char *data, size_t one, size_t n, void *arg)
{
    struct s3 *s = arg;
    (void)one;
    if (s->body.n + n > s->limit) return 0;
    str_append_n(&s->body, data, n);
    return n;
}

static size_t take_header(char *data, size_t one, size_t n, void *arg)
{
    struct s3 *s = arg;
    char line[sizeof s->etag];
    unsigned long long whole;
    (void)one;
    snprintf(line, sizeof line, "%.*s", (int)(n < sizeof line ? n : sizeof line - 1), data);
    line[strcspn(line, "\r\n")] = 0;
    if (strncasecmp(line, "etag:", 5) == 0) strcpy(s->etag, line + 5 + strspn(line + 5, " "));
    if (strncasecmp(line, "content-range:", 14) == 0 && sscanf(line + 14, " bytes %*u-%*u/%llu", &whole) == 1)
        s->whole = (size_t)whole;
    return n;
}

static char *sha256(struct arena *a, const void *data, size_t n)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned bytes = 0;
    char *text = arena_alloc(a, 2 * EVP_MAX_MD_SIZE + 1);
    if (EVP_Digest(data, n, sum, &bytes, EVP_sha256(), NULL) != 1) abort(); /* no memory */
    for (unsigned i = 0; i < bytes; i++) sprintf(text + 2 * i, "%02x", sum[i]);
    return text;
}

static struct curl_slist *headers_of(const struct s3 *s, const struct request *r, struct arena *a)
{
    struct curl_slist *h = curl_slist_append(NULL, arena_printf(a, "x-amz-content-sha256: %s", sha256(a, r->data, r->n)));
    if (s->token) h = curl_slist_append(h, arena_printf(a, "x-amz-security-token: %s", s->token));
    if (r->data) h = curl_slist_append(h, "content-type: application/octet-stream");
    return h;
}

/* Each option anew, since nothing of the last request must stay; the connection does. */
static void set_up(struct s3 *s, const struct request *r, struct curl_slist *headers, struct arena *a)
{
    CURL *c = s->curl;
    curl_easy_reset(c);
    curl_easy_setopt(c, CURLOPT_URL, arena_printf(a, "%s/%s%s%s%s%s", s->endpoint, s->bucket, r->key ? "/" : "",
                                                  r->key ? arena_printf(a, "%s%s", s->prefix, r->key) : "",
                                                  *r->query ? "?" : "", r->query));
    curl_easy_setopt(c, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(c, CURLOPT_AWS_SIGV4, arena_printf(a, "aws:amz:%s:s3", s->region));
    curl_easy_setopt(c, CURLOPT_USERPWD, s->user);
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
    if (r->data) {
        curl_easy_setopt(c, CURLOPT_POSTFIELDS, r->data);
        curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->n);
    }
    curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, r->verb);
    if (r->first) curl_easy_setopt(c, CURLOPT_RANGE, arena_printf(a, "0-%zu", r->limit - 1));
    if (s->ca) curl_easy_setopt(c, CURLOPT_CAINFO, s->ca);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L); /* threads */
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, (long)STALL_S);
    curl_easy_setopt(c, CURLOPT_EXPECT_100_TIMEOUT_MS, (long)EXPECT_MS);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, s->trouble);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, s);
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, s);
}

/* Whether the same may go well a little later. */
static bool is_passing(const struct s3 *s, CURLcode code)
{
    static const long statuses[] = {429, 500, 502, 503, 504};
    for (size_t i = 0; code == CURLE_OK && i < sizeof statuses / sizeof *statuses; i++)
        if (s->status == statuses[i]) return true;
    return code != CURLE_OK && code != CURLE_WRITE_ERROR && code != CURLE_URL_MALFORMAT && code != CURLE_PEER_FAILED_VERIFICATION &&
           code != CURLE_SSL_CACERT_BADFILE && code != CURLE_UNSUPPORTED_PROTOCOL;
}

static CURLcode once(struct s3 *s, const struct request *r)
{
    struct arena a = {0};
    struct curl_slist *headers = headers_of(s, r, &a);
    str_clear(&s->body);
    s->status = 0;
    s->whole = 0;
    s->limit = r->first && r->limit < 4096 ? 4096 : r->limit; /* an error has a text */
    s->etag[0] = s->trouble[0] = 0;
    set_up(s, r, headers, &a);
    CURLcode code = curl_easy_perform(s->curl);
    curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &s->status);
    curl_slist_free_all(headers);
    arena_free(&a);
    return code;
}

static void wait_before(int attempt)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t ns = S3_WAIT_NS << (attempt < 8 ? attempt : 8);
    ns += ns / 2 * (now.tv_nsec / 1000 % 1000) / 1000; /* so that ranks do not knock all at once */
    nanosleep(&(struct timespec){ns / NS_PER_S, ns % NS_PER_S}, NULL);
}

/* ---- what went wrong ---- */

static const struct {
    const char *code, *says, *help;
} refusals[] = {
    {"NoSuchBucket", "there is no such bucket", "it must be made beforehand; or AWS_ENDPOINT_URL is another store's"},
    {"AccessDenied", "access is denied", "the key may not do this: list, get, put and delete are needed below the prefix"},
    {"InvalidAccessKeyId", "the store does not know this key", "AWS_ACCESS_KEY_ID is another store's, or was deleted"},
    {"SignatureDoesNotMatch", "the store refuses the signature", "AWS_SECRET_ACCESS_KEY is not the key's, or a proxy changes requests"},
    {"InvalidToken", "the store refuses the session's token", "AWS_SESSION_TOKEN is not the key's"},
    {"ExpiredToken", "the session's token has expired", "get a new AWS_SESSION_TOKEN, with its key"},
    {"RequestTimeTooSkewed", "this machine's clock is off", "set it: signatures are good for fifteen minutes"},
    {"AuthorizationHeaderMalformed", "the request was signed for another region", "AWS_REGION must be the bucket's"},
    {"PermanentRedirect", "the bucket is in another region", "AWS_REGION and AWS_ENDPOINT_URL must be the bucket's"},
    {"NoSuchKey", "is not there", NULL},
    {"InvalidRange", "is empty", NULL}, /* of its first bytes there are none */
};

/* Notes in s->failed whether it is the store's doing. */
static bool report_refusal(struct s3 *s, const char *verb, const char *name, struct diag *d)
{
    struct arena a = {0};
    const char *at = str_text(&s->body), *code = s3_element(&a, &at, "Code");
    s->failed = !code || (!str_equal(code, "NoSuchKey") && !str_equal(code, "InvalidRange"));
    size_t i = 0, n = sizeof refusals / sizeof *refusals;
    while (i < n && !(code && str_equal(code, refusals[i].code))) i++;
    if (i < n)
        wrong(d, name, refusals[i].says, refusals[i].help);
    else
        diag_error(d, name, 0, NULL, "%s: the store answers %ld%s%s", verb, s->status, code ? " " : "", code ? code : "");
    arena_free(&a);
    return false;
}

static bool report(struct s3 *s, const struct request *r, CURLcode code, struct diag *d)
{
    struct arena a = {0};
    const char *name = r->key ? s3_name(s, &a, r->key) : arena_printf(&a, "s3://%s", s->bucket);
    if (code == CURLE_WRITE_ERROR) {
        diag_error(d, name, 0, NULL, "is larger than it can be");
        s->failed = false;
    } else if (code != CURLE_OK) {
        diag_error(d, name, 0, NULL, "the store %s does not answer: %s", s->endpoint,
                   s->trouble[0] ? s->trouble : curl_easy_strerror(code));
    } else {
        report_refusal(s, r->verb, name, d);
    }
    if (is_passing(s, code) && s->attempts > 1) diag_help(d, "tried %d times", s->attempts);
    arena_free(&a);
    return false;
}

/* True when the answer is 2xx. */
static bool ask(struct s3 *s, const struct request *r, struct diag *d)
{
    CURLcode code = CURLE_OK;
    for (int attempt = 0; attempt < s->attempts; attempt++) {
        if (attempt > 0) wait_before(attempt - 1);
        code = once(s, r);
        if (!is_passing(s, code)) break;
    }
    s->failed = code != CURLE_OK || s->status < 200 || s->status > 299;
    return s->failed ? report(s, r, code, d) : true;
}

/* ---- objects ---- */

/* Encoded as the signature wants it. */
static char *encoded(struct s3 *s, struct arena *a, const char *text)
{
    char *e = curl_easy_escape(s->curl, text, 0), *copy = arena_strdup(a, e ? e : "");
    curl_free(e);
    return copy;
}

static char *begin_upload(struct s3 *s, struct arena *a, const char *key, struct diag *d)
{
    if (!ask(s, &(struct request){"POST", key, "uploads=", "", 0, LIST_MAX, false}, d)) return NULL;
    const char *at = str_text(&s->body), *id = s3_element(a, &at, "UploadId");
    if (!id) return wrong(d, s3_name(s, a, key), "the store names no upload", NULL), NULL;
    return encoded(s, a, id);
}

/* The store may say 200 and tell an error in the text. */
static bool end_upload(struct s3 *s, struct arena *a, const char *key, const char *id, const struct str *parts, struct diag *d)
{
    const char *query = arena_printf(a, "uploadId=%s", id);
    if (!ask(s, &(struct request){"POST", key, query, parts->s, parts->n, LIST_MAX, false}, d)) return false;
    return strstr(str_text(&s->body), "<Error>") ? report_refusal(s, "POST", s3_name(s, a, key), d) : true;
}

static bool put_parts(struct s3 *s, struct arena *a, const char *key, const char *id, const char *data, size_t n, struct diag *d)
{
    size_t part = S3_PART_BYTES, done = 0;
    struct str list = {0};
    if (n / part >= S3_PARTS_MAX) part = n / S3_PARTS_MAX + 1;
    bool ok = true;
    str_append(&list, "<CompleteMultipartUpload>");
    for (int i = 1; ok && done < n; i++) {
        size_t bytes = n - done < part ? n - done : part;
        const char *query = arena_printf(a, "partNumber=%d&uploadId=%s", i, id);
        ok = ask(s, &(struct request){"PUT", key, query, data + done, bytes, LIST_MAX, false}, d);
        str_printf(&list, "<Part><PartNumber>%d</PartNumber><ETag>%s</ETag></Part>", i, s->etag);
        done += bytes;
    }
    str_append(&list, "</CompleteMultipartUpload>");
    ok = ok && end_upload(s, a, key, id, &list, d);
    str_free(&list);
    return ok;
}

static void abort_upload(struct s3 *s, struct arena *a, const char *key, const char *id)
{
    struct diag unsaid = {0}; /* the next life tries again */
    ask(s, &(struct request){"DELETE", key, arena_printf(a, "uploadId=%s", id), NULL, 0, LIST_MAX, false}, &unsaid);
    diag_free(&unsaid);
}

bool s3_put(struct s3 *s, const char *key, const void *data, size_t n, struct diag *d)
{
    if (n <= S3_PART_BYTES) return ask(s, &(struct request){"PUT", key, "", data, n, LIST_MAX, false}, d);
    struct arena a = {0};
    const char *id = begin_upload(s, &a, key, d);
    bool ok = id && put_parts(s, &a, key, id, data, n, d);
    if (id && !ok) abort_upload(s, &a, key, id);
    arena_free(&a);
    return ok;
}

char *s3_get(struct s3 *s, const char *key, size_t limit, size_t *bytes, size_t *whole, struct diag *d)
{
    if (!ask(s, &(struct request){"GET", key, "", NULL, 0, limit, true}, d)) return NULL;
    *bytes = s->body.n < limit ? s->body.n : limit;
    *whole = s->whole ? s->whole : s->body.n;
    char *copy = xcalloc(*bytes + 1, 1);
    memcpy(copy, str_text(&s->body), *bytes);
    return copy;
}

bool s3_delete(struct s3 *s, const char *key, struct diag *d)
{
    return ask(s, &(struct request){"DELETE", key, "", NULL, 0, LIST_MAX, false}, d);
}

/* ---- lists ---- */

char *s3_element(struct arena *a, const char **at, const char *name)
{
    char open[64], close[64];
    snprintf(open, sizeof open, "<%s>", name);
    snprintf(close, sizeof close, "</%s>", name);
    const char *begin = strstr(*at, open), *end = begin ? strstr(begin, close) : NULL;
    if (!end) return NULL;
    *at = end + strlen(close);
    begin += strlen(open);
    return arena_strndup(a, begin, (size_t)(end - begin));
}

/* What is kept is what is one of our keys. */
static void take_keys(const struct s3 *s, struct s3_keys *keys, const char *text)
{
    size_t n = strlen(s->prefix);
    for (char *key; (key = s3_element(&keys->arena, &text, "Key")) != NULL;)
        if (str_starts_with(key, s->prefix) && key[n] && is_key(key)) array_push(&keys->list, key + n);
}

static int ascending(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Not all stores list in order, as Amazon's does. */
bool s3_list(struct s3 *s, const char *begin, struct s3_keys *keys, struct diag *d)
{
    struct arena a = {0};
    const char *prefix = encoded(s, &a, arena_printf(&a, "%s%s", s->prefix, begin)), *next = "";
    bool ok = true;
    while (ok && next) {
        const char *query = arena_printf(&a, "%s%s%slist-type=2&prefix=%s", *next ? "continuation-token=" : "", next,
                                         *next ? "&" : "", prefix);
        ok = ask(s, &(struct request){"GET", NULL, query, NULL, 0, LIST_MAX, false}, d);
        if (!ok) break;
        const char *at = str_text(&s->body);
        take_keys(s, keys, at);
        next = s3_element(&a, &at, "NextContinuationToken");
        if (next) next = encoded(s, &a, next);
    }
    array_sort(&keys->list, ascending);
    arena_free(&a);
    return ok;
}

void s3_keys_free(struct s3_keys *keys)
{
    array_free(&keys->list);
    arena_free(&keys->arena);
}

void s3_abort_uploads(struct s3 *s, const char *begin)
{
    struct arena a = {0};
    struct diag unsaid = {0};
    const char *query = arena_printf(&a, "prefix=%s&uploads=", encoded(s, &a, arena_printf(&a, "%s%s", s->prefix, begin)));
    bool ok = ask(s, &(struct request){"GET", NULL, query, NULL, 0, LIST_MAX, false}, &unsaid);
    char *text = ok ? xstrdup(str_text(&s->body)) : NULL;
    const char *at = text;
    for (const char *upload; at && (upload = s3_element(&a, &at, "Upload")) != NULL;) {
        const char *in = upload, *id = s3_element(&a, &in, "UploadId"), *key;
        in = upload;
        key = s3_element(&a, &in, "Key");
        if (id && key && is_key(key) && str_starts_with(key, s->prefix))
            abort_upload(s, &a, key + strlen(s->prefix), encoded(s, &a, id));
    }
    free(text);
    diag_free(&unsaid);
    arena_free(&a);
}
