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

static bool fits_along_axis(const ln_layout_build *build)
{
    bool has_twin = false;
    const ln_tensor_list_entry *in;
    if (!ln_layout_is_free(build, ln_layout_first_out(build)))
        return false;
    LN_LIST_FOREACH (in, build->op->op_arg->tensors_in) {
        if (!ln_layout_is_free(build, in->name))
            return false;
        has_twin = has_twin || ln_layout_has_twin(build, in->name);
    }
    return has_twin;
}

static int twin_axis(const ln_layout_build *build, int axis)
{
    return ln_layout_twin_axis(build, ln_layout_first_out(build), axis);
}

static ln_status rewrite_along_axis(ln_layout_build *build)
{
    const ln_list *old = build->op->op_arg->params;
    ln_list *params = ln_param_list_copy(old);
    ln_param_entry *axis = params ? ln_param_list_find(params, "axis") : NULL;
    bool is_complete = axis && ln_list_length(params) == ln_list_length(old) &&
                       ln_param_set_satu_number(axis, twin_axis(build, axis->value_int)) == LN_OK;
    return ln_layout_emit_same(build, params, is_complete);
}

// Split of ONNX: each part is a slice, which may be a view.
static bool fits_split(const ln_layout_build *build)
{
    const ln_op_arg *arg = build->op->op_arg;
    const ln_tensor_list_entry *out;
    const ln_tensor_list_entry *in = arg->tensors_in->data;
    LN_LIST_FOREACH (out, arg->tensors_out)
        if (!ln_layout_is_free(build, out->name))
            return false;
    return ln_layout_is_free(build, in->name) && ln_layout_has_twin(build, in->name);
}

static ln_status emit_slice(ln_layout_build *build, const char *src, const char *out, int axis,
                            int start, int len)
{
    char *twin = ln_layout_new_name(build, out, "nhwc");
    ln_list *ins = ln_tensor_list_append(NULL, "src", src);
    ln_list *outs = twin ? ln_tensor_list_append(NULL, "dst", twin) : NULL;
    ln_list *list = ln_param_list_append_int(NULL, "axis", axis);
    list = ln_param_list_append_int(list, "start", start);
    list = ln_param_list_append_int(list, "len", len);
    ln_status status = ln_layout_emit(build, "slice", "part", ins, outs, list,
                                      ins && outs && ln_list_length(list) == 3);
    if (status == LN_OK)
        status = ln_layout_emit_back(build, twin, out);
    ln_free(twin);
    return status;
}

static ln_status rewrite_split(ln_layout_build *build)
{
    const ln_op_arg *arg = build->op->op_arg;
    const char *src = ((const ln_tensor_list_entry *)arg->tensors_in->data)->name;
    const int *dims = ln_layout_find(build, src)->tensor->dims;
    int ndim = ln_layout_find(build, src)->tensor->ndim;
    int axis = (int)ln_call_int(arg->priv, "axis"), start = 0;
    axis += axis < 0 ? ndim : 0;
    const char *twin = ln_layout_twin(build, src);
    if (!twin || axis < 0 || axis >= ndim)
        return twin ? LN_FAIL(LN_INTERNAL, "axis %d", axis) : ln_error_status();
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, arg->tensors_out) {
        int len = ln_layout_find(build, out->name)->tensor->dims[axis];
        if (len > dims[axis] - start)
            return LN_FAIL(LN_INTERNAL, "parts are longer than %d", dims[axis]);
        LN_TRY(emit_slice(build, twin, out->name, twin_axis(build, axis), start, len));
        start += len;
    }
    return LN_OK;
}

// ---- Channel shuffle: reshape to groups, exchange the groups' axis with the next, reshape back
// ----

typedef struct shuffle {
    const char *src;
    int group;
    const ln_op *exchange, *divide;
} shuffle;

static const ln_op *maker_of(const ln_layout_build *build, const ln_op *reader, const char *optype)
{
    const ln_tensor_list_entry *in = reader->op_arg->tensors_in->data;
    const ln_op *maker = ln_dfg_prev(build->ctx->dfg, reader, in->name);
    return maker && ln_streq(maker->op_arg->optype, optype) ? maker : NULL;
}

static bool read_shuffle(const ln_layout_build *build, shuffle *s)
{
    static const int exchanged[] = {0, 2, 1, 3, 4};
    s->exchange = maker_of(build, build->op, "transpose");
    s->divide = s->exchange ? maker_of(build, s->exchange, "reshape") : NULL;
    if (!s->divide || !ln_layout_is_free(build, ln_layout_first_out(build)))
        return false;
    s->src = ((const ln_tensor_list_entry *)s->divide->op_arg->tensors_in->data)->name;
    const ln_param_entry *axes = ln_param_list_find(s->exchange->op_arg->params, "axes");
    if (axes->array_len != 5 || memcmp(axes->value_array_int, exchanged, sizeof exchanged) != 0 ||
        !ln_layout_is_free(build, s->src) || !ln_layout_has_twin(build, s->src))
        return false;
    const tl_tensor *src = ln_layout_find(build, s->src)->tensor;
    const tl_tensor *dst = ln_layout_find(build, ln_layout_first_out(build))->tensor;
    const tl_tensor *divided = ln_op_find_tensor_entry(s->divide, "dst")->tensor;
    s->group = divided->dims[1];
    return src->ndim == 4 && dst->ndim == 4 && memcmp(src->dims, dst->dims, 4 * sizeof(int)) == 0 &&
           memcmp(src->dims + 2, divided->dims + 3, 2 * sizeof(int)) == 0 &&
           divided->dims[1] * (long long)divided->dims[2] == src->dims[1];
}

static bool fits_shuffle(const ln_layout_build *build)
{
    shuffle s;
    return read_shuffle(build, &s);
}

static ln_status emit_shuffle(ln_layout_build *build, const char *optype, const char *src,
                              const char *dst, const char *param, int count, const int *values)
{
    ln_list *ins = ln_tensor_list_append(NULL, "src", src);
    ln_list *outs = ln_tensor_list_append(NULL, "dst", dst);
    ln_list *list = ln_param_list_append_array_int(NULL, param, count, values);
    return ln_layout_emit(build, optype, "shuffle", ins, outs, list, ins && outs && list);
}

static ln_status rewrite_shuffle(ln_layout_build *build)
{
    shuffle s;
    if (!read_shuffle(build, &s))
        return LN_FAIL(LN_INTERNAL, "'%s' is no shuffle any more", build->op->op_arg->name);
    const int *d = ln_layout_find(build, s.src)->tensor->dims;
    const int divided_dims[] = {d[0], d[2], d[3], s.group, d[1] / s.group};
    const int exchanged[] = {0, 1, 2, 4, 3}, dims[] = {d[0], d[2], d[3], d[1]};
    const char *src = ln_layout_twin(build, s.src);
    char *divided = ln_layout_new_name(build, ln_layout_first_out(build), "groups");
    char *turned = ln_layout_new_name(build, ln_layout_first_out(build), "turned");
    ln_status status = src && divided && turned ? LN_OK : ln_error_status();
    if (status == LN_OK)
        status = emit_shuffle(build, "reshape", src, divided, "dims", 5, divided_dims);
    if (status == LN_OK)
        status = emit_shuffle(build, "transpose", divided, turned, "axes", 5, exchanged);
    if (status == LN_OK) {
        ln_list *ins = ln_tensor_list_append(NULL, "src", turned);
        ln_list *list = ln_param_list_append_array_int(NULL, "dims", 4, dims);
        status = ln_layout_emit_twin(build, "reshape", "dst", ins, list, ins && list);
    }
    ln_free(divided);
    ln_free(turned);
    build->bypassed[0] = s.exchange;
    build->bypassed[1] = s.divide;
    return status;
}

// ---- Blocks of pixels as channels ----

// One step of `optype` to a new tensor; its name, NULL with a recorded failure.
static const char *emit_blocks(ln_layout_build *build, const char *optype, const char *src,
                               const char *param, const int values[6])
{
    char *dst = ln_layout_new_name(build, ln_layout_first_out(build), "blocks");
    ln_list *ins = ln_tensor_list_append(NULL, "src", src);
    ln_list *outs = dst ? ln_tensor_list_append(NULL, "dst", dst) : NULL;
    ln_list *list = ln_param_list_append_array_int(NULL, param, 6, values);
    ln_status status =
        ln_layout_emit(build, optype, "blocks", ins, outs, list, ins && outs && list);
    ln_free(dst);
    return status == LN_OK ? ln_layout_last_made(build) : NULL;
}

static bool fits_blocks(const ln_layout_build *build)
{
    const ln_op_arg *arg = build->op->op_arg;
    const ln_tensor_list_entry *in = arg->tensors_in->data;
    return arg->priv && ln_layout_is_free(build, in->name) &&
           ln_layout_is_free(build, ln_layout_first_out(build)) &&
           ln_layout_has_twin(build, in->name);
}

// An image is parted, its parts exchanged, and put together again.
static ln_status rewrite_blocks(ln_layout_build *build)
{
    static const int by_blocks[] = {0, 1, 3, 2, 4, 5}, by_channels[] = {0, 1, 4, 2, 5, 3};
    const ln_op_arg *arg = build->op->op_arg;
    const char *in = ((const ln_tensor_list_entry *)arg->tensors_in->data)->name;
    const int *d = ln_layout_find(build, in)->tensor->dims;
    const int *out = ln_layout_find(build, ln_layout_first_out(build))->tensor->dims;
    bool is_joined = ln_streq(arg->optype, "SpaceToDepth");
    int b = (int)ln_call_int(arg->priv, "blocksize");
    bool is_crd = !is_joined && ln_streq(ln_call_string(arg->priv, "mode"), "CRD");
    const int joined[] = {d[0], out[2], b, out[3], b, d[1]};
    const int blocks_first[] = {d[0], d[2], d[3], b, b, out[1]};
    const int channels_first[] = {d[0], d[2], d[3], out[1], b, b};
    const int dims[] = {out[0], out[2], out[3], out[1]};
    const char *src = ln_layout_twin(build, in);
    const char *parted = src ? emit_blocks(build, "reshape", src, "dims",
                                           is_joined ? joined
                                           : is_crd  ? channels_first
                                                     : blocks_first)
                             : NULL;
    const char *turned =
        parted ? emit_blocks(build, "transpose", parted, "axes", is_crd ? by_channels : by_blocks)
               : NULL;
    if (!turned)
        return ln_error_status();
    ln_list *ins = ln_tensor_list_append(NULL, "src", turned);
    ln_list *list = ln_param_list_append_array_int(NULL, "dims", 4, dims);
    return ln_layout_emit_twin(build, "reshape", "dst", ins, list, ins && list);
}

// ---- The table ----

const ln_layout_op ln_layout_channels[] = {
    {"concat", fits_along_axis, rewrite_along_axis},
    {"slice", fits_along_axis, rewrite_along_axis},
    {"Split", fits_split, rewrite_split},
    {"reshape", fits_shuffle, rewrite_shuffle},
    {"DepthToSpace", fits_blocks, rewrite_blocks},
    {"SpaceToDepth", fits_blocks, rewrite_blocks},
    {NULL, NULL, NULL},
};
