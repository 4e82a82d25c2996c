// SPDX-License-Identifier: Apache-2.0
// Layout of what joins, parts and permutes channels, or other axes of images.

#include "pass/layout_build.h"

#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/call.h>
#include <lightnet/dfg.h>
#include <lightnet/op.h>
#include <lightnet/util.h>

// ---- Along an axis ----

static int nhwc_axis(const ln_layout_build *build, int axis)
{
    return ln_layout_nhwc_axis(build, ln_layout_first_out(build), axis);
}

static bool fits_along_axis(const ln_layout_build *build)
{
    bool has_nhwc = false;
    const ln_tensor_list_entry *in;
    if (!ln_layout_is_free(build, ln_layout_first_out(build)))
        return false;
    LN_LIST_FOREACH (in, build->op->op_arg->tensors_in) {
        if (!ln_layout_is_free(build, in->name))
            return false;
        has_nhwc = has_nhwc || ln_layout_has_nhwc(build, in->name);
    }
    const ln_param_entry *axis = ln_param_list_find(build->op->op_arg->params, "axis");
    return has_nhwc && axis && nhwc_axis(build, axis->value_int) >= 0;
}

static ln_status rewrite_along_axis(ln_layout_build *build)
{
    const ln_list *old = build->op->op_arg->params;
    ln_list *params = ln_param_list_copy(old);
    ln_param_entry *axis = params ? ln_param_list_find(params, "axis") : NULL;
    bool is_complete = axis && ln_list_length(params) == ln_list_length(old) &&
                       ln_param_set_satu_number(axis, nhwc_axis(build, axis->value_int)) == LN_OK;
    return ln_layout_emit_same(build, params, is_complete);
}

// ---- Axes that are parted, exchanged and joined: shuffled channels, blocks of pixels ----

typedef struct shuffle {
    const char *src;
    const ln_op *exchange, *divide;
    int part_count, dims[TL_MAXDIM], axes[TL_MAXDIM]; // of the parts of the NHWC form's axes
} shuffle;

static const ln_op *maker_of(const ln_layout_build *build, const ln_op *reader, const char *optype)
{
    const ln_tensor_list_entry *in = reader->op_arg->tensors_in->data;
    const ln_op *maker = ln_dfg_prev(build->ctx->dfg, reader, in->name);
    return maker && ln_streq(maker->op_arg->optype, optype) ? maker : NULL;
}

// The order that the parts of an image's axes have in its NHWC form; false if one has parts of two
// axes.
static bool order_parts(const tl_tensor *image, const int *parts, int count, int *out_order)
{
    int ends[4], order[4] = {0, 2, 3, 1}, at = 0, n = 0;
    for (int axis = 0; axis < 4; axis++) {
        int first = at;
        long long dim = image->dims[axis], product = 1;
        while (at < count && (product < dim || axis == 3 || (at == first && parts[at] == dim)))
            product *= parts[at++];
        if (product != dim)
            return false;
        ends[axis] = at;
    }
    for (int i = 0; i < 4; i++)
        for (int k = order[i] > 0 ? ends[order[i] - 1] : 0; k < ends[order[i]]; k++)
            out_order[n++] = k;
    return true;
}

static bool read_shuffle(const ln_layout_build *build, shuffle *s)
{
    const char *out = ln_layout_first_out(build);
    s->exchange = maker_of(build, build->op, "transpose");
    s->divide = s->exchange ? maker_of(build, s->exchange, "reshape") : NULL;
    if (!s->divide || !ln_layout_is_free(build, out))
        return false;
    s->src = ((const ln_tensor_list_entry *)s->divide->op_arg->tensors_in->data)->name;
    if (!ln_layout_is_free(build, s->src) || !ln_layout_has_nhwc(build, s->src))
        return false;
    const tl_tensor *src = ln_layout_find(build, s->src)->tensor;
    const tl_tensor *dst = ln_layout_find(build, out)->tensor;
    const tl_tensor *divided = ln_op_find_tensor_entry(s->divide, "dst")->tensor;
    const tl_tensor *turned = ln_op_find_tensor_entry(s->exchange, "dst")->tensor;
    const ln_param_entry *axes = ln_param_list_find(s->exchange->op_arg->params, "axes");
    int from[TL_MAXDIM], to[TL_MAXDIM], place[TL_MAXDIM];
    s->part_count = divided->ndim;
    if (src->ndim != 4 || dst->ndim != 4 || axes->array_len != s->part_count ||
        !order_parts(src, divided->dims, s->part_count, from) ||
        !order_parts(dst, turned->dims, s->part_count, to))
        return false;
    for (int i = 0; i < s->part_count; i++) {
        s->dims[i] = divided->dims[from[i]];
        place[from[i]] = i;
    }
    for (int i = 0; i < s->part_count; i++)
        s->axes[i] = place[axes->value_array_int[to[i]]];
    return true;
}

static bool fits_shuffle(const ln_layout_build *build)
{
    shuffle s;
    return read_shuffle(build, &s);
}

static const char *emit_parts(ln_layout_build *build, const char *optype, const char *src,
                              const char *param, int count, const int *values)
{
    ln_list *ins = src ? ln_tensor_list_append(NULL, "src", src) : NULL;
    ln_list *list = ln_param_list_append_array_int(NULL, param, count, values);
    return ln_layout_emit_step(build, optype, "blocks", ins, list, ins && list);
}

static ln_status rewrite_shuffle(ln_layout_build *build)
{
    shuffle s;
    if (!read_shuffle(build, &s))
        return LN_FAIL(LN_INTERNAL, "'%s' is no shuffle any more", build->op->op_arg->name);
    const int *d = ln_layout_find(build, ln_layout_first_out(build))->tensor->dims;
    const int dims[] = {d[0], d[2], d[3], d[1]};
    const char *src = ln_layout_nhwc(build, s.src);
    const char *parts =
        src ? emit_parts(build, "reshape", src, "dims", s.part_count, s.dims) : NULL;
    const char *turned =
        parts ? emit_parts(build, "transpose", parts, "axes", s.part_count, s.axes) : NULL;
    if (!turned)
        return ln_error_status();
    build->bypassed[0] = s.exchange;
    build->bypassed[1] = s.divide;
    ln_list *ins = ln_tensor_list_append(NULL, "src", turned);
    ln_list *list = ln_param_list_append_array_int(NULL, "dims", 4, dims);
    return ln_layout_emit_nhwc(build, "reshape", "dst", ins, list, ins && list);
}

// ---- The table ----

const ln_layout_op ln_layout_channels[] = {
    {"concat", fits_along_axis, rewrite_along_axis},
    {"slice", fits_along_axis, rewrite_along_axis},
    {"reshape", fits_shuffle, rewrite_shuffle},
    {NULL, NULL, NULL},
};
