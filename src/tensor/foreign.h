// SPDX-License-Identifier: Apache-2.0
// Files that are taken for models and are none that LightNet reads: other systems' models,
// archives, failed downloads, weights, pictures. They are known by sight only, to say what to do
// with them.

#ifndef LN_TENSOR_FOREIGN_H
#define LN_TENSOR_FOREIGN_H

#include <stddef.h>

typedef struct ln_foreign {
    const char *what;   // "a TensorFlow Lite model"
    const char *remedy; // "convert it to ONNX: ..."
} ln_foreign;

// What a file of the name `path` (NULL: unknown) that begins with these bytes is; NULL if it is
// nothing that is known here.
const ln_foreign *ln_foreign_find(const char *path, const char *bytes, size_t byte_count);

// What such a file or a model of LightNet is, where neither is wanted: "an ONNX model"; NULL if it
// is nothing that is known here.
const char *ln_foreign_kind(const char *bytes, size_t byte_count);

#endif
