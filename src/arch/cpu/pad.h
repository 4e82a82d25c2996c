// SPDX-License-Identifier: Apache-2.0
// Padding of tensors of any element type whose size is a power of two.

#ifndef LN_ARCH_CPU_PAD_H
#define LN_ARCH_CPU_PAD_H

#include <stdint.h>

#include <lightnet/tensor.h>

#include "base/pool.h"

LN_CPPSTART

typedef enum ln_cpu_pad_mode {
    LN_CPU_PAD_CONSTANT,
    LN_CPU_PAD_EDGE,
    LN_CPU_PAD_REFLECT,
    LN_CPU_PAD_WRAP
} ln_cpu_pad_mode;

typedef struct ln_cpu_pad_args {
    ln_cpu_pad_mode mode;
    int64_t begins[TL_MAXDIM]; // what is put before each dimension; negative: taken away
    uint64_t value;            // in its first bytes an element, for mode constant
} ln_cpu_pad_args;

// What is put after each dimension follows from those of `dst`. `dst` is apart from `src`.
void ln_cpu_pad_tensor(const ln_cpu_pad_args *args, const tl_tensor *src, const tl_tensor *dst,
                       ln_pool *pool);

LN_CPPEND

#endif
