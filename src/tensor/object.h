// SPDX-License-Identifier: Apache-2.0
// Containers that operators make: charged to the meter of their model, whatever their items are
// charged to. Those of the public functions are charged to the meter of their first item.

#ifndef LN_TENSOR_OBJECT_H
#define LN_TENSOR_OBJECT_H

#include <lightnet/object.h>

ln_object *ln_object_make_sequence(tl_dtype elem_dtype, size_t count, ln_object *const *items,
                                   ln_meter *meter);
ln_object *ln_object_make_optional(ln_object *item, ln_meter *meter);

// The bytes of all strings of a tensor, as a meter counts them; 0 of other objects. O(1).
size_t ln_object_string_bytes(const ln_object *object);

#endif
