/* manual.c - trainyard-view(1) and its completion in bash, from the table of options and the table of keys.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <ctype.h>

#include "base/bash_completion.h"
#include "base/roff.h"
#include "base/str.h"
#include "base/version.h"
#include "viz/app/app.h"
#include "viz/ui/actions.h"
#include "viz/ui/view.h"

static void option(struct str *to, const struct argp_option *o)
{
    str_append(to, ".TP\n");
    if (isgraph(o->key)) str_printf(to, "\\fB\\-%c\\fR, ", o->key);
    str_append(to, "\\fB\\-\\-");
    roff_text(to, o->name);
    str_append(to, "\\fR");
    if (o->arg) {
        str_append(to, "=\\fI");
        roff_text(to, o->arg);
        str_append(to, "\\fR");
    }
    str_append_char(to, '\n');
    roff_text(to, o->doc);
    str_append_char(to, '\n');
}

void app_manual(FILE *to)
{
    struct str s = {0};
    str_printf(&s,
               ".TH TRAINYARD-VIEW 1 \"\" \"trainyard %s\" \"User Commands\"\n"
               ".SH NAME\ntrainyard\\-view \\- look at runs of trainyard, one, two side by side, or more in a grid\n"
               ".SH SYNOPSIS\n\\fBtrainyard\\-view\\fR [\\fIOPTION\\fR...] \\fIRUN\\fR...\n"
               ".SH DESCRIPTION\nShows who held which GPU when, queues and ledgers over time, events, single jobs, and how two runs of "
               "the same jobs differ. It reads run directories only, simulated or live, also while they grow. RUN is the directory "
               "of a run, or a tree of runs: then its approaches are shown. The first two runs are A and B, which comparisons are between. More than "
               "two are shown in a grid, up to 16; there any two can be made A and B. A live run beside a simulated one of the same scenario lies over "
               "its curves as dots.\n.SH OPTIONS\n",
               TRAINYARD_VERSION);
    for (const struct argp_option *o = app_argp.options; o->name; o++)
        if (!(o->flags & OPTION_HIDDEN)) option(&s, o);
    str_append(&s, ".SH KEYS\n");
    actions_manual(&s);
    str_append(&s, ".SH SEARCH\nWords, all of which must hold: \\fIkey\\fR:\\fItext\\fR (contains) or \\fIkey\\fR=\\fItext\\fR (is) with job, team, queue, kind, "
                   "state, node, reason; \\fIkey\\fR and <, <=, =, >=, > and a number with gpus, wait, jct, restarts, preemptions, priority, submit, start, "
                   "finish; any other word is looked for in id, team, queue and kind; \\-\\fIword\\fR: not.\n"
                   ".SH EXIT STATUS\n0 ok; 2 wrong usage; 3 no run or a bad one; 4 a file or the display failed.\n"
                   ".SH ENVIRONMENT\n.TP\n\\fBTRAINYARD_FONTS\\fR\nFolder with DejaVuSans.ttf, looked in first.\n"
                   ".SH EXAMPLES\n.nf\ntrainyard run scenarios/demo.json \\-n 1 \\-r full \\-o out\ntrainyard\\-view out\n"
                   "trainyard\\-view out/operator \\-\\-screenshot gantt.png \\-\\-view gantt \\-\\-range 0:6h\n.fi\n"
                   ".SH SEE ALSO\n\\fBtrainyard\\fR(1)\n");
    fputs(str_text(&s), to);
    str_free(&s);
}

/* ---- bash ---- */

static void choices(FILE *to, const char *option, const char *(*name)(unsigned), unsigned n)
{
    fprintf(to, "        --%s) COMPREPLY=($(compgen -W \"", option);
    for (unsigned i = 0; i < n; i++) fprintf(to, "%s%s", i ? " " : "", name(i));
    fputs("\" -- \"$current\")); return ;;\n", to);
}

static const char *view_name(unsigned i)
{
    return view_kinds[i]->name;
}

static const char *theme_name(unsigned i)
{
    return theme_names[i];
}

static const char *dump_format(unsigned i)
{
    (void)i;
    return "json";
}

/* bash parts --view=map at the equals sign: the option is the word before it. */
void app_bash_completion(FILE *to)
{
    fputs("# bash completion of trainyard-view, made from its table of options\n"
          "_trainyard_view()\n{\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} words=\"--help --version",
          to);
    bash_completion_options(to, app_argp.options);
    fputs("\"\n"
          "    [ \"$option\" = = ] && [ \"$COMP_CWORD\" -ge 2 ] && option=${COMP_WORDS[COMP_CWORD-2]}\n"
          "    [ \"$current\" = = ] && current=\n"
          "    case $option in\n",
          to);
    choices(to, "view", view_name, n_view_kinds);
    choices(to, "theme", theme_name, N_THEMES);
    choices(to, "dump-state", dump_format, 1);
    fputs("    esac\n", to);
    bash_completion_reply(to, "_trainyard_view", "trainyard-view");
}
