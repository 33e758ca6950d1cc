/* test_schema.c - reader, JSON Schema and manual are made from the same tables, and the shipped files are up to date.
 *
 * After a change of the tables: TRAINYARD_UPDATE=1 build/tests/input/test_schema writes both files anew.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/json.h"
#include "base/str.h"
#include "input/field.h"
#include "input/raw.h"
#include "input/schema.h"

static const char schema_file[] = "scenarios/scenario.schema.json", manual_file[] = "docs/scenario.md";
static const char marker[] = "<!-- from here on made from the tables of input/ -->\n";

static char *read_file(const char *path, size_t *n)
{
    struct diag d = { 0 };
    char *text = file_read(path, FILE_READ_MAX, n, &d);
    diag_free(&d);
    assert_non_null(text);
    return text;
}

static void write_file(const char *path, const char *text, size_t n)
{
    struct diag d = { 0 };
    assert_true(file_write_atomic(path, text, n, &d));
}

static void schema(void **state)
{
    (void)state;
    struct str want = { 0 };
    size_t n;
    scenario_schema(&want);
    if (getenv("TRAINYARD_UPDATE")) write_file(schema_file, want.s, want.n);
    char *have = read_file(schema_file, &n);
    assert_string_equal(have, str_text(&want));
    free(have);
    str_free(&want);
}

static void manual(void **state)
{
    (void)state;
    struct str want = { 0 };
    size_t n;
    char *have = read_file(manual_file, &n), *at = strstr(have, marker);
    assert_non_null(at);
    str_append_n(&want, have, (size_t)(at - have) + sizeof marker - 1);
    scenario_reference(&want);
    if (getenv("TRAINYARD_UPDATE")) write_file(manual_file, want.s, want.n);
    free(have);
    have = read_file(manual_file, &n);
    assert_string_equal(have, str_text(&want));
    free(have);
    str_free(&want);
}

/* Every row has a help, a sub-table where its type needs one, and a fallback that reads (object_read asserts it). */
static void check_type(const struct object_type *type, int depth)
{
    struct arena arena = { 0 };
    struct diag d = { 0 };
    struct reader r = { .arena = &arena, .diag = &d };
    object_read(&r, type, NULL);
    assert_int_equal(diag_errors(&d), 0);
    assert_true(depth < 12);
    for (size_t i = 0; i < type->n_fields; i++) {
        const struct field *f = &type->fields[i];
        bool nested = f->type == TYPE_OBJECT || f->type == TYPE_LIST || f->type == TYPE_MAP;
        assert_true(f->help && f->help[0]);
        assert_int_equal(nested, f->sub != NULL);
        assert_int_equal(f->type == TYPE_WORD, f->words != NULL);
        assert_true(f->offset >= sizeof(void *) && f->offset < type->size);
        for (size_t k = 0; k < i; k++) assert_string_not_equal(f->name, type->fields[k].name);
        if (f->sub) check_type(f->sub, depth + 1);
    }
    arena_free(&arena);
    diag_free(&d);
}

static void tables(void **state)
{
    (void)state;
    check_type(&scenario_type, 0);
}

/* Each $ref of the schema leads to a definition, and each object is closed. */
static void count_refs(const cJSON *node, const cJSON *defs, size_t *refs, size_t *closed)
{
    const cJSON *child;
    if (node->string && strcmp(node->string, "$ref") == 0) {
        static const char start[] = "#/$defs/";
        assert_true(strncmp(node->valuestring, start, sizeof start - 1) == 0);
        assert_non_null(json_member(defs, node->valuestring + sizeof start - 1));
        (*refs)++;
    }
    if (node->string && strcmp(node->string, "additionalProperties") == 0 && cJSON_IsFalse(node)) (*closed)++;
    cJSON_ArrayForEach(child, node) count_refs(child, defs, refs, closed);
}

static void references(void **state)
{
    (void)state;
    struct diag d = { 0 };
    struct json_doc *doc = json_load(schema_file, &d);
    size_t refs = 0, closed = 0;
    assert_non_null(doc);
    const cJSON *defs = json_member(doc->root, "$defs");
    count_refs(doc->root, defs, &refs, &closed);
    assert_true(refs > 40);
    assert_true(closed > (size_t)cJSON_GetArraySize(defs)); /* those, the root, and the stack's constants */
    json_free(doc);
    diag_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(tables), cmocka_unit_test(schema), cmocka_unit_test(manual),
                                        cmocka_unit_test(references) };
    return cmocka_run_group_tests_name("schema", tests, NULL, NULL);
}
