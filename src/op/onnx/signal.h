// SPDX-License-Identifier: Apache-2.0
// Fourier transforms, windows and mel filters: shapes and attributes.

#ifndef LN_OP_ONNX_SIGNAL_H
#define LN_OP_ONNX_SIGNAL_H

#include <stdbool.h>

#include <lightnet/call.h>

// Transforms of lines: element k of a line with coordinates o and i is at (o * len + k) * inner +
// i, times the number of parts, real and imaginary. Lengths are 0 where they are not known yet.
typedef struct ln_signal_lines {
    int axis; // of the input
    int64_t outer, inner;
    int64_t in_len, out_len; // of a line
    int64_t n;               // points of the transform: the line is cut to them, or filled with 0
    int in_parts, out_parts;
    bool is_inverse;   // divides by n
    bool is_hermitian; // of an inverse: the line is the first half of a spectrum of real numbers
} ln_signal_lines;

// What DFT, Rfft and Irfft transform. *out_is_open says that axis or length are not known yet.
ln_status ln_dft_read(ln_call *call, ln_signal_lines *out_lines, bool *out_is_open);
ln_status ln_rfft_read(ln_call *call, ln_signal_lines *out_lines);
ln_status ln_irfft_read(ln_call *call, ln_signal_lines *out_lines);

// A short-time transform: `frames` frames of `n` samples, `step` apart, of each of `batch` signals.
typedef struct ln_stft {
    int batch, len, parts;
    int64_t step, n, frames, bins;
} ln_stft;

ln_status ln_stft_read(ln_call *call, ln_stft *out_stft, bool *out_is_open);

#endif
