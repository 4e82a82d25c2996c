// SPDX-License-Identifier: Apache-2.0
// The types of inputs and outputs.

#ifndef LN_SERIAL_ONNX_TYPE_H
#define LN_SERIAL_ONNX_TYPE_H

#include <lightnet/tensor.h>

#include "base/text.h"
#include "serial/onnx/message.h"
#include "serial/onnx/source.h"

typedef struct ln_onnx_type_info {
    tl_dtype dtype; // TL_OBJECT for sequences, optionals and maps; TL_DTYPE_INVALID: not said
    int has_rank;   // 0: nothing is known about the shape
    int ndim;
    int dims[TL_MAXDIM];              // -1: not known
    ln_onnx_bytes symbols[TL_MAXDIM]; // names of dimensions; empty: none
} ln_onnx_type_info;

// Reads a TypeProto; one that is absent says nothing. What dimensions the lists take comes from
// `arena`.
ln_status ln_onnx_type_read(const ln_onnx_source *source, ln_onnx_bytes message,
                            ln_onnx_arena *arena, ln_onnx_type_info *out);

// "FLOAT[N, 3, 224, 224]", "seq(INT64[?])", "?".
ln_status ln_onnx_type_print(ln_onnx_bytes message, ln_onnx_arena *arena, ln_text *text);

#endif
