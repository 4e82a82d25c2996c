// SPDX-License-Identifier: Apache-2.0
// Resizing of channels-last images: which pixels of the input one of the result is made of.

#include <math.h>

#include "arch/cpu/call.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/resize/resize_nhwc.h"
#include "arch/cpu/nhwc.h"
#include "op/functions.h"
#include "op/prepare.h"
#include "op/resize.h"

enum { NEAREST, LINEAR };

typedef struct resizing {
    const tl_tensor *src, *into;
    int mode;
    ln_resize_axis words; // what all axes have
    double scale[2];      // 0: the quotient of the sizes
    ln_channels channels;
    int out[4];
    int32_t *places; // rows of src, then columns, that those of the result are made of; made once
    float *weights;  // their fractions
} resizing;

// ---- Reading ----

static ln_status read_scale(ln_call *call, resizing *resize)
{
    size_t count;
    const double *scale = ln_call_floats(call, "scale", &count);
    if (count != 2)
        return ln_call_fail(call, LN_INVALID, "scale has %zu elements, but should have 2", count);
    for (int i = 0; i < 2; i++) {
        if (!(scale[i] >= 0))
            return ln_call_fail(call, LN_INVALID, "scale is %g, but should be 0 or more", scale[i]);
        if (resize->src->dims[1 + i] == 0)
            return ln_call_fail(call, LN_INVALID,
                                "an image of %d x %d pixels has none to make others of",
                                resize->src->dims[1], resize->src->dims[2]);
        resize->scale[i] = scale[i];
    }
    return LN_OK;
}

static void set_tensors(ln_call *call, resizing *resize)
{
    resize->src = ln_call_in(call, 0);
    resize->into = ln_call_in(call, 1);
}

static ln_status read_resizing(ln_call *call, resizing *resize)
{
    static const ln_nhwc_param params[] = {{"out", 2, 1, offsetof(resizing, out) + sizeof(int)},
                                           {NULL, 0, 0, 0}};
    static const char *const modes[] = {"nearest", "linear", NULL};
    *resize = (resizing){.words.end = 1};
    set_tensors(call, resize);
    LN_TRY(ln_nhwc_check_ranks(call, 2, (const int[]){4, 4}));
    LN_TRY(ln_nhwc_read(call, params, resize));
    LN_TRY(read_scale(call, resize));
    LN_TRY(ln_resize_read_words(call, "coordinates", "rounding", &resize->words));
    LN_TRY(ln_nhwc_read_word(call, "mode", modes, &resize->mode));
    LN_TRY(ln_channels_read(call, &resize->channels));
    int count = ln_channels_count(resize->src, &resize->channels);
    return ln_nhwc_pass_on(
        call, ln_channels_shape(resize->out, resize->src, resize->into, &resize->channels, count));
}

// Two places, and two weights, for each row and column of the result.
static size_t place_count(const resizing *resize)
{
    return 2 * ((size_t)resize->out[1] + (size_t)resize->out[2]);
}

ln_status ln_cpu_infer_resize_nhwc(ln_call *call)
{
    resizing resize;
    LN_TRY(read_resizing(call, &resize));
    return ln_call_out(call, 0, TL_FLOAT, 4, resize.out);
}

double ln_cpu_cost_resize_nhwc(const ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    double count = ln_call_float(call, "src_channels");
    count = count > 0 ? count : src->dims[3];
    if (dst)
        count *= 4.0 * dst->dims[0] * dst->dims[1] * dst->dims[2];
    return ln_cost_steps(call) + count;
}

// ---- Places ----

// The two neighbours that element `i` of the result is between, and the weight of the second;
// that of the first is 1 less it. Both are the outermost one beyond the ends, with weight 0.
static double linear_at(const ln_resize_axis *axis, int i, int32_t out_at[2])
{
    double place = ln_resize_place(axis, i), before = floor(place);
    if (!(before >= 0) || before >= axis->in - 1) {
        out_at[0] = out_at[1] = before >= 0 ? axis->in - 1 : 0;
        return 0;
    }
    out_at[0] = (int32_t)before;
    out_at[1] = out_at[0] + 1;
    return place - before;
}

// Places on one axis, and weights if there are any.
static void find_places(const resizing *resize, int index, int32_t *places, float *weights)
{
    ln_resize_axis axis = resize->words;
    double scale = resize->scale[index];
    axis.in = resize->src->dims[1 + index];
    axis.out = resize->out[1 + index];
    axis.scale = scale > 0 ? scale : (double)axis.out / axis.in;
    axis.length = scale > 0 ? scale * axis.in : axis.out;
    for (int i = 0; i < axis.out; i++) {
        if (resize->mode == NEAREST)
            places[i] = ln_resize_nearest(&axis, i);
        else
            weights[i] = (float)linear_at(&axis, i, places + 2 * i);
    }
}

// ---- Running ----

static ln_status prepare_resize_nhwc(ln_call *call, resizing *resize)
{
    LN_TRY(read_resizing(call, resize));
    if (ln_call_dst(call, 0)->len == 0)
        return LN_OK;
    resize->places = ln_call_keep(call, place_count(resize), sizeof *resize->places);
    resize->weights = ln_call_keep(call, place_count(resize), sizeof *resize->weights);
    if (!resize->places || !resize->weights)
        return ln_error_status();
    find_places(resize, 0, resize->places, resize->weights);
    find_places(resize, 1, resize->places + 2 * resize->out[1], resize->weights + resize->out[1]);
    return LN_OK;
}

LN_PREPARE(ln_cpu_prepare_resize_nhwc, resizing, prepare_resize_nhwc)

ln_status ln_cpu_resize_nhwc(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    resizing resize = *(const resizing *)ln_call_prepared(call);
    set_tensors(call, &resize);
    if (dst->len == 0)
        return LN_OK;
    const tl_tensor *src = resize.src;
    size_t out_h = (size_t)resize.out[1], out_w = (size_t)resize.out[2];
    bool is_linear = resize.mode == LINEAR;
    ln_nhwc_start(resize.into, dst);
    ln_resize_nhwc_f32_args args = {
        .batch = (size_t)src->dims[0],
        .channels = (size_t)ln_channels_count(src, &resize.channels),
        .in_h = (size_t)src->dims[1],
        .in_w = (size_t)src->dims[2],
        .out_h = out_h,
        .out_w = out_w,
        .rows = resize.places,
        .columns = resize.places + 2 * out_h,
        .row_weights = is_linear ? resize.weights : NULL,
        .column_weights = is_linear ? resize.weights + out_h : NULL,
        .x = (const float *)src->data + resize.channels.src_first,
        .x_stride = (size_t)src->dims[3],
        .y = (float *)dst->data + resize.channels.dst_first,
        .y_stride = (size_t)dst->dims[3],
    };
    ln_resize_nhwc_f32(ln_cpu_isa_get(), &args, ln_cpu_call_pool(call));
    return LN_OK;
}
