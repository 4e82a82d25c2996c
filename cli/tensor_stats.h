// SPDX-License-Identifier: Apache-2.0
// What the numbers of a tensor look like as a whole.

#ifndef LN_CLI_TENSOR_STATS_H
#define LN_CLI_TENSOR_STATS_H

#include <stddef.h>

#include <lightnet/dtype.h>

// Start with {.dtype = ...}. Least, greatest, mean and deviation are those of the finite elements.
typedef struct tensor_stats {
    tl_dtype dtype;
    size_t count;
    size_t finite_count;
    size_t zero_count;
    size_t nan_count;
    size_t inf_count;
    size_t subnormal_count; // of less than full precision, of float32 and float64
    double least;
    double most;
    double mean;
    double mean_rest;    // what the mean has beyond a double's digits
    double squares;      // sum of the squared distances from the mean
    char exact_least[8]; // the elements themselves, for integers that a double does not hold
    char exact_most[8];
} tensor_stats;

// Adds `count` elements of the dtype.
void tensor_stats_add(tensor_stats *stats, const void *data, size_t count);

// Standard deviation, of all elements and not a sample; NaN when none is finite.
double tensor_stats_deviation(const tensor_stats *stats);

#endif
