// SPDX-License-Identifier: Apache-2.0
// Pooling: what `pool` and the poolings of ONNX ask for, and their shapes.

#ifndef LN_OP_POOL_H
#define LN_OP_POOL_H

#include <lightnet/call.h>

#include "op/window.h"

LN_CPPSTART

typedef enum ln_pool_kind {
    LN_POOL_OF_MAX,
    LN_POOL_OF_MEAN,
    LN_POOL_OF_NORM,
} ln_pool_kind;

typedef struct ln_pooling {
    ln_pool_kind kind;
    ln_window window;
    bool counts_padding; // in means
    double p;            // of the norm
} ln_pooling;

// Reads the parameters of `pool` or MaxPool for an input like `src`. Without a size the window of
// `pool` is all of the input; its size is 0 where that has no elements.
ln_status ln_pooling_read(ln_call *call, const tl_tensor *src, ln_pooling *out_pooling);

// Whether there is one window, of all elements.
bool ln_pooling_is_global(const ln_pooling *pooling);

// The shape of the image from which MaxPool would have made input X of MaxUnpool.
ln_status ln_max_unpool_image(ln_call *call, int64_t *out_dims);

LN_CPPEND

#endif
