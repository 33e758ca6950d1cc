/* test_k8s_clean.c - cleaning up after a run: all that carries its label and nothing else, also where some kinds cannot be had; and the file
 * that remembers the run: its namespaces, its kinds.
 *
 * Answers are those of the API server: RBAC forbids before it looks whether a kind exists (403), a conversion webhook that is broken
 * fails each list of its kind (500). Names of namespaces are DNS-1123 labels: 63 characters, no '-' at an end.
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

#include <cmocka.h>

#include "base/file.h"
#include "real/kubernetes/run_parts.h"
#include "tests/support/kube_store.h"

#define STATUS(code, reason) "{\"kind\":\"Status\",\"code\":" code ",\"reason\":\"" reason "\",\"message\":\"" reason "\"}"
#define ID "lab-bcdfghjk"

static const struct { const char *path, *name; bool ours; } objects[] = {
    { "/api/v1/namespaces/", "trainyard-" ID, true },
    { "/apis/batch/v1/namespaces/trainyard-" ID "/jobs/", "a", true },
    { "/apis/batch/v1/namespaces/trainyard-" ID "/jobs/", "b", true },
    { "/apis/kueue.x-k8s.io/v1beta2/namespaces/trainyard-" ID "/localqueues/", "lq", true },
    { "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/", "cq", true },
    { "/apis/kueue.x-k8s.io/v1beta2/resourceflavors/", "f", true },
    { "/api/v1/namespaces/", "theirs", false },
    { "/apis/batch/v1/namespaces/theirs/jobs/", "a", false },
    { "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/", "research", false },
};
enum { OBJECTS = sizeof objects / sizeof *objects, THEIRS = 3 };

/* What is asked of kinds that are not to be had. */
struct trouble { unsigned rayjobs, pytorchjobs; bool selector_ignored, no_ray; };

static bool refuse(struct fake_request *r, void *arg)
{
    struct trouble *t = arg;
    if (strstr(r->path, "/rayjobs")) t->rayjobs++, fake_reply(r, 403, "", STATUS("403", "Forbidden"));
    else if (strstr(r->path, "/pytorchjobs")) t->pytorchjobs++, fake_reply(r, 500, "", STATUS("500", "InternalError"));
    else if (t->no_ray && strstr(r->path, "/apis/ray.io/")) fake_reply(r, 404, "", "404 page not found");
    else if (t->selector_ignored && strchr(r->path, '?')) *strchr(r->path, '?') = '\0';
    return strstr(r->path, "/rayjobs") || strstr(r->path, "/pytorchjobs") || (t->no_ray && strstr(r->path, "/apis/ray.io/"));
}

static struct kube_store *fill(struct trouble *t)
{
    struct kube_store *s = kube_store_start(refuse, t);
    for (size_t i = 0; i < OBJECTS; i++) {
        char path[300], json[300];
        snprintf(path, sizeof path, "%s%s", objects[i].path, objects[i].name);
        snprintf(json, sizeof json, "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"%s\",\"labels\":{\"trainyard/run\":\"%s\"}}}", objects[i].name,
                 objects[i].ours ? "trainyard-" ID : "theirs", objects[i].ours ? ID : "lab-zzzzzzzz");
        kube_store_put(s, path, json);
    }
    return s;
}

static uint32_t kind(const char *name)
{
    for (size_t i = 0; k8s_resource_at(i); i++)
        if (strcmp(k8s_resource_at(i)->kind, name) == 0) return 1u << i;
    fail_msg("no kind %s", name);
    return 0;
}

static bool clean(uint32_t kinds, struct trouble *t, struct diag *d)
{
    struct kube_store *s = fill(t);
    struct k8s_mark m = { .id = ID, .server = "s", .kinds = kinds };
    struct k8s_access access = { .server = kube_store_server(s) };
    struct k8s_client *c = k8s_client_create(&access, NULL);
    k8s_client_patience(c, 300);
    bool ok = k8s_clean_run(c, &m, NULL, d);
    assert_int_equal(kube_store_count(s), THEIRS);
    for (size_t i = 0; i < OBJECTS; i++) {
        char path[300];
        snprintf(path, sizeof path, "%s%s", objects[i].path, objects[i].name);
        assert_int_equal(kube_store_get(s, path) != NULL, !objects[i].ours);
    }
    k8s_client_free(c);
    kube_store_stop(s);
    return ok;
}

static uint32_t made(void) { return kind("Namespace") | kind("Job") | kind("LocalQueue") | kind("ClusterQueue") | kind("ResourceFlavor"); }

/* Kinds that the run has not made are none of its business. */
static void kinds_of_the_run(void **state)
{
    struct trouble t = { 0 };
    struct diag d = { 0 };
    (void)state;
    assert_true(clean(made(), &t, &d));
    assert_int_equal(t.rayjobs + t.pytorchjobs, 0);
    assert_int_equal(diag_errors(&d), 0);
    diag_free(&d);
}

static bool says(const struct diag *d, const char *text)
{
    for (size_t i = 0; i < d->entries.n; i++)
        if (strstr(d->entries.v[i].text, text)) return true;
    return false;
}

/* One that it may have made and that cannot be had: all the others go, and then it fails, once for each. */
static void kinds_that_fail(void **state)
{
    static const struct { const char *more; unsigned errors; } rows[] = { { "RayJob", 1 }, { "PyTorchJob", 1 }, { NULL, 2 } };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct trouble t = { 0 };
        struct diag d = { 0 };
        assert_false(clean(rows[i].more ? made() | kind(rows[i].more) : UINT32_MAX, &t, &d)); /* all: a file that says nothing of kinds */
        assert_int_equal(diag_errors(&d), rows[i].errors);
        if (i != 1) assert_true(says(&d, "list rayjobs: 403 Forbidden"));
        if (i != 0) assert_true(says(&d, "list pytorchjobs: 500"));
        diag_free(&d);
    }
}

/* The server does not know the kind: that its lists are forbidden is nothing to fail by. */
static void kinds_that_are_not_there(void **state)
{
    struct trouble t = { .no_ray = true };
    struct diag d = { 0 };
    (void)state;
    assert_true(clean(made() | kind("RayJob"), &t, &d));
    assert_int_equal(t.rayjobs, 0);
    assert_int_equal(diag_errors(&d), 0);
    diag_free(&d);
}

/* A server that gives more than was asked for: the label is looked at here, too. */
static void labels_are_looked_at(void **state)
{
    struct trouble t = { .selector_ignored = true };
    struct diag d = { 0 };
    (void)state;
    assert_true(clean(made(), &t, &d));
    diag_free(&d);
}

/* ---- marks ---- */

static const char *const far_alike[] = { "data-science-prod-eu", "data-science-prod-us", "data-science-pr", "data-science-prod-", "default" };

static void is_label(const char *name)
{
    size_t n = strlen(name);
    assert_true(n > 0 && n <= 63);
    assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-"), n);
    assert_true(name[0] != '-' && name[n - 1] != '-');
}

static void namespaces(void **state)
{
    struct manifest_item v[100] = { 0 };
    char names[100][80];
    struct k8s_mark m;
    struct scenario s = { .name = "a scenario whose name is long, longer than any label may be, and odd: 7%" };
    (void)state;
    for (size_t i = 0; i < 100; i++) {
        snprintf(names[i], sizeof names[i], "%.60s", i < 5 ? far_alike[i] : "a-namespace-whose-name-is-as-long-as-a-name-may-be-");
        if (i >= 5) snprintf(names[i] + strlen(names[i]), 8, "%zu", i);
        v[i] = (struct manifest_item){ .api_version = "batch/v1", .kind = "Job", .name = "j", .ns = names[i] };
    }
    struct manifest_set set = { .v = v, .n = MAX_NAMESPACES };
    assert_true(k8s_mark_begin(&m, &s, &set, "s"));
    assert_int_equal(m.n_ns, MAX_NAMESPACES); /* "default" is among them */
    for (size_t i = 0; i < m.n_ns; i++) {
        is_label(m.ns[i]);
        assert_string_equal(k8s_mark_ns(&m, m.of[i]), m.ns[i]);
        for (size_t k = 0; k < i; k++) assert_string_not_equal(m.ns[i], m.ns[k]);
    }
    k8s_mark_free(&m);
    set.n = MAX_NAMESPACES + 1;
    assert_false(k8s_mark_begin(&m, &s, &set, "s"));
    k8s_mark_free(&m);
}

/* Written and read back: the kinds of the set and Namespace. */
static void kinds_in_the_file(void **state)
{
    char *dir = file_temporary_dir("mark");
    struct manifest_item v[] = { { .api_version = "batch/v1", .kind = "Job", .name = "j", .ns = "default" },
                                 { .api_version = "kueue.x-k8s.io/v1beta2", .kind = "ClusterQueue", .name = "q" } };
    struct manifest_set set = { .v = v, .n = 2 };
    struct k8s_mark m, back;
    struct diag d = { 0 };
    (void)state;
    assert_non_null(dir);
    assert_true(k8s_mark_begin(&m, &(struct scenario){ .name = "x" }, &set, "https://a"));
    assert_int_equal(m.kinds, kind("Namespace") | kind("Job") | kind("ClusterQueue"));
    assert_true(k8s_mark_write(&m, dir, &d) && k8s_mark_read(&back, dir, &d));
    assert_int_equal(back.kinds, m.kinds);
    assert_string_equal(back.id, m.id);
    k8s_mark_free(&m);
    k8s_mark_free(&back);
    diag_free(&d);
    assert_true(file_remove_tree(dir, &(struct diag){ 0 }));
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(kinds_of_the_run), cmocka_unit_test(kinds_that_fail), cmocka_unit_test(labels_are_looked_at), cmocka_unit_test(kinds_that_are_not_there),
                                        cmocka_unit_test(namespaces),       cmocka_unit_test(kinds_in_the_file) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
