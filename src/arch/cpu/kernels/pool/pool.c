// SPDX-License-Identifier: Apache-2.0
// Drives pooling: for each output row, the input rows of its windows become one row, between
// borders that do not change a result; then the windows slide along it.
//
//   workspace:   | left border | in_w columns | right border | inputs per window, out_w floats |

#include "arch/cpu/kernels/pool/pool.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/checked.h"

// ---- Shapes ----

// How far a vector's gather may step, in floats; keeps its 32-bit offsets from overflowing.
#define MAX_STRIDE ((size_t)1 << 24)

// Floats of the row between its borders: whatever a window reaches, and all of the input.
static bool row_width(const ln_pool2d_shape *s, size_t *out)
{
    size_t inner;
    if (!ln_size_mul(s->out_w, s->stride_w, out) || !ln_size_add(*out, s->kernel_w, out) ||
        !ln_size_add(s->in_w, s->pad_left, &inner))
        return false;
    *out = *out > inner ? *out : inner;
    return true;
}

static bool sizes_fit(const ln_pool2d_shape *s, size_t *out_workspace)
{
    size_t in, out, rows, byte_count;
    *out_workspace = 0;
    if (!ln_size_mul(s->in_h, s->in_w, &in) || !ln_size_mul(in, s->planes, &in) ||
        !ln_size_mul(in, sizeof(float), &in) || in > PTRDIFF_MAX)
        return false;
    if (!ln_size_mul(s->out_h, s->out_w, &out) || !ln_size_mul(out, s->planes, &out) ||
        !ln_size_mul(out, sizeof(float), &out) || out > PTRDIFF_MAX)
        return false;
    if (!ln_size_mul(s->out_h, s->stride_h, &rows) || !ln_size_add(rows, s->kernel_h, &rows) ||
        !ln_size_add(s->in_h, s->pad_top, &rows))
        return false;
    if (!row_width(s, &byte_count) || !ln_size_add(byte_count, s->out_w, &byte_count) ||
        !ln_size_mul(byte_count, sizeof(float), &byte_count) || byte_count > PTRDIFF_MAX)
        return false;
    *out_workspace = byte_count;
    return true;
}

// Every one of `out` windows meets the input.
static bool windows_meet(size_t in, size_t out, size_t kernel, size_t stride, size_t pad)
{
    return out == 0 || (in > 0 && pad < kernel && (out - 1) * stride < in + pad);
}

ln_status ln_pool2d_check(const ln_pool2d_shape *shape)
{
    size_t workspace;
    if (shape->kernel_h == 0 || shape->kernel_w == 0)
        return LN_FAIL(LN_INVALID, "pool2d: a window of %zu x %zu", shape->kernel_h,
                       shape->kernel_w);
    if (shape->stride_h == 0 || shape->stride_w == 0 || shape->stride_h > MAX_STRIDE ||
        shape->stride_w > MAX_STRIDE)
        return LN_FAIL(LN_INVALID, "pool2d: strides %zu and %zu are outside 1..%zu",
                       shape->stride_h, shape->stride_w, MAX_STRIDE);
    if (!sizes_fit(shape, &workspace))
        return LN_FAIL(LN_INVALID, "pool2d: sizes overflow");
    if (!windows_meet(shape->in_h, shape->out_h, shape->kernel_h, shape->stride_h,
                      shape->pad_top) ||
        !windows_meet(shape->in_w, shape->out_w, shape->kernel_w, shape->stride_w, shape->pad_left))
        return LN_FAIL(LN_INVALID,
                       "pool2d: a window of %zu x %zu over %zu x %zu, padded by %zu and %zu, "
                       "meets no input",
                       shape->kernel_h, shape->kernel_w, shape->in_h, shape->in_w, shape->pad_top,
                       shape->pad_left);
    return LN_OK;
}

size_t ln_pool2d_f32_workspace(const ln_pool2d_shape *shape)
{
    size_t byte_count;
    if (ln_pool2d_check(shape) != LN_OK || !sizes_fit(shape, &byte_count))
        return SIZE_MAX;
    return byte_count;
}

// ---- Running ----

// The inputs that window number `i` covers on one axis: [*out_first, *out_first + result).
static size_t covered(size_t i, size_t in, size_t kernel, size_t stride, size_t pad,
                      size_t *out_first)
{
    size_t start = i * stride, end = start + kernel;
    start = start > pad ? start - pad : 0;
    end = end - pad < in ? end - pad : in;
    *out_first = start;
    return end - start;
}

void ln_pool2d_f32(ln_cpu_isa isa, const ln_pool2d_f32_args *args, float *workspace)
{
    const ln_pool2d_shape *s = &args->shape;
    const ln_pool_f32_kernels *set = ln_pool_f32_select(isa);
    size_t width, first;
    if (s->planes == 0 || s->out_h == 0 || s->out_w == 0 || !row_width(s, &width))
        return;

    float *row = workspace, *count_x = workspace + width;
    for (size_t i = 0; i < width; i++)
        row[i] = args->kind == LN_POOL_MAX ? -__builtin_inff() : 0.0f;
    for (size_t i = 0; i < s->out_w; i++)
        count_x[i] = (float)covered(i, s->in_w, s->kernel_w, s->stride_w, s->pad_left, &first);

    ln_pool_rows_f32_args rows = {.kind = args->kind,
                                  .count = s->out_w,
                                  .kernel = s->kernel_w,
                                  .step = s->stride_w,
                                  .x = row,
                                  .count_x = count_x,
                                  .y = args->y};
    for (size_t plane = 0; plane < s->planes; plane++) {
        const float *x = args->x + plane * s->in_h * s->in_w;
        for (size_t i = 0; i < s->out_h; i++) {
            size_t count = covered(i, s->in_h, s->kernel_h, s->stride_h, s->pad_top, &first);
            set->columns(args->kind, count, s->in_w, x + first * s->in_w, s->in_w,
                         row + s->pad_left);
            rows.count_y = (float)count;
            set->rows(&rows);
            rows.y += s->out_w;
        }
    }
}
