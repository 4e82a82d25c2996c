// SPDX-License-Identifier: Apache-2.0
// From many lanes to one, in an order that does not depend on how many a vector has. Include the
// verbs of the set first.
//
// Of `count` lanes, a power of two, lane j of the first half takes lane j of the second half, then
// the same again in what is left, down to one. Vector i of an array holds the lanes from i *
// VF_LANES on. All lanes of the result are the same.
//
// A long sum is made in runs: lanes that took LN_LANE_RUN elements each are added to the lanes of
// the whole, and start again at +0; the lanes of the last run take those of the whole. So roundings
// grow with LN_LANE_RUN and with the number of runs, not with their product.

#ifndef LN_ARCH_CPU_KERNELS_LANES_H
#define LN_ARCH_CPU_KERNELS_LANES_H

#include <stddef.h>

#include "arch/cpu/simd/unroll.h"

#define LN_LANE_RUN 64

VF_VERB void vf_clear(vf *vectors, const size_t count)
{
    LN_UNROLL
    for (size_t i = 0; i < count; i++)
        vectors[i] = vf_set1(0.0f);
}

VF_VERB void vf_add_each(vf *vectors, const vf *more, const size_t count)
{
    LN_UNROLL
    for (size_t i = 0; i < count; i++)
        vectors[i] = vf_add(vectors[i], more[i]);
}

// Changes the vectors; `count` is a constant.
VF_VERB vf vf_sum_lanes(vf *vectors, const size_t count)
{
    for (size_t half = count / VF_LANES / 2; half > 0; half /= 2) {
        for (size_t i = 0; i < half; i++)
            vectors[i] = vf_add(vectors[i], vectors[i + half]);
    }
    vf sum = vectors[0];
    LN_UNROLL
    for (int distance = VF_LANES / 2; distance > 0; distance /= 2)
        sum = vf_add(sum, vf_swap(sum, distance));
    return sum;
}

// The largest lane; NaN if one is.
VF_VERB vf vf_max_lanes(vf max)
{
    LN_UNROLL
    for (int distance = VF_LANES / 2; distance > 0; distance /= 2)
        max = vf_max_nan(max, vf_swap(max, distance));
    return max;
}

#endif
