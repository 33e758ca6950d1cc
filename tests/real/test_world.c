/* test_world.c - each kind's environment as the real controllers injected it, and half-given ones.
 *
 * The environments are those recorded on a live control plane (training operator 1.9.3, Trainer 2.2.0); OpenMPI's as
 * OpenMPI 4.1.4 sets them; torchrun's and Ray Train's as their documentation names them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "real/worker/world.h"

#define TF_CLUSTER                                                                                                     \
    "TF_CONFIG={\"cluster\":{\"chief\":[\"tf-chief-0.ns.svc:2222\"],\"ps\":[\"tf-ps-0.ns.svc:2222\"],"                    \
    "\"worker\":[\"tf-worker-0.ns.svc:2222\",\"tf-worker-1.ns.svc:2222\"]},"

static const struct {
    const char *environment[8], *kind;
    int rank, size, min_size;
    const char *master;
    int port;
} good[] = {
    {{NULL}, "none", 0, 1, 1, "127.0.0.1", WORLD_PORT},
    {{"MASTER_PORT=23456", "PET_MASTER_PORT=23456", "MASTER_ADDR=pt-master-0", "WORLD_SIZE=3", "RANK=2", "PET_NODE_RANK=2",
      "PET_NNODES=3"}, "PyTorchJob", 2, 3, 3, "pt-master-0", 23456},
    {{"PET_RDZV_ENDPOINT=pt-worker-0:23456", "PET_RDZV_BACKEND=c10d", "PET_NNODES=1:4", "PET_MAX_RESTARTS=3",
      "PET_NPROC_PER_NODE=8"}, "torchrun", WORLD_ANY_RANK, 32, 8, "pt-worker-0", 23456},
    {{"PET_RDZV_ENDPOINT=pt-worker-0:23456", "PET_NNODES=1:3", "PET_NPROC_PER_NODE=auto", "RANK=1", "WORLD_SIZE=3",
      "MASTER_ADDR=pt-master-0"}, "torchrun", WORLD_ANY_RANK, 3, 1, "pt-worker-0", 23456},
    {{"PET_NNODES=2", "PET_NPROC_PER_NODE=4", "PET_NODE_RANK=1", "PET_MASTER_ADDR=tj-node-0-0.tj", "PET_MASTER_PORT=29500",
      "LOCAL_RANK=3"}, "torchrun", 7, 8, 8, "tj-node-0-0.tj", 29500},
    {{"PET_NNODES=2", "PET_NPROC_PER_NODE=auto", "PET_NODE_RANK=1", "PET_MASTER_ADDR=tj-node-0-0.tj", "PET_MASTER_PORT=29500"},
     "torchrun", 1, 2, 2, "tj-node-0-0.tj", 29500},
    {{TF_CLUSTER "\"task\":{\"type\":\"chief\",\"index\":0},\"environment\":\"cloud\"}"}, "TFJob", 0, 3, 3,
     "tf-chief-0.ns.svc", 2222},
    {{TF_CLUSTER "\"task\":{\"type\":\"worker\",\"index\":1},\"environment\":\"cloud\"}"}, "TFJob", 2, 3, 3,
     "tf-chief-0.ns.svc", 2222},
    {{"TF_CONFIG={\"cluster\":{\"worker\":[\"tf-worker-0.ns.svc:2222\",\"tf-worker-1.ns.svc:2222\"]},"
      "\"task\":{\"type\":\"worker\",\"index\":1}}"}, "TFJob", 1, 2, 2, "tf-worker-0.ns.svc", 2222},
    {{"COORDINATOR_PORT=6666", "COORDINATOR_ADDRESS=jx-worker-0", "NUM_PROCESSES=3", "PROCESS_ID=1"}, "JAXJob", 1, 3, 3,
     "jx-worker-0", 6666},
    {{"JAX_NUM_PROCESSES=2", "JAX_PROCESS_ID=1", "JAX_COORDINATOR_ADDRESS=tj-node-0-0.tj:29500"}, "JAXJob", 1, 2, 2,
     "tj-node-0-0.tj", 29500},
    {{"PADDLE_JOB_ID=pd", "PADDLE_NNODES=2", "PADDLE_MASTER=pd-worker-0:36543"}, "PaddleJob", WORLD_ANY_RANK, 2, 2,
     "pd-worker-0", 36543},
    {{"PADDLE_TRAINER_ID=1", "PADDLE_TRAINERS_NUM=4", "PADDLE_NNODES=2", "PADDLE_MASTER=pd-worker-0:36543"}, "PaddleJob", 1, 4,
     4, "pd-worker-0", 36543},
    {{"DMLC_TRACKER_URI=tj-node-0-0.tj", "DMLC_TRACKER_PORT=29500", "DMLC_TASK_ID=1", "DMLC_NUM_WORKER=16"}, "XGBoost", 1, 16,
     16, "tj-node-0-0.tj", 29500},
    {{"MASTER_PORT=9999", "MASTER_ADDR=xg-master-0", "WORLD_SIZE=3", "RANK=1", "WORKER_PORT=9999"}, "PyTorchJob", 1, 3, 3,
     "xg-master-0", 9999},
    {{"RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=10.0.0.7", "MASTER_PORT=41000", "RAY_JOB_ID=01000000"}, "Ray Train", 0, 2, 2,
     "10.0.0.7", 41000},
    {{"OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_LOCAL_SIZE=4"}, "OpenMPI", 3, 4, 4, "127.0.0.1",
     WORLD_PORT},
    {{"OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_LOCAL_SIZE=2", "MASTER_ADDR=h0", "MASTER_PORT=77"},
     "OpenMPI", 3, 4, 4, "h0", 77},
    {{"RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=[fd00::7]:99"}, "PyTorchJob", 0, 2, 2, "fd00::7", 99},
    {{"RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=fd00::7", "MASTER_PORT=98"}, "PyTorchJob", 0, 2, 2, "fd00::7", 98},
};

static const struct {
    const char *environment[8], *pointer, *text;
} wrong[] = {
    {{"RANK=1"}, "WORLD_SIZE", "is not set"},
    {{"RANK=3", "WORLD_SIZE=3", "MASTER_ADDR=a"}, "RANK", "ranks go from 0 to 2"},
    {{"RANK=-1", "WORLD_SIZE=3", "MASTER_ADDR=a"}, "RANK", "allowed are 0 to"},
    {{"RANK=1", "WORLD_SIZE=three", "MASTER_ADDR=a"}, "WORLD_SIZE", "\"three\""},
    {{"RANK=1", "WORLD_SIZE=3"}, "MASTER_ADDR", "do not know where to meet"},
    {{"RANK=1", "WORLD_SIZE=3", "MASTER_ADDR=:7"}, "MASTER_ADDR", "no host"},
    {{"RANK=1", "WORLD_SIZE=3", "MASTER_ADDR=a", "MASTER_PORT=70000"}, "MASTER_PORT", "allowed are 1 to 65535"},
    {{"PET_NNODES=2", "PET_NPROC_PER_NODE=8", "PET_NODE_RANK=0", "PET_MASTER_ADDR=a", "LOCAL_RANK=8"}, "LOCAL_RANK", "allowed are 0 to 7"},
    {{"PET_NNODES=2", "PET_NODE_RANK=0", "PET_MASTER_ADDR=a", "PET_MAX_RESTARTS=-1"}, "PET_MAX_RESTARTS", "allowed are 0 to"},
    {{"PET_NNODES=4:2", "PET_RDZV_ENDPOINT=a:1"}, "PET_NNODES", "allowed are 4 to"},
    {{"PET_NNODES=2", "PET_NPROC_PER_NODE=auto"}, "PET_MASTER_ADDR", "do not know where to meet"},
    {{TF_CLUSTER "\"task\":{\"type\":\"ps\",\"index\":0}}"}, "/task", "takes no part"},
    {{TF_CLUSTER "\"task\":{\"type\":\"worker\",\"index\":2}}"}, "/task", "no such worker"},
    {{TF_CLUSTER "\"task\":{\"type\":\"worker\"}}"}, NULL, "needs cluster"},
    {{"TF_CONFIG={"}, NULL, ""},
    {{"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_LOCAL_SIZE=2"}, "MASTER_ADDR", "no hostfile"},
    {{"JAX_PROCESS_ID=0"}, "JAX_NUM_PROCESSES", "is not set"},
};

static char **with_end(const char *const from[8], char *to[9])
{
    memcpy(to, from, 8 * sizeof *to);
    to[8] = NULL;
    return to;
}

static void kinds_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct arena a = {0};
        struct diag d = {0};
        struct world w;
        char *environment[9];
        bool ok = world_read(with_end(good[i].environment, environment), &a, &w, &d);
        diag_print(&d, stderr);
        if (!ok) fail_msg("row %zu is not read", i);
        assert_string_equal(w.kind, good[i].kind);
        assert_int_equal(w.rank, good[i].rank);
        assert_int_equal(w.size, good[i].size);
        assert_int_equal(w.min_size, good[i].min_size);
        assert_string_equal(w.master, good[i].master);
        assert_int_equal(w.port, good[i].port);
        arena_free(&a);
        diag_free(&d);
    }
}

static void half_given_ones_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct arena a = {0};
        struct diag d = {0};
        struct world w;
        char *environment[9];
        if (world_read(with_end(wrong[i].environment, environment), &a, &w, &d)) fail_msg("row %zu is taken", i);
        if (diag_errors(&d) < 1) fail_msg("row %zu: no error", i);
        const struct diag_entry *e = &d.entries.v[0];
        if (wrong[i].pointer && strcmp(e->pointer, wrong[i].pointer) != 0) fail_msg("row %zu: at %s", i, e->pointer);
        if (!strstr(e->text, wrong[i].text)) fail_msg("row %zu: %s", i, e->text);
        arena_free(&a);
        diag_free(&d);
    }
}

/* Without LOCAL_RANK the process stands for all ranks of its node, as torchrun does in a pod; with it, it is one of them. A
 * PyTorchJob with a master and several processes a pod: WORLD_SIZE counts processes, RANK pods (training operator 1.9.3). */
static void a_node_of_several_ranks_is_started_by_one(void **state)
{
    (void)state;
    static const struct {
        const char *environment[8];
        int rank, size, local_ranks, max_restarts, rank_of_third;
    } rows[] = {
        {{"PET_NNODES=2", "PET_NPROC_PER_NODE=4", "PET_NODE_RANK=1", "PET_MASTER_ADDR=a"}, 4, 8, 4, 0, 6},
        {{"PET_NNODES=2", "PET_NPROC_PER_NODE=4", "PET_NODE_RANK=1", "PET_MASTER_ADDR=a", "LOCAL_RANK=2", "PET_MAX_RESTARTS=3"},
         6, 8, 1, 0, 8},
        {{"PET_NNODES=1:2", "PET_NPROC_PER_NODE=4", "PET_RDZV_ENDPOINT=a:1", "PET_MAX_RESTARTS=3"}, WORLD_ANY_RANK, 8, 4, 3,
         WORLD_ANY_RANK},
        {{"RANK=1", "WORLD_SIZE=8", "MASTER_ADDR=m", "PET_NNODES=2", "PET_NPROC_PER_NODE=4", "PET_NODE_RANK=1",
          "PET_MASTER_ADDR=m"}, 4, 8, 4, 0, 6},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        struct diag d = {0};
        struct world w;
        char *environment[9];
        assert_true(world_read(with_end(rows[i].environment, environment), &a, &w, &d));
        struct world third = world_of_local_rank(&w, 2);
        assert_int_equal(w.rank, rows[i].rank);
        assert_int_equal(w.size, rows[i].size);
        assert_int_equal(w.local_ranks, rows[i].local_ranks);
        assert_int_equal(w.max_restarts, rows[i].max_restarts);
        assert_int_equal(third.rank, rows[i].rank_of_third);
        assert_int_equal(third.local_ranks, 1);
        arena_free(&a);
    }
}

/* The hostfiles of MPIJob: v2beta1's for OpenMPI, and "host:slots" for Intel MPI and MPICH. */
static void the_hostfile_names_the_place(void **state)
{
    (void)state;
    static const char *const lines[] = {"mp-worker-0.mp.ns.svc slots=8\nmp-worker-1.mp.ns.svc slots=8\n", "# hosts\nmp-worker-0.mp.ns.svc:8\n"};
    for (int i = 0; i < 2; i++) {
        char file[] = "/tmp/trainyard-hostfile-XXXXXX", named[128];
        int fd = mkstemp(file);
        assert_true(fd >= 0 && write(fd, lines[i], strlen(lines[i])) == (ssize_t)strlen(lines[i]) && close(fd) == 0);
        snprintf(named, sizeof named, "OMPI_MCA_orte_default_hostfile=%s", file);
        const char *environment[8] = {"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=16", named};
        struct arena a = {0};
        struct diag d = {0};
        struct world w;
        char *all[9];
        assert_true(world_read(with_end(environment, all), &a, &w, &d));
        assert_string_equal(w.master, "mp-worker-0.mp.ns.svc");
        unlink(file);
        arena_free(&a);
        diag_free(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_read),
        cmocka_unit_test(half_given_ones_are_refused),
        cmocka_unit_test(a_node_of_several_ranks_is_started_by_one),
        cmocka_unit_test(the_hostfile_names_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
