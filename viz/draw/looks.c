/* looks.c - the table of looks.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/draw/looks.h"

#include "viz/model/scene.h"

#define WAIT(reason) [SHOW_WAIT + WAIT_##reason]

/* clang-format off */
static const struct look_row rows[N_SHOWS] = {
    [ACT_FREE]            = {LOOK_PALE,      PATTERN_SOLID,      'f'},
    [ACT_BLOCKED]         = {LOOK_GREY,      PATTERN_HATCH,      'b'},
    [ACT_FRAGMENTED]      = {LOOK_GREY,      PATTERN_DOTS,       'g'},
    [ACT_IMAGE_PULL]      = {HUE_YELLOW,     PATTERN_SOLID,      'I'},
    [ACT_CONTAINER_START] = {HUE_YELLOW,     PATTERN_HATCH,      'S'},
    [ACT_WAIT_HEAD]       = {HUE_ORANGE,     PATTERN_HATCH,      'H'},
    [ACT_WAIT_PEERS]      = {HUE_ORANGE,     PATTERN_SOLID,      'P'},
    [ACT_RENDEZVOUS]      = {HUE_ORANGE,     PATTERN_DOTS,       'V'},
    [ACT_CHECKPOINT_LOAD] = {HUE_YELLOW,     PATTERN_DOTS,       'L'},
    [ACT_STALLED]         = {HUE_PURPLE,     PATTERN_SOLID,      'T'},
    [ACT_HUNG]            = {HUE_PURPLE,     PATTERN_CROSS,      'U'},
    [ACT_BACKOFF]         = {HUE_ORANGE,     PATTERN_BARS,       'B'},
    [ACT_TERMINATING]     = {HUE_ORANGE,     PATTERN_BACK_HATCH, 'X'},
    [ACT_IDLE_POD]        = {HUE_YELLOW,     PATTERN_CROSS,      'Z'},
    [ACT_AFTER_END]       = {HUE_YELLOW,     PATTERN_BACK_HATCH, 'E'},
    [ACT_COMPUTE]         = {HUE_GREEN,      PATTERN_SOLID,      'C'},
    [ACT_COMMUNICATION]   = {HUE_BLUE,       PATTERN_SOLID,      'N'},
    [ACT_DATA_WAIT]       = {HUE_SKY,        PATTERN_HATCH,      'D'},
    [ACT_BUBBLE]          = {HUE_SKY,        PATTERN_DOTS,       'Q'},
    [ACT_STRAGGLER]       = {HUE_SKY,        PATTERN_BARS,       'Y'},
    [ACT_CHECKPOINT]      = {HUE_BLUE,       PATTERN_DOTS,       'K'},
    [ACT_OTHER_LOAD]      = {HUE_GREEN,      PATTERN_DOTS,       'O'},
    [ACT_FAILED]          = {HUE_VERMILLION, PATTERN_CROSS,      'F'},
    [ACT_REPAIR]          = {HUE_VERMILLION, PATTERN_HATCH,      'M'},
    [ACT_DRAINED]         = {HUE_VERMILLION, PATTERN_DOTS,       'J'},
    [ACT_ABSENT]          = {LOOK_PALE,      PATTERN_DOTS,       'a'},
    [ACT_UNOBSERVED]      = {LOOK_PALE,      PATTERN_CROSS,      '?'},
    [SHOW_WORK]           = {HUE_GREEN,      PATTERN_SOLID,      'W'},
    [SHOW_REDONE]         = {HUE_PURPLE,     PATTERN_HATCH,      'R'},
    WAIT(ORDER)             = {HUE_SKY,        PATTERN_SOLID,      'o'},
    WAIT(QUOTA)             = {HUE_BLUE,       PATTERN_SOLID,      'q'},
    WAIT(CAPACITY)          = {HUE_SKY,        PATTERN_HATCH,      'c'},
    WAIT(FRAGMENTATION)     = {HUE_SKY,        PATTERN_DOTS,       'g'},
    WAIT(TOPOLOGY)          = {HUE_SKY,        PATTERN_CROSS,      't'},
    WAIT(UNSATISFIABLE)     = {HUE_BLACK,      PATTERN_CROSS,      'u'},
    WAIT(DEPENDENCY)        = {LOOK_GREY,      PATTERN_BARS,       'd'},
    WAIT(SUSPENDED)         = {LOOK_GREY,      PATTERN_SOLID,      's'},
    WAIT(ADMISSION_CHECK)   = {HUE_BLUE,       PATTERN_DOTS,       'a'},
    WAIT(GANG)              = {HUE_BLUE,       PATTERN_HATCH,      'n'},
    WAIT(AUTOSCALER)        = {HUE_BLUE,       PATTERN_BACK_HATCH, 'z'},
    WAIT(CONTROL_PLANE)     = {LOOK_GREY,      PATTERN_CROSS,      'k'},
    WAIT(SCHEDULER_BACKOFF) = {HUE_BLUE,       PATTERN_BARS,       'b'},
    WAIT(IMAGE)             = {HUE_YELLOW,     PATTERN_SOLID,      'I'},
    WAIT(START)             = {HUE_YELLOW,     PATTERN_HATCH,      'S'},
    WAIT(HEAD)              = {HUE_ORANGE,     PATTERN_HATCH,      'H'},
    WAIT(PEERS)             = {HUE_ORANGE,     PATTERN_SOLID,      'P'},
    WAIT(RENDEZVOUS)        = {HUE_ORANGE,     PATTERN_DOTS,       'V'},
    WAIT(CHECKPOINT_LOAD)   = {HUE_YELLOW,     PATTERN_DOTS,       'L'},
    WAIT(STORAGE)           = {HUE_YELLOW,     PATTERN_BARS,       'y'},
    WAIT(DETECTION)         = {HUE_PURPLE,     PATTERN_SOLID,      'T'},
    WAIT(CONTAINER_BACKOFF) = {HUE_ORANGE,     PATTERN_BARS,       'B'},
    WAIT(PREEMPTED)         = {HUE_PURPLE,     PATTERN_BACK_HATCH, 'p'},
    WAIT(RESIZE)            = {HUE_ORANGE,     PATTERN_CROSS,      'r'},
};
/* clang-format on */

const struct look_row *look_row(unsigned show)
{
    return &rows[show < N_SHOWS ? show : ACT_FREE];
}
