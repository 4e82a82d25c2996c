// SPDX-License-Identifier: Apache-2.0
// Magnitudes of the elements of float32 constants: whether constants can be joined without
// underflow or overflow.

#ifndef LN_PASS_MAGNITUDE_H
#define LN_PASS_MAGNITUDE_H

#include <stdbool.h>

#include <lightnet/context.h>

typedef struct ln_magnitudes {
    double least;    // of the normal elements; infinite if there is none
    double greatest; // of the finite elements
    bool has_small;  // an element is 0 or subnormal
    bool has_subnormal;
    bool has_nonfinite;
    bool is_known;       // by the elements; else the magnitudes of usual weights are assumed
    bool is_known_whole; // of joined constants: those of all parts are
} ln_magnitudes;

// Elements that only a data file or a run has, and of tensors too long to look at, are assumed to
// have magnitudes from 2^-86 to 2^86: a factor from 2^-40 to 2^40 then keeps them normal.
void ln_find_magnitudes(const ln_context *ctx, const char *tensor, ln_magnitudes *out);

// Whether float32 has n to full precision: 0, or from 2^-126 to the greatest finite one.
bool ln_is_normal(double n);

// Whether `elew` of operation `how` can join constants a and b: no element is NaN or infinite, no
// divisor is 0 or subnormal, and an element of the result is 0, subnormal or infinite only where an
// element of a or b is 0 or subnormal. Holds where nothing is known of both. A subnormal factor is
// one of many summands beside an element of the result that is at least 2^-60, or refused. False
// for an operation other than TL_MUL, TL_DIV, TL_SUM and TL_SUB.
bool ln_can_join(const ln_context *ctx, const char *how, const char *a, const char *b);

// The same where each element is a result of its own, x combined with a and then with b: all are
// known, and none is subnormal. Factors are all 1 or less, or all 1 or more: else an x for which
// x * a is infinite or subnormal gives another result.
bool ln_can_join_each(const ln_context *ctx, const char *how, const char *a, const char *b);

// The tensors of a batch norm that becomes part of the weights before it.
typedef struct ln_norm_constants {
    const char *weight, *mean, *scale, *variance;
    const char *bias; // before it; NULL: none
    double epsilon;
} ln_norm_constants;

// The same of the weights and the factors scale / sqrt(variance + epsilon); and the products of
// bias and mean with these factors, which are summands, are finite.
bool ln_can_join_norm(const ln_context *ctx, const ln_norm_constants *c);

#endif
