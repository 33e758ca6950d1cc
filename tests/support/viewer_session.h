/* viewer_session.h - a session of the viewer in a test: runs, the keys of a script, and questions to the state dump.
 *
 *     struct session *s = session_open(&(struct session_plan){.scenario = "scenarios/demo.json", .approaches = {"operator", "actor"}, .n = 2});
 *     session_play(s, "key w\nkey w");                      // the steps of viz/ui/script.h; a wrong one fails the test
 *     assert_string_equal(session_text(s, "selection.kind"), "job");
 *     session_close(s);
 *
 * Paths go through objects by name and arrays by number: "runs.0.jobs". What is not there fails the test.
 * The runs lie in a directory of the test's, which session_close removes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_VIEWER_SESSION_H
#define TRAINYARD_TESTS_SUPPORT_VIEWER_SESSION_H

#include <cjson/cJSON.h>

#include "run/run.h"
#include "viz/ui/ui.h"

struct session_plan {
    const char *scenario[UI_ALL_RUNS];  /* of the second run: NULL, the same */
    const char *approach[UI_ALL_RUNS];
    unsigned n;
    bool animate, grid;
};

struct session {
    char dir[UI_ALL_RUNS][64];
    struct scene *scenes[UI_ALL_RUNS];
    unsigned n;
    bool grid;
    struct text_engine *text;
    struct ui *ui;
    cJSON *dump; /* NULL: to be made anew */
};

struct session *session_open(const struct session_plan *);
void session_close(struct session *);
/* A new state on the same runs, as after the start. */
void session_restart(struct session *, bool animate);

void session_play(struct session *, const char *script);
const cJSON *session_find(struct session *, const char *path);
bool session_has(struct session *, const char *path);
const char *session_text(struct session *, const char *path);   /* "" for null */
double session_number(struct session *, const char *path);
bool session_bool(struct session *, const char *path);
/* The value that the details show behind a label; NULL: no such line. `other`: of the second run. */
const char *session_detail(struct session *, const char *label, bool other);

#endif
