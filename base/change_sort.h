/* change_sort.h - changes of a count over time, brought into order.
 *
 *     struct change v[] = {{ns, 1}, {later_ns, -1}, ...};
 *     change_sort(v, n);             // by ns; those of one moment stay in their order
 *
 * Radix sort over the bytes in which the moments differ.
 * Cost: O(n) a byte that differs, of qsort a third at 100,000; memory: as much again while it sorts.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_BASE_CHANGE_SORT_H
#define TRAINYARD_BASE_CHANGE_SORT_H

#include <stddef.h>
#include <stdint.h>

struct change { int64_t ns, by; };

void change_sort(struct change *, size_t n);

#endif
