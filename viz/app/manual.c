/* manual.c - trainyard-view(1), from the table of options and the table of keys.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <ctype.h>

#include "base/roff.h"
#include "base/str.h"
#include "base/version.h"
#include "viz/app/app.h"
#include "viz/ui/actions.h"

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
               ".SH NAME\ntrainyard\\-view \\- look at runs of trainyard, one or two side by side\n"
               ".SH SYNOPSIS\n\\fBtrainyard\\-view\\fR [\\fIOPTION\\fR...] \\fIRUN\\fR [\\fIRUN2\\fR]\n"
               ".SH DESCRIPTION\nShows who held which GPU when, queues and ledgers over time, events, single jobs, and how two runs of "
               "the same jobs differ. It reads run directories only, simulated or live, also while they grow. RUN is the directory "
               "of a run, or a tree of runs: then the first two approaches become A and B.\n.SH OPTIONS\n",
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
