/* frames.c - --frames: a picture a moment, with the cursor going through the range that is shown; for videos.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/str.h"
#include "viz/app/app.h"
#include "viz/ui/picture.h"

static char *said(const char *dir, const char *what)
{
    struct str s = {0};
    str_printf(&s, "%s: %s", dir, what);
    return str_take(&s);
}

static void frame_name(const char *dir, int64_t number, struct str *to)
{
    str_clear(to);
    str_printf(to, "%s/frame-%06lld.png", dir, (long long)number);
}

/* Frames of before would mix with the new ones. */
static bool ready(const char *dir, char **err)
{
    struct diag d = {0};
    struct str first = {0};
    bool ok = file_make_dirs(dir, &d);
    if (!ok) *err = said(dir, d.entries.v[0].text);
    frame_name(dir, 1, &first);
    if (ok && file_exists(str_text(&first))) {
        *err = said(dir, "holds frames already; give another directory");
        ok = false;
    }
    str_free(&first);
    diag_free(&d);
    return ok;
}

bool app_frames(struct ui *u, const char *dir, int64_t every_ns, int64_t count, char **err)
{
    int64_t from = u->from_ns, width = u->to_ns - u->from_ns;
    struct str name = {0};
    if (every_ns > 0) count = width / every_ns + 1;
    if (count > FRAMES_MOST) {
        str_printf(&name, "--frames %s: %lld pictures would be written, more than %d: give a shorter --range or a longer --every", dir, (long long)count, FRAMES_MOST);
        *err = str_take(&name);
        return false;
    }
    bool ok = ready(dir, err);
    for (int64_t k = 0; k < count && ok; k++) {
        int64_t at = every_ns > 0 ? every_ns * k : count > 1 ? (int64_t)((__int128)width * k / (count - 1)) : 0;
        ui_cursor(u, from + at);
        frame_name(dir, k + 1, &name);
        ok = ui_picture_write(u, str_text(&name), err);
    }
    str_free(&name);
    return ok;
}
