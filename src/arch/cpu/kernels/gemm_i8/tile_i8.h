// SPDX-License-Identifier: Apache-2.0
// The innermost product of bytes: a tile of rows of A times panels of packed weights, summed
// exactly in 32 bits, which wrap, then an epilogue.
//
// A is unsigned; signed bytes are flipped to unsigned ones when a row is expanded to whole fours.
// Packed weights
// are signed, in panels of 16 columns whatever the instruction set, four following ones of a column
// together:
//
//     | k0..k3 of c0 | k0..k3 of c1 | ... c15 | k4..k7 of c0 | ...     (zeros after the last)
//
// The span of some weights of a column is the sum of the positive ones or of the negative ones,
// whichever is farther from 0: times the largest byte of A it is the farthest that a sum of their
// products, or of some of them, gets. Eight rows of half a panel have two spans: the largest of two
// neighbours, k0 and k1, k2 and k3 and so on, and the largest of four, k0, k1, k4 and k5 or k2, k3,
// k6 and k7. Half a panel has the first spans of all its eights, then the second ones, each a byte:
// half of it, rounded up, or 255 if it is more.
//
// The bits: a sum is the integer that it is modulo 2^32. To floats: (float)sum * factor, then
// + bias, each rounded to nearest. To bytes: the same; then bounded from below, then from above,
// NaN being the lower bound; rounded to an integer, ties to even; + zero.

#ifndef LN_ARCH_CPU_KERNELS_TILE_I8_H
#define LN_ARCH_CPU_KERNELS_TILE_I8_H

#include <stddef.h>
#include <stdint.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/select.h"

LN_CPPSTART

#define LN_TILE_I8_LANES 16
#define LN_TILE_I8_HALF  (LN_TILE_I8_LANES / 2)

// The largest tile of all instruction sets.
#define LN_TILE_I8_MAX_ROWS   16
#define LN_TILE_I8_MAX_PANELS 4

// Where words are used.
#define LN_TILE_I8_MAX_WIDE_ROWS 8

typedef enum ln_i8_result {
    LN_I8_TO_SUMS,   // int32_t
    LN_I8_TO_FLOATS, // float
    LN_I8_TO_BYTES,  // uint8_t, or int8_t
} ln_i8_result;

// What becomes of a sum. Arrays of columns have 16 for each panel.
typedef struct ln_epilogue_i8 {
    ln_i8_result result;
    const int32_t *addends;      // of columns, added to sums
    const int32_t *row_sums;     // of rows of A; NULL: weights have no zero point
    const int32_t *column_zeros; // of columns: times the row's sum, subtracted from sums
    const float *factors;        // of columns
    const float *bias;           // of columns, for floats and bytes; NULL: none
    float low, high; // bounds of bytes, less the zero point: whole numbers of [-255, 255]
    int32_t zero;
} ln_epilogue_i8;

typedef struct ln_tile_i8_args {
    size_t m;              // rows, up to those of the kernel
    size_t n;              // columns
    size_t fours;          // of a row
    const char *a;         // expanded, or as it is
    size_t a_step;         // bytes from row to row
    const char *words;     // A widened, 8 bytes a four, row after row
    const uint8_t *limits; // of eights: half of what a span may be for sums within 16 bits, or less
    const int8_t *panels;
    size_t panel_step;    // bytes from panel to panel
    const uint8_t *spans; // of the halves of panels
    void *y;
    size_t y_step; // elements from row to row
    ln_epilogue_i8 epilogue;
} ln_tile_i8_args;

typedef void ln_tile_i8_fn(const ln_tile_i8_args *tile);

// Readies the thread for tiles of so many rows and fours.
typedef void ln_tile_i8_begin_fn(size_t m, size_t fours);

// What a thread has begun ends.
typedef void ln_tile_i8_end_fn(void);

// `k` bytes, each exclusive-or `flip`, to as many fours as they are begun; in place where fours
// have 4 bytes.
typedef void ln_expand_i8_fn(void *to, const uint8_t *from, size_t k, uint8_t flip);

// Rows of A that become bytes and words less an offset, and limits.
typedef struct ln_ready_i8_args {
    size_t m, k;
    const uint8_t *from;
    size_t step; // bytes from row to row
    uint8_t flip, offset;
    char *bytes; // row after row; may be `from`; NULL: not wanted
    char *words;
    uint8_t *limits; // to a multiple of 4
} ln_ready_i8_args;

typedef void ln_ready_i8_fn(const ln_ready_i8_args *rows);

typedef struct ln_tile_i8_kernel {
    size_t rows, panels;        // of a tile, at most
    int32_t offset;             // what is taken from each byte of A when it is expanded
    ln_ready_i8_fn *ready;      // in the place of `expand`, with any offset; NULL: no words
    ln_tile_i8_begin_fn *begin; // NULL: there is nothing to begin, or to end
    ln_tile_i8_end_fn *end;
    ln_tile_i8_fn *run;
    ln_expand_i8_fn *expand;
} ln_tile_i8_kernel;

LN_KERNELS_OF(LN_CPU_TILE_I8_LIST, const ln_tile_i8_kernel, tile_i8)

LN_CPPEND

#endif
