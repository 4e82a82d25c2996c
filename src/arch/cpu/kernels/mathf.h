// SPDX-License-Identifier: Apache-2.0
// Our own elementary functions in vector verbs: one polynomial, one order of operations, the same
// bits on every instruction set. Include the verbs of the set first.
//
// Errors against the exact value, in units in the last place, the first three found over all
// floats, the others over every 211th; of vf_silu, vf_mish and vf_gelu_tanh above 1e-36:
//   vf_exp      1.07      vf_tanh      2.5     vf_silu       3.1
//   vf_sigmoid  1.53      vf_elu       1.6     vf_mish       4.0
//   vf_exp_diff 1.53      vf_softplus  2.7     vf_gelu       4.7
//   vf_erf      1.3       vf_log       2       vf_gelu_tanh  3.6
//   vf_sin_quarters 1.6   vf_power 3
// (vf_exp_diff over twenty million pairs with a normal result, vf_power over three million.)
// Results below the normal range are rounded, not flushed.

#ifndef LN_ARCH_CPU_KERNELS_MATHF_H
#define LN_ARCH_CPU_KERNELS_MATHF_H

#include "arch/cpu/simd/unroll.h"

// How many vectors the functions `..._each` may take. These do each step for all of them before the
// next one, because a processor does not look far enough ahead for another vector's steps while
// one waits.
#define VF_ABREAST_MAX 4

#define VF_EACH(i, count) LN_UNROLL for (int i = 0; i < (count); i++)

// (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2.
VF_VERB void vf_exp_tail_each(const vf *r, vf *q, const int count)
{
    VF_EACH(i, count) q[i] = vf_fma(vf_set1(0x1.6d1606p-10f), r[i], vf_set1(0x1.12106cp-7f));
    VF_EACH(i, count) q[i] = vf_fma(q[i], r[i], vf_set1(0x1.555516p-5f));
    VF_EACH(i, count) q[i] = vf_fma(q[i], r[i], vf_set1(0x1.5554d8p-3f));
    VF_EACH(i, count) q[i] = vf_fma(q[i], r[i], vf_set1(0x1p-1f));
}

VF_VERB vf vf_exp_tail(vf r)
{
    vf q;
    vf_exp_tail_each(&r, &q, 1);
    return q;
}

// As vf_exp, of vectors that are not above 89.
//
// Less than -176 becomes -176, whose power of two is made of zeros: results that do not fit would
// be looked at by a processor's slow path, and masks of softmax are full of them.
VF_VERB void vf_exp_each(vf *x, const int count)
{
    const vf magic = vf_set1(0x1.8p23f); // adding it rounds to an integer
    vf n[VF_ABREAST_MAX], r[VF_ABREAST_MAX], q[VF_ABREAST_MAX];
    VF_EACH(i, count) x[i] = vf_max(vf_set1(-176.0f), x[i]); // NaN stays

    VF_EACH(i, count) n[i] = vf_fma(x[i], vf_set1(0x1.715476p0f), magic); // x / ln 2
    VF_EACH(i, count) n[i] = vf_sub(n[i], magic);
    VF_EACH(i, count) r[i] = vf_fma(n[i], vf_set1(-0x1.62ep-1f), x[i]);     // ln 2, 12 bits: exact
    VF_EACH(i, count) r[i] = vf_fma(n[i], vf_set1(-0x1.0bfbe8p-15f), r[i]); // and the rest

    vf_exp_tail_each(r, q, count);
    VF_EACH(i, count) x[i] = vf_mul(r[i], r[i]);
    VF_EACH(i, count) q[i] = vf_fma(q[i], x[i], r[i]);
    VF_EACH(i, count) q[i] = vf_add(q[i], vf_set1(1.0f));

    VF_EACH(i, count) x[i] = vf_mul_pow2(q[i], n[i]);
}

// e^x. Overflows to inf above 88.72284, underflows to 0 below -103.97208; exp(-inf) = 0,
// exp(inf) = inf, exp(NaN) = NaN.
//
// x = n ln 2 + r with n whole and |r| <= ln 2 / 2. e^r by a polynomial of degree 6, fitted at
// Chebyshev nodes.
VF_VERB vf vf_exp(vf x)
{
    x = vf_min(vf_set1(89.0f), x); // NaN stays
    vf_exp_each(&x, 1);
    return x;
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
    vf t = vf_min(vf_set1(9.0f), vf_abs(x)); // 1 from 4 on
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
//
// With a = |x| it is max(x, 0) - a T(a), where T, the probability of more than a, is e^(-a^2 / 2)
// times a quotient of polynomials, fitted to a relative error of 2^-28. Of a^2 / 2 nothing is lost
// before its multiples of ln 2 are gone; 2^n comes last, so that the far end is rounded once.
VF_VERB void vf_gelu_each(vf *x, const int count)
{
    const vf magic = vf_set1(0x1.8p23f);
    vf a[VF_ABREAST_MAX], n[VF_ABREAST_MAX], r[VF_ABREAST_MAX], q[VF_ABREAST_MAX];
    vf top[VF_ABREAST_MAX], bottom[VF_ABREAST_MAX];
    VF_EACH(i, count) a[i] = vf_min(vf_set1(18.75f), vf_abs(x[i])); // as vf_exp_each
    VF_EACH(i, count) r[i] = vf_mul(a[i], vf_set1(-0.5f));
    VF_EACH(i, count) n[i] = vf_mul(r[i], a[i]);
    VF_EACH(i, count) n[i] = vf_fma(n[i], vf_set1(0x1.715476p0f), magic);
    VF_EACH(i, count) n[i] = vf_sub(n[i], magic);
    VF_EACH(i, count) q[i] = vf_mul(n[i], vf_set1(-0x1.62ep-1f)); // ln 2, 12 bits: exact
    VF_EACH(i, count) r[i] = vf_fma(r[i], a[i], q[i]);
    VF_EACH(i, count) r[i] = vf_fma(n[i], vf_set1(-0x1.0bfbe8p-15f), r[i]);

    VF_EACH(i, count) top[i] = vf_fma(vf_set1(0x1.0dc72p-8f), a[i], vf_set1(0x1.4ce168p-5f));
    VF_EACH(i, count) bottom[i] = vf_fma(vf_set1(0x1.521ccap-7f), a[i], vf_set1(0x1.a13afp-4f));
    VF_EACH(i, count) top[i] = vf_fma(top[i], a[i], vf_set1(0x1.7746c6p-3f));
    VF_EACH(i, count) bottom[i] = vf_fma(bottom[i], a[i], vf_set1(0x1.e0c088p-2f));
    VF_EACH(i, count) top[i] = vf_fma(top[i], a[i], vf_set1(0x1.c0d27ep-2f));
    VF_EACH(i, count) bottom[i] = vf_fma(bottom[i], a[i], vf_set1(0x1.33d8c8p0f));
    VF_EACH(i, count) top[i] = vf_fma(top[i], a[i], vf_set1(0.5f));
    VF_EACH(i, count) bottom[i] = vf_fma(bottom[i], a[i], vf_set1(0x1.acab7p0f));
    VF_EACH(i, count) top[i] = vf_mul(top[i], a[i]);
    VF_EACH(i, count) bottom[i] = vf_fma(bottom[i], a[i], vf_set1(1.0f));

    vf_exp_tail_each(r, q, count);
    VF_EACH(i, count) a[i] = vf_mul(r[i], r[i]);
    VF_EACH(i, count) q[i] = vf_fma(q[i], a[i], r[i]); // e^r - 1
    VF_EACH(i, count) top[i] = vf_fma(top[i], q[i], top[i]);
    VF_EACH(i, count) top[i] = vf_div(top[i], bottom[i]);
    VF_EACH(i, count) top[i] = vf_mul_pow2(top[i], n[i]);
    VF_EACH(i, count) a[i] = vf_sub(x[i], vf_min(vf_set1(0.0f), x[i])); // NaN for -infinity
    VF_EACH(i, count) x[i] = vf_sub(a[i], top[i]);
}

VF_VERB vf vf_gelu(vf x)
{
    vf_gelu_each(&x, 1);
    return x;
}

// e^x - 1 for x <= 0; NaN stays.
//
// As vf_exp, but that 1 is taken from 2^n, not from the rounded e^x.
VF_VERB vf vf_expm1_below(vf x)
{
    const vf magic = vf_set1(0x1.8p23f);
    x = vf_max(vf_set1(-30.0f), x); // -1 from there on

    vf bits = vf_fma(x, vf_set1(0x1.715476p0f), magic);
    vf n = vf_sub(bits, magic);
    vf r = vf_fma(n, vf_set1(-0x1.62ep-1f), x);
    r = vf_fma(n, vf_set1(-0x1.0bfbe8p-15f), r);
    vf p = vf_fma(vf_exp_tail(r), vf_mul(r, r), r);
    vf factor = vf_pow2_bits(bits, magic);
    return vf_fma(factor, p, vf_sub(factor, vf_set1(1.0f)));
}

// tanh(x) = -(e - 1) / (e + 1) with e = e^(-2 |x|), and the sign of x; NaN stays.
VF_VERB vf vf_tanh(vf x)
{
    vf m = vf_expm1_below(vf_mul(vf_set1(-2.0f), vf_abs(x)));
    return vf_copysign(vf_div(m, vf_add(m, vf_set1(2.0f))), x);
}

// log(1 + e) for 0 <= e <= 1: with s = e / (2 + e), the series of 2 artanh(s); its polynomial in
// s^2 is fitted at Chebyshev nodes.
VF_VERB vf vf_log1p_unit(vf e)
{
    vf s = vf_div(e, vf_add(e, vf_set1(2.0f)));
    vf z = vf_mul(s, s);
    vf q = vf_set1(0x1.dba25ep-3f);
    q = vf_fma(q, z, vf_set1(0x1.bc8cfap-3f));
    q = vf_fma(q, z, vf_set1(0x1.24c926p-2f));
    q = vf_fma(q, z, vf_set1(0x1.9998d4p-2f));
    q = vf_fma(q, z, vf_set1(0x1.555556p-1f));
    return vf_fma(vf_mul(s, z), q, vf_add(s, s));
}

// The natural logarithm: -inf for zeros, NaN below and for NaN.
//
// x = 2^n m with m between sqrt(1/2) and sqrt(2), and log(m) as in vf_log1p_unit.
VF_VERB vf vf_log(vf x)
{
    const vf zero = vf_set1(0.0f), one = vf_set1(1.0f), infinity = vf_set1(__builtin_inff());
    vf n, m = vf_split_pow2(x, &n);
    vf f = vf_sub(m, one);
    vf s = vf_div(f, vf_add(m, one));
    vf z = vf_mul(s, s);
    vf q = vf_set1(0x1.ddced4p-3f);
    q = vf_fma(q, z, vf_set1(0x1.245c44p-2f));
    q = vf_fma(q, z, vf_set1(0x1.9999ecp-2f));
    q = vf_fma(q, z, vf_set1(0x1.555556p-1f));
    // 2 s = f - s f, of which f is exact
    vf rest = vf_fma(vf_mul(s, z), q, vf_fma(n, vf_set1(-0x1.05c61p-29f), vf_mul(vf_neg(s), f)));
    vf y = vf_fma(n, vf_set1(0x1.62e43p-1f), vf_add(f, rest));
    y = vf_add(y, vf_sub(x, x)); // NaN stays
    y = vf_if_ge(x, infinity, infinity, y);
    vf below = vf_if_ge(x, zero, vf_sub(zero, infinity), vf_sub(infinity, infinity));
    return vf_if_ge(zero, x, below, y);
}

// sin(x) where `quarters` is 0, cos(x) where it is 1, for |x| <= 2^17. NaN stays.
//
// x = n pi / 2 + r with n whole and |r| < 0.8; of pi / 2 three parts are taken away, the first
// without rounding. n + quarters tells which of sin(r) and cos(r) it is, and the sign.
VF_VERB vf vf_sin_quarters(vf x, vf quarters)
{
    const vf magic = vf_set1(0x1.8p23f), half = vf_set1(0.5f), zero = vf_set1(0.0f);
    vf n = vf_sub(vf_fma(x, vf_set1(0x1.45f306p-1f), magic), magic);
    vf r = vf_fma(n, vf_set1(-0x1.921fb6p0f), x);
    r = vf_fma(n, vf_set1(0x1.777a5cp-25f), r);
    r = vf_fma(n, vf_set1(0x1.ee59dap-50f), r);
    vf z = vf_mul(r, r);

    vf s = vf_fma(vf_set1(0x1.6d7b38p-19f), z, vf_set1(-0x1.a012d2p-13f));
    s = vf_fma(s, z, vf_set1(0x1.11110ep-7f));
    s = vf_fma(s, z, vf_set1(-0x1.555556p-3f));
    s = vf_copysign(vf_fma(vf_mul(r, z), s, r), r); // zeros keep their sign
    vf c = vf_fma(vf_set1(0x1.9b93aep-16f), z, vf_set1(-0x1.6c125p-10f));
    c = vf_fma(c, z, vf_set1(0x1.555554p-5f));
    c = vf_fma(vf_mul(z, z), c, vf_fma(z, vf_set1(-0.5f), vf_set1(1.0f)));

    n = vf_add(n, quarters);
    vf pairs = vf_sub(vf_add(vf_fma(n, half, vf_set1(-0.25f)), magic), magic); // n / 2, whole
    vf turns = vf_sub(vf_add(vf_fma(pairs, half, vf_set1(-0.25f)), magic), magic);
    vf is_odd = vf_fma(pairs, vf_set1(-2.0f), n), is_below = vf_fma(turns, vf_set1(-2.0f), pairs);
    vf y = vf_if_ge(is_odd, half, c, s);
    return vf_if_ge(is_below, half, vf_sub(zero, y), y);
}

// log2(a) = *high + *low for a > 0; -inf for 0, NaN stays.
//
// As vf_log, but of s, of the product with 1 / ln 2 and of the sum nothing is lost.
VF_VERB vf vf_log2_pair(vf a, vf *low)
{
    const vf zero = vf_set1(0.0f), one = vf_set1(1.0f), infinity = vf_set1(__builtin_inff());
    const vf per_ln2 = vf_set1(0x1.715476p0f), per_ln2_low = vf_set1(0x1.4ae0cp-26f);
    vf e, m = vf_split_pow2(a, &e);
    vf f = vf_sub(m, one), t = vf_add(m, one);
    vf s = vf_div(f, t), minus_s = vf_neg(s);
    vf rest = vf_fma(minus_s, vf_sub(m, vf_sub(t, one)), vf_fma(minus_s, t, f));
    vf s_low = vf_div(rest, t);
    vf z = vf_mul(s, s);
    vf q = vf_set1(0x1.ddced4p-3f);
    q = vf_fma(q, z, vf_set1(0x1.245c44p-2f));
    q = vf_fma(q, z, vf_set1(0x1.9999ecp-2f));
    q = vf_fma(q, z, vf_set1(0x1.555556p-1f));
    vf twice = vf_add(s, s);
    vf ln_low = vf_fma(vf_mul(s, z), q, vf_add(s_low, s_low));

    vf p = vf_mul(twice, per_ln2);
    vf p_low = vf_fma(twice, per_ln2, vf_neg(p));
    p_low = vf_fma(ln_low, per_ln2, vf_fma(twice, per_ln2_low, p_low));
    vf whole = vf_add(e, p);
    p_low = vf_add(vf_sub(p, vf_sub(whole, e)), p_low);
    vf high = vf_add(whole, p_low);
    *low = vf_sub(p_low, vf_sub(high, whole));
    high = vf_add(high, vf_sub(a, a)); // NaN stays
    high = vf_if_ge(a, infinity, infinity, high);
    return vf_if_ge(zero, a, vf_sub(zero, infinity), high);
}

// a when x >= y and y >= x, else b.
VF_VERB vf vf_if_equal(vf x, vf y, vf a, vf b)
{
    return vf_if_ge(x, y, vf_if_ge(y, x, a, b), b);
}

// `magnitude` = |x|^y with the sign that it has for x < 0: NaN where y is no integer.
VF_VERB vf vf_power_below(vf x, vf y, vf magnitude)
{
    const vf zero = vf_set1(0.0f), infinity = vf_set1(__builtin_inff());
    const vf magic = vf_set1(0x1p23f); // adding it rounds to an integer; those above are whole
    vf a = vf_abs(x), t = vf_abs(y), half = vf_mul(t, vf_set1(0.5f));
    vf whole = vf_if_ge(t, magic, t, vf_sub(vf_add(t, magic), magic));
    vf whole_half = vf_if_ge(half, magic, half, vf_sub(vf_add(half, magic), magic));
    vf of_whole = vf_if_equal(half, whole_half, magnitude, vf_neg(magnitude));
    vf of_others = vf_if_ge(zero, a, magnitude, vf_sub(infinity, infinity));
    of_others = vf_if_ge(a, infinity, magnitude, of_others);
    return vf_if_equal(t, whole, of_whole, of_others);
}

// x to the power of y, as C's pow has it of odd numbers.
//
// |x|^y = 2^(y log2 |x|), of which n, the whole part, and r, the rest, are found with the parts
// that rounding took.
VF_VERB vf vf_power(vf x, vf y)
{
    const vf zero = vf_set1(0.0f), one = vf_set1(1.0f), infinity = vf_set1(__builtin_inff());
    const vf magic = vf_set1(0x1.8p23f);
    vf a = vf_abs(x), log_low, log = vf_log2_pair(a, &log_low);
    vf p = vf_mul(y, log);
    vf p_low = vf_fma(y, log_low, vf_fma(y, log, vf_neg(p)));
    p_low = vf_if_ge(p, vf_set1(0x1.000002p7f), zero, p_low);
    p_low = vf_if_ge(vf_set1(-152.0f), p, zero, p_low);
    p = vf_max(vf_set1(-150.5f), vf_min(vf_set1(128.0f), p)); // NaN stays

    vf n = vf_sub(vf_add(p, magic), magic);
    vf r = vf_mul(vf_add(vf_sub(p, n), p_low), vf_set1(0x1.62e43p-1f));
    vf q = vf_add(vf_fma(vf_exp_tail(r), vf_mul(r, r), r), one);
    q = vf_mul_pow2(q, n);

    q = vf_if_equal(a, one, vf_if_ge(vf_abs(y), infinity, one, q), q);
    q = vf_if_ge(vf_copysign(one, x), zero, q, vf_power_below(x, y, q));
    return vf_if_ge(zero, vf_abs(y), one, vf_if_equal(x, one, one, q));
}

// log(1 + e^x) = max(x, 0) + log(1 + e^-|x|).
VF_VERB vf vf_softplus(vf x)
{
    const vf zero = vf_set1(0.0f);
    vf e = vf_exp(vf_sub(zero, vf_abs(x)));
    return vf_add(vf_max(zero, x), vf_log1p_unit(e));
}

// x / (1 + e^-x), rounded less often than x times vf_sigmoid(x).
//
// -x = n ln 2 / 16 - r with n whole and |r| <= ln 2 / 32, and e^-x = 2^(n / 16) e^-r, of which the
// first comes from a table and the second, from a polynomial of degree 3, is added to 1 in the step
// that multiplies them. All of it is 2^-6 as large as it should be, so that it becomes infinite
// only where x e^x is below the normal range.
VF_VERB void vf_silu_each(vf *x, const int count)
{
    const vf magic = vf_set1(0x1.8p23f + 16 * 121); // 121 = 127 - 6
    vf n[VF_ABREAST_MAX], r[VF_ABREAST_MAX], q[VF_ABREAST_MAX];
    VF_EACH(i, count) r[i] = vf_max(vf_set1(-92.88f), vf_min(vf_set1(64.0f), x[i])); // NaN stays
    VF_EACH(i, count) n[i] = vf_fma(r[i], vf_set1(-0x1.715476p4f), magic);
    VF_EACH(i, count) q[i] = vf_sub(n[i], magic);
    VF_EACH(i, count) r[i] = vf_fma(q[i], vf_set1(0x1.62ep-5f), r[i]); // ln 2 / 16, 12 bits: exact
    VF_EACH(i, count) r[i] = vf_fma(q[i], vf_set1(0x1.0bfbe8p-19f), r[i]); // and the rest
    VF_EACH(i, count) n[i] = vf_pow2_sixteenths(n[i]);

    VF_EACH(i, count) q[i] = vf_fma(vf_set1(-0x1.555556p-3f), r[i], vf_set1(0x1.00021ep-1f));
    VF_EACH(i, count) q[i] = vf_fma(q[i], r[i], vf_set1(-1.0f));
    VF_EACH(i, count) q[i] = vf_fma(q[i], r[i], vf_set1(1.0f));
    VF_EACH(i, count) q[i] = vf_fma(q[i], n[i], vf_set1(0x1p-6f));
    VF_EACH(i, count) x[i] = vf_div(vf_mul(x[i], vf_set1(0x1p-6f)), q[i]);
}

VF_VERB vf vf_silu(vf x)
{
    vf_silu_each(&x, 1);
    return x;
}

// x tanh(log(1 + e^x)), of which tanh is (e^2x + 2 e^x) / (e^2x + 2 e^x + 2).
VF_VERB vf vf_mish(vf x)
{
    const vf zero = vf_set1(0.0f), two = vf_set1(2.0f);
    vf e = vf_exp(vf_sub(zero, vf_abs(x)));
    vf twice = vf_add(e, e);
    vf top = vf_if_ge(x, zero, vf_add(twice, vf_set1(1.0f)), vf_mul(e, vf_add(e, two)));
    vf bottom = vf_add(top, vf_if_ge(x, zero, vf_mul(twice, e), two));
    return vf_mul(x, vf_div(top, bottom)); // NaN for -infinity, as of the product
}

// alpha (e^x - 1) below 0, else x.
VF_VERB vf vf_elu(vf x, vf alpha)
{
    const vf zero = vf_set1(0.0f);
    return vf_if_ge(x, zero, x, vf_mul(alpha, vf_expm1_below(vf_min(zero, x))));
}

// x / 2 (1 + tanh(u)) = x / (1 + e^-2u) for u = sqrt(2 / pi) (x + 0.044715 x^3).
//
// 2u is found with the part that rounding took, which e^-2u would magnify.
VF_VERB void vf_gelu_tanh_each(vf *x, const int count)
{
    const vf zero = vf_set1(0.0f), one = vf_set1(1.0f);
    const vf linear = vf_set1(0x1.988454p0f), cubic = vf_set1(0x1.2444f2p-4f);
    vf a[VF_ABREAST_MAX], square[VF_ABREAST_MAX], lost[VF_ABREAST_MAX], t[VF_ABREAST_MAX];
    vf p[VF_ABREAST_MAX], back[VF_ABREAST_MAX], p_lost[VF_ABREAST_MAX], v[VF_ABREAST_MAX];
    VF_EACH(i, count) a[i] = vf_min(vf_set1(11.0f), vf_abs(x[i]));
    VF_EACH(i, count) square[i] = vf_mul(a[i], a[i]);
    VF_EACH(i, count) lost[i] = vf_fma(a[i], a[i], vf_sub(zero, square[i]));
    VF_EACH(i, count) t[i] = vf_mul(cubic, square[i]);
    VF_EACH(i, count) p[i] = vf_add(t[i], linear);
    VF_EACH(i, count) back[i] = vf_sub(p[i], t[i]);
    VF_EACH(i, count)
    p_lost[i] = vf_add(vf_sub(t[i], vf_sub(p[i], back[i])), vf_sub(linear, back[i]));
    VF_EACH(i, count)
    p_lost[i] = vf_add(p_lost[i], vf_fma(cubic, square[i], vf_sub(zero, t[i])));
    VF_EACH(i, count)
    p_lost[i] = vf_add(p_lost[i], vf_fma(cubic, lost[i], vf_set1(-0x1.857936p-25f)));
    VF_EACH(i, count) p_lost[i] = vf_fma(square[i], vf_set1(0x1.49b16ap-29f), p_lost[i]);
    VF_EACH(i, count) v[i] = vf_sub(zero, vf_mul(a[i], p[i])); // -2u
    VF_EACH(i, count)
    lost[i] = vf_sub(zero, vf_fma(a[i], p_lost[i], vf_fma(a[i], p[i], v[i])));
    vf_exp_each(v, count);
    VF_EACH(i, count) v[i] = vf_fma(v[i], lost[i], v[i]);
    VF_EACH(i, count) t[i] = vf_if_ge(x[i], zero, one, v[i]);
    VF_EACH(i, count) x[i] = vf_mul(x[i], vf_div(t[i], vf_add(one, v[i])));
}

VF_VERB vf vf_gelu_tanh(vf x)
{
    vf_gelu_tanh_each(&x, 1);
    return x;
}

#endif
