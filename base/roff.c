/* roff.c - see roff.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/roff.h"

#include <string.h>

void roff_text_n(struct str *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        if (c == '-')
            str_append(out, "\\-");
        else if (c == '\\')
            str_append(out, "\\e");
        else {
            bool begins = out->n == 0 || out->s[out->n - 1] == '\n';
            if (begins && (c == '.' || c == '\'')) str_append(out, "\\&");
            str_append_char(out, c);
        }
    }
}

void roff_text(struct str *out, const char *text)
{
    roff_text_n(out, text, strlen(text));
}
