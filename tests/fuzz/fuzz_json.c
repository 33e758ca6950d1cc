/* fuzz_json.c - any bytes as JSON: no crash, a place for every value, and what is written reads back equal.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "base/json.h"
#include "base/json_write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void require(bool holds)
{
    if (!holds) abort();
}

static void visit(struct json_doc *doc, const cJSON *node, struct str *pointer)
{
    const cJSON *child;
    int64_t i;
    double x;
    str_clear(pointer);
    json_pointer(doc, node, pointer);
    require(json_line(doc, node) > 0);
    require((pointer->n == 0) == (node == doc->root));
    json_as_int64(doc, node, -5, 5, &i);
    json_as_double(doc, node, &x);
    if (cJSON_IsNumber(node)) require(strtod(json_number_text(doc, node), NULL) == node->valuedouble);
    cJSON_ArrayForEach(child, node) visit(doc, child, pointer);
}

static void round_trip(const struct json_doc *doc)
{
    struct diag d = {0};
    struct str out = {0};
    struct json_writer w;
    json_write_begin(&w, &out);
    json_write_cjson(&w, doc->root);
    json_write_finish(&w);
    struct json_doc *again = json_parse("again", out.s, out.n, &d);
    require(again != NULL && diag_errors(&d) == 0);
    require(cJSON_Compare(doc->root, again->root, true));
    json_free(again);
    str_free(&out);
    diag_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct diag d = {0};
    struct str pointer = {0};
    struct json_doc *doc = json_parse("fuzz", (const char *)data, n, &d);
    require(doc != NULL || diag_errors(&d) == 1);
    if (doc != NULL) {
        if (diag_errors(&d) == 0) round_trip(doc);
        visit(doc, doc->root, &pointer);
    }
    json_free(doc);
    str_free(&pointer);
    diag_free(&d);
    return 0;
}
