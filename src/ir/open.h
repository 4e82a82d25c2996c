// SPDX-License-Identifier: Apache-2.0
// Open tensors: those whose shape and type are known only in a run.
//
// Until a run gives it a value, an open tensor is empty, so that everything that plans memory
// passes over it. Then it shows the tensor of the object that it holds; a sequence, an optional or
// a map shows as one element of type TL_OBJECT.

#ifndef LN_IR_OPEN_H
#define LN_IR_OPEN_H

#include <lightnet/tensor_entry.h>

// The entry shows `object` and holds it. The entry is open.
void ln_open_hold(ln_tensor_entry *entry, ln_object *object);

// The entry holds nothing and is empty.
void ln_open_drop(ln_tensor_entry *entry);

// The tensor as planning knows it: an open one has no shape and type yet, whatever it holds now.
const tl_tensor *ln_entry_planned_tensor(const ln_tensor_entry *entry);

#endif
