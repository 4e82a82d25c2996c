// SPDX-License-Identifier: Apache-2.0
// Convolutions of bytes and what looks at them next, band by band: each is checked as its own
// operator, the second on the image that the first would make.

#include <limits.h>

#include <lightnet/convdim.h>

#include "arch/cpu/call.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/band/band_i8.h"
#include "arch/cpu/nhwc.h"
#include "arch/cpu/quant_columns.h"
#include "op/functions.h"
#include "op/prepare.h"

// Where the operands of the depthwise convolution begin, as if those of the first one were before
// them.
#define TAPS 8

typedef struct window {
    int size[2], stride[2], padding[4], dilation[2];
} window;

typedef struct quant_band {
    int channels;
    window conv, next;
    ln_i8_product product, taps;
    bool is_pooled;
    int between[4], out[4];
    ln_conv_shape shape, depthwise;
    ln_maxpool_i8_args pool;
} quant_band;

// ---- Reading ----

// What a window makes of an image.
static ln_status find_out(ln_call *call, const int *in, const window *w, int channels, int *out)
{
    out[0] = in[0];
    out[3] = channels;
    for (int i = 0; i < 2; i++) {
        out[1 + i] = ln_output_dim_conv(in[1 + i], w->size[i], w->stride[i], w->padding[i],
                                        w->padding[2 + i], w->dilation[i]);
        if (out[1 + i] < 0)
            return ln_nhwc_pass_on(call, ln_error_status());
    }
    return LN_OK;
}

static ln_conv_shape shape_of(const int *in, const window *w, int group, const int *out)
{
    return (ln_conv_shape){.batch = (size_t)in[0],
                           .group = (size_t)group,
                           .in_channels = (size_t)in[3],
                           .out_channels = (size_t)out[3],
                           .in_h = (size_t)in[1],
                           .in_w = (size_t)in[2],
                           .out_h = (size_t)out[1],
                           .out_w = (size_t)out[2],
                           .kernel_h = (size_t)w->size[0],
                           .kernel_w = (size_t)w->size[1],
                           .stride_h = (size_t)w->stride[0],
                           .stride_w = (size_t)w->stride[1],
                           .dilation_h = (size_t)w->dilation[0],
                           .dilation_w = (size_t)w->dilation[1],
                           .pad_top = (size_t)w->padding[0],
                           .pad_left = (size_t)w->padding[1]};
}

static ln_status read_depthwise(ln_call *call, quant_band *band)
{
    const tl_tensor *between_zero = ln_call_in(call, 8), *zero = ln_call_in(call, 3 + TAPS);
    const tl_dtype made = between_zero ? between_zero->dtype : TL_UINT8;
    const tl_dtype read = zero ? zero->dtype : made;
    if (made != read)
        return ln_call_fail(call, LN_INVALID,
                            "what is between is made as %s, but read as %s: the types of "
                            "between_zero and taps_src_zero",
                            tl_dtype_title(made), tl_dtype_title(read));
    band->depthwise = shape_of(band->between, &band->next, band->channels, band->out);
    if (!ln_conv_i8_is_depthwise(&band->depthwise))
        return ln_call_fail(call, LN_INVALID,
                            "%d channels with %d taps are no depthwise convolution", band->channels,
                            band->next.size[0] * band->next.size[1]);
    return ln_i8_check_packed(call, 1 + TAPS, ln_conv_i8_packed_bytes(&band->depthwise));
}

static void set_pool(quant_band *band)
{
    const ln_conv_shape s = shape_of(band->between, &band->next, 1, band->out);
    band->pool = (ln_maxpool_i8_args){.rows = ln_conv_rows(&s),
                                      .columns = ln_conv_columns(&s),
                                      .out_h = s.out_h,
                                      .out_w = s.out_w,
                                      .channels = s.out_channels,
                                      .x_step = s.out_channels,
                                      .y_step = s.out_channels};
}

// When windows and activations have been read.
static ln_status check_band(ln_call *call, quant_band *band)
{
    const int *in = ln_call_in(call, 0)->dims;
    band->conv.dilation[0] = band->conv.dilation[1] = 1;
    LN_TRY(find_out(call, in, &band->conv, band->channels, band->between));
    LN_TRY(find_out(call, band->between, &band->next, band->channels, band->out));
    band->shape = shape_of(in, &band->conv, 1, band->between);
    LN_TRY(ln_i8_check_packed(call, 1, ln_conv_i8_packed_bytes(&band->shape)));
    if (!band->is_pooled)
        return read_depthwise(call, band);
    set_pool(band);
    return LN_OK;
}

#define FIRST_PARAMS                                                                               \
    {"channels", 0, 1, offsetof(quant_band, channels)},                                            \
        {"size", 2, 1, offsetof(quant_band, conv.size)},                                           \
        {"stride", 2, 1, offsetof(quant_band, conv.stride)},                                       \
    {                                                                                              \
        "padding", 4, 0, offsetof(quant_band, conv.padding)                                        \
    }

static ln_status read_first(ln_call *call, quant_band *band)
{
    LN_TRY(ln_nhwc_check_ranks(call, 1, (const int[]){4}));
    LN_TRY(ln_nhwc_read_act(call, "act", "alpha", "beta", &band->product.act));
    band->product.is_unsigned = ln_call_int(call, "unsigned_weights") != 0;
    return LN_OK;
}

static ln_status read_conv_depthwise(ln_call *call, quant_band *band)
{
    static const ln_nhwc_param params[] = {
        FIRST_PARAMS,
        {"taps_size", 2, 1, offsetof(quant_band, next.size)},
        {"taps_stride", 2, 1, offsetof(quant_band, next.stride)},
        {"taps_padding", 4, 0, offsetof(quant_band, next.padding)},
        {"taps_dilation", 2, 1, offsetof(quant_band, next.dilation)},
        {NULL, 0, 0, 0},
    };
    *band = (quant_band){.taps = {.first = TAPS}};
    LN_TRY(read_first(call, band));
    LN_TRY(ln_nhwc_read(call, params, band));
    LN_TRY(ln_nhwc_read_act(call, "taps_act", "taps_alpha", "taps_beta", &band->taps.act));
    band->taps.is_unsigned = ln_call_int(call, "unsigned_taps") != 0;
    return check_band(call, band);
}

static ln_status read_conv_maxpool(ln_call *call, quant_band *band)
{
    static const ln_nhwc_param params[] = {
        FIRST_PARAMS,
        {"pool_size", 2, 1, offsetof(quant_band, next.size)},
        {"pool_stride", 2, 1, offsetof(quant_band, next.stride)},
        {"pool_padding", 4, 0, offsetof(quant_band, next.padding)},
        {NULL, 0, 0, 0},
    };
    *band = (quant_band){.is_pooled = true};
    band->next.dilation[0] = band->next.dilation[1] = 1;
    LN_TRY(read_first(call, band));
    LN_TRY(ln_nhwc_read(call, params, band));
    return check_band(call, band);
}

// ---- Workspace ----

static size_t band_bytes(const quant_band *band)
{
    const ln_conv_shape *next = band->is_pooled ? NULL : &band->depthwise;
    const ln_window_1d rows = next ? ln_conv_rows(next) : band->pool.rows;
    return ln_band_i8_workspace(&band->shape, next, &rows, (size_t)band->out[1]);
}

// Columns of both, then what the bands need.
static size_t workspace_of(const quant_band *band)
{
    const size_t bytes = band_bytes(band), columns = ln_i8_column_bytes((size_t)band->channels);
    return bytes < SIZE_MAX / 2 ? 2 * columns + bytes : SIZE_MAX;
}

static ln_status infer(ln_call *call, const quant_band *band)
{
    const ln_i8_product *last = band->is_pooled ? &band->product : &band->taps;
    ln_quant_product p;
    LN_TRY(ln_i8_product_read(call, &band->product, (size_t)band->channels, &p));
    LN_TRY(ln_i8_product_read(call, last, (size_t)band->channels, &p));
    LN_TRY(ln_call_out(call, 0, p.dtype, 4, band->out));
    return ln_cpu_call_infer_workspace(call, 1, workspace_of(band));
}

ln_status ln_cpu_infer_quant_conv_depthwise(ln_call *call)
{
    quant_band band;
    LN_TRY(read_conv_depthwise(call, &band));
    return infer(call, &band);
}

ln_status ln_cpu_infer_quant_conv_maxpool(ln_call *call)
{
    quant_band band;
    LN_TRY(read_conv_maxpool(call, &band));
    return infer(call, &band);
}

// ---- Work ----

static double macs_of(const ln_conv_shape *s)
{
    return (double)(s->batch * s->out_h * s->out_w * s->out_channels) *
           (double)(s->in_channels / s->group * s->kernel_h * s->kernel_w);
}

double ln_cpu_macs_quant_conv_depthwise(const ln_call *call)
{
    quant_band band;
    bool is_read = read_conv_depthwise(ln_nhwc_checked(call), &band) == LN_OK;
    return is_read ? macs_of(&band.shape) + macs_of(&band.depthwise) : 0;
}

double ln_cpu_macs_quant_conv_maxpool(const ln_call *call)
{
    quant_band band;
    bool is_read = read_conv_maxpool(ln_nhwc_checked(call), &band) == LN_OK;
    return is_read ? macs_of(&band.shape) : 0;
}

// ---- Running ----

static size_t terms_of(const ln_conv_shape *s)
{
    return s->in_channels / s->group * s->kernel_h * s->kernel_w;
}

static ln_status prepare_conv_depthwise(ln_call *call, quant_band *band)
{
    LN_TRY(read_conv_depthwise(call, band));
    const size_t channels = (size_t)band->channels;
    LN_TRY(ln_i8_product_prepare(call, channels, terms_of(&band->shape), &band->product));
    return ln_i8_product_prepare(call, channels, terms_of(&band->depthwise), &band->taps);
}

LN_PREPARE(ln_cpu_prepare_quant_conv_depthwise, quant_band, prepare_conv_depthwise)

static ln_status prepare_conv_maxpool(ln_call *call, quant_band *band)
{
    LN_TRY(read_conv_maxpool(call, band));
    return ln_i8_product_prepare(call, (size_t)band->channels, terms_of(&band->shape),
                                 &band->product);
}

LN_PREPARE(ln_cpu_prepare_quant_conv_maxpool, quant_band, prepare_conv_maxpool)

// The arguments of one convolution; `block` is for its columns.
static ln_status start(ln_call *call, const ln_i8_product *product, const ln_conv_shape *shape,
                       void *block, ln_i8_columns *c, ln_conv_i8_args *args)
{
    ln_quant_product p;
    *args =
        (ln_conv_i8_args){.shape = *shape, .packed = ln_call_in(call, 1 + product->first)->data};
    LN_TRY(ln_i8_product_start(call, product, block, c, &p, &args->epilogue));
    args->zero = ln_quant_zero(p.src_zero);
    args->zeros = c->has_zeros ? c->zeros : NULL;
    args->bias = c->bias;
    return LN_OK;
}

static bool is_signed(const tl_tensor *zero)
{
    return zero && zero->dtype == TL_INT8;
}

static ln_status run(ln_call *call)
{
    const quant_band *band = ln_call_prepared(call);
    const size_t columns = ln_i8_column_bytes((size_t)band->channels);
    const tl_tensor *src = ln_call_in(call, 0), *between_zero = ln_call_in(call, 8);
    char *workspace = (void *)ln_cpu_call_workspace(call, 1, workspace_of(band));
    ln_i8_columns c[2];
    ln_conv_i8_args conv, taps;
    ln_maxpool_i8_args pool = band->pool;
    if (!workspace)
        return ln_error_status();
    LN_TRY(start(call, &band->product, &band->shape, workspace, &c[0], &conv));
    conv.x = src->data;
    conv.is_signed = src->dtype == TL_INT8;
    pool.is_signed = is_signed(between_zero);
    ln_band_i8_args args = {.conv = &conv, .pool = &pool, .y = ln_call_dst(call, 0)->data};
    if (!band->is_pooled) {
        LN_TRY(start(call, &band->taps, &band->depthwise, workspace + columns, &c[1], &taps));
        taps.is_signed = is_signed(between_zero);
        args.depthwise = &taps;
    }
    ln_band_i8(ln_cpu_isa_get(), &args, workspace + 2 * columns, ln_cpu_call_pool(call));
    return LN_OK;
}

ln_status ln_cpu_quant_conv_depthwise(ln_call *call)
{
    return run(call);
}

ln_status ln_cpu_quant_conv_maxpool(ln_call *call)
{
    return run(call);
}
