// SPDX-License-Identifier: Apache-2.0
// The sixteen powers 2^(j / 16), from which vf_pow2_sixteenths makes those between them and others.
//
// They are what is left of a power's bits without its exponent, less j << 19: adding (16 e + j) <<
// 19 makes 2^(j / 16) with the exponent e of them.

#ifndef LN_ARCH_CPU_SIMD_POW2_TABLE_H
#define LN_ARCH_CPU_SIMD_POW2_TABLE_H

#include <stdint.h>

static const uint32_t vf_pow2_table[16] __attribute__((aligned(64), unused)) = {
    0x00000000, 0xfffdaac3, 0xfffb95c2, 0xfff9c3d3, 0xfff837f0, 0xfff6f532, 0xfff5fed7, 0xfff5583f,
    0xfff504f3, 0xfff508a4, 0xfff5672a, 0xfff6248c, 0xfff744fd, 0xfff8ccdf, 0xfffac0c7, 0xfffd257d,
};

#endif
