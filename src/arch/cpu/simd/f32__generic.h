// SPDX-License-Identifier: Apache-2.0
// The vector verbs for any processor: four lanes of float in the compiler's portable vectors.
//
// A kernel is written once in these verbs and compiled once per instruction set; its file includes
// the header of its set. Every verb is an exact IEEE operation per lane, so the set does not
// change a bit (but for the payload of a NaN, which nothing here promises).
//
//     vf        a vector of VF_LANES floats
//     ..._n     the first n lanes, 1 <= n <= VF_LANES: loads touch no memory after them and fill
//               the other lanes with 0, stores write no memory after them

#ifndef LN_ARCH_CPU_SIMD_F32_GENERIC_H
#define LN_ARCH_CPU_SIMD_F32_GENERIC_H

#include <float.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "arch/cpu/simd/pow2_table.h"

#if FLT_EVAL_METHOD != 0
#error "float arithmetic of this target keeps excess precision; build with SSE2 or its like"
#endif

// A verb may take many instructions here: the compiler decides where it is written out, and which
// loops are unrolled.
#define VF_VERB static inline __attribute__((unused))
#define LN_UNROLL

#define VF_LANES 4

// How many registers there are for sums, and whether the multiply-add is slow whatever surrounds
// it.
#define VF_REGISTERS   16
#define VF_IS_PORTABLE 1

// The kernel of that name for this instruction set.
#define VF_KERNEL(name) name##__generic

typedef float vf __attribute__((vector_size(16)));
typedef int32_t vf_mask __attribute__((vector_size(16)));

VF_VERB vf vf_set1(float x)
{
    return (vf){x, x, x, x};
}

VF_VERB vf vf_load(const float *p)
{
    vf v;
    memcpy(&v, p, sizeof v);
    return v;
}

VF_VERB void vf_store(float *p, vf v)
{
    memcpy(p, &v, sizeof v);
}

VF_VERB vf vf_load_n(const float *p, size_t n)
{
    vf v = {0};
    for (size_t i = 0; i < n; i++) {
        float x;
        memcpy(&x, p + i, sizeof x); // at any address, as the others
        v[i] = x;
    }
    return v;
}

VF_VERB void vf_store_n(float *p, vf v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = v[i];
}

// Lane i from p[i * step].
VF_VERB vf vf_load_step_n(const float *p, size_t step, size_t n)
{
    vf v = {0};
    for (size_t i = 0; i < n; i++)
        v[i] = p[i * step];
    return v;
}

VF_VERB vf vf_add(vf a, vf b)
{
    return a + b;
}

VF_VERB vf vf_sub(vf a, vf b)
{
    return a - b;
}

VF_VERB vf vf_mul(vf a, vf b)
{
    return a * b;
}

VF_VERB vf vf_div(vf a, vf b)
{
    return a / b;
}

VF_VERB vf vf_blend(vf_mask mask, vf a, vf b)
{
    return (vf)((mask & (vf_mask)a) | (~mask & (vf_mask)b));
}

// a > b ? a : b, thus b where one is NaN; likewise the smaller one.
VF_VERB vf vf_max(vf a, vf b)
{
    return vf_blend(a > b, a, b);
}

VF_VERB vf vf_min(vf a, vf b)
{
    return vf_blend(a < b, a, b);
}

// NaN where one is NaN.
VF_VERB vf vf_max_nan(vf a, vf b)
{
    return vf_blend((a > b) | (a != a), a, b);
}

VF_VERB vf vf_min_nan(vf a, vf b)
{
    return vf_blend((a < b) | (a != a), a, b);
}

// x >= y ? a : b.
VF_VERB vf vf_if_ge(vf x, vf y, vf a, vf b)
{
    return vf_blend(x >= y, a, b);
}

VF_VERB vf vf_abs(vf a)
{
    return (vf)((vf_mask)a & INT32_MAX);
}

// 2^(low bits of `a` minus those of `magic`), by which mathf.h makes powers of two from rounded
// numbers without a conversion that could overflow. The difference is in [-127, 127]; of -127 it is
// 0.
VF_VERB vf vf_pow2_bits(vf a, vf magic)
{
    typedef uint32_t bits __attribute__((vector_size(16)));
    return (vf)(((bits)a - (bits)magic + 127u) << 23);
}

// 2^(k / 16 - 127), rounded, where k is the number in the 13 low bits of `a`: from 16 to 4079, or
// 4080 for infinity; anything for others.
VF_VERB vf vf_pow2_sixteenths(vf a)
{
    typedef uint32_t bits __attribute__((vector_size(16)));
    const bits k = (bits)a;
    const bits power = {vf_pow2_table[k[0] % 16], vf_pow2_table[k[1] % 16],
                        vf_pow2_table[k[2] % 16], vf_pow2_table[k[3] % 16]};
    return (vf)(power + (k << 19));
}

// y * 2^n, rounded once, for y below 2^50 in size and whole n from -254 to 254; NaN where n is.
//
// Two factors, because 2^n alone may be outside the range of float where the result is not. The
// second one is the only one that may round.
VF_VERB vf vf_mul_pow2(vf y, vf n)
{
    const vf magic = vf_set1(0x1.8p23f);
    vf half = n * 0.5f + magic;
    vf other = (n - (half - magic)) + magic;
    return y * vf_pow2_bits(half, magic) * vf_pow2_bits(other, magic);
}

// x = m * 2^n for finite x > 0: returns m, from sqrt(1/2) to sqrt(2). Anything for other x.
VF_VERB vf vf_split_pow2(vf x, vf *n)
{
    typedef uint32_t unsigned_bits __attribute__((vector_size(16)));
    const unsigned_bits least = (unsigned_bits)vf_set1(0x1.6a09e6p-1f);
    vf_mask is_small = x < FLT_MIN;
    unsigned_bits bits = (unsigned_bits)vf_blend(is_small, x * 0x1p23f, x) - least;
    *n = __builtin_convertvector(((vf_mask)bits >> 23) + (is_small & -23), vf);
    return (vf)((bits & 0x7fffff) + least);
}

VF_VERB vf vf_sqrt(vf a)
{
    return (vf){__builtin_sqrtf(a[0]), __builtin_sqrtf(a[1]), __builtin_sqrtf(a[2]),
                __builtin_sqrtf(a[3])};
}

VF_VERB vf vf_neg(vf a)
{
    return (vf)((vf_mask)a ^ INT32_MIN);
}

// |a| with the sign of b.
VF_VERB vf vf_copysign(vf a, vf b)
{
    return (vf)(((vf_mask)a & INT32_MAX) | ((vf_mask)b & INT32_MIN));
}

// The first n lanes of a, the others of b; n may be 0.
VF_VERB vf vf_first_n(vf a, vf b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        b[i] = a[i];
    return b;
}

// Lane i is lane i ^ distance, for a distance of 1, 2, 4, ... below VF_LANES that is a constant.
VF_VERB vf vf_swap(vf a, const int distance)
{
    return distance == 2 ? (vf){a[2], a[3], a[0], a[1]} : (vf){a[1], a[0], a[3], a[2]};
}

// Lane i is lane j of the four that i is among.
VF_VERB vf vf_spread4(vf a, const int j)
{
    return vf_set1(a[j]);
}

// Lane i of vector j becomes lane j of vector i.
VF_VERB void vf_transpose(vf rows[VF_LANES])
{
    for (int i = 0; i < VF_LANES; i++) {
        for (int j = 0; j < i; j++) {
            float lane = rows[i][j];
            rows[i][j] = rows[j][i];
            rows[j][i] = lane;
        }
    }
}

// Numbers of lanes, and some of the lanes.
typedef vf_mask vf_index;
typedef vf_mask vf_choice;

VF_VERB vf_index vf_index_of(const uint32_t lanes[VF_LANES])
{
    return (vf_index){(int32_t)lanes[0], (int32_t)lanes[1], (int32_t)lanes[2], (int32_t)lanes[3]};
}

VF_VERB vf_choice vf_choice_of(const uint32_t is_there[VF_LANES])
{
    return vf_index_of(is_there) != 0;
}

// Lane i is lane from[i] of v.
VF_VERB vf vf_permute(vf v, vf_index from)
{
    return (vf){v[from[0]], v[from[1]], v[from[2]], v[from[3]]};
}

// `old`, but lane from[i] of v in the lanes i of `to`.
VF_VERB vf vf_pick(vf old, vf v, vf_index from, vf_choice to)
{
    for (int i = 0; i < VF_LANES; i++)
        old[i] = to[i] ? v[from[i]] : old[i];
    return old;
}

// ---- Fused multiply-add ----

#ifdef __FP_FAST_FMAF

// a * b + c, rounded once.
VF_VERB vf vf_fma(vf a, vf b, vf c)
{
    vf r;
    for (int i = 0; i < VF_LANES; i++)
        r[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return r;
}

#define vf_fma_inline vf_fma

#else

typedef double vf_half __attribute__((vector_size(16)));
typedef int64_t vf_half_bits __attribute__((vector_size(16)));

// The product of two floats is exact in double. The sum is rounded to odd there (Boldo and
// Melquiond), after which rounding to float gives what one rounding would have given: a result
// that was not exact keeps a last bit of 1 and so never looks like a tie.
VF_VERB vf_half vf_fma_odd(vf_half a, vf_half b, vf_half c)
{
    vf_half product = a * b;
    vf_half sum = product + c;
    vf_half c_part = sum - product;
    vf_half lost = (product - (sum - c_part)) + (c - c_part); // exact; NaN for inf and NaN

    vf_half zero = {0};
    vf_half_bits inexact = (lost > zero) | (lost < zero);
    vf_half_bits outwards = ~((lost > zero) ^ (sum > zero)); // the lost part has the sum's sign
    vf_half_bits bits = (vf_half_bits)sum;
    vf_half_bits even = (bits & 1) - 1;
    bits += (-1 - 2 * outwards) & inexact & even;
    return (vf_half)bits;
}

static __attribute__((noinline, cold, unused)) vf vf_fma_careful(vf a, vf b, vf c)
{
    vf_half low = vf_fma_odd((vf_half){a[0], a[1]}, (vf_half){b[0], b[1]}, (vf_half){c[0], c[1]});
    vf_half high = vf_fma_odd((vf_half){a[2], a[3]}, (vf_half){b[2], b[3]}, (vf_half){c[2], c[3]});
    return (vf){(float)low[0], (float)low[1], (float)high[0], (float)high[1]};
}

// Whether rounding `sum` again, to float, could differ from rounding once: where the first
// rounding may have made a tie. The 29 bits that float drops are then 1000...0; below the normal
// range float drops more than those.
VF_VERB vf_half_bits vf_fma_doubt(vf_half sum)
{
    const vf_half_bits one = {0x3ff0000000000000, 0x3ff0000000000000}; // 1.0, to compare as double
    vf_half_bits bits = (vf_half_bits)sum;
    vf_half tie = (vf_half)(one | 0x10000000);
    vf_half dropped = (vf_half)(one | (bits & 0x1fffffff));
    vf_half magnitude = (vf_half)(bits & INT64_MAX);
    return (dropped == tie) | ((magnitude < (double)FLT_MIN) & (magnitude > 0.0));
}

// a * b + c, rounded once, in 1 to 2 ns per lane inside a gemm. Calling fmaf takes 0.7 ns where the
// processor has the instruction after all, but 10 ns and more where it has not.
VF_VERB vf vf_fma_inline(vf a, vf b, vf c)
{
    vf_half low = (vf_half){a[0], a[1]} * (vf_half){b[0], b[1]} + (vf_half){c[0], c[1]};
    vf_half high = (vf_half){a[2], a[3]} * (vf_half){b[2], b[3]} + (vf_half){c[2], c[3]};
    vf_half_bits doubt = vf_fma_doubt(low) | vf_fma_doubt(high);
    if (__builtin_expect((doubt[0] | doubt[1]) != 0, 0))
        return vf_fma_careful(a, b, c);
    return (vf){(float)low[0], (float)low[1], (float)high[0], (float)high[1]};
}

vf ln_k_fma_f32__generic(vf a, vf b, vf c);

// It is 100 bytes of code, so it is called. Files of products, which do little else and are a fifth
// faster without calls, say `#define vf_fma vf_fma_inline`.
VF_VERB vf vf_fma(vf a, vf b, vf c)
{
    return ln_k_fma_f32__generic(a, b, c);
}

#endif

#endif
