// SPDX-License-Identifier: Apache-2.0
// MatMulNBits: one row of weights after the other is unpacked and multiplied with all rows of A.

#include "arch/ref/functions.h"
#include "base/deadline.h"
#include "op/onnx/quant_elementwise.h"
#include "tensor/elem.h"

// Number `i` of those packed into bytes, the first one in the lowest bits.
static double unpack(const uint8_t *bytes, int64_t i, int64_t bits)
{
    int64_t per_byte = 8 / bits;
    return (double)(bytes[i / per_byte] >> (i % per_byte * bits) & ((1 << bits) - 1));
}

static double zero_point_of(const ln_nbits_call *c, const tl_tensor *zero, int64_t row,
                            int64_t block)
{
    if (!zero)
        return (double)(1 << (c->bits - 1));
    if (zero->dtype != TL_UINT8)
        return ln_elem_real(zero, (size_t)(row * c->block_count + block));
    int64_t row_bytes = (c->block_count * c->bits + 7) / 8;
    return unpack((const uint8_t *)zero->data + row * row_bytes, block, c->bits);
}

static ln_status unpack_row(ln_call *call, const ln_nbits_call *c, int64_t row, double *weights)
{
    const tl_tensor *b = ln_call_in(call, 1), *scales = ln_call_in(call, 2);
    const tl_tensor *zero = ln_call_in(call, 3), *group = ln_call_in(call, 4);
    const uint8_t *packed =
        (const uint8_t *)b->data + row * (c->block_count * c->block * c->bits / 8);
    for (int64_t k = 0; k < c->k; k++) {
        int64_t block = group ? ((const int32_t *)group->data)[k] : k / c->block;
        if (block < 0 || block >= c->block_count)
            return ln_call_fail(call, LN_INVALID, "g_idx %lld is outside of %lld blocks",
                                (long long)block, (long long)c->block_count);
        weights[k] = (unpack(packed, k, c->bits) - zero_point_of(c, zero, row, block)) *
                     ln_elem_real(scales, (size_t)(row * c->block_count + block));
    }
    return LN_OK;
}

ln_status ln_ref_onnx_matmul_nbits(ln_call *call)
{
    const tl_tensor *a = ln_call_in(call, 0), *bias = ln_call_in(call, 5);
    tl_tensor *dst = ln_call_dst(call, 0);
    ln_nbits_call c;
    LN_TRY(ln_nbits_call_read(call, &c));
    double *weights = ln_call_scratch(call, (size_t)c.k, sizeof *weights);
    if (!weights)
        return ln_error_status();
    if (ln_call_is_counting(call))
        return LN_OK;
    int64_t rows = a->len / c.k;
    for (int64_t n = 0; n < c.n; n++) {
        LN_TRY(unpack_row(call, &c, n, weights));
        for (int64_t m = 0; m < rows && !ln_deadline_passed(); m++) {
            double sum = bias ? ln_elem_real(bias, (size_t)n) : 0;
            for (int64_t k = 0; k < c.k; k++)
                sum += weights[k] * ln_elem_real(a, (size_t)(m * c.k + k));
            ln_elem_set_real(dst, (size_t)(m * c.n + n), sum);
        }
    }
    return LN_OK;
}
