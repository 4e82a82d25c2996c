// SPDX-License-Identifier: Apache-2.0
// From products with packed weights to gemm.

#include "arch/cpu/linear.h"

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/gemm/packed.h"

void ln_cpu_linear_pack(const tl_tensor *weight, tl_tensor *dst, bool is_transposed)
{
    size_t rows = (size_t)weight->dims[0], columns = (size_t)weight->dims[1];
    if (is_transposed)
        ln_gemm_pack_f32(ln_cpu_isa_get(), columns, rows, weight->data, 1, columns, dst->data,
                         NULL);
    else
        ln_gemm_pack_f32(ln_cpu_isa_get(), rows, columns, weight->data, columns, 1, dst->data,
                         NULL);
}

void ln_cpu_linear(ln_pool *pool, const ln_cpu_linear_call *linear)
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
