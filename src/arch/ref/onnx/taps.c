// SPDX-License-Identifier: Apache-2.0
// Taps of windows, row by row.

#include "arch/ref/onnx/taps.h"

#include <string.h>

ln_status ln_taps_create(ln_call *call, const ln_window *window, ln_taps *out_taps)
{
    out_taps->window = window;
    out_taps->count = 0;
    memset(out_taps->at, 0, sizeof out_taps->at);
    // On each axis no more taps meet the input than both have elements. An axis without any empties
    // the list only when the axes before it are listed.
    size_t count = 1;
    for (int i = 0; i + 1 < window->axis_count; i++) {
        const ln_window_axis *axis = &window->axis[i];
        int64_t most = axis->size < axis->in ? axis->size : axis->in;
        if (__builtin_mul_overflow(count, (size_t)(most > 0 ? most : 1), &count))
            return ln_call_fail(call, LN_LIMIT, "a window of too many elements");
    }
    out_taps->list = out_taps->at_hand;
    if (count <= LN_TAPS_AT_HAND)
        return LN_OK;
    out_taps->list = ln_call_scratch(call, count, sizeof *out_taps->list);
    return out_taps->list ? LN_OK : ln_error_status();
}

// The taps that may meet the input at output `at` of an axis, and where they do.
typedef struct axis_taps {
    const ln_window_axis *axis;
    int64_t at;
    int64_t first, end;
    bool is_transposed;
} axis_taps;

static axis_taps taps_of_axis(const ln_window_axis *axis, int64_t at, bool is_transposed)
{
    axis_taps taps = {.axis = axis, .at = at, .end = axis->size, .is_transposed = is_transposed};
    if (!is_transposed) // a window may be far larger than its input
        ln_window_inside(at * axis->stride - axis->pad_begin, axis->dilation, axis->in, axis->size,
                         &taps.first, &taps.end);
    return taps;
}

// The input that meets a tap; -1: none.
static int64_t met(const axis_taps *taps, int64_t tap)
{
    const ln_window_axis *axis = taps->axis;
    if (!taps->is_transposed)
        return taps->at * axis->stride + tap * axis->dilation - axis->pad_begin;
    int64_t distance = taps->at + axis->pad_begin - tap * axis->dilation;
    if (distance < 0 || distance % axis->stride != 0)
        return -1;
    return distance / axis->stride < axis->in ? distance / axis->stride : -1;
}

// Axis by axis, each tap listed so far is replaced by those that it has on the next axis; from the
// back, so that they find room. The order is that of the weights.
void ln_taps_list(ln_taps *taps, bool is_transposed)
{
    const ln_window *window = taps->window;
    taps->list[0] = (ln_tap){0};
    taps->count = 1;
    for (int a = 0; a + 1 < window->axis_count; a++) {
        axis_taps axis = taps_of_axis(&window->axis[a], taps->at[a], is_transposed);
        int64_t inside = 0;
        for (int64_t tap = axis.first; tap < axis.end; tap++)
            inside += met(&axis, tap) >= 0;
        int64_t to = taps->count * inside;
        for (int64_t i = taps->count - 1; i >= 0 && inside > 0; i--) {
            ln_tap from = taps->list[i];
            for (int64_t tap = axis.end - 1; tap >= axis.first; tap--) {
                int64_t src = met(&axis, tap);
                if (src >= 0)
                    taps->list[--to] = (ln_tap){.src = from.src * window->axis[a].in + src,
                                                .weight = from.weight * window->axis[a].size + tap};
            }
        }
        taps->count *= inside;
    }
    const ln_window_axis *last = &window->axis[window->axis_count - 1];
    for (int64_t i = 0; i < taps->count; i++) {
        taps->list[i].src *= last->in;
        taps->list[i].weight *= last->size;
    }
}

void ln_taps_next(ln_taps *taps)
{
    for (int a = taps->window->axis_count - 2; a >= 0; a--) {
        if (++taps->at[a] < taps->window->axis[a].out)
            return;
        taps->at[a] = 0;
    }
}

int64_t ln_window_rows(const ln_window *window)
{
    int64_t rows = 1;
    for (int i = 0; i + 1 < window->axis_count; i++)
        rows *= window->axis[i].out;
    return rows;
}

int64_t ln_window_in_len(const ln_window *window)
{
    int64_t len = 1;
    for (int i = 0; i < window->axis_count; i++)
        len *= window->axis[i].in;
    return len;
}

int64_t ln_window_out_len(const ln_window *window)
{
    return ln_window_rows(window) * window->axis[window->axis_count - 1].out;
}

void ln_window_inside(int64_t start, int64_t stride, int64_t size, int64_t count,
                      int64_t *out_first, int64_t *out_end)
{
    int64_t first = start < 0 ? -start : 0, end = start < size ? size - start : 0;
    if (stride > 1) { // a division takes as long as many products
        first = (first + stride - 1) / stride;
        end = (end + stride - 1) / stride;
    }
    *out_end = end < count ? end : count;
    *out_first = first < *out_end ? first : *out_end;
}
