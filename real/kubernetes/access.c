/* access.c - see access.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/kubernetes/access.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/yaml.h"

enum { SECRET_MAX = 1 << 20 }; /* bytes of a token or certificate */

/* ---- base64 ---- */

static int base64_digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

char *base64_decode(struct arena *a, const char *text)
{
    char *out = arena_alloc(a, strlen(text) / 4 * 3 + 4);
    size_t n = 0, digits = 0, pads = 0;
    unsigned bits = 0;
    for (; *text; text++) {
        if (strchr(" \t\r\n", *text)) continue;
        int d = base64_digit(*text);
        if (*text == '=') pads++;
        else if (d < 0 || pads) return NULL;
        else {
            bits = bits << 6 | (unsigned)d;
            if (++digits % 4 != 1) out[n++] = (char)(bits >> (2 * (3 - (digits - 1) % 4)));
        }
    }
    bool whole = digits % 4 != 1 && pads <= 2 && (pads == 0 || (digits + pads) % 4 == 0);
    out[n] = '\0';
    return whole && strlen(out) == n ? out : NULL; /* PEM has no NUL in it */
}

/* ---- the tree ---- */

struct reading {
    struct k8s_access *a;
    struct diag *d;
    const char *dir;
    struct yaml_file *y; /* the file that is being read */
};

static const struct yaml_node *member(const struct yaml_node *o, const char *key)
{
    for (uint32_t i = 0; o && o->kind == YAML_MAPPING && i < o->n; i++)
        if (strcmp(o->items[i]->key, key) == 0) return o->items[i];
    return NULL;
}

static const char *text_of(const struct yaml_node *o, const char *key)
{
    const struct yaml_node *m = member(o, key);
    return m && m->kind == YAML_SCALAR && !yaml_is_null(m) && m->text[0] ? m->text : NULL;
}

static void wrong(struct reading *r, const struct yaml_node *at, const char *pointer, const char *what, const char *word)
{
    diag_error(r->d, r->y->file, at ? at->line : 0, pointer, what, word);
}

/* The entry of "clusters", "users" or "contexts" of that name, and its inner object. */
static const struct yaml_node *entry(const struct yaml_node *root, const char *list, const char *name, const char *inner)
{
    const struct yaml_node *l = member(root, list);
    for (uint32_t i = 0; l && l->kind == YAML_SEQUENCE && i < l->n; i++) {
        const char *n = text_of(l->items[i], "name");
        if (n && strcmp(n, name) == 0) return member(l->items[i], inner);
    }
    return NULL;
}

/* ---- values ---- */

static const char *keep(struct reading *r, const char *text) { return text ? arena_strdup(&r->a->arena, text) : NULL; }

static const char *file_text(struct reading *r, const char *path)
{
    size_t n;
    char *text = file_read(path_join(&r->a->arena, r->dir, path), SECRET_MAX, &n, r->d);
    const char *kept = text ? arena_strndup(&r->a->arena, text, n) : NULL;
    free(text);
    return kept;
}

/* KEY-data, which wins, or the file KEY. */
static const char *pem_of(struct reading *r, const struct yaml_node *o, const char *key)
{
    const char *data_key = arena_printf(&r->a->arena, "%s-data", key), *data = text_of(o, data_key), *path = text_of(o, key);
    if (!data) return path ? file_text(r, path) : NULL;
    char *pem = base64_decode(&r->a->arena, data);
    if (!pem) wrong(r, member(o, data_key), data_key, "this is no base64", "");
    return pem;
}

static bool is_true(const struct yaml_node *o, const char *key)
{
    const char *t = text_of(o, key);
    return t && strcmp(t, "true") == 0;
}

static void read_cluster(struct reading *r, const struct yaml_node *c)
{
    struct k8s_access *a = r->a;
    a->server = keep(r, text_of(c, "server"));
    a->ca = pem_of(r, c, "certificate-authority");
    a->insecure = is_true(c, "insecure-skip-tls-verify");
    if (text_of(c, "tls-server-name")) wrong(r, member(c, "tls-server-name"), "tls-server-name", "is not supported: name the server by an address of its certificate%s", "");
    a->proxy = keep(r, text_of(c, "proxy-url"));
    if (!a->server) {
        wrong(r, c, "server", "the cluster has no server%s", "");
        return;
    }
    bool http = strncmp(a->server, "https://", 8) == 0 || strncmp(a->server, "http://", 7) == 0;
    if (!http) wrong(r, member(c, "server"), "server", "\"%s\" is no http or https address", a->server);
    size_t n = strlen(a->server);
    while (n > 0 && a->server[n - 1] == '/') n--;
    a->server = arena_strndup(&a->arena, a->server, n);
}

/* Programs and plug-ins that would have to be run, or rights that are borrowed. */
static void refuse_user(struct reading *r, const struct yaml_node *u)
{
    static const char *const keys[] = { "exec", "auth-provider", "as", "as-uid", "as-groups" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!member(u, keys[i])) continue;
        wrong(r, member(u, keys[i]), keys[i], "a user by \"%s\" is not taken: nothing is run or impersonated on your behalf", keys[i]);
        diag_help(r->d, "give the user a token (kubectl create token ...) or a client certificate");
    }
}

static void read_user(struct reading *r, const struct yaml_node *u)
{
    struct k8s_access *a = r->a;
    refuse_user(r, u);
    a->cert = pem_of(r, u, "client-certificate");
    a->key = pem_of(r, u, "client-key");
    a->token = keep(r, text_of(u, "token"));
    const char *file = text_of(u, "tokenFile");
    a->token_file = file ? path_join(&a->arena, r->dir, file) : NULL;
    a->user = keep(r, text_of(u, "username"));
    a->password = keep(r, text_of(u, "password"));
    bool cert = text_of(u, "client-certificate") || text_of(u, "client-certificate-data");
    bool key = text_of(u, "client-key") || text_of(u, "client-key-data");
    if (cert != key) wrong(r, u, cert ? "client-key" : "client-certificate", "a client certificate needs both its parts%s", "");
}

static void unknown_context(struct reading *r, const struct yaml_node *root, const char *context)
{
    const struct yaml_node *l = member(root, "contexts");
    const char *names[40];
    size_t n = 0;
    for (uint32_t i = 0; l && l->kind == YAML_SEQUENCE && i < l->n && n < 40; i++)
        if (text_of(l->items[i], "name")) names[n++] = text_of(l->items[i], "name");
    wrong(r, l, "contexts", "there is no context \"%s\"", context);
    if (n) diag_help_allowed(r->d, context, names, n);
}

/* ---- several files ---- */

enum { MAX_FILES = 16 };
struct files { struct yaml_file *v[MAX_FILES]; const char *dir[MAX_FILES]; size_t n; };

static const struct yaml_node *root_of(const struct yaml_file *y) { return y->docs.n ? y->docs.v[0] : NULL; }

/* Finds an entry in the first file that has it, and turns to that file. */
static const struct yaml_node *find(struct reading *r, const struct files *f, const char *list, const char *name, const char *inner)
{
    for (size_t i = 0; name && i < f->n; i++) {
        const struct yaml_node *e = entry(root_of(f->v[i]), list, name, inner);
        if (!e) continue;
        r->y = f->v[i];
        r->dir = f->dir[i];
        return e;
    }
    return NULL;
}

static void read_context(struct reading *r, const struct files *f, const char *context)
{
    const struct yaml_node *c = find(r, f, "contexts", context, "context");
    if (!c) {
        r->y = f->v[0];
        unknown_context(r, root_of(f->v[0]), context);
        return;
    }
    const char *cluster = text_of(c, "cluster"), *user = text_of(c, "user");
    r->a->ns = keep(r, text_of(c, "namespace"));
    const struct yaml_node *node = find(r, f, "clusters", cluster, "cluster");
    if (node) read_cluster(r, node);
    else wrong(r, c, "contexts", "its cluster \"%s\" is not in the file", cluster ? cluster : "");
    node = user ? find(r, f, "users", user, "user") : NULL;
    if (node) read_user(r, node);
    else if (user) wrong(r, c, "contexts", "its user \"%s\" is not in the file", user);
}

static struct k8s_access *from_files(const struct files *f, const char *context, struct diag *d)
{
    struct k8s_access *a = xcalloc(1, sizeof *a);
    struct reading r = { .a = a, .d = d };
    size_t errors = diag_errors(d);
    a->context = arena_strdup(&a->arena, context);
    read_context(&r, f, context);
    if (diag_errors(d) == errors) return a;
    k8s_access_free(a);
    return NULL;
}

struct k8s_access *k8s_access_parse(const char *file, const char *text, size_t n, const char *dir, const char *context, struct diag *d)
{
    size_t errors = diag_errors(d);
    struct files f = { .n = 1, .dir = { dir } };
    f.v[0] = yaml_parse(file, text, n, d);
    if (!f.v[0]) return NULL;
    struct k8s_access *a = diag_errors(d) == errors ? from_files(&f, context, d) : NULL;
    yaml_close(f.v[0]);
    return a;
}

static struct k8s_access *in_cluster(struct diag *d)
{
    static const char dir[] = "/var/run/secrets/kubernetes.io/serviceaccount";
    const char *host = getenv("KUBERNETES_SERVICE_HOST"), *port = getenv("KUBERNETES_SERVICE_PORT");
    struct k8s_access *a = xcalloc(1, sizeof *a);
    struct reading r = { .a = a, .d = d, .dir = dir };
    a->context = K8S_IN_CLUSTER;
    a->token_file = path_join(&a->arena, dir, "token");
    if (host) a->server = arena_printf(&a->arena, strchr(host, ':') ? "https://[%s]:%s" : "https://%s:%s", host, port ? port : "443");
    else diag_error(d, "KUBERNETES_SERVICE_HOST", 0, NULL, "is not set: this is no pod of a cluster");
    if (host) a->ca = file_text(&r, "ca.crt");
    if (a->ca) return a;
    k8s_access_free(a);
    return NULL;
}

static const char *default_files(struct arena *a)
{
    const char *env = getenv("KUBECONFIG"), *home = getenv("HOME");
    return env && env[0] ? env : arena_printf(a, "%s/.kube/config", home ? home : "");
}

static bool load_files(struct files *f, const char *list, struct arena *a, struct diag *d)
{
    char *names = arena_strdup(a, list);
    for (char *name = strtok(names, ":"); name && f->n < MAX_FILES; name = strtok(NULL, ":")) {
        size_t n;
        char *text = file_read(name, SECRET_MAX * 8, &n, d);
        f->v[f->n] = text ? yaml_parse(name, text, n, d) : NULL;
        free(text);
        if (!f->v[f->n]) return false;
        f->dir[f->n++] = path_dir(a, name);
    }
    if (f->n == 0) diag_error(d, list, 0, NULL, "names no file");
    return f->n > 0;
}

struct k8s_access *k8s_access_read(const char *file, const char *context, struct diag *d)
{
    struct arena arena = { 0 };
    struct files f = { 0 };
    if (!file && strcmp(context, K8S_IN_CLUSTER) == 0) return in_cluster(d);
    size_t errors = diag_errors(d);
    bool ok = load_files(&f, file ? file : default_files(&arena), &arena, d) && diag_errors(d) == errors;
    struct k8s_access *a = ok ? from_files(&f, context, d) : NULL;
    for (size_t i = 0; i < f.n; i++) yaml_close(f.v[i]);
    arena_free(&arena);
    return a;
}

void k8s_access_free(struct k8s_access *a)
{
    if (!a) return;
    arena_free(&a->arena);
    free(a);
}

bool k8s_access_token(const struct k8s_access *a, struct arena *to, const char **token, struct diag *d)
{
    size_t n;
    *token = a->token;
    if (!a->token_file) return true;
    char *text = file_read(a->token_file, SECRET_MAX, &n, d);
    if (!text) return false;
    while (n > 0 && strchr(" \r\n\t", text[n - 1])) n--;
    *token = arena_strndup(to, text, n);
    free(text);
    return true;
}
