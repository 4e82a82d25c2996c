// SPDX-License-Identifier: Apache-2.0
// Inputs of a context that use the memory of the caller's arrays.

#ifndef LN_IR_BOUND_H
#define LN_IR_BOUND_H

#include <lightnet/context.h>

// True if tensor `entry` is `owner`, or is in it, directly or not.
int ln_context_lies_in(const ln_context *ctx, const ln_tensor_entry *entry,
                       const ln_tensor_entry *owner);

// The array in whose memory the tensor is: its own, or that of the tensor it is a view of. NULL:
// it is where the plan says.
ln_ndarray *ln_bound_find(ln_context *ctx, const ln_tensor_entry *entry);

// From now on the tensor and what is in it use the memory of `array`, which is held. The tensor
// is an owner of memory itself, and the array has its size. On failure all is as before.
ln_status ln_bound_add(ln_context *ctx, ln_tensor_entry *entry, ln_ndarray *array);

// Before the tensor is written: the input in which it is goes back to its planned place, with the
// bytes that the array has. Nothing happens to a tensor that is in no array.
void ln_bound_remove(ln_context *ctx, const ln_tensor_entry *entry);

// The same for all arrays.
void ln_bound_remove_all(ln_context *ctx);

// Gives all arrays back when the context's memory goes, without placing tensors.
void ln_bound_drop(ln_context *ctx);

#endif
