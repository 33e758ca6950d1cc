/* test_kueue_recordings.c - every recorded Kueue scenario gives the recorded admissions, victims and flavors.
 *
 * By the library of decisions alone; tests/recordings/test_recordings_kueue.c runs the whole simulator.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>

#include "tests/support/kueue_play.h"
#include "tests/support/play_folder.h"

static enum play_verdict play(const char *path, bool verbose, char why[PLAY_WHY])
{
    bool left_out;
    struct kueue_play *p = kueue_play_read(path, why, &left_out);
    if (!p) return left_out ? PLAY_LEFT_OUT : PLAY_DIFFERENT;
    kueue_play_run(p);
    bool same = kueue_play_compare(p, why);
    if (same) why[0] = '\0';
    if (verbose) kueue_play_print(p);
    kueue_play_free(p);
    return same ? PLAY_EQUAL : PLAY_DIFFERENT;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"", NULL}, *const folders[] = {"recorded/kueue/cases", "recorded/kueue/random", NULL};
    static const struct play_kind kind = {"recorded Kueue plays", names, folders, "TRAINYARD_RECORDINGS_KUEUE", play};
    return play_main(argc, argv, &kind);
}
