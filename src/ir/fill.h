// SPDX-License-Identifier: Apache-2.0
// Fills the tensors that a model takes from a file: from the data file, or from what is attached to
// it.

#ifndef LN_IR_FILL_H
#define LN_IR_FILL_H

#include <lightnet/context.h>
#include <lightnet/tensor_file.h>

typedef struct ln_fill {
    ln_context *ctx;
    ln_tensor_file *file; // NULL: not open
    size_t missing_count; // tensors that nobody has anything for
} ln_fill;

// 1 if the operator's tensors are constants that come from a file.
int ln_op_is_from_file(const ln_op *op);

// 1 if they are inputs whose first value comes from a file, if that has them.
int ln_op_is_first_from_file(const ln_op *op);

// What the first value of the input that `op` makes is, where it is attached to the model; NULL: it
// is not, or has another type or shape.
const tl_tensor *ln_find_first_attached(const ln_context *ctx, const ln_op *op);

// 1 if the model has elements from a file for the tensors of `op`: constants, or a first value.
int ln_op_takes_weights(const ln_context *ctx, const ln_op *op);

// Whether a tensor of a data file is what the model takes for `to`; LN_INVALID with both.
ln_status ln_check_fits(const ln_tensor_file *file, int index, const ln_tensor_entry *to,
                        const char *datafile);

// Opens the data file of the context, if it has one.
ln_status ln_fill_open(ln_fill *fill);
void ln_fill_close(ln_fill *fill);

// Fills the outputs of `op`, whose tensors have their memory; what is used where it is needs
// nothing. Opens the data file if it has to.
ln_status ln_fill_op(ln_fill *fill, const ln_op *op);

// What `op` has read while loading, and nobody reads in a run, may leave memory where it is a file.
void ln_fill_let_go(const ln_context *ctx, const ln_op *op);

#endif
