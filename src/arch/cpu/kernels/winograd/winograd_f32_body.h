// SPDX-License-Identifier: Apache-2.0
// Winograd's transforms and products, written once in vector verbs. A kernel file includes the
// verbs of its instruction set, then this, and gives its tile of the product.
//
// The bits: a transform works on rows, then on columns, each with the operations of `input_line`
// and `output_line` in their order.

#ifndef LN_ARCH_CPU_KERNELS_WINOGRAD_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_WINOGRAD_F32_BODY_H

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/cpu/kernels/actf.h"
#include "arch/cpu/kernels/eltwise/eltwise.h"
#include "arch/cpu/kernels/winograd/winograd_kernel.h"
#include "arch/cpu/kernels/winograd/winograd_points.h"
#include "arch/cpu/simd/unroll.h"

#define SIDE    LN_WINOGRAD_MAX_SIDE
#define OUTPUTS (LN_WINOGRAD_MAX_SIDE - 2)

VF_VERB vf vf_number(double x)
{
    return vf_set1((float)x);
}

// ---- Input ----

VF_VERB void input_line_2(vf *r, const vf *d)
{
    r[0] = vf_sub(d[2], d[0]);
    r[1] = vf_add(d[2], d[1]);
    r[2] = vf_sub(d[2], d[1]);
    r[3] = vf_sub(d[3], d[1]);
}

VF_VERB void input_line_4(vf *r, const vf *d)
{
    const double a = LN_WINOGRAD4_A, b = LN_WINOGRAD4_B;
    const vf minus_sum = vf_number(-(a * a + b * b)), product = vf_number(a * a * b * b);
    const vf minus_a2 = vf_number(-a * a), minus_b2 = vf_number(-b * b);

    r[0] = vf_fma(d[0], product, vf_fma(d[2], minus_sum, d[4]));
    r[5] = vf_fma(d[1], product, vf_fma(d[3], minus_sum, d[5]));
    vf even = vf_fma(d[2], minus_b2, d[4]), odd = vf_fma(d[1], minus_b2, d[3]);
    r[1] = vf_fma(odd, vf_number(a), even);
    r[2] = vf_fma(odd, vf_number(-a), even);
    even = vf_fma(d[2], minus_a2, d[4]), odd = vf_fma(d[1], minus_a2, d[3]);
    r[3] = vf_fma(odd, vf_number(b), even);
    r[4] = vf_fma(odd, vf_number(-b), even);
}

// The rows of the points +-x, where the squares of the other points have that sum and product.
VF_VERB void input_pair_6(vf *r, const vf *d, double x, double sum, double product)
{
    const vf s = vf_number(-sum), p = vf_number(product);
    vf even = vf_fma(d[2], p, vf_fma(d[4], s, d[6]));
    vf odd = vf_fma(d[1], p, vf_fma(d[3], s, d[5]));
    r[0] = vf_fma(odd, vf_number(x), even);
    r[1] = vf_fma(odd, vf_number(-x), even);
}

VF_VERB void input_line_6(vf *r, const vf *d)
{
    const double a = LN_WINOGRAD6_A, b = LN_WINOGRAD6_B, c = LN_WINOGRAD6_C;
    const double a2 = a * a, b2 = b * b, c2 = c * c;
    // (x^2 - a^2)(x^2 - b^2)(x^2 - c^2) = x^6 - t x^4 + t x^2 - 1, as a c = b = 1.
    const vf t = vf_number(a2 + b2 + c2);

    r[0] = vf_fma(vf_sub(d[2], d[4]), t, vf_sub(d[6], d[0]));
    r[7] = vf_fma(vf_sub(d[3], d[5]), t, vf_sub(d[7], d[1]));
    input_pair_6(r + 1, d, a, b2 + c2, b2 * c2);
    input_pair_6(r + 3, d, b, a2 + c2, a2 * c2);
    input_pair_6(r + 5, d, c, a2 + b2, a2 * b2);
}

VF_VERB void input_line(const size_t m, vf *r, const vf *d)
{
    switch (m) {
    case 2: input_line_2(r, d); break;
    case 4: input_line_4(r, d); break;
    default: input_line_6(r, d); break;
    }
}

// `count` channels from `c` on; the other lanes are 0.
VF_VERB void input_channels(const size_t m, const bool is_inside, const ln_winograd_f32_input *t,
                            size_t c, size_t count)
{
    const size_t n = m + 2;
    vf half[SIDE][SIDE];

    for (size_t i = 0; i < n; i++) {
        vf d[SIDE];
        LN_UNROLL
        for (size_t j = 0; j < n; j++) {
            const float *x = is_inside ? t->x + i * t->row + j * t->pixel : t->pixels[i * n + j];
            d[j] = count == VF_LANES ? vf_load(x + c) : vf_load_n(x + c, count);
        }
        input_line(m, half[i], d);
    }

    for (size_t j = 0; j < n; j++) {
        vf d[SIDE], r[SIDE];
        float *v = t->v + j * t->plane + c;
        LN_UNROLL
        for (size_t i = 0; i < n; i++)
            d[i] = half[i][j];
        input_line(m, r, d);
        LN_UNROLL
        for (size_t i = 0; i < n; i++)
            vf_store(v + i * n * t->plane, r[i]);
    }
}

VF_VERB void input_tile(const size_t m, const bool is_inside, const ln_winograd_f32_input *t)
{
    size_t c = 0;
    for (; c + VF_LANES <= t->channels; c += VF_LANES)
        input_channels(m, is_inside, t, c, VF_LANES);
    if (c < t->channels)
        input_channels(m, is_inside, t, c, t->channels - c);
}

VF_VERB void winograd_f32_input(const size_t m, const ln_winograd_f32_input *t)
{
    if (t->x)
        input_tile(m, true, t);
    else
        input_tile(m, false, t);
}

// ---- Product ----

#define PRODUCT_MAX_ROWS 14
#define PRODUCT_MAX_NV   (2 * LN_WINOGRAD_LANES / VF_LANES)

// Where a tile is, and how many bytes after each of its panels those are that it fetches for
// later.
typedef struct product_place {
    const float *v, *u;
    float *m;
    size_t rows;
    uintptr_t ahead[2];
} product_place;

// A tile of `rows` <= `most` rows and `panels` panels, whose sums stay in registers: most and
// panels are constants where this is inlined. Where rows is one, too, nothing is tested. The rows
// are addressed from every third one: x86 addresses reach the stride once and twice, which saves
// the registers that one pointer per row would take.
VF_VERB void product_tile(const ln_winograd_f32_product *p, const product_place *place,
                          const size_t most, size_t rows, const size_t panels)
{
    const size_t nv = panels * LN_WINOGRAD_LANES / VF_LANES;
    const size_t v_row = p->v_row;
    const uintptr_t ahead = place->ahead[0], ahead_next = place->ahead[1];
    const float *u = place->u, *u_next = u + p->channels * LN_WINOGRAD_LANES;
    const float *a[(PRODUCT_MAX_ROWS + 2) / 3] = {NULL};
    vf sum[PRODUCT_MAX_ROWS][PRODUCT_MAX_NV];

    LN_UNROLL
    for (size_t i = 0; i < most; i++) {
        LN_UNROLL
        for (size_t j = 0; j < nv; j++)
            sum[i][j] = vf_set1(0.0f);
    }
    LN_UNROLL
    for (size_t i = 0; i < most && i < rows; i += 3)
        a[i / 3] = place->v + i * v_row;

    for (size_t c = 0; c < p->channels; c++) {
        vf w[PRODUCT_MAX_NV];
        LN_UNROLL
        for (size_t j = 0; j < nv; j++) {
            size_t lane = j * VF_LANES;
            w[j] = vf_load(lane < LN_WINOGRAD_LANES ? u + lane : u_next + lane - LN_WINOGRAD_LANES);
        }
        __builtin_prefetch((const void *)((uintptr_t)u + ahead), 0, 3);
        if (panels > 1)
            __builtin_prefetch((const void *)((uintptr_t)u_next + ahead_next), 0, 3);
        u += LN_WINOGRAD_LANES;
        u_next += LN_WINOGRAD_LANES;
        LN_UNROLL
        for (size_t i = 0; i < most && i < rows; i++) {
            vf x = vf_set1(a[i / 3][(i % 3) * v_row]);
            LN_UNROLL
            for (size_t j = 0; j < nv; j++)
                sum[i][j] = vf_fma(x, w[j], sum[i][j]);
        }
        LN_UNROLL
        for (size_t i = 0; i < most && i < rows; i += 3)
            a[i / 3]++;
    }

    LN_UNROLL
    for (size_t i = 0; i < most && i < rows; i++) {
        LN_UNROLL
        for (size_t j = 0; j < nv; j++)
            vf_store(place->m + i * p->m_row + j * VF_LANES, sum[i][j]);
    }
}

typedef void product_tile_fn(const ln_winograd_f32_product *p, const product_place *place);

// All rows past one or two panels at a time. Of `tiles`, number 0 makes as many rows as no other
// does. The rows are dealt evenly: 16 rows of a tile of 14 are 8 and 8, not 14 and 2, because small
// tiles do not hide the latency of fma.
//
// Meanwhile the panels that follow are fetched, each by one tile: the hardware does not do so
// across the ends of pages, which come every 64 channels.
VF_VERB void winograd_f32_product(const ln_winograd_f32_product *p, const size_t max_rows,
                                  const size_t max_panels,
                                  product_tile_fn *const (*tiles)[PRODUCT_MAX_ROWS + 1])
{
    const size_t tile_count = (p->rows + max_rows - 1) / max_rows;
    for (size_t panel = 0; panel < p->panels; panel += max_panels) {
        size_t panels = p->panels - panel < max_panels ? p->panels - panel : max_panels;
        product_place place = {.v = p->v,
                               .u = p->u + panel * p->channels * LN_WINOGRAD_LANES,
                               .m = p->m + panel * LN_WINOGRAD_LANES};
        const float *after = place.u + panels * p->channels * LN_WINOGRAD_LANES;
        if (panel + panels == p->panels)
            after = p->u_after;
        uintptr_t distance = (uintptr_t)after - (uintptr_t)place.u;
        for (size_t i = 0; i < tile_count; i++) {
            size_t rows = p->rows / tile_count + (i < p->rows % tile_count);
            place.rows = rows;
            place.ahead[0] = i == 0 ? distance : 0;
            place.ahead[1] = i == (tile_count > 1) ? distance : 0;
            product_tile_fn *tile = tiles[panels - 1][rows];
            if (!tile)
                tile = tiles[panels - 1][0];
            tile(p, &place);
            place.v += rows * p->v_row;
            place.m += rows * p->m_row;
        }
    }
}

// ---- Output ----

VF_VERB void output_line_2(vf *y, const vf *s)
{
    y[0] = vf_add(vf_add(s[0], s[1]), s[2]);
    y[1] = vf_add(vf_sub(s[1], s[2]), s[3]);
}

VF_VERB void output_line_4(vf *y, const vf *s)
{
    const double a = LN_WINOGRAD4_A, b = LN_WINOGRAD4_B;
    vf even_a = vf_add(s[1], s[2]), odd_a = vf_sub(s[1], s[2]);
    vf even_b = vf_add(s[3], s[4]), odd_b = vf_sub(s[3], s[4]);
    y[0] = vf_add(vf_add(s[0], even_a), even_b);
    y[1] = vf_fma(odd_b, vf_number(b), vf_mul(odd_a, vf_number(a)));
    y[2] = vf_fma(even_b, vf_number(b * b), vf_mul(even_a, vf_number(a * a)));
    y[3] = vf_fma(odd_b, vf_number(b * b * b), vf_fma(odd_a, vf_number(a * a * a), s[5]));
}

VF_VERB void output_line_6(vf *y, const vf *s)
{
    const double a = LN_WINOGRAD6_A, c = LN_WINOGRAD6_C; // and b = 1
    const double a2 = a * a, c2 = c * c;
    vf even_a = vf_add(s[1], s[2]), odd_a = vf_sub(s[1], s[2]);
    vf even_b = vf_add(s[3], s[4]), odd_b = vf_sub(s[3], s[4]);
    vf even_c = vf_add(s[5], s[6]), odd_c = vf_sub(s[5], s[6]);
    y[0] = vf_add(vf_add(vf_add(s[0], even_a), even_b), even_c);
    y[1] = vf_fma(odd_c, vf_number(c), vf_fma(odd_a, vf_number(a), odd_b));
    y[2] = vf_fma(even_c, vf_number(c2), vf_fma(even_a, vf_number(a2), even_b));
    y[3] = vf_fma(odd_c, vf_number(c2 * c), vf_fma(odd_a, vf_number(a2 * a), odd_b));
    y[4] = vf_fma(even_c, vf_number(c2 * c2), vf_fma(even_a, vf_number(a2 * a2), even_b));
    y[5] = vf_fma(odd_c, vf_number(c2 * c2 * c),
                  vf_fma(odd_a, vf_number(a2 * a2 * a), vf_add(odd_b, s[7])));
}

VF_VERB void output_line(const size_t m, vf *y, const vf *s)
{
    switch (m) {
    case 2: output_line_2(y, s); break;
    case 4: output_line_4(y, s); break;
    default: output_line_6(y, s); break;
    }
}

// `count` <= VF_LANES channels.
VF_VERB vf output_load(const float *p, size_t count)
{
    return count == VF_LANES ? vf_load(p) : vf_load_n(p, count);
}

VF_VERB void output_store(float *p, vf y, size_t count)
{
    if (count == VF_LANES)
        vf_store(p, y);
    else
        vf_store_n(p, y, count);
}

// Whether the activation is two bounds; then what they are.
VF_VERB bool output_bounds(const ln_epilogue_f32 *e, vf *out_low, vf *out_high)
{
    *out_low = vf_set1(e->act == LN_ACT_RELU ? 0.0f : e->act == LN_ACT_CLIP ? e->alpha : -INFINITY);
    *out_high = vf_set1(e->act == LN_ACT_CLIP ? e->beta : INFINITY);
    return e->act == LN_ACT_NONE || e->act == LN_ACT_RELU || e->act == LN_ACT_CLIP;
}

// Adds what comes after the activation, and stores output (i, j).
VF_VERB void output_finish(const ln_winograd_f32_output *t, size_t i, size_t j, size_t c,
                           size_t count, vf y)
{
    const ln_epilogue_f32 *e = &t->epilogue;
    if (e->addend && e->is_addend_last) {
        const float *addend = e->addend + i * t->addend_row + j * e->addend_stride + c;
        y = vf_add(y, output_load(addend, count));
    }
    output_store(t->y + i * t->y_row + j * t->y_pixel + c, y, count);
}

// `count` channels from `c` on.
VF_VERB void output_channels(const size_t m, const ln_winograd_f32_output *t, size_t c,
                             size_t count)
{
    const size_t n = m + 2;
    const ln_epilogue_f32 *e = &t->epilogue;
    vf half[SIDE][OUTPUTS], sums[OUTPUTS * OUTPUTS], low, high, bias = vf_set1(0.0f);
    bool is_bounds = output_bounds(e, &low, &high);

    for (size_t i = 0; i < n; i++) {
        const float *from = t->m + i * n * t->plane + c;
        vf s[SIDE];
        LN_UNROLL
        for (size_t j = 0; j < n; j++)
            s[j] = vf_load(from + j * t->plane);
        output_line(m, half[i], s);
    }

    if (e->bias)
        bias = output_load(e->bias + c, count);
    for (size_t j = 0; j < t->columns; j++) {
        vf s[SIDE], y[OUTPUTS];
        LN_UNROLL
        for (size_t i = 0; i < n; i++)
            s[i] = half[i][j];
        output_line(m, y, s);
        LN_UNROLL
        for (size_t i = 0; i < m; i++) {
            if (i >= t->rows)
                break;
            vf r = y[i];
            if (e->bias)
                r = vf_add(r, bias);
            if (e->addend && !e->is_addend_last) {
                const float *addend = e->addend + i * t->addend_row + j * e->addend_stride + c;
                r = vf_add(r, output_load(addend, count));
            }
            if (is_bounds)
                output_finish(t, i, j, c, count, vf_clip(r, low, high));
            else
                sums[j * t->rows + i] = r;
        }
    }
    if (is_bounds)
        return;
    const ln_act_f32_args act = {.act = e->act, .alpha = e->alpha, .beta = e->beta};
    VF_KERNEL(ln_k_act_f32)
    (&act, t->columns * t->rows * VF_LANES, (const float *)sums, (float *)sums);
    for (size_t j = 0; j < t->columns; j++) {
        for (size_t i = 0; i < t->rows; i++)
            output_finish(t, i, j, c, count, sums[j * t->rows + i]);
    }
}

VF_VERB void winograd_f32_output(const size_t m, const ln_winograd_f32_output *t)
{
    size_t c = 0;
    for (; c + VF_LANES <= t->channels; c += VF_LANES)
        output_channels(m, t, c, VF_LANES);
    if (c < t->channels)
        output_channels(m, t, c, t->channels - c);
}

// ---- The kernel ----

#define TRANSFORMS(m)                                                                              \
    static void input_##m(const ln_winograd_f32_input *tile)                                       \
    {                                                                                              \
        winograd_f32_input(m, tile);                                                               \
    }                                                                                              \
    static void output_##m(const ln_winograd_f32_output *tile)                                     \
    {                                                                                              \
        winograd_f32_output(m, tile);                                                              \
    }
TRANSFORMS(2)
TRANSFORMS(4)
TRANSFORMS(6)
#undef TRANSFORMS

// Products of a number of rows that is known early, and of any up to `most`.
#define PRODUCT(name, most, count, panels)                                                         \
    static void name(const ln_winograd_f32_product *p, const product_place *place)                 \
    {                                                                                              \
        assert((count) == place->rows && place->rows >= 1 && place->rows <= (most));               \
        product_tile(p, place, most, count, panels);                                               \
    }
#define PRODUCT_TILE(rows, panels)  PRODUCT(product_##rows##x##panels, rows, rows, panels)
#define PRODUCT_TO(most, panels)    PRODUCT(product_to_##most##x##panels, most, place->rows, panels)
#define PRODUCT_ENTRY(rows, panels) [rows] = product_##rows##x##panels,

#if VF_LANES < 16
// The tile: 12 or 24 vectors of sums in 16 or 32 registers.
#if VF_IS_PORTABLE
#define PRODUCT_MR 4
PRODUCT_TO(4, 1)
static product_tile_fn *const tiles[1][PRODUCT_MAX_ROWS + 1] = {{product_to_4x1}};
#else
#define PRODUCT_MR 6
PRODUCT_TILE(6, 1)
PRODUCT_TO(5, 1)
static product_tile_fn *const tiles[1][PRODUCT_MAX_ROWS + 1] = {
    {product_to_5x1, PRODUCT_ENTRY(6, 1)}};
#endif

static void product(const ln_winograd_f32_product *p)
{
    winograd_f32_product(p, PRODUCT_MR, 1, tiles);
}

const ln_winograd_f32_kernel VF_KERNEL(ln_k_winograd_f32) = {
    .input = {input_2, input_4, input_6},
    .product = product,
    .output = {output_2, output_4, output_6},
};
#endif

#endif
