/* memo.h - what a view worked out and may keep between two draws: a job's curves, a diagnosis.
 *
 *     struct page *p = memo_get(&ui->memos, "job page", key, sizeof *p, page_release);     // zeroed when it is new
 *     if (!p->made) make(p);
 *     memo_free_all(&ui->memos);                      // ui_destroy does
 *
 * One piece a name: another key (a job's number, a scene's version ...) releases the old piece and gives a zeroed one. So what is kept can only
 * save time; a view that finds nothing kept draws the same picture. Cost: a walk over the names, which are few.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_UI_MEMO_H
#define TRAINYARD_VIZ_UI_MEMO_H

#include <stddef.h>
#include <stdint.h>

struct memo;

/* `name` must outlive it. `release` (NULL: none) is called before the piece is freed. */
void *memo_get(struct memo **, const char *name, uint64_t key, size_t bytes, void (*release)(void *));
void memo_free_all(struct memo **);

#endif
