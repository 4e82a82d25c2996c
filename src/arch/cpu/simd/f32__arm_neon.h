// SPDX-License-Identifier: Apache-2.0
// The vector verbs for NEON of AArch64: four lanes. See f32__generic.h for what each verb means.
//
// The instructions for the larger and the smaller of two numbers order -0 before +0, which the
// verbs do not; so these are made of comparisons.

#ifndef LN_ARCH_CPU_SIMD_F32_ARM_NEON_H
#define LN_ARCH_CPU_SIMD_F32_ARM_NEON_H

#include <arm_neon.h>
#include <float.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/cpu/simd/pow2_table.h"

#define VF_VERB static inline __attribute__((always_inline, unused))

#define VF_LANES       4
#define VF_REGISTERS   32
#define VF_IS_PORTABLE 0

// The kernel of that name for this instruction set.
#define VF_KERNEL(name) name##__arm_neon

typedef float32x4_t vf;

VF_VERB vf vf_set1(float x)
{
    return vdupq_n_f32(x);
}

VF_VERB vf vf_load(const float *p)
{
    return vld1q_f32(p);
}

VF_VERB void vf_store(float *p, vf v)
{
    vst1q_f32(p, v);
}

VF_VERB vf vf_load_n(const float *p, size_t n)
{
    if (n >= 4)
        return vld1q_f32(p);
    if (n == 1)
        return vld1q_lane_f32(p, vdupq_n_f32(0.0f), 0);
    float32x2_t high = vdup_n_f32(0.0f);
    if (n == 3)
        high = vld1_lane_f32(p + 2, high, 0);
    return vcombine_f32(vld1_f32(p), high);
}

VF_VERB void vf_store_n(float *p, vf v, size_t n)
{
    if (n >= 4) {
        vst1q_f32(p, v);
        return;
    }
    if (n == 1) {
        vst1q_lane_f32(p, v, 0);
        return;
    }
    vst1_f32(p, vget_low_f32(v));
    if (n == 3)
        vst1q_lane_f32(p + 2, v, 2);
}

VF_VERB vf vf_load_step_n(const float *p, size_t step, size_t n)
{
    vf v = vld1q_lane_f32(p, vdupq_n_f32(0.0f), 0);
    if (n > 1)
        v = vld1q_lane_f32(p + step, v, 1);
    if (n > 2)
        v = vld1q_lane_f32(p + 2 * step, v, 2);
    if (n > 3)
        v = vld1q_lane_f32(p + 3 * step, v, 3);
    return v;
}

VF_VERB vf vf_add(vf a, vf b)
{
    return vaddq_f32(a, b);
}

VF_VERB vf vf_sub(vf a, vf b)
{
    return vsubq_f32(a, b);
}

VF_VERB vf vf_mul(vf a, vf b)
{
    return vmulq_f32(a, b);
}

VF_VERB vf vf_div(vf a, vf b)
{
    return vdivq_f32(a, b);
}

VF_VERB vf vf_fma(vf a, vf b, vf c)
{
    return vfmaq_f32(c, a, b);
}

#define vf_fma_inline vf_fma

VF_VERB vf vf_max(vf a, vf b)
{
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}

VF_VERB vf vf_min(vf a, vf b)
{
    return vbslq_f32(vcltq_f32(a, b), a, b);
}

VF_VERB vf vf_max_nan(vf a, vf b)
{
    return vbslq_f32(vornq_u32(vcgtq_f32(a, b), vceqq_f32(a, a)), a, b);
}

VF_VERB vf vf_min_nan(vf a, vf b)
{
    return vbslq_f32(vornq_u32(vcltq_f32(a, b), vceqq_f32(a, a)), a, b);
}

VF_VERB vf vf_if_ge(vf x, vf y, vf a, vf b)
{
    return vbslq_f32(vcgeq_f32(x, y), a, b);
}

VF_VERB vf vf_abs(vf a)
{
    return vabsq_f32(a);
}

VF_VERB vf vf_pow2_bits(vf a, vf magic)
{
    int32x4_t n = vsubq_s32(vreinterpretq_s32_f32(a), vreinterpretq_s32_f32(magic));
    return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(n, vdupq_n_s32(127)), 23));
}

VF_VERB vf vf_pow2_sixteenths(vf a)
{
    const uint32x4_t k = vreinterpretq_u32_f32(a);
    const uint8x16x4_t table = {{vld1q_u8((const uint8_t *)vf_pow2_table),
                                 vld1q_u8((const uint8_t *)(vf_pow2_table + 4)),
                                 vld1q_u8((const uint8_t *)(vf_pow2_table + 8)),
                                 vld1q_u8((const uint8_t *)(vf_pow2_table + 12))}};
    // The four bytes of entry j are 4 j, 4 j + 1, 4 j + 2, 4 j + 3 (little endian).
    uint32x4_t bytes = vmulq_n_u32(vandq_u32(k, vdupq_n_u32(15)), 0x04040404u);
    bytes = vaddq_u32(bytes, vdupq_n_u32(0x03020100u));
    uint32x4_t power = vreinterpretq_u32_u8(vqtbl4q_u8(table, vreinterpretq_u8_u32(bytes)));
    return vreinterpretq_f32_u32(vaddq_u32(power, vshlq_n_u32(k, 19)));
}

VF_VERB vf vf_mul_pow2(vf y, vf n)
{
    const int32x4_t bias = vdupq_n_s32(127);
    int32x4_t whole = vcvtnq_s32_f32(n);
    int32x4_t half = vshrq_n_s32(whole, 1), other = vsubq_s32(whole, half);
    half = vshlq_n_s32(vaddq_s32(half, bias), 23);
    other = vshlq_n_s32(vaddq_s32(other, bias), 23);
    return vmulq_f32(vmulq_f32(y, vreinterpretq_f32_s32(half)), vreinterpretq_f32_s32(other));
}

VF_VERB vf vf_split_pow2(vf x, vf *n)
{
    const int32x4_t least = vreinterpretq_s32_f32(vdupq_n_f32(0x1.6a09e6p-1f));
    uint32x4_t is_small = vcltq_f32(x, vdupq_n_f32(FLT_MIN));
    x = vbslq_f32(is_small, vmulq_f32(x, vdupq_n_f32(0x1p23f)), x);
    int32x4_t bits = vsubq_s32(vreinterpretq_s32_f32(x), least);
    int32x4_t shift = vandq_s32(vreinterpretq_s32_u32(is_small), vdupq_n_s32(-23));
    *n = vcvtq_f32_s32(vaddq_s32(vshrq_n_s32(bits, 23), shift));
    bits = vandq_s32(bits, vdupq_n_s32(0x7fffff));
    return vreinterpretq_f32_s32(vaddq_s32(bits, least));
}

VF_VERB vf vf_sqrt(vf a)
{
    return vsqrtq_f32(a);
}

VF_VERB vf vf_neg(vf a)
{
    return vnegq_f32(a);
}

VF_VERB vf vf_copysign(vf a, vf b)
{
    return vbslq_f32(vdupq_n_u32(0x80000000), b, a);
}

VF_VERB vf vf_first_n(vf a, vf b, size_t n)
{
    static const uint32_t lanes[VF_LANES] = {0, 1, 2, 3};
    return vbslq_f32(vcltq_u32(vld1q_u32(lanes), vdupq_n_u32((uint32_t)n)), a, b);
}

VF_VERB vf vf_swap(vf a, const int distance)
{
    return distance == 2 ? vextq_f32(a, a, 2) : vrev64q_f32(a);
}

// Lane i is lane j of the four that i is among.
VF_VERB vf vf_spread4(vf a, const int j)
{
    return j == 0   ? vdupq_laneq_f32(a, 0)
           : j == 1 ? vdupq_laneq_f32(a, 1)
           : j == 2 ? vdupq_laneq_f32(a, 2)
                    : vdupq_laneq_f32(a, 3);
}

// Pairs of lanes change places, then pairs of these.
VF_VERB void vf_transpose(vf rows[VF_LANES])
{
    float64x2_t even0 = vreinterpretq_f64_f32(vtrn1q_f32(rows[0], rows[1]));
    float64x2_t odd0 = vreinterpretq_f64_f32(vtrn2q_f32(rows[0], rows[1]));
    float64x2_t even1 = vreinterpretq_f64_f32(vtrn1q_f32(rows[2], rows[3]));
    float64x2_t odd1 = vreinterpretq_f64_f32(vtrn2q_f32(rows[2], rows[3]));
    rows[0] = vreinterpretq_f32_f64(vtrn1q_f64(even0, even1));
    rows[1] = vreinterpretq_f32_f64(vtrn1q_f64(odd0, odd1));
    rows[2] = vreinterpretq_f32_f64(vtrn2q_f64(even0, even1));
    rows[3] = vreinterpretq_f32_f64(vtrn2q_f64(odd0, odd1));
}

typedef uint8x16_t vf_index;  // four bytes for each lane
typedef uint32x4_t vf_choice; // all bits of a lane, or none

VF_VERB vf_index vf_index_of(const uint32_t lanes[VF_LANES])
{
    const uint32x4_t bytes = vdupq_n_u32(0x03020100);
    return vreinterpretq_u8_u32(vmlaq_n_u32(bytes, vld1q_u32(lanes), 0x04040404));
}

VF_VERB vf_choice vf_choice_of(const uint32_t is_there[VF_LANES])
{
    uint32x4_t bits = vld1q_u32(is_there);
    return vtstq_u32(bits, bits);
}

VF_VERB vf vf_permute(vf v, vf_index from)
{
    return vreinterpretq_f32_u8(vqtbl1q_u8(vreinterpretq_u8_f32(v), from));
}

VF_VERB vf vf_pick(vf old, vf v, vf_index from, vf_choice to)
{
    return vbslq_f32(to, vf_permute(v, from), old);
}

#endif
