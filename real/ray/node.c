/* node.c - nodes of the Ray cluster that the script takes away and brings back, and those that go by themselves.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/units.h"
#include "real/ray/parts.h"

#define RAY_POD "pod/ray-shared-worker-"

/* ---- which node ---- */

/* The place, among nodes with GPUs, of node `number` of a group. */
static bool place_of(const struct scenario *s, const char *group, size_t n, unsigned long number, size_t *place)
{
    const struct cluster_spec *c = &s->cluster;
    *place = number;
    for (uint32_t g = 0; g < c->n_groups; g++) {
        if (!c->groups[g].gpus) continue;
        if (strlen(c->groups[g].name) == n && !strncmp(c->groups[g].name, group, n)) return number < c->groups[g].count;
        *place += c->groups[g].count;
    }
    return false;
}

static size_t count_nodes(const struct scenario *s)
{
    size_t n = 0;
    for (uint32_t g = 0; g < s->cluster.n_groups; g++)
        if (s->cluster.groups[g].gpus) n += s->cluster.groups[g].count;
    return n;
}

bool ray_node_target(const struct scenario *s, const struct script_action *a, size_t *node)
{
    const char *dash = strrchr(a->target, '-');
    char *end;
    if (!dash || !dash[1]) return false;
    unsigned long number = strtoul(dash + 1, &end, 10);
    if (*end) return false;
    if (a->action == DO_CONTAINER_EXIT && !strncmp(a->target, RAY_POD, strlen(RAY_POD))) {
        *node = number;
        return dash + 1 == a->target + strlen(RAY_POD) && number < count_nodes(s);
    }
    if ((a->action != DO_NODE_LOST && a->action != DO_NODE_BACK) || strncmp(a->target, "node/", 5)) return false;
    return place_of(s, a->target + 5, (size_t)(dash - a->target - 5), number, node);
}

/* ---- the script ---- */

static const char *word_of(const struct script_action *a)
{
    return a->action == DO_CONTAINER_EXIT ? "exit" : a->action == DO_NODE_LOST ? "lost" : "back";
}

static bool begin_command(struct ray_play *p, const char *word, const char *address, struct diag *d)
{
    const char *command = p->options->node_command;
    pid_t pid = fork();
    if (pid == 0) {
        execlp(command, command, word, address, (char *)NULL);
        _exit(127);
    }
    if (pid > 0) array_push(&p->commands, pid);
    else diag_error(d, command, 0, NULL, "cannot be run: %s", strerror(errno));
    return pid > 0;
}

static void stop_jobs_on(struct ray_play *p, uint32_t node)
{
    for (size_t i = 0; i < p->n_jobs; i++) ray_job_node_lost(p, &p->jobs[i], node);
}

/* `machine`: it is gone itself, and not only the Ray on it. */
static void lose(struct ray_play *p, size_t node, bool machine)
{
    if (machine && !p->places[node].machine) live_node(p->run, p->node_numbers[node], ACT_FAILED);
    p->places[node].gone = true;
    p->places[node].machine |= machine;
}

static void come_back(struct ray_play *p, size_t node)
{
    if (p->places[node].machine) live_node(p->run, p->node_numbers[node], ACT_FREE);
    p->places[node].gone = p->places[node].machine = false;
}

static bool act(struct ray_play *p, const struct script_action *a, size_t node, struct diag *d)
{
    const char *address = p->nodes.list.v[node].address;
    if (!begin_command(p, word_of(a), address, d)) return false;
    if (p->options->tell) fprintf(p->options->tell, "%10.3f s  %s %s\n", (double)live_now(p->run) / 1e9, address, word_of(a));
    live_note(p->run, &(struct record){.type = REC_FAULT, .job = NO_JOB, .subject = p->node_numbers[node], .code = (uint16_t)a->action,
                                       .a = a->value, .b = 1});
    if (a->action == DO_NODE_BACK) return true; /* the head says when it is */
    stop_jobs_on(p, p->node_numbers[node]);
    p->places[node].lost_ms = (p->begin_ns + live_now(p->run)) / NS_PER_MS;
    lose(p, node, a->action == DO_NODE_LOST);
    return true;
}

static bool reap(struct ray_play *p, int flags, struct diag *d)
{
    bool ok = true;
    size_t left = 0;
    for (size_t i = 0; i < p->commands.n; i++) {
        int status;
        pid_t pid = waitpid(p->commands.v[i], &status, flags);
        if (pid == 0 || (pid < 0 && errno == EINTR)) {
            p->commands.v[left++] = p->commands.v[i];
        } else if (pid > 0 && status) {
            diag_error(d, p->options->node_command, 0, NULL, "failed: %s %d", WIFEXITED(status) ? "exit" : "signal",
                       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
            ok = false;
        }
    }
    p->commands.n = left;
    return ok;
}

bool ray_nodes_act(struct ray_play *p, int64_t now_ns, struct diag *d)
{
    const struct fault_spec *f = &p->scenario->faults;
    bool ok = reap(p, WNOHANG, d);
    for (; ok && p->n_acted < f->n_script && f->script[p->n_acted].at_ns <= now_ns; p->n_acted++) {
        size_t node;
        if (!ray_node_target(p->scenario, &f->script[p->n_acted], &node)) continue;
        ok = ray_follow(p, d);
        live_at(p->run, now_ns);
        ok = ok && act(p, &f->script[p->n_acted], node, d);
    }
    return ok;
}

bool ray_nodes_end(struct ray_play *p, struct diag *d) { return reap(p, 0, d); }

/* ---- what the head says ---- */

/* Ray notices late that a node is gone: one that was there before it was lost is not there. */
static bool is_alive(const struct ray_nodes *alive, const char *address, int64_t lost_ms)
{
    for (size_t i = 0; i < alive->list.n; i++)
        if (!strcmp(alive->list.v[i].address, address) && (!lost_ms || alive->list.v[i].start_ms > lost_ms)) return true;
    return false;
}

bool ray_nodes_look(struct ray_play *p, int64_t now_ns, struct diag *d)
{
    struct ray_nodes alive;
    bool ok = ray_nodes_list(p->client, &alive, d);
    for (size_t i = 0; ok && i < p->nodes.list.n; i++) {
        bool there = is_alive(&alive, p->nodes.list.v[i].address, p->places[i].lost_ms);
        if (there != p->places[i].gone || !(ok = ray_follow(p, d))) continue;
        live_at(p->run, now_ns); /* else not: what comes late is dated back, and no further than what has been told */
        if (there) come_back(p, i);
        else lose(p, i, true);
    }
    array_free(&alive.list);
    return ok;
}
