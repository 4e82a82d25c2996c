// SPDX-License-Identifier: Apache-2.0
// A model as a tree of values: the shape that JSON IR and IL share.
//
//     {"ops": [{"name", "optype", "tensors_in": [{"arg_name", "name"}],
//               "tensors_out": [...], "params": [{"arg_name", "value"}]}]}
//
// A compiled model adds "format", "version", "target", "memory", and dtype, dims, mtype, static
// and offset to each output, and "owner" to one that is in another tensor. One with dynamic inputs
// adds "format", "version", "target" and "dynamic", the options with which it is compiled when it
// is read. The leaves only turn texts into this tree and back.

#ifndef LN_SERIAL_MODEL_TREE_H
#define LN_SERIAL_MODEL_TREE_H

#include <lightnet/context.h>
#include <lightnet/serializer.h>

#include "base/value.h"
#include "ir/compiled.h"

#define LN_COMPILED_FORMAT  "lightnet-compiled"
#define LN_COMPILED_VERSION 1

// What one operator of a file has at most. Its lists are walked for each of their elements.
#define LN_MODEL_MAX_TENSORS 1024 // inputs; outputs
#define LN_MODEL_MAX_PARAMS  256

// "info", what the model's file stated about the model: model_tree_info.c.
ln_status ln_model_tree_make_info(const ln_context *ctx, ln_document *document, ln_value *root);
ln_status ln_model_tree_read_info(ln_context *ctx, const ln_value *root);

// "dynamic", the options of a compiled model with dynamic inputs that are on, "shapes", to which
// inputs are bound, and "ranges": model_tree_dynamic.c.
ln_status ln_model_tree_make_dynamic(const ln_compiled *compiled, ln_document *document,
                                     ln_value *root);
ln_status ln_model_tree_read_dynamic(const ln_value *root, ln_compiled *compiled);

// Appends the tree's operators to `ctx->ops` and, from a compiled tree, fills in `ctx->compiled`.
ln_status ln_model_tree_read(ln_serializer *serializer, ln_context *ctx, ln_document *document);

// Makes the tree of a context, with its memory plan or without.
ln_status ln_model_tree_make(const ln_context *ctx, int with_plan, ln_document **out_document);

#endif
