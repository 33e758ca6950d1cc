/* kueue_play_compare.c - the decisions of a play, and the recorded ones beside them; see kueue_play.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/kueue_play_parts.h"

#include <stdio.h>
#include <string.h>

#define TIE_S  0.5 /* Kueue sends admissions closer than this in any order */
#define EDGE_S 1.0 /* decisions this close to the end of the observation may be missing */

const char *const kueue_decision_names[] = {"QuotaReserved", "Evicted"};

/* ---- noting ---- */

static uint32_t count_of(const struct decisions *d, uint32_t job, enum decision_kind kind)
{
    uint32_t n = 0;
    for (size_t i = 0; i < d->n; i++) n += d->v[i].job == job && d->v[i].kind == kind;
    return n;
}

struct decision *decisions_note(struct decisions *d, double at_s, uint32_t job, enum decision_kind kind)
{
    struct decision x = {at_s, job, kind, count_of(d, job, kind), ""};
    array_push(d, x);
    return &array_last(d);
}

/* ---- comparing ---- */

static uint32_t job_id(const struct kueue_play *p, const char *name)
{
    for (uint32_t i = 0; i < p->jobs.n; i++)
        if (strcmp(p->jobs.v[i].name, name) == 0) return i;
    return KUEUE_NONE;
}

static void describe_recorded(const struct kueue_play *p, const cJSON *detail, char *out, size_t size)
{
    int n = snprintf(out, size, "%d", (int)number(detail, "count", 0));
    for (uint32_t r = 0; r < p->n_resources; r++) {
        const char *f = text(get(detail, "flavors"), p->resources[r]);
        if (f) n += snprintf(out + n, size - (size_t)n, " %s:%s", p->resources[r], f);
    }
}

/* The decisions of a play; the reason of an eviction is that of the Preempted beside it. */
static struct decisions recorded(const struct kueue_play *p, const cJSON *play)
{
    struct decisions d = {0};
    const cJSON *o;
    cJSON_ArrayForEach(o, get(play, "order"))
    {
        double at_s = cJSON_GetArrayItem(o, 0)->valuedouble;
        uint32_t job = job_id(p, cJSON_GetArrayItem(o, 1)->valuestring);
        const char *what = cJSON_GetArrayItem(o, 2)->valuestring;
        const cJSON *detail = cJSON_GetArrayItem(o, 3);
        if (strcmp(what, "QuotaReserved") == 0) {
            struct decision *x = decisions_note(&d, at_s, job, RESERVED);
            describe_recorded(p, detail, x->detail, sizeof x->detail);
        } else if (strcmp(what, "Evicted") == 0) {
            struct decision *x = decisions_note(&d, at_s, job, EVICTED);
            snprintf(x->detail, sizeof x->detail, "%s", text(detail, "reason") ? text(detail, "reason") : "");
        } else if (strcmp(what, "Preempted") == 0 && count_of(&d, job, EVICTED) > 0) {
            for (size_t i = d.n; i-- > 0;)
                if (d.v[i].job == job && d.v[i].kind == EVICTED) {
                    snprintf(d.v[i].detail, sizeof d.v[i].detail, "%s", text(detail, "reason"));
                    break;
                }
        }
    }
    return d;
}

static long place_of(const struct decisions *d, const struct decision *x)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->v[i].job == x->job && d->v[i].kind == x->kind && d->v[i].nth == x->nth) return (long)i;
    return -1;
}

static const char *job_name(const struct kueue_play *p, uint32_t job)
{
    return p->jobs.v[job].name;
}

static bool differ(const struct kueue_play *p, char why[1024], const char *what, const struct decision *a,
                   const struct decision *b)
{
    int n = snprintf(why, 1024, "%s: %s %s at %.2f s (%s)", what, job_name(p, a->job), kueue_decision_names[a->kind], a->at_s,
                     a->detail);
    if (b)
        snprintf(why + n, 1024 - (size_t)n, " and %s %s at %.2f s (%s)", job_name(p, b->job), kueue_decision_names[b->kind],
                 b->at_s, b->detail);
    return false;
}

static bool same_sets(const struct kueue_play *p, const struct decisions *theirs, double until_s, char why[1024])
{
    double edge = until_s - EDGE_S;
    for (size_t i = 0; i < theirs->n; i++) {
        const struct decision *t = &theirs->v[i];
        long at = place_of(&p->mine, t);
        if (t->at_s > edge) continue;
        if (at < 0) return differ(p, why, "recorded, not played", t, NULL);
        if (strcmp(p->mine.v[at].detail, t->detail) != 0) return differ(p, why, "differs", t, &p->mine.v[at]);
    }
    for (size_t i = 0; i < p->mine.n; i++)
        if (p->mine.v[i].at_s <= edge && place_of(theirs, &p->mine.v[i]) < 0)
            return differ(p, why, "played, not recorded", &p->mine.v[i], NULL);
    return true;
}

/* No pair that is in order in the recording may be swapped: those further apart than a tie, and admissions if exact. */
static bool same_order(const struct kueue_play *p, const struct decisions *theirs, double until_s, bool exact,
                       char why[1024])
{
    for (size_t i = 0; i < theirs->n; i++)
        for (size_t j = i + 1; j < theirs->n; j++) {
            const struct decision *a = &theirs->v[i], *b = &theirs->v[j];
            bool apart = b->at_s - a->at_s > TIE_S, admissions = exact && a->kind == RESERVED && b->kind == RESERVED;
            if (b->at_s > until_s - EDGE_S || (!apart && !admissions)) continue;
            long x = place_of(&p->mine, a), y = place_of(&p->mine, b);
            if (x >= 0 && y >= 0 && x > y) return differ(p, why, "swapped", a, b);
        }
    return true;
}

static bool same_as_play(const struct kueue_play *p, const cJSON *play, double until_s, bool exact, char why[1024])
{
    struct decisions theirs = recorded(p, play);
    bool same = same_sets(p, &theirs, until_s, why) && same_order(p, &theirs, until_s, exact, why);
    array_free(&theirs);
    return same;
}

bool kueue_play_compare(struct kueue_play *p, char why[1024])
{
    const cJSON *mark = get(p->file, "deterministic"), *play;
    double until_s = seconds(p->end_ns);
    if (mark && !cJSON_IsTrue(mark) && !cJSON_IsTrue(get(p->file, "deterministic_up_to_ties")))
        until_s = number(p->file, "agree_until_s", until_s) + EDGE_S;
    cJSON_ArrayForEach(play,
                       get(p->file, "plays")) if (same_as_play(p, play, until_s, cJSON_IsTrue(mark), why)) return true;
    return false;
}

void kueue_play_print(const struct kueue_play *p)
{
    for (size_t i = 0; i < p->mine.n; i++)
        printf("    %7.2f %-6s %-13s %s\n", p->mine.v[i].at_s, job_name(p, p->mine.v[i].job),
               kueue_decision_names[p->mine.v[i].kind], p->mine.v[i].detail);
}

static enum decision_kind kind_of(const char *name)
{
    return strcmp(name, kueue_decision_names[EVICTED]) == 0 ? EVICTED : RESERVED;
}

double kueue_play_when(const struct kueue_play *p, const char *job, const char *kind, int nth)
{
    struct decision x = {.job = job_id(p, job), .kind = kind_of(kind), .nth = (uint32_t)nth};
    long at = place_of(&p->mine, &x);
    return at < 0 ? -1 : p->mine.v[at].at_s;
}

int kueue_play_count(const struct kueue_play *p, const char *job, const char *kind)
{
    int n = 0;
    for (size_t i = 0; i < p->mine.n; i++)
        n += p->mine.v[i].kind == kind_of(kind) && (!job || strcmp(job_name(p, p->mine.v[i].job), job) == 0);
    return n;
}
