/* world.c - the table of kinds, and the readers of the two that are no plain variables.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/worker/world.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/lines.h"
#include "base/str.h"
#include "base/units.h"

struct reading {
    char *const *environment;
    struct arena *arena;
    struct world *world;
    struct diag *diag;
};

static const char *variable(const struct reading *r, const char *name)
{
    size_t n = name ? strlen(name) : 0;
    for (char *const *e = r->environment; name && *e; e++)
        if (!strncmp(*e, name, n) && (*e)[n] == '=') return *e + n + 1;
    return NULL;
}

/* The first of two names that is there: *name is it, else the first. */
static const char *one_of(const struct reading *r, const char *const names[2], const char **name)
{
    for (int i = 0; i < 2; i++) {
        const char *text = variable(r, names[i]);
        *name = names[text ? i : 0];
        if (text) return text;
    }
    return NULL;
}

static bool bad(const struct reading *r, const char *name, const char *text, const char *wrong)
{
    diag_error(r->diag, "environment", 0, name, "%s%s%s%s", text ? "\"" : "", text ? text : "is not set", text ? "\": " : "; ",
               wrong);
    return false;
}

static bool number(const struct reading *r, const char *name, const char *text, int least, int most, int *out)
{
    int64_t x;
    const char *wrong = text ? units_parse_int64(text, &x) : NULL;
    if (!text) return bad(r, name, NULL, "the other variables of this kind of job are");
    if (wrong) return bad(r, name, text, wrong);
    if (x < least || x > most)
        return bad(r, name, text, arena_printf(r->arena, "allowed are %d to %d", least, most));
    *out = (int)x;
    return true;
}

/* "host", "host:port" or "[v6]:port"; `port` stays what it was when the text names none. */
static bool endpoint(const struct reading *r, const char *name, const char *text)
{
    const char *colon = strrchr(text, ':');
    bool bracket = text[0] == '[';
    if (bracket && colon && colon[-1] != ']') colon = NULL;
    if (!bracket && colon && strchr(text, ':') != colon) colon = NULL; /* an IPv6 address without a port */
    size_t n = colon ? (size_t)(colon - text) : strlen(text);
    if (n == 0) return bad(r, name, text, "no host before the port");
    if (bracket && (n < 3 || text[n - 1] != ']')) return bad(r, name, text, "an address in [ ] ends with ]");
    r->world->master = bracket ? arena_strndup(r->arena, text + 1, n - 2) : arena_strndup(r->arena, text, n);
    return !colon || number(r, name, colon + 1, 1, 65535, &r->world->port);
}

static bool rank_below_size(const struct reading *r, const char *name)
{
    struct world *w = r->world;
    if (w->rank < w->size) return true;
    diag_error(r->diag, "environment", 0, name, "rank %d of %d: ranks go from 0 to %d", w->rank, w->size, w->size - 1);
    return false;
}

/* What most rows are: four variables, each of which may have a second name. */
struct plain {
    const char *rank[2], *size[2], *address[2], *port[2];
    bool rank_may_lack, address_may_lack;
};

static bool read_plain(const struct reading *r, const struct plain *p)
{
    struct world *w = r->world;
    const char *name, *text = one_of(r, p->size, &name);
    if (!number(r, name, text, 1, WORLD_SIZE_MAX, &w->size)) return false;
    w->min_size = w->size;
    text = one_of(r, p->rank, &name);
    if (!text && p->rank_may_lack) w->rank = w->size == 1 ? 0 : WORLD_ANY_RANK;
    else if (!number(r, name, text, 0, WORLD_SIZE_MAX - 1, &w->rank) || !rank_below_size(r, name)) return false;
    text = one_of(r, p->address, &name);
    if (!text && w->size > 1 && !p->address_may_lack) return bad(r, name, NULL, "the ranks do not know where to meet");
    if (text && !endpoint(r, name, text)) return false;
    text = one_of(r, p->port, &name);
    return !text || number(r, name, text, 1, 65535, &w->port);
}

/* ---- OpenMPI ---- */

static bool hostfile_first(const struct reading *r, const char *file)
{
    struct line_reader lines;
    char *line, *field[1];
    bool found = false;
    if (!line_open(&lines, file, r->diag)) return false;
    while (!found && line_next(&lines, &line)) {
        found = line_split_blanks(line, field, 1) > 0 && field[0][0] != '#';
        if (found) field[0][strcspn(field[0], ":")] = 0; /* "host:N" of Intel MPI and MPICH: slots, no port */
        if (found) r->world->master = arena_strdup(r->arena, field[0]);
    }
    if (!line_close(&lines)) return false;
    if (!found) diag_error(r->diag, file, 0, NULL, "names no host");
    return found;
}

static bool read_ompi(const struct reading *r)
{
    static const struct plain ompi = {
        {"OMPI_COMM_WORLD_RANK"}, {"OMPI_COMM_WORLD_SIZE"}, {"MASTER_ADDR"}, {"MASTER_PORT"}, false, true};
    if (!read_plain(r, &ompi)) return false;
    const char *address = variable(r, "MASTER_ADDR"), *file = variable(r, "OMPI_MCA_orte_default_hostfile");
    const char *local = variable(r, "OMPI_COMM_WORLD_LOCAL_SIZE"), *all = variable(r, "OMPI_COMM_WORLD_SIZE");
    if (address) return true;
    r->world->master = "127.0.0.1";
    if (r->world->size == 1 || (local && str_equal(local, all))) return true;
    if (!file) return bad(r, "MASTER_ADDR", NULL, "the ranks are on several hosts and no hostfile is named");
    return hostfile_first(r, file);
}

/* ---- TensorFlow ---- */

static int task_count(const cJSON *cluster, const char *type)
{
    const cJSON *list = json_member(cluster, type);
    return cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
}

static bool tf_world(const struct reading *r, struct json_doc *doc)
{
    static const char *const types[] = {"chief", "master", "worker", "ps", "evaluator"};
    const cJSON *cluster = json_get_object(doc, doc->root, "cluster"), *task = json_get_object(doc, doc->root, "task");
    int64_t index = 0;
    int type = task ? json_get_word(doc, task, "type", types, 5) : -1;
    if (!cluster || type < 0 || !json_get_int64(doc, task, "index", 0, WORLD_SIZE_MAX, &index)) {
        if (!diag_errors(r->diag)) json_error(doc, doc->root, "needs cluster, and task with type and index");
        return false;
    }
    if (type > 2) return json_error(doc, task, "a %s takes no part in an all-reduce", types[type]), false;
    const char *head = task_count(cluster, "chief") ? "chief" : task_count(cluster, "master") ? "master" : "worker";
    int heads = task_count(cluster, head), workers = task_count(cluster, "worker");
    const cJSON *list = json_member(cluster, head), *first = list ? list->child : NULL;
    struct world *w = r->world;
    if (index >= task_count(cluster, types[type])) return json_error(doc, task, "the cluster has no such %s", types[type]), false;
    if (!cJSON_IsString(first)) return json_error(doc, cluster, "the first %s is no host:port", head), false;
    w->size = w->min_size = head[0] == 'w' ? workers : heads + workers;
    w->rank = (int)index + (type == 2 && head[0] != 'w' ? heads : 0);
    return endpoint(r, "TF_CONFIG", first->valuestring);
}

static bool read_tf(const struct reading *r)
{
    const char *text = variable(r, "TF_CONFIG");
    struct json_doc *doc = json_parse("TF_CONFIG", text, strlen(text), r->diag);
    bool ok = doc && tf_world(r, doc) && !diag_errors(r->diag);
    if (doc) json_free(doc);
    return ok;
}

/* ---- torchrun ---- */

static bool nodes_of(const struct reading *r, int *least, int *most)
{
    const char *text = variable(r, "PET_NNODES"), *colon = text ? strchr(text, ':') : NULL;
    if (!colon) return number(r, "PET_NNODES", text, 1, WORLD_SIZE_MAX, most) && (*least = *most, true);
    if (!number(r, "PET_NNODES", arena_strndup(r->arena, text, (size_t)(colon - text)), 1, WORLD_SIZE_MAX, least)) return false;
    return number(r, "PET_NNODES", colon + 1, *least, WORLD_SIZE_MAX, most);
}

static bool is_a_word_for_one(const char *text)
{
    return !text || str_equal(text, "auto") || str_equal(text, "gpu") || str_equal(text, "cpu");
}

static bool meeting_place(const struct reading *r)
{
    const char *rdzv = variable(r, "PET_RDZV_ENDPOINT"), *address = variable(r, "PET_MASTER_ADDR");
    const char *port = variable(r, "PET_MASTER_PORT");
    if (rdzv && *rdzv) return endpoint(r, "PET_RDZV_ENDPOINT", rdzv);
    if (!address && r->world->size > 1) return bad(r, "PET_MASTER_ADDR", NULL, "the ranks do not know where to meet");
    if (address && !endpoint(r, "PET_MASTER_ADDR", address)) return false;
    return !port || number(r, "PET_MASTER_PORT", port, 1, 65535, &r->world->port);
}

static bool read_pet(const struct reading *r)
{
    struct world *w = r->world;
    int least, most, nproc = 1, node = 0, local = 0;
    const char *procs = variable(r, "PET_NPROC_PER_NODE"), *node_rank = variable(r, "PET_NODE_RANK");
    const char *local_rank = variable(r, "LOCAL_RANK"), *restarts = variable(r, "PET_MAX_RESTARTS");
    if (!nodes_of(r, &least, &most)) return false;
    if (!is_a_word_for_one(procs) && !number(r, "PET_NPROC_PER_NODE", procs, 1, WORLD_SIZE_MAX / most, &nproc)) return false;
    if (local_rank && !number(r, "LOCAL_RANK", local_rank, 0, nproc - 1, &local)) return false;
    w->size = most * nproc;
    w->min_size = least * nproc;
    if (least == most && node_rank) {
        if (!number(r, "PET_NODE_RANK", node_rank, 0, most - 1, &node)) return false;
        w->rank = node * nproc + local;
    } else {
        w->rank = w->size == 1 ? 0 : WORLD_ANY_RANK;
    }
    if (!local_rank) w->local_ranks = nproc;
    if (!local_rank && restarts && !number(r, "PET_MAX_RESTARTS", restarts, 0, INT32_MAX, &w->max_restarts)) return false;
    return meeting_place(r);
}

/* ---- the table ---- */

/* torchrun's variables also stand beside RANK in a PyTorchJob with a master: those say more, unless the job is elastic or has
 * several processes a pod: RANK is the pod's there, and WORLD_SIZE counts processes. */
static bool is_pet(const struct reading *r)
{
    const char *nodes = variable(r, "PET_NNODES"), *procs = variable(r, "PET_NPROC_PER_NODE");
    return nodes && (strchr(nodes, ':') || !variable(r, "RANK") || (!is_a_word_for_one(procs) && !str_equal(procs, "1")));
}

static bool is_ray(const struct reading *r)
{
    return variable(r, "RANK") && (variable(r, "RAY_ADDRESS") || variable(r, "RAY_JOB_ID"));
}

struct kind {
    const char *name, *marks[3];
    bool (*is)(const struct reading *);   /* instead of the marks */
    bool (*read)(const struct reading *); /* instead of the plain variables */
    struct plain plain;
};

#define NOT_PLAIN {{NULL}, {NULL}, {NULL}, {NULL}, false, false}
#define TORCH     {{"RANK"}, {"WORLD_SIZE"}, {"MASTER_ADDR"}, {"MASTER_PORT"}, false, false}

static const struct kind kinds[] = {
    {"OpenMPI", {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, NULL, read_ompi, NOT_PLAIN},
    {"TFJob", {"TF_CONFIG"}, NULL, read_tf, NOT_PLAIN},
    {"JAXJob", {"JAX_PROCESS_ID", "JAX_NUM_PROCESSES", "COORDINATOR_ADDRESS"}, NULL, NULL,
     {{"JAX_PROCESS_ID", "PROCESS_ID"}, {"JAX_NUM_PROCESSES", "NUM_PROCESSES"},
      {"JAX_COORDINATOR_ADDRESS", "COORDINATOR_ADDRESS"}, {"COORDINATOR_PORT"}, false, false}},
    {"XGBoost", {"DMLC_TASK_ID", "DMLC_NUM_WORKER"}, NULL, NULL,
     {{"DMLC_TASK_ID"}, {"DMLC_NUM_WORKER"}, {"DMLC_TRACKER_URI"}, {"DMLC_TRACKER_PORT"}, false, false}},
    {"PaddleJob", {"PADDLE_TRAINER_ID", "PADDLE_NNODES", "PADDLE_MASTER"}, NULL, NULL,
     {{"PADDLE_TRAINER_ID"}, {"PADDLE_TRAINERS_NUM", "PADDLE_NNODES"}, {"PADDLE_MASTER"}, {NULL}, true, false}},
    {"torchrun", {NULL}, is_pet, read_pet, NOT_PLAIN},
    {"Ray Train", {NULL}, is_ray, NULL, TORCH},
    {"PyTorchJob", {"RANK", "WORLD_SIZE", "MASTER_ADDR"}, NULL, NULL, TORCH},
};

static bool matches(const struct reading *r, const struct kind *k)
{
    if (k->is) return k->is(r);
    for (int i = 0; i < 3; i++)
        if (variable(r, k->marks[i])) return true;
    return false;
}

/* Which GPU it takes hangs on it, and no more: what is no number is passed over. */
static void read_local_rank(const struct reading *r)
{
    const char *name, *text = one_of(r, (const char *const[2]){"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"}, &name);
    int64_t x;
    if (text && !units_parse_int64(text, &x) && x >= 0 && x < WORLD_SIZE_MAX) r->world->local_rank = (int)x;
}

bool world_read(char *const environment[], struct arena *arena, struct world *w, struct diag *d)
{
    struct reading r = {environment, arena, w, d};
    *w = (struct world){"none", 0, 1, 1, "127.0.0.1", WORLD_PORT, 1, 0, 0};
    read_local_rank(&r);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (matches(&r, &kinds[i])) {
            w->kind = kinds[i].name;
            return kinds[i].read ? kinds[i].read(&r) : read_plain(&r, &kinds[i].plain);
        }
    return true;
}

struct world world_of_local_rank(const struct world *w, int local_rank)
{
    struct world one = *w;
    one.local_ranks = 1;
    one.local_rank = local_rank;
    if (one.rank != WORLD_ANY_RANK) one.rank += local_rank;
    return one;
}
