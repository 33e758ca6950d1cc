/* array.h - growable arrays with their real type.
 *
 *     ARRAY(int) a = {0};                               // all zero is the empty array
 *     array_push(&a, 7);
 *     array_push(&jobs, (struct job){ .id = 1 });       // commas are fine
 *     for (size_t i = 0; i < a.n; i++) use(a.v[i]);
 *     int last = array_pop(&a);                         // the array must not be empty
 *     array_free(&a);
 *
 * Each ARRAY(T) is a type of its own: give it to a function inside a named struct, or as (a.v, a.n).
 * Invariants: v[0 .. n) are in use, n <= cap; v is NULL while cap is 0. Growing moves v: keep indices, not pointers.
 * The macros use their first argument several times: give them a plain expression such as &x->list.
 * Cost: amortised O(1), capacity doubles from 8. Aborts when memory is out. The owner calls array_free.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_BASE_ARRAY_H
#define TRAINYARD_BASE_ARRAY_H

#include <stddef.h>
#include <stdlib.h>

#define ARRAY(T)                                                                                                       \
    struct {                                                                                                           \
        T *v;                                                                                                          \
        size_t n, cap;                                                                                                 \
    }

/* Adds one element at the end. */
#define array_push(a, ...)                                                                                             \
    do {                                                                                                               \
        if ((a)->n == (a)->cap) array_reserve((a), (a)->n + 1);                                                        \
        (a)->v[(a)->n] = (__VA_ARGS__);                                                                                \
        (a)->n++;                                                                                                      \
    } while (0)

/* Adds one zeroed element and gives its address, good until the next growth. */
#define array_add(a)                                                                                                   \
    ((a)->v = array_grown((a)->v, (a)->n + 1, &(a)->cap, sizeof *(a)->v), array_zero(&(a)->v[(a)->n], sizeof *(a)->v), \
     &(a)->v[(a)->n++])

/* Takes the last element off and gives it. */
#define array_pop(a) ((a)->v[--(a)->n])

#define array_last(a) ((a)->v[(a)->n - 1])

/* Makes room for `want` elements in all. */
#define array_reserve(a, want)                                                                                         \
    do {                                                                                                               \
        (a)->v = array_grown((a)->v, (want), &(a)->cap, sizeof *(a)->v);                                               \
    } while (0)

/* Sorts by qsort's kind of comparison; the empty array, whose v is NULL, too, which qsort may not be given. */
#define array_sort(a, compare)                                                                                         \
    do {                                                                                                               \
        if ((a)->n > 1) qsort((a)->v, (a)->n, sizeof *(a)->v, (compare));                                              \
    } while (0)

/* Empties it and keeps the memory. */
#define array_clear(a)                                                                                                 \
    do {                                                                                                               \
        (a)->n = 0;                                                                                                    \
    } while (0)

#define array_free(a)                                                                                                  \
    do {                                                                                                               \
        array_release((a)->v);                                                                                         \
        (a)->v = NULL;                                                                                                 \
        (a)->n = (a)->cap = 0;                                                                                         \
    } while (0)

/* Behind the macros: `v` with room for `want` elements of `bytes`, *cap updated. */
void *array_grown(void *v, size_t want, size_t *cap, size_t bytes);
void array_zero(void *element, size_t bytes);
void array_release(void *v);

#endif
