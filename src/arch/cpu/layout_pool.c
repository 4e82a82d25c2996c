// SPDX-License-Identifier: Apache-2.0
// Layout of poolings, means over space and resizing.

#include "arch/cpu/layout_volume.h"

#include <string.h>

#include <lightnet/call.h>
#include <lightnet/convdim.h>
#include <lightnet/shape.h>
#include <lightnet/util.h>

#include "op/onnx/reduce.h"
#include "op/pool.h"

// ---- Pooling ----

// A pooling as the channels-last operator wants it.
typedef struct pool {
    const char *optype, *src;
    int size[2], stride[2], dilation[2], padding[4];
    bool counts_padding;
} pool;

static bool are_images(const ln_layout_build *build, const char *src)
{
    return ln_layout_is_free(build, src) && !ln_layout_is_volume(build, src) &&
           ln_layout_is_free(build, ln_layout_first_out(build)) &&
           !build->op->op_arg->tensors_out->next;
}

static bool read_window(const ln_window *window, pool *p)
{
    static const ln_window_axis single = {.size = 1, .stride = 1, .dilation = 1};
    if (window->axis_count > 2)
        return false;
    for (int i = 0; i < 2; i++) {
        int at = i + window->axis_count - 2;
        const ln_window_axis *axis = at < 0 ? &single : &window->axis[at];
        if (axis->pad_begin < 0 || axis->pad_end < 0)
            return false;
        p->size[i] = (int)axis->size;
        p->stride[i] = (int)axis->stride;
        p->dilation[i] = (int)axis->dilation;
        p->padding[i] = (int)axis->pad_begin;
        p->padding[2 + i] = (int)axis->pad_end;
    }
    return true;
}

// A pooling that is checked. Norms have no channels-last form.
static bool read_pool(const ln_layout_build *build, pool *p)
{
    ln_call *call = build->op->op_arg->priv;
    ln_pooling pooling;
    *p = (pool){.src = ln_layout_input(build, "src")};
    if (!call || !are_images(build, p->src) ||
        ln_pooling_read(call, ln_layout_find(build, p->src)->tensor, &pooling) != LN_OK ||
        pooling.kind == LN_POOL_OF_NORM)
        return false;
    bool is_max = pooling.kind == LN_POOL_OF_MAX;
    if (!is_max && !ln_layout_is_float_image(build, p->src))
        return false;
    p->optype = is_max ? "maxpool2d_nhwc_cpu" : "avgpool2d_nhwc_cpu";
    p->counts_padding = !is_max && pooling.counts_padding;
    return read_window(&pooling.window, p);
}

// Alone, a pooling of floats is not worth two transposes; that of bytes or volumes has no other
// form.
static bool fits_pool(const ln_layout_build *build)
{
    pool p;
    return ln_layout_fits_volume_pool(build) ||
           (read_pool(build, &p) &&
            (ln_layout_has_nhwc(build, p.src) || !ln_layout_is_float_image(build, p.src)));
}

// As many windows as fit, or as the operator has where that differs.
static void add_out(const ln_layout_build *build, const pool *p, ln_layout_params *params)
{
    const ln_layout_dims in = ln_layout_dims_of(build, p->src);
    const ln_layout_dims out = ln_layout_dims_of(build, ln_layout_first_out(build));
    for (int i = 0; i < 2; i++) {
        int fitting = ln_output_dim_conv(in.d[2 + i], p->size[i], p->stride[i], p->padding[i],
                                         p->padding[2 + i], p->dilation[i]);
        if (fitting == out.d[2 + i])
            continue;
        ln_layout_add_ints(params, "out", 2, out.d + 2, 0);
        return;
    }
}

static ln_status rewrite_pool(ln_layout_build *build)
{
    pool p;
    if (ln_layout_fits_volume_pool(build))
        return ln_layout_rewrite_volume_pool(build);
    if (!read_pool(build, &p))
        return LN_FAIL(LN_INTERNAL, "'%s' is no pooling any more", build->op->op_arg->name);
    const char *src = ln_layout_nhwc(build, p.src);
    if (!src)
        return ln_error_status();
    ln_layout_params params = {0};
    ln_layout_add_ints(&params, "size", 2, p.size, 0);
    ln_layout_add_ints(&params, "stride", 2, p.stride, 1);
    ln_layout_add_ints(&params, "padding", 4, p.padding, 0);
    ln_layout_add_ints(&params, "dilation", 2, p.dilation, 1);
    add_out(build, &p, &params);
    if (p.counts_padding) {
        params.list = ln_param_list_append_bool(params.list, "count_padding", 1);
        params.count++;
    }
    ln_list *ins = ln_tensor_list_append(NULL, "src", src);
    return ln_layout_emit_nhwc(build, p.optype, "dst", ins, params.list,
                               ins && ln_layout_are_complete(&params));
}

// ---- The mean over space ----

// A mean over all places of each channel, with their axes as 1 or without them.
static bool read_mean(const ln_layout_build *build, const char **out_src)
{
    ln_call *call = build->op->op_arg->priv;
    const char *src = ln_layout_input(build, "src"), *dst = ln_layout_first_out(build);
    bool is_reduced[LN_MAXDIM], is_known;
    ln_reduce_kind kind;
    *out_src = src;
    if (!call || !ln_layout_is_free(build, src) || !ln_layout_is_float_image(build, src) ||
        ln_layout_find(build, dst)->is_open || ln_layout_find(build, dst)->known ||
        ln_reduce_kind_of(call, &kind) != LN_OK || kind != LN_REDUCE_TO_MEAN ||
        ln_reduced_axes(call, is_reduced, &is_known) != LN_OK || !is_known)
        return false;
    for (int i = 0; i < ln_layout_find(build, src)->tensor->ndim; i++)
        if (is_reduced[i] != (i >= 2))
            return false;
    return true;
}

static bool fits_mean(const ln_layout_build *build)
{
    const char *src;
    return read_mean(build, &src) && ln_layout_has_nhwc(build, src);
}

// Of what is no image: batch and channels alone are the elements of [N, 1, 1, C] in their order.
static ln_status emit_flat(ln_layout_build *build, const char *nhwc)
{
    const char *dst = ln_layout_first_out(build);
    const tl_tensor *t = ln_layout_find(build, dst)->tensor;
    ln_list *ins = ln_tensor_list_append(NULL, "src", nhwc);
    ln_list *outs = ln_tensor_list_append(NULL, "dst", dst);
    ln_list *params = ln_param_list_append_array_int(NULL, "dims", t->ndim, t->dims);
    return ln_layout_emit(build, "reshape", "flat", ins, outs, params, ins && outs && params);
}

static ln_status rewrite_mean(ln_layout_build *build)
{
    const char *name;
    if (!read_mean(build, &name))
        return LN_FAIL(LN_INTERNAL, "'%s' is no mean over space any more", build->op->op_arg->name);
    const ln_layout_dims in = ln_layout_dims_of(build, name);
    const char *src = ln_layout_nhwc(build, name);
    if (!src)
        return ln_error_status();
    ln_layout_params params = {0};
    ln_layout_add_ints(&params, "size", 2, in.d + 2, 0);
    ln_list *ins = ln_tensor_list_append(NULL, "src", src);
    bool is_complete = ins && ln_layout_are_complete(&params);
    if (ln_layout_is_image(ln_layout_find(build, ln_layout_first_out(build))))
        return ln_layout_emit_nhwc(build, "avgpool2d_nhwc_cpu", "dst", ins, params.list,
                                   is_complete);
    const char *nhwc =
        ln_layout_emit_step(build, "avgpool2d_nhwc_cpu", "mean", ins, params.list, is_complete);
    return nhwc ? emit_flat(build, nhwc) : ln_error_status();
}

// ---- Resizing ----

// `resize` as the channels-last operator wants it.
typedef struct resize {
    const char *src, *mode, *coordinates, *rounding;
    double scale[2]; // 0: the quotient of the sizes
} resize;

static bool is_one_of(const char *word, const char *const *words)
{
    while (*words && !ln_streq(*words, word))
        words++;
    return *words != NULL;
}

// Scales that are given, and known. False if batch or channels are scaled.
// Sizes and scales of all axes, or of height and width alone.
static bool are_axes_of_pixels(const ln_call *call, int ndim)
{
    const int count = (int)ln_call_count(call, "axes");
    for (int i = 0; i < count; i++) {
        const int64_t axis = ln_call_int_at(call, "axes", i);
        if (count != ndim - 2 || (axis < 0 ? axis + ndim : axis) != 2 + i)
            return false;
    }
    return count == 0 || ln_streq(ln_call_string(call, "keep_aspect_ratio_policy"), "stretch");
}

static bool read_scales(const ln_layout_build *build, resize *r)
{
    const char *name = ln_layout_input(build, "scales");
    const ln_tensor_entry *entry = name ? ln_layout_find(build, name) : NULL;
    if (!entry || entry->tensor->len == 0)
        return true;
    const float *scales = entry->known;
    const int ndim = ln_layout_find(build, r->src)->tensor->ndim, count = entry->tensor->len;
    if (!scales || (count != ndim && count != ndim - 2) || entry->tensor->dtype != TL_FLOAT ||
        (count == ndim && (scales[0] != 1 || scales[1] != 1)))
        return false;
    const ln_layout_dims in = ln_layout_dims_of(build, r->src);
    const ln_layout_dims out = ln_layout_dims_of(build, ln_layout_first_out(build));
    for (int i = 4 - ndim; i < 2; i++) {
        double scale = (double)scales[count - 2 + i];
        r->scale[i] = scale * in.d[2 + i] == out.d[2 + i] ? 0 : scale;
    }
    return true;
}

// Of whole factors: the nearest element is then the same however places are rounded.
static bool read_nearest(const ln_layout_build *build, resize *r)
{
    const char *mode = ln_param_list_find(build->op->op_arg->params, "mode")->value_string;
    *r = (resize){.src = ln_layout_input(build, "src"),
                  .mode = "nearest",
                  .coordinates = "half_pixel",
                  .rounding = "round_prefer_ceil"};
    if (!ln_streq(mode, "TL_NEAREST") || !are_images(build, r->src))
        return false;
    const ln_layout_dims in = ln_layout_dims_of(build, r->src);
    const ln_layout_dims out = ln_layout_dims_of(build, ln_layout_first_out(build));
    return memcmp(in.d, out.d, 2 * sizeof *in.d) == 0 && out.d[2] % in.d[2] == 0 &&
           out.d[3] % in.d[3] == 0;
}

static bool read_resize(const ln_layout_build *build, resize *r)
{
    static const char *const modes[] = {"nearest", "linear", NULL};
    static const char *const coordinates[] = {"half_pixel", "pytorch_half_pixel", "asymmetric",
                                              "align_corners", NULL};
    ln_call *call = build->op->op_arg->priv;
    if (read_nearest(build, r))
        return true;
    if (!call)
        return false;
    *r = (resize){.src = ln_layout_input(build, "src"),
                  .mode = ln_call_string(call, "mode"),
                  .coordinates = ln_call_string(call, "coordinate_transformation_mode"),
                  .rounding = ln_call_string(call, "nearest_mode")};
    if (ln_streq(r->mode, "bilinear"))
        r->mode = "linear";
    if (!are_images(build, r->src) || !read_scales(build, r) ||
        ln_call_int(call, "antialias") != 0 ||
        !are_axes_of_pixels(call, ln_layout_find(build, r->src)->tensor->ndim))
        return false;
    const ln_layout_dims in = ln_layout_dims_of(build, r->src);
    const ln_layout_dims out = ln_layout_dims_of(build, ln_layout_first_out(build));
    return is_one_of(r->mode, modes) && is_one_of(r->coordinates, coordinates) &&
           memcmp(in.d, out.d, 2 * sizeof *in.d) == 0;
}

// The linear one is worth two transposes alone, where it has no other form.
static bool fits_resize(const ln_layout_build *build)
{
    resize r;
    return read_resize(build, &r) && ln_layout_is_float_image(build, r.src) &&
           (ln_layout_has_nhwc(build, r.src) || ln_streq(r.mode, "linear"));
}

static ln_status rewrite_resize(ln_layout_build *build)
{
    resize r;
    if (!read_resize(build, &r))
        return LN_FAIL(LN_INTERNAL, "'%s' is no resizing any more", build->op->op_arg->name);
    const char *src = ln_layout_nhwc(build, r.src);
    if (!src)
        return ln_error_status();
    ln_layout_params params = {0};
    const ln_layout_dims out = ln_layout_dims_of(build, ln_layout_first_out(build));
    ln_layout_add_ints(&params, "out", 2, out.d + 2, 0);
    ln_layout_add_string(&params, "mode", r.mode, "nearest");
    ln_layout_add_string(&params, "coordinates", r.coordinates, "half_pixel");
    ln_layout_add_string(&params, "rounding", r.rounding, "round_prefer_floor");
    if (r.scale[0] != 0 || r.scale[1] != 0) {
        params.list = ln_param_list_append_array_double(params.list, "scale", 2, r.scale);
        params.count++;
    }
    ln_list *ins = ln_tensor_list_append(NULL, "src", src);
    return ln_layout_emit_nhwc(build, "resize_nhwc_cpu", "dst", ins, params.list,
                               ins && ln_layout_are_complete(&params));
}

// ---- The table ----

const ln_layout_op ln_layout_pools[] = {
    {"pool", fits_pool, rewrite_pool},
    {"reduce", fits_mean, rewrite_mean},
    {"resize", fits_resize, rewrite_resize},
    {NULL, NULL, NULL},
};
