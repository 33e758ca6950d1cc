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

static void visit(const struct yaml_node *node)
{
    require(node->line > 0);
    require((node->kind == YAML_SCALAR) == (node->text != NULL));
    require(node->kind == YAML_SCALAR || !yaml_is_null(node));
    for (uint32_t i = 0; i < node->n; i++) {
        const struct yaml_node *child = node->items[i];
        require(child->parent == node && child->index == i);
        require((child->key != NULL) == (node->kind == YAML_MAPPING));
        visit(child);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct diag d = {0};
    struct yaml_file *y = yaml_parse("fuzz", (const char *)data, n, &d);
    require(y != NULL || diag_errors(&d) > 0);
    for (size_t i = 0; y != NULL && i < y->docs.n; i++) visit(y->docs.v[i]);
    yaml_close(y);
    diag_free(&d);
    return 0;
}
