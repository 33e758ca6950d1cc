/* driver_text.c - the driver's source as a text of the program: jobs carry it to the cluster, no file has to lie there.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/ray/parts.h"

__asm__(".pushsection .rodata\n"
        ".global ray_driver\n"
        "ray_driver:\n"
        ".incbin \"real/ray/driver.py\"\n"
        ".byte 0\n"
        ".popsection\n");
