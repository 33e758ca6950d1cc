/* views.h - runs, a viewer on them, and its state dump, for the tests of viz/views.
 *
 *     struct looking l;
 *     look_at(&l, dirs, n);                              // the directories of 1 or 2 runs
 *     look_key(&l, 'j', 0); look_type(&l, "/", "job:7"); // keys, and a text with Enter
 *     look_dump(&l, "view.panes.0.all.spans")            // what the dump says there; NULL: nothing
 *     look_away(&l);
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_VIZ_VIEWS_VIEWS_H
#define TRAINYARD_TESTS_VIZ_VIEWS_VIEWS_H

#include <cjson/cJSON.h>

#include "tests/viz/model/runs.h"
#include "viz/ui/view.h"

/* The folder of a program's runs; for cmocka_run_group_tests. */
static char top[] = "/tmp/trainyard-views-XXXXXX";

static inline int make_top(void **state)
{
    (void)state;
    return mkdtemp(top) ? 0 : 1;
}

static inline int drop_top(void **state)
{
    (void)state;
    remove_top(top);
    return 0;
}

struct looking {
    struct scene *scene[UI_MAX_RUNS];
    unsigned n;
    struct text_engine *text;
    struct draw_list *list;
    struct ui *ui;
    cJSON *dump;
};

static inline void look_at(struct looking *l, const char *const *dirs, unsigned n)
{
    char *err = NULL;
    *l = (struct looking){.n = n, .text = text_create(&err)};
    for (unsigned i = 0; i < n; i++) {
        l->scene[i] = scene_open(dirs[i], &err);
        if (!l->scene[i]) fail_msg("%s", err);
    }
    l->ui = ui_create(l->scene, n, l->text, &(struct ui_options){.font_scale = 1});
    l->list = draw_create(l->text);
    ui_event(l->ui, &(struct ui_event){.kind = UI_RESIZE, .x = 1280, .y = 800});
    ui_draw(l->ui, l->list);
}

static inline void look_away(struct looking *l)
{
    cJSON_Delete(l->dump);
    draw_destroy(l->list);
    ui_destroy(l->ui);
    for (unsigned i = 0; i < l->n; i++) scene_close(l->scene[i]);
    text_destroy(l->text);
}

static inline void look_key(struct looking *l, int key, unsigned mods)
{
    ui_event(l->ui, &(struct ui_event){.kind = UI_KEY, .key = key, .mods = mods});
    ui_draw(l->ui, l->list);
    cJSON_Delete(l->dump);
    l->dump = NULL;
}

static inline void look_type(struct looking *l, int key, const char *text)
{
    struct ui_event e = {.kind = UI_TEXT};
    look_key(l, key, 0);
    snprintf(e.text, sizeof e.text, "%s", text);
    ui_event(l->ui, &e);
    look_key(l, UI_ENTER, 0);
}

/* By names and numbers, parted by points. */
static inline const cJSON *look_dump(struct looking *l, const char *path)
{
    if (!l->dump) {
        struct str out = {0};
        struct json_writer w;
        json_write_begin(&w, &out);
        ui_dump(l->ui, &w);
        json_write_finish(&w);
        l->dump = cJSON_Parse(str_text(&out));
        assert_non_null(l->dump);
        str_free(&out);
    }
    const cJSON *at = l->dump;
    char name[64];
    while (at && *path) {
        size_t n = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)n, path);
        path += n + (path[n] == '.');
        at = cJSON_IsArray(at) ? cJSON_GetArrayItem(at, atoi(name)) : cJSON_GetObjectItemCaseSensitive(at, name);
    }
    return at;
}

static inline double look_number(struct looking *l, const char *path)
{
    const cJSON *at = look_dump(l, path);
    if (!cJSON_IsNumber(at)) fail_msg("%s: no number", path);
    return at->valuedouble;
}

static inline const char *look_text(struct looking *l, const char *path)
{
    const cJSON *at = look_dump(l, path);
    if (!cJSON_IsString(at)) fail_msg("%s: no text", path);
    return at->valuestring;
}

/* A scenario of the test's own text; false: it does not run. */
static inline bool run_text(const char *json, const char *approach, const char *dir, int level)
{
    struct diag d = {0};
    struct scenario *s = scenario_parse("test.json", json, strlen(json), approach, &d);
    if (!s) diag_print(&d, stderr);
    bool ok = s && run_scenario(s, dir, level);
    if (s) scenario_free(s);
    diag_free(&d);
    return ok;
}

#endif
