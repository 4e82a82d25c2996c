// SPDX-License-Identifier: Apache-2.0
// Numbers and the integers of 16 bits that stand for them: (word - zero) * scale. The steps are
// those of bytes (kernels/quant/quant.h).

#ifndef LN_ARCH_CPU_KERNELS_QUANT_WORDS_H
#define LN_ARCH_CPU_KERNELS_QUANT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/cpu/kernels/quant/quant.h"
#include "arch/cpu/kernels/select.h"

LN_CPPSTART

typedef struct ln_quant_words_kernels {
    void (*to_words)(const ln_quant_of *of, size_t n, const float *x, void *y);
    void (*to_floats)(const ln_quant_of *of, size_t n, const void *x, float *y);
} ln_quant_words_kernels;

LN_KERNELS(const ln_quant_words_kernels, quant_words)

LN_CPPEND

#endif
