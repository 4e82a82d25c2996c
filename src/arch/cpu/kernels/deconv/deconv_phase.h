// SPDX-License-Identifier: Apache-2.0
// Phases of a transposed convolution: outputs of an axis that the same taps reach.
//
// Outputs whose place, padding included, leaves the same rest when divided by the stride are a
// phase. Neighbours in a phase read neighbours of the input, so it is a convolution of stride 1.

#ifndef LN_ARCH_CPU_KERNELS_DECONV_PHASE_H
#define LN_ARCH_CPU_KERNELS_DECONV_PHASE_H

#include <stddef.h>

#include <lightnet/status.h>

LN_CPPSTART

// The outputs first, first + stride, ... of one axis, and the taps that reach them.
typedef struct ln_deconv_phase {
    size_t first;
    size_t count;
    size_t source;   // where a tap at distance 0 reads for the first output; the next reads one on
    size_t tap;      // the first tap that reaches them, those then every `tap_step`
    size_t tap_step; // at least 1
    size_t tap_count;
} ln_deconv_phase;

// The phase of output `first`, which is below `out`.
ln_deconv_phase ln_deconv_find_phase(size_t first, size_t out, size_t pad, size_t kernel,
                                     size_t dilation, size_t stride);

LN_CPPEND

#endif
