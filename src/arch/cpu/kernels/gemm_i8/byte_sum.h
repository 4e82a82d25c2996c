// SPDX-License-Identifier: Apache-2.0
// The sum of the bytes of a row, sixteen at a time in the compiler's vectors.

#ifndef LN_ARCH_CPU_KERNELS_BYTE_SUM_H
#define LN_ARCH_CPU_KERNELS_BYTE_SUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint16_t byte_pairs __attribute__((vector_size(16)));

#define BYTE_SUM_LANES (sizeof(byte_pairs) / sizeof(uint16_t))

// Lanes of 16 bits hold the sum of so many bytes.
#define BYTE_SUM_STEPS 257

// `steps` vectors of bytes, at most BYTE_SUM_STEPS, each exclusive-or `flip`.
static inline uint32_t byte_sum_steps(const uint8_t *bytes, size_t steps, byte_pairs flip)
{
    byte_pairs low = {0}, high = {0};
    for (size_t i = 0; i < steps; i++) {
        byte_pairs pairs;
        memcpy(&pairs, bytes + i * sizeof pairs, sizeof pairs);
        pairs ^= flip;
        low += pairs & 0xff;
        high += pairs >> 8;
    }
    uint32_t sum = 0;
    for (size_t i = 0; i < BYTE_SUM_LANES; i++)
        sum += (uint32_t)low[i] + high[i];
    return sum;
}

static inline uint32_t byte_sum_four(const uint8_t *bytes, uint8_t flip)
{
    uint32_t four;
    memcpy(&four, bytes, sizeof four);
    four ^= flip * UINT32_C(0x01010101);
    four = (four & 0x00ff00ff) + (four >> 8 & 0x00ff00ff);
    return (four & 0xffff) + (four >> 16);
}

// Modulo 2^32. Each byte is taken exclusive-or `flip`.
static inline uint32_t byte_sum(const uint8_t *bytes, size_t count, uint8_t flip)
{
    const byte_pairs flips = (uint16_t)(flip * 0x101) - (byte_pairs){0};
    uint32_t sum = 0;
    while (count >= sizeof flips) {
        const size_t left = count / sizeof flips;
        const size_t steps = left < BYTE_SUM_STEPS ? left : BYTE_SUM_STEPS;
        sum += byte_sum_steps(bytes, steps, flips);
        bytes += steps * sizeof flips;
        count -= steps * sizeof flips;
    }
    for (; count >= sizeof(uint32_t); count -= sizeof(uint32_t), bytes += sizeof(uint32_t))
        sum += byte_sum_four(bytes, flip);
    for (size_t i = 0; i < count; i++)
        sum += (uint8_t)(bytes[i] ^ flip);
    return sum;
}

#endif
