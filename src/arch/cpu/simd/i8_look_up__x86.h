// SPDX-License-Identifier: Apache-2.0
// Tables of bytes in 256 bits.
//
// A shuffle looks bytes up in a part of 16, by their lowest bits, and gives 0 where the highest bit
// is set. Each part is tried for all bytes, less 16 more each time: those below it have become
// negative, those above it get what the parts up to their own differ by, the exclusive-or of which
// is their own.

#ifndef LN_ARCH_CPU_SIMD_I8_LOOK_UP_X86_H
#define LN_ARCH_CPU_SIMD_I8_LOOK_UP_X86_H

#include "arch/cpu/simd/unroll.h"

#define VI_LOOKS_UP

#define VI_LOOK_UP_PARTS 8 // of half a table

VF_VERB void vi_difference_parts(const uint8_t *table, __m256i parts[VI_LOOK_UP_PARTS])
{
    __m256i before = _mm256_setzero_si256();
    for (size_t i = 0; i < VI_LOOK_UP_PARTS; i++) {
        const __m256i part =
            _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)(table + 16 * i)));
        parts[i] = _mm256_xor_si256(part, before);
        before = part;
    }
}

// The numbers of bytes of half a table; 0 for those whose highest bit is set.
VF_VERB __m256i vi_look_up_half(const __m256i parts[VI_LOOK_UP_PARTS], __m256i bytes)
{
    const __m256i step = _mm256_set1_epi8(16);
    __m256i found = _mm256_shuffle_epi8(parts[0], bytes);
    LN_UNROLL
    for (size_t i = 1; i < VI_LOOK_UP_PARTS; i++) {
        bytes = _mm256_subs_epi8(bytes, step); // what is negative stays so
        found = _mm256_xor_si256(found, _mm256_shuffle_epi8(parts[i], bytes));
    }
    return found;
}

// Returns how many have been looked up.
VF_VERB size_t vi_look_up(const uint8_t table[256], size_t n, const uint8_t *x, uint8_t *y)
{
    __m256i low[VI_LOOK_UP_PARTS], high[VI_LOOK_UP_PARTS];
    vi_difference_parts(table, low);
    vi_difference_parts(table + 128, high);
    const __m256i flips = _mm256_set1_epi8(-128);
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m256i bytes = _mm256_loadu_si256((const void *)(x + i));
        const __m256i found = vi_look_up_half(low, bytes);
        const __m256i others = vi_look_up_half(high, _mm256_xor_si256(bytes, flips));
        _mm256_storeu_si256((void *)(y + i), _mm256_or_si256(found, others));
    }
    return i;
}

#endif
