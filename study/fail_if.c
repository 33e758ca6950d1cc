/* fail_if.c - see fail_if.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/fail_if.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "run/metrics.h"
#include "study/paired.h"

enum { METRIC_NAME_MAX = 40, METRICS_MAX = 128, NUMBER_MAX = 40 };

/* Units of a number by the unit of its metric; the first of each is the metric's own. */
static const struct rule_unit {
    const char *metric_unit, *name;
    double factor;
} rule_units[] = {
    {"s",     "s",     1    },
    {"s",     "ms",    0.001},
    {"s",     "m",     60   },
    {"s",     "min",   60   },
    {"s",     "h",     3600 },
    {"s",     "d",     86400},
    {"GPU-h", "GPU-h", 1    },
    {"GPU-h", "h",     1    },
};

static const char *skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t') p++;
    return p;
}

static char *wrong_metric(const char *name)
{
    const char *names[METRICS_MAX];
    struct str s = {0};
    size_t n = metric_count() < METRICS_MAX ? metric_count() : METRICS_MAX;
    for (size_t i = 0; i < n; i++) names[i] = metric_at(i)->name;
    const char *near = str_suggest(name, names, n);
    str_printf(&s, "\"%s\" is no metric", name);
    if (near) str_printf(&s, "; did you mean \"%s\"?", near);
    str_append(&s, "  there are:");
    for (size_t i = 0; i < n; i++) str_printf(&s, " %s", names[i]);
    return str_take(&s);
}

static char *parse_metric(const char **at, struct fail_rule *r)
{
    char name[METRIC_NAME_MAX];
    size_t n = 0;
    const char *p = skip_blanks(*at);
    while ((isalnum((unsigned char)p[n]) || p[n] == '_') && n + 1 < sizeof name) n++;
    if (n == 0) return xstrdup("a metric is missing; a condition is METRIC OP NUMBER, such as p95_wait>1.1x");
    memcpy(name, p, n);
    name[n] = '\0';
    int index = metric_find(name);
    if (index < 0) return wrong_metric(name);
    r->metric = (size_t)index;
    *at = skip_blanks(p + n);
    return NULL;
}

static char *parse_op(const char **at, struct fail_rule *r)
{
    const char *p = *at;
    if (*p != '>' && *p != '<') return xstrdup("after the metric comes one of > >= < <=");
    bool equal = p[1] == '=';
    r->op = *p == '>' ? (equal ? OP_MORE_EQUAL : OP_MORE) : (equal ? OP_LESS_EQUAL : OP_LESS);
    *at = skip_blanks(p + 1 + equal);
    return NULL;
}

/* The digits, sign and point at *at as a double. */
static char *parse_number(const char **at, struct fail_rule *r, bool *is_signed)
{
    char text[NUMBER_MAX];
    size_t n = 0;
    const char *p = *at;
    *is_signed = *p == '+' || *p == '-';
    bool minus = *p == '-';
    if (*is_signed) p = skip_blanks(p + 1);
    while ((isdigit((unsigned char)p[n]) || p[n] == '.') && n + 1 < sizeof text) n++;
    memcpy(text, p, n);
    text[n] = '\0';
    if (n == 0 || units_parse_double(text, &r->number))
        return xstrdup("after the operator comes a number, such as 1.1x, 10%, 30m or 0.9");
    if (minus) r->number = -r->number;
    *at = skip_blanks(p + n);
    return NULL;
}

static char *wrong_unit(const char *unit, const struct metric_info *m)
{
    struct str s = {0};
    str_printf(&s, "\"%s\" is no unit for %s; allowed here: x (times the base), %%", unit, m->name);
    for (size_t i = 0; i < sizeof rule_units / sizeof *rule_units; i++)
        if (!strcmp(rule_units[i].metric_unit, m->unit)) str_printf(&s, ", %s", rule_units[i].name);
    return str_take(&s);
}

static char *parse_percent(struct fail_rule *r, bool is_signed)
{
    bool of_itself = !is_signed && !strcmp(metric_at(r->metric)->unit, "ratio");
    r->against = of_itself ? AGAINST_NUMBER : AGAINST_RATIO;
    r->number = r->number / 100 + (of_itself ? 0 : 1);
    return NULL;
}

static char *parse_unit(const char *unit, struct fail_rule *r, bool is_signed)
{
    const struct metric_info *m = metric_at(r->metric);
    r->against = is_signed ? AGAINST_DIFFERENCE : AGAINST_NUMBER;
    if (!*unit) return NULL;
    if (!strcmp(unit, "%")) return parse_percent(r, is_signed);
    if (!strcmp(unit, "x")) {
        r->against = AGAINST_RATIO;
        return is_signed ? xstrdup("a factor such as 1.1x has no sign") : NULL;
    }
    for (size_t i = 0; i < sizeof rule_units / sizeof *rule_units; i++) {
        if (strcmp(rule_units[i].metric_unit, m->unit) || strcmp(rule_units[i].name, unit)) continue;
        r->number *= rule_units[i].factor;
        return NULL;
    }
    return wrong_unit(unit, m);
}

char *fail_rule_parse(const char *text, struct fail_rule *r)
{
    const char *at = text;
    bool is_signed = false;
    *r = (struct fail_rule){0};
    char *wrong = parse_metric(&at, r);
    if (!wrong) wrong = parse_op(&at, r);
    if (!wrong) wrong = parse_number(&at, r, &is_signed);
    if (wrong) return wrong;
    char *unit = xstrdup(at);
    for (size_t n = strlen(unit); n && (unit[n - 1] == ' ' || unit[n - 1] == '\t'); n--) unit[n - 1] = '\0';
    wrong = parse_unit(unit, r, is_signed);
    free(unit);
    return wrong;
}

/* ---- judging ---- */

static bool beyond(enum fail_op op, const struct interval *i, double x)
{
    switch (op) {
    case OP_MORE: return i->low > x;
    case OP_MORE_EQUAL: return i->low >= x;
    case OP_LESS: return i->high < x;
    case OP_LESS_EQUAL: return i->high <= x;
    }
    return false;
}

static struct interval interval_for(const struct fail_rule *r, const struct fail_sample *s)
{
    if (r->against == AGAINST_NUMBER) return interval_of_metric(r->metric, s->other, s->n, PAIRED_LEVEL);
    struct paired p = paired_metric(r->metric, s->base, s->other, s->n, PAIRED_LEVEL);
    return r->against == AGAINST_RATIO ? p.ratio : p.difference;
}

/* The true values are at least the ones given: more of the other only confirms "more", more of the base may undo it. */
static bool may_tip(const struct fail_rule *r, const struct fail_sample *s)
{
    bool more = r->op == OP_MORE || r->op == OP_MORE_EQUAL;
    if (!more) return s->other_bound;
    return s->base_bound && r->against != AGAINST_NUMBER;
}

enum fail_result fail_rule_judge(const struct fail_rule *r, const struct fail_sample *s, const char **why)
{
    const char *ignored;
    struct interval i = interval_for(r, s);
    if (!why) why = &ignored;
    *why = "";
    if (!i.known) {
        *why = s->n < 2 ? "one replication gives no interval; ask for more with --replications"
                        : "no interval of the ratio can be given, since the base's own mean may be 0";
        return FAIL_UNDECIDED;
    }
    if (!beyond(r->op, &i, r->number)) return FAIL_NO;
    if (!may_tip(r, s)) return FAIL_YES;
    *why = "some jobs had not ended, so the values are lower bounds and the true ones might tip it";
    return FAIL_UNDECIDED;
}
