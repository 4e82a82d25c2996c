// SPDX-License-Identifier: Apache-2.0
// Our own elementary functions in vector verbs: one polynomial, one order of operations, the same
// bits on every instruction set. Include the verbs of the set first.
//
// Errors against the exact value, in units in the last place, found over all floats:
//   vf_exp      1.07
//   vf_sigmoid  1.53
//   vf_exp_diff 1.53, over twenty million pairs with a normal result
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

#endif
