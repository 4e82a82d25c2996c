// SPDX-License-Identifier: Apache-2.0
// The graphs of a model, each after those that its operators name: what is computed once while a
// graph is loaded may run the graphs inside it, and an operator is as random as its graphs.

#ifndef LN_IR_GRAPH_ORDER_H
#define LN_IR_GRAPH_ORDER_H

#include <lightnet/context.h>

typedef struct ln_named_graph {
    const char *name; // borrowed
    ln_context *graph;
} ln_named_graph;

// All graphs of `ctx`, inner ones first, in an array to be freed with ln_free; *out_graphs is NULL
// where there are none. Graphs that name each other in a circle come in any order: running one is
// refused.
ln_status ln_graph_order_create(const ln_context *ctx, ln_named_graph **out_graphs,
                                size_t *out_count);

#endif
