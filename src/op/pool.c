// SPDX-License-Identifier: Apache-2.0
// Shapes of poolings, and of MaxUnpool.

#include "op/pool.h"

#include <limits.h>
#include <string.h>

#include "op/functions.h"

// ---- Parameters ----

static ln_status read_kind(ln_call *call, ln_pool_kind *out_kind)
{
    static const char *const names[] = {"max", "average", "lp"};
    const char *name = ln_call_string(call, "kind");
    *out_kind = LN_POOL_OF_MAX;
    for (int i = 0; name && i < 3; i++) {
        *out_kind = (ln_pool_kind)i;
        if (strcmp(name, names[i]) == 0)
            return LN_OK;
    }
    return name ? ln_call_fail(call, LN_INVALID, "kind '%s' is none of max, average and lp", name)
                : LN_OK;
}

// A norm's power, an integer but for the first version of LpPool.
static ln_status check_power(ln_call *call)
{
    double p = ln_call_float(call, "p");
    if (ln_call_has(call, "p") && !(p > 0))
        return ln_call_fail(call, LN_INVALID, "p = %g", p);
    return LN_OK;
}

static ln_status read_whole(ln_call *call, const tl_tensor *src, ln_window *window)
{
    static const char *const names[] = {"stride", "padding", "dilation"};
    for (int i = 0; i < 3; i++) {
        if (ln_call_count(call, names[i]) > 0)
            return ln_call_fail(call, LN_INVALID, "has a %s, but no size", names[i]);
    }
    LN_TRY(ln_window_check_rank(call, src));
    *window = (ln_window){.axis_count = src->ndim - 2};
    for (int i = 0; i < window->axis_count; i++) {
        int64_t in = src->dims[2 + i];
        window->axis[i] =
            (ln_window_axis){.in = in, .out = 1, .size = in, .stride = 1, .dilation = 1};
    }
    return LN_OK;
}

ln_status ln_pooling_read(ln_call *call, const tl_tensor *src, ln_pooling *out_pooling)
{
    *out_pooling = (ln_pooling){.counts_padding = ln_call_int(call, "count_include_pad") != 0,
                                .p = ln_call_float(call, "p")};
    LN_TRY(read_kind(call, &out_pooling->kind));
    LN_TRY(check_power(call));
    if (ln_call_has(call, "kind") && ln_call_count(call, "size") == 0)
        return read_whole(call, src, &out_pooling->window);
    return ln_window_read(call, src, NULL, &out_pooling->window);
}

bool ln_pooling_is_global(const ln_pooling *pooling)
{
    for (int i = 0; i < pooling->window.axis_count; i++) {
        const ln_window_axis *axis = &pooling->window.axis[i];
        if (axis->out != 1 || axis->size != axis->in || axis->dilation != 1 || axis->pad_begin != 0)
            return false;
    }
    return true;
}

// ---- Shapes ----

static ln_status pooled_dims(ln_call *call, int64_t *dims)
{
    const tl_tensor *src = ln_call_in(call, 0);
    ln_pooling pooling;
    LN_TRY(ln_pooling_read(call, src, &pooling));
    dims[0] = src->dims[0];
    dims[1] = src->dims[1];
    ln_window_out_dims(&pooling.window, dims);
    return LN_OK;
}

ln_status ln_infer_pool(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    int64_t dims[TL_MAXDIM];
    LN_TRY(pooled_dims(call, dims));
    return ln_call_out64(call, 0, src->dtype, src->ndim, dims);
}

// Each window of an image meets it.
ln_status ln_infer_pool2d(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    ln_pooling pooling;
    LN_TRY(ln_window_check_image(call, src));
    LN_TRY(ln_pooling_read(call, src, &pooling));
    for (int i = 0; i < pooling.window.axis_count; i++) {
        const ln_window_axis *axis = &pooling.window.axis[i];
        int64_t widest = axis->pad_begin > axis->pad_end ? axis->pad_begin : axis->pad_end;
        if (widest >= axis->size)
            return ln_call_fail(call, LN_INVALID,
                                "padding of %lld is not smaller than the window of %lld",
                                (long long)widest, (long long)axis->size);
    }
    return ln_infer_pool(call);
}

ln_status ln_infer_max_pool(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    int64_t dims[TL_MAXDIM];
    LN_TRY(pooled_dims(call, dims));
    LN_TRY(ln_call_out64(call, 0, src->dtype, src->ndim, dims));
    return ln_call_out64(call, 1, TL_INT64, src->ndim, dims);
}

// A window may be larger than its input; what is outside costs nothing.
double ln_cost_pool(const ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    const char *name = ln_call_count(call, "size") > 0 ? "size" : "kernel_shape";
    double count = dst ? dst->len : 0;
    for (int i = 0; i < ln_call_count(call, name) && 2 + i < src->ndim; i++) {
        int64_t size = ln_call_int_at(call, name, i), in = src->dims[2 + i];
        count *= (double)(size < in ? size : in);
    }
    return ln_cost_steps(call) + count;
}

ln_status ln_infer_global_pool(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    LN_TRY(ln_window_check_rank(call, src));
    LN_TRY(check_power(call));
    int dims[TL_MAXDIM] = {src->dims[0], src->dims[1]};
    for (int i = 2; i < src->ndim; i++)
        dims[i] = 1;
    return ln_call_out(call, 0, src->dtype, src->ndim, dims);
}

// ---- MaxUnpool ----

ln_status ln_max_unpool_image(ln_call *call, int64_t *out_dims)
{
    const tl_tensor *src = ln_call_in(call, 0);
    ln_window window;
    LN_TRY(ln_window_read_transposed(call, src, NULL, &window));
    out_dims[0] = src->dims[0];
    out_dims[1] = src->dims[1];
    ln_window_out_dims(&window, out_dims);
    return LN_OK;
}

ln_status ln_infer_max_unpool(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *places = ln_call_in(call, 1);
    if (!tl_tensor_issameshape(src, places))
        return ln_call_fail(call, LN_INVALID, "X and I have different shapes");

    int64_t dims[TL_MAXDIM];
    LN_TRY(ln_max_unpool_image(call, dims));
    const tl_tensor *shape = ln_call_in(call, 2);
    if (shape) {
        int count = ln_call_value_ints(call, 2, TL_MAXDIM, dims);
        if (count == -1)
            return ln_call_out_open(call);
        if (count < 0)
            return LN_LIMIT;
        if (count != src->ndim)
            return ln_call_fail(call, LN_INVALID, "output_shape has %d elements for rank %d", count,
                                src->ndim);
    }
    return ln_call_out64(call, 0, src->dtype, src->ndim, dims);
}
