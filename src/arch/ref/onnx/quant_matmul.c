// SPDX-License-Identifier: Apache-2.0
// Matrix products of quantized tensors. Differences from zero points are exact as floats, and so
// are their sums as doubles.

#include "arch/ref/element.h"
#include "arch/ref/functions.h"
#include "arch/ref/onnx/quant_result.h"
#include "arch/ref/onnx/quant_round.h"
#include "arch/ref/quant.h"
#include "base/deadline.h"

// Where sums go.
typedef struct sink {
    void (*put)(const void *self, int64_t i, double sum);
    const void *self;
} sink;

static void multiply(const ln_matmul_call *m, const float *a, const float *b, int64_t to,
                     const sink *result)
{
    ln_ref_sums sums;
    int64_t count;
    for (int64_t j = 0; j < m->b.columns; j += count) {
        count = m->b.columns - j < LN_REF_SUMS ? m->b.columns - j : LN_REF_SUMS;
        for (int64_t i = 0; i < m->a.rows && !ln_deadline_passed(); i++) {
            ln_ref_start_sums(&sums, TL_FLOAT, count, NULL, 0);
            for (int64_t k = 0; k < m->a.columns; k++) {
                float left = a[i * m->a.row_step + k * m->a.column_step];
                ln_ref_add_products(&sums, TL_FLOAT, 0, count, 1, b,
                                    k * m->b.row_step + j * m->b.column_step, m->b.column_step,
                                    ln_ref_real((double)left));
            }
            for (int64_t x = 0; x < count; x++)
                result->put(result->self, to + i * m->b.columns + j + x, sums.real[x]);
        }
    }
}

static void multiply_batches(const ln_matmul_call *m, const float *a, const float *b,
                             const sink *result)
{
    int64_t at[TL_MAXDIM] = {0}, to = 0;
    for (;;) {
        multiply(m, a, b, to, result);
        to += m->a.rows * m->b.columns;
        int d = m->batch_ndim - 1;
        for (; d >= 0; d--) {
            a += m->a.steps[d];
            b += m->b.steps[d];
            if (++at[d] < m->batch_dims[d])
                break;
            a -= m->a.steps[d] * at[d];
            b -= m->b.steps[d] * at[d];
            at[d] = 0;
        }
        if (d < 0)
            return;
    }
}

// The axes of the output that rows of A and columns of B are on; -1: there is none.
static void find_axes(const tl_tensor *a, const tl_tensor *b, const tl_tensor *dst, int *out_row,
                      int *out_column)
{
    *out_column = b->ndim == 1 ? -1 : dst->ndim - 1;
    *out_row = a->ndim == 1 ? -1 : dst->ndim - (b->ndim == 1 ? 1 : 2);
}

// `centred_a` is NULL where it comes from the input.
static ln_status multiply_quantized(ln_call *call, const ln_quant_places *places, float *centred_a,
                                    double a_scale)
{
    const tl_tensor *a = ln_call_in(call, places->a), *b = ln_call_in(call, places->b);
    const tl_tensor *dst = ln_call_dst(call, 0);
    ln_matmul_call matmul;
    ln_quant_result result;
    int row, column;
    find_axes(a, b, dst, &row, &column);
    LN_TRY(ln_matmul_pair_read(call, places->a, places->b, &matmul));
    LN_TRY(ln_quant_result_read(call, places, row, column, &result));
    if (centred_a)
        result.a_scale.otherwise = a_scale;
    if (dst->len == 0)
        return LN_OK;

    int b_axis = ln_call_int(call, "transB") ? b->ndim - 2 : b->ndim - 1;
    if (!centred_a)
        centred_a = ln_quant_centred(call, a, ln_quant_in(call, places->a_zero), a->ndim - 2);
    float *centred_b = ln_quant_centred(call, b, ln_quant_in(call, places->b_zero), b_axis);
    if (!centred_a || !centred_b)
        return ln_error_status();
    if (ln_call_is_counting(call))
        return LN_OK;
    multiply_batches(&matmul, centred_a, centred_b, &(sink){ln_quant_result_put, &result});
    return LN_OK;
}

ln_status ln_ref_quant_matmul(ln_call *call)
{
    const tl_tensor *a = ln_call_in(call, 0), *b = ln_call_in(call, 1), *dst = ln_call_dst(call, 0);
    ln_matmul_call matmul;
    ln_ref_quant_sums sums;
    LN_TRY(ln_matmul_call_read(call, &matmul));
    LN_TRY(ln_ref_quant_sums_start(call, matmul.b.columns, matmul.b.rows, &sums));
    if (dst->len == 0)
        return LN_OK;
    int b_axis = ln_call_int(call, "transB") ? b->ndim - 2 : b->ndim - 1;
    float *centred_a = ln_quant_centred(call, a, ln_call_in(call, 3), -1);
    float *centred_b = ln_quant_centred(call, b, ln_call_in(call, 5), b_axis);
    if (!centred_a || !centred_b)
        return ln_error_status();
    if (!ln_call_is_counting(call))
        multiply_batches(&matmul, centred_a, centred_b, &(sink){ln_ref_quant_put, &sums});
    return LN_OK;
}

ln_status ln_ref_onnx_matmul_integer(ln_call *call)
{
    return multiply_quantized(call, &ln_places_matmul_integer, NULL, 1);
}

ln_status ln_ref_onnx_qlinear_matmul(ln_call *call)
{
    return multiply_quantized(call, &ln_places_qlinear_matmul, NULL, 1);
}

ln_status ln_ref_onnx_qgemm(ln_call *call)
{
    return multiply_quantized(call, &ln_places_qgemm, NULL, 1);
}

ln_status ln_ref_onnx_matmul_to_float(ln_call *call)
{
    return multiply_quantized(call, &ln_places_matmul_to_float, NULL, 1);
}

ln_status ln_ref_onnx_dynamic_matmul(ln_call *call)
{
    const tl_tensor *a = ln_call_in(call, 0);
    float *centred = ln_call_scratch(call, (size_t)a->len, sizeof *centred);
    if (!centred)
        return ln_error_status();
    float scale = 1, zero_point = 0;
    const float *numbers = a->data;
    if (!ln_call_is_counting(call))
        ln_dynamic_scale(a, &scale, &zero_point);
    for (int i = 0; !ln_call_is_counting(call) && i < a->len; i++) {
        uint8_t quantized;
        ln_put_quantized(&quantized, TL_UINT8, 0, (double)(numbers[i] / scale), (double)zero_point);
        centred[i] = (float)quantized - zero_point;
    }
    return multiply_quantized(call, &ln_places_dynamic_matmul, centred, (double)scale);
}
