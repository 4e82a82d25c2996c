// SPDX-License-Identifier: Apache-2.0
// Layout of what is computed element by element, with operands that are repeated over others.

#include "pass/layout_build.h"

#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/call.h>
#include <lightnet/util.h>

static int rank_of(const ln_layout_build *build, const char *tname)
{
    return ln_layout_find(build, tname)->tensor->ndim;
}

// Whether each element of an input meets one element of the output, or is repeated over it: an
// image of the same shape, one number, or what has as many axes.
static bool is_operand(const ln_layout_build *build, const char *tname, bool *has_twin)
{
    const ln_tensor_entry *entry = ln_layout_find(build, tname);
    int ndim = rank_of(build, ln_layout_first_out(build));
    if (!entry || entry->is_open)
        return false;
    if (entry->tensor->len == 1 && entry->tensor->ndim < ndim)
        return true;
    if (entry->tensor->dtype != TL_FLOAT || entry->tensor->ndim > ndim || entry->tensor->len == 0)
        return false;
    *has_twin = *has_twin || (entry->tensor->ndim == ndim && ln_layout_has_twin(build, tname));
    return true;
}

static bool fits_elementwise(const ln_layout_build *build)
{
    bool has_twin = false;
    const ln_tensor_list_entry *in;
    if (!ln_layout_is_free(build, ln_layout_first_out(build)) ||
        build->op->op_arg->tensors_out->next)
        return false;
    LN_LIST_FOREACH (in, build->op->op_arg->tensors_in)
        if (!is_operand(build, in->name, &has_twin))
            return false;
    return has_twin;
}

// The twin of what has fewer axes: those in front are 1.
static const char *widened_twin(ln_layout_build *build, const char *tname)
{
    const tl_tensor *t = ln_layout_find(build, tname)->tensor;
    int dims[4] = {1, 1, 1, 1}, ndim = rank_of(build, ln_layout_first_out(build));
    for (int i = 0; i < t->ndim; i++) {
        int at = ndim - t->ndim + i;
        dims[ndim == 3 && at == 2 ? 3 : at] = t->dims[i];
    }
    char *image = ln_layout_new_name(build, tname, "image");
    char *twin = ln_layout_new_name(build, tname, "last");
    ln_list *ins = ln_tensor_list_append(NULL, "src", tname);
    ln_list *outs = image ? ln_tensor_list_append(NULL, "dst", image) : NULL;
    ln_list *params = ln_param_list_append_array_int(NULL, "dims", 4, dims);
    ln_status status =
        ln_layout_emit(build, "reshape", "image", ins, outs, params, ins && outs && params && twin);
    if (status == LN_OK)
        status = ln_layout_emit_transpose(build, image, twin, ln_layout_to_last);
    ln_free(image);
    ln_free(twin);
    return status == LN_OK ? ln_layout_last_made(build) : NULL;
}

static const char *operand_twin(ln_layout_build *build, const char *tname)
{
    const tl_tensor *t = ln_layout_find(build, tname)->tensor;
    if (t->ndim == rank_of(build, ln_layout_first_out(build)))
        return ln_layout_twin(build, tname);
    return t->len == 1 ? tname : widened_twin(build, tname);
}

// The operator's inputs with twins in the place of images; NULL with a recorded failure.
static ln_list *twin_inputs(ln_layout_build *build)
{
    ln_list *ins = NULL;
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, build->op->op_arg->tensors_in) {
        const char *twin = operand_twin(build, in->name);
        if (!twin || ln_tensor_list_push(&ins, in->arg_name, twin) != LN_OK) {
            ln_tensor_list_free(ins);
            return NULL;
        }
    }
    return ins;
}

ln_status ln_layout_emit_same(ln_layout_build *build, ln_list *params, bool is_complete)
{
    const ln_op_arg *arg = build->op->op_arg;
    const char *out_arg = ((const ln_tensor_list_entry *)arg->tensors_out->data)->arg_name;
    ln_list *ins = twin_inputs(build);
    return ln_layout_emit_twin(build, arg->optype, out_arg, ins, params, is_complete && ins);
}

static ln_status rewrite_elementwise(ln_layout_build *build)
{
    const ln_list *old = build->op->op_arg->params;
    ln_list *params = ln_param_list_copy(old);
    return ln_layout_emit_same(build, params, ln_list_length(params) == ln_list_length(old));
}

// ---- PRelu ----

// One slope for each channel, or one for all of them.
static bool has_channel_slopes(const ln_layout_build *build)
{
    const tl_tensor *src = ln_layout_tensor(build, "X")->tensor;
    const tl_tensor *slope = ln_layout_tensor(build, "slope")->tensor;
    int at = slope->ndim - src->ndim + 1; // the place of the channels
    if (ln_call_since(build->op->op_arg->priv) < 7)
        return true;
    return slope->len == 1 ||
           (slope->len == src->dims[1] && at >= 0 && slope->dims[at] == slope->len);
}

// A new tensor of C floats that `optype` makes; takes the lists.
static const char *emit_row(ln_layout_build *build, const char *optype, const char *suffix,
                            ln_list *ins, ln_list *params, bool is_complete)
{
    char *name = ln_layout_new_name(build, ln_layout_first_out(build), suffix);
    ln_list *outs = name ? ln_tensor_list_append(NULL, "dst", name) : NULL;
    ln_status status =
        ln_layout_emit(build, optype, suffix, ins, outs, params, is_complete && outs);
    ln_free(name);
    return status == LN_OK ? ln_layout_last_made(build) : NULL;
}

// The slope of all channels in each of them.
static const char *spread_slope(ln_layout_build *build, const char *slope, int channels)
{
    const double zero = 0;
    ln_list *params = ln_param_list_append_string(NULL, "dtype", "TL_FLOAT");
    params = ln_param_list_append_array_int(params, "dims", 1, &channels);
    params = ln_param_list_append_array_double(params, "data", 1, &zero);
    const char *zeros =
        emit_row(build, "create", "zeros", NULL, params, ln_list_length(params) == 3);
    if (!zeros)
        return NULL;
    ln_list *ins = ln_tensor_list_append(NULL, "src1", zeros);
    ins = ln_tensor_list_append(ins, "src2", slope);
    params = ln_param_list_append_string(NULL, "elew_op", "TL_SUM");
    return emit_row(build, "elew", "slopes", ins, params, ln_list_length(ins) == 2 && params);
}

// The slopes as a row.
static const char *slope_row(ln_layout_build *build)
{
    int channels = ln_layout_tensor(build, "X")->tensor->dims[1];
    const char *slope = ln_layout_input(build, "slope");
    ln_list *ins = ln_tensor_list_append(NULL, "src", slope);
    int count = ln_layout_tensor(build, "slope")->tensor->len;
    ln_list *params = ln_param_list_append_array_int(NULL, "dims", 1, &count);
    const char *row = emit_row(build, "reshape", "slope", ins, params, ins && params);
    return !row || count == channels ? row : spread_slope(build, row, channels);
}

static ln_status rewrite_prelu(ln_layout_build *build)
{
    if (!has_channel_slopes(build))
        return rewrite_elementwise(build);
    const char *slope = slope_row(build);
    const char *src = slope ? ln_layout_twin(build, ln_layout_input(build, "X")) : NULL;
    if (!src)
        return ln_error_status();
    ln_list *ins = ln_tensor_list_append(NULL, "src", src);
    ins = ln_tensor_list_append(ins, "slope", slope);
    return ln_layout_emit_twin(build, "prelu_nhwc", "dst", ins, NULL, ln_list_length(ins) == 2);
}

const ln_layout_op ln_layout_elementwise[] = {
    {"act", fits_elementwise, rewrite_elementwise},
    {"elew", fits_elementwise, rewrite_elementwise},
    {"Clip", fits_elementwise, rewrite_elementwise},
    {"Max", fits_elementwise, rewrite_elementwise},
    {"Min", fits_elementwise, rewrite_elementwise},
    {"PRelu", fits_elementwise, rewrite_prelu},
    {"Pow", fits_elementwise, rewrite_elementwise},
    {NULL, NULL, NULL},
};
