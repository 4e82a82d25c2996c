// SPDX-License-Identifier: Apache-2.0
// Sets of element types that descriptions name, besides those of lightnet/dtype.h.

#ifndef LN_OP_TYPES_H
#define LN_OP_TYPES_H

#include <lightnet/dtype.h>

// What can be computed with element by element.
#define LN_TYPES_ELEMENT (LN_TYPES_NUMBER | LN_TYPE(TL_BOOL))

// All element types but objects: what operators that only move elements take.
#define LN_TYPES_MOVED (LN_TYPES_ANY & ~LN_TYPE(TL_OBJECT))
#define LN_TYPES_INDEX (LN_TYPE(TL_INT32) | LN_TYPE(TL_INT64))

// What Cast takes and gives.
#define LN_TYPES_CAST (LN_TYPES_ANY & ~(LN_TYPES_COMPLEX | LN_TYPE(TL_OBJECT)))

#define LN_TYPES_BYTE (LN_TYPE(TL_UINT8) | LN_TYPE(TL_INT8))

// What QuantizeLinear gives and DequantizeLinear takes.
#define LN_TYPES_QUANT                                                                             \
    (LN_TYPES_BYTE | LN_TYPE(TL_UINT16) | LN_TYPE(TL_INT16) | LN_TYPES_FLOAT8 |                    \
     LN_TYPES_SMALL_INT | LN_TYPE(TL_FLOAT4E2M1))
#define LN_TYPES_SCALE                                                                             \
    (LN_TYPE(TL_FLOAT) | LN_TYPE(TL_FLOAT16) | LN_TYPE(TL_BFLOAT16) | LN_TYPE(TL_FLOAT8E8M0))

#endif
