// SPDX-License-Identifier: Apache-2.0
// DFT, Rfft, Irfft and STFT: lines of a tensor, transformed one after the other.

#include "op/onnx/signal.h"
#include "arch/ref/functions.h"
#include "arch/ref/onnx/signal_fft.h"
#include "base/deadline.h"
#include "tensor/elem.h"

static ln_complex load(const tl_tensor *t, size_t at, int parts)
{
    size_t first = at * (size_t)parts;
    return (ln_complex){ln_elem_real(t, first), parts == 2 ? ln_elem_real(t, first + 1) : 0};
}

static void store(tl_tensor *t, size_t at, int parts, ln_complex x)
{
    size_t first = at * (size_t)parts;
    ln_elem_set_real(t, first, x.re);
    if (parts == 2)
        ln_elem_set_real(t, first + 1, x.im);
}

// Makes a whole spectrum of the first half of that of real numbers; what would be imaginary in the
// sum does not count.
static void mirror(ln_complex *line, size_t n)
{
    line[0].im = 0;
    if (n % 2 == 0)
        line[n / 2].im = 0;
    for (size_t k = 1; k < (n + 1) / 2; k++)
        line[n - k] = (ln_complex){line[k].re, -line[k].im};
}

static void transform_line(const ln_signal_lines *lines, const ln_fft *fft, const tl_tensor *x,
                           tl_tensor *y, size_t o, size_t i, ln_complex *line)
{
    size_t in_len = (size_t)lines->in_len, out_len = (size_t)lines->out_len;
    size_t inner = (size_t)lines->inner, n = (size_t)lines->n;
    size_t used = lines->is_hermitian ? n / 2 + 1 : n;
    for (size_t k = 0; k < n; k++) {
        bool is_there = k < in_len && k < used;
        line[k] =
            is_there ? load(x, (o * in_len + k) * inner + i, lines->in_parts) : (ln_complex){0, 0};
    }
    if (lines->is_hermitian)
        mirror(line, n);
    ln_fft_run(fft, line, lines->is_inverse);
    double scale = lines->is_inverse ? (double)n : 1;
    for (size_t k = 0; k < out_len; k++) {
        ln_complex sum = {line[k].re / scale, line[k].im / scale};
        store(y, (o * out_len + k) * inner + i, lines->out_parts, sum);
    }
}

static ln_status transform_lines(ln_call *call, const ln_signal_lines *lines)
{
    tl_tensor *y = ln_call_dst(call, 0);
    if (y->len == 0)
        return LN_OK;
    ln_fft fft;
    LN_TRY(ln_fft_init(call, (size_t)lines->n, &fft));
    ln_complex *line = ln_call_scratch(call, (size_t)lines->n, sizeof *line);
    if (!line)
        return LN_NO_MEMORY;
    if (ln_call_is_counting(call))
        return LN_OK;
    for (size_t o = 0; o < (size_t)lines->outer; o++) {
        for (size_t i = 0; i < (size_t)lines->inner && !ln_deadline_passed(); i++)
            transform_line(lines, &fft, ln_call_in(call, 0), y, o, i, line);
    }
    return LN_OK;
}

ln_status ln_ref_dft(ln_call *call)
{
    ln_signal_lines lines;
    bool is_open;
    LN_TRY(ln_dft_read(call, &lines, &is_open));
    return transform_lines(call, &lines);
}

ln_status ln_ref_rfft(ln_call *call)
{
    ln_signal_lines lines;
    LN_TRY(ln_rfft_read(call, &lines));
    return transform_lines(call, &lines);
}

ln_status ln_ref_irfft(ln_call *call)
{
    ln_signal_lines lines;
    LN_TRY(ln_irfft_read(call, &lines));
    return transform_lines(call, &lines);
}

// ---- STFT ----

static void transform_frame(ln_call *call, const ln_stft *s, const ln_fft *fft, size_t b,
                            size_t frame, ln_complex *line)
{
    const tl_tensor *x = ln_call_in(call, 0), *window = ln_call_in(call, 2);
    tl_tensor *y = ln_call_dst(call, 0);
    size_t n = (size_t)s->n, bins = (size_t)s->bins, frames = (size_t)s->frames;
    size_t first = b * (size_t)s->len + frame * (size_t)s->step;
    for (size_t k = 0; k < n; k++) {
        double weight = window ? ln_elem_real(window, k) : 1;
        ln_complex sample = load(x, first + k, s->parts);
        line[k] = (ln_complex){weight * sample.re, weight * sample.im};
    }
    ln_fft_run(fft, line, false);
    for (size_t k = 0; k < bins; k++)
        store(y, (b * frames + frame) * bins + k, 2, line[k]);
}

ln_status ln_ref_stft(ln_call *call)
{
    ln_stft s;
    bool is_open;
    LN_TRY(ln_stft_read(call, &s, &is_open));
    if (ln_call_dst(call, 0)->len == 0)
        return LN_OK;
    ln_fft fft;
    LN_TRY(ln_fft_init(call, (size_t)s.n, &fft));
    ln_complex *line = ln_call_scratch(call, (size_t)s.n, sizeof *line);
    if (!line)
        return LN_NO_MEMORY;
    if (ln_call_is_counting(call))
        return LN_OK;
    for (size_t b = 0; b < (size_t)s.batch; b++) {
        for (size_t frame = 0; frame < (size_t)s.frames && !ln_deadline_passed(); frame++)
            transform_frame(call, &s, &fft, b, frame, line);
    }
    return LN_OK;
}
