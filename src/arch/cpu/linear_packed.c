// SPDX-License-Identifier: Apache-2.0
// Products with packed weights: shapes, and from tensors and parameters to gemm.

#include "arch/cpu/linear_packed.h"

#include <limits.h>
#include <stdint.h>

#include <lightnet/shape.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/gemm/packed.h"
#include "base/minmax.h"
#include "ir/context.h"

// ---- Shapes ----

static int fail(const char *message, int a, int b)
{
    ln_fail(LN_INVALID, message, a, b);
    return -1;
}

// Floats of packed weights [k, n]; -1 with a recorded failure if they are too many.
static int packed_len(int k, int n)
{
    size_t len = ln_gemm_packed_len((size_t)k, (size_t)n);
    if (len <= INT_MAX)
        return (int)len;
    ln_fail(LN_LIMIT, "%d rows of %d packed weights do not fit a tensor", k, n);
    return -1;
}

int ln_cpu_shape_linear_pack(int *dims, const tl_tensor *weight, int is_transposed, int channels)
{
    int k = weight->dims[is_transposed ? 1 : 0], n = weight->dims[is_transposed ? 0 : 1];
    if (channels != 0 && k % channels != 0)
        return fail("%d rows are no image of %d channels", k, channels);
    dims[0] = packed_len(k, n);
    return dims[0] < 0 ? -1 : 1;
}

int ln_cpu_shape_linear_packed(int *dims, const tl_tensor *src, const tl_tensor *packed,
                               const tl_tensor *bias, const tl_tensor *addend, int outputs)
{
    if (src->ndim < 1)
        return fail("src of rank %d should have rank 1 or more, for %d outputs", src->ndim,
                    outputs);
    int len = packed_len(src->dims[src->ndim - 1], outputs);
    if (len < 0)
        return -1;
    if (packed->len != len)
        return fail("there are %d packed weights instead of %d", packed->len, len);
    if (bias && bias->len != outputs)
        return fail("there are %d biases instead of %d", bias->len, outputs);
    for (int i = 0; i + 1 < src->ndim; i++)
        dims[i] = src->dims[i];
    dims[src->ndim - 1] = outputs;
    len = ln_compute_length(src->ndim, dims);
    if (len < 0)
        return -1;
    if (addend && addend->len != len)
        return fail("the addend has %d elements instead of %d", addend->len, len);
    return src->ndim;
}

// ---- Products ----

// Of weights whose columns are rows of the model's file so many bytes are packed at once, then
// their pages may go.
#define PACK_BYTES   ((size_t)16 << 20)
#define PACK_COLUMNS 128

static void pack_turned(const ln_op_arg *op_arg, size_t k, size_t n, size_t channels,
                        const char *from, float *packed)
{
    size_t column_bytes = k * sizeof(float);
    size_t most = n;
    if (column_bytes > 0)
        most = (PACK_BYTES / column_bytes / PACK_COLUMNS + 1) * PACK_COLUMNS;
    for (size_t first = 0; first < n; first += most) {
        size_t count = ln_min(n - first, most);
        ln_gemm_pack_image_f32(ln_cpu_isa_get(), k, count, channels, (const void *)from, 1, k,
                               packed + first * k, ln_cpu_pool(op_arg));
        ln_context_let_go(op_arg->context, from, count * column_bytes);
        from += count * column_bytes;
    }
}

void ln_cpu_linear_pack(const ln_op_arg *op_arg, const tl_tensor *weight, tl_tensor *dst,
                        int is_transposed, int channels)
{
    size_t rows = (size_t)weight->dims[0], columns = (size_t)weight->dims[1];
    size_t order = channels > 0 ? (size_t)channels : 1;
    if (is_transposed)
        pack_turned(op_arg, columns, rows, order, weight->data, dst->data);
    else
        ln_gemm_pack_image_f32(ln_cpu_isa_get(), rows, columns, order, weight->data, columns, 1,
                               dst->data, ln_cpu_pool(op_arg));
}

void ln_cpu_linear_packed(ln_pool *pool, const ln_cpu_linear_call *linear)
{
    size_t n = (size_t)linear->outputs, k = (size_t)linear->src->dims[linear->src->ndim - 1];
    ln_gemm_packed_f32_args args = {
        .m = (size_t)linear->dst->len / n,
        .n = n,
        .k = k,
        .a = linear->src->data,
        .a_stride = k,
        .packed = linear->packed->data,
        .y = linear->dst->data,
        .y_stride = n,
        .epilogue = {.bias = linear->bias ? linear->bias->data : NULL,
                     .addend = linear->addend ? linear->addend->data : NULL,
                     .addend_stride = n,
                     .is_addend_last = linear->is_addend_last,
                     .act = linear->act,
                     .alpha = linear->alpha,
                     .beta = linear->beta},
    };
    ln_gemm_packed_f32(ln_cpu_isa_get(), &args, pool);
}
