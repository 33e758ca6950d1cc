/* torch_env.h - what training-operator 1.9.3 writes into the pods of a PyTorchJob: environment and init container.
 *
 * A pure function of the object (TO pkg/controller.v1/pytorch/envvar.go, master.go, elastic.go, initcontainer.go), equal to
 * recorded/env in names, values and order. What the user wrote stands first.
 *
 *     struct pod_env e = torch_env(arena, manifest, ROLE_WORKER, 1, 0);
 *     for (size_t i = 0; i < e.n; i++) printf("%s=%s\n", e.v[i].name, e.v[i].value);
 *     const char *const *command = torch_init_command(arena, manifest, ROLE_WORKER);   // NULL: no init container
 *
 *   always        PYTHONUNBUFFERED=1
 *   with Master   MASTER_PORT, PET_MASTER_PORT, MASTER_ADDR, PET_MASTER_ADDR, WORLD_SIZE = replicas x nproc (auto, cpu and gpu
 *                 count as 1), RANK and PET_NODE_RANK (0 for the master, i + 1 for worker i)
 *   then          PET_NPROC_PER_NODE, unless the elastic policy has its own
 *   elastic       PET_RDZV_ENDPOINT (worker 0, also with a Master), PET_RDZV_BACKEND (c10d), PET_NNODES=min:max, and what is
 *                 set of PET_MAX_RESTARTS, PET_NPROC_PER_NODE, PET_RDZV_ID, PET_RDZV_CONF, PET_STANDALONE
 *   else          PET_NNODES = replicas
 *
 * All memory lies in the arena; texts of the manifest are not copied.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_TORCH_ENV_H
#define TRAINYARD_INPUT_TORCH_ENV_H

#include "base/arena.h"
#include "input/objects.h"
#include "input/scenario.h"

struct env_var { const char *name, *value; /* NULL: by valueFrom, as the user wrote */ };
struct pod_env { struct env_var *v; size_t n; };

struct pod_env torch_env(struct arena *, const struct manifest *, enum pod_role, uint32_t index, size_t container);
/* Three words: sh, -c, script. The container is "init-pytorch" of image alpine:3.10. */
const char *const *torch_init_command(struct arena *, const struct manifest *, enum pod_role);
#define TORCH_INIT_NAME  "init-pytorch"
#define TORCH_INIT_IMAGE "alpine:3.10"

/* The object that a job without a manifest would be. */
struct manifest *torch_manifest_of(struct arena *, const struct scenario *, const struct job_spec *);

#endif
