// SPDX-License-Identifier: Apache-2.0
// The most that one thread computes: a loop of multiply-adds that waits for nothing.
//
// What kernels reach is told as a share of it. Twelve independent sums, each a chain of fma, hide
// the latency of the units; operands stay in registers.

#ifndef LN_ARCH_CPU_KERNELS_PEAK_H
#define LN_ARCH_CPU_KERNELS_PEAK_H

#include <stddef.h>
#include <stdint.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/select.h"

LN_CPPSTART

#define LN_PEAK_CHAINS 12

// Floating-point operations a second (a multiply-add is two) of the best of many short rounds in
// about `seconds`: the best, since what interrupts a thread is no property of its processor.
double ln_peak_f32(ln_cpu_isa isa, double seconds);

// The same for products of bytes that are summed in 32 bits.
double ln_peak_i8(ln_cpu_isa isa, double seconds);

// ---- Kernels ----

// LN_PEAK_CHAINS chains of `steps` multiply-adds of whole vectors. What they sum up to, so that
// they are not left out.
typedef float ln_peak_f32_fn(size_t steps);

typedef struct ln_peak_f32_kernel {
    size_t lanes;
    ln_peak_f32_fn *run;
} ln_peak_f32_kernel;

LN_KERNELS(const ln_peak_f32_kernel, peak_f32)

// LN_PEAK_CHAINS chains of `steps` products of four bytes, in each lane.
typedef int32_t ln_peak_i8_fn(size_t steps);

typedef struct ln_peak_i8_kernel {
    size_t lanes;
    ln_peak_i8_fn *run;
} ln_peak_i8_kernel;

LN_KERNELS_OF(LN_CPU_I8_LIST, const ln_peak_i8_kernel, peak_i8)

LN_CPPEND

#endif
