// SPDX-License-Identifier: Apache-2.0
// Tap k reaches output o if k * dilation = o + pad modulo stride; solved with the modular inverse
// of the dilation.

#include "arch/cpu/kernels/deconv/deconv_phase.h"

// The greatest common divisor of `a` and `n`, and in *out_inverse the x below n / gcd with
// a * x = gcd modulo n: Euclid's algorithm, which carries x along modulo n.
static size_t divisor_and_inverse(size_t a, size_t n, size_t *out_inverse)
{
    size_t r = n, next_r = a % n, x = 0, next_x = 1 % n;
    while (next_r) {
        size_t quotient = r / next_r, rest = r % next_r;
        size_t back = quotient % n * next_x % n, rest_x = (x + n - back) % n;
        r = next_r;
        next_r = rest;
        x = next_x;
        next_x = rest_x;
    }
    *out_inverse = x % (n / r);
    return r;
}

ln_deconv_phase ln_deconv_find_phase(size_t first, size_t out, size_t pad, size_t kernel,
                                     size_t dilation, size_t stride)
{
    size_t inverse, rest = (first + pad) % stride;
    size_t divisor = divisor_and_inverse(dilation, stride, &inverse);
    ln_deconv_phase p = {.first = first,
                         .count = (out - 1 - first) / stride + 1,
                         .source = (first + pad) / stride,
                         .tap_step = stride / divisor};
    if (rest % divisor) // every so many taps one reaches them, or none
        return p;
    p.tap = rest / divisor * inverse % p.tap_step;
    p.tap_count = p.tap < kernel ? (kernel - 1 - p.tap) / p.tap_step + 1 : 0;
    return p;
}
