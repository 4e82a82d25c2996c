// SPDX-License-Identifier: Apache-2.0
// Asks the compiler to unroll the loop that follows; its bounds are constants. (GCC warns where it
// does not optimize.)

#ifndef LN_ARCH_CPU_SIMD_UNROLL_H
#define LN_ARCH_CPU_SIMD_UNROLL_H

#ifdef LN_UNROLL // the header of the instruction set has said so
#elif defined(LN_KEEP_LOOPS) || !defined(__OPTIMIZE__)
#define LN_UNROLL
#elif defined(__clang__)
#define LN_UNROLL _Pragma("clang loop unroll(full)")
#else
#define LN_UNROLL _Pragma("GCC unroll 32")
#endif

#endif
