/* SPDX-License-Identifier: Apache-2.0 */
/* Values whose size is known only when the model runs: tensors, sequences, optionals and maps.
 *
 * An object is immutable and counted: whoever keeps one retains it, and releases it when done.
 * Counting is thread-safe. A tensor of dtype TL_OBJECT has one element, an `ln_object *`; a tensor
 * of dtype TL_STRING has elements `const char *`, UTF-8 that ends with a 0 byte, NULL being "".
 *
 * Functions that return an object return it retained, or NULL with a recorded failure.
 */

#ifndef LIGHTNET_OBJECT_H
#define LIGHTNET_OBJECT_H

#include <stddef.h>

#include <lightnet/export.h>
#include <lightnet/status.h>
#include <lightnet/tensor.h>

LN_CPPSTART

typedef enum ln_object_kind {
    LN_OBJECT_TENSOR = 1,
    LN_OBJECT_SEQUENCE, /* any number of items, all of one kind and dtype */
    LN_OBJECT_OPTIONAL, /* one item, or none */
    LN_OBJECT_MAP       /* two items, tensors of as many keys as values */
} ln_object_kind;

typedef struct ln_object ln_object;

/* What counts the bytes that the objects of one context take; see `ln_object_new_tensor`. */
typedef struct ln_meter ln_meter;

/* A meter that refuses to go beyond `limit` bytes. Counted, like objects. */
LN_API ln_meter *ln_meter_create(size_t limit);
LN_API ln_meter *ln_meter_retain(ln_meter *meter);
LN_API void ln_meter_release(ln_meter *meter);
LN_API size_t ln_meter_bytes(const ln_meter *meter); /* now */
LN_API size_t ln_meter_peak(const ln_meter *meter);  /* since it was made or reset */
LN_API void ln_meter_reset_peak(ln_meter *meter);

/* A tensor of zeros (empty strings), to be filled by whoever makes it before anyone else sees it:
 * the only time at which the tensor that `ln_object_tensor` returns may be written. `meter` is
 * charged for as long as the object lives; LN_LIMIT if it refuses; NULL: nobody is. */
LN_API ln_object *ln_object_new_tensor(tl_dtype dtype, int ndim, const int *dims, ln_meter *meter);

/* A copy of a tensor with its elements; strings are copied too. Of a TL_OBJECT tensor, its object.
 */
LN_API ln_object *ln_object_copy_tensor(const tl_tensor *tensor, ln_meter *meter);

/* The same elements as tensor object `object` in another shape of as many elements; no copy. */
LN_API ln_object *ln_object_reshape(ln_object *object, int ndim, const int *dims);

/* Sequences and optionals retain their items. `elem_dtype` is that of the tensors in a sequence,
 * also an empty one. `item` NULL is an optional without content. */
LN_API ln_object *ln_object_new_sequence(tl_dtype elem_dtype, size_t count,
                                         ln_object *const *items);
LN_API ln_object *ln_object_new_optional(ln_object *item);
LN_API ln_object *ln_object_new_map(ln_object *keys, ln_object *values);

LN_API ln_object *ln_object_retain(ln_object *object);
LN_API void ln_object_release(ln_object *object); /* NULL is fine */

LN_API ln_object_kind ln_object_get_kind(const ln_object *object);
LN_API size_t ln_object_count(const ln_object *object);                  /* items; 0 for a tensor */
LN_API ln_object *ln_object_item(const ln_object *object, size_t index); /* borrowed; NULL: none */
LN_API tl_dtype ln_object_elem_dtype(const ln_object *object); /* of a tensor or a sequence */
LN_API tl_tensor *ln_object_tensor(const ln_object *object);   /* borrowed; NULL: another kind */

/* Sets element `index` of a string tensor that is being filled to a copy of `len` bytes. Copies up
 * to the first 0 byte if there is one. */
LN_API ln_status ln_object_set_string(ln_object *object, size_t index, const char *bytes,
                                      size_t len);

LN_CPPEND

#endif
