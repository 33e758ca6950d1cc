/* shared.c - finds shared files for tests, or skips.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/shared.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void shared_path(char path[SHARED_PATH_MAX], const char *relative)
{
    const char *root = getenv("TRAINYARD_SHARED"), *none = getenv("TRAINYARD_NO_SHARED");
    snprintf(path, SHARED_PATH_MAX, "%s/%s", root ? root : "../shared", relative);
    if (access(path, R_OK) == 0) return;
    if (getenv("CI") && !(none && strcmp(none, "1") == 0)) fail_msg("%s is not there", path);
    print_message("skipped: %s is not there\n", path);
    skip();
}
