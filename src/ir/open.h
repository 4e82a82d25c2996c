// SPDX-License-Identifier: Apache-2.0
// Open tensors: those whose shape and type are known only in a run.
//
// Until a run gives it a value, an open tensor is empty, so that everything that plans memory
// passes over it. Then it shows the tensor of the object that it holds; a sequence, an optional or
// a map shows as one element of type TL_OBJECT.

#ifndef LN_IR_OPEN_H
#define LN_IR_OPEN_H

#include <stdbool.h>

#include <lightnet/context.h>

// The entry shows `object` and holds it. The entry is open.
void ln_open_hold(ln_tensor_entry *entry, ln_object *object);

// The entry holds nothing and is empty.
void ln_open_drop(ln_tensor_entry *entry);

// The tensor as planning knows it: an open one has no shape and type yet, whatever it holds now.
const tl_tensor *ln_entry_planned_tensor(const ln_tensor_entry *entry);

// Some input of the model has its shape in a run only. NULL has none.
bool ln_context_has_open_input(const ln_context *ctx);

// As ln_context_set_shapes, for a plan of some runs: what the model leaves open stays open for
// ln_context_tensor_dim where it has a size by default.
ln_status ln_context_set_run_shapes(ln_context *ctx, size_t count, const ln_input_shape *shapes);

// Inputs of sizes by default are open from now on; operators are not checked again. False: there
// are none.
bool ln_context_open_defaults(const ln_context *ctx);

#endif
