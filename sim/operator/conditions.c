/* conditions.c - see conditions.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/operator/conditions.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "sim/kube/kube.h"

#define X_NAME(e, name, ...) name,
static const char *const reasons[N_CONDITION_NOTES] = {CONDITION_NOTES(X_NAME)};
#undef X_NAME
#define X_MESSAGE(e, reason, message) message,
static const char *const messages[N_CONDITION_NOTES] = {CONDITION_NOTES(X_MESSAGE)};
#undef X_MESSAGE

static const struct condition *find(const struct conditions *c, unsigned type)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (c->v[i].type == type) return &c->v[i];
    return NULL;
}

bool conditions_has(const struct conditions *c, enum condition_type type)
{
    const struct condition *f = find(c, type);
    return f && f->status;
}

static bool same_reason(const struct condition *a, const struct condition *b)
{
    return strcmp(reasons[a->note], reasons[b->note]) == 0;
}

/* True if setting `type` takes `old` off the list. */
static bool replaces(unsigned type, unsigned old)
{
    return type == old || (type == COND_RESTARTING && old == COND_RUNNING) ||
           (type == COND_RUNNING && old == COND_RESTARTING);
}

void conditions_set(struct conditions *c, struct condition set)
{
    const struct condition *old = find(c, set.type);
    if (conditions_has(c, COND_FAILED)) return;
    if (old && old->status == set.status && same_reason(old, &set)) return;
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        struct condition k = c->v[i];
        if (replaces(set.type, k.type)) continue;
        if ((set.type == COND_FAILED || set.type == COND_SUCCEEDED) && k.type == COND_RUNNING) k.status = false;
        c->v[n++] = k;
    }
    c->v[n++] = set;
    c->n = n;
}

void condition_reason(const struct condition *c, char *buf, size_t n)
{
    snprintf(buf, n, "PyTorchJob%s", reasons[c->note]);
}

void condition_message(const struct sim *s, const struct job *j, const struct condition *c, char *buf, size_t n)
{
    struct str out = {0};
    char number[24];
    const char *name = job_id(s->scenario, j->spec, number);
    for (const char *m = messages[c->note]; *m; m++) {
        if (*m != '%') str_append_char(&out, *m);
        else switch (*++m) {
            case '1': str_append(&out, name); break;
            case '2': str_printf(&out, "%u", c->count); break;
            case '3': str_append(&out, role_names[c->role]); break;
            default: str_printf(&out, "default/%s", name); break;
            }
    }
    snprintf(buf, n, "%s", out.s ? out.s : "");
    str_free(&out);
}

static bool equal(const struct condition *a, const struct condition *b)
{
    return a->status == b->status && a->note == b->note && a->count == b->count && a->role == b->role;
}

static void publish(struct sim *s, const struct job *j, const struct condition *c, bool removed)
{
    const struct kube_observer *o = kube_observer(s->kube);
    sim_record(s, REC_JOB_CONDITION, j, c->type, removed ? 2 : c->status, c->note, (int64_t)c->role << 32 | c->count);
    if (!o || !o->condition) return;
    char reason[64], message[256];
    condition_reason(c, reason, sizeof reason);
    condition_message(s, j, c, message, sizeof message);
    o->condition(o->ctx, s->kube, j, condition_type_names[c->type], removed ? "(removed)" : c->status ? "True" : "False",
                 removed ? "" : reason, removed ? "" : message);
}

void conditions_publish(struct sim *s, const struct job *j, const struct conditions *before, const struct conditions *now)
{
    for (uint32_t i = 0; i < now->n; i++) {
        const struct condition *old = find(before, now->v[i].type);
        if (!old || !equal(old, &now->v[i])) publish(s, j, &now->v[i], false);
    }
    for (uint32_t i = 0; i < before->n; i++)
        if (!find(now, before->v[i].type)) publish(s, j, &before->v[i], true);
}
