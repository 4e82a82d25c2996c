// SPDX-License-Identifier: Apache-2.0
// Asks the compiler to unroll the loop that follows; its bounds are constants.

#ifndef LN_ARCH_CPU_SIMD_UNROLL_H
#define LN_ARCH_CPU_SIMD_UNROLL_H

#if defined(LN_KEEP_LOOPS)
#define LN_UNROLL
#elif defined(__clang__)
#define LN_UNROLL _Pragma("clang loop unroll(full)")
#else
#define LN_UNROLL _Pragma("GCC unroll 32")
#endif

#endif
