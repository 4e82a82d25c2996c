// SPDX-License-Identifier: Apache-2.0
// Shapes of products with packed weights.

#include "op/linear.h"

#include <limits.h>
#include <stdint.h>

#include <lightnet/opshape.h>
#include <lightnet/shape.h>

#include "op/conv_nhwc.h"

int ln_linear_packed_len(int k, int n)
{
    int64_t columns = ((int64_t)n + LN_PACK_LANES - 1) / LN_PACK_LANES * LN_PACK_LANES;
    int64_t len = columns * k;
    if (len <= INT_MAX)
        return (int)len;
    ln_fail(LN_LIMIT, "%d rows of %d packed weights do not fit a tensor", k, n);
    return -1;
}

size_t ln_linear_packed_at(int k, int p, int j)
{
    size_t panel = (size_t)j / LN_PACK_LANES;
    return (panel * (size_t)k + (size_t)p) * LN_PACK_LANES + (size_t)j % LN_PACK_LANES;
}

int ln_linear_packed_row(int k, int channels, int p)
{
    if (channels == 0)
        return p;
    int pixels = k / channels;
    return p % pixels * channels + p / pixels;
}

int ln_shape_linear_pack(int *dims, const tl_tensor *weight, int is_transposed, int channels)
{
    int k = weight->dims[is_transposed ? 1 : 0], n = weight->dims[is_transposed ? 0 : 1];
    if (channels != 0 && k % channels != 0) {
        ln_fail(LN_INVALID, "%d rows are no image of %d channels", k, channels);
        return -1;
    }
    dims[0] = ln_linear_packed_len(k, n);
    return dims[0] < 0 ? -1 : 1;
}

static int fail(const char *message, int a, int b)
{
    ln_fail(LN_INVALID, message, a, b);
    return -1;
}

int ln_shape_linear(int *dims, const tl_tensor *src, const tl_tensor *packed, const tl_tensor *bias,
                    const tl_tensor *addend, int outputs)
{
    if (src->ndim < 1)
        return fail("src of rank %d should have rank 1 or more, for %d outputs", src->ndim,
                    outputs);
    int packed_len = ln_linear_packed_len(src->dims[src->ndim - 1], outputs);
    if (packed_len < 0)
        return -1;
    if (packed->len != packed_len)
        return fail("there are %d packed weights instead of %d", packed->len, packed_len);
    if (bias && bias->len != outputs)
        return fail("there are %d biases instead of %d", bias->len, outputs);
    for (int i = 0; i + 1 < src->ndim; i++)
        dims[i] = src->dims[i];
    dims[src->ndim - 1] = outputs;
    int len = ln_compute_length(src->ndim, dims);
    if (len < 0)
        return -1;
    if (addend && addend->len != len)
        return fail("the addend has %d elements instead of %d", addend->len, len);
    return src->ndim;
}
