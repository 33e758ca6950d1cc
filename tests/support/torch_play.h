/* torch_play.h - plays a recording of a PyTorchJob against the simulated controller and compares what both did.
 *
 *     struct torch_play *p = torch_play_read(path, no);      // NULL: cannot be played, `no` says why
 *     torch_play_run(p);
 *     if (!torch_play_compare(p, why)) puts(why);
 *     torch_play_free(p);
 *
 * The manifest is the scenario's only object; it says nothing of its work, as the recorded containers did none. What the
 * recording's driver did as kubelet or user is done at its times; the kubelet starts a container 0.33 s after binding and
 * removes a deleted pod after 0.3 s (KWOK's stages), or when the recording says for pods that the driver deleted by hand.
 * The controller's client has raised limits, as in the recordings.
 *
 * What is compared, and what the controller's code leaves open, stands in side.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_TORCH_PLAY_H
#define TRAINYARD_TESTS_SUPPORT_TORCH_PLAY_H

#include <stdbool.h>

struct torch_play;

struct torch_play *torch_play_read(const char *path, char no[256]);
void torch_play_run(struct torch_play *);
bool torch_play_compare(struct torch_play *, char why[1024]);
void torch_play_print(const struct torch_play *); /* both sides, for people */
void torch_play_free(struct torch_play *);

#endif
