// SPDX-License-Identifier: Apache-2.0
// Inverse and Trilu of com.microsoft.

#include "arch/ref/functions.h"

#include <math.h>

#include "arch/ref/onnx/doubles.h"

// ---- Inverse ----

static void swap_rows(double *a, double *b, size_t count)
{
    for (size_t i = 0; a != b && i < count; i++) {
        double swap = a[i];
        a[i] = b[i];
        b[i] = swap;
    }
}

// Gauss and Jordan with the largest pivot of each column. `m` is [n, 2 n]: the matrix and, to its
// right, what becomes the inverse. False where it has none.
static bool invert(double *m, size_t n)
{
    size_t width = 2 * n;
    for (size_t column = 0; column < n; column++) {
        size_t best = column;
        for (size_t row = column + 1; row < n; row++) {
            if (fabs(m[row * width + column]) > fabs(m[best * width + column]))
                best = row;
        }
        double *pivot = m + column * width;
        swap_rows(pivot, m + best * width, width);
        double top = pivot[column];
        if (top == 0)
            return false;
        for (size_t i = 0; i < width; i++)
            pivot[i] /= top;
        for (size_t row = 0; row < n; row++) {
            double factor = row == column ? 0 : m[row * width + column];
            for (size_t i = 0; factor != 0 && i < width; i++)
                m[row * width + i] -= factor * pivot[i];
        }
    }
    return true;
}

ln_status ln_ref_inverse(ln_call *call)
{
    const tl_tensor *x = ln_call_in(call, 0);
    tl_tensor *y = ln_call_dst(call, 0);
    if (x->len == 0)
        return LN_OK;
    size_t n = (size_t)x->dims[x->ndim - 1], size = n * n, count = (size_t)x->len / size;
    LN_TRY(ln_call_charge(call, 2 * (double)x->len * (double)n));
    double *m = ln_ref_new_doubles(call, 2 * size);
    if (!m)
        return LN_NO_MEMORY;
    if (ln_call_is_counting(call))
        return LN_OK;
    for (size_t first = 0; first < count * size; first += size) {
        for (size_t i = 0; i < 2 * size; i++) {
            size_t row = i / (2 * n), column = i % (2 * n);
            m[i] = column < n ? ln_elem_real(x, first + row * n + column) : column - n == row;
        }
        if (!invert(m, n))
            return ln_call_fail(call, LN_INVALID, "has a matrix without inverse");
        for (size_t i = 0; i < size; i++)
            ln_elem_set_real(y, first + i, m[i / n * 2 * n + n + i % n]);
    }
    return LN_OK;
}
