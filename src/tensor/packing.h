// SPDX-License-Identifier: Apache-2.0
// How elements are in files, where that differs from how a tensor has them in memory.

#ifndef LN_TENSOR_PACKING_H
#define LN_TENSOR_PACKING_H

#include <lightnet/dtype.h>

typedef enum ln_packing {
    LN_PACKED_SAME, // as in memory, but of any alignment
    LN_PACKED_BOOL, // a TL_BOOL as one byte, where all but 0 is true
    LN_PACKED_F16,  // a TL_FLOAT as an IEEE 754 binary16
    LN_PACKED_BF16, // a TL_FLOAT as its upper 16 bits
} ln_packing;

// Bytes of one element in the file.
size_t ln_packed_size(ln_packing packing, tl_dtype dtype);

// Turns `count` elements at `packed`, of any alignment, into elements of `dtype` at `data`. Exact:
// a 16-bit float becomes the float of the same value, NaN one with the same bits in front.
void ln_unpack(void *data, tl_dtype dtype, const void *packed, ln_packing packing, size_t count);

#endif
