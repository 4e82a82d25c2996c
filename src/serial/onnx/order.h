// SPDX-License-Identifier: Apache-2.0
// An order of nodes in which each comes after those it needs.

#ifndef LN_SERIAL_ONNX_ORDER_H
#define LN_SERIAL_ONNX_ORDER_H

#include <stdint.h>

#include "serial/onnx/arena.h"

typedef struct ln_onnx_need ln_onnx_need;

// Start with {.arena = {.budget}, .node_count}; the caller frees the arena.
typedef struct ln_onnx_order {
    ln_onnx_arena arena;
    uint32_t node_count;
    ln_onnx_need **needs; // of each node; NULL: every node so far comes after what it needs
} ln_onnx_order;

// Node `node` needs node `needed`.
ln_status ln_onnx_order_need(ln_onnx_order *order, uint32_t node, uint32_t needed);

// *out_order, in `arena`: the order nearest to the given one; NULL if that is right itself.
// LN_INVALID, with nothing recorded, if *out_stuck needs itself.
ln_status ln_onnx_order_find(ln_onnx_order *order, ln_onnx_arena *arena, const uint32_t **out_order,
                             uint32_t *out_stuck);

#endif
