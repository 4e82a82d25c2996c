// SPDX-License-Identifier: Apache-2.0
// Fast Fourier transform of any length, in double.

#ifndef LN_ARCH_REF_ONNX_SIGNAL_FFT_H
#define LN_ARCH_REF_ONNX_SIGNAL_FFT_H

#include <stdbool.h>
#include <stddef.h>

#include <lightnet/call.h>

// A complex number.
typedef struct ln_complex {
    double re, im;
} ln_complex;

typedef struct ln_fft {
    size_t n;
    size_t padded;        // a power of 2: n itself, or room for a convolution of n points
    ln_complex *roots;    // [padded]: exp(-2 pi i k / padded)
    ln_complex *chirp;    // [n]: exp(-pi i k k / n); NULL where n is a power of 2
    ln_complex *response; // [padded]: transform of the conjugate chirp
    ln_complex *work;     // [padded]
} ln_fft;

// Prepares transforms of `n` >= 1 points; memory is that of the call.
ln_status ln_fft_init(ln_call *call, size_t n, ln_fft *out_fft);

// Transforms `line` of n numbers in place: sums of line[j] * exp(-2 pi i j k / n), with the other
// sign where `is_inverse`, and not divided.
void ln_fft_run(const ln_fft *fft, ln_complex *line, bool is_inverse);

#endif
