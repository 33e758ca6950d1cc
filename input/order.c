/* order.c - ids of jobs, their order by submission, and what they wait for.
 *
 * Jobs are sorted by submission, equal times in the order of the file. The sort is skipped when they are in order, as
 * traces are.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "input/raw.h"

/* "17" is the number 17; "017" and "+17" are texts, since a number would not give them back. */
static bool is_plain_number(const char *id, uint64_t *number)
{
    size_t n = strlen(id);
    if (n == 0 || n > 18 || strspn(id, "0123456789") != n || (n > 1 && id[0] == '0')) return false;
    *number = strtoull(id, NULL, 10);
    return true;
}

bool job_set_id(struct build *b, struct job_spec *job, const char *id, const struct value *at)
{
    struct job_table *t = &b->jobs;
    if (hmap_get_str(&t->ids, id, NULL)) {
        value_error(b->diag, at, "there are two jobs \"%s\"", id);
        return false;
    }
    hmap_put_str(&t->ids, id, t->n);
    if (is_plain_number(id, &job->id)) return true;
    job->flags |= JOB_ID_TEXT;
    job->id = t->id_text.n;
    str_append_n(&t->id_text, id, strlen(id) + 1);
    return true;
}

/* ---- order ---- */

struct key { int64_t submit_ns; size_t place; };

static int by_submit(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->submit_ns != y->submit_ns) return x->submit_ns < y->submit_ns ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

static bool in_order(const struct job_table *t)
{
    for (size_t i = 1; i < t->n; i++)
        if (t->v[i].submit_ns < t->v[i - 1].submit_ns) return false;
    return true;
}

/* Gives for each place in the file the index by submission (NULL when they are the same). */
static uint32_t *sort_jobs(struct job_table *t)
{
    if (in_order(t)) return NULL;
    struct key *keys = xcalloc(t->n, sizeof *keys);
    uint32_t *index = xcalloc(t->n, sizeof *index);
    struct job_spec *sorted = xcalloc(t->n, sizeof *sorted);
    for (size_t i = 0; i < t->n; i++) keys[i] = (struct key){ t->v[i].submit_ns, i };
    qsort(keys, t->n, sizeof *keys, by_submit);
    for (size_t i = 0; i < t->n; i++) {
        sorted[i] = t->v[keys[i].place];
        index[keys[i].place] = (uint32_t)i;
    }
    free(keys);
    free(t->v);
    t->v = sorted;
    return index;
}

/* ---- dependencies ---- */

static void resolve_after(struct build *b, const struct after_ref *ref, const uint32_t *index)
{
    struct job_detail *d = &b->details.v[ref->detail];
    d->after = arena_array(b->arena, ref->raw->after.n, uint32_t);
    for (size_t i = 0; i < ref->raw->after.n; i++) {
        const char *id = LIST_AT(ref->raw->after, const char *, i);
        const struct value *list = place_of(ref->raw->at, "after"), *item = value_at(list, i);
        uint64_t place;
        if (hmap_get_str(&b->jobs.ids, id, &place)) {
            d->after[d->n_after++] = index ? index[place] : (uint32_t)place;
            continue;
        }
        const char *names[40];
        const struct hmap_entry *e;
        size_t n = 0;
        for (size_t k = 0; n < 40 && (e = hmap_next(&b->jobs.ids, &k)) != NULL;) names[n++] = e->str;
        name_error(b->diag, item ? item : list, "job", id, names, n);
    }
}

enum { UNSEEN, OPEN, DONE };
struct visit { uint32_t ref, next; };

/* Depth first over the classes, with an own stack: a chain may be long. */
static void find_cycle(struct build *b, const struct after_ref *refs, uint8_t *state, size_t first,
                       const uint32_t *ref_of_detail)
{
    ARRAY(struct visit) stack = { 0 };
    array_push(&stack, (struct visit){ (uint32_t)first, 0 });
    state[first] = OPEN;
    while (stack.n) {
        uint32_t ref = array_last(&stack).ref, next = array_last(&stack).next++;
        const struct job_detail *d = &b->details.v[refs[ref].detail];
        if (next >= d->n_after) {
            state[ref] = DONE;
            stack.n--;
            continue;
        }
        uint32_t to = ref_of_detail[b->jobs.v[d->after[next]].detail];
        if (to == UINT32_MAX || state[to] == DONE) continue;
        if (state[to] == OPEN) {
            value_error(b->diag, place_of(refs[to].raw->at, "after"), "jobs wait for each other in a circle");
            break;
        }
        state[to] = OPEN;
        array_push(&stack, (struct visit){ to, 0 });
    }
    array_free(&stack);
}

static void check_cycles(struct build *b, const struct after_ref *refs, size_t n)
{
    uint32_t *ref_of_detail = xcalloc(b->details.n, sizeof *ref_of_detail);
    uint8_t *state = xcalloc(n, sizeof *state);
    size_t errors = diag_errors(b->diag);
    memset(ref_of_detail, 0xff, b->details.n * sizeof *ref_of_detail);
    for (size_t i = 0; i < n; i++) ref_of_detail[refs[i].detail] = (uint32_t)i;
    for (size_t i = 0; i < n && diag_errors(b->diag) == errors; i++)
        if (state[i] == UNSEEN) find_cycle(b, refs, state, i, ref_of_detail);
    free(state);
    free(ref_of_detail);
}

void jobs_into_scenario(struct build *b, const struct after_ref *after, size_t n_after)
{
    struct scenario *s = b->s;
    uint32_t *index = sort_jobs(&b->jobs);
    size_t errors = diag_errors(b->diag);
    for (size_t i = 0; i < n_after; i++) resolve_after(b, &after[i], index);
    if (n_after && diag_errors(b->diag) == errors) check_cycles(b, after, n_after);
    free(index);
    s->jobs = b->jobs.v;
    s->n_jobs = b->jobs.n;
    s->id_text = str_take(&b->jobs.id_text);
    hmap_free(&b->jobs.ids);
    s->n_details = b->details.n;
    s->details = arena_array(b->arena, b->details.n, struct job_detail);
    if (b->details.n) memcpy(s->details, b->details.v, b->details.n * sizeof *s->details);
    array_free(&b->details);
}
