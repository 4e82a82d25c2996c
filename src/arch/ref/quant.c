// SPDX-License-Identifier: Apache-2.0
// Quantized tensors element by element, and what becomes of exact sums.

#include "arch/ref/quant.h"

#include <math.h>

#include "arch/ref/act.h"
#include "arch/ref/functions.h"
#include "arch/ref/onnx/quant_round.h"
#include "base/deadline.h"
#include "ir/param_number.h"
#include "op/elementwise.h"

// As the operator `act` has it, whose numbers are floats.
static float activated(const ln_activation *activation, float x)
{
    if (activation->act == LN_ACT_NONE)
        return x;
    return (float)ln_ref_act(activation->act, (double)ln_param_saturate_float(activation->alpha),
                             (double)ln_param_saturate_float(activation->beta), (double)x);
}

// ---- Sums ----

ln_status ln_ref_quant_sums_start(ln_call *call, int64_t columns, int64_t terms,
                                  ln_ref_quant_sums *out_sums)
{
    *out_sums = (ln_ref_quant_sums){.dst = ln_call_dst(call, 0), .columns = columns, .inner = 1};
    LN_TRY(ln_quant_product_read(call, columns, &out_sums->product));
    ln_quant_columns *of = &out_sums->of;
    of->factors = ln_call_scratch(call, (size_t)columns, sizeof *of->factors);
    of->float_bias = ln_call_scratch(call, (size_t)columns, sizeof *of->float_bias);
    of->bias = ln_call_scratch(call, (size_t)columns, sizeof *of->bias);
    if (!of->factors || !of->float_bias || !of->bias)
        return ln_error_status();
    if (ln_call_is_counting(call))
        return LN_OK;
    const ln_quant_product *p = &out_sums->product;
    if (p->dtype == TL_INT64)
        return LN_OK; // of a bias the elements are all that is taken
    out_sums->has_float_bias = ln_quant_columns_find(p, columns, terms, *of);
    out_sums->zero = ln_quant_zero(p->dst_zero);
    if (p->kind == LN_QUANT_TO_BYTE)
        ln_quant_bounds(&p->activation, *(const float *)p->dst_scale->data, p->dtype,
                        out_sums->zero, &out_sums->low, &out_sums->high);
    return LN_OK;
}

static void put_byte(tl_tensor *dst, int64_t i, float number, int32_t low, int32_t high,
                     int32_t zero)
{
    float kept = !(number > (float)low) ? (float)low : number > (float)high ? (float)high : number;
    ((uint8_t *)dst->data)[i] = (uint8_t)((int32_t)rintf(kept) + zero);
}

void ln_ref_quant_put(const void *sums, int64_t i, double exact)
{
    const ln_ref_quant_sums *s = sums;
    const ln_quant_product *p = &s->product;
    const int64_t column = i / s->inner % s->columns;
    if (p->dtype == TL_INT64) {
        const int64_t bias = p->bias ? ((const int64_t *)p->bias->data)[column] : 0;
        ((int64_t *)s->dst->data)[i] = (int64_t)((uint64_t)(int64_t)exact + (uint64_t)bias);
        return;
    }
    int32_t sum = (int32_t)((uint32_t)(int64_t)exact + (uint32_t)s->of.bias[column]);
    if (p->kind == LN_QUANT_TO_SUM) {
        ((int32_t *)s->dst->data)[i] = sum;
        return;
    }
    float number = (float)sum * s->of.factors[column];
    if (s->has_float_bias)
        number += s->of.float_bias[column];
    if (p->kind == LN_QUANT_TO_BYTE) {
        put_byte(s->dst, i, number, s->low, s->high, s->zero);
        return;
    }
    ((float *)s->dst->data)[i] = activated(&p->activation, number);
}

// ---- Element by element ----

static float real_of(const ln_quant_map *map, int which, int64_t i)
{
    const tl_tensor *t = map->src[which];
    int32_t q = t->dtype == TL_INT8 ? ((const int8_t *)t->data)[i] : ((const uint8_t *)t->data)[i];
    return (float)(q - map->zero[which]) * map->scale[which];
}

static void put_real(tl_tensor *dst, const ln_quant_map *map, const ln_activation *activation,
                     int64_t i, float number)
{
    number = activated(activation, number);
    ln_put_quantized(dst->data, dst->dtype, (size_t)i, (double)(number / map->dst_scale),
                     (double)map->dst_zero);
}

static float join(int op, float a, float b)
{
    return op == TL_SUM ? a + b : op == TL_SUB ? a - b : a * b;
}

ln_status ln_ref_quant_elew(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    ln_quant_map map;
    ln_activation activation;
    int op;
    int64_t steps[2][TL_MAXDIM];
    ln_quant_elew_read(call, &map);
    LN_TRY(ln_elew_op_read(call, &op));
    LN_TRY(ln_activation_read(call, &activation));
    for (int s = 0; s < 2; s++)
        ln_broadcast_strides(map.src[s], dst->ndim, steps[s]);
    for (int64_t i = 0; i < dst->len && !ln_deadline_passed_at((size_t)i); i++) {
        int64_t at[2] = {0}, left = i;
        for (int d = dst->ndim - 1; d >= 0; d--) {
            for (int s = 0; s < 2; s++)
                at[s] += left % dst->dims[d] * steps[s][d];
            left /= dst->dims[d];
        }
        put_real(dst, &map, &activation, i,
                 join(op, real_of(&map, 0, at[0]), real_of(&map, 1, at[1])));
    }
    return LN_OK;
}

ln_status ln_ref_quant_act(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    ln_quant_map map;
    ln_activation activation;
    ln_quant_act_read(call, &map);
    LN_TRY(ln_activation_read(call, &activation));
    for (int64_t i = 0; i < dst->len && !ln_deadline_passed_at((size_t)i); i++)
        put_real(dst, &map, &activation, i, real_of(&map, 0, i));
    return LN_OK;
}
