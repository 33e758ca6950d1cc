/* manual.c - see manual.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "cli/manual.h"

#include <ctype.h>
#include <string.h>

#include "base/bash_completion.h"
#include "base/roff.h"
#include "base/version.h"
#include "cli/calibrate.h"
#include "input/schema.h"

/* ---- trainyard(1) ---- */

/* Lines of a text as paragraphs broken where it breaks them. */
static void roff_lines(struct str *to, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        size_t blank = strspn(text, " ");
        roff_text_n(to, text + (blank < n ? blank : n), n - (blank < n ? blank : n));
        str_append(to, text[n] && text[n + 1] ? "\n.br\n" : "\n");
        text += n + (text[n] == '\n');
    }
}

static void man_option(struct str *to, const struct argp_option *o)
{
    str_append(to, ".TP\n");
    if (isgraph(o->key)) {
        str_printf(to, "\\fB\\-%c\\fR", o->key);
        if (o->name) str_append(to, ", ");
    }
    if (o->name) {
        str_append(to, "\\fB\\-\\-");
        roff_text(to, o->name);
        str_append(to, "\\fR");
    }
    if (o->arg) {
        bool optional = o->flags & OPTION_ARG_OPTIONAL;
        str_append(to, optional ? "[=\\fI" : "=\\fI");
        roff_text(to, o->arg);
        str_append(to, optional ? "\\fR]" : "\\fR");
    }
    str_append_char(to, '\n');
    roff_text(to, o->doc ? o->doc : "");
    str_append_char(to, '\n');
}

static bool is_end(const struct argp_option *o)
{
    return !o->name && !o->key && !o->doc && !o->group;
}

/* Forms of the arguments stand on lines of args_doc; the text before \v describes, the one behind it closes. */
static void man_command(struct str *to, const struct command *c)
{
    const char *forms = c->argp->args_doc ? c->argp->args_doc : "", *doc = c->argp->doc ? c->argp->doc : "";
    const char *after = strchr(doc, '\v');
    str_printf(to, ".SS trainyard %s\n", c->name);
    do {
        size_t n = strcspn(forms, "\n");
        str_printf(to, "\\fBtrainyard %s\\fR [\\fIOPTION\\fR...] \\fI", c->name);
        roff_text_n(to, forms, n);
        str_append(to, "\\fR\n.br\n");
        forms += n + (forms[n] == '\n');
    } while (*forms);
    str_append(to, ".PP\n");
    roff_text_n(to, doc, after ? (size_t)(after - doc) : strlen(doc));
    str_append_char(to, '\n');
    for (const struct argp_option *o = c->argp->options; o && !is_end(o); o++) man_option(to, o);
    if (!after) return;
    str_append(to, ".PP\n");
    roff_lines(to, after + 1);
}

static void man_page(struct str *to)
{
    str_printf(to,
            ".TH TRAINYARD 1 \"\" \"trainyard %s\" \"User Commands\"\n"
            ".SH NAME\ntrainyard \\- simulate GPU training clusters on Kubernetes, and compare ways to run them\n"
            ".SH SYNOPSIS\n\\fBtrainyard\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...]\n.br\n"
            "\\fBtrainyard\\fR \\fICOMMAND\\fR \\fB\\-\\-help\\fR\n"
            ".SH DESCRIPTION\nRuns the jobs of a scenario on a simulated cluster under the operator way (PyTorchJobs), "
            "the actor "
            "way (Ray) or a batch policy, says where each GPU\\-second goes and why jobs wait, and which way is "
            "better, by how "
            "much and how sure that is. Results go to standard output, progress and messages to standard error; \\- as "
            "a file is "
            "standard input or output.\n.SH COMMANDS\n",
            TRAINYARD_VERSION);
    for (size_t i = 0; i < n_commands; i++) man_command(to, &commands[i]);
    for (size_t i = 0; i < n_calibrate_subjects; i++) man_command(to, &calibrate_subjects[i]);
    str_append(to, ".SH EXIT STATUS\n"
          "0 ok; 1 a check failed; 2 wrong usage; 3 bad input; 4 a file or back end failed; 130 interrupted.\n"
          ".SH ENVIRONMENT\n.TP\n\\fBTRAINYARD_DATA\\fR\nDirectory with profiles/, looked in first.\n"
          ".TP\n\\fBTMPDIR\\fR\nWhere compare keeps its runs while it works; /tmp by default.\n"
          ".SH FILES\n.TP\n\\fIPREFIX/share/trainyard\\fR\nThe shipped scenarios (demo.json, two\\-teams.json, ...), their JSON Schema, and profiles/.\n"
          ".SH EXAMPLES\n.nf\ntrainyard compare scenarios/demo.json\n"
          "trainyard run scenarios/two\\-teams.json \\-o out\ntrainyard explain out/operator/0 tune\\-3\n.fi\n"
          ".SH SEE ALSO\n\\fBtrainyard\\-scenario\\fR(5)\n");
}

void manual_man(FILE *to)
{
    struct str page = {0};
    man_page(&page);
    fputs(str_text(&page), to);
    str_free(&page);
}

void manual_scenario(FILE *to)
{
    struct str page = {0};
    scenario_manual(&page);
    fputs(str_text(&page), to);
    str_free(&page);
}

/* ---- bash ---- */

/* A command whose name has two words completes by the second once that is written. */
static void bash_command(FILE *to, const struct command *c)
{
    const char *second = strchr(c->name, ' ');
    if (second)
        fprintf(to, "        %.*s\\ %s) words=\"--help", (int)(second - c->name), c->name, second + 1);
    else
        fprintf(to, "        %s\\ *) words=\"--help", c->name);
    bash_completion_options(to, c->argp->options);
    fputs("\" ;;\n", to);
}

void manual_bash(FILE *to)
{
    fputs("# bash completion of trainyard, made from its table of commands\n"
          "_trainyard()\n{\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} words=\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W \"--help --version",
          to);
    for (size_t i = 0; i < n_commands; i++) fprintf(to, " %s", commands[i].name);
    fputs("\" -- \"$current\"))\n        return\n    fi\n    case \"${COMP_WORDS[1]} ${COMP_WORDS[2]}\" in\n", to);
    for (size_t i = 0; i < n_calibrate_subjects; i++) bash_command(to, &calibrate_subjects[i]);
    for (size_t i = 0; i < n_commands; i++) bash_command(to, &commands[i]);
    fputs("    esac\n", to);
    bash_completion_reply(to, "_trainyard", "trainyard");
}
