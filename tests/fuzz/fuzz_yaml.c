/* fuzz_yaml.c - any bytes as YAML: no crash, and a tree whose parents, keys and indices agree.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "base/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void require(bool holds)
{
    if (!holds) abort();
}

static void read_values(struct yaml_file *y, const struct yaml_node *node)
{
    int64_t i;
    double x;
    bool b;
    const char *s;
    yaml_as_int64(y, node, -5, 5, &i);
    yaml_as_double(y, node, &x);
    yaml_as_bool(y, node, &b);
    yaml_as_string(y, node, &s);
    yaml_as_quantity_milli(y, node, &i);
    yaml_as_duration_ns(y, node, &i);
    yaml_path(node, "a.0.b");
}

static void visit(struct yaml_file *y, const struct yaml_node *node, struct str *pointer)
{
    require(node->line > 0);
    require((node->kind == YAML_SCALAR) == (node->text != NULL));
    str_clear(pointer);
    yaml_pointer(y, node, pointer);
    read_values(y, node);
    for (uint32_t i = 0; i < node->n; i++) {
        const struct yaml_node *child = node->items[i];
        require(child->parent == node && child->index == i);
        require((child->key != NULL) == (node->kind == YAML_MAPPING));
        if (child->key) require(yaml_get(node, child->key) == child);
        visit(y, child, pointer);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct diag d = {0};
    struct str pointer = {0};
    struct yaml_file *y = yaml_parse("fuzz", (const char *)data, n, &d);
    require(y != NULL || diag_errors(&d) > 0);
    for (size_t i = 0; y != NULL && i < y->docs.n; i++) visit(y, y->docs.v[i], &pointer);
    yaml_close(y);
    str_free(&pointer);
    diag_free(&d);
    return 0;
}
