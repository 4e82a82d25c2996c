// SPDX-License-Identifier: Apache-2.0
// Shapes and attributes of Fourier transforms, windows and mel filters.

#include "op/onnx/signal.h"
#include "op/functions.h"

#include <math.h>
#include <stdint.h>

#include <lightnet/op_support.h>

// The one number of an input; *out_is_open when it is not known yet.
static ln_status read_number(ln_call *call, int index, const char *name, int64_t *out_number,
                             bool *out_is_open)
{
    int64_t number = 0;
    int count = ln_call_value_ints(call, index, 1, &number);
    *out_number = number;
    if (count == -1)
        *out_is_open = true;
    if (count == 0)
        return ln_call_fail(call, LN_INVALID, "needs one number as %s", name);
    return count < -1 ? LN_LIMIT : LN_OK;
}

// ---- DFT ----

static ln_status read_axis(ln_call *call, const tl_tensor *x, ln_signal_lines *lines,
                           bool *out_is_open)
{
    int64_t axis = -2;
    if (ln_call_since(call) < 20)
        axis = ln_call_has(call, "axis") ? ln_call_int(call, "axis") : 1;
    else if (ln_call_in(call, 2))
        LN_TRY(read_number(call, 2, "axis", &axis, out_is_open));
    if (*out_is_open)
        return LN_OK;
    LN_TRY(ln_call_check_axis(call, "axis", axis, x->ndim, &lines->axis));
    if (lines->axis == x->ndim - 1)
        return ln_call_fail(call, LN_INVALID, "cannot transform along the parts of its numbers");
    lines->outer = lines->inner = 1;
    for (int i = 0; i < lines->axis; i++)
        lines->outer *= x->dims[i];
    for (int i = lines->axis + 1; i < x->ndim - 1; i++)
        lines->inner *= x->dims[i];
    lines->in_len = x->dims[lines->axis];
    return LN_OK;
}

static ln_status set_length(ln_call *call, ln_signal_lines *lines, int64_t n, bool is_half)
{
    if (n < 1 || n > INT32_MAX)
        return ln_call_fail(call, LN_INVALID, "cannot transform %lld points", (long long)n);
    lines->n = n;
    lines->out_len = is_half ? n / 2 + 1 : n;
    return LN_OK;
}

// A tensor with an empty dimension may have others whose product fits nothing.
static ln_status check_lines(ln_call *call, const tl_tensor *x)
{
    double product = 1;
    for (int i = 0; i < x->ndim; i++)
        product *= x->dims[i] > 0 ? x->dims[i] : 1;
    return product > INT32_MAX ? ln_call_fail(call, LN_LIMIT, "has too many lines") : LN_OK;
}

ln_status ln_dft_read(ln_call *call, ln_signal_lines *out_lines, bool *out_is_open)
{
    const tl_tensor *x = ln_call_in(call, 0);
    *out_lines = (ln_signal_lines){0};
    *out_is_open = false;
    int last = x->ndim < 2 ? 0 : x->dims[x->ndim - 1];
    if (last != 1 && last != 2)
        return ln_call_fail(call, LN_INVALID, "takes numbers of 1 or 2 parts along a last axis");
    LN_TRY(check_lines(call, x));

    bool is_onesided = ln_call_int(call, "onesided") != 0;
    out_lines->is_inverse = ln_call_int(call, "inverse") != 0;
    out_lines->is_hermitian = out_lines->is_inverse && is_onesided;
    out_lines->in_parts = last;
    out_lines->out_parts = out_lines->is_hermitian ? 1 : 2;
    if (is_onesided && last != (out_lines->is_inverse ? 2 : 1))
        return ln_call_fail(call, LN_INVALID, "needs numbers of %d parts where onesided is 1",
                            out_lines->is_inverse ? 2 : 1);
    LN_TRY(read_axis(call, x, out_lines, out_is_open));

    int64_t n = out_lines->is_hermitian ? 2 * (out_lines->in_len - 1) : out_lines->in_len;
    if (ln_call_in(call, 1))
        LN_TRY(read_number(call, 1, "dft_length", &n, out_is_open));
    if (*out_is_open)
        return LN_OK;
    return set_length(call, out_lines, n, is_onesided && !out_lines->is_inverse);
}

ln_status ln_infer_dft(ln_call *call)
{
    const tl_tensor *x = ln_call_in(call, 0);
    ln_signal_lines lines;
    bool is_open;
    LN_TRY(ln_dft_read(call, &lines, &is_open));
    if (is_open)
        return ln_call_out_open(call);
    int64_t dims[TL_MAXDIM];
    for (int i = 0; i < x->ndim; i++)
        dims[i] = x->dims[i];
    dims[lines.axis] = lines.out_len;
    dims[x->ndim - 1] = lines.out_parts;
    return ln_call_out64(call, 0, x->dtype, x->ndim, dims);
}

// The number of elements times the depth of a fast transform.
double ln_cost_dft(const ln_call *call)
{
    return ln_cost_sort(ln_cost_steps(call));
}

// ---- Rfft and Irfft of com.microsoft ----

static ln_status check_fft_params(ln_call *call)
{
    if (ln_call_int(call, "signal_ndim") != 1)
        return ln_call_fail(call, LN_UNSUPPORTED, "transforms one dimension, not %lld",
                            (long long)ln_call_int(call, "signal_ndim"));
    if (ln_call_int(call, "normalized") != 0 || ln_call_int(call, "onesided") != 1)
        return ln_call_fail(call, LN_UNSUPPORTED, "needs normalized=0 and onesided=1");
    return LN_OK;
}

ln_status ln_rfft_read(ln_call *call, ln_signal_lines *out_lines)
{
    const tl_tensor *x = ln_call_in(call, 0);
    *out_lines = (ln_signal_lines){.inner = 1, .in_parts = 1, .out_parts = 2};
    LN_TRY(check_fft_params(call));
    if (x->ndim < 1 || x->ndim >= TL_MAXDIM)
        return ln_call_fail(call, LN_INVALID, "takes rank 1 to %d", TL_MAXDIM - 1);
    out_lines->axis = x->ndim - 1;
    out_lines->in_len = x->dims[x->ndim - 1];
    LN_TRY(set_length(call, out_lines, out_lines->in_len, true));
    out_lines->outer = x->len / out_lines->in_len;
    return LN_OK;
}

ln_status ln_irfft_read(ln_call *call, ln_signal_lines *out_lines)
{
    const tl_tensor *x = ln_call_in(call, 0);
    *out_lines = (ln_signal_lines){
        .inner = 1, .in_parts = 2, .out_parts = 1, .is_inverse = true, .is_hermitian = true};
    LN_TRY(check_fft_params(call));
    if (x->ndim < 2 || x->dims[x->ndim - 1] != 2)
        return ln_call_fail(call, LN_INVALID, "takes numbers of 2 parts along a last axis");
    out_lines->axis = x->ndim - 2;
    out_lines->in_len = x->dims[x->ndim - 2];
    LN_TRY(set_length(call, out_lines, 2 * (out_lines->in_len - 1), false));
    out_lines->outer = x->len / 2 / out_lines->in_len;
    return LN_OK;
}

// The input with lines of another length, in `parts` parts along a last axis; 1: without that axis.
static ln_status give_lines(ln_call *call, const ln_signal_lines *lines, int parts)
{
    const tl_tensor *x = ln_call_in(call, 0);
    int64_t dims[TL_MAXDIM + 1];
    for (int i = 0; i < x->ndim; i++)
        dims[i] = x->dims[i];
    dims[lines->axis] = lines->out_len;
    dims[lines->axis + 1] = parts;
    return ln_call_out64(call, 0, x->dtype, lines->axis + parts, dims);
}

ln_status ln_infer_rfft(ln_call *call)
{
    ln_signal_lines lines;
    LN_TRY(ln_rfft_read(call, &lines));
    return give_lines(call, &lines, 2);
}

ln_status ln_infer_irfft(ln_call *call)
{
    ln_signal_lines lines;
    LN_TRY(ln_irfft_read(call, &lines));
    return give_lines(call, &lines, 1);
}

// ---- STFT ----

static ln_status read_frame_len(ln_call *call, ln_stft *stft, bool *out_is_open)
{
    const tl_tensor *window = ln_call_in(call, 2);
    stft->n = window ? window->len : stft->len;
    if (window && window->ndim != 1)
        return ln_call_fail(call, LN_INVALID, "takes a window of rank 1, not %d", window->ndim);
    if (!ln_call_in(call, 3))
        return LN_OK;
    LN_TRY(read_number(call, 3, "frame_length", &stft->n, out_is_open));
    if (!*out_is_open && window && stft->n != window->len)
        return ln_call_fail(call, LN_INVALID, "has a window of %d samples for frames of %lld",
                            window->len, (long long)stft->n);
    return LN_OK;
}

ln_status ln_stft_read(ln_call *call, ln_stft *out_stft, bool *out_is_open)
{
    const tl_tensor *x = ln_call_in(call, 0);
    ln_stft *s = out_stft;
    *s = (ln_stft){0};
    *out_is_open = false;
    if (x->ndim != 2 && x->ndim != 3)
        return ln_call_fail(call, LN_INVALID, "takes a signal of rank 3, not %d", x->ndim);
    s->batch = x->dims[0];
    s->len = x->dims[1];
    s->parts = x->ndim == 3 ? x->dims[2] : 1;
    if (s->parts != 1 && s->parts != 2)
        return ln_call_fail(call, LN_INVALID, "takes numbers of 1 or 2 parts, not %d", s->parts);
    LN_TRY(read_number(call, 1, "frame_step", &s->step, out_is_open));
    LN_TRY(read_frame_len(call, s, out_is_open));
    if (*out_is_open)
        return LN_OK;
    if (s->step < 1 || s->n < 1 || s->n > INT32_MAX)
        return ln_call_fail(call, LN_INVALID, "cannot make frames of %lld samples, %lld apart",
                            (long long)s->n, (long long)s->step);
    s->frames = s->len < s->n ? 0 : 1 + (s->len - s->n) / s->step;
    s->bins = ln_call_int(call, "onesided") ? s->n / 2 + 1 : s->n;
    return LN_OK;
}

ln_status ln_infer_stft(ln_call *call)
{
    ln_stft s;
    bool is_open;
    LN_TRY(ln_stft_read(call, &s, &is_open));
    if (is_open)
        return ln_call_out_open(call);
    const int64_t dims[] = {s.batch, s.frames, s.bins, 2};
    return ln_call_out64(call, 0, ln_call_in(call, 0)->dtype, 4, dims);
}

// ---- Windows and filters ----

static ln_status read_output_type(ln_call *call, tl_dtype *out_dtype)
{
    *out_dtype = TL_FLOAT;
    return ln_call_has(call, "output_datatype") ? ln_call_dtype(call, "output_datatype", out_dtype)
                                                : LN_OK;
}

ln_status ln_infer_window(ln_call *call)
{
    int64_t size;
    bool is_open = false;
    tl_dtype dtype;
    LN_TRY(read_output_type(call, &dtype));
    LN_TRY(read_number(call, 0, "size", &size, &is_open));
    return is_open ? ln_call_out_open(call) : ln_call_out64(call, 0, dtype, 1, &size);
}

ln_status ln_infer_mel_weights(ln_call *call)
{
    int64_t bins, n;
    bool is_open = false;
    tl_dtype dtype;
    LN_TRY(read_output_type(call, &dtype));
    LN_TRY(read_number(call, 0, "num_mel_bins", &bins, &is_open));
    LN_TRY(read_number(call, 1, "dft_length", &n, &is_open));
    if (is_open)
        return ln_call_out_open(call);
    if (n < 0)
        return ln_call_fail(call, LN_INVALID, "has dft_length %lld", (long long)n);
    const int64_t dims[] = {n / 2 + 1, bins};
    return ln_call_out64(call, 0, dtype, 2, dims);
}

// ---- Matrices of com.microsoft ----

ln_status ln_infer_inverse(ln_call *call)
{
    const tl_tensor *x = ln_call_in(call, 0);
    if (x->ndim < 2 || x->dims[x->ndim - 1] != x->dims[x->ndim - 2])
        return ln_call_fail(call, LN_INVALID, "takes square matrices");
    return ln_call_out_like(call, 0, 0);
}
