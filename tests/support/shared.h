/* shared.h - where the tests find the traces and recordings that are not part of the project.
 *
 *     char path[SHARED_PATH_MAX];
 *     shared_path(path, "traces/philly/philly.csv.gz");   // skips the test when it is not there
 *
 * They lie in $TRAINYARD_SHARED, else in ../shared beside the checkout. An absent file skips the test and says so; with
 * CI set it fails, unless TRAINYARD_NO_SHARED is 1. Call it before anything is allocated: skipping does not return.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_SHARED_H
#define TRAINYARD_TESTS_SUPPORT_SHARED_H

#define SHARED_PATH_MAX 4096

void shared_path(char path[SHARED_PATH_MAX], const char *relative);

#endif
