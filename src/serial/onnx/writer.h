// SPDX-License-Identifier: Apache-2.0
// A context on its way into a model of ONNX.
//
//     write.c         the model: which operator sets it needs, its graphs, the files
//     write_graph.c   a graph: what it is given, its constants, its operators, its outputs
//     write_node.c    operators of ONNX become the nodes they were
//     write_attr.c    parameters become attributes
//     write_tensor.c  constants
//     write_type.c    types
//
// Operators of other lists have become those of ONNX before, by to_onnx.rules, in a copy of the
// context.
//
// Graphs that are attributes are written before those that have them, so that nothing recurses.

#ifndef LN_SERIAL_ONNX_WRITER_H
#define LN_SERIAL_ONNX_WRITER_H

#include <lightnet/context.h>
#include <lightnet/op_info.h>

#include <stdbool.h>

#include "serial/onnx/message.h"
#include "serial/onnx/out.h"

typedef enum ln_onnx_domain {
#define D(constant, name, prefix, newest) LN_DOMAIN_##constant,
#include "desc/onnx_domains.inc"
#undef D
    LN_DOMAIN_COUNT
} ln_onnx_domain;

// A graph of the context.
typedef struct ln_onnx_graph_out {
    const char *name;
    const ln_context *ctx;
    ln_onnx_out message;
    int is_done;
} ln_onnx_graph_out;

typedef struct ln_onnx_writer {
    const ln_context *root;
    int opsets[LN_DOMAIN_COUNT]; // 0: not needed
    ln_onnx_graph_out *graphs;   // the bodies, then the model's own
    size_t graph_count;
    ln_hash *by_name; // of the bodies: ln_onnx_graph_out

    // Elements that go to a file beside the model, whose name is `location`; NULL: none do.
    ln_onnx_out *external;
    const char *location;

    // The graph that is being written.
    ln_onnx_graph_out *graph;
    ln_hash *read; // names of tensors that are there for more than to be attributes
    size_t serial; // of names that are made up

    // The node, and what goes into it.
    const ln_op *op;
    ln_onnx_out node, attribute, tensor, type;
    int node_count; // that the operator has become
} ln_onnx_writer;

// ---- write_graph.c ----

// The graphs that its operators run are done.
ln_status ln_onnx_write_graph(ln_onnx_writer *w, ln_onnx_graph_out *graph);

// ---- write_node.c ----

// 1 for an operator of ONNX.
int ln_onnx_is_onnx_op(const ln_op *op);
ln_onnx_domain ln_onnx_domain_of(const ln_op_info *info);
const char *ln_onnx_domain_name(ln_onnx_domain domain);

// The versions of its domain's operator set that have this form of the operator: [*out_from,
// *out_to]. One that does not say `since`, or any if `is_lenient`, may have a newer form that means
// the same.
ln_status ln_onnx_versions(const ln_op *op, bool is_lenient, int *out_from, int *out_to);

ln_status ln_onnx_write_node(ln_onnx_writer *w);

// The nodes of w->op, one after the other.
void ln_onnx_begin(ln_onnx_writer *w, const char *type);
void ln_onnx_in(ln_onnx_writer *w, const char *tensor);
void ln_onnx_out_name(ln_onnx_writer *w, const char *tensor);
void ln_onnx_end(ln_onnx_writer *w);

// "operator 'x': <message>".
ln_status ln_onnx_write_fail(const ln_onnx_writer *w, ln_status status, const char *fmt, ...)
    LN_PRINTF(3, 4);

// ---- write_attr.c ----

ln_status ln_onnx_write_attributes(ln_onnx_writer *w);

// The graph that a parameter of w->op names; NULL: it names none.
const char *ln_onnx_graph_param(const ln_op *op, const ln_param_entry *param);

// ---- write_tensor.c ----

// 1 if `op` makes a constant that is known without running it.
int ln_onnx_is_constant_op(const ln_op *op);

// The constant of `op`, as a message TensorProto, to w->tensor; `name` NULL: it has none.
ln_status ln_onnx_write_constant(ln_onnx_writer *w, const ln_op *op, const char *name);

// A new initializer of one number without dimensions; *out_name has room for LN_MAX_NAME_LEN bytes.
ln_status ln_onnx_add_int(ln_onnx_writer *w, int value, char *out_name);

// ---- write_type.c ----

// A TypeProto, appended to `out`.
ln_status ln_onnx_put_tensor_type(ln_onnx_out *out, tl_dtype dtype, int has_shape, int ndim,
                                  const int *dims, const char *const *symbols);

// The same of what ln_onnx_type_print has made: "seq(FLOAT[2, ?])".
ln_status ln_onnx_put_type_text(ln_onnx_out *out, const char *text);

// ---- write.c ----

ln_status ln_onnx_write_mem(const ln_context *ctx, char **out_bytes, size_t *out_byte_count);

// The same into a file; with `is_external`, or where one file could not hold them, large constants
// go to a file beside it, named as it is with ".data" after.
ln_status ln_onnx_write_file(const ln_context *ctx, const char *path, int is_external);

#endif
