/* export_manifests.c - trainyard export SCENARIO --to manifests.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "cli/export_manifests.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/yaml_write.h"
#include "cli/command.h"
#include "input/manifests.h"

/* 0007-pytorchjob-NAME.yaml: sorted by name they are in the order of creation. */
static void file_name(struct str *out, const struct manifest_set *set, size_t i)
{
    const struct manifest_item *item = &set->v[i];
    int digits = 4;
    for (size_t n = set->n; n >= 10000; n /= 10) digits++;
    str_printf(out, "%0*zu-", digits, i + 1);
    for (const char *c = item->kind; *c; c++) str_append_char(out, (char)tolower((unsigned char)*c));
    str_append_char(out, '-');
    for (const char *c = item->name; *c; c++) str_append_char(out, isalnum((unsigned char)*c) || *c == '-' ? *c : '-');
    str_append(out, ".yaml");
}

static void index_row(struct str *out, const struct manifest_set *set, size_t i, const struct scenario *s)
{
    const struct manifest_item *item = &set->v[i];
    char buf[24];
    str_append_seconds(out, item->at_ns);
    str_append_char(out, ',');
    file_name(out, set, i);
    str_printf(out, ",%s,%s,%s,%s,", item->api_version, item->kind, item->ns ? item->ns : "", item->name);
    if (item->job != ITEM_NO_JOB) { /* ids are free text */
        str_append_char(out, '"');
        for (const char *c = job_id(s, &set->jobs[item->job], buf); *c; c++) str_printf(out, *c == '"' ? "\"\"" : "%c", *c);
        str_append_char(out, '"');
    }
    str_append_char(out, ',');
    str_append_u64(out, (uint64_t)item->shares / SHARES_PER_GPU);
    str_append_char(out, '\n');
}

static bool write_in(const char *dir, const char *name, struct str *text, struct diag *d)
{
    struct str path = {0};
    str_printf(&path, "%s/%s", dir, name);
    bool ok = file_write_atomic(str_text(&path), str_text(text), text->n, d);
    str_free(&path);
    str_free(text);
    return ok;
}

static bool write_objects(const char *dir, const struct manifest_set *set, struct diag *d)
{
    bool ok = true;
    for (size_t i = 0; ok && i < set->n; i++) {
        struct str name = {0}, text = {0};
        file_name(&name, set, i);
        yaml_write(&text, set->v[i].object);
        ok = write_in(dir, str_text(&name), &text, d);
        str_free(&name);
    }
    return ok;
}

static bool write_dir(const char *dir, const struct scenario *s, const struct manifest_set *set, struct diag *d)
{
    struct str index = {0}, scenario = {0}, nodes = {0};
    if (!file_make_dirs(dir, d) || !write_objects(dir, set, d)) return false;
    manifests_scenario(s, set, "[0-9]*.yaml", &scenario);
    manifests_nodes(s, &nodes);
    str_append(&index, "at_s,file,api_version,kind,namespace,name,job,gpus\n");
    for (size_t i = 0; i < set->n; i++) index_row(&index, set, i, s);
    bool ok = write_in(dir, "scenario.json", &scenario, d);
    ok &= write_in(dir, "nodes.yaml", &nodes, d);
    return write_in(dir, "index.csv", &index, d) && ok;
}

static bool begun_before(const char *dir)
{
    struct str path = {0};
    str_printf(&path, "%s/index.csv", dir);
    bool there = file_exists(str_text(&path));
    str_free(&path);
    return there;
}

static int write_all(const char *out, const struct scenario *s, const struct manifest_set *set, struct diag *d)
{
    if (strcmp(out, "-") == 0) {
        struct str text = {0};
        for (size_t i = 0; i < set->n; i++) yaml_write(&text, set->v[i].object);
        fwrite(str_text(&text), 1, text.n, stdout);
        str_free(&text);
        return EXIT_OK;
    }
    if (begun_before(out)) return command_fail(EXIT_IO, "%s holds exported objects, with which these would mix; give another directory", out);
    return write_dir(out, s, set, d) ? EXIT_OK : EXIT_IO;
}

int export_manifests(const char *scenario, const char *approach, const char *image, const char *out)
{
    struct diag d = {0};
    struct manifest_set set;
    struct scenario *s = scenario_load(scenario, approach, NULL, &d);
    if (!s) return command_diag(&d);
    int code = EXIT_INPUT;
    if (manifests_make(s, &(struct manifest_options){.image = image}, &set, &d)) {
        code = write_all(out, s, &set, &d);
        manifests_free(&set);
    }
    scenario_free(s);
    diag_print(&d, stderr);
    diag_free(&d);
    return code;
}
