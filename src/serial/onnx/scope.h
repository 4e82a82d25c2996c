// SPDX-License-Identifier: Apache-2.0
// The names of one graph or function body: what makes each value, and who reads it.

#ifndef LN_SERIAL_ONNX_SCOPE_H
#define LN_SERIAL_ONNX_SCOPE_H

#include <stdbool.h>

#include <lightnet/hash.h>
#include <lightnet/util.h>

#include "serial/onnx/message.h"
#include "serial/onnx/source.h"

typedef enum ln_onnx_symbol_kind {
    LN_SYMBOL_GIVEN, // an input, or a value of a graph around
    LN_SYMBOL_INITIALIZER,
    LN_SYMBOL_SPARSE, // a sparse initializer
    LN_SYMBOL_MADE    // an output of a node
} ln_onnx_symbol_kind;

typedef struct ln_onnx_symbol {
    const char *name;
    const char *tensor; // its name in the context; NULL: none yet, or left out
    ln_onnx_symbol_kind kind;
    bool is_read;          // by a node, a body in a node, or as an output
    bool is_input;         // of an initializer: it is also an input of the graph
    bool is_there;         // of an initializer: its constant has been made
    bool is_constant;      // of an output: its node is a Constant
    uint32_t node;         // that makes it
    ln_onnx_bytes message; // of an initializer
    ln_onnx_bytes type;    // of an initializer that is an input: what the input states
} ln_onnx_symbol;

typedef struct ln_onnx_scope {
    const ln_onnx_source *source;
    ln_onnx_arena *arena; // of names and symbols; borrowed
    ln_hash *symbols;     // name -> ln_onnx_symbol
} ln_onnx_scope;

// A name that a context can have: a string of 1 to LN_MAX_NAME_LEN - 1 bytes of UTF-8 without
// control characters. NULL, or what is wrong.
const char *ln_onnx_name_fault(ln_onnx_bytes name);

ln_status ln_onnx_scope_init(ln_onnx_scope *scope, const ln_onnx_source *source,
                             ln_onnx_arena *arena);
void ln_onnx_scope_deinit(ln_onnx_scope *scope);

// A new symbol; LN_INVALID if there is one of that name.
ln_status ln_onnx_scope_add(ln_onnx_scope *scope, ln_onnx_bytes name, ln_onnx_symbol_kind kind,
                            ln_onnx_symbol **out_symbol);

// A symbol whose value the model states: an initializer, or the output of a Constant. Where there
// is another one of that name its last definition counts, which is told (ln_onnx_tolerate).
ln_status ln_onnx_scope_add_constant(ln_onnx_scope *scope, ln_onnx_bytes name,
                                     ln_onnx_symbol_kind kind, ln_onnx_symbol **out_symbol);

// Whether a node is a Constant of ai.onnx.
bool ln_onnx_node_is_constant(const ln_onnx_node *node);

// NULL if there is none.
ln_onnx_symbol *ln_onnx_scope_find(const ln_onnx_scope *scope, ln_onnx_bytes name);

// Adds the outputs of `nodes`, notes what they read, and finds an order in which each node comes
// after those that it reads: the order of the file where that is one. *out_order, in the scope's
// arena, is NULL for the order of the file. LN_INVALID for nodes that wait for each other.
ln_status ln_onnx_scope_add_nodes(ln_onnx_scope *scope, const ln_onnx_list *nodes,
                                  const uint32_t **out_order);

#endif
