// SPDX-License-Identifier: Apache-2.0
// Volumes [N, C, D, H, W] on NHWC forms, in which their planes are one below the other: views as
// [N, D, H, W, C], and poolings, first of planes, then of depths.

#include "arch/cpu/layout_volume.h"

#include <lightnet/convdim.h>

#include "op/pool.h"

// ---- Views ----

const char *ln_layout_emit_view(ln_layout_build *build, const char *nhwc, int rank, const int *dims)
{
    ln_list *ins = ln_tensor_list_append(NULL, "src", nhwc);
    ln_list *params = ln_param_list_append_array_int(NULL, "dims", rank, dims);
    return ln_layout_emit_step(build, "reshape", "planes", ins, params, ins && params);
}

ln_status ln_layout_emit_volume_back(ln_layout_build *build, const char *made)
{
    const ln_layout_dims out = ln_layout_dims_of(build, ln_layout_first_out(build));
    const int dims[] = {out.d[0], out.d[2], out.d[3], out.d[1]};
    ln_list *ins = ln_tensor_list_append(NULL, "src", made);
    ln_list *params = ln_param_list_append_array_int(NULL, "dims", 4, dims);
    return ln_layout_emit_nhwc(build, "reshape", "dst", ins, params, ins && params);
}

bool ln_layout_is_volume(const ln_layout_build *build, const char *tname)
{
    return ln_layout_is_free(build, tname) && ln_layout_find(build, tname)->tensor->ndim == 5;
}

// ---- Poolings ----

typedef struct volume_pool {
    const char *optype, *src;
    ln_window window; // of depths, rows, columns
    bool counts_padding;
} volume_pool;

// Means and maxima over depths of those over planes are those over both.
static bool read_pool(const ln_layout_build *build, volume_pool *p)
{
    ln_call *call = build->op->op_arg->priv;
    ln_pooling pooling;
    *p = (volume_pool){.src = ln_layout_input(build, "src")};
    if (!call || !ln_layout_is_volume(build, p->src) ||
        !ln_layout_is_volume(build, ln_layout_first_out(build)) ||
        build->op->op_arg->tensors_out->next ||
        ln_pooling_read(call, ln_layout_find(build, p->src)->tensor, &pooling) != LN_OK ||
        pooling.kind == LN_POOL_OF_NORM || pooling.window.axis_count != 3)
        return false;
    const bool is_max = pooling.kind == LN_POOL_OF_MAX;
    p->optype = is_max ? "maxpool2d_nhwc_cpu" : "avgpool2d_nhwc_cpu";
    p->window = pooling.window;
    p->counts_padding = !is_max && pooling.counts_padding;
    for (int i = 0; i < 3; i++)
        if (p->window.axis[i].pad_begin < 0 || p->window.axis[i].pad_end < 0)
            return false;
    // Maxima of floats, and means of all of them, have another form.
    const bool has_form = is_max || ln_pooling_is_global(&pooling);
    return ln_layout_is_float_image(build, p->src) ? ln_layout_has_nhwc(build, p->src) || !has_form
                                                   : is_max;
}

bool ln_layout_fits_volume_pool(const ln_layout_build *build)
{
    volume_pool p;
    return read_pool(build, &p);
}

// As many windows as fit, or as the axis has where that differs.
static int fitting_windows(const ln_window_axis *a)
{
    return ln_output_dim_conv((int)a->in, (int)a->size, (int)a->stride, (int)a->pad_begin,
                              (int)a->pad_end, (int)a->dilation);
}

// Over two axes of images [batch, axis 0, axis 1, channels].
static const char *emit_pool(ln_layout_build *build, const volume_pool *p, const char *src,
                             const ln_window_axis *a, const ln_window_axis *b)
{
    const int size[] = {(int)a->size, (int)b->size}, stride[] = {(int)a->stride, (int)b->stride};
    const int dilation[] = {(int)a->dilation, (int)b->dilation}, out[] = {(int)a->out, (int)b->out};
    const int padding[] = {(int)a->pad_begin, (int)b->pad_begin, (int)a->pad_end, (int)b->pad_end};
    ln_layout_params said = {0};
    ln_layout_add_ints(&said, "size", 2, size, 0);
    ln_layout_add_ints(&said, "stride", 2, stride, 1);
    ln_layout_add_ints(&said, "padding", 4, padding, 0);
    ln_layout_add_ints(&said, "dilation", 2, dilation, 1);
    if (fitting_windows(a) != out[0] || fitting_windows(b) != out[1])
        ln_layout_add_ints(&said, "out", 2, out, 0);
    if (p->counts_padding) {
        said.list = ln_param_list_append_bool(said.list, "count_padding", 1);
        said.count++;
    }
    ln_list *ins = ln_tensor_list_append(NULL, "src", src);
    return ln_layout_emit_step(build, p->optype, "pooled", ins, said.list,
                               ins && ln_layout_are_complete(&said));
}

ln_status ln_layout_rewrite_volume_pool(ln_layout_build *build)
{
    volume_pool p;
    if (!read_pool(build, &p))
        return LN_FAIL(LN_INTERNAL, "'%s' is no pooling any more", build->op->op_arg->name);
    const ln_window_axis *depth = &p.window.axis[0], *rows = depth + 1, *columns = depth + 2;
    const int *d = ln_layout_find(build, p.src)->tensor->dims,
              out_pixels = (int)(rows->out * columns->out);
    const ln_window_axis pixel = {out_pixels, out_pixels, .size = 1, .stride = 1, .dilation = 1};
    const int planes[] = {d[0] * d[2], d[3], d[4], d[1]}, depths[] = {d[0], d[2], out_pixels, d[1]};
    const char *made = ln_layout_nhwc(build, p.src);
    made = made ? ln_layout_emit_view(build, made, 4, planes) : NULL;
    made = made ? emit_pool(build, &p, made, rows, columns) : NULL;
    made = made ? ln_layout_emit_view(build, made, 4, depths) : NULL;
    made = made ? emit_pool(build, &p, made, depth, &pixel) : NULL;
    return made ? ln_layout_emit_volume_back(build, made) : ln_error_status();
}
