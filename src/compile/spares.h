// SPDX-License-Identifier: Apache-2.0
// What an instance of a template is spared: operators that compute constants which are in the
// memory that instances share. Of those that runs read, a `create` stays, which makes no elements;
// the others are left out.
//
//     template     w -> fold -> pack -> conv(x)         b -> add
//     an instance              create -> conv(x)         b -> add

#ifndef LN_COMPILE_SPARES_H
#define LN_COMPILE_SPARES_H

#include "compile/constants.h"

typedef struct ln_spares ln_spares;

// Of a template, READY, which is borrowed. `varies`, borrowed for the call, says for each operator,
// in the order of the list, whether its parameters depend on the shape.
ln_status ln_spares_create(const ln_context *rewritten, const bool *varies, ln_spares **out_spares);
void ln_spares_destroy(ln_spares *spares); // NULL is fine

// Finds them for the parameters that the template has now.
ln_status ln_spares_find(ln_spares *spares, const ln_constants *constants);

// *out_copy, the caller's, is what an instance has of operator `index`; NULL: nothing.
ln_status ln_spares_copy_op(const ln_spares *spares, const ln_op *op, size_t index,
                            ln_op **out_copy);

// Once the operators of `instance` are checked: says which tensors are shared constants.
ln_status ln_spares_mark(const ln_spares *spares, ln_context *instance);

// Whether `instance` was spared operators: its tables are not those of other plans.
bool ln_context_is_spared(const ln_context *instance);

#endif
