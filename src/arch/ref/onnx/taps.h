// SPDX-License-Identifier: Apache-2.0
// Which taps of a window meet the input for one row of outputs, over any number of axes.
//
// Kernels walk rows: outputs that are neighbours on the last axis. All axes before it are walked by
// counting, and a list says once for each row which taps on those axes are inside.

#ifndef LN_ARCH_REF_ONNX_TAPS_H
#define LN_ARCH_REF_ONNX_TAPS_H

#include <stdbool.h>
#include <stdint.h>

#include <lightnet/call.h>

#include "op/window.h"

typedef struct ln_tap {
    int64_t src;    // where the row of inputs begins, from the start of the channel
    int64_t weight; // where the row of weights begins, from the start of the channel
} ln_tap;

#define LN_TAPS_AT_HAND 64

typedef struct ln_taps {
    const ln_window *window;
    ln_tap at_hand[LN_TAPS_AT_HAND]; // the list, where it is short
    int64_t at[LN_WINDOW_MAX_AXES];  // place of the row on all axes but the last
    ln_tap *list;
    int64_t count;
} ln_taps;

// The first row. *out_taps stays where it is.
ln_status ln_taps_create(ln_call *call, const ln_window *window, ln_taps *out_taps);

// Lists the taps that meet the input: of a window that looks at the input from output `at`, or of
// inputs that spread to output `at`.
void ln_taps_list(ln_taps *taps, bool is_transposed);

// The next row in memory; after the last, the first again.
void ln_taps_next(ln_taps *taps);

// Rows of outputs in a channel, and elements of a channel of inputs and of outputs.
int64_t ln_window_rows(const ln_window *window);
int64_t ln_window_in_len(const ln_window *window);
int64_t ln_window_out_len(const ln_window *window);

// The outputs of row [0, count) for which `start` + output * `stride` is in 0..size - 1: they are
// first to end - 1.
void ln_window_inside(int64_t start, int64_t stride, int64_t size, int64_t count,
                      int64_t *out_first, int64_t *out_end);

#endif
