// SPDX-License-Identifier: Apache-2.0
// Depth-first, in the order of the file, with a stack of its own.

#include "serial/onnx/order.h"

#include <stdbool.h>

struct ln_onnx_need {
    ln_onnx_need *next;
    uint32_t needed;
};

ln_status ln_onnx_order_need(ln_onnx_order *order, uint32_t node, uint32_t needed)
{
    if (!order->needs)
        order->needs = ln_onnx_arena_take(&order->arena, order->node_count, sizeof *order->needs);
    ln_onnx_need *need = ln_onnx_arena_take(&order->arena, 1, sizeof *need);
    if (!order->needs || !need)
        return ln_error_status();
    need->needed = needed;
    need->next = order->needs[node];
    order->needs[node] = need;
    return LN_OK;
}

static bool is_sorted(const ln_onnx_order *order)
{
    for (uint32_t i = 0; order->needs && i < order->node_count; i++) {
        for (const ln_onnx_need *need = order->needs[i]; need; need = need->next) {
            if (need->needed >= i)
                return false;
        }
    }
    return true;
}

enum { UNSEEN, OPEN, DONE };

typedef struct search {
    ln_onnx_order *order;
    uint8_t *states;
    uint32_t *stack;
    uint32_t depth;
    uint32_t *sorted;
    uint32_t count;
} search;

// Lists `node` after all that it needs. Needs are taken off their list as they are met.
static bool visit(search *s, uint32_t node, uint32_t *out_stuck)
{
    s->stack[s->depth++] = node;
    s->states[node] = OPEN;
    while (s->depth > 0) {
        uint32_t top = s->stack[s->depth - 1];
        ln_onnx_need *need = s->order->needs[top];
        if (!need) {
            s->states[top] = DONE;
            s->sorted[s->count++] = top;
            s->depth--;
            continue;
        }
        s->order->needs[top] = need->next;
        if (s->states[need->needed] == OPEN) {
            *out_stuck = need->needed;
            return false;
        }
        if (s->states[need->needed] == UNSEEN) {
            s->states[need->needed] = OPEN;
            s->stack[s->depth++] = need->needed;
        }
    }
    return true;
}

ln_status ln_onnx_order_find(ln_onnx_order *order, ln_onnx_arena *arena, const uint32_t **out_order,
                             uint32_t *out_stuck)
{
    *out_order = NULL;
    if (is_sorted(order))
        return LN_OK;
    search s = {.order = order};
    s.states = ln_onnx_arena_take(&order->arena, order->node_count, sizeof *s.states);
    s.stack = ln_onnx_arena_take(&order->arena, order->node_count, sizeof *s.stack);
    s.sorted = ln_onnx_arena_take(arena, order->node_count, sizeof *s.sorted);
    if (!s.states || !s.stack || !s.sorted)
        return ln_error_status();
    for (uint32_t i = 0; i < order->node_count; i++) {
        if (s.states[i] == UNSEEN && !visit(&s, i, out_stuck))
            return LN_INVALID;
    }
    *out_order = s.sorted;
    return LN_OK;
}
