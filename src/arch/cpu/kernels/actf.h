// SPDX-License-Identifier: Apache-2.0
// Activations in vector verbs: every row of LN_ACT_LIST. Include the verbs of the set first.
//
// The bits: alpha * x + beta is one fma; bounds are the verbs vf_max and vf_min with x second, so
// that NaN stays; the elementary functions are those of mathf.h.

#ifndef LN_ARCH_CPU_KERNELS_ACTF_H
#define LN_ARCH_CPU_KERNELS_ACTF_H

#include <lightnet/act.h>

#include "arch/cpu/kernels/mathf.h"

VF_VERB vf vf_clip(vf x, vf low, vf high)
{
    return vf_min(high, vf_max(low, x));
}

// x times the sigmoid of alpha * x. What rounding that product loses is made up for to the first
// order: it counts as much as the product is large.
VF_VERB vf vf_swish(vf x, vf alpha)
{
    const vf one = vf_set1(1.0f), limit = vf_set1(200.0f); // beyond it the sigmoid is 0 or 1
    vf p = vf_clip(vf_mul(alpha, x), vf_neg(limit), limit), s = vf_sigmoid(p);
    vf lost = vf_clip(vf_fma(alpha, x, vf_neg(p)), vf_neg(one), one);
    return vf_mul(x, vf_fma(vf_mul(s, vf_sub(one, s)), lost, s));
}

// A row of the list without a case does not compile.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
// `act` is a constant where this is inlined.
VF_VERB vf vf_act(const ln_act act, vf alpha, vf beta, vf x)
{
    const vf zero = vf_set1(0.0f), one = vf_set1(1.0f);
    switch (act) {
    case LN_ACT_RELU: return vf_max(zero, x);
    case LN_ACT_CLIP: return vf_clip(x, alpha, beta);
    case LN_ACT_LRELU: return vf_if_ge(x, zero, x, vf_mul(alpha, x));
    case LN_ACT_SIGMOID: return vf_sigmoid(x);
    case LN_ACT_TANH: return vf_tanh(x);
    case LN_ACT_SILU: return vf_silu(x);
    case LN_ACT_HARD_SIGMOID: return vf_clip(vf_fma(alpha, x, beta), zero, one);
    case LN_ACT_HARD_SWISH: return vf_mul(x, vf_clip(vf_fma(alpha, x, beta), zero, one));
    case LN_ACT_GELU: return vf_gelu(x);
    case LN_ACT_GELU_TANH: return vf_gelu_tanh(x);
    case LN_ACT_ELU: return vf_elu(x, alpha);
    case LN_ACT_SOFTPLUS: return vf_softplus(x);
    case LN_ACT_MISH: return vf_mish(x);
    case LN_ACT_EXP: return vf_exp(x);
    case LN_ACT_ERF: return vf_erf(x);
    case LN_ACT_SQRT: return vf_sqrt(x);
    case LN_ACT_ABS: return vf_abs(x);
    case LN_ACT_NEG: return vf_neg(x);
    case LN_ACT_AFFINE: return vf_fma(alpha, x, beta);
    case LN_ACT_SCALED_TANH: return vf_mul(alpha, vf_tanh(vf_mul(beta, x)));
    case LN_ACT_SOFTSIGN: {
        const vf finite = vf_clip(x, vf_set1(-0x1.fffffep127f), vf_set1(0x1.fffffep127f));
        return vf_div(finite, vf_add(one, vf_abs(finite)));
    }
    case LN_ACT_THRESHOLDED_RELU: return vf_if_ge(alpha, x, zero, x);
    case LN_ACT_SWISH: return vf_swish(x, alpha);
    case LN_ACT_SELU: return vf_mul(beta, vf_elu(x, alpha));
    case LN_ACT_NONE:
    case LN_ACT_COUNT: break;
    }
    return x;
}
#pragma GCC diagnostic pop

// How many vectors vf_act_each takes side by side: 1 where it would gain nothing.
VF_VERB int vf_act_abreast(const ln_act act)
{
    switch (act) {
    case LN_ACT_LRELU:
    case LN_ACT_HARD_SWISH: return VF_ABREAST_MAX;
    case LN_ACT_SILU: return 2; // more would not fit into 32 registers
    case LN_ACT_GELU: return VF_LANES == 16 ? VF_ABREAST_MAX : 2;
    case LN_ACT_GELU_TANH: return VF_ABREAST_MAX;
    default: return 1;
    }
}

// `act` and `count`, 1 to vf_act_abreast(act), are constants where this is inlined.
VF_VERB void vf_act_each(const ln_act act, vf alpha, vf beta, vf *x, const int count)
{
    switch (act) {
    case LN_ACT_SILU: vf_silu_each(x, count); return;
    case LN_ACT_GELU: vf_gelu_each(x, count); return;
    case LN_ACT_GELU_TANH: vf_gelu_tanh_each(x, count); return;
    default: break;
    }
    VF_EACH(i, count) x[i] = vf_act(act, alpha, beta, x[i]);
}

#endif
