/* report.c - what went wrong, for people: server, verb, resource, code, the server's words, what to do.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include <curl/curl.h>

#include "real/kubernetes/client.h"

/* One row an HTTP code that people can do something about. */
static const struct { long code; const char *name, *help; } codes[] = {
    { 400, "Bad Request", NULL },
    { 401, "Unauthorized", "the token or certificate was not accepted: it may have expired, or belong to another cluster; get a new one into the kubeconfig" },
    { 403, "Forbidden", "the account may not do this: ask for a Role (ClusterRole for cluster-wide kinds) that allows this verb on this resource" },
    { 404, "Not Found", "the server does not know this: is the controller (its CustomResourceDefinitions) installed, in this version?" },
    { 405, "Method Not Allowed", NULL },
    { 409, "Conflict", NULL },
    { 410, "Gone", NULL },
    { 413, "Request Entity Too Large", NULL },
    { 415, "Unsupported Media Type", NULL },
    { 422, "Unprocessable Entity", "the server or an admission webhook refuses the object as it is" },
    { 429, "Too Many Requests", "the server is overloaded, or limits this account (API Priority and Fairness); try later" },
    { 500, "Internal Server Error", "a webhook or the server itself failed; look at the events and logs of the control plane" },
    { 502, "Bad Gateway", "what stands before the API server got no answer from it" },
    { 503, "Service Unavailable", "the API server is not ready, or an aggregated one is away" },
    { 504, "Gateway Timeout", "the API server did not answer in time" },
};

static size_t row_of(long code)
{
    size_t i = 0;
    while (i < sizeof codes / sizeof *codes && codes[i].code != code) i++;
    return i;
}

/* The message of a Status object, else the beginning of the text on one line. */
static void append_message(struct str *out, const char *body, size_t n)
{
    cJSON *status = n ? cJSON_ParseWithLength(body, n) : NULL;
    const char *message = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(status, "message"));
    struct str text = { 0 };
    if (message) str_append(&text, message);
    else if (!status) str_append_n(&text, body, n < 200 ? n : 200);
    if (text.n) str_append(out, ": ");
    for (size_t i = 0; i < text.n && i < 2000; i++) str_append_char(out, (unsigned char)text.s[i] < ' ' ? ' ' : text.s[i]);
    str_free(&text);
    cJSON_Delete(status);
}

void k8s_report(const struct k8s_client *c, const char *verb, const char *what, long code, const char *body, size_t n, struct diag *d)
{
    struct str text = { 0 };
    size_t row = row_of(code);
    bool known = row < sizeof codes / sizeof *codes;
    const char *name = known ? codes[row].name : "";
    str_printf(&text, "%s %s: %ld%s%s", verb, what, code, known ? " " : "", name);
    append_message(&text, body, n);
    diag_error(d, k8s_client_server(c), 0, NULL, "%s", str_text(&text));
    if (known && codes[row].help) diag_help(d, "%s", codes[row].help);
    str_free(&text);
}

static const char *transport_help(CURLcode code)
{
    switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
        return "the server's certificate is not one of the kubeconfig's certificate-authority: is this the right cluster?";
    case CURLE_SSL_CERTPROBLEM: return "the client certificate or its key cannot be used: are both whole, and do they belong together?";
    case CURLE_COULDNT_RESOLVE_HOST: return "the server's name is not known here: is the address right, is a VPN needed?";
    case CURLE_COULDNT_CONNECT: return "nothing answers at this address: does the API server run, is it reachable from here?";
    case CURLE_URL_MALFORMAT: return "the address of the server in the kubeconfig is wrong";
    default: return NULL;
    }
}

/* Certificates and addresses do not get better by waiting. */
static bool is_hopeless(CURLcode code)
{
    return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CERTPROBLEM || code == CURLE_URL_MALFORMAT ||
           code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_OUT_OF_MEMORY || code == CURLE_FAILED_INIT || code == CURLE_WRITE_ERROR ||
           code == CURLE_SSL_CACERT_BADFILE || code == CURLE_COULDNT_RESOLVE_PROXY;
}

bool k8s_transport(const struct k8s_client *c, const char *verb, const char *what, int curl_code, const char *detail, struct diag *d)
{
    CURLcode code = (CURLcode)curl_code;
    if (d) {
        diag_error(d, k8s_client_server(c), 0, NULL, "%s %s: %s", verb, what, detail && detail[0] ? detail : curl_easy_strerror(code));
        const char *help = transport_help(code);
        if (help) diag_help(d, "%s", help);
    }
    return !is_hopeless(code);
}
