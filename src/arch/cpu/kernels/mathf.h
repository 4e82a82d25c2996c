// SPDX-License-Identifier: Apache-2.0
// Our own elementary functions in vector verbs: one polynomial, one order of operations, the same
// bits on every instruction set. Include the verbs of the set first.
//
// Errors against the exact value, in units in the last place, found over all floats:
//   vf_exp      1.07
//   vf_sigmoid  1.53
//   vf_exp_diff 1.53, over twenty million pairs with a normal result
// and over every 4099th float, within 2 (vf_erf) and 8 (vf_gelu, above 1e-36).
// Results below the normal range are rounded, not flushed.

#ifndef LN_ARCH_CPU_KERNELS_MATHF_H
#define LN_ARCH_CPU_KERNELS_MATHF_H

// e^x. Overflows to inf above 88.72284, underflows to 0 below -103.97208; exp(-inf) = 0,
// exp(inf) = inf, exp(NaN) = NaN.
//
// x = n ln 2 + r with n whole and |r| <= ln 2 / 2. e^r by a polynomial of degree 6, fitted at
// Chebyshev nodes; 2^n as two factors, because 2^n alone may be outside the range of float where
// the result is not. The second factor is the only one that may round.
VF_VERB vf vf_exp(vf x)
{
    const vf magic = vf_set1(0x1.8p23f); // adding it rounds to a whole number
    x = vf_min(vf_set1(89.0f), x);       // NaN stays
    x = vf_max(vf_set1(-104.0f), x);

    vf n = vf_sub(vf_fma(x, vf_set1(0x1.715476p0f), magic), magic); // x / ln 2
    vf r = vf_fma(n, vf_set1(-0x1.62ep-1f), x);                     // ln 2, upper 12 bits: exact
    r = vf_fma(n, vf_set1(-0x1.0bfbe8p-15f), r);                    // and the rest

    vf q = vf_set1(0x1.6d1606p-10f);
    q = vf_fma(q, r, vf_set1(0x1.12106cp-7f));
    q = vf_fma(q, r, vf_set1(0x1.555516p-5f));
    q = vf_fma(q, r, vf_set1(0x1.5554d8p-3f));
    q = vf_fma(q, r, vf_set1(0x1p-1f));
    vf y = vf_add(vf_fma(q, vf_mul(r, r), r), vf_set1(1.0f));

    vf half = vf_fma(n, vf_set1(0.5f), magic);
    vf other = vf_add(vf_sub(n, vf_sub(half, magic)), magic);
    return vf_mul(vf_mul(y, vf_pow2_bits(half, magic)), vf_pow2_bits(other, magic));
}

// e^(a - b) for a <= b, without the error that rounding a - b would bring: that of 2^-24 times the
// difference. 0 for a = -inf and finite b, NaN for a = b = inf.
//
// What rounding took is found exactly (Knuth's two-sum), and e^(d + lost) = e^d (1 + lost).
VF_VERB vf vf_exp_diff(vf a, vf b)
{
    vf d = vf_sub(a, b);
    vf back = vf_sub(d, a);
    vf lost = vf_sub(vf_sub(a, vf_sub(d, back)), vf_add(b, back));
    lost = vf_min(lost, vf_set1(1.0f)); // NaN for infinities becomes harmless
    vf e = vf_exp(d);
    return vf_fma(e, lost, e);
}

// 1 / (1 + e^-x), without overflow on either side; NaN stays.
//
// With e = e^-|x|, one step of Newton's method repairs the division, and `lost`, what rounding took
// from 1 + e, the denominator.
VF_VERB vf vf_sigmoid(vf x)
{
    const vf one = vf_set1(1.0f), zero = vf_set1(0.0f);
    vf e = vf_exp(vf_sub(zero, vf_abs(x)));
    vf top = vf_if_ge(x, zero, one, e);
    vf bottom = vf_add(one, e);
    vf lost = vf_sub(e, vf_sub(bottom, one));

    vf inverse = vf_div(one, bottom);
    vf y = vf_mul(top, inverse);
    vf minus_y = vf_sub(zero, y);
    vf rest = vf_fma(minus_y, lost, vf_fma(minus_y, bottom, top));
    return vf_fma(rest, inverse, y);
}

// 1 - erf(t) for 0 <= t <= 10.5, of which `square` + `lost` is the exact square.
//
// e^(t^2) (1 - erf(t)) falls slowly; it is a polynomial of degree 10 in 1 / (1 + 0.35 t), fitted at
// Chebyshev nodes.
VF_VERB vf vf_erf_rest(vf t, vf square, vf lost)
{
    const vf one = vf_set1(1.0f);
    vf w = vf_div(one, vf_fma(t, vf_set1(0.35f), one));
    vf q = vf_set1(0x1.40290ep-5f);
    q = vf_fma(q, w, vf_set1(-0x1.4d469cp-3f));
    q = vf_fma(q, w, vf_set1(0x1.8686dep-3f));
    q = vf_fma(q, w, vf_set1(-0x1.4b3ba8p-5f));
    q = vf_fma(q, w, vf_set1(0x1.91702cp-4f));
    q = vf_fma(q, w, vf_set1(0x1.1e8252p-3f));
    q = vf_fma(q, w, vf_set1(0x1.3a2e1ap-3f));
    q = vf_fma(q, w, vf_set1(0x1.7fccc2p-3f));
    q = vf_fma(q, w, vf_set1(0x1.93de9p-3f));
    q = vf_fma(q, w, vf_set1(0x1.94709p-3f));
    q = vf_mul(q, w);
    q = vf_fma(q, vf_sub(vf_set1(0.0f), lost), q); // e^-lost = 1 - lost
    return vf_mul(q, vf_exp(vf_sub(vf_set1(0.0f), square)));
}

// erf(x): below 1 an odd polynomial of degree 13, from there on 1 less the rest. NaN stays.
VF_VERB vf vf_erf(vf x)
{
    const vf zero = vf_set1(0.0f), one = vf_set1(1.0f);
    vf t = vf_min(vf_set1(10.0f), vf_abs(x));
    vf square = vf_mul(t, t);
    vf rest = vf_erf_rest(t, square, vf_fma(t, t, vf_sub(zero, square)));
    vf y = vf_sub(one, rest);
    vf large = vf_if_ge(x, zero, y, vf_sub(zero, y));

    vf s = vf_mul(x, x);
    vf q = vf_set1(0x1.496a2ep-14f);
    q = vf_fma(q, s, vf_set1(-0x1.a3f6fep-11f));
    q = vf_fma(q, s, vf_set1(0x1.5405b2p-8f));
    q = vf_fma(q, s, vf_set1(-0x1.b7f90cp-6f));
    q = vf_fma(q, s, vf_set1(0x1.ce2cf8p-4f));
    q = vf_fma(q, s, vf_set1(-0x1.81273ep-2f));
    q = vf_fma(q, s, vf_set1(0x1.06eba8p-3f)); // the first one less 1
    return vf_if_ge(t, one, large, vf_fma(x, q, x));
}

// x times the probability that a standard normal number is below x, as exact far below 0 as above.
VF_VERB vf vf_gelu(vf x)
{
    const vf zero = vf_set1(0.0f), half = vf_set1(0.5f);
    vf a = vf_min(vf_set1(14.5f), vf_abs(x));
    vf half_a = vf_mul(a, half), square = vf_mul(half_a, a);
    vf lost = vf_fma(half_a, a, vf_sub(zero, square));
    vf rest = vf_mul(half, vf_erf_rest(vf_mul(a, vf_set1(0x1.6a09e6p-1f)), square, lost));
    return vf_mul(x, vf_if_ge(x, zero, vf_sub(vf_set1(1.0f), rest), rest));
}

#endif
