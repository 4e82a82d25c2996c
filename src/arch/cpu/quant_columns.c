// SPDX-License-Identifier: Apache-2.0
// Columns of products of bytes.

#include "arch/cpu/quant_columns.h"

#include <string.h>

#include "arch/cpu/kernels/gemm_i8/packed_i8.h"
#include "op/call.h"

// Bytes that blocks of a workspace are aligned to.
#define BLOCK_BYTES 64

size_t ln_i8_rounded(size_t bytes)
{
    return bytes > SIZE_MAX - BLOCK_BYTES ? SIZE_MAX
                                          : (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
}

static size_t column_len(size_t count)
{
    return ln_gemm_i8_columns(count) + LN_TILE_I8_LANES;
}

size_t ln_i8_column_bytes(size_t count)
{
    return ln_i8_rounded(4 * column_len(count) * sizeof(float));
}

static void columns_place(ln_i8_columns *c, size_t count, void *block)
{
    float *floats = block;
    c->count = count;
    c->len = column_len(count);
    c->factors = floats;
    c->float_bias = floats ? floats + c->len : NULL;
    c->bias = (int32_t *)(void *)(floats ? floats + 2 * c->len : NULL);
    c->zeros = (int32_t *)(void *)(floats ? floats + 3 * c->len : NULL);
}

int32_t ln_i8_zero_at(const tl_tensor *zero, size_t column)
{
    if (!zero)
        return 0;
    size_t at = zero->len > 1 ? column : 0;
    return zero->dtype == TL_INT8 ? ((const int8_t *)zero->data)[at]
                                  : ((const uint8_t *)zero->data)[at];
}

static void columns_fill(ln_i8_columns *c, const ln_quant_product *p, bool are_weights_unsigned)
{
    const ln_quant_columns out = {c->factors, c->float_bias, c->bias};
    memset(c->factors, 0, 4 * c->len * sizeof *c->factors);
    c->has_float_bias = ln_quant_columns_find(p, (int64_t)c->count, (int64_t)c->terms, out);
    c->has_zeros = false;
    for (size_t i = 0; i < c->count; i++) {
        c->zeros[i] = ln_i8_zero_at(p->weight_zero, i) - (are_weights_unsigned ? 128 : 0);
        c->has_zeros = c->has_zeros || c->zeros[i] != 0;
    }
}

// All that the columns depend on is there before the first run.
static bool are_constant(ln_call *call, int first)
{
    static const int places[] = {2, 4, 5, 6, 7, 8};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (ln_call_in(call, first + places[i]) && (!ln_call_is_constant(call, first + places[i]) ||
                                                    !ln_call_value(call, first + places[i])))
            return false;
    return true;
}

// ---- Products ----

ln_status ln_i8_product_read(ln_call *call, const ln_i8_product *product, size_t columns,
                             ln_quant_product *out_operands)
{
    const ln_act_f32_args *act = &product->act;
    const ln_activation activation = {.act = act->act, .alpha = act->alpha, .beta = act->beta};
    return ln_quant_product_read_at(call, product->first, &activation, (int64_t)columns,
                                    out_operands);
}

ln_status ln_i8_product_prepare(ln_call *call, size_t count, size_t terms, ln_i8_product *product)
{
    ln_i8_columns *c = &product->columns;
    ln_quant_product p;
    c->terms = terms;
    columns_place(c, count, NULL);
    LN_TRY(ln_i8_product_read(call, product, count, &p));
    if (!are_constant(call, product->first))
        return LN_OK;
    void *block = ln_call_keep(call, 4 * c->len, sizeof(float));
    if (!block)
        return ln_error_status();
    columns_place(c, count, block);
    columns_fill(c, &p, product->is_unsigned);
    c->is_ready = true;
    return LN_OK;
}

static ln_i8_result result_of(ln_quant_kind kind)
{
    return kind == LN_QUANT_TO_SUM     ? LN_I8_TO_SUMS
           : kind == LN_QUANT_TO_FLOAT ? LN_I8_TO_FLOATS
                                       : LN_I8_TO_BYTES;
}

ln_status ln_i8_product_start(ln_call *call, const ln_i8_product *product, void *block,
                              ln_i8_columns *c, ln_quant_product *p, ln_epilogue_i8 *e)
{
    *c = product->columns;
    LN_TRY(ln_i8_product_read(call, product, c->count, p));
    if (!c->is_ready) {
        columns_place(c, c->count, block);
        columns_fill(c, p, product->is_unsigned);
    }
    *e = (ln_epilogue_i8){.result = result_of(p->kind),
                          .factors = c->factors,
                          .bias = c->has_float_bias ? c->float_bias : NULL,
                          .zero = ln_quant_zero(p->dst_zero)};
    if (p->kind == LN_QUANT_TO_BYTE) {
        int32_t low, high;
        ln_quant_bounds(&p->activation, *(const float *)p->dst_scale->data, p->dtype, e->zero, &low,
                        &high);
        e->low = (float)low;
        e->high = (float)high;
    }
    return LN_OK;
}

ln_status ln_i8_check_packed(ln_call *call, int place, size_t bytes)
{
    const tl_tensor *packed = ln_call_in(call, place);
    if (packed->ndim == 1 && (size_t)packed->len == bytes)
        return LN_OK;
    return ln_call_fail(call, LN_INVALID, "the packed weights have %d bytes instead of %zu",
                        packed->len, bytes);
}
