/* collective_machine.h - which machine a table of collectives was measured on, by its content alone.
 *
 *     struct collective_machine m;
 *     if (collective_machine(&table, &(struct collective_hints){0}, &m, &d)) use(&m.fabric, m.ranks_per_node, m.nodes);
 *
 * Every shipped or installed hardware profile, with its own network and with each network profile, all ways to lay the
 * ranks on its nodes, all algorithms or only rings or only trees, one process a GPU or a node, is asked for the table's
 * rows (collective_time_s, nothing fitted); the one that is least off on the mean of |ln predicted - ln measured| (at most 1
 * a row) is taken. What is known is not guessed: hints, and what the head of a text says of ranks, hosts and GPUs. Ranks that
 * do not fill their nodes are less likely than full ones: they count as 5 % more error. Where another number of nodes is
 * asked for, one node counts as 30 %.
 *
 * It serves to carry a measured curve to another scale: only the ratio between scales of the machine found matters.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_COLLECTIVE_MACHINE_H
#define TRAINYARD_STUDY_COLLECTIVE_MACHINE_H

#include "input/collective_table.h"

struct collective_hints {
    const char *hardware, *network; /* profiles, or NULL */
    unsigned ranks, nodes;          /* of the table; 0: not known */
    bool several_nodes;             /* more than one is more likely: another number of nodes is asked for */
};

struct collective_machine {
    struct collective_fabric fabric;
    char hardware[64], network[64]; /* profiles; network "": the hardware's own */
    unsigned ranks_per_node, nodes;
    double error;                   /* mean |ln predicted - ln measured| */
};

/* False with an error in d: no profile can be the machine, or the number of ranks is not known. */
bool collective_machine(const struct collective_table *, const struct collective_hints *, struct collective_machine *,
                        struct diag *);

#endif
