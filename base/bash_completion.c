/* bash_completion.c - see bash_completion.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/bash_completion.h"

#include <stdbool.h>

static bool is_end(const struct argp_option *o)
{
    return !o->name && !o->key && !o->doc && !o->group;
}

void bash_completion_options(FILE *to, const struct argp_option *o)
{
    for (; o && !is_end(o); o++)
        if (o->name && !(o->flags & OPTION_HIDDEN)) fprintf(to, " --%s%s", o->name, o->arg ? "=" : "");
}

void bash_completion_reply(FILE *to, const char *function, const char *program)
{
    fprintf(to,
            "    if [ \"${current#-}\" != \"$current\" ]; then\n"
            "        COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
            "        [ ${#COMPREPLY[@]} -eq 1 ] && [ \"${COMPREPLY[0]%%=}\" != \"${COMPREPLY[0]}\" ] && compopt -o nospace\n"
            "    else\n"
            "        COMPREPLY=($(compgen -f -- \"$current\"))\n"
            "        compopt -o filenames\n"
            "    fi\n}\n"
            "complete -F %s %s\n",
            function, program);
}
