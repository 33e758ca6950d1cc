/* side.c - see side.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/side.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void copy(char *to, size_t n, const char *from) { snprintf(to, n, "%s", from ? from : ""); }

static const char *text_of(const cJSON *o, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
    return cJSON_IsString(v) ? v->valuestring : NULL;
}

static const cJSON *get(const cJSON *o, const char *key) { return cJSON_GetObjectItemCaseSensitive(o, key); }

/* ---- the recorded side ---- */

/* Messages carry the recording's namespace, ours the default one. */
static void neutral_message(char *to, size_t n, const char *message, const char *job)
{
    char slash[80];
    snprintf(slash, sizeof slash, "/%s", job);
    copy(to, n, message);
    char *at = strstr(to, slash), *from = at;
    if (!at) return;
    while (from > to && from[-1] != ' ') from--;
    memmove(from, at, strlen(at) + 1);
}

void side_read_object(struct side *side, const cJSON *object, const char *job)
{
    const cJSON *c;
    cJSON_ArrayForEach(c, get(object, "conditions"))
    {
        struct seen_condition *s = array_add(&side->conditions);
        s->t = get(c, "t")->valuedouble;
        copy(s->type, sizeof s->type, text_of(c, "type"));
        copy(s->status, sizeof s->status, text_of(c, "status"));
        copy(s->reason, sizeof s->reason, text_of(c, "reason"));
        neutral_message(s->message, sizeof s->message, text_of(c, "message") ? text_of(c, "message") : "", job);
    }
}

static int phase_of(const char *s)
{
    static const char *const names[] = {"Pending", "Running", "Succeeded", "Failed"};
    for (int i = 0; i < 4; i++)
        if (s && strcmp(s, names[i]) == 0) return i;
    return -1;
}

void side_read_pods(struct side *side, const cJSON *pods, const char *prefix)
{
    const cJSON *pod, *step;
    cJSON_ArrayForEach(pod, pods)
    {
        if (strncmp(text_of(pod, "name"), prefix, strlen(prefix)) != 0) continue;
        struct seen_pod *s = array_add(&side->pods);
        copy(s->name, sizeof s->name, text_of(pod, "name"));
        s->created = get(pod, "created")->valuedouble;
        s->deleted = cJSON_IsNumber(get(pod, "deleted")) ? get(pod, "deleted")->valuedouble : -1;
        s->exit = -1;
        cJSON_ArrayForEach(step, get(pod, "track"))
        {
            const cJSON *state = cJSON_GetArrayItem(step, 1);
            s->phase = phase_of(text_of(state, "phase"));
            const cJSON *restarts = get(state, "restarts"), *code = get(state, "exit");
            if (cJSON_IsNumber(restarts)) s->restarts = restarts->valueint;
            if (cJSON_IsArray(restarts)) s->restarts = cJSON_GetArrayItem(restarts, 0)->valueint;
            if (cJSON_IsArray(code)) s->exit = cJSON_GetArrayItem(code, 0)->valueint;
            s->terminating = cJSON_IsTrue(get(state, "terminating"));
        }
    }
}

static struct seen_service *service_named(struct side *s, const char *name)
{
    for (size_t i = 0; i < s->services.n; i++)
        if (strcmp(s->services.v[i].name, name) == 0) return &s->services.v[i];
    struct seen_service *n = array_add(&s->services);
    copy(n->name, sizeof n->name, name);
    return n;
}

void side_read_services(struct side *side, const cJSON *other, const char *prefix)
{
    const cJSON *o, *change;
    cJSON_ArrayForEach(o, other)
    {
        if (strncmp(o->string, "Service/", 8) != 0 || strncmp(o->string + 8, prefix, strlen(prefix)) != 0) continue;
        struct seen_service *s = service_named(side, o->string + 8);
        cJSON_ArrayForEach(change, o)
        {
            bool added = strcmp(cJSON_GetArrayItem(change, 1)->valuestring, "ADDED") == 0;
            *(added ? &s->added : &s->deleted) += 1;
        }
    }
}

/* ---- the simulated side ---- */

static double seconds(const struct side_watch *w, struct kube *k) { return (double)sim_now(kube_sim(k)) / 1e9 - w->offset_s; }

static struct side_watch *watch_of(struct side_watch *w, const struct job *j)
{
    while (w && w->job != j->index) w = w->next;
    return w;
}

static struct seen_pod *seen_pod(struct side *s, const char *name)
{
    for (size_t i = s->pods.n; i-- > 0;)
        if (strcmp(s->pods.v[i].name, name) == 0) return &s->pods.v[i];
    return NULL;
}

void side_see_pod(struct side_watch *w, struct kube *k, const struct pod *pod)
{
    char name[64];
    kube_pod_name(k, pod, name, sizeof name);
    struct seen_pod *s = seen_pod(w->side, name);
    s->phase = pod->phase;
    s->restarts = (int)pod->restarts;
    s->exit = pod->phase >= POD_SUCCEEDED && !pod->evicted ? pod->exit_code : -1;
    s->terminating = pod->terminating;
    if (pod->gone) s->deleted = seconds(w, k);
}

static void on_pod(void *ctx, struct kube *k, const struct pod *pod, enum pod_change what)
{
    struct side_watch *w = watch_of(ctx, pod->spec.job);
    if (!w) return;
    if (what == POD_CREATED) {
        struct seen_pod *s = array_add(&w->side->pods);
        kube_pod_name(k, pod, s->name, sizeof s->name);
        s->created = seconds(w, k);
        s->deleted = s->exit = -1;
        if (w->created) w->created((struct pod *)pod);
    }
    side_see_pod(w, k, pod);
}

static void on_condition(void *ctx, struct kube *k, const struct job *j, const char *type, const char *status,
                         const char *reason, const char *message)
{
    struct side_watch *w = watch_of(ctx, j);
    char number[24];
    if (!w) return;
    struct seen_condition *s = array_add(&w->side->conditions);
    s->t = seconds(w, k);
    copy(s->type, sizeof s->type, type);
    copy(s->status, sizeof s->status, status);
    copy(s->reason, sizeof s->reason, reason);
    neutral_message(s->message, sizeof s->message, message ? message : "",
                    job_id(kube_sim(k)->scenario, j->spec, number));
}

static void on_object(void *ctx, struct kube *k, const struct job *j, const char *kind, const char *name, bool added)
{
    struct side_watch *w = watch_of(ctx, j);
    (void)k;
    (void)kind;
    if (!w) return;
    struct seen_service *s = service_named(w->side, name);
    *(added ? &s->added : &s->deleted) += 1;
}

struct kube_observer side_observer(struct side_watch *first)
{
    return (struct kube_observer){.pod = on_pod, .condition = on_condition, .object = on_object, .keep_objects = true,
                                  .ctx = first};
}

/* ---- comparison ---- */

static bool differ(char why[1024], const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(why, 1024, fmt, args);
    va_end(args);
    return false;
}

/* A time during which Restarting was shown, and as what it began. */
struct incident { const struct seen_condition *first; double from, to; bool worker; };

struct split { ARRAY(struct incident) incidents; ARRAY(const struct seen_condition *) rest; };

/* Takes Restarting, and the Running that it replaces and that replaces it, out of the list. */
static struct split split_conditions(const struct side *s)
{
    struct split out = {0};
    bool restarting = false;
    for (size_t i = 0; i < s->conditions.n; i++) {
        const struct seen_condition *c = &s->conditions.v[i];
        bool removed = strcmp(c->status, "(removed)") == 0;
        if (!strcmp(c->type, "Restarting")) {
            if (!removed && !restarting)
                array_push(&out.incidents, (struct incident){c, c->t, 1e9, strstr(c->message, "Worker") != NULL});
            if (removed) out.incidents.v[out.incidents.n - 1].to = c->t;
            restarting = !removed;
            continue;
        }
        if (!strcmp(c->type, "Running") && removed) continue;
        bool back = !strcmp(c->type, "Running") && !strcmp(c->status, "True") && i + 1 < s->conditions.n &&
                    !strcmp(s->conditions.v[i + 1].type, "Restarting") && s->conditions.v[i + 1].status[0] == '(';
        if (!back) array_push(&out.rest, c);
    }
    return out;
}

static void split_free(struct split *s)
{
    array_free(&s->incidents);
    array_free(&s->rest);
}

static bool same_message(const char *a, const char *b, bool any_count)
{
    while (*a && *b) {
        bool digits = any_count && isdigit((unsigned char)*a) && isdigit((unsigned char)*b);
        if (*a != *b && !digits) return false;
        a++;
        b++;
    }
    return *a == *b;
}

/* One is the other: at the same time, and told with the same words. */
static bool same_incident(const struct incident *a, const struct incident *b, const struct side_rules *rules)
{
    return a->from <= b->to + rules->slack_s && b->from <= a->to + rules->slack_s && !strcmp(a->first->reason, b->first->reason) &&
           same_message(a->first->message, b->first->message, rules->any_count);
}

static bool incidents_agree(const struct split *r, const struct split *o, const struct side_rules *rules, char why[1024])
{
    for (size_t i = 0; i < r->incidents.n; i++) {
        bool found = false;
        for (size_t k = 0; k < o->incidents.n; k++) found |= same_incident(&r->incidents.v[i], &o->incidents.v[k], rules);
        if (!found) return differ(why, "recorded Restarting at %.2f s (%s: %s), ours not", r->incidents.v[i].from,
                                  r->incidents.v[i].first->reason, r->incidents.v[i].first->message);
    }
    for (size_t k = 0; k < o->incidents.n; k++) {
        bool found = false;
        for (size_t i = 0; i < r->incidents.n; i++) found |= same_incident(&r->incidents.v[i], &o->incidents.v[k], rules);
        if (!found && !(rules->has_master && o->incidents.v[k].worker))
            return differ(why, "our Restarting at %.2f s is not recorded", o->incidents.v[k].from);
    }
    return true;
}

static bool rest_agrees(const struct split *r, const struct split *o, const struct side_rules *rules, char why[1024])
{
    for (size_t i = 0; i < r->rest.n || i < o->rest.n; i++) {
        const struct seen_condition *a = i < r->rest.n ? r->rest.v[i] : NULL, *b = i < o->rest.n ? o->rest.v[i] : NULL;
        if (a && b && !strcmp(a->type, b->type) && !strcmp(a->status, b->status) && !strcmp(a->reason, b->reason) &&
            same_message(a->message, b->message, rules->any_count))
            continue;
        return differ(why, "condition %zu: recorded %s %s %s (%s), ours %s %s %s (%s)", i, a ? a->type : "none",
                      a ? a->status : "", a ? a->reason : "", a ? a->message : "", b ? b->type : "none",
                      b ? b->status : "", b ? b->reason : "", b ? b->message : "");
    }
    return true;
}

static bool conditions_agree(const struct side *recorded, const struct side *ours, const struct side_rules *rules,
                             char why[1024])
{
    struct split r = split_conditions(recorded), o = split_conditions(ours);
    bool same = rest_agrees(&r, &o, rules, why) && incidents_agree(&r, &o, rules, why);
    split_free(&r);
    split_free(&o);
    return same;
}

static const struct seen_pod *nth(const struct side *s, const char *name, size_t n)
{
    for (size_t i = 0; i < s->pods.n; i++)
        if (strcmp(s->pods.v[i].name, name) == 0 && n-- == 0) return &s->pods.v[i];
    return NULL;
}

static bool pod_agrees(const struct seen_pod *a, const struct seen_pod *b, const struct side_rules *rules, char why[1024])
{
    double slack = rules->slack_s;
    if ((a->deleted >= 0) != (b->deleted >= 0))
        return differ(why, "%s: recorded %s, ours %s", a->name, a->deleted >= 0 ? "deleted" : "left",
                      b->deleted >= 0 ? "deleted" : "left");
    if (fabs(a->created - b->created) > slack && a->created > 4) /* bring-up on a loaded host is no matter of semantics */
        return differ(why, "%s: created at %.2f s, ours %.2f s", a->name, a->created, b->created);
    if (a->deleted >= 0 && fabs(a->deleted - b->deleted) > slack)
        return differ(why, "%s: deleted at %.2f s, ours %.2f s", a->name, a->deleted, b->deleted);
    if (rules->gone_unseen && a->deleted >= 0) return true;
    if (a->phase != b->phase || a->restarts != b->restarts || a->exit != b->exit || a->terminating != b->terminating)
        return differ(why, "%s: last phase %d, restarts %d, exit %d, terminating %d; ours %d, %d, %d, %d", a->name, a->phase,
                      a->restarts, a->exit, a->terminating, b->phase, b->restarts, b->exit, b->terminating);
    return true;
}

/* Each instance of each name; and within a replica type the order of creation. */
static bool pods_agree(const struct side *recorded, const struct side *ours, const struct side_rules *rules, char why[1024])
{
    if (recorded->pods.n != ours->pods.n)
        return differ(why, "recorded %zu pods, ours %zu", recorded->pods.n, ours->pods.n);
    for (size_t i = 0; i < recorded->pods.n; i++) {
        const struct seen_pod *a = &recorded->pods.v[i];
        size_t n = 0;
        for (size_t k = 0; k < i; k++) n += !strcmp(recorded->pods.v[k].name, a->name);
        const struct seen_pod *b = nth(ours, a->name, n);
        if (!b) return differ(why, "instance %zu of %s is missing", n, a->name);
        if (!pod_agrees(a, b, rules, why)) return false;
    }
    return true;
}

static bool services_agree(struct side *recorded, struct side *ours, char why[1024])
{
    if (recorded->services.n != ours->services.n)
        return differ(why, "recorded %zu services, ours %zu", recorded->services.n, ours->services.n);
    for (size_t i = 0; i < recorded->services.n; i++) {
        const struct seen_service *a = &recorded->services.v[i];
        const struct seen_service *b = service_named(ours, a->name);
        if (a->added != b->added || a->deleted != b->deleted)
            return differ(why, "Service %s: added %d, deleted %d; ours %d, %d", a->name, a->added, a->deleted, b->added,
                          b->deleted);
    }
    return true;
}

bool sides_agree(struct side *recorded, struct side *ours, const struct side_rules *rules, char why[1024])
{
    return conditions_agree(recorded, ours, rules, why) && pods_agree(recorded, ours, rules, why) &&
           services_agree(recorded, ours, why);
}

void side_print(const char *title, const struct side *s)
{
    printf("  %s\n", title);
    for (size_t i = 0; i < s->conditions.n; i++) {
        const struct seen_condition *c = &s->conditions.v[i];
        printf("    %8.2f  %-10s %-9s %-24s %s\n", c->t, c->type, c->status, c->reason, c->message);
    }
    for (size_t i = 0; i < s->pods.n; i++) {
        const struct seen_pod *d = &s->pods.v[i];
        printf("    %8.2f  %-14s deleted %6.2f phase %d restarts %d exit %d terminating %d\n", d->created, d->name,
               d->deleted, d->phase, d->restarts, d->exit, d->terminating);
    }
}

void side_free(struct side *s)
{
    array_free(&s->conditions);
    array_free(&s->pods);
    array_free(&s->services);
}
