// SPDX-License-Identifier: Apache-2.0
// A model on its way into a context.
//
// Graphs, bodies of nodes and functions are nested, so what is half done is a stack of
// frames. A frame walks its nodes; a node with bodies, or one that calls a function, puts a frame
// on top and is finished when that is gone.
//
//     build.c        the stack
//     build_graph.c  frames: what they begin and end with
//     build_node.c   a node becomes an operator
//     build_attr.c   attributes become parameters and inputs
//     build_value.c  names, constants, and operators as they are appended

#ifndef LN_SERIAL_ONNX_BUILDER_H
#define LN_SERIAL_ONNX_BUILDER_H

#include <lightnet/context.h>
#include <lightnet/op_info.h>
#include <lightnet/preflight.h>
#include <lightnet/serializer.h>

#include "serial/onnx/message.h"
#include "serial/onnx/scope.h"
#include "serial/onnx/source.h"
#include "serial/onnx/tensor.h"

// The newest version of ai.onnx that operators are known of.
#define LN_ONNX_NEWEST_OPSET 28
#define LN_ONNX_NEWEST_IR    13

// Inputs, or outputs, of one node, captured ones among them.
#define LN_ONNX_MAX_ARGS 1024

// Frames inside each other: bodies and functions.
#define LN_ONNX_MAX_FRAMES 32

// Operator sets that a model or function imports; further ones are not looked at.
#define LN_ONNX_MAX_OPSETS 100

typedef struct ln_onnx_opsets {
    ln_onnx_opset *items;
    size_t count;
} ln_onnx_opsets;

// A function of the model, opened.
typedef struct ln_onnx_function_entry {
    ln_onnx_function message;
    ln_onnx_opsets opsets;
    const char *key; // "<domain>:<name>:<overload>", as far as they are there
} ln_onnx_function_entry;

// An attribute of the node that is being built, after its references.
typedef struct ln_onnx_given {
    const char *name;
    ln_onnx_attribute value;
    const char *graph; // what the context calls its body; NULL: not built, or none
} ln_onnx_given;

// A tensor of an operator. The texts live as long as the node.
typedef struct ln_onnx_arg {
    const char *arg_name;
    const char *tensor;
} ln_onnx_arg;

typedef struct ln_onnx_args {
    ln_onnx_arg items[LN_ONNX_MAX_ARGS];
    size_t count;
} ln_onnx_args;

// The node that a frame is at.
typedef struct ln_onnx_current {
    ln_onnx_node message;
    uint32_t index; // among the nodes of its graph
    const uint8_t *at;
    const char *optype; // with the prefix of its domain
    const ln_op_info *info;
    int opset;
    int since;   // the version of the operator; 0: the newest that is known
    int is_bad;  // it has a problem, and gives no operator
    int is_call; // of a function
    char *name;  // of the operator
    ln_onnx_given *given;
    size_t given_count;
    size_t next_body;      // the first of `given` whose body may not have been built
    const char **captured; // tensors that the bodies read
    size_t captured_count;
} ln_onnx_current;

typedef enum ln_onnx_frame_kind {
    LN_FRAME_MODEL,
    LN_FRAME_BODY,
    LN_FRAME_FUNCTION
} ln_onnx_frame_kind;

typedef struct ln_onnx_frame {
    ln_onnx_frame_kind kind;
    ln_context *ctx; // that its operators go to
    const ln_onnx_opsets *opsets;
    ln_onnx_arena arena;      // of what lives as long as the frame
    ln_onnx_arena node_arena; // as the node
    ln_onnx_scope scope;
    ln_onnx_list nodes;
    const uint32_t *order; // NULL: as they stand
    size_t next;           // position of the next node
    int has_node;          // `node` is half done
    ln_onnx_current node;
    ln_onnx_list outputs; // of a graph: value infos
    const char *label;    // "then_branch of 'If_3'", for messages
    const char *graph;    // what the context calls a body
    const ln_onnx_function_entry *function;

    // Attributes to which ref_attr_name refers: those of the call, and the function's own.
    const ln_onnx_current *call;
    const ln_onnx_function_entry *called;
} ln_onnx_frame;

typedef struct ln_onnx_builder {
    ln_serializer *serializer;
    ln_context *ctx;
    ln_onnx_source *source;
    ln_preflight *report;
    ln_onnx_arena arena; // as long as the builder
    ln_onnx_model model;
    ln_onnx_opsets opsets;
    ln_hash *functions; // key -> ln_onnx_function_entry
    ln_hash *tensors;   // names that are taken, in all graphs
    ln_hash *ops;       // the same of operators and graphs
    size_t serial;      // after names that were taken
    size_t nodes_left;  // that may still be built
    size_t params_left; // elements of parameters that may still be made
    ln_onnx_frame *frames[LN_ONNX_MAX_FRAMES];
    size_t depth;
    ln_onnx_args ins, outs; // of the operator that is being made
} ln_onnx_builder;

static inline ln_onnx_frame *ln_onnx_top(const ln_onnx_builder *b)
{
    return b->frames[b->depth - 1];
}

// Reads the model of `source`, whose bytes are checked, into `ctx`: weights are attached to it and
// are in `source`. Problems of nodes go to `report`, which then has problem_count > 0; the status
// is for what ends reading at once.
ln_status ln_onnx_build(ln_serializer *serializer, ln_context *ctx, ln_onnx_source *source,
                        ln_preflight *report);

// ---- build_graph.c ----

ln_status ln_onnx_push_model(ln_onnx_builder *b);
ln_status ln_onnx_push_body(ln_onnx_builder *b, ln_onnx_given *given);
ln_status ln_onnx_push_function(ln_onnx_builder *b, const ln_onnx_function_entry *function);
ln_status ln_onnx_function_key(ln_onnx_arena *arena, ln_onnx_bytes domain, ln_onnx_bytes name,
                               ln_onnx_bytes overload, const char **out_key);
ln_status ln_onnx_finish_frame(ln_onnx_builder *b); // the topmost: its outputs
void ln_onnx_pop(ln_onnx_builder *b);
ln_status ln_onnx_read_opsets(ln_onnx_builder *b, const ln_onnx_list *messages,
                              ln_onnx_opsets *out);
int ln_onnx_opset_of(const ln_onnx_frame *frame, ln_onnx_bytes domain); // 0: not imported

// ---- build_node.c ----

ln_status ln_onnx_begin_node(ln_onnx_builder *b);  // the next one of the topmost frame
ln_status ln_onnx_finish_node(ln_onnx_builder *b); // its bodies are there

// Notes a problem of the node; it then gives no operator.
ln_status ln_onnx_problem(ln_onnx_builder *b, const char *help, const char *fmt, ...)
    LN_PRINTF(3, 4);

// What the context calls a symbol that a node of this frame makes.
ln_status ln_onnx_name_made(ln_onnx_builder *b, ln_onnx_symbol *symbol);

// ---- build_attr.c ----

ln_status ln_onnx_read_given(ln_onnx_builder *b);                  // the attributes of the node
ln_status ln_onnx_add_given(ln_onnx_builder *b, ln_list **params); // to params and b->ins
ln_status ln_onnx_make_constant(ln_onnx_builder *b);               // a node Constant

// ---- build_value.c ----

// A name that nothing has yet, `wanted` if it is free; lives as long as the builder.
ln_status ln_onnx_claim(ln_onnx_builder *b, ln_hash *taken, const char *wanted,
                        const char **out_name);

// The tensor that `name` stands for in frame `frame_index`, there for its context: an initializer
// is made when it is first read, a value of a graph around is captured. *out_tensor is NULL if it
// was left out in a call. LN_NOT_FOUND, with nothing recorded, if nothing has this name.
ln_status ln_onnx_resolve(ln_onnx_builder *b, size_t frame_index, ln_onnx_bytes name,
                          const char **out_tensor);

// A constant `tensor` in `ctx`. Takes over what the value owns.
ln_status ln_onnx_add_constant(ln_onnx_builder *b, ln_context *ctx, const char *tensor,
                               ln_onnx_value *value);

ln_status ln_onnx_add_arg(ln_onnx_builder *b, ln_onnx_args *args, const char *arg_name,
                          const char *tensor);

// Appends an operator with b->ins and b->outs, which are empty again, and takes over `params`.
ln_status ln_onnx_add_op(ln_onnx_builder *b, ln_context *ctx, const char *name, const char *optype,
                         ln_list *params, const uint8_t *at);

// Parameters, appended to `list`.
ln_status ln_onnx_param_number(ln_list **list, const char *name, double value);
ln_status ln_onnx_param_bool(ln_list **list, const char *name, int value);
ln_status ln_onnx_param_string(ln_list **list, const char *name, const char *value);
ln_status ln_onnx_param_numbers(ln_list **list, const char *name, size_t count,
                                const double *values);
ln_status ln_onnx_param_shape(ln_list **list, tl_dtype dtype, int ndim, const int *dims);
ln_status ln_onnx_param_strings(ln_list **list, const char *name, size_t count,
                                const char *const *values);

#endif
