/* test_k8s_access.c - kubeconfig files: what is read, what is refused, and where errors point.
 *
 * Keys: client-go tools/clientcmd/api/v1/types.go (Kubernetes 1.35).
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

#include "base/file.h"
#include "real/kubernetes/access.h"

/* "hello" and "key!" in base64 (RFC 4648). */
static const char config[] =
    "apiVersion: v1\n"
    "kind: Config\n"
    "current-context: prod\n"
    "clusters:\n"
    "- name: c\n"
    "  cluster:\n"
    "    server: https://10.0.0.1:6443/\n"
    "    certificate-authority-data: aGVsbG8=\n"
    "- name: open\n"
    "  cluster: { server: 'http://127.0.0.1:8001', insecure-skip-tls-verify: true }\n"
    "- name: nowhere\n"
    "  cluster: { server: 'ftp://x' }\n"
    "users:\n"
    "- name: cert\n"
    "  user: { client-certificate-data: aGVsbG8=, client-key-data: a2V5IQ== }\n"
    "- name: token\n"
    "  user: { token: abc }\n"
    "- name: half\n"
    "  user: { client-certificate-data: aGVsbG8= }\n"
    "- name: bad\n"
    "  user: { client-certificate-data: '*bad*', client-key-data: a2V5IQ== }\n"
    "- name: program\n"
    "  user:\n"
    "    exec: { command: get-token }\n"
    "contexts:\n"
    "- { name: lab, context: { cluster: c, user: cert, namespace: team } }\n"
    "- { name: open, context: { cluster: open, user: token } }\n"
    "- { name: half, context: { cluster: c, user: half } }\n"
    "- { name: bad, context: { cluster: c, user: bad } }\n"
    "- { name: program, context: { cluster: c, user: program } }\n"
    "- { name: lost, context: { cluster: gone, user: token } }\n"
    "- { name: nobody, context: { cluster: c, user: gone } }\n"
    "- { name: nowhere, context: { cluster: nowhere, user: token } }\n";

static struct k8s_access *parse(const char *context, struct diag *d)
{
    return k8s_access_parse("conf", config, sizeof config - 1, "/etc", context, d);
}

static void contexts(void **state)
{
    struct diag d = { 0 };
    (void)state;
    struct k8s_access *a = parse("lab", &d);
    assert_non_null(a);
    assert_string_equal(a->server, "https://10.0.0.1:6443");
    assert_string_equal(a->ca, "hello");
    assert_string_equal(a->cert, "hello");
    assert_string_equal(a->key, "key!");
    assert_string_equal(a->ns, "team");
    assert_false(a->insecure);
    k8s_access_free(a);
    a = parse("open", &d);
    assert_non_null(a);
    assert_string_equal(a->token, "abc");
    assert_true(a->insecure);
    assert_null(a->ns);
    k8s_access_free(a);
    diag_free(&d);
}

static void refuses(const char *context, int line, const char *text, const char *help)
{
    struct diag d = { 0 };
    assert_null(parse(context, &d));
    assert_int_equal(d.entries.n, 1);
    const struct diag_entry *e = &d.entries.v[0];
    assert_string_equal(e->file, "conf");
    assert_int_equal(e->line, line);
    if (!strstr(e->text, text)) fail_msg("%s", e->text);
    if (help && (!e->help || !strstr(e->help, help))) fail_msg("%s", e->help ? e->help : "no help");
    diag_free(&d);
}

static void refusals(void **state)
{
    (void)state;
    refuses("labb", 25, "there is no context \"labb\"", "did you mean \"lab\"");
    refuses("half", 19, "needs both its parts", NULL);
    refuses("bad", 21, "no base64", NULL);
    refuses("program", 24, "\"exec\" is not taken", "token");
    refuses("lost", 31, "\"gone\" is not in the file", NULL);
    refuses("nobody", 32, "\"gone\" is not in the file", NULL);
    refuses("nowhere", 12, "no http or https address", NULL);
}

static void write_text(const char *dir, const char *name, const char *text)
{
    char path[300];
    struct diag d = { 0 };
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_true(file_write_atomic(path, text, strlen(text), &d));
    diag_free(&d);
}

/* Two files in $KUBECONFIG: the first that names a thing wins; names of files start at their own folder; a token in a file is read anew. */
static void files(void **state)
{
    char dir[] = "/tmp/trainyard-access-XXXXXX", list[300], other[300];
    struct diag d = { 0 };
    struct arena arena = { 0 };
    const char *token;
    (void)state;
    assert_non_null(mkdtemp(dir));
    write_text(dir, "ca.pem", "PEM");
    write_text(dir, "tok", "first\n");
    write_text(dir, "a", "clusters:\n- { name: c, cluster: { server: 'https://a', certificate-authority: ca.pem } }\n");
    write_text(dir, "b", "clusters:\n- { name: c, cluster: { server: 'https://b' } }\nusers:\n- { name: u, user: { tokenFile: tok } }\n"
                         "contexts:\n- { name: x, context: { cluster: c, user: u } }\n");
    snprintf(list, sizeof list, "%s/a:%s/b", dir, dir);
    setenv("KUBECONFIG", list, 1);
    struct k8s_access *a = k8s_access_read(NULL, "x", &d);
    assert_non_null(a);
    assert_string_equal(a->server, "https://a");
    assert_string_equal(a->ca, "PEM");
    assert_true(k8s_access_token(a, &arena, &token, &d));
    assert_string_equal(token, "first");
    write_text(dir, "tok", "second");
    assert_true(k8s_access_token(a, &arena, &token, &d));
    assert_string_equal(token, "second");
    snprintf(other, sizeof other, "%s/tok", dir);
    unlink(other);
    assert_false(k8s_access_token(a, &arena, &token, &d));
    k8s_access_free(a);
    unsetenv("KUBECONFIG");
    snprintf(other, sizeof other, "%s/none", dir);
    assert_null(k8s_access_read(other, "x", &d));
    unsetenv("KUBERNETES_SERVICE_HOST");
    assert_null(k8s_access_read(NULL, K8S_IN_CLUSTER, &d));
    assert_int_equal(d.entries.n, 3);
    diag_free(&d);
    arena_free(&arena);
    assert_true(file_remove_tree(dir, &(struct diag){ 0 }));
}

/* Vectors of RFC 4648, section 10. */
static void base64(void **state)
{
    static const char *const rows[][2] = { { "", "" }, { "Zg==", "f" }, { "Zm8=", "fo" }, { "Zm9v", "foo" }, { "Zm9vYg==", "foob" },
                                           { "Zm9vYmE=", "fooba" }, { "Zm9v\nYmFy", "foobar" }, { "Zg", "f" } };
    static const char *const bad[] = { "Z", "Zg=", "Z===", "Zg==Zg==", "Zm9*", "AA==" /* a NUL */ };
    struct arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *out = base64_decode(&a, rows[i][0]);
        assert_non_null(out);
        assert_string_equal(out, rows[i][1]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_null(base64_decode(&a, bad[i]));
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(contexts), cmocka_unit_test(refusals), cmocka_unit_test(files), cmocka_unit_test(base64) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
