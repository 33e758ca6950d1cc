/* stack.c - the table of stack constants, and how one is set from text.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/stack.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/units.h"

#define X_ROW(field, key, kind, text, origin)                                                                          \
    { .name = key, .fallback = text, .source = origin, .type = kind, .offset = offsetof(struct stack, field) },
static const struct stack_constant table[] = { STACK_CONSTANTS(X_ROW) };
#undef X_ROW
enum { N_CONSTANTS = sizeof table / sizeof *table };

size_t stack_constant_count(void)
{
    return N_CONSTANTS;
}

const struct stack_constant *stack_constant_at(size_t i)
{
    assert(i < N_CONSTANTS);
    return &table[i];
}

int stack_constant_find(const char *name)
{
    for (size_t i = 0; i < N_CONSTANTS; i++)
        if (strcmp(table[i].name, name) == 0) return (int)i;
    return -1;
}

static const char *parse_switch(const char *text, int64_t *x)
{
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0) return "true or false needed";
    *x = text[0] == 't';
    return NULL;
}

static const char *parse_constant(enum constant_type type, const char *text, int64_t *x)
{
    switch (type) {
    case CONST_TIME: return units_parse_duration(text, x);
    case CONST_RATE: return units_parse_quantity(text, x); /* per second -> per 1,000 s */
    case CONST_COUNT: return units_parse_int64(text, x);
    case CONST_SWITCH: return parse_switch(text, x);
    }
    return "unknown type";
}

const char *stack_set(struct stack *stack, size_t i, const char *text)
{
    assert(i < N_CONSTANTS);
    int64_t x;
    const char *wrong = parse_constant(table[i].type, text, &x);
    if (wrong) return wrong;
    if (x < 0) return "a negative value is not allowed";
    if (table[i].type == CONST_RATE && x == 0) return "a rate must be above 0";
    *(int64_t *)(void *)((char *)stack + table[i].offset) = x;
    return NULL;
}

void stack_put(struct stack *stack, size_t i, int64_t value)
{
    assert(i < N_CONSTANTS);
    *(int64_t *)(void *)((char *)stack + table[i].offset) = value;
}

int64_t stack_get(const struct stack *stack, size_t i)
{
    assert(i < N_CONSTANTS);
    return *(const int64_t *)(const void *)((const char *)stack + table[i].offset);
}

void stack_defaults(struct stack *stack)
{
    for (size_t i = 0; i < N_CONSTANTS; i++) {
        const char *wrong = stack_set(stack, i, table[i].fallback);
        assert(!wrong);
        (void)wrong;
    }
}

const char *stack_text(struct arena *arena, const struct stack *stack, size_t i)
{
    struct str text = { 0 };
    int64_t x = stack_get(stack, i);
    switch (table[i].type) {
    case CONST_TIME: str_append_seconds(&text, x); break;
    case CONST_RATE:
        str_append_i64(&text, x / 1000);
        if (x % 1000) str_printf(&text, ".%03d", (int)(x % 1000));
        break;
    case CONST_COUNT: str_append_i64(&text, x); break;
    case CONST_SWITCH: str_append(&text, x ? "true" : "false"); break;
    }
    const char *copy = arena_strdup(arena, str_text(&text));
    str_free(&text);
    return copy;
}
