/* actions.c - see actions.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/ui/actions.h"

#include <ctype.h>
#include <string.h>

#include "base/roff.h"
#include "viz/ui/private.h"

#define X_ROW(e, name, group, one, two, function, arg, help) [e] = {name, group, {one, two}, function, arg, help},
const struct action actions[N_ACTIONS] = {ACTIONS(X_ROW)};
#undef X_ROW

const char *const action_group_names[N_ACTION_GROUPS] = {
    [GROUP_TIME] = "Time", [GROUP_STEP] = "Steps and play", [GROUP_FIND] = "Find",
    [GROUP_VIEW] = "Views", [GROUP_SELECT] = "Select", [GROUP_WINDOW] = "Window",
};

#define X_GESTURE(what, help) {what, help},
const struct gesture gestures[] = {GESTURES(X_GESTURE)};
#undef X_GESTURE
const unsigned n_gestures = sizeof gestures / sizeof *gestures;

static const struct {
    int key;
    const char *name, *shown;
} key_names[] = {
    {UI_ESC, "esc", "Esc"},         {UI_ENTER, "enter", "Enter"},     {UI_TAB, "tab", "Tab"},
    {UI_LEFT, "left", "←"},         {UI_RIGHT, "right", "→"},         {UI_UP, "up", "↑"},
    {UI_DOWN, "down", "↓"},         {UI_HOME, "home", "Home"},        {UI_END, "end", "End"},
    {UI_PAGE_UP, "page-up", "PgUp"}, {UI_PAGE_DOWN, "page-down", "PgDn"}, {UI_F1, "f1", "F1"},
    {UI_BACKSPACE, "backspace", "Backspace"}, {UI_DELETE, "delete", "Delete"}, {' ', "space", "Space"},
};
enum { N_KEY_NAMES = sizeof key_names / sizeof *key_names };

/* ---- which action ---- */

static unsigned asked_mods(int key, unsigned mods)
{
    bool printable = key > ' ' && key < 0x7f && !isalpha(key);
    return printable ? mods & ~(unsigned)UI_SHIFT : mods;
}

const struct action *action_of_key(int prefix, int key, unsigned mods)
{
    mods = asked_mods(key, mods);
    for (unsigned i = 0; i < N_ACTIONS; i++)
        for (unsigned k = 0; k < 2; k++) {
            const struct chord *c = &actions[i].chord[k];
            if (c->key && c->key == key && c->prefix == prefix && c->mods == mods) return &actions[i];
        }
    return NULL;
}

bool action_is_prefix(int key, unsigned mods)
{
    for (unsigned i = 0; i < N_ACTIONS && !mods; i++)
        if (actions[i].chord[0].prefix == key) return true;
    return false;
}

/* ---- names of keys ---- */

void key_text(int key, unsigned mods, struct str *to)
{
    if (mods & UI_CTRL) str_append(to, "Ctrl+");
    if (mods & UI_ALT) str_append(to, "Alt+");
    if (mods & UI_SHIFT) str_append(to, "Shift+");
    for (unsigned i = 0; i < N_KEY_NAMES; i++)
        if (key_names[i].key == key) {
            str_append(to, key_names[i].shown);
            return;
        }
    str_append_char(to, (char)toupper(key));
}

static void chord_text(const struct chord *c, struct str *to)
{
    if (c->prefix) {
        key_text(c->prefix, 0, to);
        str_append(to, ", then ");
    }
    key_text(c->key, c->mods, to);
}

void action_keys(const struct action *a, struct str *to)
{
    chord_text(&a->chord[0], to);
    if (!a->chord[1].key) return;
    str_append(to, ", ");
    chord_text(&a->chord[1], to);
}

static unsigned mod_of(const char *text, size_t n)
{
    static const struct {
        const char *name;
        unsigned mod;
    } mod[] = {{"ctrl", UI_CTRL}, {"shift", UI_SHIFT}, {"alt", UI_ALT}};
    for (size_t i = 0; i < sizeof mod / sizeof *mod; i++)
        if (strlen(mod[i].name) == n && strncasecmp(text, mod[i].name, n) == 0) return mod[i].mod;
    return 0;
}

bool key_parse(const char *text, int *key, unsigned *mods)
{
    *mods = 0;
    for (const char *plus; (plus = strchr(text, '+')) && plus > text && plus[1]; text = plus + 1) {
        unsigned m = mod_of(text, (size_t)(plus - text));
        if (!m) return false;
        *mods |= m;
    }
    for (unsigned i = 0; i < N_KEY_NAMES; i++)
        if (strcasecmp(text, key_names[i].name) == 0) {
            *key = key_names[i].key;
            return true;
        }
    if (text[0] <= ' ' || text[0] >= 0x7f || text[1]) return false;
    if (isupper((unsigned char)text[0])) *mods |= UI_SHIFT;
    *key = tolower((unsigned char)text[0]);
    return true;
}

/* ---- the manual page ---- */

static void manual_entry(struct str *to, const char *what, const char *help)
{
    str_append(to, ".TP\n\\fB");
    roff_text(to, what);
    str_append(to, "\\fR\n");
    roff_text(to, help);
    str_append_char(to, '\n');
}

void actions_manual(struct str *to)
{
    for (unsigned g = 0; g < N_ACTION_GROUPS; g++) {
        str_printf(to, ".SS %s\n", action_group_names[g]);
        for (unsigned i = 0; i < N_ACTIONS; i++) {
            struct str keys = {0};
            if (actions[i].group != g) continue;
            action_keys(&actions[i], &keys);
            manual_entry(to, str_text(&keys), actions[i].help);
            str_free(&keys);
        }
    }
    for (unsigned v = 0; v < n_view_kinds; v++) {
        if (!view_kinds[v]->keys) continue;
        str_printf(to, ".SS Only in %s\n", view_kinds[v]->title);
        for (const struct view_key *k = view_kinds[v]->keys; k->key; k++) manual_entry(to, k->key, k->help);
    }
    str_append(to, ".SS Mouse\n");
    for (unsigned i = 0; i < n_gestures; i++) manual_entry(to, gestures[i].what, gestures[i].help);
}
