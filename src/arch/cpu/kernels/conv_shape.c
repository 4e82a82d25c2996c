// SPDX-License-Identifier: Apache-2.0
// What all convolutions ask of their shape.

#include "arch/cpu/kernels/conv_shape.h"

#include <stdint.h>

#include "base/checked.h"

ln_status ln_conv_shape_check(const ln_conv_shape *s, const char *name, size_t max_stride)
{
    if (s->group == 0)
        return LN_FAIL(LN_INVALID, "%s: group is 0", name);
    if (s->in_channels % s->group || s->out_channels % s->group)
        return LN_FAIL(LN_INVALID, "%s: %zu and %zu channels do not divide into %zu groups", name,
                       s->in_channels, s->out_channels, s->group);
    if (s->kernel_h == 0 || s->kernel_w == 0)
        return LN_FAIL(LN_INVALID, "%s: a kernel of %zu x %zu", name, s->kernel_h, s->kernel_w);
    if (s->stride_h == 0 || s->stride_w == 0 || s->stride_h > max_stride ||
        s->stride_w > max_stride)
        return LN_FAIL(LN_INVALID, "%s: strides %zu and %zu are outside 1..%zu", name, s->stride_h,
                       s->stride_w, max_stride);
    if (s->dilation_h == 0 || s->dilation_w == 0)
        return LN_FAIL(LN_INVALID, "%s: dilations %zu and %zu", name, s->dilation_h, s->dilation_w);
    return LN_OK;
}

bool ln_float_bytes(const size_t *factors, size_t count, size_t *out_byte_count)
{
    size_t result = sizeof(float);
    for (size_t i = 0; i < count; i++) {
        if (!ln_size_mul(result, factors[i], &result))
            return false;
    }
    *out_byte_count = result;
    return result <= PTRDIFF_MAX;
}
