// SPDX-License-Identifier: Apache-2.0
// Tensor objects cut into parts and joined, for sequences, Loop and Scan.

#ifndef LN_ARCH_REF_ONNX_PIECES_H
#define LN_ARCH_REF_ONNX_PIECES_H

#include <stdbool.h>

#include <lightnet/call.h>

// The elements [start, start + len) of `src` on `axis`, all of which are there. Without
// `keeps_axis` the result, whose `len` is 1, lacks the axis. NULL with a recorded failure.
ln_object *ln_ref_slice_object(ln_call *call, const tl_tensor *src, int axis, int start, int len,
                               bool keeps_axis);

// `count` > 0 tensors of one dtype and rank, joined along `axis` of the result, negative ones from
// its back. Without `is_new_axis` their dimensions differ on that axis at most, with it not at all.
// NULL with a recorded failure, also where an item is no tensor or does not fit.
ln_object *ln_ref_join_objects(ln_call *call, int64_t axis, bool is_new_axis, size_t count,
                               ln_object *const *items);

// Releases `count` objects, of which some may be NULL, and sets them to NULL.
void ln_ref_release_all(ln_object **objects, size_t count);

#endif
