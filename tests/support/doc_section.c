/* doc_section.c - see doc_section.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/doc_section.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"

void doc_section(const char *page, const char *name, const char *text)
{
    struct diag d = {0};
    struct str marker = {0}, renewed = {0};
    size_t n;
    char *old = file_read(page, FILE_READ_MAX, &n, &d);
    assert_non_null(old);
    str_printf(&marker, "<!-- table: %s -->\n", name);
    char *from = strstr(old, str_text(&marker)), *to = from ? strstr(from, "<!-- end -->") : NULL;
    if (!to) fail_msg("%s has no part \"%s\"", page, name);
    str_append_n(&renewed, old, (size_t)(from - old) + marker.n);
    str_append(&renewed, text);
    str_append(&renewed, to);
    fputs(text, stdout);
    if (getenv("TRAINYARD_WRITE_DOCS"))
        assert_true(file_write_atomic(page, str_text(&renewed), renewed.n, &d));
    else if (strcmp(old, str_text(&renewed)) != 0)
        fail_msg("%s is behind: TRAINYARD_WRITE_DOCS=1 and this test renew its part \"%s\"", page, name);
    str_free(&renewed);
    str_free(&marker);
    free(old);
    diag_free(&d);
}
