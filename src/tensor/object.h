// SPDX-License-Identifier: Apache-2.0
// Containers that operators make: charged to the meter of their model, whatever their items are
// charged to. Those of the public functions are charged to the meter of their first item.

#ifndef LN_TENSOR_OBJECT_H
#define LN_TENSOR_OBJECT_H

#include <lightnet/object.h>

ln_object *ln_object_make_sequence(tl_dtype elem_dtype, size_t count, ln_object *const *items,
                                   ln_meter *meter);
ln_object *ln_object_make_optional(ln_object *item, ln_meter *meter);

#endif
