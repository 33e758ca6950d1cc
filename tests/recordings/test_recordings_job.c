/* test_recordings_job.c - each recorded Job: the simulated controller does what the real one did.
 *
 * Plays job-*.json of recorded/conditions; play_folder.h says how others are given.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/condition_play.h"
#include "tests/support/play_folder.h"

static enum play_verdict play(const char *path, bool verbose, char why[PLAY_WHY])
{
    return condition_play(&job_kind, path, verbose, why);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"job-", NULL}, *const folders[] = {"recorded/conditions", NULL};
    static const struct play_kind kind = {"recorded Jobs", names, folders, "TRAINYARD_RECORDINGS", play};
    return play_main(argc, argv, &kind);
}
