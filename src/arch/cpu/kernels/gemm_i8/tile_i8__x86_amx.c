// SPDX-License-Identifier: Apache-2.0
// The tile of bytes in AMX's registers for tiles: 16 rows times 64 columns. Sixteen fours of 16
// rows of A are one register as they lie in memory, those of a panel another.

#include "arch/cpu/simd/i8__x86_avx512vnni.h"

#include <assert.h>
#include <immintrin.h>

#undef VI_KERNEL
#undef VI_ROWS
#undef VI_PANELS
#define VI_KERNEL(name) name##__x86_amx
#define VI_ROWS         16
#define VI_PANELS       4

#include "arch/cpu/kernels/gemm_i8/tile_sums_i8.h"

// Registers: the sums of four panels, then these. The last fours, fewer than 16, have registers of
// their own, whose shapes differ.
#define TILE_A      4
#define TILE_W      5
#define TILE_LAST_A 6
#define TILE_LAST_W 7

#define TILE_FOURS 16 // of a register

// What LDTILECFG loads.
typedef struct tile_shapes {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_shapes;

static void amx_begin(size_t m, size_t fours)
{
    const uint8_t last = (uint8_t)(fours % TILE_FOURS);
    _Alignas(64) tile_shapes shapes = {.palette = 1};
    for (size_t i = 0; i < TILE_LAST_W; i++) {
        shapes.row_bytes[i] = 4 * TILE_FOURS;
        shapes.rows[i] = (uint8_t)m;
    }
    shapes.rows[TILE_W] = TILE_FOURS;
    shapes.row_bytes[TILE_LAST_A] = (uint16_t)(4 * last);
    shapes.rows[TILE_LAST_A] = last ? (uint8_t)m : 0;
    shapes.row_bytes[TILE_LAST_W] = last ? 4 * TILE_FOURS : 0;
    shapes.rows[TILE_LAST_W] = last;
    // GCC's word for the next instruction tells it of the first 8 bytes alone.
    __asm__ volatile("" : : "r"(&shapes) : "memory");
    _tile_loadconfig(&shapes);
}

static void amx_end(void)
{
    _tile_release();
}

// Adds the products of some fours with the same ones of `panels` panels.
#define AMX_MULTIPLY(a_register, w_register, a, panel)                                             \
    _tile_loadd(a_register, a, t->a_step);                                                         \
    _tile_loadd(w_register, panel, 4 * LN_TILE_I8_LANES);                                          \
    _tile_dpbusd(0, a_register, w_register);                                                       \
    if (panels > 1) {                                                                              \
        _tile_loadd(w_register, (panel) + t->panel_step, 4 * LN_TILE_I8_LANES);                    \
        _tile_dpbusd(1, a_register, w_register);                                                   \
    }                                                                                              \
    if (panels > 2) {                                                                              \
        _tile_loadd(w_register, (panel) + 2 * t->panel_step, 4 * LN_TILE_I8_LANES);                \
        _tile_dpbusd(2, a_register, w_register);                                                   \
    }                                                                                              \
    if (panels > 3) {                                                                              \
        _tile_loadd(w_register, (panel) + 3 * t->panel_step, 4 * LN_TILE_I8_LANES);                \
        _tile_dpbusd(3, a_register, w_register);                                                   \
    }

static void amx_multiply(const ln_tile_i8_args *t, size_t column, size_t panels, tile_sums *sums)
{
    const char *a = t->a;
    const int8_t *panel = t->panels + column / LN_TILE_I8_LANES * t->panel_step;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (size_t p = 0; p < t->fours / TILE_FOURS; p++) {
        AMX_MULTIPLY(TILE_A, TILE_W, a, panel)
        a += 4 * TILE_FOURS;
        panel += 4 * TILE_FOURS * LN_TILE_I8_LANES;
    }
    if (t->fours % TILE_FOURS) {
        AMX_MULTIPLY(TILE_LAST_A, TILE_LAST_W, a, panel)
    }
    _tile_stored(0, &sums->of[0][0], sizeof sums->of[0]);
    if (panels > 1)
        _tile_stored(1, &sums->of[0][LN_TILE_I8_LANES], sizeof sums->of[0]);
    if (panels > 2)
        _tile_stored(2, &sums->of[0][2 * LN_TILE_I8_LANES], sizeof sums->of[0]);
    if (panels > 3)
        _tile_stored(3, &sums->of[0][3 * LN_TILE_I8_LANES], sizeof sums->of[0]);
}

static void amx_run(const ln_tile_i8_args *t)
{
    assert(t->m >= 1 && t->m <= VI_ROWS && t->n >= 1);
    tile_sums sums;
    for (size_t column = 0; column < t->n; column += TILE_COLUMNS) {
        const size_t left = t->n - column;
        amx_multiply(t, column, left < TILE_COLUMNS ? (left + 15) / LN_TILE_I8_LANES : VI_PANELS,
                     &sums);
        tile_finish(t, column, &sums);
    }
}

const ln_tile_i8_kernel VI_KERNEL(ln_k_tile_i8) = {
    .rows = VI_ROWS,
    .panels = VI_PANELS,
    .offset = VI_OFFSET,
    .begin = amx_begin,
    .end = amx_end,
    .run = amx_run,
    .expand = vi_expand,
};
