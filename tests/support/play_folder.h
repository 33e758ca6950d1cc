/* play_folder.h - plays every recording of some folders and counts: the whole of a test program of recordings.
 *
 *     static enum play_verdict play(const char *path, bool verbose, char why[PLAY_WHY]) { ... }
 *     static const char *const names[] = {"pytorchjob-", NULL}, *const folders[] = {"recorded/conditions", NULL};
 *     static const struct play_kind kind = {"recorded PyTorchJobs", names, folders, "TRAINYARD_RECORDINGS", play};
 *     int main(int argc, char **argv) { return play_main(argc, argv, &kind); }
 *
 * Without arguments it is a test of cmocka over the folders (below ../shared), or over $env: each must be equal, but for
 * what is left out by its content, and one at least must be there. With arguments it plays those files and folders, -v
 * prints both sides. A file that cannot be read is different, not left out.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_PLAY_FOLDER_H
#define TRAINYARD_TESTS_SUPPORT_PLAY_FOLDER_H

#include <stdbool.h>

#define PLAY_WHY 1024

enum play_verdict { PLAY_EQUAL, PLAY_DIFFERENT, PLAY_LEFT_OUT, PLAY_VERDICTS };

struct play_kind {
    const char *what;
    const char *const *names;   /* beginnings of file names; NULL ends them */
    const char *const *folders; /* below ../shared; NULL ends them */
    const char *env;            /* names a folder to take instead */
    enum play_verdict (*play)(const char *path, bool verbose, char why[PLAY_WHY]);
};

int play_main(int argc, char **argv, const struct play_kind *kind);

#endif
