// SPDX-License-Identifier: Apache-2.0
// Fast Fourier transform of any length: radix 2 for powers of 2, Bluestein's convolution with a
// chirp for all others.

#include "arch/ref/onnx/signal_fft.h"

#include <math.h>
#include <stdint.h>

#include "base/deadline.h"

#define PI 3.14159265358979323846

static ln_complex multiply(ln_complex a, ln_complex b)
{
    return (ln_complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static ln_complex conjugate(ln_complex a)
{
    return (ln_complex){a.re, -a.im};
}

// exp(-pi i numerator / denominator), exact at quarters of a turn.
static ln_complex unit(size_t numerator, size_t denominator)
{
    if (numerator == 0)
        return (ln_complex){1, 0};
    if (2 * numerator == denominator)
        return (ln_complex){0, -1};
    if (numerator == denominator)
        return (ln_complex){-1, 0};
    if (2 * numerator == 3 * denominator)
        return (ln_complex){0, 1};
    double angle = -PI * (double)numerator / (double)denominator;
    return (ln_complex){cos(angle), sin(angle)};
}

static void permute(ln_complex *line, size_t n)
{
    for (size_t i = 1, j = 0; i < n; i++) {
        size_t bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            ln_complex swap = line[i];
            line[i] = line[j];
            line[j] = swap;
        }
    }
}

// n is a power of 2, and `roots` are those of n.
static void run_radix2(const ln_complex *roots, ln_complex *line, size_t n)
{
    permute(line, n);
    for (size_t half = 1; half < n; half *= 2) {
        size_t stride = n / (2 * half);
        for (size_t first = 0; first < n && !ln_deadline_passed_at(first); first += 2 * half) {
            for (size_t k = 0; k < half; k++) {
                ln_complex a = line[first + k];
                ln_complex b = multiply(line[first + k + half], roots[k * stride]);
                line[first + k] = (ln_complex){a.re + b.re, a.im + b.im};
                line[first + k + half] = (ln_complex){a.re - b.re, a.im - b.im};
            }
        }
    }
}

static void init_chirp(ln_fft *fft)
{
    size_t n = fft->n;
    for (size_t k = 0; k < n; k++) {
        // k * k modulo 2 n is all that the angle depends on, and stays exact; n fits 32 bits.
        size_t square = (size_t)((uint64_t)k * k % (2 * (uint64_t)n));
        fft->chirp[k] = unit(square, n);
        fft->response[k] = conjugate(fft->chirp[k]);
        if (k > 0)
            fft->response[fft->padded - k] = fft->response[k];
    }
    run_radix2(fft->roots, fft->response, fft->padded);
}

ln_status ln_fft_init(ln_call *call, size_t n, ln_fft *out_fft)
{
    ln_fft *fft = out_fft;
    *fft = (ln_fft){.n = n, .padded = 1};
    bool is_power = (n & (n - 1)) == 0;
    if (n > UINT32_MAX)
        return ln_call_fail(call, LN_LIMIT, "cannot transform %zu points", n);
    while (fft->padded < (is_power ? n : 2 * n - 1))
        fft->padded *= 2;
    fft->roots = ln_call_scratch(call, fft->padded, sizeof *fft->roots);
    if (!fft->roots)
        return LN_NO_MEMORY;
    if (!is_power) {
        fft->chirp = ln_call_scratch(call, n, sizeof *fft->chirp);
        fft->response = ln_call_scratch(call, fft->padded, sizeof *fft->response);
        fft->work = ln_call_scratch(call, fft->padded, sizeof *fft->work);
        if (!fft->chirp || !fft->response || !fft->work)
            return LN_NO_MEMORY;
    }
    if (ln_call_is_counting(call))
        return LN_OK;

    for (size_t k = 0; k < fft->padded; k++)
        fft->roots[k] = unit(2 * k, fft->padded);
    if (!is_power)
        init_chirp(fft);
    return LN_OK;
}

static void run_bluestein(const ln_fft *fft, ln_complex *line)
{
    size_t n = fft->n, padded = fft->padded;
    ln_complex *work = fft->work;
    for (size_t k = 0; k < padded; k++)
        work[k] = k < n ? multiply(line[k], fft->chirp[k]) : (ln_complex){0, 0};
    run_radix2(fft->roots, work, padded);
    // The inverse transform is the conjugate of the transform of the conjugate.
    for (size_t k = 0; k < padded; k++)
        work[k] = conjugate(multiply(work[k], fft->response[k]));
    run_radix2(fft->roots, work, padded);
    for (size_t k = 0; k < n; k++) {
        ln_complex sum = conjugate(work[k]);
        sum.re /= (double)padded;
        sum.im /= (double)padded;
        line[k] = multiply(sum, fft->chirp[k]);
    }
}

void ln_fft_run(const ln_fft *fft, ln_complex *line, bool is_inverse)
{
    for (size_t k = 0; is_inverse && k < fft->n; k++)
        line[k] = conjugate(line[k]);
    if (fft->chirp)
        run_bluestein(fft, line);
    else
        run_radix2(fft->roots, line, fft->n);
    for (size_t k = 0; is_inverse && k < fft->n; k++)
        line[k] = conjugate(line[k]);
}
