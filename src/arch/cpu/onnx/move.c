// SPDX-License-Identifier: Apache-2.0
// Rows that are chosen by indices, rows that are repeated, and triangles.

#include "arch/cpu/functions.h"

#include <string.h>

#include "arch/cpu/onnx/pool_of.h"
#include "arch/cpu/onnx/rows.h"
#include "op/onnx/given.h"

// ---- Rows by index ----

// Index number `i`, which may count from the end, as a row of `count`.
static ln_status row_of(ln_call *call, const tl_tensor *indices, size_t i, int count, size_t *out)
{
    int64_t index = indices->dtype == TL_INT64 ? ((const int64_t *)indices->data)[i]
                                               : ((const int32_t *)indices->data)[i];
    int64_t row = index < 0 ? index + count : index;
    if (row < 0 || row >= count)
        return ln_call_fail(call, LN_INVALID, "index %lld at %zu is outside %d rows",
                            (long long)index, i, count);
    *out = (size_t)row;
    return LN_OK;
}

ln_status ln_cpu_take(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0), *indices = ln_call_in(call, 1);
    size_t outer = 1, inner = tl_size_of(data->dtype), count = (size_t)indices->len, row = 0;
    int axis;
    LN_TRY(ln_call_axis(call, "axis", data->ndim, &axis));
    for (int d = 0; d < data->ndim; d++) {
        if (d < axis)
            outer *= (size_t)data->dims[d];
        else if (d > axis)
            inner *= (size_t)data->dims[d];
    }
    size_t rows = (size_t)data->dims[axis];
    char *dst = ln_call_dst(call, 0)->data;
    for (size_t i = 0; i < count; i++) {
        LN_TRY(row_of(call, indices, i, data->dims[axis], &row));
        for (size_t o = 0; inner > 0 && o < outer; o++)
            memcpy(dst + (o * count + i) * inner,
                   (const char *)data->data + (o * rows + row) * inner, inner);
    }
    return LN_OK;
}

// ---- Expand ----

typedef struct expansion {
    const char *src;
    char *dst;
    size_t size;
} expansion;

static void expand_row(const void *self, size_t n, const size_t *at, const size_t *step, size_t to)
{
    const expansion *e = self;
    const char *src = e->src + at[0] * e->size;
    char *dst = e->dst + to * e->size;
    if (step[0]) {
        memcpy(dst, src, n * e->size);
        return;
    }
    // What is there already is copied after itself, twice as much each time.
    memcpy(dst, src, e->size);
    for (size_t done = 1; done < n; done *= 2)
        memcpy(dst + done * e->size, dst, (n - done < done ? n - done : done) * e->size);
}

ln_status ln_cpu_expand(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    const expansion e = {src->data, dst->data, tl_size_of(src->dtype)};
    ln_cpu_rows rows;
    ln_cpu_rows_init(&rows, dst, &src, 1);
    ln_cpu_rows_run(&rows, ln_cpu_call_pool(call), expand_row, &e);
    return LN_OK;
}

// ---- Trilu ----

static int64_t clamped(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

ln_status ln_cpu_trilu(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    bool is_upper = ln_call_int(call, "upper") != 0;
    int64_t rows = src->dims[src->ndim - 2], columns = src->dims[src->ndim - 1], k = 0;
    int count;
    LN_TRY(ln_given_int(call, 1, &k, &count));
    if (src->len == 0)
        return LN_OK;
    k = clamped(k, -rows, columns);
    size_t size = tl_size_of(src->dtype), row_bytes = (size_t)columns * size;
    for (int64_t row = 0; row < src->len / columns; row++) {
        const char *from = (const char *)src->data + (size_t)row * row_bytes;
        char *to = (char *)ln_call_dst(call, 0)->data + (size_t)row * row_bytes;
        int64_t border = row % rows + k; // the first column that is upper, and the last lower one
        size_t first = (size_t)(is_upper ? clamped(border, 0, columns) : 0) * size;
        size_t end = (size_t)(is_upper ? columns : clamped(border + 1, 0, columns)) * size;
        memset(to, 0, first);
        memcpy(to + first, from + first, end - first);
        memset(to + end, 0, row_bytes - end);
    }
    return LN_OK;
}
