/* test_recordings_pytorchjob.c - each recorded PyTorchJob: the simulated controller does what the real one did.
 *
 * Plays pytorchjob-*.json of recorded/conditions; play_folder.h says how others are given.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/condition_play.h"
#include "tests/support/play_folder.h"

static enum play_verdict play(const char *path, bool verbose, char why[PLAY_WHY])
{
    return condition_play(&torch_kind, path, verbose, why);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"pytorchjob-", NULL}, *const folders[] = {"recorded/conditions", NULL};
    static const struct play_kind kind = {"recorded PyTorchJobs", names, folders, "TRAINYARD_RECORDINGS", play};
    return play_main(argc, argv, &kind);
}
