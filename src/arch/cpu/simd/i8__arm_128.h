// SPDX-License-Identifier: Apache-2.0
// The verbs of byte products that all sets of NEON have alike.

#ifndef LN_ARCH_CPU_SIMD_I8_ARM_128_H
#define LN_ARCH_CPU_SIMD_I8_ARM_128_H

#include <stdbool.h>

#define VI_OFFSET 128

typedef int8x16_t vi_fours;
typedef int8x16_t vi_bytes;

VF_VERB vi_fours vi_load_fours(const void *p)
{
    int32_t four;
    memcpy(&four, p, sizeof four);
    return vreinterpretq_s8_s32(vdupq_n_s32(four));
}

VF_VERB vi_bytes vi_load_bytes(const int8_t *p)
{
    return vld1q_s8(p);
}

VF_VERB void vi_add(int32_t *p, const int32_t *a, const int32_t *b)
{
    vst1q_s32(p, vaddq_s32(vld1q_s32(a), vld1q_s32(b)));
}

VF_VERB vf vi_sum_real(const int32_t *a, const int32_t *b)
{
    return vcvtq_f32_s32(vaddq_s32(vld1q_s32(a), vld1q_s32(b)));
}

VF_VERB void vi_store_bytes(uint8_t *p, vf v, int32_t zero, size_t n)
{
    uint32x4_t bits = vaddq_u32(vreinterpretq_u32_f32(v), vdupq_n_u32((uint32_t)zero));
    uint8x8_t bytes = vmovn_u16(vcombine_u16(vmovn_u32(bits), vdup_n_u16(0)));
    uint32_t all = vget_lane_u32(vreinterpret_u32_u8(bytes), 0);
    memcpy(p, &all, n);
}

VF_VERB void vi_expand(void *to, const uint8_t *from, size_t k, uint8_t flip)
{
    uint8_t *bytes = to;
    flip ^= VI_OFFSET;
    const uint8x16_t flips = vdupq_n_u8(flip);
    size_t i = 0;
    for (; i + 16 <= k; i += 16)
        vst1q_u8(bytes + i, veorq_u8(vld1q_u8(from + i), flips));
    for (; i < k; i++)
        bytes[i] = from[i] ^ flip;
    memset(bytes + k, 0, (0 - k) & 3);
}

#define VI_TAP_CHANNELS 16
#define VI_TAP_SUMS     4
#define VI_TAP_BYTES    1

typedef vi_sum vi_tap_sum;
#define vi_tap_zero vi_zero

VF_VERB int8x16_t vi_load_taps(const uint8_t *p, size_t n, uint8x16_t flips)
{
    if (n >= 16)
        return vreinterpretq_s8_u8(veorq_u8(vld1q_u8(p), flips));
    uint8_t all[16] = {0};
    memcpy(all, p, n);
    return vreinterpretq_s8_u8(veorq_u8(vld1q_u8(all), flips));
}

VF_VERB void vi_dot_taps(vi_tap_sum sums[VI_TAP_SUMS], const uint8_t *const taps[4],
                         const bool is_one, size_t n, uint8_t flip, const int8_t *w)
{
    (void)is_one;
    const uint8x16_t flips = vdupq_n_u8(flip ^ VI_OFFSET);
    int8x16_t t[4];
    for (int i = 0; i < 4; i++)
        t[i] = vi_load_taps(taps[i], n, flips);
    const int16x8_t low01 = vreinterpretq_s16_s8(vzip1q_s8(t[0], t[1]));
    const int16x8_t low23 = vreinterpretq_s16_s8(vzip1q_s8(t[2], t[3]));
    const int16x8_t high01 = vreinterpretq_s16_s8(vzip2q_s8(t[0], t[1]));
    const int16x8_t high23 = vreinterpretq_s16_s8(vzip2q_s8(t[2], t[3]));
    sums[0] = vi_dot(sums[0], vreinterpretq_s8_s16(vzip1q_s16(low01, low23)), vld1q_s8(w));
    sums[1] = vi_dot(sums[1], vreinterpretq_s8_s16(vzip2q_s16(low01, low23)), vld1q_s8(w + 16));
    sums[2] = vi_dot(sums[2], vreinterpretq_s8_s16(vzip1q_s16(high01, high23)), vld1q_s8(w + 32));
    sums[3] = vi_dot(sums[3], vreinterpretq_s8_s16(vzip2q_s16(high01, high23)), vld1q_s8(w + 48));
}

VF_VERB void vi_store_taps(int32_t *p, const vi_tap_sum sums[VI_TAP_SUMS])
{
    for (size_t q = 0; q < VI_TAP_SUMS; q++)
        vi_store(p + 4 * q, sums[q]);
}

#endif
