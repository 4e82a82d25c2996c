// SPDX-License-Identifier: Apache-2.0
// ONNX's operators that draw random numbers, on arch `ref`.
//
// The numbers come from the Mersenne Twister MT19937, seeded and read as NumPy's RandomState does
// it: the same seed gives the numbers that ONNX's reference gives. Without a seed, every call takes
// a further seed of the process.

#ifndef LN_ARCH_REF_ONNX_RANDOM_H
#define LN_ARCH_REF_ONNX_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

#include <lightnet/call.h>

typedef struct ln_random {
    uint32_t words[624];
    int next;
    bool has_spare; // normal numbers come in pairs
    double spare;
} ln_random;

// Seeded by parameter `seed` if the operator has it.
void ln_random_start(const ln_call *call, ln_random *random);

// In [0, 1), of 53 random bits.
double ln_random_uniform(ln_random *random);

#endif
