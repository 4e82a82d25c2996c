// SPDX-License-Identifier: Apache-2.0
// CausalConvWithState: each channel convolved with its own weights, over what came before and the
// input; the last of both is the state for the next call.

#include "arch/ref/act.h"
#include "arch/ref/functions.h"
#include "arch/ref/onnx/reals.h"
#include "base/deadline.h"
#include "op/activation.h"
#include "op/conv.h"
#include "tensor/elem.h"

typedef struct causal {
    ln_reals src, weight, bias, past;
    ln_activation activation;
    tl_tensor *dst;
    int64_t rows, channels, len, taps; // rows: of all channels of all images
} causal;

// Place `x` of a row, which is negative in what came before.
LN_REF_INLINE double value_at(const causal *c, tl_dtype dtype, int64_t row, int64_t x)
{
    if (x >= 0)
        return ln_reals_at(c->src.data, row * c->len + x, dtype);
    int64_t state_len = c->taps - 1;
    return c->past.data ? ln_reals_at(c->past.data, row * state_len + state_len + x, dtype) : 0;
}

LN_REF_INLINE void convolve(const causal *c, tl_dtype dtype)
{
    for (int64_t row = 0; row < c->rows; row++) {
        int64_t channel = row % c->channels;
        for (int64_t x = 0; x < c->len && !ln_deadline_passed_at((size_t)x); x++) {
            double sum = c->bias.data ? ln_reals_at(c->bias.data, channel, dtype) : 0;
            for (int64_t t = 0; t < c->taps; t++)
                sum += ln_reals_at(c->weight.data, channel * c->taps + t, dtype) *
                       value_at(c, dtype, row, x + t - (c->taps - 1));
            // The activation works on a result that has been rounded, as it does after a Conv.
            ln_ref_store_reals(c->dst, row * c->len + x, 1, &sum);
            if (c->activation.act == LN_ACT_NONE)
                continue;
            sum = ln_elem_real(c->dst, (size_t)(row * c->len + x));
            sum = ln_ref_act(c->activation.act, c->activation.alpha, c->activation.beta, sum);
            ln_ref_store_reals(c->dst, row * c->len + x, 1, &sum);
        }
    }
}

LN_REF_INLINE void keep_state(const causal *c, tl_dtype dtype, tl_tensor *state)
{
    int64_t state_len = c->taps - 1;
    for (int64_t row = 0; row < c->rows; row++) {
        for (int64_t i = 0; i < state_len; i++) {
            double value = value_at(c, dtype, row, c->len - state_len + i);
            ln_ref_store_reals(state, row * state_len + i, 1, &value);
        }
    }
}

LN_REF_INLINE void run(const causal *c, tl_dtype dtype, tl_tensor *state)
{
    if (c->dst)
        convolve(c, dtype);
    if (state)
        keep_state(c, dtype, state);
}

ln_status ln_ref_onnx_causal_conv(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *weight = ln_call_in(call, 1);
    causal c = {.dst = ln_call_dst(call, 0),
                .rows = (int64_t)src->dims[0] * src->dims[1],
                .channels = src->dims[1],
                .len = src->dims[2],
                .taps = weight->dims[2]};
    LN_TRY(ln_ref_reals(call, src, &c.src));
    LN_TRY(ln_ref_reals(call, weight, &c.weight));
    LN_TRY(ln_ref_reals(call, ln_call_in(call, 2), &c.bias));
    LN_TRY(ln_ref_reals(call, ln_call_in(call, 3), &c.past));
    if (ln_call_is_counting(call))
        return LN_OK;
    LN_TRY(ln_activation_read(call, &c.activation));
    if (c.src.dtype == TL_DOUBLE)
        run(&c, TL_DOUBLE, ln_call_dst(call, 1));
    else
        run(&c, TL_FLOAT, ln_call_dst(call, 1));
    return LN_OK;
}
