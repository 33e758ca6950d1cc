/* manifest.c - what a checkpoint in an object store consists of.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/worker/manifest.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

void manifest_write(const struct manifest *m, struct str *out)
{
    str_printf(out, "{\"trainyard_checkpoint\": 1, \"step\": %lld, \"token\": \"%016llx\", \"data_crc\": [", (long long)m->step,
               (unsigned long long)m->token);
    for (int i = 0; i < m->shards; i++) str_printf(out, "%s%u", i ? ", " : "", m->data_crc[i]);
    str_append(out, "]}\n");
}

static bool read_token(struct json_doc *doc, const cJSON *node, uint64_t *token)
{
    const char *text;
    if (!json_as_string(doc, node, &text)) return false;
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16) return json_error(doc, node, "is no token"), false;
    *token = strtoull(text, NULL, 16);
    return true;
}

static bool read_crcs(struct json_doc *doc, const cJSON *list, struct manifest *m)
{
    int n = json_as_array(doc, list) ? cJSON_GetArraySize(list) : 0;
    if (n < 1 || n > MANIFEST_SHARDS_MAX) return json_error(doc, list ? list : doc->root, "1 to %d shards are needed", MANIFEST_SHARDS_MAX), false;
    m->data_crc = xcalloc((size_t)n, sizeof *m->data_crc);
    const cJSON *node;
    cJSON_ArrayForEach(node, list)
    {
        int64_t crc;
        if (!json_as_int64(doc, node, 0, UINT32_MAX, &crc)) return false;
        m->data_crc[m->shards++] = (uint32_t)crc;
    }
    return true;
}

bool manifest_read(const char *name, const char *text, size_t n, int64_t step, struct manifest *m, struct diag *d)
{
    int64_t version;
    size_t before = diag_errors(d); /* a key given twice is told and no syntax error */
    struct json_doc *doc = json_parse(name, text, n, d);
    if (!doc) return false;
    const cJSON *root = doc->root;
    bool ok = diag_errors(d) == before && json_as_object(doc, root) && json_as_int64(doc, json_require(doc, root, "trainyard_checkpoint"), 1, 1, &version) &&
         json_as_int64(doc, json_require(doc, root, "step"), step, step, &m->step) &&
         read_token(doc, json_require(doc, root, "token"), &m->token) &&
         read_crcs(doc, json_require(doc, root, "data_crc"), m);
    json_free(doc);
    return ok;
}

void manifest_free(struct manifest *m)
{
    free(m->data_crc);
    *m = (struct manifest){0};
}
