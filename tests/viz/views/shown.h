/* shown.h - two runs of a scenario and the viewer's state over them, for the tests of views.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_VIZ_VIEWS_SHOWN_H
#define TRAINYARD_TESTS_VIZ_VIEWS_SHOWN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/json_write.h"
#include "tests/support/make_runs.h"
#include "viz/ui/ui.h"

struct shown {
    char top[48];
    struct scene *scenes[UI_MAX_RUNS];
    unsigned n;
    struct text_engine *text;
    struct ui *ui;
    struct draw_list *list;
};

static inline void shown_run(struct shown *s, const char *scenario, const char *const *approaches, unsigned n, int record_level)
{
    strcpy(s->top, "/tmp/trainyard-shown-XXXXXX");
    assert_non_null(mkdtemp(s->top));
    if (!make_runs(scenario, approaches, n, 1, record_level, s->top)) fail_msg("%s", scenario);
}

static inline void shown_open(struct shown *s, const char *const *approaches, unsigned n, float w, float h, unsigned theme)
{
    char *err = NULL;
    for (s->n = 0; s->n < n; s->n++) {
        char dir[96];
        snprintf(dir, sizeof dir, n > 1 ? "%s/%s" : "%s", s->top, approaches[s->n]);
        s->scenes[s->n] = scene_open(dir, &err);
        if (!s->scenes[s->n]) fail_msg("%s", err);
    }
    s->text = text_create(&err);
    if (!s->text) fail_msg("%s", err);
    struct ui_options options = {.theme = theme, .font_scale = 1};
    s->ui = ui_create(s->scenes, n, s->text, &options);
    s->list = draw_create(s->text);
    ui_event(s->ui, &(struct ui_event){.kind = UI_RESIZE, .x = w, .y = h});
}

static inline void shown_close(struct shown *s)
{
    ui_destroy(s->ui);
    draw_destroy(s->list);
    text_destroy(s->text);
    for (unsigned i = 0; i < s->n; i++) scene_close(s->scenes[i]);
}

static inline void shown_remove(struct shown *s)
{
    struct diag d = {0};
    assert_true(file_remove_tree(s->top, &d));
    diag_free(&d);
}

static inline void shown_key(struct shown *s, int key, unsigned mods)
{
    ui_draw(s->ui, s->list);
    ui_event(s->ui, &(struct ui_event){.kind = UI_KEY, .key = key, .mods = mods});
    ui_draw(s->ui, s->list);
}

/* The dump of a view, as JSON. */
static inline struct json_doc *shown_dump(struct shown *s, const char *view, struct diag *d)
{
    struct str text = {0};
    struct json_writer w;
    ui_view(s->ui, view);
    ui_draw(s->ui, s->list);
    json_write_begin(&w, &text);
    ui_dump(s->ui, &w);
    struct json_doc *doc = json_parse("the dump", str_text(&text), text.n, d);
    str_free(&text);
    assert_non_null(doc);
    assert_int_equal(diag_errors(d), 0);
    return doc;
}

/* The pane of that run. */
static inline const cJSON *shown_pane(const struct json_doc *doc, int i)
{
    const cJSON *pane = cJSON_GetArrayItem(json_member(doc->root, "panes"), i);
    assert_non_null(pane);
    return pane;
}

static inline const cJSON *shown_item(const cJSON *list, const char *key, const char *value)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        const cJSON *its = json_member(item, key);
        if (cJSON_IsString(its) && !strcmp(its->valuestring, value)) return item;
    }
    fail_msg("no %s \"%s\"", key, value);
    return NULL;
}

#endif
