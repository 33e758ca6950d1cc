/* main.c - trainyard-worker over TCP and shared memory.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/worker/worker.h"

int main(int argc, char **argv)
{
    return worker_main(argc, argv, comm_open);
}
