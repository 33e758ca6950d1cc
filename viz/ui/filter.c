/* filter.c - see filter.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/ui/filter.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"

/* ---- words ---- */

enum field_of { BY_JOB, BY_TEAM, BY_QUEUE, BY_KIND, BY_STATE, BY_NODE, BY_REASON, BY_GPUS, BY_WAIT, BY_JCT, BY_RESTARTS, BY_PREEMPTIONS,
                BY_PRIORITY, BY_SUBMIT, BY_START, BY_FINISH, BY_ANY, N_TEXTS = BY_GPUS };
enum unit_of { UNIT_TEXT, UNIT_COUNT, UNIT_GPUS, UNIT_TIME };

static const struct key {
    const char *name;
    enum unit_of unit;
} keys[] = {
    [BY_JOB] = {"job", UNIT_TEXT},           [BY_TEAM] = {"team", UNIT_TEXT},       [BY_QUEUE] = {"queue", UNIT_TEXT},
    [BY_KIND] = {"kind", UNIT_TEXT},         [BY_STATE] = {"state", UNIT_TEXT},     [BY_NODE] = {"node", UNIT_TEXT},
    [BY_REASON] = {"reason", UNIT_TEXT},     [BY_GPUS] = {"gpus", UNIT_GPUS},       [BY_WAIT] = {"wait", UNIT_TIME},
    [BY_JCT] = {"jct", UNIT_TIME},           [BY_RESTARTS] = {"restarts", UNIT_COUNT}, [BY_PREEMPTIONS] = {"preemptions", UNIT_COUNT},
    [BY_PRIORITY] = {"priority", UNIT_COUNT}, [BY_SUBMIT] = {"submit", UNIT_TIME},  [BY_START] = {"start", UNIT_TIME},
    [BY_FINISH] = {"finish", UNIT_TIME},
};
enum { N_KEYS = sizeof keys / sizeof *keys };

enum operator_of { OP_LESS = 1, OP_EQUAL = 2, OP_MORE = 4, OP_HAS = 8 }; /* <=: OP_LESS | OP_EQUAL */

struct word {
    enum field_of by;
    unsigned op;
    bool not;
    char *text;
    int64_t number; /* count, shares or ns */
};
struct filter {
    ARRAY(struct word) words;
};

void filter_free(struct filter *f)
{
    if (!f) return;
    for (size_t i = 0; i < f->words.n; i++) free(f->words.v[i].text);
    array_free(&f->words);
    free(f);
}

/* ---- reading ---- */

static void all_keys(struct str *s)
{
    for (unsigned i = 0; i < N_KEYS; i++) str_printf(s, "%s%s", i ? ", " : "", keys[i].name);
}

static char *unknown_key(const char *name)
{
    const char *names[N_KEYS];
    struct str s = {0};
    for (unsigned i = 0; i < N_KEYS; i++) names[i] = keys[i].name;
    const char *near = str_suggest(name, names, N_KEYS);
    str_printf(&s, "%s: unknown key; ", name);
    if (near) str_printf(&s, "did you mean %s?  ", near);
    str_append(&s, "allowed: ");
    all_keys(&s);
    return str_take(&s);
}

static char *complaint(const char *word, const char *what)
{
    struct str s = {0};
    str_printf(&s, "%s: %s", word, what);
    return str_take(&s);
}

static const char *read_number(enum unit_of unit, const char *text, int64_t *x)
{
    double count;
    if (unit == UNIT_TIME) return units_parse_duration(text, x);
    if (unit == UNIT_GPUS) return units_parse_quantity(text, x);
    const char *wrong = units_parse_double(text, &count);
    if (wrong) return wrong;
    if (count < -1e15 || count > 1e15) return "beyond all counts";
    *x = (int64_t)(count * MILLI_PER_UNIT); /* so that restarts>0.5 means what it says */
    return NULL;
}

static size_t operator_at(const char *text, unsigned *op)
{
    *op = *text == '<' ? OP_LESS : *text == '>' ? OP_MORE : *text == '=' ? OP_EQUAL : *text == ':' ? OP_HAS : 0;
    if ((*op == OP_LESS || *op == OP_MORE) && text[1] == '=') {
        *op |= OP_EQUAL;
        return 2;
    }
    return *op ? 1 : 0;
}

static int key_at(const char *word, size_t n)
{
    for (int i = 0; i < N_KEYS; i++)
        if (strlen(keys[i].name) == n && strncasecmp(keys[i].name, word, n) == 0) return i;
    return -1;
}

/* `word` without its minus; NULL or what is wrong, to free. */
static char *read_word(const char *word, struct word *w)
{
    size_t n = strcspn(word, ":=<>"), length;
    w->by = BY_ANY;
    w->text = xstrdup(word);
    if (*word == 0) return complaint("-", "a word is to follow, which jobs may not contain");
    if (word[n] == 0) return NULL;
    free(w->text);
    length = operator_at(word + n, &w->op);
    w->text = xstrdup(word + n + length);
    char *name = xstrndup(word, n);
    int key = key_at(word, n);
    char *err = key < 0 ? unknown_key(name) : NULL;
    free(name);
    if (err) return err;
    w->by = (enum field_of)key;
    if (!*w->text) return complaint(word, "a value is to follow");
    if (keys[key].unit == UNIT_TEXT) return w->op & (OP_LESS | OP_MORE) ? complaint(word, "compares no texts: use : (contains) or = (is)") : NULL;
    if (w->op == OP_HAS) return complaint(word, "a number is compared by < <= = >= >");
    const char *wrong = read_number(keys[key].unit, w->text, &w->number);
    return wrong ? complaint(word, wrong) : NULL;
}

struct filter *filter_parse(const char *text, char **err)
{
    struct filter *f = xcalloc(1, sizeof *f);
    for (;;) {
        text += strspn(text, " \t");
        size_t n = strcspn(text, " \t");
        if (n == 0) return f;
        char *word = xstrndup(text, n);
        struct word *w = array_add(&f->words);
        w->not = word[0] == '-';
        *err = read_word(word + w->not, w);
        free(word);
        if (*err) {
            filter_free(f);
            return NULL;
        }
        text += n;
    }
}

/* ---- jobs ---- */

/* Names of states and reasons are written with blanks or underscores alike. */
static bool same_letter(char a, char b)
{
    a = a == '_' || a == '-' ? ' ' : (char)tolower((unsigned char)a);
    b = b == '_' || b == '-' ? ' ' : (char)tolower((unsigned char)b);
    return a == b;
}

static bool starts(const char *text, const char *with)
{
    for (; *with; text++, with++)
        if (!*text || !same_letter(*text, *with)) return false;
    return true;
}

static bool text_holds(const struct word *w, const char *text)
{
    if (w->op == OP_EQUAL) return strlen(text) == strlen(w->text) && starts(text, w->text);
    for (; *text; text++)
        if (starts(text, w->text)) return true;
    return false;
}

static bool number_holds(const struct word *w, int64_t x)
{
    return x < w->number ? w->op & OP_LESS : x > w->number ? w->op & OP_MORE : w->op & OP_EQUAL;
}

static bool node_holds(const struct word *w, const struct scene *s, const struct scene_job *j)
{
    for (unsigned i = 0; j->row && i < j->row->n_nodes; i++)
        for (uint32_t n = j->row->nodes[i].first; n <= j->row->nodes[i].last && n < s->n_nodes; n++)
            if (text_holds(w, s->nodes[n].name)) return true;
    return false;
}

static bool event_holds(const struct word *w, const struct scene *s, const struct record *r)
{
    struct str text = {0};
    if (r->type == REC_JOB_WAIT) return r->code < N_WAIT_REASONS && text_holds(w, wait_table[r->code].name);
    if (r->type == REC_JOB_STOPPED) return r->code < N_STOP_REASONS && text_holds(w, stop_reason_names[r->code]);
    if (r->type != REC_FAULT && r->type != REC_JOB_EVICTED) return false;
    scene_event_text(s, r, &text);
    bool holds = text_holds(w, str_text(&text));
    str_free(&text);
    return holds;
}

static bool reason_holds(const struct word *w, const struct scene *s, const struct scene_job *j)
{
    for (unsigned i = 0; j->row && j->row->wait_ns && i < N_WAIT_REASONS; i++)
        if (j->row->wait_ns[i] > 0 && text_holds(w, wait_table[i].name)) return true;
    for (uint32_t i = 0; i < j->n_events; i++)
        if (event_holds(w, s, &s->events[s->by_job[j->first_event + i]])) return true;
    return false;
}

static bool text_word_holds(const struct word *w, const struct scene *s, const struct scene_job *j)
{
    switch (w->by) {
    case BY_JOB: return text_holds(w, j->id);
    case BY_TEAM: return text_holds(w, j->team);
    case BY_QUEUE: return text_holds(w, j->queue);
    case BY_KIND: return text_holds(w, j->kind);
    case BY_STATE: return text_holds(w, job_state_names[j->state]) || (j->preemptions && text_holds(w, "preempted"));
    case BY_NODE: return node_holds(w, s, j);
    case BY_REASON: return reason_holds(w, s, j);
    default: return text_holds(w, j->id) || text_holds(w, j->team) || text_holds(w, j->queue) || text_holds(w, j->kind);
    }
}

/* A moment that has not come is later than all; a job that has not started waits until now. */
static int64_t value_of(enum field_of by, const struct scene *s, const struct scene_job *j)
{
    int64_t started = j->started_ns >= 0 ? j->started_ns : j->finished_ns >= 0 ? j->finished_ns : s->end_ns;
    int64_t finished = j->finished_ns >= 0 ? j->finished_ns : INT64_MAX;
    switch (by) {
    case BY_GPUS: return j->gpu_shares;
    case BY_WAIT: return started - j->submit_ns;
    case BY_JCT: return (j->finished_ns >= 0 ? j->finished_ns : s->end_ns) - j->submit_ns;
    case BY_RESTARTS: return (int64_t)j->restarts * MILLI_PER_UNIT;
    case BY_PREEMPTIONS: return (int64_t)j->preemptions * MILLI_PER_UNIT;
    case BY_PRIORITY: return j->row ? (int64_t)j->row->priority * MILLI_PER_UNIT : 0;
    case BY_SUBMIT: return j->submit_ns;
    case BY_START: return j->started_ns >= 0 ? j->started_ns : INT64_MAX;
    default: return finished;
    }
}

bool filter_job(const struct filter *f, const struct scene *s, int32_t job)
{
    const struct scene_job *j = &s->jobs[job];
    for (size_t i = 0; i < f->words.n; i++) {
        const struct word *w = &f->words.v[i];
        bool holds = w->by < N_TEXTS || w->by == BY_ANY ? text_word_holds(w, s, j) : number_holds(w, value_of(w->by, s, j));
        if (holds == w->not) return false;
    }
    return true;
}
