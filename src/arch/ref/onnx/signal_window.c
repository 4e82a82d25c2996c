// SPDX-License-Identifier: Apache-2.0
// Windows that weigh the samples of a frame, and the triangular filters of the mel scale.

#include "arch/ref/functions.h"

#include <math.h>

#include "base/deadline.h"
#include "tensor/elem.h"

#define PI 3.14159265358979323846

// a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n), where n is the size, or one less if the window is
// not to be repeated.
static ln_status fill_window(ln_call *call, double a0, double a1, double a2)
{
    tl_tensor *y = ln_call_dst(call, 0);
    double n = ln_call_int(call, "periodic") ? y->len : y->len - 1;
    for (int i = 0; i < y->len && !ln_deadline_passed_at((size_t)i); i++) {
        double angle = 2 * PI * i / n;
        ln_elem_set_real(y, (size_t)i, a0 - a1 * cos(angle) + a2 * cos(2 * angle));
    }
    return LN_OK;
}

ln_status ln_ref_hann_window(ln_call *call)
{
    return fill_window(call, 0.5, 0.5, 0);
}

ln_status ln_ref_hamming_window(ln_call *call)
{
    return fill_window(call, 25.0 / 46, 21.0 / 46, 0);
}

ln_status ln_ref_blackman_window(ln_call *call)
{
    return fill_window(call, 0.42, 0.5, 0.08);
}

// ---- Mel filters ----

static double mel_of(double hertz)
{
    return 2595 * log10(1 + hertz / 700);
}

static double hertz_of(double mel)
{
    return 700 * (pow(10, mel / 2595) - 1);
}

// One column: a triangle over the bins from `low` to `high` with its top at `center`. Bins that the
// spectrum does not have get nothing.
static void fill_triangle(tl_tensor *y, int64_t column, double low, double center, double high)
{
    int rows = y->dims[0], columns = y->dims[1];
    for (int row = 0; row < rows; row++) {
        double weight = 0;
        if (row >= low && row <= center)
            weight = center > low ? (row - low) / (center - low) : 1;
        if (row >= center && row < high)
            weight = (high - row) / (high - center);
        ln_elem_set_real(y, (size_t)row * (size_t)columns + (size_t)column, weight);
    }
}

ln_status ln_ref_mel_weights(ln_call *call)
{
    tl_tensor *y = ln_call_dst(call, 0);
    const tl_tensor *rate = ln_call_in(call, 2), *lower = ln_call_in(call, 3);
    const tl_tensor *upper = ln_call_in(call, 4);
    if (rate->len != 1 || lower->len != 1 || upper->len != 1)
        return ln_call_fail(call, LN_INVALID, "needs one sample_rate and one number for each edge");
    double low = mel_of(ln_elem_real(lower, 0)), high = mel_of(ln_elem_real(upper, 0));
    double sample_rate = (double)ln_elem_int(rate, 0);
    if (!isfinite(low) || !isfinite(high) || sample_rate <= 0)
        return ln_call_fail(call, LN_INVALID, "needs a positive sample_rate and edges above -700");

    // The points between the edges; each filter spans two of the steps.
    int64_t n = ln_elem_int(ln_call_in(call, 1), 0);
    double mel_step = (high - low) / (y->dims[1] + 2.0), points[3] = {0};
    for (int i = 0; i < y->dims[1] + 2; i++) {
        points[0] = points[1];
        points[1] = points[2];
        points[2] = floor(((double)n + 1) * hertz_of(low + i * mel_step) / sample_rate);
        if (i >= 2)
            fill_triangle(y, i - 2, points[0], points[1], points[2]);
    }
    return LN_OK;
}
