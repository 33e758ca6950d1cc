/* mark.c - the ID of a run, and the file that remembers it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <ctype.h>
#include <string.h>
#include <sys/random.h>

#include "base/file.h"
#include "base/json.h"
#include "base/json_write.h"
#include "real/kubernetes/run_parts.h"

static const char file_name[] = "kubernetes.json";
enum { NAME_PART = 20, RANDOM_PART = 8 };

/* Letters and digits, so that it is a label, and a namespace with "trainyard-" before it. */
static void make_id(char id[49], const char *name)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    unsigned char random[RANDOM_PART];
    size_t n = 0;
    for (; *name && n < NAME_PART; name++) {
        char c = (char)tolower((unsigned char)*name);
        bool ok = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (ok) id[n++] = c;
        else if (n && id[n - 1] != '-') id[n++] = '-';
    }
    if (n && id[n - 1] != '-') id[n++] = '-';
    if (getrandom(random, sizeof random, 0) != sizeof random) memset(random, 7, sizeof random);
    for (size_t i = 0; i < RANDOM_PART; i++) id[n++] = letters[random[i] % (sizeof letters - 1)];
    id[n] = '\0';
}

/* By number: names of the scenario may be too long for a name, and those that differ only far behind must not become one. */
static bool add_ns(struct k8s_mark *m, const char *of)
{
    for (size_t i = 0; i < m->n_ns; i++)
        if (strcmp(m->of[i], of) == 0) return true;
    if (m->n_ns == MAX_NAMESPACES) return false;
    m->of[m->n_ns] = arena_strdup(&m->arena, of);
    m->ns[m->n_ns] = m->n_ns ? arena_printf(&m->arena, "trainyard-%s-%zu", m->id, m->n_ns) : arena_printf(&m->arena, "trainyard-%s", m->id);
    m->n_ns++;
    return true;
}

static void add_kind(struct k8s_mark *m, const char *api_version, const char *kind)
{
    const struct k8s_resource *r;
    for (size_t i = 0; (r = k8s_resource_at(i)); i++)
        if (strcmp(r->kind, kind) == 0 && strcmp(r->api_version, api_version) == 0) m->kinds |= 1u << i;
}

bool k8s_mark_begin(struct k8s_mark *m, const struct scenario *s, const struct manifest_set *set, const char *server)
{
    *m = (struct k8s_mark){ .server = server };
    make_id(m->id, s->name);
    bool ok = add_ns(m, "default");
    add_kind(m, k8s_namespaces.api_version, k8s_namespaces.kind);
    for (size_t i = 0; i < set->n; i++) {
        if (set->v[i].ns) ok &= add_ns(m, set->v[i].ns);
        add_kind(m, set->v[i].api_version, set->v[i].kind);
    }
    return ok;
}

const char *k8s_mark_ns(const struct k8s_mark *m, const char *of)
{
    for (size_t i = 0; i < m->n_ns; i++)
        if (strcmp(m->of[i], of) == 0) return m->ns[i];
    return m->ns[0];
}

bool k8s_mark_write(const struct k8s_mark *m, const char *dir, struct diag *d)
{
    struct str text = { 0 }, path = { 0 };
    struct json_writer w;
    json_write_begin(&w, &text);
    json_write_object(&w);
    json_write_key(&w, "trainyard_kubernetes"), json_write_int64(&w, 1);
    json_write_key(&w, "run"), json_write_string(&w, m->id);
    json_write_key(&w, "server"), json_write_string(&w, m->server);
    json_write_key(&w, "namespaces"), json_write_array_inline(&w);
    for (size_t i = 0; i < m->n_ns; i++) json_write_string(&w, m->ns[i]);
    json_write_end(&w);
    json_write_key(&w, "kinds"), json_write_array_inline(&w);
    for (size_t i = 0; k8s_resource_at(i); i++)
        if (m->kinds >> i & 1) json_write_string(&w, k8s_resource_at(i)->kind);
    json_write_end(&w);
    json_write_end(&w);
    json_write_finish(&w);
    str_printf(&path, "%s/%s", dir, file_name);
    bool ok = file_make_dirs(dir, d) && file_write_atomic(str_text(&path), text.s, text.n, d);
    str_free(&text);
    str_free(&path);
    return ok;
}

static bool is_id(const char *id)
{
    size_t n = strlen(id);
    return n > RANDOM_PART && n < sizeof(((struct k8s_mark *)0)->id) && strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == n;
}

static void take_namespaces(struct k8s_mark *m, struct json_doc *doc, const cJSON *list)
{
    struct str prefix = { 0 };
    const cJSON *c;
    str_printf(&prefix, "trainyard-%s", m->id);
    cJSON_ArrayForEach(c, list)
    {
        const char *ns = NULL;
        if (!json_as_string(doc, c, &ns) || m->n_ns == MAX_NAMESPACES) continue;
        if (!str_starts_with(ns, str_text(&prefix))) json_error(doc, c, "\"%s\" is no namespace of this run", ns);
        else m->ns[m->n_ns++] = arena_strdup(&m->arena, ns);
    }
    str_free(&prefix);
}

/* Older files do not say: any kind may have been made. */
static void take_kinds(struct k8s_mark *m, struct json_doc *doc)
{
    const cJSON *c, *list = json_member(doc->root, "kinds") ? json_get_array(doc, doc->root, "kinds") : NULL;
    cJSON_ArrayForEach(c, list)
    {
        const char *kind = NULL;
        uint32_t before = m->kinds;
        if (!json_as_string(doc, c, &kind)) continue;
        for (size_t i = 0; k8s_resource_at(i); i++)
            if (strcmp(k8s_resource_at(i)->kind, kind) == 0) m->kinds |= 1u << i;
        if (m->kinds == before) json_error(doc, c, "\"%s\" is no kind that runs make, or stands here twice", kind);
    }
    if (!m->kinds) m->kinds = UINT32_MAX;
}

/* Nothing that was changed by hand may widen what is deleted: the label and each namespace must be of the form that is written. */
static bool take(struct k8s_mark *m, struct json_doc *doc)
{
    const char *id = NULL, *server = NULL;
    if (!json_get_string(doc, doc->root, "run", &id) || !json_get_string(doc, doc->root, "server", &server)) return false;
    if (!is_id(id)) {
        json_error(doc, json_member(doc->root, "run"), "this is no ID of a run");
        return false;
    }
    snprintf(m->id, sizeof m->id, "%s", id);
    m->server = arena_strdup(&m->arena, server);
    const cJSON *list = json_get_array(doc, doc->root, "namespaces");
    take_namespaces(m, doc, list);
    take_kinds(m, doc);
    return list != NULL;
}

bool k8s_mark_read(struct k8s_mark *m, const char *dir, struct diag *d)
{
    *m = (struct k8s_mark){ 0 };
    size_t errors = diag_errors(d);
    struct str path = { 0 };
    str_printf(&path, "%s/%s", dir, file_name);
    struct json_doc *doc = json_load(str_text(&path), d);
    bool ok = doc && take(m, doc) && diag_errors(d) == errors;
    if (doc && !ok && diag_errors(d) == errors) diag_error(d, str_text(&path), 0, NULL, "this is not what a run on Kubernetes leaves: run, server and namespaces needed");
    json_free(doc);
    str_free(&path);
    if (!ok) k8s_mark_free(m);
    return ok;
}

void k8s_mark_free(struct k8s_mark *m) { arena_free(&m->arena); }
