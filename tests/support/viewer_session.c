/* viewer_session.c - see viewer_session.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/viewer_session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/support/run_dir.h"
#include "viz/ui/script.h"

/* ---- made and freed ---- */

void session_restart(struct session *s, bool animate)
{
    ui_destroy(s->ui);
    s->ui = ui_create(s->scenes, s->n, s->text, &(struct ui_options){.font_scale = 1, .animate = animate, .grid = s->grid});
    cJSON_Delete(s->dump);
    s->dump = NULL;
}

struct session *session_open(const struct session_plan *p)
{
    struct session *s = xcalloc(1, sizeof *s);
    char *err = NULL;
    s->text = text_create(&err);
    assert_non_null(s->text);
    for (s->n = 0; s->n < p->n; s->n++) {
        const char *scenario = p->scenario[s->n] ? p->scenario[s->n] : p->scenario[0];
        run_dir_simulate(scenario, p->approach[s->n], s->dir[s->n], sizeof s->dir[s->n]);
        s->scenes[s->n] = scene_open(s->dir[s->n], &err);
        if (!s->scenes[s->n]) fprintf(stderr, "%s\n", err);
        assert_non_null(s->scenes[s->n]);
    }
    s->grid = p->grid;
    session_restart(s, p->animate);
    return s;
}

void session_close(struct session *s)
{
    ui_destroy(s->ui);
    for (unsigned i = 0; i < s->n; i++) {
        scene_close(s->scenes[i]);
        run_dir_remove(s->dir[i]);
    }
    text_destroy(s->text);
    cJSON_Delete(s->dump);
    free(s);
}

/* ---- steps ---- */

void session_play(struct session *s, const char *script)
{
    char file[] = "/tmp/trainyard-script-XXXXXX";
    struct diag d = {0};
    int fd = mkstemp(file);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, script, strlen(script)), strlen(script));
    close(fd);
    bool io, ok = script_run(s->ui, file, &io, &d);
    if (!ok) diag_print(&d, stderr);
    unlink(file);
    diag_free(&d);
    cJSON_Delete(s->dump);
    s->dump = NULL;
    assert_true(ok);
}

/* ---- questions ---- */

static void make_dump(struct session *s)
{
    struct str out = {0};
    struct json_writer w;
    json_write_begin(&w, &out);
    ui_dump(s->ui, &w);
    json_write_finish(&w);
    s->dump = cJSON_Parse(str_text(&out));
    str_free(&out);
    assert_non_null(s->dump);
}

static const cJSON *find(struct session *s, const char *path)
{
    if (!s->dump) make_dump(s);
    const cJSON *at = s->dump;
    char part[64];
    for (const char *p = path; *p && at;) {
        size_t n = strcspn(p, ".");
        snprintf(part, sizeof part, "%.*s", (int)n, p);
        at = cJSON_IsArray(at) ? cJSON_GetArrayItem(at, atoi(part)) : cJSON_GetObjectItemCaseSensitive(at, part);
        p += n + (p[n] == '.');
    }
    return at;
}

bool session_has(struct session *s, const char *path)
{
    return find(s, path) != NULL;
}

const cJSON *session_find(struct session *s, const char *path)
{
    const cJSON *at = find(s, path);
    if (!at) fprintf(stderr, "the dump has no %s\n", path);
    assert_non_null(at);
    return at;
}

const char *session_text(struct session *s, const char *path)
{
    const cJSON *at = session_find(s, path);
    return cJSON_IsString(at) ? at->valuestring : "";
}

double session_number(struct session *s, const char *path)
{
    const cJSON *at = session_find(s, path);
    return cJSON_IsNumber(at) ? at->valuedouble : -1;
}

bool session_bool(struct session *s, const char *path)
{
    return cJSON_IsTrue(session_find(s, path));
}

const char *session_detail(struct session *s, const char *label, bool other)
{
    const cJSON *line;
    cJSON_ArrayForEach(line, session_find(s, "details"))
    {
        if (strcmp(cJSON_GetArrayItem(line, 0)->valuestring, label) != 0) continue;
        const cJSON *value = cJSON_GetArrayItem(line, other ? 2 : 1);
        return value ? value->valuestring : "";
    }
    return NULL;
}
