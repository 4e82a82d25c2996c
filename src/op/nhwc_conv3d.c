// SPDX-License-Identifier: Apache-2.0
// Shapes of convolutions of volumes.

#include "op/nhwc_conv3d.h"

#include <limits.h>
#include <stdint.h>

#include <lightnet/convdim.h>
#include <lightnet/shape.h>

#include "op/conv_nhwc.h"

static int fail(const char *message, int a, int b)
{
    ln_fail(LN_INVALID, message, a, b);
    return -1;
}

// Of all depths; -1 with a recorded failure.
static int packed_len(const int plane_dims[4], int depth, int group, int algorithm)
{
    int plane = ln_conv_packed_len((ln_conv_algorithm)algorithm, plane_dims, group);
    if (plane < 0)
        return -1;
    if ((int64_t)plane * depth > INT_MAX) {
        ln_fail(LN_LIMIT, "%d times %d packed weights do not fit a tensor", plane, depth);
        return -1;
    }
    return plane * depth;
}

void ln_conv3d_plane_dims(int plane_dims[4], const tl_tensor *src, int group, int channels,
                          const int size[3])
{
    plane_dims[0] = channels;
    plane_dims[1] = src->dims[4] / group;
    plane_dims[2] = size[1];
    plane_dims[3] = size[2];
}

int ln_shape_conv3d_pack(int *dims, const tl_tensor *weight, int group, int algorithm)
{
    const int *d = weight->dims;
    const int plane_dims[4] = {d[0], d[1], d[3], d[4]};
    dims[0] = packed_len(plane_dims, d[2], group, algorithm);
    return dims[0] < 0 ? -1 : 1;
}

int ln_shape_conv3d_ndhwc(int *dims, const tl_tensor *src, const tl_tensor *packed,
                          const tl_tensor *bias, const tl_tensor *addend, int group, int channels,
                          const int size[3], const int stride[3], const int padding[6],
                          const int dilation[3], int algorithm)
{
    int plane_dims[4];
    if (src->dims[4] % group != 0 || channels % group != 0)
        return fail("%d channels cannot be shared by %d groups", src->dims[4], group);
    ln_conv3d_plane_dims(plane_dims, src, group, channels, size);
    if (!ln_conv_algorithm_fits((ln_conv_algorithm)algorithm, plane_dims, group, stride + 1,
                                dilation + 1))
        return fail("algorithm %d is not for a convolution with %d groups like this", algorithm,
                    group);
    int len = packed_len(plane_dims, size[0], group, algorithm);
    if (len < 0)
        return -1;
    if (packed->len != len)
        return fail("there are %d packed weights instead of %d", packed->len, len);
    if (bias && bias->len != channels)
        return fail("there are %d biases instead of %d", bias->len, channels);
    dims[0] = src->dims[0];
    for (int i = 0; i < 3; i++) {
        dims[1 + i] = ln_output_dim_conv(src->dims[1 + i], size[i], stride[i], padding[i],
                                         padding[3 + i], dilation[i]);
        if (dims[1 + i] < 0)
            return -1;
    }
    dims[4] = channels;
    for (int i = 0; addend && i < 5; i++)
        if (addend->dims[i] != dims[i]) {
            ln_fail(LN_INVALID,
                    "axis %d of the addend has the length %d, and that of the result %d", i,
                    addend->dims[i], dims[i]);
            return -1;
        }
    return ln_compute_length(5, dims) < 0 ? -1 : 5;
}
