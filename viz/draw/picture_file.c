/* picture_file.c - see picture_file.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/draw/picture_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/file.h"

static bool to_stdout(const struct str *bytes, char **err)
{
    if (fwrite(bytes->s, 1, bytes->n, stdout) == bytes->n && fflush(stdout) == 0) return true;
    struct str s = {0};
    str_printf(&s, "stdout: cannot write: %s", strerror(errno));
    *err = str_take(&s);
    return false;
}

bool picture_write(const char *path, const struct str *bytes, char **err)
{
    if (strcmp(path, "-") == 0) return to_stdout(bytes, err);
    struct diag d = {0};
    bool ok = file_write_atomic(path, bytes->s, bytes->n, &d);
    if (!ok) {
        struct str s = {0};
        str_printf(&s, "%s: %s", d.entries.v[0].file, d.entries.v[0].text);
        *err = str_take(&s);
    }
    diag_free(&d);
    return ok;
}
