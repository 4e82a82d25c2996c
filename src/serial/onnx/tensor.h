// SPDX-License-Identifier: Apache-2.0
// The elements of an ONNX tensor, wherever its message keeps them, as our tensors have them.

#ifndef LN_SERIAL_ONNX_TENSOR_H
#define LN_SERIAL_ONNX_TENSOR_H

#include <lightnet/tensor.h>

#include "serial/onnx/message.h"
#include "serial/onnx/source.h"

typedef struct ln_onnx_value {
    tl_dtype dtype;
    int ndim;
    int dims[TL_MAXDIM];
    size_t elem_count;
    size_t byte_count;
    const void *data; // never NULL; at any address
    void *owned;      // NULL if `data` is in the model or a file beside it, as it is
} ln_onnx_value;

// Reads a tensor of checked bytes. Elements that are stored as ours are are not copied. The caller
// releases *out with ln_onnx_value_deinit.
ln_status ln_onnx_tensor_read(ln_onnx_source *source, ln_onnx_bytes message, ln_onnx_value *out);

// The same of a sparse tensor, with all its zeros.
ln_status ln_onnx_sparse_read(ln_onnx_source *source, ln_onnx_bytes message, ln_onnx_value *out);

// The name of a (sparse) tensor; empty if it has none.
ln_onnx_bytes ln_onnx_tensor_name(ln_onnx_bytes message);
ln_onnx_bytes ln_onnx_sparse_name(ln_onnx_bytes message);

void ln_onnx_value_deinit(ln_onnx_value *value);

#endif
