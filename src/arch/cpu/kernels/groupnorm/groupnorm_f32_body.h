// SPDX-License-Identifier: Apache-2.0
// Moments of channels, written once in vector verbs. A kernel file includes the verbs of
// its instruction set, then this.

#ifndef LN_ARCH_CPU_KERNELS_GROUPNORM_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_GROUPNORM_F32_BODY_H

#include "arch/cpu/kernels/groupnorm/groupnorm.h"

#define MOMENTS_SUMS 4

// `n` of the channels; all but the last ones are whole vectors.
VF_VERB vf load_channels(const float *p, size_t n)
{
    return n == VF_LANES ? vf_load(p) : vf_load_n(p, n);
}

VF_VERB void store_channels(float *p, vf v, size_t n)
{
    if (n == VF_LANES)
        vf_store(p, v);
    else
        vf_store_n(p, v, n);
}

VF_VERB vf join_sums(const vf sums[MOMENTS_SUMS])
{
    return vf_add(vf_add(sums[0], sums[1]), vf_add(sums[2], sums[3]));
}

// a + b, and what its rounding lost (Knuth's TwoSum).
VF_VERB vf two_sum(vf a, vf b, vf *error)
{
    vf sum = vf_add(a, b), of_b = vf_sub(sum, a);
    *error = vf_add(vf_sub(a, vf_sub(sum, of_b)), vf_sub(b, of_b));
    return sum;
}

// Merges a block into the moments of `before` pixels.
VF_VERB void moments_block(size_t rows, size_t n, const float *x, size_t x_row, size_t before,
                           float *mean, float *lost, float *squares)
{
    vf sums[MOMENTS_SUMS], rests[MOMENTS_SUMS], powers[MOMENTS_SUMS];
    for (size_t i = 0; i < MOMENTS_SUMS; i++)
        sums[i] = rests[i] = powers[i] = vf_set1(0.0f);
    size_t row = 0;
    for (; row + MOMENTS_SUMS <= rows; row += MOMENTS_SUMS)
        for (size_t i = 0; i < MOMENTS_SUMS; i++)
            sums[i] = vf_add(sums[i], load_channels(x + (row + i) * x_row, n));
    for (size_t i = 0; row + i < rows; i++)
        sums[i] = vf_add(sums[i], load_channels(x + (row + i) * x_row, n));
    vf block_mean = vf_div(join_sums(sums), vf_set1((float)rows));
    for (row = 0; row + MOMENTS_SUMS <= rows; row += MOMENTS_SUMS)
        for (size_t i = 0; i < MOMENTS_SUMS; i++) {
            vf d = vf_sub(load_channels(x + (row + i) * x_row, n), block_mean);
            rests[i] = vf_add(rests[i], d);
            powers[i] = vf_fma(d, d, powers[i]);
        }
    for (size_t i = 0; row + i < rows; i++) {
        vf d = vf_sub(load_channels(x + (row + i) * x_row, n), block_mean);
        rests[i] = vf_add(rests[i], d);
        powers[i] = vf_fma(d, d, powers[i]);
    }
    const vf count = vf_set1((float)rows);
    vf block_lost = vf_div(join_sums(rests), count);
    // About mean + lost; about the mean alone they are larger by n lost^2.
    vf block_squares = vf_max(vf_set1(0.0f), vf_fma(vf_mul(vf_set1(-(float)rows), block_lost),
                                                    block_lost, join_sums(powers)));
    if (before) {
        const vf weight = vf_set1((float)rows / (float)(before + rows));
        const vf spread = vf_mul(vf_set1((float)before), weight);
        vf old_mean = load_channels(mean, n), old_lost = load_channels(lost, n);
        vf d = vf_add(vf_sub(block_mean, old_mean), vf_sub(block_lost, old_lost));
        vf error, joined = vf_add(load_channels(squares, n), block_squares);
        block_mean = two_sum(old_mean, vf_mul(d, weight), &error);
        block_lost = vf_add(old_lost, error);
        block_squares = vf_fma(vf_mul(d, d), spread, joined);
    }
    store_channels(mean, block_mean, n);
    store_channels(lost, block_lost, n);
    store_channels(squares, block_squares, n);
}

void VF_KERNEL(ln_k_moments_f32)(size_t rows, size_t channels, const float *x, float *mean,
                                 float *lost, float *squares)
{
    for (size_t row = 0; row < rows; row += LN_MOMENTS_ROWS) {
        size_t count = rows - row < LN_MOMENTS_ROWS ? rows - row : LN_MOMENTS_ROWS, c = 0;
        const float *from = x + row * channels;
        for (; c + VF_LANES <= channels; c += VF_LANES)
            moments_block(count, VF_LANES, from + c, channels, row, mean + c, lost + c,
                          squares + c);
        if (c < channels)
            moments_block(count, channels - c, from + c, channels, row, mean + c, lost + c,
                          squares + c);
    }
}

#endif
