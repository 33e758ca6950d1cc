/* slots.h - what of ui.scroll belongs to which of the views.
 *
 * The first half is what view.h says, scroll by view. The second half is a second figure of those views that have one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_VIEWS_SLOTS_H
#define TRAINYARD_VIZ_VIEWS_SLOTS_H

enum view_slot {
    SLOT_GANTT,      /* px above the sight */
    SLOT_MAP,        /* not used: the map always fits */
    SLOT_EVENTS = 4, /* rows between the cursor's row and its usual place */
    SLOT_JOB = 6,    /* px above the sight */
    SLOT_GANTT_ROW = 8, /* height of a row in px; 0: what fits */
    SLOT_EVENTS_KIND,   /* enum event_kinds of event_list.h */
    SLOT_JOB_OPEN,      /* the group of pods or actors that is unfolded: job_page.h's fold, + 1; 0: none */
};

#endif
