// SPDX-License-Identifier: Apache-2.0
// What the operators of create.op call.

#ifndef LN_OP_CREATE_H
#define LN_OP_CREATE_H

#include <lightnet/call.h>

// Notes what is known about the elements of `entry`, the output of a `create`, before it runs:
// those that the model brings along, or short `data`. NULL is fine.
void ln_op_know_created(ln_op_arg *op_arg, ln_tensor_entry *entry, const double *ran,
                        const double *data, int data_len, int from_file);

#endif
