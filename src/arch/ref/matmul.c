// SPDX-License-Identifier: Apache-2.0
// Products of matrices and of stacks of them. Neighbouring columns are summed together, block by
// block, so that a block of B is read again while it is in the cache.

#include "arch/ref/functions.h"

#include <math.h>

#include "arch/ref/act.h"
#include "arch/ref/onnx/reals.h"
#include "base/deadline.h"
#include "op/activation.h"
#include "op/onnx/matmul.h"
#include "tensor/elem.h"

// dst = act(alpha * a * b + beta * c + addend), or with the addend after the activation
typedef struct product {
    ln_matrix_stack a, b;
    const void *a_data, *b_data; // the matrices begin here; float, double or int64_t
    double alpha, beta;
    ln_reals c; // of the dtype of a and b; none: data is NULL
    int64_t c_row_step, c_column_step;
    ln_activation activation;
    ln_reals addend; // in the order of the result; none: data is NULL
    bool is_addend_last;
    tl_tensor *dst;
    int64_t to; // where the result begins
} product;

LN_REF_INLINE const void *moved(const void *data, int64_t by, tl_dtype dtype)
{
    return (const char *)data + by * (int64_t)tl_size_of(dtype);
}

LN_REF_INLINE double as_real(ln_ref_number x, tl_dtype dtype)
{
    return dtype == TL_INT64 ? (double)(int64_t)x.whole : x.real;
}

static bool is_whole(double x)
{
    return fabs(x) < 0x1p53 && x == floor(x);
}

LN_REF_INLINE ln_ref_number summand_at(const product *p, tl_dtype dtype, int64_t i, int64_t j)
{
    return ln_ref_load(p->c.data, (size_t)(i * p->c_row_step + j * p->c_column_step), dtype);
}

// Row i, columns [j, j + count) of sums of integers; the factors are whole, too.
static void store_wholes(const product *p, int64_t i, int64_t j, int64_t count,
                         const ln_ref_sums *sums)
{
    uint64_t alpha = (uint64_t)(int64_t)p->alpha, beta = (uint64_t)(int64_t)p->beta;
    for (int64_t x = 0; x < count; x++) {
        uint64_t value = alpha * sums->whole[x];
        size_t at = (size_t)(p->to + i * p->b.columns + j + x);
        if (p->c.data)
            value += beta * summand_at(p, TL_INT64, i, j + x).whole;
        if (p->addend.data)
            value += ln_ref_load(p->addend.data, at, TL_INT64).whole;
        ln_elem_set_int(p->dst, at, (int64_t)value);
    }
}

LN_REF_INLINE void add_addend(const product *p, tl_dtype dtype, int64_t at, int64_t count,
                              double *values)
{
    for (int64_t x = 0; p->addend.data && x < count; x++)
        values[x] += as_real(ln_ref_load(p->addend.data, (size_t)(at + x), dtype), dtype);
}

LN_REF_INLINE void store_row(const product *p, tl_dtype dtype, int64_t i, int64_t j, int64_t count,
                             ln_ref_sums *sums)
{
    int64_t at = p->to + i * p->b.columns + j;
    if (dtype == TL_INT64 && is_whole(p->alpha) && is_whole(p->beta) &&
        p->activation.act == LN_ACT_NONE) {
        store_wholes(p, i, j, count, sums);
        return;
    }
    double values[LN_REF_SUMS];
    for (int64_t x = 0; x < count; x++) {
        ln_ref_number sum =
            dtype == TL_INT64 ? ln_ref_unsigned(sums->whole[x]) : ln_ref_real(sums->real[x]);
        values[x] = p->alpha * as_real(sum, dtype);
        if (p->c.data)
            values[x] += p->beta * as_real(summand_at(p, dtype, i, j + x), dtype);
    }
    if (!p->is_addend_last)
        add_addend(p, dtype, at, count, values);
    ln_ref_act_values(p->activation.act, p->activation.alpha, p->activation.beta, p->dst->dtype,
                      count, values);
    if (p->is_addend_last)
        add_addend(p, dtype, at, count, values);
    ln_ref_store_reals(p->dst, at, count, values);
}

LN_REF_INLINE void multiply(const product *p, tl_dtype dtype)
{
    ln_ref_sums sums;
    int64_t count;
    for (int64_t j = 0; j < p->b.columns; j += count) {
        count = p->b.columns - j < LN_REF_SUMS ? p->b.columns - j : LN_REF_SUMS;
        for (int64_t i = 0; i < p->a.rows && !ln_deadline_passed(); i++) {
            ln_ref_start_sums(&sums, dtype, count, NULL, 0);
            for (int64_t k = 0; k < p->a.columns; k++) {
                int64_t at = i * p->a.row_step + k * p->a.column_step;
                ln_ref_add_products(&sums, dtype, 0, count, 1, p->b_data,
                                    k * p->b.row_step + j * p->b.column_step, p->b.column_step,
                                    ln_ref_load(p->a_data, (size_t)at, dtype));
            }
            store_row(p, dtype, i, j, count, &sums);
        }
    }
}

static void multiply_any(const product *p, tl_dtype dtype)
{
    LN_REF_FOR_NUMBERS(dtype, multiply, p);
}

ln_status ln_ref_matmul(ln_call *call)
{
    ln_matmul_call matmul;
    ln_reals a, b;
    LN_TRY(ln_matmul_call_read(call, &matmul));
    LN_TRY(ln_ref_numbers(call, ln_call_in(call, 0), &a));
    LN_TRY(ln_ref_numbers(call, ln_call_in(call, 1), &b));
    product p = {.a = matmul.a,
                 .b = matmul.b,
                 .alpha = ln_call_has(call, "alpha") ? ln_call_float(call, "alpha") : 1,
                 .dst = ln_call_dst(call, 0)};
    if (p.dst->len == 0 || ln_call_is_counting(call))
        return LN_OK;

    // Counts through the batch, the last axis fastest.
    int64_t at[TL_MAXDIM] = {0}, from_a = 0, from_b = 0;
    for (;;) {
        p.a_data = moved(a.data, from_a, a.dtype);
        p.b_data = moved(b.data, from_b, b.dtype);
        multiply_any(&p, a.dtype);
        p.to += p.a.rows * p.b.columns;

        int d = matmul.batch_ndim - 1;
        for (; d >= 0; d--) {
            from_a += matmul.a.steps[d];
            from_b += matmul.b.steps[d];
            if (++at[d] < matmul.batch_dims[d])
                break;
            from_a -= matmul.a.steps[d] * at[d];
            from_b -= matmul.b.steps[d] * at[d];
            at[d] = 0;
        }
        if (d < 0)
            return LN_OK;
    }
}

ln_status ln_ref_linear(ln_call *call)
{
    ln_linear_call linear;
    ln_reals a, b;
    product p = {.alpha = 1, .beta = 1, .c_column_step = 1, .dst = ln_call_dst(call, 0)};
    LN_TRY(ln_linear_call_read(call, &linear));
    LN_TRY(ln_ref_numbers(call, ln_call_in(call, 0), &a));
    LN_TRY(ln_ref_numbers(call, ln_call_in(call, 1), &b));
    LN_TRY(ln_ref_numbers(call, linear.bias, &p.c));
    LN_TRY(ln_ref_numbers(call, linear.addend, &p.addend));
    if (ln_call_is_counting(call))
        return LN_OK;
    p.a = linear.a;
    p.b = linear.b;
    p.a_data = a.data;
    p.b_data = b.data;
    p.activation = linear.activation;
    p.is_addend_last = linear.is_addend_last;
    multiply_any(&p, a.dtype);
    return LN_OK;
}

ln_status ln_ref_onnx_gemm(ln_call *call)
{
    ln_gemm_call gemm;
    ln_reals a, b;
    product p = {.alpha = ln_call_has(call, "alpha") ? ln_call_float(call, "alpha") : 1,
                 .beta = ln_call_has(call, "beta") ? ln_call_float(call, "beta") : 1,
                 .dst = ln_call_dst(call, 0)};
    LN_TRY(ln_gemm_call_read(call, &gemm));
    LN_TRY(ln_ref_numbers(call, ln_call_in(call, 0), &a));
    LN_TRY(ln_ref_numbers(call, ln_call_in(call, 1), &b));
    if (p.beta != 0) // else C takes no part, be it NaN
        LN_TRY(ln_ref_numbers(call, gemm.c, &p.c));
    if (ln_call_is_counting(call))
        return LN_OK;
    p.a = gemm.a;
    p.b = gemm.b;
    p.a_data = a.data;
    p.b_data = b.data;
    p.c_row_step = gemm.c_row_step;
    p.c_column_step = gemm.c_column_step;
    multiply_any(&p, a.dtype);
    return LN_OK;
}
