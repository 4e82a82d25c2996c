// SPDX-License-Identifier: Apache-2.0
// A row of outputs, written once in vector verbs. A kernel file includes the verbs of its
// instruction set, then this.

#ifndef LN_ARCH_CPU_KERNELS_FEW_INPUTS_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_FEW_INPUTS_F32_BODY_H

#include <stdbool.h>
#include <stddef.h>

#include "arch/cpu/kernels/actf.h"
#include "arch/cpu/kernels/few_inputs/few_inputs.h"
#include "arch/cpu/simd/unroll.h"

#define FEW_LANES   16                     // of a panel
#define FEW_VECTORS (FEW_LANES / VF_LANES) // of a panel
#define FEW_MAX_M   28
#define FEW_MAX_NV  (2 * FEW_VECTORS)

// The first `columns` of `m` vectors. Not inlined, since they are mostly whole.
static __attribute__((noinline)) void few_store_columns(const float *from, size_t m, size_t columns,
                                                        float *y, size_t y_stride)
{
    for (size_t i = 0; i < m; i++, from += VF_LANES, y += y_stride)
        vf_store_n(y, vf_load(from), columns);
}

VF_VERB void few_finish(const ln_few_inputs_f32_row *r, size_t channel, size_t output,
                        vf (*sum)[FEW_MAX_NV], const size_t m, const size_t nv)
{
    const vf low = vf_set1(r->low), high = vf_set1(r->high);
    const vf zero = vf_set1(0.0f), slope = vf_set1(r->slope);
    const size_t y_stride = r->y_stride;
    float *y = r->y + output * y_stride + channel;
    LN_UNROLL
    for (size_t j = 0; j < nv; j++) {
        size_t at = channel + j * VF_LANES;
        size_t columns = at >= r->channels             ? 0
                         : r->channels - at < VF_LANES ? r->channels - at
                                                       : VF_LANES;
        if (columns == 0)
            return;
        if (r->bias) {
            const vf bias = vf_load_n(r->bias + at, columns);
            LN_UNROLL
            for (size_t i = 0; i < m; i++)
                sum[i][j] = vf_add(sum[i][j], bias);
        }
        if (r->has_bounds) {
            LN_UNROLL
            for (size_t i = 0; i < m; i++)
                sum[i][j] = vf_clip(sum[i][j], low, high);
        }
        if (r->is_lrelu) {
            LN_UNROLL
            for (size_t i = 0; i < m; i++)
                sum[i][j] = vf_if_ge(sum[i][j], zero, sum[i][j], vf_mul(slope, sum[i][j]));
        }
        const bool is_whole = columns == VF_LANES;
        float part[FEW_MAX_M * VF_LANES];
        float *to = is_whole ? y + j * VF_LANES : part;
        const size_t to_stride = is_whole ? y_stride : VF_LANES;
        LN_UNROLL
        for (size_t i = 0; i < m; i++)
            vf_store(to + i * to_stride, sum[i][j]);
        if (!is_whole)
            few_store_columns(part, m, columns, y + j * VF_LANES, y_stride);
    }
}

// `m` outputs from `output` on and `np` panels from `panel` on, windows `distance` floats from each
// other: m and np are constants where this is inlined, and so is the distance where that pays.
VF_VERB void few_tile(const ln_few_inputs_f32_row *r, size_t panel, size_t output, const size_t m,
                      const size_t np, const size_t distance)
{
    const size_t nv = np * FEW_VECTORS, w_panel = r->w_panel;
    const float *w_row = r->w + panel * w_panel, *x_row = r->x + output * distance;
    vf sum[FEW_MAX_M][FEW_MAX_NV];
    LN_UNROLL
    for (size_t i = 0; i < m; i++) {
        LN_UNROLL
        for (size_t j = 0; j < nv; j++)
            sum[i][j] = vf_set1(0.0f);
    }
    // Results come from far away while the sums are made.
    LN_UNROLL
    for (size_t i = 0; i < m; i++) {
        LN_UNROLL
        for (size_t j = 0; j < np; j++)
            __builtin_prefetch(r->y + (output + i) * r->y_stride + (panel + j) * FEW_LANES, 1, 3);
    }
    for (size_t row = 0; row < r->rows; row++, x_row += r->x_row, w_row += r->w_row) {
        const float *w = w_row, *x = x_row;
        for (size_t p = 0; p < r->k; p++, w += FEW_LANES, x++) {
            // Where windows meet, compilers would keep floats for the next round, in registers
            // that are not there.
            __asm__("" : "+r"(x));
            vf weight[FEW_MAX_NV];
            LN_UNROLL
            for (size_t j = 0; j < nv; j++)
                weight[j] = vf_load(w + j / FEW_VECTORS * w_panel + j % FEW_VECTORS * VF_LANES);
            LN_UNROLL
            for (size_t i = 0; i < m; i++) {
                const vf from = vf_set1(x[i * distance]);
                LN_UNROLL
                for (size_t j = 0; j < nv; j++)
                    sum[i][j] = vf_fma(from, weight[j], sum[i][j]);
            }
        }
    }
    few_finish(r, panel * FEW_LANES, output, sum, m, nv);
}

// Rows of fewer outputs than a tile has.
static __attribute__((noinline)) void few_singles(const ln_few_inputs_f32_row *r, size_t panel)
{
    for (size_t output = 0; output < r->outputs; output++)
        few_tile(r, panel, output, 1, 1, r->distance);
}

// All outputs in tiles of m; the last tile makes some again that the one before it has made.
VF_VERB void few_panels(const ln_few_inputs_f32_row *r, size_t panel, const size_t m,
                        const size_t np, const size_t distance)
{
    if (r->outputs < m) {
        for (size_t i = 0; i < np; i++)
            few_singles(r, panel + i);
        return;
    }
    for (size_t output = 0; output < r->outputs; output += m) {
        size_t last = r->outputs - m;
        few_tile(r, panel, output < last ? output : last, m, np, distance);
    }
}

#if VF_LANES < 16
void VF_KERNEL(ln_k_few_inputs_f32)(const ln_few_inputs_f32_row *r)
{
    for (size_t panel = 0; panel * FEW_LANES < r->channels; panel++)
        few_panels(r, panel, VF_IS_PORTABLE ? 4 : 6, 1, r->distance);
}
#endif

#endif
